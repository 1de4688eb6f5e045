"""Commands that were written by hand: slots, configs, imports, exports; what they print, where, and with which exit code."""
import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import threading
import time

import pytest
from conftest import binary, clean_environment, peak_kib, read_terminal, wait_until

AT = "2030-01-01T00:00:00Z"


def events_csv(path, count, bad_every=0, first=0):
    with open(path, "w") as file:
        file.write("eventId,configName,requestedTime,maxDelay\n")
        for i in range(first, first + count):
            at = "tomorrow" if bad_every and i % bad_every == 0 else AT
            file.write(f"evt-{i},,{at},P30D\n")
    return path


def start(*args, **options) -> subprocess.Popen:
    return subprocess.Popen([binary(), *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=clean_environment(), **options)


def lines_of(path):
    return [json.loads(line) for line in open(path)]


# --- client commands ---

def test_a_slot_is_assigned_and_found_again(daemon, penstock):
    url = {"PENSTOCK_URL": daemon.url}
    made = penstock("config", "set", "default", "--max-per-window", 100, "--window", "PT4S", env=url)
    assert made.returncode == 0 and "PT4S" in made.stdout
    first = penstock("slots", "assign", "a/b?c", "--at", AT, env=url)
    assert first.returncode == 0 and first.stdout.startswith("a/b?c  scheduled 2030-01-01T00:00:0")
    assert penstock("slots", "assign", "a/b?c", env=url).stdout == first.stdout
    found = json.loads(penstock("slots", "get", "a/b?c", "--json", env=url).stdout)
    assert found["status"] == "ASSIGNED" and found["scheduledTime"] in first.stdout
    shown = penstock("windows", "--from", AT, "--to", "2030-01-01T00:00:04Z", env=url)
    assert re.search(r"^2030-01-01T00:00:00.000Z +1 +100  #$", shown.stdout, re.M)
    penstock("config", "set", "default", "--max-per-window", 200, "--window", "PT4S", env=url)
    assert json.loads(penstock("config", "get", "--json", env=url).stdout)["version"] == 2
    history = penstock("config", "history", "default", env=url).stdout.splitlines()
    assert len(history) == 3 and " active " in history[1] and " active " not in history[2]


def test_a_refusal_is_1_with_the_daemons_sentence(daemon, penstock):
    run = penstock("slots", "assign", "e", "--config", "nope", "--url", daemon.url)
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr.startswith("penstock: 404 Not Found: ")
    raw = penstock("slots", "assign", "e", "--config", "nope", "--url", daemon.url, "--json")
    assert raw.returncode == 1 and json.loads(raw.stdout)["status"] == 404


def test_a_daemon_that_is_not_there_is_3(penstock, free_url):
    run = penstock("slots", "get", "e", "--url", free_url)
    assert run.returncode == 3
    assert run.stderr == f"penstock: cannot reach {free_url}: Connection refused\n"


def test_tokens_come_from_a_file_or_a_variable(start_daemon, penstock, tmp_path):
    admin = tmp_path / "admin.token"
    admin.write_text("the-admin-token-for-tests\n")
    admin.chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(admin))
    command = ["config", "set", "c", "--max-per-window", 1, "--window", "PT1S", "--url", daemon.url]
    refused = penstock(*command)
    assert refused.returncode == 1 and "--token-file or PENSTOCK_TOKEN" in refused.stderr
    assert penstock(*command, "--token-file", admin).returncode == 0
    assert penstock(*command, env={"PENSTOCK_TOKEN": "the-admin-token-for-tests"}).returncode == 0
    assert penstock(*command, env={"PENSTOCK_TOKEN": "x\r\nX-Evil: 1"}).returncode == 2


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1 that signs itself."""
    key, crt = tmp_path / "tls.key", tmp_path / "tls.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=penstock",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", crt],
                   check=True, capture_output=True)
    return str(crt), str(key)


def test_https_is_spoken_and_certificates_are_checked(start_daemon, penstock, certificate):
    crt, key = certificate
    daemon = start_daemon(env={"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": crt, "PENSTOCK_HTTP_TLS_KEY_FILE": key})
    url = f"https://127.0.0.1:{daemon.port}"
    trusted = penstock("slots", "get", "e", "--url", url, "--ca-file", crt)
    assert trusted.returncode == 1 and "404" in trusted.stderr  # reached, and answered
    unknown = penstock("slots", "get", "e", "--url", url)
    assert unknown.returncode == 3 and "certificate verify failed" in unknown.stderr
    other_name = penstock("slots", "get", "e", "--url", f"https://localhost:{daemon.port}", "--ca-file", crt)
    assert other_name.returncode == 3 and "certificate verify failed" in other_name.stderr


# --- import ---

def test_a_large_file_is_imported_and_bad_lines_are_reported(daemon, penstock, tmp_path):
    daemon.put_config(max_per_window=1000, window="PT1S")
    path = events_csv(tmp_path / "events.csv", 100_000, bad_every=10_000)
    with open(path, "a") as file:
        file.write("too,few\n\"open quote,,x,\n")
    out, errors = tmp_path / "slots.ndjson", tmp_path / "errors.ndjson"
    run = penstock("slots", "import", path, "--url", daemon.url, "--output", out, "--errors", errors, "--json")
    assert run.returncode == 1 and run.stderr == ""
    summary = json.loads(run.stdout)
    assert (summary["linesRead"], summary["assigned"], summary["failed"]) == (100_002, 99_990, 12)
    assert sum(reason["lines"] for reason in summary["reasons"]) == 12

    slots = lines_of(out)
    good = [i for i in range(100_000) if i % 10_000]
    assert [slot["eventId"] for slot in slots] == [f"evt-{i}" for i in good]  # in the order of the file
    assert max(slot["scheduledTime"] for slot in slots) == summary["latestScheduledTime"]
    failed = lines_of(errors)
    assert [line["line"] for line in failed] == [2 + i * 10_000 for i in range(10)] + [100_002, 100_003]
    assert failed[0]["input"] == "evt-0,,tomorrow,P30D" and "requestedTime" in failed[0]["reason"]
    assert "2 fields where the header has 4" in failed[10]["reason"]
    assert "never closed" in failed[11]["reason"]

    again = tmp_path / "again.ndjson"
    penstock("slots", "import", path, "--url", daemon.url, "--output", again, "--errors", errors)
    assert lines_of(again) == slots  # nothing moved, nothing was charged
    used = daemon.get(f"/api/v1/windows?from={AT}&to=2030-01-02T00:00:00Z").json()["windows"]
    assert sum(window["used"] for window in used) == 99_990


def test_ndjson_comes_from_standard_input_as_well(daemon, penstock, tmp_path):
    daemon.put_config(max_per_window=1000)
    text = "".join(json.dumps({"eventId": f"e{i}", "requestedTime": AT}) + "\n" for i in range(50)) + "not json\n\n"
    run = penstock("slots", "import", "-", "--format", "ndjson", "--url", daemon.url, "--output", "-", input=text)
    assert run.returncode == 1
    assert [json.loads(line)["eventId"] for line in run.stdout.splitlines()] == [f"e{i}" for i in range(50)]
    assert "penstock: line 51: 400 Bad Request" in run.stderr
    assert re.search(r"^assigned +50$", run.stderr, re.M)  # the summary leaves the results alone


def test_a_clean_import_is_0_and_a_summary(daemon, penstock, tmp_path):
    daemon.put_config(max_per_window=1000)
    run = penstock("slots", "import", events_csv(tmp_path / "e.csv", 2500), "--url", daemon.url)
    assert run.returncode == 0 and run.stderr == ""
    for pattern in (r"lines read +2,500", r"assigned +2,500", r"failed +0", r"events/s +[\d,]+",
                    r"latest slot +2030-01-01T00:00:\d\d\.\d{3}Z"):
        assert re.search(rf"^{pattern}$", run.stdout, re.M), run.stdout


@pytest.mark.parametrize("name,text,why", [
    ("e.txt", "x", "cannot tell the format"), ("e.csv", "", "the file is empty"),
    ("e.csv", "eventID,requestedTime\n", "the nearest known one is eventId"),
    ("e.csv", "eventId\n", "lacks the column requestedTime")])
def test_a_file_that_cannot_be_an_import_is_2(daemon, penstock, tmp_path, name, text, why):
    (tmp_path / name).write_text(text)
    run = penstock("slots", "import", tmp_path / name, "--url", daemon.url)
    assert run.returncode == 2 and why in run.stderr


def test_an_import_without_a_daemon_is_3(penstock, tmp_path, free_url):
    run = penstock("slots", "import", events_csv(tmp_path / "e.csv", 10), "--url", free_url, "--retry-for", "PT0.3S")
    assert run.returncode == 3
    assert "Connection refused (gave up after PT0.3S)" in run.stderr
    assert re.search(r"^not answered +10$", run.stdout, re.M)


def test_an_import_with_a_wrong_token_ends_at_once(start_daemon, penstock, tmp_path):
    (tmp_path / "api").write_text("the-api-token-for-tests")
    daemon = start_daemon("--api-token-file", str(tmp_path / "api"))
    run = penstock("slots", "import", events_csv(tmp_path / "e.csv", 10), "--url", daemon.url,
                   env={"PENSTOCK_TOKEN": "not-the-token-at-all"}, timeout=20)
    assert run.returncode == 1 and "401" in run.stderr


class Feed:
    """An import that reads what the test writes, so that the test decides how far it is."""

    def __init__(self, url, output, *args):
        self.output = output
        self.process = start("slots", "import", "-", "--format", "csv", "--batch", "100", "--url", url, "--output",
                             output, *args, stdin=subprocess.PIPE)
        self.process.stdin.write("eventId,requestedTime,maxDelay\n")
        self.sent = 0

    def send(self, count):
        for i in range(self.sent, self.sent + count):
            self.process.stdin.write(f"evt-{i},{AT},P30D\n")
        self.process.stdin.flush()
        self.sent += count

    def wait_for_answers(self):
        before = self.answered()
        wait_until(lambda: self.answered() > before, 30, "an answer")

    def answered(self):
        return self.output.stat().st_size if self.output.exists() else 0

    def finish(self):
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


def test_ctrl_c_ends_an_import_with_its_summary_and_it_can_be_repeated(daemon, penstock, tmp_path):
    daemon.put_config(max_per_window=1000, window="PT1S")
    feed = Feed(daemon.url, tmp_path / "out.ndjson")
    feed.send(5_000)
    feed.wait_for_answers()
    feed.process.send_signal(signal.SIGINT)
    code, out, err = feed.finish()
    assert code == 130, err
    assert "the import is not complete; run it again" in err
    assigned = int(re.search(r"^assigned +([\d,]+)$", out, re.M).group(1).replace(",", ""))
    kept = lines_of(tmp_path / "out.ndjson")
    assert 0 < assigned <= 5_000 and len(kept) == assigned

    whole = tmp_path / "whole.ndjson"
    run = penstock("slots", "import", events_csv(tmp_path / "e.csv", 5_000), "--url", daemon.url, "--output", whole)
    assert run.returncode == 0
    by_event = {slot["eventId"]: slot for slot in lines_of(whole)}
    assert len(by_event) == 5_000
    assert all(by_event[slot["eventId"]] == slot for slot in kept)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_an_import_rides_out_a_restart_of_the_daemon(start_daemon, tmp_path, how):
    daemon = start_daemon()
    daemon.put_config(max_per_window=1000, window="PT1S")
    feed = Feed(daemon.url, tmp_path / "out.ndjson", "--json")
    feed.send(20_000)
    feed.wait_for_answers()
    getattr(daemon, how)()
    # The import reads only a little ahead, so the rest waits in the pipe until the daemon is back.
    rest = threading.Thread(target=feed.send, args=(20_000,))
    rest.start()
    time.sleep(0.3)  # some calls are refused for certain: nobody is there to tell of them
    daemon = start_daemon("--http", f"127.0.0.1:{daemon.port}", data_dir=daemon.data_dir)
    rest.join(60)
    code, out, err = feed.finish()
    assert code == 0, err
    summary = json.loads(out)
    assert (summary["linesRead"], summary["assigned"]) == (40_000, 40_000)
    assert summary["batchesRetried"] > 0
    slots = lines_of(tmp_path / "out.ndjson")
    assert [slot["eventId"] for slot in slots] == [f"evt-{i}" for i in range(40_000)]
    used = daemon.get(f"/api/v1/windows?from={AT}&to=2030-01-02T00:00:00Z").json()["windows"]
    assert sum(window["used"] for window in used) == 40_000
    assert max(window["used"] for window in used) <= 1000


def test_the_memory_of_an_import_does_not_grow_with_the_file(daemon, tmp_path):
    daemon.put_config(max_per_window=1000, window="PT1S")
    peaks = []
    for count in (20_000, 200_000):
        path = events_csv(tmp_path / "e.csv", count)
        with subprocess.Popen([binary(), "slots", "import", str(path), "--url", daemon.url],
                              stdout=subprocess.DEVNULL, env=clean_environment()) as process:
            peaks.append(peak_kib(process))
    assert peaks[1] < peaks[0] + 8 * 1024, peaks  # the larger file is 6 MiB larger, its answers 35 MiB
    assert peaks[1] < 64 * 1024, peaks


def test_progress_is_for_terminals_only(daemon, tmp_path):
    daemon.put_config(max_per_window=1000, window="PT1S")
    path = events_csv(tmp_path / "e.csv", 30_000)
    terminal, stderr = pty.openpty()
    process = subprocess.Popen([binary(), "slots", "import", str(path), "--url", daemon.url],
                               stdout=subprocess.PIPE, stderr=stderr, env=clean_environment())
    os.close(stderr)
    shown = read_terminal(terminal)
    out = process.stdout.read().decode()
    process.stdout.close()
    assert process.wait(30) == 0
    assert re.search(rb"\r\[#*\.*\] +\d+%  [\d,]+ lines  [\d,]+/s  ETA ", shown), shown
    assert "\r" not in out and re.search(r"^assigned +30,000$", out, re.M)


# --- export and migrate ---

@pytest.fixture
def stopped(daemon):
    """A data folder with three slots and two versions of a config, and nobody using it."""
    daemon.put_config(max_per_window=5)
    daemon.put_config(max_per_window=7)
    for event in ("order-1", "order-2", 'a,"b"'):
        assert daemon.post("/api/v1/slots", {"eventId": event, "requestedTime": AT}).status == 200
    slots = {event: daemon.get(f"/api/v1/slots/{event}").json() for event in ("order-1", "order-2")}
    assert daemon.stop() == 0
    return daemon.data_dir, slots


def test_slots_are_exported_as_the_api_shows_them(penstock, stopped):
    data_dir, slots = stopped
    run = penstock("export", "slots", "--data-dir", data_dir)
    assert run.returncode == 0 and run.stderr == "exported 3 rows\n"
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert [row["eventId"] for row in rows] == ['a,"b"', "order-1", "order-2"]
    assert rows[1] == slots["order-1"] and rows[2] == slots["order-2"]


def test_slots_are_exported_as_csv_to_a_file(penstock, stopped, tmp_path):
    data_dir, slots = stopped
    path = tmp_path / "slots.csv"
    assert penstock("export", "slots", "--data-dir", data_dir, "--format", "csv", "--output", path).returncode == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["eventId"] for row in rows] == ['a,"b"', "order-1", "order-2"]
    assert rows[1] == {name: str(value) for name, value in slots["order-1"].items()} | {"owner": ""}


@pytest.mark.parametrize("prefix,expected", [("order-", ["order-1", "order-2"]), ("order-2", ["order-2"]),
                                             ("a", ['a,"b"']), ("z", []), ("order-1x", [])])
def test_slots_are_exported_by_prefix(penstock, stopped, prefix, expected):
    run = penstock("export", "slots", "--data-dir", stopped[0], "--event-prefix", prefix)
    assert [json.loads(line)["eventId"] for line in run.stdout.splitlines()] == expected


def test_configs_are_exported_with_all_versions(penstock, stopped):
    run = penstock("export", "config", "--data-dir", stopped[0])
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert [(row["configName"], row["version"], row["maxPerWindow"], row["active"]) for row in rows] == [
        ("default", 2, 7, True), ("default", 1, 5, False)]
    as_csv = penstock("export", "config", "--data-dir", stopped[0], "--format", "csv").stdout
    assert len(list(csv.DictReader(io.StringIO(as_csv)))) == 2


def test_an_exported_file_can_be_cut_into_an_import(penstock, stopped, start_daemon, tmp_path):
    rows = csv.DictReader(io.StringIO(penstock("export", "slots", "--data-dir", stopped[0], "--format", "csv").stdout))
    text = io.StringIO()
    writer = csv.DictWriter(text, ["eventId", "configName", "requestedTime"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    daemon = start_daemon(data_dir=tmp_path / "other")
    daemon.put_config()
    run = penstock("slots", "import", "-", "--format", "csv", "--url", daemon.url, input=text.getvalue())
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("command", ["export slots", "export config", "migrate"])
def test_a_folder_in_use_is_refused_with_one_sentence(daemon, penstock, command):
    run = penstock(*command.split(), "--data-dir", daemon.data_dir)
    assert run.returncode == 1 and run.stdout == ""
    assert re.fullmatch(r"penstock: .*in use.*\n", run.stderr), run.stderr


def test_an_export_makes_no_folder(penstock, tmp_path):
    run = penstock("export", "slots", "--data-dir", tmp_path / "none")
    assert run.returncode == 1 and "there is no data folder" in run.stderr
    assert not (tmp_path / "none").exists()


def test_an_export_to_a_full_disk_fails(penstock, stopped):
    run = penstock("export", "slots", "--data-dir", stopped[0], "--output", "/dev/full")
    assert run.returncode == 1 and "No space left on device" in run.stderr


def test_old_slots_are_pruned_into_a_file(penstock, stopped, start_daemon, tmp_path):
    data_dir, _ = stopped
    daemon = start_daemon(data_dir=data_dir)
    daemon.post("/api/v1/slots", {"eventId": "old", "requestedTime": "2020-01-01T00:00:00Z"})
    assert daemon.stop() == 0
    archive = tmp_path / "old.csv"
    run = penstock("slots", "prune", "--data-dir", data_dir, "--before", "now", "--output", archive, "--format", "csv")
    assert (run.returncode, run.stderr) == (0, "moved 1 slots and 1 window counters\n")  # no progress: no terminal
    assert [line.split(",")[0] for line in archive.read_text().splitlines()] == ["eventId", "old"]
    again = penstock("slots", "prune", "--data-dir", data_dir, "--before", "now", "--delete")
    assert (again.returncode, again.stderr) == (0, "deleted 0 slots and 0 window counters\n")
    left = penstock("export", "slots", "--data-dir", data_dir)
    assert [json.loads(line)["eventId"] for line in left.stdout.splitlines()] == ['a,"b"', "order-1", "order-2"]


def test_a_daemon_prunes_by_itself(start_daemon, tmp_path):
    daemon = start_daemon(env={"PENSTOCK_SLOTS_RETENTION_KEEP": "PT1S", "PENSTOCK_SLOTS_RETENTION_INTERVAL": "PT0.1S",
                               "PENSTOCK_SLOTS_RETENTION_ARCHIVE_DIR": str(tmp_path)})
    daemon.put_config()
    daemon.post("/api/v1/slots", {"eventId": "old", "requestedTime": "2020-01-01T00:00:00Z"})
    wait_until(lambda: daemon.get("/api/v1/slots/old").status == 404)
    rows = [json.loads(line) for file in tmp_path.glob("slots-*.ndjson") for line in file.open()]
    assert [row["eventId"] for row in rows] == ["old"]


def test_migrate_says_the_version(penstock, stopped):
    run = penstock("migrate", "--data-dir", stopped[0])
    assert run.returncode == 0
    assert re.fullmatch(rf"{re.escape(str(stopped[0]))} is at schema version \d+\n", run.stdout)
