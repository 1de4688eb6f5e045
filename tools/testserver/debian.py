"""A minimal Debian of this machine's release: its own root in memory, processes and network. Nothing of it outlives its
owner, however that ends: the kernel ends all processes with the first one, and the mounts with them.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from . import cache
from .process import StartFailed, Unavailable, progress, require, run, wait_until

INIT = Path(__file__).with_name("debian_init.py")
BASE_SECONDS = 600  # about one minute with a near mirror
CALL_SECONDS = 300
BOOT_SECONDS = 60  # a few, on an idle machine
# /proc/sys is the kernel's own: a test changes nothing there.
BOOT = ("mount -t proc proc /proc && mount --bind -o ro /proc/sys /proc/sys && mount -t sysfs -o ro sysfs /sys && "
        "mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t tmpfs tmpfs /run && exec /lib/systemd/systemd")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
               "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


class Machine:
    """`with Machine() as machine:`; one thread at a time. `root` shows its files from here."""

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("a minimal Debian needs root, for its namespaces and mounts")
        base, archives = base_system(), fetched_packages()
        self._group = None
        self._folder = tempfile.mkdtemp(prefix="penstock-debian-")
        self._init = subprocess.Popen(
            ["unshare", "--mount", "--net", "--pid", "--kill-child", sys.executable, "-I", INIT, base, archives,
             self._folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self._init.stdout.readline().strip()
        if not self.pid:
            reason = self._init.stderr.read().strip()
            self.__exit__()
            os.rmdir(self._folder)
            raise Unavailable(f"a minimal Debian cannot be started here: {reason}")
        self.root = Path(f"/proc/{self.pid}/root")
        os.rmdir(self._folder)  # the machine has its root elsewhere by now
        return self

    def __exit__(self, *_):
        self._init.stdin.close()
        self._init.wait(60)
        if self._group:
            remove_group(self._group)
        self._init.stdout.close()
        self._init.stderr.close()

    def command(self, *command, user=None, network=True, env=None):
        """What runs `command` in it. `user`: USER:GROUP, names or numbers, with no rights beyond theirs. Without
        `network` it has this machine's, for apt."""
        name, _, group = (user or "").partition(":")
        become = ["setpriv", f"--reuid={name}", f"--regid={group}", "--clear-groups", "--no-new-privs",
                  "--bounding-set=-all", "--inh-caps=-all"] if user else []
        variables = [f"{name}={value}" for name, value in {**ENVIRONMENT, **(env or {})}.items()]
        return ["nsenter", f"--target={self.pid}", "--mount", "--pid", *(["--net"] if network else []), "--root", "--wd",
                *become, "env", "-i", *variables, *map(str, command)]

    def run(self, *command, check=True, **options):
        """The finished process; its output is text."""
        done = subprocess.run(self.command(*command, **options), capture_output=True, text=True,
                              timeout=CALL_SECONDS, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 or not check, (command, done.stdout, done.stderr)
        return done

    def start(self, *command, **options):
        """A running process; its output is text, standard error with it. signal() reaches it."""
        return subprocess.Popen(self.command(*command, **options), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)

    def line(self, process, text, seconds=30):
        """The first line of a started process with this text in it; the process is ended when none comes."""
        timer = threading.Timer(seconds, self.signal, [process, signal.SIGKILL])
        timer.start()
        seen = []
        try:
            for line in process.stdout:
                seen.append(line)
                if text in line:
                    return line.rstrip("\n")
        finally:
            timer.cancel()
        raise AssertionError(f"no line with {text!r} within {seconds} s: {''.join(seen)}")

    @staticmethod
    def signal(process, number):
        """To the command that start() started: the only child of the program that went into the namespaces."""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), number)

    def install(self, *packages):
        """By apt, which finds what they depend on in Debian's archive."""
        install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages]
        if self.run(*install, network=False, check=False).returncode != 0:
            self.run("apt-get", "update", "-q", network=False)  # the archive may have moved on since the base was made
            self.run(*install, network=False)
        keep_packages(self.root / "var" / "cache" / "apt" / "archives")

    def boot(self):
        """Starts systemd, which must be installed, and waits until it has started everything. Commands run beside it."""
        self._group = make_group()
        unshare = ["unshare", "--mount", "--pid", "--kill-child", "--cgroup", "--uts", "--ipc", "sh", "-c", BOOT]
        system = subprocess.Popen(
            self.command(*unshare, env={"container": "penstock-test"}), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: (self._group / "cgroup.procs").write_text("0"))  # noqa: PLW1509  (only this thread forks)
        wait_until(lambda: descendant(system.pid, "systemd") or system.poll() is not None, BOOT_SECONDS, "systemd")
        if system.poll() is not None:
            raise Unavailable("systemd cannot be started in namespaces here")
        self.pid = descendant(system.pid, "systemd")
        self.root = Path(f"/proc/{self.pid}/root")
        wait_until((self.root / "run" / "systemd" / "private").exists, BOOT_SECONDS, "systemd's socket")
        wait_until(lambda: self.run("systemctl", "is-system-running", check=False).stdout.strip()
                   in ("running", "degraded"), BOOT_SECONDS, "the end of the boot")

    def outside(self, *command):
        """What runs a program of this machine in the network of that one."""
        return ["nsenter", f"--target={self.pid}", "--net", *map(str, command)]


