"""Payments of every kind for one instant, with what must become of each, and an intake by REST that does not give up."""
import http.client
import json
import threading

from conftest import wait_until
from payment_files import payment

BLOCKED = "FR1420041010050500013M02606"
RULES = [{"name": "large", "when": {"amountAbove": "10000"}, "then": "hold", "reason": "needs a second pair of eyes"},
         {"name": "blocked", "when": {"creditorIban": BLOCKED}, "then": "reject", "reason": "account is blocked"}]
# What is wrong with it -> the field that is named.
FLAWS = {"amount": {"amount": "12.505"}, "currency": {"currency": "EUX"},
         "debtorIban": {"debtorIban": "DE89370400440532013001"}, "creditorIban": {"creditorIban": ""},
         "executionTime": {"executionTime": "2026-01-01T16:00:00"}}


def payments_for(instant, good, each_flaw, refused, held):
    """[(payment, fate)], mixed: fate is `book`, `hold`, `refuse` or the field at fault."""
    made = [(payment(f"pay-{i}", instant), "book") for i in range(good)]
    made += [(payment(f"{field}-{i}", instant, **flaw), field) for field, flaw in FLAWS.items() for i in range(each_flaw)]
    made += [(payment(f"refused-{i}", instant, creditorIban=BLOCKED), "refuse") for i in range(refused)]
    made += [(payment(f"held-{i}", instant, amount="25000.00"), "hold") for i in range(held)]
    step = 7_919  # a prime that does not divide the count: every kind is spread over the whole
    assert len(made) % step
    return [made[i * step % len(made)] for i in range(len(made))]


class RestIntake(threading.Thread):
    """Sends payments by batches; a batch that is not answered is sent again, to whoever serves then."""

    def __init__(self, address, payments, batch=1_000):
        super().__init__(daemon=True)
        self.address = address
        self.payments = payments
        self.batch = batch
        self.results = {}
        self.again = 0  # batches that had to be sent once more
        self.problem = None

    def run(self):
        try:
            for start in range(0, len(self.payments), self.batch):
                self._send(self.payments[start:start + self.batch])
        except Exception as problem:  # the test fails on it
            self.problem = problem

    def end(self, seconds):
        self.join(seconds)
        if self.problem:
            raise self.problem
        assert not self.is_alive(), f"only {len(self.results)} of {len(self.payments)} within {seconds} s"

    def _send(self, batch):
        def all_answered():
            nonlocal batch
            results = self._call(batch)
            later = []
            for asked, result in zip(batch, results or [{"status": 503}] * len(batch), strict=True):
                if result["status"] in (429, 503):
                    later.append(asked)
                else:
                    self.results[asked["paymentId"]] = result
            self.again += bool(later)
            batch = later
            return not later

        wait_until(all_answered, 120, "an answer for each", every=0.1)

    def _call(self, batch):
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        try:
            connection.request("POST", "/api/v1/payments/batch", "\n".join(map(json.dumps, batch)),
                               {"Content-Type": "application/x-ndjson"})
            answer = connection.getresponse()
            body = answer.read()
            return json.loads(body)["results"] if answer.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def all_payments(daemon, status):
    """The ids of all payments with that status, page by page."""
    found, after = set(), ""
    while True:
        page = daemon.get(f"/api/v1/payments?status={status}&limit=1000" + (f"&after={after}" if after else "")).json()
        found.update(row["paymentId"] for row in page)
        if len(page) < 1000:
            return found
        after = page[-1]["paymentId"]
