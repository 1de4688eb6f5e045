"""Runs PaymentExecWorkflow for the payments that Penstock starts, and reports their status back by REST."""
import argparse
import asyncio
import json
import os
import signal
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import business
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker
from workflow import TASK_QUEUE, PaymentExecWorkflow

REPORTED = ["ACCEPTED", "PROCESSING"]  # in the order in which they are reported


class Activities:
    """The business as activities, and the one thing that Penstock wants to know."""

    def __init__(self, penstock_url, bank_url, token=None):
        self.penstock_url = penstock_url
        self.bank_url = bank_url
        self.token = token

    @activity.defn(name="execute")
    def execute(self, payment: dict) -> dict:
        try:
            return business.execute(payment, self.bank_url)
        except business.Refused as refused:
            raise ApplicationError(str(refused), type="Refused", non_retryable=True) from refused

    @activity.defn(name="postProcess")
    def post_process(self, payment: dict, receipt: dict) -> dict:
        return business.post_process(payment, receipt)

    @activity.defn(name="notify")
    def notify(self, entry: dict) -> str:
        message = business.notify(entry)
        print(message, flush=True)
        return message

    @activity.defn(name="report")
    def report(self, payment_id: str, status: str) -> None:
        path = f"/api/v1/payments/{urllib.parse.quote(payment_id, safe='')}"
        try:
            self._call(path + "/status", {"status": status})
        except urllib.error.HTTPError as problem:
            # A report whose answer was lost is repeated, and finds itself done.
            if problem.code == 409 and self._reached(self._call(path)["status"], status):
                return
            if 400 <= problem.code < 500 and problem.code not in (408, 429):
                raise ApplicationError(f"{status} of {payment_id} is not taken: {problem.read().decode()}",
                                       type="Refused", non_retryable=True) from problem
            raise

    @staticmethod
    def _reached(current, wanted):
        return current == wanted or (current in REPORTED and wanted in REPORTED
                                     and REPORTED.index(current) > REPORTED.index(wanted))

    def _call(self, path, body=None):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(urllib.request.Request(self.penstock_url + path, data, headers), timeout=10) as answer:
            return json.loads(answer.read() or b"null")


async def run(options):
    client = await Client.connect(options.temporal, namespace=options.namespace)
    activities = Activities(options.penstock, options.bank, os.environ.get("PENSTOCK_TOKEN"))
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    with ThreadPoolExecutor(options.concurrency) as threads:
        async with Worker(client, task_queue=TASK_QUEUE, workflows=[PaymentExecWorkflow],
                          activities=[activities.execute, activities.post_process, activities.notify, activities.report],
                          activity_executor=threads, max_concurrent_activities=options.concurrency):
            print(f"ready task-queue={TASK_QUEUE}", flush=True)
            await stopped.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--temporal", default="127.0.0.1:7233", metavar="HOST:PORT")
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--penstock", default="http://127.0.0.1:8080", metavar="URL", help="where status is reported")
    parser.add_argument("--bank", default="http://127.0.0.1:9090/payments", metavar="URL", help="the downstream payment API")
    parser.add_argument("--concurrency", type=int, default=16, metavar="COUNT", help="activities at once")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
