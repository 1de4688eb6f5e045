"""The library as its users get it: installed into a prefix of its own, found by CMake and by pkg-config."""
import http.client
import os
import pathlib
import re
import select
import shutil
import subprocess

import pytest
from conftest import ROOT

BUILD = pathlib.Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build" / "release"))
EXAMPLES = ROOT / "examples"
GUIDE = ROOT / "docs" / "library.md"


def run(*command, **options) -> str:
    options.setdefault("timeout", 900)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> pathlib.Path:
    run("cmake", "--build", BUILD, "--target", "penstock_shared")
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "library")
    return prefix


@pytest.fixture(scope="module")
def library(prefix) -> pathlib.Path:
    return next(prefix.glob("lib*/**/libpenstock.so.0"))


@pytest.fixture(scope="module")
def built_by_cmake(prefix, tmp_path_factory) -> pathlib.Path:
    """The examples, copied out of the tree so that nothing of it is found by accident."""
    work = tmp_path_factory.mktemp("cmake")
    for file in filter(pathlib.Path.is_file, EXAMPLES.iterdir()):
        (work / file.name).write_bytes(file.read_bytes())
    run("cmake", "-S", work, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", work / "build", "-j", "1")
    return work / "build"


# What the daemon is built with, and the library is not.
PACKAGES = ("fmt", "OpenSSL", "yaml-cpp", "RocksDB", "PostgreSQL", "MariaDB", "CLI11", "RdKafka", "Protobuf", "GTest")
WITHOUT_PACKAGES = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in PACKAGES]
# As the tree itself is compiled: a second run takes the objects from the cache.
LAUNCHER = [f"-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR={ROOT};CCACHE_NOHASHDIR=1;ccache"]


