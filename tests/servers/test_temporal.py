"""Temporal answers its command line client and keeps workflows over restart and crash."""

import json

import pytest

from .conftest import processes_in


def start_workflow(server, workflow_id):
    server.cli("workflow", "start", "--type", "Sample", "--task-queue", "nobody_polls",
               "--workflow-id", workflow_id)


def test_describes_its_namespace(temporal):
    described = json.loads(temporal.cli("operator", "namespace", "describe", "--output", "json"))
    assert described["namespaceInfo"]["name"] == temporal.namespace == "penstock"


def test_lists_a_started_workflow(temporal):
    start_workflow(temporal, "listed")
    # The list is served by the visibility store, which follows the start by some milliseconds.
    for _ in range(100):
        if "listed" in temporal.cli("workflow", "list"):
            return
    pytest.fail("the workflow never appeared in the list")


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_keeps_workflows_on_the_same_port(temporal, end):
    start_workflow(temporal, f"kept_over_{end}")
    port, pid = temporal.port, temporal.pid
    getattr(temporal, end)()
    assert processes_in(str(temporal.dir)) == []
    temporal.start()
    assert temporal.port == port
    assert temporal.pid != pid
    described = temporal.cli("workflow", "describe", "--workflow-id", f"kept_over_{end}",
                             "--output", "json")
    assert json.loads(described)["workflowExecutionInfo"]["type"]["name"] == "Sample"
