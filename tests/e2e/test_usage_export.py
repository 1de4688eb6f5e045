"""Usage and attempts by the command line and by HTTP; what is handed on by itself is in test_usage_minutes.py."""
import json

from dispatch_nodes import nodes, postgres
from gateway_nodes import put_config, send

__all__ = ["nodes", "postgres"]  # fixtures


def test_export_by_the_command_line(nodes, penstock, tmp_path):
    node = nodes.start()
    put_config(node, user=1, limit=2)
    for _ in range(3):
        send(node, user=1)
    url = f"http://{node.address}:{node.port}"
    done = penstock("gateway", "export", "--url", url, "--from", "now-PT1H", "--to", "now+PT1M")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(line["sent"] for line in lines) == 2 and sum(line["limited"] for line in lines) == 1
    out = tmp_path / "usage.ndjson"
    done = penstock("gateway", "export", "--url", url, "--format", "ndjson", "--to", "now+PT1M", "--output", str(out))
    assert done.returncode == 0 and out.read_text().splitlines() == [json.dumps(each, separators=(",", ":"))
                                                                     for each in lines]
    assert penstock("gateway", "export", "--url", url, "--from", "yesterday").returncode == 2


def attempts(node, query="from=2020-01-01T00:00:00Z"):
    answer = node.get(f"/api/analytics/attempts?{query}")
    assert answer.status == 200, answer.body
    return [json.loads(line) for line in answer.body.decode().splitlines()]


def test_attempts_are_kept_only_where_that_is_asked_for(nodes, penstock):
    node = nodes.start()
    put_config(node, user=1, limit=2)
    send(node, user=1)
    assert attempts(node) == []
    node.stop()
    node = nodes.start(PENSTOCK_GATEWAY_ATTEMPTS="events")
    sent = send(node, user=1, message="Ничего").json()["messageId"]
    send(node, user=1)
    assert [(a["userId"], a["outcome"], a.get("messageId"), a.get("message")) for a in attempts(node)] == \
        [(1, "sent", sent, None), (1, "limited", None, None)]
    node.stop()
    node = nodes.start(PENSTOCK_GATEWAY_ATTEMPTS="texts")
    send(node, user=1, message="too much\u0000")
    send(node, user=7, message="of nobody")
    lines = attempts(node)
    assert [a.get("message") for a in lines] == [None, None, "too much\u0000"], "and what was kept stays"
    assert all(set(a) >= {"id", "at", "userId", "outcome"} for a in lines)
    pages = attempts(node, "limit=2") + attempts(node, f"after={lines[1]['id']}")
    assert pages == lines
    done = penstock("gateway", "export", "--attempts", "--url", f"http://{node.address}:{node.port}", "--to", "now+PT1M")
    assert done.returncode == 0 and [json.loads(line) for line in done.stdout.splitlines()] == lines, done.stderr
    for query in ("after=x", "after=1", "after=1-x", "after=-1-1", "limit=0", "limit=10001", "from=yesterday"):
        answer = node.get(f"/api/analytics/attempts?{query}")
        assert answer.status == 400 and answer.json()["field"] == query.split("=")[0]
