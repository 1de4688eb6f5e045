"""The console in real Chromium, driven by playwright-core against the real binary (ui/e2e/)."""
import json
import os
import re
import subprocess
from datetime import UTC, datetime

import pytest
from conftest import ROOT, binary, clean_environment
from payment_files import payment

UI = ROOT / "ui"
SECONDS_MAX = 300  # of one scenario; each takes a few on an idle machine
CHROMIUM = "/usr/bin/chromium"


def run(scenario: str, *arguments: str) -> str:
    environment = clean_environment({"CHROMIUM": CHROMIUM})
    done = subprocess.run(["node", "e2e/run.mjs", scenario, *arguments], cwd=UI, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def browser():
    packages = subprocess.run([ROOT / "tools" / "console_packages.py"], text=True, capture_output=True, check=False)
    if packages.returncode != 0:
        pytest.skip(f"skipped: the console's npm packages cannot be had: {packages.stderr}")
    if not os.path.exists(CHROMIUM):
        pytest.skip("skipped: Debian's chromium is not installed (tools/setup servers)")


@pytest.fixture
def page(browser, daemon):
    """The address of a daemon that has the console in it."""
    if b"without its console" in daemon.get("/").body:
        pytest.skip("skipped: this binary was built without the console")
    return daemon.url


@pytest.mark.parametrize("script", ["check", "test"])
def test_its_types_and_its_logic(browser, script):
    done = subprocess.run(["npm", "run", "--silent", script], cwd=UI, env=clean_environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, done.stdout


def test_a_policy_is_made_and_exhausted_and_the_line_moves(page):
    run("policy", page)


def test_a_burst_fills_the_strip_and_a_preview_does_not(page):
    run("timeline", page)


def test_the_kill_switch_and_the_pace_reach_the_daemon(page):
    run("dispatch", page)


def test_dead_letters_are_listed_and_redriven(page):
    run("dead", page)


def test_a_held_payment_is_found_and_released(page):
    run("payments", page)


def test_a_users_limit_its_messages_and_its_usage(page):
    run("messages", page)


def test_the_first_paint_is_light(page):
    size = int(re.search(r"first paint: (\d+) bytes", run("weight", page)).group(1))
    assert size < 200 * 1024


def test_all_works_by_keyboard(page):
    run("keyboard", page)


def test_it_comes_back_with_the_daemon(browser, start_daemon, tmp_path):
    daemon = start_daemon()
    if b"without its console" in daemon.get("/").body:
        pytest.skip("skipped: this binary was built without the console")
    daemon.stop()  # its port stays its own: the page starts and kills it from here on
    command = [binary(), "serve", "--data-dir", str(daemon.data_dir), "--http", f"{daemon.address}:{daemon.port}"]
    run("restart", daemon.url, json.dumps(command))


def test_a_hidden_tab_lets_go_of_the_stream(page):
    run("hidden", page)


def test_names_are_shown_as_they_are(page):
    run("names", page)


def test_dialogs_and_fields_behave(page):
    run("forms", page)


def test_lines_are_named_and_switched_by_keyboard(page):
    run("charts", page)


def test_the_token_opens_the_console_and_stays_in_the_tab(browser, start_daemon, tmp_path):
    token = tmp_path / "admin.token"
    token.write_text("a-token-for-the-console\n")
    token.chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(token))
    assert daemon.get("/admin/events").status == 401
    if b"without its console" in daemon.get("/").body:
        pytest.skip("skipped: this binary was built without the console")
    run("signin", daemon.url, "a-token-for-the-console")


def test_every_view_fits_and_can_be_read(page, daemon):
    """At 1280 and 390 px, light and dark, with something in every view."""
    fill(daemon)
    run("looks", page, *filter(None, [os.environ.get("CONSOLE_PICTURES")]))


def fill(daemon) -> None:
    def post(path, body, status=200):
        answer = daemon.post(path, body)
        assert answer.status == status, answer.body

    for key, capacity in [("user:*", 20), ("ip:*", 100), ("partner:acme", 1000)]:
        post("/admin/policies", {"key": key, "capacity": capacity, "refillRate": 0.5}, 201)
    for i in range(90):
        daemon.post("/api/v1/throttle/check", {"key": f"user:{i % 2}"})
    daemon.put_config()
    now = datetime.now(UTC).isoformat()
    post("/api/v1/slots/batch", [{"eventId": f"e{i}", "requestedTime": now} for i in range(2500)])
    answer = daemon.request("PUT", "/admin/dispatch/types/EMAIL",
                            json.dumps({"enabled": False, "maxPerSecond": 50, "sink": {"type": "log"}}))
    assert answer.status == 200, answer.body
    for i in range(3):
        post("/api/v1/payments", payment(f"pay-{i}"), 202)
    post("/api/config", {"userId": 7, "rateLimit": 2, "timeWindow": 60})
    for _ in range(5):
        daemon.post("/api/send", {"userId": 7, "message": "hello"})
    post("/api/v1/dispatch/EMAIL/batch", [{"itemId": f"m{i}", "scheduledTime": now, "context": {}} for i in range(300)])
