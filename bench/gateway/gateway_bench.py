#!/usr/bin/env python3
"""POST /api/send on the embedded store against the slot route of the same daemon, 64 connections each, turn by
turn: many users and one hot user, with messages that wait and with the sender at work.

Usage: gateway_bench.py [BUILD_DIR]     (default build/release)
"""
import json
import os
import pathlib
import platform
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "http"))
from harness import Penstock, interleave, print_ratio, wrk  # noqa: E402

USERS = 10_000
LIMIT = 2_000_000_000


def call(url, path, body, method="POST"):
    request = urllib.request.Request(f"{url}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"},
                                     method=method)
    return json.loads(urllib.request.urlopen(request, timeout=20).read())


def waiting(url):
    counts = json.loads(urllib.request.urlopen(f"{url}/api/v1/dispatch/SMS/summary", timeout=20).read())["counts"]
    return counts["READY"] + counts["CLAIMED"]


def make_users(url, count):
    for user in range(1, count + 1):
        call(url, "/api/config", {"userId": user, "rateLimit": LIMIT, "timeWindow": 60})


def slots(url):
    return wrk(url, script=ROOT / "bench" / "http" / "slots.lua", env={"RUN": f"s{time.monotonic_ns()}"})


def send(url, users, seconds=5):
    return wrk(url, seconds=seconds, script=pathlib.Path(__file__).with_name("send.lua"), env={"USERS": str(users)})


def drained(url, figures):
    """A turn is over when the sender has caught up: no work of one turn falls into the next."""
    started = time.monotonic()
    while waiting(url):
        time.sleep(0.05)
    print(f"    and {time.monotonic() - started:.1f} s until all were sent", flush=True)
    return figures


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release"
    print(f"{os.cpu_count()} cores, Linux {platform.release()}")
    with Penstock(build) as ours:
        call(ours.url, "/admin/rate-limit/config", {"configName": "default", "maxPerWindow": 1_000, "windowSize": "PT4S"})
        make_users(ours.url, USERS)
        call(ours.url, "/admin/dispatch/types/SMS", {"enabled": False}, "PATCH")
        print("POST /api/v1/slots and POST /api/send, 64 connections; messages wait")
        held = interleave({"slots": lambda: slots(ours.url), "send": lambda: send(ours.url, USERS),
                           "send, one user": lambda: send(ours.url, 1)})
        call(ours.url, "/admin/dispatch/types/SMS", {"enabled": True}, "PATCH")
        drained(ours.url, None)
        print("the same, the sender at work (provider: the log)")
        sent = interleave({"slots": lambda: slots(ours.url),
                           "send": lambda: drained(ours.url, send(ours.url, USERS)),
                           "send, one user": lambda: drained(ours.url, send(ours.url, 1))})
    if any(figures.errors for figures in (*held.values(), *sent.values())):
        sys.exit("bench: requests that were refused")
    print_ratio("gateway.send_vs_slots", held["send"].per_second / held["slots"].per_second, goal=0.8)
    print_ratio("gateway.one_user_vs_slots", held["send, one user"].per_second / held["slots"].per_second, goal=0.8)
    print_ratio("gateway.sending_vs_slots", sent["send"].per_second / sent["slots"].per_second, goal=0.4)


if __name__ == "__main__":
    main()