def descendant(number, name):
    """The first process of this name below process `number`, each of which has one child."""
    while True:
        try:
            if Path(f"/proc/{number}/comm").read_text().strip() == name:
                return number
            children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        except OSError:
            return None
        if not children:
            return None
        number = children[0]


def make_group():
    """A new control group of version 2, which systemd wants one of for each service."""
    mounted = re.search(r"^\S+ (\S+) cgroup2 ", Path("/proc/mounts").read_text(), re.M)
    parent = Path(mounted[1] if mounted else "/sys/fs/cgroup")
    for left in parent.glob("penstock-test-*"):  # of a test that was killed; its processes ended with it
        if not Path("/proc", left.name.rsplit("-", 1)[1]).exists():
            remove_group(left)
    group = parent / f"penstock-test-{os.getpid()}"
    try:
        group.mkdir(exist_ok=True)
        (group / "cgroup.procs").read_text()
    except OSError as reason:
        raise Unavailable(f"systemd needs control groups of version 2: {reason}") from None
    return group


def remove_group(group):
    def gone():
        for folder, _, _ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):  # until the last process is out
                os.rmdir(folder)
        return not group.exists()

    wait_until(gone, 30, f"{group} empty")


def codename():
    return re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)[1]


def fetched_packages():
    folder = cache.root() / f"debian-{codename()}-archives"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_packages(folder):
    """What apt has fetched there, for the next machine; each file appears whole."""
    kept = fetched_packages()
    for file in folder.glob("*.deb"):
        if not (kept / file.name).exists():
            with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as copy:
                copy.write(file.read_bytes())
            os.rename(copy.name, kept / file.name)


def base_system():
    """The folder of a Debian with apt and nothing that is not essential."""
    require("mmdebstrap", "mmdebstrap")
    require("unshare", "util-linux")
    return cache.provide(f"debian-{codename()}-1", _make_base) / "root"


def _make_base(folder):
    progress(f"debian: fetching a minimal {codename()} once")
    sources = folder / "sources.list"
    sources.write_text(_sources())
    # The lists stay, so that the next installation need not fetch them.
    try:
        run(["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", "--format=directory", "--skip=cleanup/apt/lists",
             codename(), folder / "root", sources], seconds=BASE_SECONDS, what="a minimal Debian")
    except StartFailed as failure:
        raise Unavailable(f"a minimal Debian cannot be fetched: {failure}") from None


def _sources():
    """This machine's own sources of Debian, as lines of sources.list."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages",
         "Origin: Debian"], capture_output=True, text=True, timeout=CALL_SECONDS)
    return listed.stdout or f"deb http://deb.debian.org/debian {codename()} main\n"
