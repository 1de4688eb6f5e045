"""deploy/helm: rendered by the real Helm, decoded strictly into the types of Kubernetes, and its settings checked by the
real daemon's check-config."""
import json
import subprocess

import pytest
import testserver
import yaml
from conftest import ROOT, binary, clean_environment
from testserver import manifests

CHART = ROOT / "deploy" / "helm" / "penstock"
KUBERNETES = "1.35.0"  # whose types tools/manifests has
POSTGRES = {"store": "postgres", "postgres": {"url": "postgresql://penstock@db/penstock?sslmode=verify-full",
                                              "passwordSecret": {"name": "db"}}}
VALUES = {
    "defaults": {},
    "embedded, everything on": {
        "resp": {"enabled": True, "passwordSecret": {"name": "redis-clients"}},
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "persistence": {"size": "50Gi", "storageClass": "fast"},
        "service": {"type": "LoadBalancer", "port": 80, "annotations": {"example.com/internal": "true"}},
        "podAnnotations": {"a": "b"}, "podLabels": {"team": "payments"}, "nodeSelector": {"disk": "nvme"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}], "priorityClassName": "high",
        "imagePullSecrets": [{"name": "registry"}], "extraEnv": [{"name": "PENSTOCK_LOG_LEVEL", "value": "debug"}],
        "config": {"slots": {"max-delay": "PT2H"}, "store": {"embedded": {"durability": "relaxed"}}},
    },
    "three pods on postgres": {**POSTGRES, "replicas": 3},
    "all stores and peers": {
        **POSTGRES, "replicas": 2, "redis": {"url": "rediss://redis:6379", "passwordSecret": {"name": "redis"}},
        "resp": {"enabled": True, "passwordSecret": {"name": "redis-clients"}}, "networkPolicy": {"from": []},
        "podDisruptionBudget": {"maxUnavailable": "50%"},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
        "config": {"throttle": {"store": "redis"}, "gateway": {"bus": "kafka", "cache": "redis"},
                   "store": {"redis": {"cluster": True}, "postgres": {"connections": 8}},
                   "kafka": {"brokers": "kafka:9092"}, "temporal": {"address": "temporal:7233"}},
    },
    "no migration, no policy": {**POSTGRES, "migrate": {"enabled": False}, "networkPolicy": {"enabled": False}},
    "limits on mariadb": {"config": {"throttle": {"store": "mariadb"},
                                     "store": {"mariadb": {"url": "mysql://penstock@db:3306/penstock"}}}},
}
REFUSED = {
    "replicas: the embedded store serves one pod": {"replicas": 2},
    "/postgres/url": {"store": "postgres"},
    "postgres.url: set store: postgres with it": {"postgres": {"url": "postgresql://db/penstock"}},
    "/resp/passwordSecret/name": {"resp": {"enabled": True}},
    "config.auth: the chart sets it": {"config": {"auth": "none"}},
    "config.http.listen": {"config": {"http": {"listen": "127.0.0.1:1"}}},
    "'replica' not allowed": {"replica": 2},
    "/store": {"store": "mongodb"},
}


@pytest.fixture(scope="module")
def tools():
    try:
        return manifests.programs()
    except testserver.Unavailable as reason:
        pytest.skip(f"skipped: {reason}")


