"""The Debian packages: judged by lintian, installed by apt in a minimal Debian, used as the unit says, and purged."""
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess

import pytest
import testserver
from conftest import ROOT, binary, clean_environment, wait_until
from container_files import FOLDER, checker, commands, compose, run, stages
from testserver import debian

__all__ = ["checker", "compose", "stages"]  # fixtures

BUILD = pathlib.Path(binary()).parent
UNIT = ROOT / "deploy" / "systemd" / "penstock.service"
VERSION = (ROOT / "VERSION").read_text().strip()
EXPOSURE_MAX = 2.0  # of 10; "OK" begins at 5, and what is left is the network and the files that it must read
READY_SECONDS = 30
STOP_SECONDS = 10  # after which engines kill
URL = "http://127.0.0.1:8080"  # as the packaged settings have it; the network is the machine's own
USER = "penstock:penstock"


@pytest.fixture(scope="module")
def packages() -> dict:
    """The files by their names: penstock, libpenstock0, libpenstock-dev, and penstock-dbgsym."""
    for needed in ("dh", "lintian", "dpkg-deb"):
        if subprocess.run(["which", needed], capture_output=True).returncode != 0:
            pytest.skip(f"skipped: {needed} is not installed (tools/setup servers)")
    listed = run(ROOT / "tools" / "package", env=clean_environment({"PENSTOCK_BUILD": str(BUILD)}))
    files = [ROOT / line for line in listed.splitlines() if line.endswith(".deb")]
    return {file.name.split("_")[0]: file for file in files}


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("root")
    for name in ("penstock", "libpenstock0", "libpenstock-dev"):
        run("dpkg-deb", "--extract", packages[name], root)
    return root


def field(package, name) -> str:
    return run("dpkg-deb", "--field", package, name).strip()


# What the files say.

def test_release_notes_are_the_section_of_the_version():
    notes = run(ROOT / "tools" / "release_notes")
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert notes.strip() in changelog and not re.search(r"^## ", notes, re.M)
    assert notes.startswith("- ") and notes.count("\n- ") + 1 == len(re.findall(r"^- ", notes, re.M)) > 10
    refused = subprocess.run([ROOT / "tools" / "release_notes", "9.9.9"], capture_output=True, text=True)
    assert refused.returncode == 1 and "9.9.9" in refused.stderr


def test_release_notes_become_a_changelog_that_debian_reads(tmp_path):
    file = tmp_path / "changelog"
    file.write_text(run(ROOT / "tools" / "release_notes", "--debian",
                        env=clean_environment({"SOURCE_DATE_EPOCH": "1700000000"})))
    parsed = run("dpkg-parsechangelog", "--file", file, "--all")
    assert f"Version: {VERSION}-1" in parsed and "Timestamp: 1700000000" in parsed
    assert max(map(len, file.read_text().splitlines())) <= 100


def test_the_version_stands_in_one_place(packages):
    for name, package in packages.items():
        assert field(package, "Version") == f"{VERSION}-1", name
    chart = (ROOT / "deploy" / "helm" / "penstock" / "Chart.yaml").read_text()
    assert f"version: {VERSION}\n" in chart and f'appVersion: "{VERSION}"' in chart
    for file in ("compose.yaml", "Containerfile", "README.md"):
        tags = re.findall(r"\bpenstock:(\d\S*)", (ROOT / "deploy" / "container" / file).read_text())
        assert tags and set(tags) == {VERSION}, file


