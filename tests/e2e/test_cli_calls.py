"""The commands that call the API, against a real daemon: the table for people, --json for scripts, exit codes."""
import json
import re

import pytest
from conftest import wait_until

AT = "2030-01-01T12:00:00Z"
DEBTOR, CREDITOR = "DE89370400440532013000", "FR1420041010050500013M02606"


class Cli:
    """The program with a daemon to talk to."""

    def __init__(self, daemon, penstock):
        self.daemon, self.penstock = daemon, penstock

    def run(self, *args, code=0, **options):
        run = self.penstock(*args, env={"PENSTOCK_URL": self.daemon.url}, **options)
        assert run.returncode == code, (args, run.returncode, run.stdout, run.stderr)
        return run

    def text(self, *args, **options) -> str:
        run = self.run(*args, **options)
        assert run.stderr == "", run.stderr
        return run.stdout

    def json(self, *args, code=0, **options):
        run = self.run(*args, "--json", code=code, **options)
        return json.loads(run.stdout)

    def facts(self, *args, **options) -> dict:
        """The `label  value` lines; what follows an empty line is a table."""
        lines = self.text(*args, **options).split("\n\n")[0].splitlines()
        return dict(re.split(r"  +", line, maxsplit=1) for line in lines)

    def rows(self, *args, **options) -> list[dict]:
        """The table, by its headings; cells are where the headings are."""
        return rows_of(self.text(*args, **options))


def rows_of(text: str) -> list[dict]:
    head, *lines = text.split("\n\n")[-1].splitlines()
    labels = re.split(r"  +", head.strip())
    assert not any(line.endswith(" ") for line in lines)
    return [dict(zip(labels, re.split(r"  +", line.strip()), strict=False)) for line in lines]


@pytest.fixture
def cli(daemon, penstock):
    return Cli(daemon, penstock)


# --- slots ---

def test_a_slot_is_confirmed_and_released(cli):
    cli.run("config", "set", "default", "--max-per-window", 10, "--window", "PT4S")
    cli.run("slots", "assign", "a/b", "--at", AT, "--ttl", "PT1H")
    assert cli.json("slots", "get", "a/b")["confirmBy"]
    facts = cli.facts("slots", "confirm", "a/b")
    assert facts["event"] == "a/b" and facts["status"] == "CONFIRMED"
    assert re.fullmatch(r"2030-01-01T12:00:0\d(\.\d{3})?Z \(in [\d,]+ d( \d+ h)?\)", facts["scheduled"])
    assert cli.text("slots", "release", "a/b") == "released a/b\n"
    assert cli.run("slots", "release", "a/b", "--json", code=1).stdout.startswith('{"status":409')
    again = cli.run("slots", "release", "a/b", code=1)
    assert again.stdout == "" and again.stderr.startswith("penstock: 409 Conflict: ")


def test_a_burst_is_previewed_and_a_batch_assigned(cli, tmp_path):
    cli.run("config", "set", "default", "--max-per-window", 2, "--window", "PT4S")
    facts = cli.facts("slots", "preview", 5, "--at", AT)
    assert facts["placed"] == "5" and facts["windows used"] == "3"
    file = tmp_path / "events.json"
    file.write_text(json.dumps([{"eventId": f"e-{i}", "requestedTime": AT} for i in range(3)]))
    rows = cli.rows("slots", "batch", file)
    assert [row["event"] for row in rows] == ["e-0", "e-1", "e-2"] and rows[0]["scheduled"].startswith("2030-01-01T12:00:0")
    lines = '{"eventId":"e-9","requestedTime":"2030-01-01T12:00:00Z"}\n{"eventId":"bad"}\n'
    half = cli.run("slots", "batch", "-", input=lines, code=1)
    assert half.stderr == "penstock: 1 of 2 entries failed\n"
    assert [row["event"] for row in rows_of(half.stdout)] == ["e-9", "bad"]
    assert len(cli.json("slots", "batch", "-", input=lines, code=1)["results"]) == 2


