"""What executing a payment means. Nothing here knows of Temporal or of Penstock: a payment goes in, facts come out."""
import json
import urllib.error
import urllib.request


class Refused(Exception):
    """The bank will not book this payment, however often it is asked."""


def execute(payment, bank_url, timeout=10):
    """Books the payment at the bank and gives the receipt. Safe to repeat: the bank knows the key."""
    body = {name: payment[name] for name in ("paymentId", "amount", "currency", "debtorIban", "creditorIban")}
    request = urllib.request.Request(bank_url, json.dumps(body).encode(), {
        "Content-Type": "application/json", "Idempotency-Key": f"PAYMENT:{payment['paymentId']}"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as problem:
        if 400 <= problem.code < 500 and problem.code not in (408, 425, 429):
            raise Refused(f"the bank answered {problem.code}") from problem
        raise


def post_process(payment, receipt):
    """The entry for the ledger."""
    return {"paymentId": payment["paymentId"], "booking": receipt["booking"], "debit": payment["debtorIban"],
            "credit": payment["creditorIban"], "amount": payment["amount"], "currency": payment["currency"]}


def notify(entry):
    """What the customer reads."""
    return f"{entry['amount']} {entry['currency']} went to {entry['credit']} (booking {entry['booking']})"
