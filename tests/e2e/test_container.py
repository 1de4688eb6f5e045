"""deploy/container: the files, read by the code that engines read them with. The steps of the image are run in
test_package.py, which has the packages that go into it."""
import json
import re
import subprocess

import yaml
from conftest import ROOT
from container_files import FOLDER, checker, commands, compose, stages

__all__ = ["checker", "compose", "stages"]  # fixtures


def test_the_image_is_built_in_two_stages_on_one_release(stages):
    assert [stage["base"] for stage in stages] == ["debian:bookworm", "debian:bookworm-slim"]
    assert commands(stages[0], "RUN")[-1] == "tools/package"


def test_what_the_build_copies_is_in_the_tree_and_secrets_are_not(stages):
    sources = {text.split()[0] for stage in stages for text in commands(stage, "COPY")}
    assert all((ROOT / source).exists() for source in sources)
    assert "deploy/container/secrets" in (FOLDER / "Containerfile.dockerignore").read_text().split()


def test_the_image_follows_the_rules_of_images(stages):
    last = stages[-1]
    assert commands(last, "USER") == ["10001:10001"]  # by number: Kubernetes cannot know names
    assert commands(last, "VOLUME") == ["/var/lib/penstock"] and commands(last, "EXPOSE") == ["8080 6380"]
    assert len(commands(last, "HEALTHCHECK")) == 1 and json.loads(commands(last, "ENTRYPOINT")[0]) == ["penstock"]
    for stage in stages:
        assert not commands(stage, "ADD")
        for text in commands(stage, "RUN"):
            if "apt-get install" in text:
                assert "--no-install-recommends" in text and "rm -rf /var/lib/apt/lists/*" in text
                assert text.index("apt-get update") < text.index("apt-get install")


def test_every_service_says_whether_it_is_healthy(compose):
    services = compose["services"]
    assert services.keys() == {"penstock", "migrate", "postgres", "redis", "kafka", "temporal"}
    for name, service in services.items():
        if name == "migrate":
            assert service["healthcheck"]["disable"] is True
        elif name != "penstock":  # the image has it
            assert service["healthcheck"]["test"], name
        assert re.search(r":\d", service["image"]), name


def test_services_start_in_their_order(compose):
    waits = {name: {other: how["condition"] for other, how in service.get("depends_on", {}).items()}
             for name, service in compose["services"].items()}
    healthy = "service_healthy"
    assert waits["penstock"] == {"migrate": "service_completed_successfully", "redis": healthy, "kafka": healthy,
                                 "temporal": healthy}
    assert waits["migrate"] == {"postgres": healthy}


def test_only_this_machine_reaches_penstock_and_nobody_the_rest(compose):
    published = {name: service["ports"] for name, service in compose["services"].items() if service.get("ports")}
    assert published.keys() == {"penstock"}
    assert all(port["host_ip"] == "127.0.0.1" for port in published["penstock"])


def test_secrets_are_files_and_nowhere_else(compose):
    for service in compose["services"].values():
        for name, value in (service.get("environment") or {}).items():
            assert "PASSWORD" not in name or name.endswith("_FILE"), (name, value)
        for secret in service.get("secrets") or []:
            assert secret["source"] in compose["secrets"]


def test_the_settings_name_services_by_their_names(compose):
    settings = yaml.safe_load((FOLDER / "penstock.yaml").read_text())
    hosts = re.findall(r"(?:@|//|^)(\w+)(?::\d+|/)", "\n".join([
        settings["store"]["postgres"]["url"].replace("//", ""), settings["store"]["redis"]["url"],
        settings["kafka"]["brokers"], settings["temporal"]["address"]]), re.M)
    assert set(hosts) == {"postgres", "redis", "kafka", "temporal"} <= compose["services"].keys()
    namespace = settings["temporal"]["namespace"]
    assert f"--namespace {namespace}" in " ".join(compose["services"]["temporal"]["command"])


def test_a_mistake_in_the_compose_file_is_found(checker, tmp_path):
    text = (FOLDER / "compose.yaml").read_text()
    for right, wrong in (("stop_grace_period", "stop_grace"), ("migrate: {condition", "migrates: {condition")):
        file = tmp_path / "compose.yaml"
        file.write_text(text.replace(right, wrong))
        assert subprocess.run([checker, "compose", file], capture_output=True, timeout=60).returncode == 1, wrong