def test_slot_configs_are_listed_page_by_page(cli):
    assert cli.text("config", "list") == "no configs yet: penstock config set makes one\n"
    for i in range(7):
        cli.daemon.put_config(f"c{i}", max_per_window=1000 * (i + 1), window="PT90S")
    rows = cli.rows("config", "list")
    assert [row["config"] for row in rows] == [f"c{i}" for i in range(7)]
    assert rows[6]["max/window"] == "7,000" and rows[6]["window"] == "1 min 30 s"
    some = cli.run("config", "list", "--limit", 3)
    assert len(some.stdout.splitlines()) == 4 and some.stderr.startswith("there is more: --all")
    assert [each["configName"] for each in cli.json("config", "list", "--limit", 3)] == ["c0", "c1", "c2"]
    assert cli.text("config", "flush") == "the cached configs are forgotten\n"
    assert cli.run("config", "flush", "--json").stdout == ""


def test_lists_of_many_pages_are_followed_to_their_end(cli):
    for i in range(1, 2501):
        assert cli.daemon.post("/admin/policies", {"key": f"k-{i:04}", "capacity": i}).status == 201
    rows = cli.rows("policies", "list", "--all")
    assert [row["policy"] for row in rows] == [f"k-{i:04}" for i in range(1, 2501)]
    everything = cli.json("policies", "list", "--all")
    assert [each["policyKey"] for each in everything] == [row["policy"] for row in rows]
    some = cli.run("policies", "list", "--limit", 1500, "--json")
    assert len(json.loads(some.stdout)) == 1500 and "there is more" in some.stderr


# --- throttle ---

def test_a_request_passes_or_is_denied(cli):
    facts = cli.facts("policies", "create", "user:*", "--capacity", 3, "--refill-rate", "0.001")
    assert facts["policy"] == "user:*" and facts["refill"] == "0.001/s" and facts["capacity"] == "3"
    rows = cli.rows("throttle", "check", "user:1", "ip:192.0.2.1", "--cost", 2)
    assert [(row["key"], row["allowed"], row["remaining"]) for row in rows] == [
        ("user:1", "yes", "1"), ("ip:192.0.2.1", "yes", "98")]
    denied = cli.run("throttle", "check", "user:1", "--cost", 2, code=1)
    assert denied.stdout.startswith("allowed      no\nretry after  ")
    assert denied.stderr == "penstock: 429 Too Many Requests: Rate limit exceeded for key: user:1\n"
    assert cli.json("throttle", "check", "user:1", "--cost", 2, code=1)["allowed"] is False
    assert cli.json("throttle", "peek", "user:1")["remaining"] == 1
    assert cli.json("throttle", "check", "user:1", "--cost", -1)["remaining"] == 2
    rows = cli.rows("throttle", "batch", "-", input='{"key":"user:1"}\n{"key":"user:1","cost":9}\n')
    assert [(row["key"], row["allowed"]) for row in rows] == [("user:1", "yes"), ("user:1", "no")]


def test_policies_are_changed_looked_up_and_deleted(cli, tmp_path):
    body = tmp_path / "policy.json"
    body.write_text('{"capacity": 7, "shadow": false, "windowSeconds": 300, "type": "FIXED_WINDOW"}')
    made = cli.json("policies", "create", "a b/*", "--body", f"@{body}", "--shadow", "true")
    assert (made["policyKey"], made["capacity"], made["shadow"], made["type"]) == ("a b/*", 7, True, "FIXED_WINDOW")
    facts = cli.facts("policies", "get", "a b/*")
    assert facts["window"] == "5 min" and facts["shadow"] == "yes"
    assert cli.json("policies", "update", "a b/*", "--capacity", 9, "--on-store-failure", "allow")["version"] == 2
    assert cli.text("policies", "delete", "a b/*") == "deleted the policy a b/*\n"
    assert "404 Not Found" in cli.run("policies", "get", "a b/*", code=1).stderr
    rows = cli.rows("policies", "history", "a b/*")
    assert [(row["version"], row["deleted"]) for row in rows][-2:] == [("2", "no"), ("1", "no")]


def test_keys_are_listed_looked_at_and_reset(cli):
    cli.run("policies", "create", "user:*", "--capacity", 2, "--refill-rate", "0.001")
    assert cli.text("keys", "top-denied") == "no key was denied\n"
    cli.run("throttle", "check", "user:1", "--cost", 2)
    cli.run("throttle", "check", "user:1", "--cost", 2, code=1)
    assert cli.facts("keys", "list")["blocked"] == "1"
    assert [row["key"] for row in cli.rows("keys", "list")] == ["user:1"]
    assert [each["key"] for each in cli.json("keys", "list", "--all")["keys"]] == ["user:1"]
    assert cli.rows("keys", "top-denied", "--limit", 5)[0] == {"key": "user:1", "denied": "1", "error": "0"}
    assert cli.json("keys", "get", "user:1")["status"] == "LIMITED"
    facts = cli.facts("keys", "reset", "user:1")
    assert (facts["status"], facts["tokens left"]) == ("OK", "2")