def test_lintian_finds_nothing(packages):
    tags = ["initial-upload-closes-no-bugs"]  # the package is not in Debian, so no bug there asks for it
    folder = packages["penstock"].parent
    found = subprocess.run(["lintian", "--fail-on", "error,warning", "--suppress-tags", ",".join(tags),
                            *folder.glob("*.changes")],
                           capture_output=True, text=True, timeout=600, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert found.returncode == 0 and not found.stdout.strip(), found.stdout + found.stderr


def test_dependencies_are_computed(packages):
    needed = field(packages["penstock"], "Depends")
    for library in ("librocksdb7.8", "libpq5", "libssl3", "librdkafka1", "libmariadb3", "libc6", "adduser"):
        assert re.search(rf"\b{re.escape(library)}\b", needed), needed
    assert field(packages["libpenstock-dev"], "Depends") == f"libpenstock0 (= {VERSION}-1)"
    assert "rocksdb" not in field(packages["libpenstock0"], "Depends")


def test_programs_that_use_the_library_will_depend_on_its_package(packages, tmp_path):
    run("dpkg-deb", "--control", packages["libpenstock0"], tmp_path / "control")
    assert (tmp_path / "control" / "shlibs").read_text() == f"libpenstock 0 libpenstock0 (>= {VERSION})\n"
    assert "ldconfig" in (tmp_path / "control" / "triggers").read_text()


def test_settings_are_conffiles_and_files_have_checksums(packages, tmp_path):
    run("dpkg-deb", "--control", packages["penstock"], tmp_path / "control")
    conffiles = (tmp_path / "control" / "conffiles").read_text().split()
    assert conffiles == ["/etc/default/penstock", "/etc/penstock/penstock.yaml"]
    assert "usr/bin/penstock" in (tmp_path / "control" / "md5sums").read_text()


def test_the_manual_and_the_completions_are_there(unpacked):
    share = unpacked / "usr" / "share"
    assert "penstock" in run("man", "--warnings", "-l", share / "man" / "man1" / "penstock.1.gz",
                             env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
    for file in ("bash-completion/completions/penstock", "zsh/vendor-completions/_penstock",
                 "fish/vendor_completions.d/penstock.fish"):
        assert "check-config" in (share / file).read_text(), file


# The unit.

def unit_lines(name, text=None) -> list:
    return re.findall(rf"^{name}=(.*)$", text or UNIT.read_text(), re.M)


def test_systemd_finds_no_fault_in_the_unit(unpacked):
    kill = unpacked / "bin" / "kill"  # of the package procps, which the unit's reload needs
    kill.parent.mkdir(exist_ok=True)
    shutil.copy("/bin/kill", kill)
    run("systemd-analyze", "verify", "--root", unpacked, "--man=no", "--recursive-errors=no", "penstock.service")


def test_the_unit_exposes_little(unpacked):
    report = json.loads(run("systemd-analyze", "security", "--offline=yes", "--root", unpacked, "--json=short",
                            "--no-pager", f"--threshold={EXPOSURE_MAX * 10:.0f}", "penstock.service"))
    open_doors = {entry["json_field"] for entry in report if entry["set"] is False}
    assert not {name for name in open_doors if name.startswith(("Capability", "SystemCallFilter", "Protect"))}


def test_the_unit_starts_what_the_package_installs(unpacked):
    program, *arguments = shlex.split(unit_lines("ExecStart")[0])
    assert (unpacked / program[1:]).exists() and (unpacked / arguments[-1][1:]).exists()
    assert [f"-{path}" for path in ("/etc/default/penstock",)] == unit_lines("EnvironmentFile")


# Installed.

@contextlib.contextmanager
def debian_with(packages):
    """A minimal Debian with the files of the packages, or a skipped test."""
    try:
        with debian.Machine() as machine:
            (machine.root / "packages").mkdir()
            for file in packages.values():
                (machine.root / "packages" / file.name).write_bytes(file.read_bytes())
            machine.files = {name: f"/packages/{file.name}" for name, file in packages.items()}
            machine.before = paths(machine)
            yield machine
    except testserver.Unavailable as reason:
        pytest.skip(f"skipped: {reason}")


@pytest.fixture(scope="module")
def machine(packages):
    with debian_with(packages) as machine:
        machine.install(machine.files["penstock"], machine.files["libpenstock0"])
        yield machine


def paths(machine) -> set:
    """All files and folders whose names are ours."""
    found = machine.run("find", "/", "-xdev", "-ipath", "*penstock*", "-not", "-path", "/packages/*").stdout
    return set(found.splitlines())


class Service:
    """The daemon, started as the unit says: its command, user and variables, and the word that it is ready."""

    def __init__(self, machine):
        self.machine = machine
        unit = machine.run("cat", "/lib/systemd/system/penstock.service").stdout
        address = machine.root / "run" / "notify"
        address.unlink(missing_ok=True)
        variables = dict(re.findall(r"^(\w+)=(.*)$", machine.run("cat", "/etc/default/penstock").stdout, re.M))
        user = f"{unit_lines('User', unit)[0]}:{unit_lines('Group', unit)[0]}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(address))
            address.chmod(0o666)
            manager.settimeout(READY_SECONDS)
            self.process = machine.start(*shlex.split(unit_lines("ExecStart", unit)[0]), user=user,
                                         env={**variables, "NOTIFY_SOCKET": "/run/notify"})
            try:
                self.told = manager.recv(4096).decode()
            except TimeoutError:
                self.process.kill()
                raise AssertionError(self.process.communicate()[0]) from None

    def stop(self) -> str:
        self.machine.signal(self.process, signal.SIGTERM)
        output, _ = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, output
        return output


@pytest.fixture
def service(machine):
    service = Service(machine)
    yield service
    if service.process.poll() is None:
        service.stop()


def curl(machine, path, body=None) -> dict:
    sent = ["--header", "Content-Type: application/json", "--data", json.dumps(body)] if body else []
    return json.loads(run(*machine.outside("curl", "-sS", "--fail-with-body", "--max-time", "20", *sent, URL + path)))


def cli(machine, *arguments):
    return machine.run("penstock", *arguments, user="nobody:nogroup").stdout


def slot_of(machine, event) -> dict:
    return curl(machine, f"/api/v1/slots/{event}")


def assert_the_first_slot_is_kept(machine):
    again = Service(machine)
    try:
        assert slot_of(machine, "pay-0")["windowStart"] == "2035-06-01T12:00:00.000Z"
    finally:
        again.stop()


def test_the_installation_makes_the_user_and_the_folder(machine):
    entry = machine.run("getent", "passwd", "penstock").stdout
    assert entry.split(":")[5:] == ["/var/lib/penstock", "/usr/sbin/nologin\n"] and 100 <= int(entry.split(":")[2]) < 1000
    assert machine.run("stat", "-c", "%a %U %G", "/var/lib/penstock").stdout == "700 penstock penstock\n"
    assert machine.run("stat", "-c", "%a %U %G", "/etc/penstock/penstock.yaml").stdout == "640 root penstock\n"


def test_the_packaged_settings_are_right(machine):
    checked = machine.run("penstock", "check-config", "--config", "/etc/penstock/penstock.yaml", user=USER).stdout
    assert "OK: /etc/penstock/penstock.yaml" in checked and "/var/lib/penstock" in checked


def test_the_service_starts_as_the_unit_says_and_is_used(machine, service):
    assert service.told == f"READY=1\nSTATUS=Serving HTTP on {URL.removeprefix('http://')}"
    curl(machine, "/admin/rate-limit/config", {"configName": "default", "maxPerWindow": 2, "windowSize": "PT4S"})
    at = "2035-06-01T12:00:00Z"
    starts = [curl(machine, "/api/v1/slots", {"eventId": f"pay-{n}", "requestedTime": at})["windowStart"] for n in range(3)]
    assert starts == ["2035-06-01T12:00:00.000Z"] * 2 + ["2035-06-01T12:00:04.000Z"]
    assert curl(machine, "/api/v1/throttle/check", {"key": "user:1"})["allowed"] is True
    assert '"eventId":"pay-4"' in cli(machine, "slots", "assign", "pay-4", "--at", at, "--json")
    assert VERSION in cli(machine, "version")
    assert "daemon.stopped" in service.stop()
    assert machine.run("find", "/var/lib/penstock", "-not", "-user", "penstock").stdout == ""


def test_a_program_built_with_the_packages_runs_where_the_library_is_installed(machine, unpacked, tmp_path):
    libraries = next((unpacked / "usr" / "lib").glob("*/libpenstock.so")).parent
    env = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "penstock", env=env).split()
    assert [os.path.realpath(flag[2:]) for flag in flags if flag[:2] in ("-I", "-L")] == [
        str(unpacked / "usr" / "include"), str(libraries)]
    example = unpacked / "usr" / "share" / "doc" / "libpenstock-dev" / "examples" / "limiter_basics.cc"
    run("g++", "-std=c++20", example, "-o", tmp_path / "basics", *flags)
    (machine.root / "usr" / "local" / "bin" / "basics").write_bytes((tmp_path / "basics").read_bytes())
    (machine.root / "usr" / "local" / "bin" / "basics").chmod(0o755)
    assert "payment 1: allowed, 2 left of user:123" in machine.run("basics", user="nobody:nogroup").stdout


def test_cmake_finds_the_development_files(unpacked, tmp_path):
    examples = unpacked / "usr" / "share" / "doc" / "libpenstock-dev" / "examples"
    run("cmake", "-S", examples, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={unpacked}/usr")
    run("cmake", "--build", tmp_path, "--target", "limiter_basics")
    assert "payment 1: allowed" in run(tmp_path / "limiter_basics")


def test_a_backup_as_the_guide_says_comes_back(machine):
    guide = (ROOT / "docs" / "install.md").read_text()
    section = re.search(r"<!-- backup:begin.*?-->(.*?)<!-- backup:end -->", guide, re.S)[1]
    backup, restore = re.findall(r"```bash\n(.*?)```", section, re.S)
    manager = machine.root / "usr" / "local" / "bin" / "systemctl"  # the daemon is stopped, and there is no systemd
    manager.write_text("#!/bin/sh\n")
    manager.chmod(0o755)
    machine.run("sh", "-eu", "-c", backup)
    machine.run("sh", "-c", "rm -r /var/lib/penstock/* && touch /var/lib/penstock/rubbish")
    machine.run("sh", "-eu", "-c", restore)
    manager.unlink()
    (machine.root / "var" / "backups" / "penstock.tar.gz").unlink()  # it would be found after the purge
    assert not (machine.root / "var" / "lib" / "penstock" / "rubbish").exists()
    assert_the_first_slot_is_kept(machine)


def test_an_upgrade_keeps_data_and_settings(machine):
    settings = machine.root / "etc" / "penstock" / "penstock.yaml"
    settings.write_text(settings.read_text() + "\nlog: {level: debug}\n")
    machine.run("chmod", "0600", "/etc/penstock/penstock.yaml")
    machine.run("chown", "penstock", "/etc/penstock/penstock.yaml")
    machine.run("apt-get", "install", "-q", "-y", "--reinstall", machine.files["penstock"])
    assert "level: debug" in settings.read_text()
    assert machine.run("stat", "-c", "%a %U", "/etc/penstock/penstock.yaml").stdout == "600 penstock\n"
    assert_the_first_slot_is_kept(machine)


def test_removal_keeps_data_and_settings_and_purging_nothing(machine):
    machine.run("apt-get", "remove", "-q", "-y", "penstock", "libpenstock0")
    assert not (machine.root / "usr" / "bin" / "penstock").exists()
    assert (machine.root / "etc" / "penstock" / "penstock.yaml").exists()
    machine.install(machine.files["penstock"])
    assert_the_first_slot_is_kept(machine)
    machine.run("apt-get", "purge", "-q", "-y", "penstock")
    assert_nothing_is_left(machine)


def assert_nothing_is_left(machine):
    assert paths(machine) - machine.before == set()
    assert "penstock" not in machine.run("cat", "/etc/passwd", "/etc/group", "/etc/shadow").stdout
    assert machine.run("dpkg-query", "-l", "penstock", check=False).returncode != 0


# Under systemd, with everything that the unit forbids forbidden.

@pytest.fixture(scope="module")
def booted(packages):
    with debian_with(packages) as machine:
        machine.install("systemd", machine.files["penstock"])
        machine.before |= {path for path in paths(machine) if path.startswith(("/proc/", "/sys/"))}
        machine.boot()
        yield machine


def shown(machine, name) -> str:
    return machine.run("systemctl", "show", "--value", "--property", name, "penstock").stdout.strip()


def test_systemd_starts_the_service_at_boot_in_its_sandbox(booted):
    assert (shown(booted, "ActiveState"), shown(booted, "UnitFileState")) == ("active", "enabled")
    assert shown(booted, "StatusText") == "Serving HTTP on 127.0.0.1:8080"
    status = booted.run("cat", f"/proc/{shown(booted, 'MainPID')}/status").stdout
    assert re.search(r"^Seccomp:\t2$", status, re.M) and re.search(r"^NoNewPrivs:\t1$", status, re.M)
    assert set(re.findall(r"^Cap\w+:\t(\w+)$", status, re.M)) == {"0" * 16}


def test_the_service_does_its_work_in_its_sandbox(booted):
    curl(booted, "/admin/rate-limit/config", {"configName": "default", "maxPerWindow": 2, "windowSize": "PT4S"})
    curl(booted, "/api/v1/slots", {"eventId": "kept", "requestedTime": "2035-06-01T12:00:00Z"})
    assert curl(booted, "/api/v1/throttle/check", {"key": "user:1"})["allowed"] is True
    assert '"eventId":"kept"' in cli(booted, "slots", "get", "kept", "--json")
    assert booted.run("stat", "-c", "%a %U", "/var/lib/penstock").stdout == "700 penstock\n"


def test_a_reload_reads_the_settings_again_and_restarts_nothing(booted):
    before = shown(booted, "MainPID")
    settings = booted.root / "etc" / "penstock" / "penstock.yaml"
    right = settings.read_text()
    settings.write_text(right + "\nlog: {level: debug}\n")
    booted.run("systemctl", "reload", "penstock")
    wait_until(lambda: "daemon.reloaded" in booted.run("journalctl", "--no-pager", "--unit", "penstock").stdout, 30, "the reload")
    assert (shown(booted, "ActiveState"), shown(booted, "MainPID")) == ("active", before)
    settings.write_text(right)


def test_a_crash_is_followed_by_a_start(booted):
    soon = booted.root / "run" / "systemd" / "system" / "penstock.service.d" / "soon.conf"
    soon.parent.mkdir(parents=True)
    soon.write_text("[Service]\nRestartSec=100ms\n")  # not five seconds of a test
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "kill", "--signal=KILL", "penstock")
    wait_until(lambda: shown(booted, "NRestarts") == "1" and shown(booted, "ActiveState") == "active", 30, "a restart")
    assert slot_of(booted, "kept")["eventId"] == "kept"


def test_an_upgrade_restarts_the_service(booted):
    before = shown(booted, "MainPID")
    booted.run("apt-get", "install", "-q", "-y", "--reinstall", booted.files["penstock"])
    assert shown(booted, "ActiveState") == "active" and shown(booted, "MainPID") != before
    assert slot_of(booted, "kept")["eventId"] == "kept"


def test_settings_with_a_mistake_are_named_and_not_tried_again(booted):
    settings = booted.root / "etc" / "penstock" / "penstock.yaml"
    right = settings.read_text()
    settings.write_text(right + "\ndata-dirs: /tmp\n")
    assert booted.run("systemctl", "restart", "penstock", check=False).returncode != 0
    assert (shown(booted, "ActiveState"), shown(booted, "ExecMainStatus")) == ("failed", "2")
    assert "data-dirs" in booted.run("journalctl", "--no-pager", "--unit", "penstock").stdout
    settings.write_text(right)
    booted.run("systemctl", "restart", "penstock")


def test_removal_stops_the_service_and_purging_leaves_nothing(booted):
    booted.run("apt-get", "remove", "-q", "-y", "penstock")
    assert booted.run("systemctl", "is-active", "penstock", check=False).stdout.strip() == "inactive"
    assert (booted.root / "var" / "lib" / "penstock").exists()
    booted.run("apt-get", "purge", "-q", "-y", "penstock")
    booted.run("rm", "-rf", "/run/systemd/system/penstock.service.d")  # ours
    assert_nothing_is_left(booted)


# The image of deploy/container, by its own steps, in the minimal Debian that its base image is made of.

@pytest.fixture(scope="module")
def image(packages, stages):
    """A machine on which the steps of the last stage were run."""
    with debian_with(packages) as machine:
        for step in commands(stages[-1], "RUN"):
            machine.run("sh", "-c", re.sub(r"^(--mount=\S+\s+)+", "", step), network=False)
        machine.env = dict(text.split("=", 1) for text in commands(stages[-1], "ENV"))
        machine.user = commands(stages[-1], "USER")[0]
        machine.program = json.loads(commands(stages[-1], "ENTRYPOINT")[0])
        machine.arguments = json.loads(commands(stages[-1], "CMD")[0])
        yield machine


def mount_secrets(machine, compose):
    (machine.root / "run" / "secrets").mkdir(exist_ok=True)
    for name, secret in compose["secrets"].items():
        file = machine.root / "run" / "secrets" / name
        file.write_bytes(pathlib.Path(secret["file"]).read_bytes())
        file.chmod(0o444)


def stop(machine, process):
    """As engines do it: a signal to the first process, which must end by it."""
    if process.poll() is None:
        machine.signal(process, signal.SIGTERM)
    process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 0


def test_the_image_alone_refuses_to_serve_everyone_without_tokens(image):
    done = image.run(*image.program, *image.arguments, user=image.user, env=image.env, check=False)
    assert done.returncode == 2 and "token" in done.stdout + done.stderr


def test_the_image_serves_and_its_health_check_says_so(image, stages, compose):
    mount_secrets(image, compose)
    env = {**image.env, "PENSTOCK_AUTH_ADMIN_TOKEN_FILE": "/run/secrets/admin-token",
           "PENSTOCK_AUTH_API_TOKEN_FILE": "/run/secrets/api-token"}
    check = json.loads(re.search(r"CMD (\[.*\])", commands(stages[-1], "HEALTHCHECK")[0])[1])
    assert image.run(*check, user=image.user, check=False).returncode != 0
    process = image.start(*image.program, *image.arguments, user=image.user, env=env)
    try:
        assert image.line(process, "ready ") == "ready http=0.0.0.0:8080"
        image.run(*check, user=image.user)
    finally:
        stop(image, process)


def test_the_settings_that_compose_mounts_are_right(image, compose):
    mount_secrets(image, compose)
    service = compose["services"]["penstock"]
    settings = next(each for each in service["configs"])
    assert settings["target"] == image.arguments[-1]
    (image.root / settings["target"][1:]).write_bytes((FOLDER / "penstock.yaml").read_bytes())
    env = {**image.env, **service["environment"]}
    checked = image.run("penstock", "check-config", "--config", settings["target"], user=image.user, env=env)
    assert checked.stdout.startswith("OK") and "from PENSTOCK_HTTP_LISTEN" in checked.stdout
    refused = image.run("penstock", "check-config", "--config", settings["target"], user=image.user,
                        env={**env, "PENSTOCK_LOG_LEVELS": "info"}, check=False)
    assert refused.returncode == 2 and "PENSTOCK_LOG_LEVEL" in refused.stderr


def test_redis_is_started_with_its_password(image, compose):
    mount_secrets(image, compose)
    image.install("redis-server")
    (image.root / "data").mkdir()
    image.run("chown", "redis", "/data")
    service = compose["services"]["redis"]
    start, check = ([part.replace("$$", "$") for part in parts]
                    for parts in (service["command"], service["healthcheck"]["test"]))
    process = image.start(*start, user="redis:redis")
    try:
        image.line(process, "Ready to accept connections")
        image.run("sh", "-c", check[1])
        assert "NOAUTH" in image.run("redis-cli", "ping", check=False).stdout
    finally:
        stop(image, process)
