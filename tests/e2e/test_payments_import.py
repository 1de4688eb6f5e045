"""`penstock payments import`: every line gets its answer once, whatever ends the import in between."""
import json
import re
import signal
import subprocess
import threading

import pytest
from conftest import binary, clean_environment, peak_kib, wait_until
from payment_files import HEADER, StrawDaemon, payment, write_csv


@pytest.fixture
def straw():
    made = []

    def make(**options):
        made.append(StrawDaemon(**options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def start(*args):
    return subprocess.Popen([binary(), "payments", "import", *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=clean_environment())


def mixed(count):
    """Of a hundred: one with a bad amount, one refused by a rule, one held; and the ids of the good ones."""
    kinds = {7: "bad", 8: "rule", 9: "hold"}
    return [payment(f"{kinds.get(i % 100, 'pay')}-{i}") for i in range(count)]


def test_every_payment_of_a_file_is_accounted_for(straw, penstock, tmp_path):
    daemon = straw()
    path = write_csv(tmp_path / "p.csv", mixed(5_000))
    rejects = tmp_path / "rejects.ndjson"
    run = penstock("payments", "import", path, "--url", daemon.url, "--rejects", rejects, "--json")
    assert run.returncode == 1 and run.stderr == "", run.stderr
    summary = json.loads(run.stdout)
    wanted = {"paymentsRead": 5_000, "accepted": 4_850, "alreadyKnown": 0, "held": 50, "rejected": 100, "failed": 0,
              "notAnswered": 0}
    assert {name: summary[name] for name in wanted} == wanted
    assert summary["reasons"] == [{"reason": "400 Bad Request: amount: is not an amount", "lines": 50},
                                  {"reason": "422 Unprocessable Entity: refused by rule no-go", "lines": 50}]
    lines = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert len(lines) == 100
    assert lines[0]["line"] == 9 and lines[0]["paymentId"] == "bad-7"
    assert lines[0]["reason"].startswith("400 Bad Request: amount")
    assert lines[0]["input"].startswith("bad-7,12.50,EUR,")
    assert set(daemon.sent.values()) == {1}
    assert not (tmp_path / "p.csv.import-state").exists(), "complete: nothing to go on with"

    again = penstock("payments", "import", path, "--url", daemon.url)
    assert re.search(r"^already known +4,900$", again.stdout, re.M) and re.search(r"^accepted +0$", again.stdout, re.M)
    shown = again.stderr.splitlines()
    assert len(shown) == 11 and shown[-1].endswith("--rejects FILE keeps them all"), "bounded on screen"
    assert shown[0] == "penstock: line 9 (payment bad-7): 400 Bad Request: amount: is not an amount"


def test_ndjson_and_lines_that_cannot_be_sent(straw, penstock, tmp_path):
    daemon = straw()
    path = tmp_path / "p.csv"
    path.write_text(HEADER + "\np1,1,EUR,D,C,T,,\np2,1,EUR\np3,1,EUR,D,C,T,,{\n")
    rejects = tmp_path / "r"
    run = penstock("payments", "import", path, "--url", daemon.url, "--rejects", rejects)
    assert run.returncode == 1
    reasons = [(line["line"], line["paymentId"], line["reason"]) for line in map(json.loads, rejects.read_text().splitlines())]
    assert reasons == [(3, None, "the line has 3 fields where the header has 8"),
                       (4, None, "the line has a metadata that is not a JSON object on one line")]
    lines = tmp_path / "p.ndjson"
    lines.write_text("".join(json.dumps(payment(f"n-{i}")) + "\n" for i in range(10)))
    assert penstock("payments", "import", lines, "--url", daemon.url).returncode == 0
    assert sum(daemon.sent.values()) == 11


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_import_goes_on_where_it_was(straw, penstock, tmp_path, how):
    """The straw daemon answers twenty batches, then none until the importer is gone."""
    gate = threading.Event()
    reached = threading.Event()

    def hold(batch):
        if batch > 20 and not gate.is_set():
            reached.set()
            gate.wait(60)

    daemon = straw(gate=hold)
    count, batch, flight = 6_000, 100, 2
    path = write_csv(tmp_path / "p.csv", mixed(count))
    rejects = tmp_path / "rejects.ndjson"
    command = [path, "--url", daemon.url, "--batch", batch, "--concurrency", flight, "--rejects", rejects, "--json"]
    process = start(*command)
    state = tmp_path / "p.csv.import-state"
    assert reached.wait(60)
    if how == signal.SIGKILL:
        # What it has on disk by now is all that is left of it.
        wait_until(state.exists, 30)
        process.kill()
        process.communicate(timeout=30)
        gate.set()
    else:
        process.send_signal(how)
        gate.set()  # calls in flight are waited for
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130 and "it goes on after line" in err
        assert json.loads(out)["notAnswered"] > 0
    kept = json.loads(state.read_text())
    assert kept["line"] >= 2 and kept["url"] == daemon.url
    with daemon.lock:
        before = dict(daemon.sent)

    run = penstock("payments", "import", *command)
    assert run.returncode == 1, run.stderr
    summary = json.loads(run.stdout)
    assert summary["resumedAfterLine"] == kept["line"]
    assert summary["paymentsRead"] == count and summary["notAnswered"] == 0 and summary["failed"] == 0
    assert summary["accepted"] + summary["alreadyKnown"] + summary["held"] == count * 98 // 100
    assert summary["rejected"] == count * 2 // 100
    assert set(daemon.sent) == {p["paymentId"] for p in mixed(count)}
    ordered = [p["paymentId"] for p in mixed(count)]
    known = ordered[:kept["line"] - 1]  # the header is line 1
    assert all(daemon.sent[name] == 1 for name in known), "what was known to be answered was not sent again"
    again = sum(n for n in daemon.sent.values()) - count
    # SIGKILL: besides what was in flight, the lines of the last half second.
    assert again <= (len(before) - len(known)) + batch * flight
    lines = [json.loads(line)["line"] for line in rejects.read_text().splitlines()]
    assert lines == sorted(set(lines)) and len(lines) == count * 2 // 100, "each rejected line stands there once"
    assert not state.exists()


def test_a_state_of_something_else_is_not_believed(straw, penstock, tmp_path):
    daemon, other = straw(), straw()
    path = write_csv(tmp_path / "p.csv", mixed(10))
    state = tmp_path / "p.csv.import-state"
    state.write_text("{}")
    run = penstock("payments", "import", path, "--url", daemon.url)
    assert run.returncode == 2 and "is not the state of an import; remove it or give --no-resume" in run.stderr
    assert sum(daemon.sent.values()) == 0
    assert penstock("payments", "import", path, "--url", daemon.url, "--no-resume").returncode == 1
    assert state.read_text() == "{}"
    kept = {"version": 1, "file": str(path), "bytes": path.stat().st_size, "modifiedNanos": path.stat().st_mtime_ns,
            "url": daemon.url, "rejectsBytes": 0, "line": 5, "accepted": 4, "alreadyKnown": 0, "held": 0, "rejected": 0,
            "failed": 0, "batchesRetried": 0, "reasons": []}
    state.write_text(json.dumps(kept))
    elsewhere = penstock("payments", "import", path, "--url", other.url)
    assert elsewhere.returncode == 2 and "another daemon" in elsewhere.stderr and sum(other.sent.values()) == 0
    resumed = penstock("payments", "import", path, "--url", daemon.url, "--json")
    assert resumed.returncode == 1 and json.loads(resumed.stdout)["resumedAfterLine"] == 5
    assert daemon.sent["pay-0"] == 1 and daemon.sent["pay-4"] == 2


def test_a_daemon_that_is_not_there_is_3_and_a_wrong_file_is_2(penstock, free_url, tmp_path):
    path = write_csv(tmp_path / "p.csv", mixed(10))
    run = penstock("payments", "import", path, "--url", free_url, "--retry-for", "PT0S")
    assert run.returncode == 3 and "run it again" in run.stderr
    (tmp_path / "h.csv").write_text("paymentid,amount\n")
    run = penstock("payments", "import", tmp_path / "h.csv", "--url", free_url)
    assert run.returncode == 2 and "the nearest known one is paymentId" in run.stderr
    assert penstock("payments", "import", tmp_path / "none.csv", "--url", free_url).returncode == 2


def test_a_pipe_has_no_state(straw, tmp_path):
    daemon = straw()
    text = write_csv(tmp_path / "p.csv", [payment(f"p-{i}") for i in range(10)]).read_text()
    run = subprocess.run([binary(), "payments", "import", "-", "--format", "csv", "--url", daemon.url], input=text, text=True,
                         capture_output=True, env=clean_environment(), timeout=60, cwd=tmp_path)
    assert run.returncode == 0 and re.search(r"^accepted +10$", run.stdout, re.M)
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]


def test_memory_does_not_grow_with_the_file(straw, tmp_path):
    daemon = straw()
    peaks = []
    for count in (10_000, 60_000):
        path = write_csv(tmp_path / f"p{count}.csv", (payment(f"m{count}-{i}") for i in range(count)))
        with subprocess.Popen([binary(), "payments", "import", str(path), "--url", daemon.url], stdout=subprocess.DEVNULL,
                              env=clean_environment()) as process:
            peaks.append(peak_kib(process))
    assert peaks[1] < peaks[0] + 8 * 1024, peaks  # KiB; the larger file is 7 MiB larger, its answers 5 MiB
    assert peaks[1] < 64 * 1024, peaks