# --- dispatch ---

def test_items_are_scheduled_looked_at_and_cancelled(cli, tmp_path):
    facts = cli.facts("types", "put", "ORDER", "--enabled", "false", "--max-per-second", 50,
                      "--sink", '{"type": "http", "url": "http://127.0.0.1:9/orders"}')
    assert (facts["enabled"], facts["pace"], facts["claimed early by"]) == ("no", "50/s", "0 ms")
    context = tmp_path / "context.json"
    context.write_text('{"customer": 17}')
    facts = cli.facts("dispatch", "enqueue", "ORDER", "o/1", "--at", AT, "--context", f"@{context}")
    assert (facts["item"], facts["status"]) == ("o/1", "READY") and facts["scheduled"].startswith(AT)
    assert cli.json("dispatch", "enqueue", "ORDER", "o/1", "--at", AT, "--context", "-",
                    input='{"customer":17}')["status"] == "READY"
    cli.daemon.put_config("paced")
    assert cli.json("dispatch", "enqueue", "ORDER", "o-2", "--slot", "paced", "--slot-at", AT)["scheduledTime"] >= "2030-01-01T12"
    rows = cli.rows("dispatch", "batch", "ORDER", "-", input=f'[{{"itemId": "b-1", "scheduledTime": "{AT}"}}]')
    assert rows[0]["item"] == "b-1" and rows[0]["answer"] == "202"
    facts = cli.facts("dispatch", "get", "ORDER", "o/1")
    assert facts["attempts"] == "0" and "last error" not in facts
    assert cli.rows("dispatch", "get", "ORDER", "o/1")[0]["to"] == "READY"
    assert cli.facts("dispatch", "summary", "ORDER")["ready"] == "3"
    assert cli.text("dispatch", "cancel", "ORDER", "o-2") == "cancelled o-2\n"
    assert cli.json("dispatch", "summary", "ORDER")["counts"]["CANCELLED"] == 1
    assert cli.text("dispatch", "list", "ORDER") == "no dead items\n"


def test_dead_items_are_listed_and_redriven(cli):
    cli.run("types", "put", "ORDER", "--max-dispatch-retries", 1, "--sink", '{"type":"http","url":"http://127.0.0.1:9/x"}')
    for i in range(3):
        cli.run("dispatch", "enqueue", "ORDER", f"o-{i}", "--at", "now-PT1H")
    wait_until(lambda: len(cli.json("dispatch", "list", "ORDER")) == 3, 30, "three dead items")
    rows = cli.rows("dispatch", "list", "ORDER")
    assert {row["item"] for row in rows} == {"o-0", "o-1", "o-2"} and rows[0]["attempts"] == "1"
    some = cli.run("dispatch", "list", "ORDER", "--limit", 2, "--json")
    assert len(json.loads(some.stdout)) == 2 and "there is more" in some.stderr
    cli.run("types", "disable", "ORDER")
    assert cli.facts("dispatch", "redrive", "ORDER", "o-1")["status"] == "READY"
    assert "409 Conflict" in cli.run("dispatch", "redrive", "ORDER", "o-1", code=1).stderr


def test_item_types_are_changed_and_switched(cli, tmp_path):
    assert cli.text("types", "list") == "no types yet: penstock types put makes one\n"
    body = tmp_path / "type.json"
    body.write_text('{"maxPerSecond": 5, "sink": {"type": "kafka", "topic": "events"}}')
    cli.run("types", "put", "EVENT", "--body", f"@{body}", "--enabled", "false")
    assert cli.json("types", "patch", "EVENT", "--max-per-second", "none", "--retry-backoff-ms", 250)["maxPerSecond"] is None
    assert cli.facts("types", "get", "EVENT")["backoff"] == "250 ms"
    assert cli.facts("types", "enable", "EVENT")["enabled"] == "yes"
    assert cli.json("types", "disable", "EVENT")["enabled"] is False
    row = cli.rows("types", "list")[0]
    assert (row["type"], row["enabled"], row["pace"], row["sink"], row["to"]) == ("EVENT", "no", "-", "kafka", "events")
    rows = cli.rows("types", "history", "EVENT")
    assert [row["enabled"] for row in rows] == ["no", "yes", "no", "no"] and rows[2]["pace before"] == "5/s"
    assert "404" in cli.run("types", "get", "NOBODY", code=1).stderr


