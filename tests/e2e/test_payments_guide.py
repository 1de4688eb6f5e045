"""Walks through docs/guides/pace-payments.md with the real programs, and fewer payments."""
import json

from conftest import wait_until
from doc_blocks import read_page
from doc_terminal import Terminal

GUIDE = "docs/guides/pace-payments.md"
COUNT = 1_000


class Shorter(Terminal):
    """A thousand payments instead of a million: what the guide does to one in 100,000 happens to one of them."""

    def translate(self, text):
        return super().translate(text).replace("1000000", str(COUNT)).replace("100000", str(COUNT))


def test_the_guide_paces_payments_from_a_file_to_the_bank(tmp_path):
    page = read_page(GUIDE)
    outputs = {}
    with Shorter(page, tmp_path) as terminal:
        for block in page.commands:
            if "not run" not in block.marks:
                outputs[" ".join(block.text.split()[:3])] = terminal.run(block)
        rejected = [json.loads(line) for line in outputs["cat rejected.ndjson"].splitlines()]
        assert [(r["paymentId"], r["line"]) for r in rejected] == [("pay-7", 8), ("pay-8", 9)]
        assert "amount" in rejected[0]["reason"] and "account is blocked" in rejected[1]["reason"]
        assert "HELD" in outputs["penstock payments get"] and "needs a second pair of eyes" in outputs["penstock payments get"]
        assert outputs["penstock payments release"].splitlines()[0] != "pay-9  HELD", "it goes"
        stats = next(block for block in page.commands if "/stats" in block.text)
        wait_until(lambda: json.loads(terminal.run(stats))["booked"] == COUNT - 2, 60, "every payment that is to be paid")
        last = json.loads(terminal.run(stats))
        assert last["refused"] == 0 and last["busiestSecond"] <= 1_000
