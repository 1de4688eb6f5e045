"""A page being read: a folder that looks like a clone, the servers the page needs, a daemon, and a shell for its blocks.

Ports that a page names are replaced by free ones, so that pages can run beside anything."""
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import time

import testserver
from conftest import READY_SECONDS, ROOT, binary, clean_environment, wait_until
from doc_blocks import RuleBroken

# Commands of `penstock` that need no daemon start none.
ASKS_THE_DAEMON = re.compile(
    r"(127\.0\.0\.1|localhost):8080|\$PENSTOCK_URL|"
    r"\bpenstock (?!penstock|serve|migrate|check-config|version|export|slots prune|demo|doctor|completion|man)\w")
PORT = re.compile(r"""(127\.0\.0\.1:|localhost:|\s-p |--port |"port": |http\.server )(\d{4,5})\b""")  # as pages write them
BLOCK_SECONDS = 120
UNTIL_SECONDS = 30
SERVERS = {"postgres": lambda: testserver.Postgres(fsync=False),  # no page crashes the machine
           "mariadb": lambda: testserver.MariaDb(fsync=False), "redis": testserver.Redis, "kafka": testserver.Kafka,
           "temporal": testserver.Temporal, "smsc": testserver.Smsc}
SERVER_PORTS = {"postgres": 5432, "redis": 6379, "mariadb": 3306, "kafka": 9092, "temporal": 7233, "smsc": 2775}


