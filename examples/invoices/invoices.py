"""The whole of a new domain: takes invoices from Penstock when they are due, and sends each once.

Penstock keeps the invoices, releases them at their time and pace, signs every hand-over and repeats it until it is
answered 200. What is left to do here is what an invoice is."""
import argparse
import base64
import hashlib
import hmac
import http.server
import json
import time

SIGNED_WITHIN_SECONDS = 300  # older hand-overs are replays; Standard Webhooks' own advice


class Invoices:
    """Sends each invoice once: a repeat after a crash or a lost answer carries the same key."""

    def __init__(self, secret):
        self.key = base64.b64decode(secret.removeprefix("whsec_"))
        self.sent = {}  # by Idempotency-Key; a real one keeps it with its data

    def is_signed(self, headers, body):
        if abs(time.time() - int(headers.get("webhook-timestamp", "0"))) > SIGNED_WITHIN_SECONDS:
            return False
        content = f"{headers.get('webhook-id', '')}.{headers['webhook-timestamp']}.".encode() + body
        right = "v1," + base64.b64encode(hmac.new(self.key, content, hashlib.sha256).digest()).decode()
        return any(hmac.compare_digest(right, each) for each in headers.get("webhook-signature", "").split())

    def take(self, key, item):
        if key not in self.sent:
            invoice = item["context"]
            self.sent[key] = f"invoice {item['itemId']}: {invoice['total']} to {invoice['customer']}"
            print(self.sent[key], flush=True)
        return self.sent[key]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    invoices = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.invoices.is_signed(self.headers, body):
            return self.answer(401, "not signed by Penstock")
        try:
            self.answer(200, self.invoices.take(self.headers["Idempotency-Key"], json.loads(body)))
        except (KeyError, ValueError) as problem:  # never right, however often: DEAD, with this reason
            self.answer(422, f"not an invoice: {problem!r}")

    def answer(self, status, message):
        body = json.dumps({"message": message}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9191)
    parser.add_argument("--secret", default="whsec_aW52b2ljZXMtZXhhbXBsZS1zZWNyZXQ=", help="as in type.json")
    options = parser.parse_args()
    Handler.invoices = Invoices(options.secret)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    print(f"ready http=127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