# --- payments ---

def payment(name):
    return ["payments", "create", name, "--amount", "12.50", "--currency", "EUR", "--debtor-iban", DEBTOR,
            "--creditor-iban", CREDITOR, "--at", AT]


def test_payments_are_created_listed_and_reported(cli):
    assert cli.text("payments", "list") == "no payments\n"
    facts = cli.facts(*payment("pay-1"), "--metadata", '{"order": 4}', "--reference", "thanks")
    assert (facts["payment"], facts["status"]) == ("pay-1", "SCHEDULED")
    assert cli.json("payments", "get", "pay-1")["metadata"] == {"order": 4}
    refused = cli.run(*payment("pay-2")[:3], "--amount", "1.234", *payment("pay-2")[5:], code=1)
    assert "amount" in refused.stderr
    head = "paymentId,amount,currency,debtorIban,creditorIban,executionTime\n"
    rows = cli.rows("payments", "batch", "-", input=f"{head}pay-3,5.00,EUR,{DEBTOR},{CREDITOR},{AT}\n")
    assert rows[0]["payment"] == "pay-3" and rows[0]["state"] == "SCHEDULED"
    assert [row["payment"] for row in cli.rows("payments", "list")] == ["pay-1", "pay-3"]
    assert [row["payment"] for row in cli.rows("payments", "list", "--status", "SCHEDULED", "--limit", 2)] == ["pay-1", "pay-3"]
    assert cli.json("payments", "list", "--status", "HELD") == []
    assert cli.facts("payments", "status", "pay-1", "ACCEPTED")["status"] == "ACCEPTED"
    assert [row["payment"] for row in cli.rows("payments", "list", "--status", "ACCEPTED")] == ["pay-1"]


# --- gateway ---

def test_messages_are_sent_counted_and_refused(cli):
    facts = cli.facts("gateway", "config", "set", 17, "--limit", 2, "--window-minutes", 60)
    assert (facts["user"], facts["limit"], facts["window"], facts["used"]) == ("17", "2", "1 h", "0")
    sent = cli.facts("gateway", "send", 17, "Your code is 4711", "--to", "+491701234567", "--idempotency-key", "m-1")
    again = cli.json("gateway", "send", 17, "Your code is 4711", "--to", "+491701234567", "--idempotency-key", "m-1")
    assert again["messageId"] == sent["message"]
    facts = cli.facts("gateway", "message", sent["message"])
    assert facts["user"] == "17" and facts["status"] in {"PUBLISHED", "QUEUED", "SENDING", "SENT"}
    half = cli.run("gateway", "batch", "-", input='[{"userId":17,"message":"a"},{"userId":17,"message":"b"}]', code=1)
    assert [row["answer"] for row in rows_of(half.stdout)] == ["200", "429"]
    assert cli.run("gateway", "send", 17, "more", code=1).stderr.startswith("penstock: 429 ")
    assert cli.json("gateway", "config", "get", 17)["currentCount"] == 2
    wait_until(lambda: sum(point["limited"] for point in cli.json("gateway", "usage", 17, "--to", "now+PT1H")["points"]) == 2,
               20, "the refusals in the analytics")
    rows = cli.rows("gateway", "usage", 17, "--to", "now+PT1H", "--bucket", "P1D")
    assert sum(int(row["sent"]) for row in rows) == 2
    assert cli.rows("gateway", "top-limited", "--to", "now+PT1H", "--limit", 3) == [{"user": "17", "refused": "2"}]
    assert cli.text("gateway", "config", "delete", 17) == "deleted the quota of user 17\n"
    assert cli.run("gateway", "config", "get", 17, code=1).stderr.startswith("penstock: 404 ")


# --- the daemon ---