@pytest.fixture
def scratch(request) -> pathlib.Path:
    """An empty folder below the tree, where the compiler cache knows paths relative to it."""
    folder = BUILD / "scratch" / re.sub(r"\W", "_", request.node.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("taken_in", [
    f"add_subdirectory({ROOT} penstock)",
    f"include(FetchContent)\nFetchContent_Declare(penstock SOURCE_DIR {ROOT})\nFetchContent_MakeAvailable(penstock)",
], ids=["add_subdirectory", "FetchContent"])
def test_another_project_takes_in_the_library_alone(scratch, taken_in):
    (scratch / "limiter_basics.cc").write_bytes((EXAMPLES / "limiter_basics.cc").read_bytes())
    (scratch / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(scratch LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 20)\n"
        f"{taken_in}\nadd_executable(limiter_basics limiter_basics.cc)\n"
        "target_link_libraries(limiter_basics PRIVATE Penstock::penstock)\n")
    build = scratch / "build"
    run("cmake", "-S", scratch, "-B", build, *WITHOUT_PACKAGES, *LAUNCHER)
    run("cmake", "--build", build)
    assert run(build / "limiter_basics") == printed_block()


def test_builds_by_itself(scratch):
    run("cmake", "-S", ROOT, "-B", scratch, "-G", "Ninja", "-DPENSTOCK_LIBRARY_ONLY=ON", *WITHOUT_PACKAGES)
    run("cmake", "--build", scratch)
    assert (scratch / "libpenstock.so").exists()


def headers(prefix):
    return sorted((prefix / "include" / "penstock").glob("*.h"))


def code_blocks():
    return re.findall(r"```cpp\n(.*?)```", GUIDE.read_text(), re.S)


def printed_block() -> str:
    return re.search(r"```text\n(.*?)```", GUIDE.read_text(), re.S).group(1)


def test_installs_the_library_and_nothing_else(prefix):
    files = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
    public = {f"include/penstock/{p.name}" for p in (ROOT / "include" / "penstock").glob("*.h")}
    assert public <= files
    rest = [f for f in sorted(files - public)
            if not re.fullmatch(r"lib(/[\w-]+)?/(libpenstock\.so[.\d]*|pkgconfig/penstock\.pc|"
                                r"cmake/Penstock/Penstock(Config|ConfigVersion|Targets|Targets-\w+)\.cmake)", f)]
    assert not rest
    assert not any(str(ROOT) in (prefix / f).read_text() for f in files if ".so" not in f)


def test_exports_only_public_names(library):
    names = run("nm", "-DC", "--defined-only", library).splitlines()
    shown = [line.split(maxsplit=2)[2] for line in names]
    strange = [name for name in shown if not re.match(r"(penstock::v0::(Limiter|BoundKey|Filter)::|penstock::v0::version\(\)|"
                                                      r"PENSTOCK_0$)", name)]
    assert len(shown) > 20 and not strange
    assert not [name for name in shown if re.search(r"fmt::|boost::|rocksdb::|penstock::(core|store|wire|base)", name)]


def test_needs_only_the_standard_library(library):
    dynamic = run("readelf", "-d", library)
    assert "Library soname: [libpenstock.so.0]" in dynamic
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    allowed = ("libstdc++.", "libgcc_s.", "libc.", "libm.", "ld-linux", "libasan.", "libubsan.", "libtsan.")
    assert all(name.startswith(allowed) for name in needed), needed


@pytest.mark.parametrize("standard", ["c++20", "c++23"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_every_header_compiles_alone(prefix, tmp_path, compiler, standard):
    """With the warnings that people turn on for their own code."""
    if compiler != "g++" and not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    assert len(headers(prefix)) >= 6
    for header in headers(prefix):
        source = tmp_path / f"{header.stem}.cc"
        source.write_text(f"#include <penstock/{header.name}>\n#include <penstock/{header.name}>\n")
        run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion",
            "-Wold-style-cast", "-Werror", "-fsyntax-only", "-I", prefix / "include", source)


def test_headers_include_only_the_standard_library_and_each_other(prefix):
    for header in headers(prefix):
        for name in re.findall(r"#\s*include\s+[<\"]([^>\"]+)", header.read_text()):
            assert re.fullmatch(r"penstock/\w+\.h|[a-z_]+", name), (header.name, name)


def test_the_program_of_the_guide_prints_what_the_guide_says(built_by_cmake):
    assert code_blocks()[0] == (EXAMPLES / "limiter_basics.cc").read_text()
    assert run(built_by_cmake / "limiter_basics") == printed_block()


def test_the_filter_of_the_guide_is_that_of_the_example():
    assert code_blocks()[1].rstrip() in (EXAMPLES / "beast_server.cc").read_text()


def test_pkg_config_is_enough(prefix, library, tmp_path):
    env = {**os.environ, "PKG_CONFIG_PATH": str(library.parent / "pkgconfig")}
    (tmp_path / "my_server.cc").write_bytes((EXAMPLES / "limiter_basics.cc").read_bytes())
    run("bash", "-c", "g++ -std=c++20 my_server.cc $(pkg-config --cflags --libs penstock)", env=env, cwd=tmp_path)
    assert run(tmp_path / "a.out", env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)}) == printed_block()
    version = run("pkg-config", "--modversion", "penstock", env=env).strip()
    assert version == (ROOT / "VERSION").read_text().strip()


def get(port, method="GET", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, "/v1/pay", headers=headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()


def test_the_server_allows_five_and_then_denies(built_by_cmake):
    server = subprocess.Popen([built_by_cmake / "beast_server"], stdout=subprocess.PIPE, text=True)
    try:
        assert select.select([server.stdout], [], [], 30)[0]
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        # Faster than one a second: a slow machine gets a token or two more, never fewer.
        answers = [get(port) for _ in range(12)]
        assert [status for status, _, _ in answers[:5]] == [200] * 5
        assert answers[0][1]["X-RateLimit-Limit"] == "5" and answers[0][1]["X-RateLimit-Remaining"] == "4"
        assert answers[0][1]["RateLimit-Policy"] == '"default";q=5;w=5'
        denied = [answer for answer in answers if answer[0] == 429]
        assert denied
        _, fields, body = denied[0]
        assert fields["Retry-After"] == "1" and fields["X-RateLimit-Remaining"] == "0"
        assert body == "Rate limit exceeded for key: ip:127.0.0.1\n"
        # Nobody is a trusted proxy, so a claim buys nothing; and a free method is not counted.
        spoofed = [get(port, headers={"X-Forwarded-For": f"192.0.2.{i}"})[0] for i in range(12)]
        assert 429 in spoofed
        assert get(port, method="OPTIONS")[0] == 200
    finally:
        server.terminate()
        server.wait(10)
        server.stdout.close()
