"""Usage handed on to a search engine's bulk interface, here a stand-in that keeps documents by their id."""
import http.server
import json
import threading

import pytest
from conftest import wait_until
from dispatch_nodes import nodes, postgres
from gateway_nodes import put_config, send

__all__ = ["nodes", "postgres"]  # fixtures


class Search(http.server.ThreadingHTTPServer):
    """Takes `_bulk` as OpenSearch does: each document replaces the one of its id."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.documents = {}
        self.requests = []  # (path, headers)
        self.failures = []  # answers to give first: (status, headers)
        self.rejects = set()  # users whose documents do not fit
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, lines):
        items = []
        for action, document in zip(lines[::2], lines[1::2]):
            target = action["index"]
            if document["userId"] in self.rejects:
                items.append({"index": {"_id": target["_id"], "status": 400, "error": {
                    "type": "mapper_parsing_exception", "reason": "failed to parse"}}})
                continue
            known = target["_id"] in self.documents
            self.documents[target["_id"]] = (target["_index"], document)
            items.append({"index": {"_id": target["_id"], "status": 200 if known else 201}})
        return {"took": 1, "errors": any(i["index"]["status"] >= 300 for i in items), "items": items}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.requests.append((self.path, dict(self.headers)))
            if self.server.failures:
                status, headers = self.server.failures.pop(0)
                answer = {"error": {"type": "es_rejected_execution_exception"}, "status": status}
            else:
                assert body.endswith(b"\n")
                status, headers, answer = 200, {}, self.server.take([json.loads(line) for line in body.splitlines()])
        data = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def search():
    server = Search()
    yield server
    server.shutdown()
    server.server_close()


def test_minutes_that_have_ended_are_handed_on(nodes, search, tmp_path):
    password = tmp_path / "password"
    password.write_text("s3cret\n")
    password.chmod(0o600)
    search.failures = [(503, {}), (429, {"Retry-After": "1"})]
    search.rejects = {3}
    node = nodes.start(PENSTOCK_GATEWAY_EXPORT_OPENSEARCH_URL=search.url, PENSTOCK_GATEWAY_EXPORT_INDEX="usage",
                       PENSTOCK_GATEWAY_EXPORT_USERNAME="penstock", PENSTOCK_GATEWAY_EXPORT_INTERVAL="PT1S",
                       PENSTOCK_GATEWAY_EXPORT_PASSWORD_FILE=str(password))
    for user in (1, 2, 3):
        put_config(node, user=user, limit=2)
        for _ in range(user + 1):
            send(node, user=user)
    # The minute has to end first, and both failures have to be got over.
    wait_until(lambda: len(search.documents) >= 2, 150, "the documents")

    def total(user):
        own = [doc for _, doc in search.documents.values() if doc["userId"] == user]
        return sum(doc["sent"] for doc in own), sum(doc["limited"] for doc in own)

    wait_until(lambda: (total(1), total(2)) == ((2, 0), (2, 1)), 90, "all counts")
    for identity, (index, document) in search.documents.items():
        assert index == "usage" and identity == f"{document['userId']}-{document['@timestamp']}"
        assert set(document) == {"@timestamp", "userId", "sent", "limited", "failed"}
    path, headers = search.requests[0]
    assert path == "/_bulk" and headers["Content-Type"] == "application/x-ndjson"
    assert headers["Authorization"] == "Basic cGVuc3RvY2s6czNjcmV0"
    assert total(3) == (0, 0) and "mapper_parsing_exception" in node.log()
    assert node.log().count("gateway.export_failed") == 1, "once per outage"
    assert "s3cret" not in node.log()
    wait_until(lambda: "gateway.export_resumed" in node.log(), 30, "the word that it goes on")


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
