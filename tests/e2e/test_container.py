"""deploy/container, as far as it can be proven without an engine: the files are read by the code that engines read them
with, and the steps of the image are run in a minimal Debian (the one that its base image is made of)."""
import json
import re
import signal
import subprocess

import pytest
import testserver
import yaml
from conftest import ROOT, clean_environment
from test_package import debian_with, packages, run  # noqa: F401  (packages is a fixture)
from testserver import manifests

FOLDER = ROOT / "deploy" / "container"
STOP_SECONDS = 10  # after which engines kill


@pytest.fixture(scope="module")
def checker():
    try:
        return manifests.programs() / "manifests"
    except testserver.Unavailable as reason:
        pytest.skip(f"skipped: {reason}")


@pytest.fixture(scope="module")
def stages(checker) -> list:
    return json.loads(run(checker, "containerfile", FOLDER / "Containerfile"))


@pytest.fixture(scope="module")
def compose(checker, tmp_path_factory) -> dict:
    """The project as Compose resolves it, in a copy of the folder that has its secrets."""
    folder = tmp_path_factory.mktemp("compose") / "container"
    run("cp", "-r", FOLDER, folder)
    run("sh", folder / "secrets.sh")
    return json.loads(run(checker, "compose", folder / "compose.yaml", env=clean_environment()))


def commands(stage, name) -> list:
    """The arguments of all instructions of this name."""
    return [each["text"].split(maxsplit=1)[1] for each in stage["commands"] if each["name"].upper() == name]


# The files.

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


# The image, by its own steps.

@pytest.fixture(scope="module")
def image(packages, stages):  # noqa: F811
    """A machine on which the steps of the last stage were run."""
    with debian_with(packages) as machine:
        for step in commands(stages[-1], "RUN"):
            machine.run("sh", "-c", re.sub(r"^(--mount=\S+\s+)+", "", step), network=False)
        machine.env = dict(text.split("=", 1) for text in commands(stages[-1], "ENV"))
        machine.user = commands(stages[-1], "USER")[0]
        machine.program = json.loads(commands(stages[-1], "ENTRYPOINT")[0])
        machine.arguments = json.loads(commands(stages[-1], "CMD")[0])
        yield machine


def mount_secrets(machine, compose):
    (machine.root / "run" / "secrets").mkdir(exist_ok=True)
    for name, secret in compose["secrets"].items():
        file = machine.root / "run" / "secrets" / name
        file.write_bytes(open(secret["file"], "rb").read())
        file.chmod(0o444)


def stop(machine, process):
    """As engines do it: a signal to the first process, which must end by it."""
    if process.poll() is None:
        machine.signal(process, signal.SIGTERM)
    process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 0


def test_the_image_alone_refuses_to_serve_everyone_without_tokens(image):
    done = image.run(*image.program, *image.arguments, user=image.user, env=image.env, check=False)
    assert done.returncode == 2 and "token" in done.stdout + done.stderr


def test_the_image_serves_and_its_health_check_says_so(image, stages, compose):
    mount_secrets(image, compose)
    env = {**image.env, "PENSTOCK_AUTH_ADMIN_TOKEN_FILE": "/run/secrets/admin-token",
           "PENSTOCK_AUTH_API_TOKEN_FILE": "/run/secrets/api-token"}
    check = json.loads(re.search(r"CMD (\[.*\])", commands(stages[-1], "HEALTHCHECK")[0])[1])
    assert image.run(*check, user=image.user, check=False).returncode != 0
    process = image.start(*image.program, *image.arguments, user=image.user, env=env)
    try:
        assert image.line(process, "ready ") == "ready http=0.0.0.0:8080"
        image.run(*check, user=image.user)
    finally:
        stop(image, process)


def test_the_settings_that_compose_mounts_are_right(image, compose):
    mount_secrets(image, compose)
    service = compose["services"]["penstock"]
    settings = next(each for each in service["configs"])
    assert settings["target"] == image.arguments[-1]
    (image.root / settings["target"][1:]).write_bytes((FOLDER / "penstock.yaml").read_bytes())
    env = {**image.env, **service["environment"]}
    checked = image.run("penstock", "check-config", "--config", settings["target"], user=image.user, env=env)
    assert checked.stdout.startswith("OK") and "from PENSTOCK_HTTP_LISTEN" in checked.stdout
    refused = image.run("penstock", "check-config", "--config", settings["target"], user=image.user,
                        env={**env, "PENSTOCK_LOG_LEVELS": "info"}, check=False)
    assert refused.returncode == 2 and "PENSTOCK_LOG_LEVEL" in refused.stderr


def test_redis_is_started_with_its_password(image, compose):
    mount_secrets(image, compose)
    image.install("redis-server")
    (image.root / "data").mkdir()
    image.run("chown", "redis", "/data")
    service = compose["services"]["redis"]
    start, check = ([part.replace("$$", "$") for part in parts]
                    for parts in (service["command"], service["healthcheck"]["test"]))
    process = image.start(*start, user="redis:redis")
    try:
        image.line(process, "Ready to accept connections")
        image.run("sh", "-c", check[1])
        assert "NOAUTH" in image.run("redis-cli", "ping", check=False).stdout
    finally:
        stop(image, process)
