"""Walks through docs/guides/pace-payments.md with the real programs, and fewer payments."""
import json
import os
import pathlib
import subprocess

from conftest import binary, clean_environment, wait_until
from demo_downstream import start_downstream
from test_docs import tour_blocks

__all__ = ["start_downstream"]  # fixture

COUNT = 1_000


def test_the_guide_paces_payments_from_a_file_to_the_bank(start_daemon, start_downstream, tmp_path):
    blocks = [text for language, text in tour_blocks("docs/guides/pace-payments.md") if language == "bash"]
    assert len(blocks) >= 10
    assert blocks[0].split()[:3] == ["penstock", "demo", "downstream"] and blocks[1].strip() == "penstock serve"
    bank = start_downstream(*blocks[0].split()[3:])
    daemon = start_daemon()
    env = clean_environment({"PENSTOCK_URL": daemon.url,
                             "PATH": f"{pathlib.Path(binary()).parent}:{os.environ['PATH']}"})

    def run(text):
        for old, new in {"http://127.0.0.1:8080": daemon.url, "http://127.0.0.1:9090": f"http://127.0.0.1:{bank.port}",
                         "1000000": str(COUNT), "100000": "1000"}.items():
            text = text.replace(old, new)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True, timeout=120,
                              cwd=tmp_path, env=env)
        assert done.returncode == 0, (text, done.stdout, done.stderr)
        return done.stdout

    outputs = {text.split()[0] + " " + " ".join(text.split()[1:3]): run(text) for text in blocks[2:]}
    rejected = [json.loads(line) for line in outputs["cat rejected.ndjson"].splitlines()]
    assert [(r["paymentId"], r["line"]) for r in rejected] == [("pay-7", 8), ("pay-8", 9)]
    assert "amount" in rejected[0]["reason"] and "account is blocked" in rejected[1]["reason"]
    assert "HELD" in outputs["penstock payments get"] and "needs a second pair of eyes" in outputs["penstock payments get"]
    assert outputs["penstock payments release"].splitlines()[0] != "pay-9  HELD", "it goes"
    wait_until(lambda: bank.stats()["booked"] == COUNT - 2, 60, "every payment that is to be paid")
    assert bank.stats()["refused"] == 0 and bank.stats()["busiestSecond"] <= 1_000