def test_a_daemon_says_how_it_is(cli):
    facts = cli.facts("status")
    assert facts["status"] == "UP" and facts["store"] == "embedded" and re.search(r"\d+ (ms|s)", facts["running for"])
    assert cli.json("status")["status"] == "UP"
    assert cli.text("health").startswith("status  UP\n\ncheck")
    assert cli.text("health", "live") == "status  UP\n"
    assert cli.json("health", "ready")["status"] == "UP"
    routes = cli.json("routes")
    assert {"method": "GET", "path": "/admin/routes", "access": "admin", "body": "none", "operationId": "listRoutes",
            "summary": "The route table"} in routes
    assert len(cli.text("routes").splitlines()) == len(routes) + 1


def test_a_daemon_that_is_not_ready_is_1_and_says_why(start_daemon, penstock, free_url):
    daemon = start_daemon(env={"PENSTOCK_KAFKA_BROKERS": free_url.removeprefix("http://")})
    url = {"PENSTOCK_URL": daemon.url}
    assert penstock("types", "put", "EVENT", "--sink", '{"type": "kafka", "topic": "t"}', env=url).returncode == 0
    assert penstock("dispatch", "enqueue", "EVENT", "e-1", "--at", "now", env=url).returncode == 0
    wait_until(lambda: penstock("health", env=url).returncode == 1, 30, "the broken sink in the health")
    run = penstock("health", env=url)
    assert run.stdout.startswith("status  DOWN\n") and re.search(r"^sink.kafka +DOWN +\w", run.stdout, re.M), run.stdout
    assert penstock("health", "--json", env=url).returncode == 1
    assert penstock("health", "--url", free_url).returncode == 3


def test_metrics_are_a_table_json_or_as_they_are(cli):
    cli.run("status")  # a counter appears with its first count
    rows = cli.rows("metrics", "--match", "penstock_http_requests")
    assert rows and all("penstock_http_requests" in row["metric"] for row in rows)
    samples = cli.json("metrics")
    assert all(set(each) == {"name", "labels", "value"} for each in samples)
    assert not any(each["name"].endswith("_bucket") for each in samples)
    assert any(each["name"].endswith("_bucket") for each in cli.json("metrics", "--buckets"))
    assert "# TYPE " in cli.text("metrics", "--raw")


# --- what all have in common ---

def test_values_may_have_the_names_of_commands(cli):
    for name in ("payments", "config", "status"):
        cli.daemon.put_config(name)
        assert cli.json("config", "get", name)["configName"] == name
    limits = cli.json("throttle", "check", "slots", "serve", "throttle")["limits"]
    assert [each["key"] for each in limits] == ["slots", "serve", "throttle"]


def test_text_of_others_speaks_to_no_terminal(cli):
    cli.run("types", "put", "EVIL", "--sink", json.dumps({"type": "http", "url": "http://127.0.0.1:9/\u001b[31m"}), code=1)
    cli.run("gateway", "config", "set", 1, "--limit", 1, "--window-minutes", 1)
    lines = '{"eventId":"\\u001b[31mred","requestedTime":"2030-01-01T12:00:00Z"}\n'
    run = cli.run("slots", "batch", "-", input=lines, code=1)
    assert "\x1b" not in run.stdout and "\\x1b[31mred" in run.stdout


def test_tokens_are_sent_by_every_kind_of_command(start_daemon, penstock, tmp_path):
    admin = tmp_path / "admin.token"
    admin.write_text("the-admin-token-for-tests\n")
    admin.chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(admin))
    for command in (["policies", "list"], ["status"], ["types", "list"], ["keys", "get", "k"]):
        refused = penstock(*command, "--url", daemon.url)
        assert refused.returncode == 1 and "--token-file or PENSTOCK_TOKEN" in refused.stderr
        assert penstock(*command, "--url", daemon.url, "--token-file", admin).returncode == 0


@pytest.mark.parametrize("command", [["policies", "list"], ["slots", "batch", "-"], ["metrics"], ["status"]])
def test_a_daemon_that_is_not_there_is_3(penstock, free_url, command):
    run = penstock(*command, "--url", free_url, input="")
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr == f"penstock: cannot reach {free_url}: Connection refused\n"


def test_an_address_of_something_else_is_1(start_daemon, penstock, daemon):
    for command in (["status"], ["policies", "list"]):
        run = penstock(*command, "--url", daemon.url + "/docs")
        assert run.returncode == 1 and run.stdout == "", run
