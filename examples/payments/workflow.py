"""PaymentExecWorkflow: execute -> postProcess -> notify, each an activity that Temporal repeats until it is done."""
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

TASK_QUEUE = "payment-exec-task-queue"
# A bank that is down for an hour is waited for; what it refuses is not asked again.
RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1),
                    non_retryable_error_types=["Refused"])


async def step(name, *arguments):
    return await workflow.execute_activity(name, args=arguments, start_to_close_timeout=timedelta(seconds=30),
                                           schedule_to_close_timeout=timedelta(hours=2), retry_policy=RETRY)


@workflow.defn(name="PaymentExecWorkflow")
class PaymentExecWorkflow:
    @workflow.run
    async def run(self, payment_id: str, payment: dict) -> str:
        try:
            receipt = await step("execute", payment)
        except ActivityError as failure:
            await step("report", payment_id, "FAILED")
            raise ApplicationError(f"{payment_id} was not executed", non_retryable=True) from failure
        await step("report", payment_id, "ACCEPTED")
        entry = await step("postProcess", payment, receipt)
        message = await step("notify", entry)
        await step("report", payment_id, "PROCESSING")
        return message