def helm(tools, *arguments, values=None):
    return subprocess.run([tools / "helm", *arguments, "--kube-version", KUBERNETES, "--values", "-", CHART],
                          input=json.dumps(values or {}), capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module", params=VALUES, ids=[name.replace(" ", "-") for name in VALUES])
def rendered(request, tools):
    """(values, the objects of the chart with these values)"""
    values = VALUES[request.param]
    text = helm(tools, "template", "test", "--namespace", "apps", values=values)
    assert text.returncode == 0, text.stderr
    decoded = subprocess.run([tools / "manifests", "kubernetes"], input=text.stdout, capture_output=True, text=True,
                             timeout=60)
    assert decoded.returncode == 0, decoded.stderr
    return values, json.loads(decoded.stdout)


def one(objects, kind, name="test-penstock"):
    found = [item for item in objects if item["kind"] == kind and item["metadata"]["name"] == name]
    assert len(found) == 1, (kind, name, [(item["kind"], item["metadata"]["name"]) for item in objects])
    return found[0]


def workload(objects):
    return next(item for item in objects if item["kind"] in ("StatefulSet", "Deployment"))


def kinds(objects):
    return {item["kind"] for item in objects}


def pods(objects):
    """The specs of the pods of daemon, migration and test."""
    for item in objects:
        if item["kind"] == "Pod":
            yield item["spec"]
        elif "template" in item.get("spec", {}):
            yield item["spec"]["template"]["spec"]


def test_helm_finds_no_fault(tools, rendered):
    values, _ = rendered
    done = helm(tools, "lint", "--strict", values=values)
    assert done.returncode == 0 and "[WARNING]" not in done.stdout, done.stdout + done.stderr


def test_the_store_decides_the_kind_of_workload(rendered):
    values, objects = rendered
    if values.get("store") == "postgres":
        assert workload(objects)["kind"] == "Deployment" and "volumeClaimTemplates" not in workload(objects)["spec"]
    else:
        claim = workload(objects)["spec"]["volumeClaimTemplates"][0]
        assert workload(objects)["kind"] == "StatefulSet" and claim["metadata"]["name"] == "data"
        assert claim["spec"]["resources"]["requests"]["storage"] == values.get("persistence", {}).get("size", "10Gi")


def test_everything_that_is_named_is_there(rendered):
    _, objects = rendered
    pod = workload(objects)["spec"]["template"]
    selected = [workload(objects)["spec"]["selector"]["matchLabels"], one(objects, "Service")["spec"]["selector"]]
    selected += [item["spec"]["selector"]["matchLabels"] for item in objects if item["kind"] == "PodDisruptionBudget"]
    selected += [item["spec"]["podSelector"]["matchLabels"] for item in objects if item["kind"] == "NetworkPolicy"]
    for labels in selected:
        assert labels.items() <= pod["metadata"]["labels"].items()
    container = pod["spec"]["containers"][0]
    ports = {port["name"] for port in container["ports"]}
    assert {port["targetPort"] for port in one(objects, "Service")["spec"]["ports"]} == ports
    assert {container[f"{probe}Probe"]["httpGet"]["port"] for probe in ("startup", "liveness", "readiness")} <= ports
    one(objects, "ServiceAccount", pod["spec"]["serviceAccountName"])
    for item in objects:
        if item["kind"] == "NetworkPolicy":
            assert {port["port"] for port in item["spec"]["ingress"][0]["ports"]} == ports
        if item["kind"] == "ServiceMonitor":
            assert {end["port"] for end in item["spec"]["endpoints"]} <= ports
            labels = one(objects, "Service")["metadata"]["labels"]
            assert item["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_every_mount_has_its_volume_and_every_volume_its_source(rendered):
    _, objects = rendered
    claims = {claim["metadata"]["name"] for claim in workload(objects)["spec"].get("volumeClaimTemplates", [])}
    for spec in pods(objects):
        volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
        mounts = {mount["name"] for mount in spec["containers"][0].get("volumeMounts", [])}
        daemon = spec["containers"][0]["name"] == "penstock"
        assert mounts == volumes.keys() | (claims if daemon else set())
        for volume in volumes.values():
            if "configMap" in volume:
                one(objects, "ConfigMap", volume["configMap"]["name"])


def test_pods_have_no_rights_that_they_do_not_need(rendered):
    _, objects = rendered
    for spec in pods(objects):
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True and spec["securityContext"]["runAsUser"] == 10001
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        rights = spec["containers"][0]["securityContext"]
        assert rights["readOnlyRootFilesystem"] is True and rights["allowPrivilegeEscalation"] is False
        assert rights["capabilities"] == {"drop": ["ALL"]}


def test_a_shared_store_is_migrated_before_anything_else(rendered):
    values, objects = rendered
    shared = values.get("store") == "postgres" or "mariadb" in values.get("config", {}).get("store", {})
    if not shared or not values.get("migrate", {}).get("enabled", True):
        assert "Job" not in kinds(objects)
        return
    job, settings = one(objects, "Job", "test-penstock-migrate"), one(objects, "ConfigMap", "test-penstock-migrate")
    weights = []
    for item in (settings, job):
        notes = item["metadata"]["annotations"]
        assert notes["helm.sh/hook"] == "pre-install,pre-upgrade"
        weights.append(int(notes["helm.sh/hook-weight"]))
    assert weights[0] < weights[1]
    assert settings["data"] == one(objects, "ConfigMap")["data"]
    assert "serviceAccountName" not in job["spec"]["template"]["spec"]  # there is none yet


def test_several_pods_are_not_taken_away_at_once(rendered):
    values, objects = rendered
    assert ("PodDisruptionBudget" in kinds(objects)) == (values.get("replicas", 1) > 1)


def test_the_settings_are_right(rendered, tmp_path):
    """With the files of the secrets where the pod has them, below a folder of ours."""
    _, objects = rendered
    spec = workload(objects)["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    for mount in spec["containers"][0]["volumeMounts"]:
        for item in volumes.get(mount["name"], {}).get("secret", {}).get("items", []):
            file = tmp_path / mount["mountPath"][1:] / item["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"s3cret-{item['path']}\n")
            file.chmod(0o600)
    text = one(objects, "ConfigMap")["data"]["penstock.yaml"]
    config = tmp_path / "penstock.yaml"
    config.write_text(text.replace("/run/penstock/", f"{tmp_path}/run/penstock/"))
    env = {item["name"]: item["value"] for item in spec["containers"][0].get("env", [])}
    checked = subprocess.run([binary(), "check-config", "--config", config], capture_output=True, text=True,
                             timeout=30, env=clean_environment(env))
    assert checked.returncode == 0 and "warning" not in checked.stdout, checked.stdout + checked.stderr
    settings = yaml.safe_load(text)
    assert settings["http"]["listen"] == "0.0.0.0:8080" and settings["auth"]["open-metrics"] is True


def test_settings_of_the_user_and_of_the_chart_become_one(tools):
    text = helm(tools, "template", "test", values=VALUES["all stores and peers"]).stdout
    config = next(item for item in yaml.safe_load_all(text) if item and item["kind"] == "ConfigMap")
    store = yaml.safe_load(config["data"]["penstock.yaml"])["store"]
    assert store["redis"] == {"url": "rediss://redis:6379", "password-file": "/run/penstock/redis/password",
                              "cluster": True}
    assert store["postgres"]["connections"] == 8 and store["postgres"]["url"] == POSTGRES["postgres"]["url"]


@pytest.mark.parametrize("message", REFUSED, ids=[message.split(":")[0].strip("/' ") for message in REFUSED])
def test_values_that_cannot_work_are_refused(tools, message):
    done = helm(tools, "template", "test", values=REFUSED[message])
    assert done.returncode != 0 and message in done.stderr, done.stderr


def test_a_field_that_kubernetes_does_not_have_is_found(tools):
    text = helm(tools, "template", "test").stdout.replace("terminationGracePeriodSeconds", "terminationGraceSeconds")
    decoded = subprocess.run([tools / "manifests", "kubernetes"], input=text, capture_output=True, text=True, timeout=60)
    assert decoded.returncode == 1 and "terminationGraceSeconds" in decoded.stderr


def test_every_value_is_in_the_schema():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert values.keys() == schema["properties"].keys() - {"global"}
