"""Messages over SMPP 3.4 to message centres that speak it by two other implementations: Net::SMPP, which does what a test wants
(tools/testserver/smsc), and jSMPP, as its project publishes it (tools/testserver/jsmpp.py)."""
import json
import sys

import pytest
from conftest import ROOT, wait_until
from dispatch_nodes import nodes, postgres
from gateway_nodes import logged, message, put_config, send, send_all, wait_sent
from test_gateway import SMS

sys.path.insert(0, str(ROOT / "tools"))
import testserver

__all__ = ["nodes", "postgres"]  # fixtures


@pytest.fixture
def smsc():
    yield from serve(testserver.Smsc())


@pytest.fixture
def jsmpp():
    yield from serve(testserver.Jsmpp())


def serve(server):
    try:
        server.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def use(node, smsc, sink=None, **settings):
    """Makes the message centre the provider of messages."""
    body = {"jitterWindowMs": 0, "retryBackoffMs": 50, "retryBackoffMaxMs": 200, "maxDispatchRetries": 3,
            "sink": {"type": "smpp", "host": smsc.host, "port": smsc.port, "systemId": "penstock",
                     "password": smsc.password, "systemType": "TEST", "source": "Penstock", **(sink or {})}, **settings}
    answer = node.request("PUT", SMS, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    put_config(node, limit=1000)
    return answer


def delivery(node, message_id):
    return (message(node, message_id)["delivery"] or {}).get("state")


def wait_delivery(node, message_id, state):
    wait_until(lambda: delivery(node, message_id) == state, 30, f"the report {state}")


def text_of(submit):
    return bytes.fromhex(submit["text"])


def test_a_message_is_submitted_and_its_receipt_shown(nodes, smsc):
    node = nodes.start()
    answer = use(node, smsc)
    assert smsc.password not in answer.body.decode() and answer.json()["sink"]["hasPassword"] is True
    sent = send(node, message="Hello {you} €", to="+4915112345671").json()["messageId"]
    wait_sent(node, sent)
    wait_delivery(node, sent, "DELIVERED")
    shown = message(node, sent)
    assert shown["provider"] == "smpp" and shown["attempts"] == 1 and shown["lastError"] is None
    assert shown["delivery"]["detail"] == "DELIVRD" and shown["delivery"]["at"] and shown["delivery"]["parts"] == 1
    (submit,) = smsc.submits("4915112345671")
    assert submit["ton"] == 1 and submit["npi"] == 1 and submit["coding"] == 0 and submit["registered"] == 1
    assert submit["source"] == "Penstock" and submit["source_ton"] == 5 and submit["esm_class"] == 0
    assert text_of(submit) == b"Hello \x1b\x28you\x1b\x29 \x1b\x65"
    bind = smsc.journal("bind")[0]
    assert (bind["system_id"], bind["system_type"], bind["version"]) == ("penstock", "TEST", 0x34)
    wait_until(lambda: smsc.journal("report_answered"), 10, "the answer to the report")
    assert smsc.journal("report_answered")[0]["status"] == 0
    assert smsc.password not in node.log()


def test_without_a_number_the_user_is_the_address(daemon, smsc):
    use(daemon, smsc)
    sent = send(daemon, message="жж").json()["messageId"]
    wait_delivery(daemon, sent, "DELIVERED")
    (submit,) = smsc.submits("101")
    assert submit["ton"] == 0 and submit["coding"] == 8 and text_of(submit).decode("utf-16-be") == "жж"


def test_long_messages_go_in_parts(daemon, smsc):
    use(daemon, smsc)
    text = "ab[" * 120
    sent = send(daemon, message=text, to="+101").json()["messageId"]
    wait_delivery(daemon, sent, "DELIVERED")
    submits = smsc.submits("101")
    assert len(submits) == 4 and {each["esm_class"] for each in submits} == {0x40}
    parts = sorted(map(text_of, submits), key=lambda part: part[5])
    assert [part[:3] + part[4:6] for part in parts] == [bytes([5, 0, 3, 4, n]) for n in range(1, 5)]
    assert len({part[3] for part in parts}) == 1, "one number joins them"
    assert b"".join(part[6:] for part in parts) == text.encode().replace(b"[", b"\x1b\x3c")
    shown = message(daemon, sent)["delivery"]
    assert shown["parts"] == 4 and shown["deliveredParts"] == 4


def test_reports_by_options_and_none_at_all(daemon, smsc):
    use(daemon, smsc)
    lost = send(daemon, to="+100888").json()["messageId"]
    silent = send(daemon, to="+100000").json()["messageId"]
    wait_delivery(daemon, lost, "UNDELIVERABLE")
    wait_sent(daemon, silent)
    shown = message(daemon, silent)["delivery"]
    assert shown == {"state": "PENDING", "at": None, "detail": None, "parts": 1, "deliveredParts": 0}


@pytest.mark.parametrize("number, status", [("100777", 0x58), ("100778", 0x14)])
def test_throttling_waits_and_costs_no_attempt(daemon, smsc, number, status):
    use(daemon, smsc, maxDispatchRetries=1)
    sent = send(daemon, to=f"+{number}").json()["messageId"]
    wait_sent(daemon, sent)
    assert [each["status"] for each in smsc.submits(number)] == [status, status, 0]
    item = daemon.get(f"/api/v1/dispatch/SMS/{sent}").json()
    assert item["retryCount"] == 0
    assert [entry["action"] for entry in item["audit"]].count("RETURNED") == 2


def test_a_refusal_is_a_dead_letter_that_can_be_redriven(daemon, smsc):
    use(daemon, smsc)
    sent = send(daemon, to="+100666").json()["messageId"]
    wait_until(lambda: message(daemon, sent)["status"] == "FAILED", 30, "the refusal")
    shown = message(daemon, sent)
    assert "ESME_RINVDSTADR" in shown["lastError"] and shown["attempts"] == 1 and shown["nextTryAt"] is None
    assert shown["delivery"] is None
    assert daemon.post(f"/api/messages/{sent}/redrive", "").status == 200
    wait_until(lambda: len(smsc.submits("100666")) == 2, 30, "another try")


def test_an_error_that_may_pass_is_tried_again(daemon, smsc):
    use(daemon, smsc)
    sent = send(daemon, to="+100555").json()["messageId"]
    wait_sent(daemon, sent)
    assert message(daemon, sent)["attempts"] == 2 and len(smsc.submits("100555")) == 2


def test_a_connection_that_is_cut_is_at_least_once(daemon, smsc):
    use(daemon, smsc)
    sent = send(daemon, to="+100444").json()["messageId"]
    wait_sent(daemon, sent)
    assert len(smsc.submits("100444")) == 2, "it may have been taken the first time"
    assert len(smsc.journal("bind")) == 2
    wait_delivery(daemon, sent, "DELIVERED")


def test_a_receipt_after_a_restart_finds_its_message(nodes, smsc):
    node = nodes.start()
    use(node, smsc)
    sent = send(node, to="+100999").json()["messageId"]
    wait_sent(node, sent)
    assert message(node, sent)["delivery"]["state"] == "PENDING"
    node.kill()
    node = nodes.start()
    smsc.release()
    wait_delivery(node, sent, "DELIVERED")


def test_messages_wait_for_a_provider_that_is_away(daemon, smsc):
    use(daemon, smsc, maxDispatchRetries=1)
    wait_until(lambda: smsc.journal("bind"), 30, "the bind")
    smsc.kill()
    sent = send(daemon, to="+100123").json()["messageId"]
    wait_until(lambda: daemon.get("/health/ready").status == 503, 30, "the check that says so")
    assert "sink.smpp" in daemon.get("/health/ready").body.decode()
    wait_until(lambda: "smpp.unbound" in daemon.log(), 30, "the warning")
    assert message(daemon, sent)["status"] in ("QUEUED", "SENDING")
    smsc.start()
    wait_sent(daemon, sent)
    assert daemon.log().count("smpp.unbound") == 1, "once per outage"
    wait_until(lambda: daemon.get("/health/ready").status == 200, 30, "the check that says so")


def test_a_wrong_password_is_said_and_not_shown(daemon, smsc):
    use(daemon, smsc, sink={"password": "wrong-one"})
    sent = send(daemon, to="+1").json()["messageId"]
    wait_until(lambda: "ESME_RINVPASWD" in daemon.log(), 30, "the warning")
    assert message(daemon, sent)["status"] in ("QUEUED", "SENDING")
    assert "wrong-one" not in daemon.log() and "wrong-one" not in daemon.get(SMS).body.decode()
    use(daemon, smsc)
    wait_sent(daemon, sent)


def test_the_session_ends_with_unbind(start_daemon, smsc):
    daemon = start_daemon()
    use(daemon, smsc)
    wait_until(lambda: smsc.journal("bind"), 30, "the bind")
    daemon.stop()
    wait_until(lambda: smsc.journal("unbind"), 10, "the unbind")


def test_jsmpp_takes_messages_and_its_receipts_are_understood(nodes, jsmpp):
    """Its answers name a message in hex and its receipts in decimal."""
    node = nodes.start()
    answer = use(node, jsmpp, sink={"receiptIds": "decimal"})
    assert answer.json()["sink"]["receiptIds"] == "decimal"
    texts = {"Hello World": 1, "x" * 161: 2, "ж" * 135: 3}
    ids = {text: send(node, message=text, to="+4915112345678").json()["messageId"] for text in texts}
    for text, parts in texts.items():
        wait_delivery(node, ids[text], "DELIVERED")
        shown = message(node, ids[text])
        assert shown["status"] == "SENT" and shown["attempts"] == 1
        assert shown["delivery"]["parts"] == shown["delivery"]["deliveredParts"] == parts
        assert shown["delivery"]["detail"] == "DELIVRD"
    assert jsmpp.texts().count("Hello World") == 1 and len(jsmpp.texts()) == 6
    assert node.metric("penstock_smpp_receipts_total") == 6 and node.metric("gateway_receipts_unmatched_total") == 0


def test_jsmpp_many_messages_in_one_window(daemon, jsmpp):
    use(daemon, jsmpp, sink={"receiptIds": "decimal", "concurrency": 16})
    sent = [r["messageId"] for r in send_all(daemon, [{"userId": 101, "message": f"number {n}"} for n in range(200)])]
    wait_sent(daemon, *sent)
    for message_id in sent:
        wait_delivery(daemon, message_id, "DELIVERED")
    assert sorted(jsmpp.texts()) == sorted(f"number {n}" for n in range(200))


def test_jsmpp_refuses_a_bind(daemon, jsmpp):
    use(daemon, jsmpp, sink={"password": "wrong-one"})
    wait_until(lambda: logged(daemon, "smpp.unbound"), 30, "the warning")
    assert logged(daemon, "smpp.unbound")[0]["error"] == "the provider refused the bind: ESME_RINVPASWD (0x0e)"


def test_jsmpp_comes_back(daemon, jsmpp):
    use(daemon, jsmpp, sink={"receiptIds": "decimal"})
    wait_delivery(daemon, send(daemon).json()["messageId"], "DELIVERED")
    jsmpp.kill()
    waiting = send(daemon, message="Later").json()["messageId"]
    jsmpp.start()
    wait_delivery(daemon, waiting, "DELIVERED")
    assert jsmpp.texts().count("Later") == 1


def test_receipts_that_name_messages_otherwise_are_counted(daemon, jsmpp):
    """Without the setting they find nothing, and that is seen."""
    use(daemon, jsmpp)
    sent = send(daemon, to="+1").json()["messageId"]
    wait_sent(daemon, sent)
    wait_until(lambda: daemon.metric("penstock_smpp_receipts_total") == 1, 30, "the receipt")
    if daemon.metric("gateway_receipts_unmatched_total") == 1:  # else its number is the same in hex and in decimal
        assert delivery(daemon, sent) == "PENDING"
