"""The first process of a Machine (debian.py), in new namespaces: makes the root, then waits for the end of its input.

Usage: debian_init.py BASE ARCHIVES ROOT     BASE: a minimal Debian; ARCHIVES: packages that apt has fetched before;
ROOT: an empty folder to mount on. Prints its number outside of its namespace once all is ready.
"""
import ctypes
import fcntl
import glob
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys

ROOT_BYTES_MAX = "3G"  # the base and all packages are about a tenth of that
SET_FLAGS = 0x8914  # SIOCSIFFLAGS of linux/sockios.h
UP = 1  # IFF_UP
DETACH = 2  # MNT_DETACH


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True, stdin=subprocess.DEVNULL)


def bring_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", UP))


def make_root(base, archives, root):
    # In memory: dpkg waits for the disk after every file, and nothing is left behind.
    mount("-t", "tmpfs", "-o", f"mode=755,size={ROOT_BYTES_MAX}", "tmpfs", root)
    subprocess.run(["cp", "-a", f"{base}/.", root], check=True)
    mount("-t", "proc", "proc", f"{root}/proc")
    for name in ("null", "zero", "full", "random", "urandom"):
        open(f"{root}/dev/{name}", "a").close()
        mount("--bind", f"/dev/{name}", f"{root}/dev/{name}")
    # Copied, not shared: apt locks the folder, and several machines may run at once.
    for package in glob.glob(f"{archives}/*.deb"):
        shutil.copy(package, f"{root}/var/cache/apt/archives")
    with open("/etc/resolv.conf", "rb") as ours, open(f"{root}/etc/resolv.conf", "wb") as its:
        its.write(ours.read())


def enter(root):
    """Not by chroot: below one the kernel allows no user namespaces, which systemd gives to services."""
    os.chdir(root)
    libc = ctypes.CDLL(None, use_errno=True)  # the new root may have no umount
    subprocess.run(["pivot_root", ".", "."], check=True)
    if libc.umount2(b".", DETACH) != 0:  # the old root, which now lies over the new one
        raise OSError(ctypes.get_errno(), "umount2")
    os.chdir("/")


def main():
    base, archives, root = sys.argv[1:]
    number = os.readlink("/proc/self")  # of the namespace that /proc still shows
    bring_loopback_up()
    make_root(base, archives, root)
    enter(root)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who loses its parent ends as our child: no zombies
    print(number, flush=True)
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    main()
