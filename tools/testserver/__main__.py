"""The command `tools/testserver/run KIND`: a server for a test program in any language."""

import argparse
import json
import os
import queue
import select
import signal
import sys
import threading

from . import kafka, mariadb, postgres, redis, temporal
from .process import CallFailed, StartFailed, Unavailable

KINDS = {module.__name__.rpartition(".")[2]: module
         for module in (postgres, redis, mariadb, kafka, temporal)}
EXIT_SKIPPED = 77  # what ctest (SKIP_RETURN_CODE) and automake take for "skipped"

DESCRIPTION = """\
Starts a real server on 127.0.0.1, on a free port, in a temporary folder of its own.

When the server answers, one line of JSON appears on stdout:
  {"kind": "postgres", "url": "postgresql://...", "host": "127.0.0.1", "port": N, "pid": N, ...}
The command then stays in the foreground. The line `kill` on its stdin ends the server at once (kill -9),
`start` starts it again on the same port with what it had on disk; each is answered by such a line when
it is done. The command stops the server and removes the folder when its stdin
reaches end of file, when the command gets SIGTERM, SIGINT or SIGHUP, or when its parent ends. Even after
kill -9 of this command no server stays behind.

If the server cannot be had (package missing, registry unreachable), the line is
  {"kind": "postgres", "skipped": "reason"}
and the exit code is 77. If it is there but does not start: a message on stderr, exit code 1.
"""

EXAMPLES = """\
examples:
  tools/testserver/run postgres --fsync off
  tools/testserver/run redis --cluster --replicas 1
  tools/testserver/run KIND --help
"""


class Ended(BaseException):
    """Time to stop. Not an Exception, so that no handler for errors swallows it."""


def parse(arguments):
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="tools/testserver/run", description=DESCRIPTION,
                                     epilog=EXAMPLES, formatter_class=raw)
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True,
                                  help=", ".join(KINDS))
    for name, module in KINDS.items():
        module.add_options(kinds.add_parser(name, description=module.__doc__))
    return parser.parse_args(arguments)


def end_on_signals():
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def end(*_):
        for number in signals:
            signal.signal(number, signal.SIG_IGN)  # let the clean-up finish
        raise Ended

    for number in signals:
        signal.signal(number, end)


def watch_caller(commands):
    """Turns end of stdin and the death of the parent into SIGTERM, in every phase; lines on stdin
    become commands."""
    def watch():
        try:
            parent = os.pidfd_open(os.getppid())
            unread = b""
            while True:
                ready, _, _ = select.select([0, parent], [], [])
                got = b"" if parent in ready else os.read(0, 4096)
                if not got:
                    break
                *lines, unread = (unread + got).split(b"\n")
                for line in lines:
                    commands.put(line.decode(errors="replace"))
        except OSError:
            pass  # the parent is gone already, or stdin is closed
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def say(fields):
    print(json.dumps(fields), flush=True)


def serve(options, commands):
    with KINDS[options.kind].from_options(options) as server:
        say(server.info())
        while True:
            command = commands.get()
            if command == "kill":
                server.kill()
                say({"kind": options.kind, "killed": True})
            elif command == "start":
                server.start()
                say(server.info())


def main(arguments=None):
    options = parse(arguments)
    try:
        end_on_signals()
        commands = queue.Queue()
        watch_caller(commands)
        serve(options, commands)
    except Ended:
        return 0
    except Unavailable as reason:
        say({"kind": options.kind, "skipped": str(reason)})
        return EXIT_SKIPPED
    except (StartFailed, CallFailed) as failure:
        print(f"testserver: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
