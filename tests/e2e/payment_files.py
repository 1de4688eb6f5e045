"""Files of payments, and a daemon of straw that counts what it is sent."""
import collections
import http.server
import json
import threading

DEBTOR, CREDITOR = "DE89370400440532013000", "GB29NWBK60161331926819"
HEADER = "paymentId,amount,currency,debtorIban,creditorIban,executionTime,reference,metadata"


def payment(payment_id, at="2030-01-01T16:00:00Z", **more):
    return {"paymentId": payment_id, "amount": "12.50", "currency": "EUR", "debtorIban": DEBTOR, "creditorIban": CREDITOR,
            "executionTime": at, **more}


def write_csv(path, payments):
    """Without quotes: no value here has a comma."""
    names = HEADER.split(",")
    with open(path, "w") as file:
        file.write(HEADER + "\n")
        for each in payments:
            file.write(",".join(str(each.get(name, "")) for name in names) + "\n")
    return path


class StrawDaemon:
    """Answers the batch route by what stands in the ids: `bad` is 400, `rule` 422, `hold` held; the rest is accepted, or known
    when it was sent before. `gate` is called before a batch is answered."""

    def __init__(self, gate=lambda batch: None):
        self.sent = collections.Counter()
        self.accepted = set()
        self.batches = 0
        self.lock = threading.Lock()
        straw = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                assert self.path == "/api/v1/payments/batch", self.path
                with straw.lock:
                    straw.batches += 1
                    number = straw.batches
                gate(number)
                lines = [json.loads(line) for line in body.splitlines()]
                with straw.lock:
                    answer = json.dumps({"results": [straw.take(line) for line in lines]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # clients that are killed
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, line):
        name = line["paymentId"]
        self.sent[name] += 1
        if "bad" in name:
            return {"paymentId": name, "status": 400, "error": "Bad Request", "message": "amount: is not an amount"}
        if "rule" in name:
            return {"paymentId": name, "status": 422, "error": "Unprocessable Entity", "message": "refused by rule no-go"}
        known = name in self.accepted
        self.accepted.add(name)
        return {"paymentId": name, "status": 200 if known else 202, "state": "HELD" if "hold" in name else "SCHEDULED",
                "scheduledTime": line["executionTime"]}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
