"""Usage handed on to a search engine's bulk interface, here a stand-in that keeps documents by their id. The minute of the
messages has to end first: both stores wait for that at the same time."""
import http.server
import json
import threading

import pytest
from conftest import daemons_in, wait_until
from dispatch_nodes import embedded_nodes, postgres, postgres_nodes
from gateway_nodes import put_config, send

__all__ = ["postgres"]  # a fixture


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
        for action, document in zip(lines[::2], lines[1::2], strict=True):
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

    def do_POST(self):
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


@pytest.fixture(scope="module")
def tmp_path(tmp_path_factory):
    return tmp_path_factory.mktemp("minutes")


@pytest.fixture(scope="module")
def start_daemon(tmp_path):
    yield from daemons_in(tmp_path)


def begin(nodes, password):
    """A daemon that has usage to hand on, and the search engine that it goes to."""
    search = Search()
    search.failures = [(503, {}), (429, {"Retry-After": "1"})]
    search.rejects = {3}
    node = nodes.start(PENSTOCK_GATEWAY_EXPORT_OPENSEARCH_URL=search.url, PENSTOCK_GATEWAY_EXPORT_INDEX="usage",
                       PENSTOCK_GATEWAY_EXPORT_USERNAME="penstock", PENSTOCK_GATEWAY_EXPORT_INTERVAL="PT1S",
                       PENSTOCK_GATEWAY_EXPORT_PASSWORD_FILE=str(password))
    for user in (1, 2, 3):
        put_config(node, user=user, limit=2)
        for _ in range(user + 1):
            send(node, user=user)
    return node, search


@pytest.fixture(scope="module")
def begun(request, tmp_path):
    """store -> its daemon and search engine."""
    password = tmp_path / "password"
    password.write_text("s3cret\n")
    password.chmod(0o600)
    made = {"embedded": begin(embedded_nodes(request), password), "postgres": begin(postgres_nodes(request), password)}
    yield made
    for _, search in made.values():
        search.shutdown()
        search.server_close()


@pytest.mark.parametrize("store", ["embedded", "postgres"])
def test_minutes_that_have_ended_are_handed_on(begun, store):
    node, search = begun[store]
    # The minute has to end first, and both failures have to be got over.
    wait_until(lambda: len(search.documents) >= 2, 180, "the documents")

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
    wait_until(lambda: "mapper_parsing_exception" in node.log(), 60, "the word about what does not fit")
    assert total(3) == (0, 0)
    assert node.log().count("gateway.export_failed") == 1, "once per outage"
    assert "s3cret" not in node.log()
    wait_until(lambda: "gateway.export_resumed" in node.log(), 60, "the word that it goes on")
