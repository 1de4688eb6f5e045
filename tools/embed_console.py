#!/usr/bin/env python3
"""Builds the console (ui/) when it changed, and writes a C++ source that holds its files.

Usage: embed_console.py OUTPUT BUILD_FOLDER      the page of ui/, built in BUILD_FOLDER/dist
       embed_console.py OUTPUT --none            no page: the daemon says at `/` how to build it

All builds of one clone share BUILD_FOLDER, so the page is built once. Where npm cannot be had the source holds
no files, a warning says so, and the next build tries again.
"""
import fcntl
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UI = ROOT / "ui"
NPM_SECONDS = 600  # a first `npm ci` over a slow line
LITERAL_MAX = 16_000  # bytes of one literal; compilers must accept 65,536 characters
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def inputs() -> list[pathlib.Path]:
    """What the page is made of; tests are not."""
    names = ["package.json", "package-lock.json", ".npmrc", "tsconfig.json", "vite.config.ts", "index.html"]
    files = [UI / name for name in names]
    files += [path for path in sorted((UI / "src").rglob("*")) if path.is_file() and ".test." not in path.name]
    files += [path for path in sorted((UI / "public").rglob("*")) if path.is_file()]
    return files


def fingerprint(files: list[pathlib.Path]) -> str:
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    for file in files:
        digest.update(file.relative_to(UI).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def npm(*arguments: str) -> None:
    subprocess.run(["npm", *arguments], cwd=UI, check=True, timeout=NPM_SECONDS, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, text=True)


def build(folder: pathlib.Path) -> bool:
    """Brings folder/dist up to date. False: it cannot be built here."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two presets may build at once
        stamp = folder / "stamp"
        wanted = fingerprint(inputs())
        if stamp.exists() and stamp.read_text() == wanted:
            return True
        stamp.unlink(missing_ok=True)
        if shutil.which("npm") is None:
            print("embed_console: warning: npm is not installed; the daemon is built without its console")
            return False
        packages = hashlib.sha256((UI / "package-lock.json").read_bytes()).hexdigest()
        installed = UI / "node_modules" / ".penstock-installed"
        try:
            if not installed.exists() or installed.read_text() != packages:
                # No package's own scripts: what we use needs none.
                npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
                installed.write_text(packages)
            npm("run", "--silent", "build", "--", "--outDir", str(folder / "dist"), "--emptyOutDir")
        except (OSError, subprocess.SubprocessError) as problem:
            print(f"embed_console: warning: the daemon is built without its console: {problem}")
            print("\n".join((getattr(problem, "output", "") or "").splitlines()[-15:]))
            return False
        stamp.write_text(wanted)
        return True


def brotli(data: bytes) -> bytes:
    """By Node, which has it built in."""
    script = ("const z=require('zlib'),c=[];process.stdin.on('data',d=>c.push(d)).on('end',()=>{const b=Buffer.concat(c);"
              "process.stdout.write(z.brotliCompressSync(b,{params:{[z.constants.BROTLI_PARAM_QUALITY]:11,"
              "[z.constants.BROTLI_PARAM_SIZE_HINT]:b.length}}))})")
    return subprocess.run(["node", "-e", script], input=data, stdout=subprocess.PIPE, check=True).stdout


def literal(data: bytes) -> str:
    def escape(byte: int) -> str:
        char = chr(byte)
        return char if 32 <= byte < 127 and char not in '"\\?' else f"\\{byte:03o}"

    parts = [data[i:i + LITERAL_MAX] for i in range(0, len(data), LITERAL_MAX)]
    text = "\n".join('"' + "".join(map(escape, part)) + '"' for part in parts) or '""'
    return f"std::string_view({text}, {len(data)})"


def entry(path: str, data: bytes) -> str:
    etag = hashlib.sha256(data).hexdigest()[:20]
    kind = CONTENT_TYPES[pathlib.Path(path).suffix]
    packed = [gzip.compress(data, 9, mtime=0), brotli(data)]
    packed = [each if len(each) < len(data) else b"" for each in packed]
    fields = [json.dumps(path), json.dumps(kind), json.dumps(f'"{etag}"'), literal(data), *map(literal, packed)]
    return "    {" + ",\n     ".join(fields) + "},\n"


def source(dist: pathlib.Path | None) -> str:
    entries = ""
    if dist is not None:
        files = [path for path in sorted(dist.rglob("*")) if path.is_file()]
        entries = "".join(entry("/" + path.relative_to(dist).as_posix(), path.read_bytes()) for path in files)
    body = f"  static constexpr ConsoleFile kFiles[] = {{\n{entries}  }};\n  return kFiles;\n" if entries else "  return {};\n"
    return ('// Generated by tools/embed_console.py.\n#include "front/http/console_files.h"\n\n'
            "namespace penstock::front {\n\n"
            f"std::span<const ConsoleFile> console_files() noexcept {{\n{body}}}\n\n"
            "}  // namespace penstock::front\n")


def main() -> None:
    target, folder = pathlib.Path(sys.argv[1]), sys.argv[2]
    dist = None
    if folder != "--none" and build(pathlib.Path(folder).resolve()):
        dist = pathlib.Path(folder) / "dist"
    stamp = target.with_suffix(".stamp")
    state = (pathlib.Path(folder) / "stamp").read_text() if dist else "none " + fingerprint([])
    if target.exists() and stamp.exists() and stamp.read_text() == state:
        return  # compressing takes a second, which a build with nothing to do should not
    text = source(dist)
    if not target.exists() or target.read_text() != text:
        part = target.with_name(target.name + f".{os.getpid()}")
        part.write_text(text)
        part.replace(target)
    stamp.write_text(state)


if __name__ == "__main__":
    main()