class Terminal:
    """One page being read. Exported variables and the working folder last from block to block, as in a shell."""

    def __init__(self, page, folder):
        self.page, self.folder = page, pathlib.Path(folder)
        self.ports, self.reserved, self.servers, self.background = {}, [], {}, []
        self.daemon = None
        self.state = self.folder / ".state"
        self.clone = self.folder / "penstock"

    def __enter__(self):
        try:
            for need in self.page.words("needs"):
                if need in SERVERS:
                    self.servers[need] = SERVERS[need]().__enter__()
                    self.ports[SERVER_PORTS[need]] = self.servers[need].port
                elif shutil.which(need, path=f"{os.environ['PATH']}:/usr/sbin") is None:
                    raise testserver.Unavailable(f"{need} is not installed (tools/setup test servers)")
            if "mariadb" in self.servers:
                self.empty_mariadb()
            self.lay_out()
            return self
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in reversed(self.background):
            end(process)
        if (self.folder / "nginx.pid").exists():
            subprocess.run([self.folder / "bin" / "nginx", "-s", "stop"], capture_output=True, timeout=30, check=False)
        for server in self.servers.values():
            server.close()
        for port in self.reserved:
            port.release()

    def empty_mariadb(self):
        self.servers["mariadb"].query("DROP DATABASE penstock", "mysql")  # which the test server makes, and pages make themselves

    def lay_out(self):
        """A folder that looks like a clone with its build; `examples` and `deploy` are copies with this page's ports."""
        self.clone.mkdir()
        for entry in ROOT.iterdir():
            if entry.name in ("examples", "deploy"):
                shutil.copytree(entry, self.clone / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
            elif entry.name not in ("build", ".git", "penstock-data"):
                (self.clone / entry.name).symlink_to(entry)
        for file in [*self.clone.glob("examples/**/*.json"), *self.clone.glob("deploy/nginx/**/*.conf")]:
            file.write_text(self.translate(file.read_text()))
        (self.clone / "build").mkdir()
        (self.clone / "build" / "release").symlink_to(pathlib.Path(binary()).parent)
        installed = self.folder / "etc" / "penstock"  # what a package leaves there
        installed.mkdir(parents=True)
        (installed / "penstock.yaml").write_text(self.translate('http:\n  listen: "127.0.0.1:8080"\n'))
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "penstock").symlink_to(binary(*self.page.words("program")))
        if "nginx" in self.page.words("needs"):
            self.lay_out_nginx(programs / "nginx")
        for name in self.page.words("fixture"):
            self.run_sql((ROOT / name).read_text(), name)

    def lay_out_nginx(self, program):
        """/etc/nginx as a package leaves it, and an nginx that looks there."""
        etc = self.folder / "etc" / "nginx"
        (etc / "conf.d").mkdir(parents=True)
        temporary = " ".join(f"{kind}_temp_path {self.folder}/{kind};"
                             for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (etc / "nginx.conf").write_text(
            f"{'user root; ' if os.geteuid() == 0 else ''}worker_processes 1; pid {self.folder}/nginx.pid;\n"
            f"error_log {self.folder}/nginx.log; events {{}}\nhttp {{ access_log off; {temporary} include conf.d/*.conf; }}\n")
        real = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        program.write_text(f"#!/bin/sh\nexec {real} -p {etc} -c {etc}/nginx.conf \"$@\"\n")
        program.chmod(0o755)

    def port(self, number):
        if number not in self.ports:
            self.reserved.append(testserver.ports.reserve())
            self.ports[number] = self.reserved[-1].number
        return self.ports[number]

    def translate(self, text):
        """The text with this page's own ports, hosts and folders."""
        text = PORT.sub(lambda m: m.group(1) + str(self.port(int(m.group(2)))), text)
        for scheme, server in (("postgresql", 5432), ("mysql", 3306)):
            text = re.sub(rf"({scheme}://[^\s/@]*@)db\b", lambda m: f"{m.group(1)}127.0.0.1:{self.port(server)}", text)
        if "penstock demo downstream" in text and "--listen" not in text:
            text = text.replace("penstock demo downstream", f"penstock demo downstream --listen 127.0.0.1:{self.port(9090)}")
        return text.replace("/etc/penstock/", f"{self.folder}/etc/penstock/").replace("/etc/nginx", f"{self.folder}/etc/nginx")

    def environment(self):
        address = f"127.0.0.1:{self.port(8080)}"
        own = {"PENSTOCK_URL": f"http://{address}", "PENSTOCK_HTTP_LISTEN": address, "HOME": str(self.folder),
               "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}:/usr/sbin"}
        if "postgres" in self.servers:
            own |= {"PGHOST": "127.0.0.1", "PGPORT": str(self.ports[5432]), "PGUSER": "postgres"}
        for setting in self.page.marks.get("set", []):
            name, _, value = setting.partition("=")
            own[name] = self.translate(value)
        return clean_environment(own)

    # Programs that stay.

    def start(self, command, what, ready="ready", log="program"):
        if self.state.exists():
            command = f"source {self.state}; cd \"$(cat {self.state}.folder)\"; {command}"
        output = open(self.folder / f"{log}-{len(self.background)}.log", "wb")  # noqa: SIM115  (the child keeps it)
        process = subprocess.Popen(["bash", "-c", command], cwd=self.clone, env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=output, start_new_session=True)
        output.close()
        process.log = output.name
        self.background.append(process)
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
            line = process.stdout.readline()
            if line.startswith(ready.encode()):
                return process
            if not line:
                break
        raise RuleBroken(what, f"did not get ready: {command}\n{pathlib.Path(process.log).read_text(errors='replace')}")

    def need_daemon(self):
        """The page's own daemon, unless the page itself starts one."""
        starts_one = any(b.stays and " serve" in b.commands and "not run" not in b.marks for b in self.page.commands)
        if self.daemon is None and not starts_one:
            self.daemon = self.start(f"exec penstock serve --data-dir {self.clone}/penstock-data", self.page.name, log="daemon")

    def stop_daemon(self):
        if self.daemon is not None:
            end(self.daemon, signal.SIGTERM)
            self.background.remove(self.daemon)
            self.daemon = None

    # Blocks.

    def run(self, block):
        """Runs a command block; returns what it printed."""
        if block.stays:
            self.start(self.translate(block.commands), block.place, block.stays)
            return ""
        if block.marks.get("daemon") == "stopped":
            self.stop_daemon()
        elif ASKS_THE_DAEMON.search(block.commands):
            self.need_daemon()
        output = ""

        def shows():
            nonlocal output
            output = self.shell(block)
            return block.marks.get("until", "") in output

        wait_until(shows, UNTIL_SECONDS, lambda: f"{block.place}: after\n{output}\n{block.marks['until']!r}", every=0.1)
        return output

    def shell(self, block):
        command = self.translate(block.commands)
        restore = f"source {self.state} && cd \"$(cat {self.state}.folder)\"\n" if self.state.exists() else ""
        keep = f"trap 'export -p > {self.state}; pwd > {self.state}.folder' EXIT\n"
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", restore + keep + command], capture_output=True, text=True,
                             timeout=BLOCK_SECONDS, cwd=self.clone, env=self.environment(), stdin=subprocess.DEVNULL)
        if run.returncode != 0 and "until" not in block.marks:
            raise RuleBroken(block.place, f"exit code {run.returncode} of:\n{command}\n{run.stdout}{run.stderr}{self.logs()}")
        return run.stdout

    def logs(self):
        logs = [pathlib.Path(process.log) for process in self.background]
        return "".join(f"\n--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-5:]) for log in logs)

    def run_sql(self, text, place, rows_to=None):
        """As the administrator of the page's server; in the database `penstock` once there is one."""
        try:
            if "mariadb" in self.servers:
                server = self.servers["mariadb"]
                there = server.query("SHOW DATABASES LIKE 'penstock'", "mysql").strip()
                rows = server.query(text, "penstock" if there else "mysql")
            else:
                server = self.servers["postgres"]
                there = server.query("SELECT 1 FROM pg_database WHERE datname = 'penstock'").strip()
                csv = "\\pset format csv\n\\pset tuples_only off\n" if (rows_to or "").endswith(".csv") else ""
                rows = server.query(csv + text, "penstock" if there else "postgres")
        except testserver.CallFailed as failure:
            raise RuleBroken(place, f"the server refused:\n{text}\n{failure}") from None
        if rows_to:
            last = pathlib.Path(f"{self.state}.folder")
            folder = pathlib.Path(last.read_text().strip()) if last.exists() else self.clone
            (folder / rows_to).write_text(rows.rstrip("\n") + "\n")

    def check_config(self, block):
        """A configuration of Penstock, by its own check; the files it names are made."""
        text = self.translate(block.text)
        for path in re.findall(r"\S+/etc/penstock/\S+", text):
            file = pathlib.Path(path.strip("\"'"))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("a-secret-for-the-docs\n")
            file.chmod(0o600)
        config = self.folder / "checked.yaml"
        config.write_text(text)
        run = subprocess.run([binary(), "check-config", "--config", str(config)], capture_output=True, text=True, timeout=60,
                             env=clean_environment())
        if run.returncode != 0:
            raise RuleBroken(block.place, f"penstock check-config says:\n{run.stdout}{run.stderr}")

    def promtool(self, block, *arguments, text):
        if shutil.which("promtool") is None:
            raise testserver.Unavailable("promtool is not installed (tools/setup servers)")
        file = self.clone / "deploy" / "prometheus" / "checked.yml"
        file.write_text(text)
        run = subprocess.run(["promtool", *arguments, str(file)], capture_output=True, text=True, timeout=60)
        if run.returncode != 0:
            raise RuleBroken(block.place, f"promtool says:\n{run.stdout}{run.stderr}")


def end(process, with_signal=signal.SIGKILL):
    """The program and what it started; in order when asked to."""
    try:
        os.killpg(process.pid, with_signal)
        process.wait(30)
    except ProcessLookupError:
        pass
    finally:
        process.stdout.close()
