"""usage: kubernetes_test.py SOURCES [NAVTALK]   the manifests and the chart are valid, say the same, and refer to what is there

Needs kubectl, and what scripts/kubernetes-tools fetches.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(sys.argv[1])
FOLDER = SOURCES / "packaging/kubernetes"
CACHE = pathlib.Path(os.environ.get("NAVTALK_CACHE") or pathlib.Path.home() / ".cache/navtalk")
SECRETS = {"postgresql-password", "operator-key", "worker-token"}
DIGEST = "sha256:" + "0123456789abcdef" * 4
VERSIONS = ("1.28", "1.37")  # the first one that the chart accepts, and the last one whose schema is at hand


def kustomize(folder):
    built = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise AssertionError(f"kubectl kustomize {folder}: {built.stderr}")
    return built.stdout


def objects(yaml, texts):
    found = {}
    for text in texts:
        for one in yaml.safe_load_all(text):
            if one:
                key = (one["kind"], one["metadata"]["name"])
                if key in found:
                    raise AssertionError(f"{key} is there twice")
                found[key] = one
    return found


def overlay(folder):
    """As docs/kubernetes.md says: a namespace, an image, and secrets."""
    shutil.copytree(FOLDER, folder / "kubernetes")
    (folder / "mine").mkdir()
    for name in SECRETS:
        (folder / "mine" / name).write_text("secret")
    (folder / "mine/kustomization.yaml").write_text(
        json.dumps(
            {
                "apiVersion": "kustomize.config.k8s.io/v1beta1",
                "kind": "Kustomization",
                "namespace": "gpus",
                "resources": ["../kubernetes/base", "../kubernetes/first-key"],
                "images": [{"name": "navtalk", "newName": "registry.example/navtalk", "digest": DIGEST}],
                "secretGenerator": [{"name": "navtalk", "files": sorted(SECRETS)}],
                "generatorOptions": {"disableNameSuffixHash": True},
            }
        )
    )
    return kustomize(folder / "mine")


def matching(found, selector):
    """The templates of pods that a selector chooses."""
    wanted = selector.get("matchLabels", selector).items()
    templates = [one["spec"]["template"] for one in found.values() if "template" in one.get("spec", {})]
    return [template for template in templates if wanted <= template["metadata"].get("labels", {}).items()]


def check_references(found):
    """What the schemas cannot know: that names, ports and labels of one object are those of another."""

    def expect(what, condition):
        if not condition:
            raise AssertionError(what)

    for (kind, name), one in found.items():
        where, spec = f"{kind} {name}", one.get("spec", {})
        if kind in ("Service", "PodDisruptionBudget"):
            pods = matching(found, spec["selector"])
            expect(f"{where} selects no pod", len(pods) == 1)
        if kind == "Service":
            ports = {port["name"] for container in pods[0]["spec"]["containers"] for port in container["ports"]}
            wanted = {port.get("targetPort", port["name"]) for port in spec["ports"]}
            expect(f"{where}: {wanted} are no ports of its pods", wanted <= ports)
        if kind == "NetworkPolicy":
            worker = spec["podSelector"]["matchLabels"]["app.kubernetes.io/name"] == "navtalk-worker"
            expect(f"{where} selects no pod", worker or matching(found, spec["podSelector"]))
        if kind == "RoleBinding":
            expect(f"{where}: its role is missing", ("Role", one["roleRef"]["name"]) in found)
            expect(f"{where}: its account is missing", ("ServiceAccount", one["subjects"][0]["name"]) in found)
        if "template" not in spec:
            continue
        pod = spec["template"]["spec"]
        labels = spec["template"]["metadata"]["labels"]
        expect(f"{where} does not select its own pods", kind == "Job" or spec["selector"]["matchLabels"].items() <= labels.items())
        account = pod.get("serviceAccountName")
        expect(f"{where}: its account is missing", account is None or ("ServiceAccount", account) in found)
        expect(f"{where} may act in the cluster", account or pod["automountServiceAccountToken"] is False)
        for volume in pod["volumes"]:
            expect(f"{where}: {volume} is missing", "configMap" not in volume or ("ConfigMap", volume["configMap"]["name"]) in found)
        volumes = {volume["name"] for volume in pod["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
        for container in pod["containers"]:
            limits = container["securityContext"]
            safe = limits["readOnlyRootFilesystem"] and not limits["allowPrivilegeEscalation"] and limits["capabilities"]["drop"] == ["ALL"]
            expect(f"{where} may do more than it needs", safe and pod["securityContext"]["runAsNonRoot"])
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            expect(f"{where}: volumes {mounted ^ volumes}", mounted == volumes)
            for variable in container["env"]:
                secret = variable.get("valueFrom", {}).get("secretKeyRef")
                expect(f"{where}: {secret}", secret is None or secret["key"] in SECRETS)


def check_drain(deployment):
    pod = deployment["spec"]["template"]["spec"]
    gateway = pod["containers"][0]
    wait = int(gateway["lifecycle"]["preStop"]["exec"]["command"][1])
    drain = int(gateway["args"][gateway["args"].index("--drain-s") + 1])
    if wait < 5 or pod["terminationGracePeriodSeconds"] < wait + drain + 10:
        raise AssertionError(f"{pod['terminationGracePeriodSeconds']} s are too short for {wait} s and a drain of {drain} s")


def check_rights_and_probes(found):
    """Nothing but pods, and a look at the one object that owns them; every probe is there."""
    deployment = found["Deployment", "navtalk"]
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "list", "watch", "patch", "delete"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["navtalk"], "verbs": ["get"]},
    ]
    if found["Role", "navtalk"]["rules"] != rules:
        raise AssertionError(f"the role is {found['Role', 'navtalk']['rules']}")
    if 'owner = "Deployment/navtalk"' not in found["ConfigMap", "navtalk"]["data"]["navtalk.toml"]:
        raise AssertionError("nothing owns the pods")
    gateway = deployment["spec"]["template"]["spec"]["containers"][0]
    paths = {probe: gateway[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    if paths != {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}:
        raise AssertionError(f"the probes are {paths}")


def check_configuration(program, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "navtalk.toml"
        path.write_text(text)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "STATE_DIRECTORY": folder}
        command = [program, "--config", str(path), "config", "check"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode != 0 or "warning" in ran.stdout + ran.stderr:
        raise AssertionError(f"navtalk config check: {ran.stdout}{ran.stderr}")


def render(helm, values):
    with helm.Chart.load(str(FOLDER / "chart")) as chart:
        return chart.render(values, name="navtalk", namespace="gpus").values()


def check_chart(helm, yaml, base):
    findings = helm.lint(str(FOLDER / "chart"))
    serious = [one for one in findings["messages"] if one["severity"] > 1]
    if findings["errors"] or serious:
        raise AssertionError(f"helm lint: {findings['errors']} {serious}")
    version = (SOURCES / "CMakeLists.txt").read_text().split("project(navtalk VERSION ")[1].split()[0]
    about = yaml.safe_load((FOLDER / "chart/Chart.yaml").read_text())
    if about["appVersion"] != version:
        raise AssertionError(f"the chart is for {about['appVersion']}, and this is {version}")
    usual = objects(yaml, render(helm, {}))
    for key in usual.keys() | base.keys():
        if usual.get(key) != base.get(key):
            raise AssertionError(f"{key}: the chart has {usual.get(key)}\nand the manifests {base.get(key)}")
    try:
        render(helm, {"replica": 3})
    except helm.HelmError:
        pass
    else:
        raise AssertionError("the chart takes a value that it does not have")
    return objects(
        yaml,
        render(
            helm,
            {
                "image": {"repository": "registry.example/navtalk", "digest": DIGEST},
                "imagePullSecrets": ["registry"],
                "replicas": 3,
                "secret": "other",
                "nodeSelector": {"pool": "cpu"},
                "podAnnotations": {"a": "b"},
                "jobs": {"claim": "shared"},
                "postgresql": {"enabled": False},
            },
        ),
    )


def main():
    tools = CACHE / "kubernetes-tools"
    if tools.exists():
        sys.path.insert(0, str(tools))
    missing = [name for name in ("yaml", "helm_python", "kubernetes_validate") if importlib.util.find_spec(name) is None]
    if missing or shutil.which("kubectl") is None:
        print(f"skipped: no {' '.join(missing) or 'kubectl'} (run scripts/kubernetes-tools)")
        return
    import helm_python as helm
    import kubernetes_validate
    import yaml

    with tempfile.TemporaryDirectory() as folder:
        mine = objects(yaml, [overlay(pathlib.Path(folder))])
    base = objects(yaml, [kustomize(FOLDER / "base")])
    changed = check_chart(helm, yaml, base)
    for found in (mine, base, changed):
        for one in found.values():
            for version in VERSIONS:
                kubernetes_validate.validate(one, version, strict=True)
        check_drain(found["Deployment", "navtalk"])
        check_rights_and_probes(found)
    check_references(mine)
    check_references({**changed, ("Secret", "other"): {"metadata": {}}})
    for found in (mine, changed):
        gateway = found["Deployment", "navtalk"]["spec"]["template"]["spec"]["containers"][0]
        if gateway["image"] != f"registry.example/navtalk@{DIGEST}":
            raise AssertionError(f"the image is {gateway['image']}")
    configuration = changed["ConfigMap", "navtalk"]["data"]["navtalk.toml"]
    if f'image = "registry.example/navtalk@{DIGEST}"' not in configuration:
        raise AssertionError("the workers have another image than the gateway")
    if len(sys.argv) > 2:
        check_configuration(sys.argv[2], configuration)
        check_configuration(sys.argv[2], base["ConfigMap", "navtalk"]["data"]["navtalk.toml"])


main()
