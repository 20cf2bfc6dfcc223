"""A Kubernetes API server on loopback that knows pods and nothing else, for tests of the binary.

It keeps names unique, checks preconditions of deletes, cuts lists into pages, schedules pods while nodes have free GPUs, and
starts a worker for each pod that has a node. Faults are scripted; each is used for so many requests and then forgotten:

    {"verb": "create", "status": 429, "retry_after": 1}    answers that, and does nothing
    {"verb": "create", "status": 500, "acts": True}        does it, and answers that
    {"verb": "create", "hang": True, "acts": True}         does it, and never answers
    {"verb": "list", "status": 200, "body": "<html>"}      answers with other words
"""

import datetime
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.parse
import uuid

TOKEN = "a-token-of-the-cluster"
# What the role of the shipped manifests lets its account do with pods; nothing else is allowed here.
ROLE = (pathlib.Path(__file__).parents[3] / "packaging/kubernetes/base/account.yaml").read_text()
RIGHTS = re.search(r"resources: \[pods\]\n *verbs: \[(.*)\]", ROLE).group(1).split(", ")
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired", 422: "Invalid", 429: "TooManyRequests"}
SPEC = {
    "restartPolicy": str,
    "automountServiceAccountToken": bool,
    "enableServiceLinks": bool,
    "terminationGracePeriodSeconds": int,
    "securityContext": dict,
    "containers": list,
    "nodeSelector": dict,
    "tolerations": list,
    "imagePullSecrets": list,
    "priorityClassName": str,
    "runtimeClassName": str,
}
CONTAINER = {"name": str, "image": str, "args": list, "env": list, "ports": list, "resources": dict, "securityContext": dict}


# The schemas of the API, where scripts/kubernetes-tools has fetched them.
TOOLS = pathlib.Path(os.environ.get("NAVTALK_CACHE") or pathlib.Path.home() / ".cache/navtalk") / "kubernetes-tools"
if TOOLS.exists():
    sys.path.append(str(TOOLS))
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

# What a foreign client asks first.
PODS = {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": RIGHTS, "shortNames": ["po"]}
DISCOVERY = {
    "/version": {"major": "1", "minor": "28", "gitVersion": "v1.28.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [PODS]},
}


class Refusal(Exception):
    def __init__(self, status, message, headers=()):
        super().__init__(message)
        self.status, self.headers = status, dict(headers)


def unknown_fields(value, known, where):
    for name, part in value.items():
        if name not in known:
            raise Refusal(422, f"{where}.{name}: unknown field")
        if not isinstance(part, known[name]):
            raise Refusal(422, f"{where}.{name}: must be a {known[name].__name__}")


def check_manifest(pod):
    if pod.get("apiVersion") != "v1" or pod.get("kind") != "Pod":
        raise Refusal(422, "this is not a Pod of v1")
    if kubernetes_validate:
        try:
            kubernetes_validate.validate(pod, "1.28", strict=True)
        except kubernetes_validate.ValidationError as error:
            raise Refusal(422, f"not a Pod by its schema: {error.message}") from error
    name = pod["metadata"].get("name", "")
    if not NAME.fullmatch(name):
        raise Refusal(422, f"metadata.name: {name!r} is not a name in lower case")
    for key, value in pod["metadata"].get("labels", {}).items():
        if not re.fullmatch(r"([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?", value):
            raise Refusal(422, f"metadata.labels.{key}: {value!r} is not a label's value")
    unknown_fields(pod["spec"], SPEC, "spec")
    for container in pod["spec"]["containers"]:
        unknown_fields(container, CONTAINER, "spec.containers")
        for resource, amount in container["resources"]["limits"].items():
            if not isinstance(amount, str) or not amount.isdigit():
                raise Refusal(422, f"limits.{resource}: {amount!r} is not a quantity")
    for toleration in pod["spec"].get("tolerations", []):
        if ("value" in toleration) != (toleration["operator"] == "Equal"):
            raise Refusal(422, "tolerations: a value goes with Equal")


class FakeCluster:
    """gpus: how many pods find a node. worker: the program that stands for the image."""

    def __init__(self, worker, namespace="gpus", gpus=100, page=2):
        self.worker, self.namespace, self.gpus, self.page = worker, namespace, gpus, page
        self.lock = threading.RLock()
        self.stopping = threading.Event()
        self.pods, self.processes = {}, {}
        self.ever, self.requests, self.faults = [], [], []
        self.version, self.addresses, self.refused_token = 0, 0, None
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *unused):
                pass

            def handle_any(self):
                cluster.answer(self)

            do_GET = do_POST = do_DELETE = do_PATCH = handle_any

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.stopping.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        for process in self.processes.values():
            process.kill()
            process.wait()

    def fault(self, verb, times=1, **how):
        with self.lock:
            self.faults.append({"verb": verb, "times": times, **how})

    def calls(self, verb):
        with self.lock:
            return [call for call in self.requests if call["verb"] == verb]

    def living(self):
        with self.lock:
            return [json.loads(json.dumps(pod)) for pod in self.pods.values()]

    def uid(self, row):
        return next(pod["metadata"]["uid"] for pod in self.living() if pod["metadata"]["annotations"]["navtalk/row"] == row)

    def change(self, name, **status):
        """What the kubelet or the scheduler would do to a pod."""
        with self.lock:
            self.pods[name]["status"].update(status)
            self.touch(self.pods[name])

    def set_gpus(self, gpus):
        with self.lock:
            self.gpus = gpus
            self.schedule()

    def touch(self, pod):
        self.version += 1
        pod["metadata"]["resourceVersion"] = str(self.version)

    # One request.

    def answer(self, request):
        length = int(request.headers.get("Content-Length") or 0)
        body = json.loads(request.rfile.read(length)) if length else None
        parts = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        base = f"/api/v1/namespaces/{self.namespace}/pods"
        name = parts.path[len(base) + 1 :] if parts.path.startswith(base + "/") else ""
        if request.command == "GET" and parts.path in DISCOVERY:
            return self.send(request, 200, DISCOVERY[parts.path], {})
        verb = {"POST": "create", "DELETE": "delete", "PATCH": "patch", "GET": "get" if name else "list"}.get(request.command, "other")
        with self.lock:
            self.requests.append({"verb": verb, "name": name, "query": query, "body": body})
            fault = next((fault for fault in self.faults if fault["verb"] == verb), None)
            if fault:
                fault["times"] -= 1
                if fault["times"] == 0:
                    self.faults.remove(fault)
            try:
                # kubectl sends no token in clear text.
                trusted = request.headers.get("User-Agent", "").startswith("kubectl/")
                if not trusted and request.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise Refusal(401, "Unauthorized")
                if verb not in RIGHTS:
                    raise Refusal(403, f'pods is forbidden: User "navtalk" cannot {verb} resource "pods"')
                if not parts.path.startswith(base):
                    raise Refusal(404, f'namespaces "{parts.path}" not found')
                status, value = 500, None
                if verb == "patch" and request.headers.get("Content-Type") != "application/merge-patch+json":
                    raise Refusal(415, "the body of the request was in an unknown format")
                if not fault or fault.get("acts"):
                    status, value = self.act(verb, name, query, body)
                if fault and not fault.get("hang"):
                    headers = {"Retry-After": str(fault["retry_after"])} if "retry_after" in fault else {}
                    if "body" not in fault:
                        raise Refusal(fault["status"], fault.get("message", "a scripted fault"), headers)
                    status, value = fault["status"], fault["body"]
                headers = {}
            except Refusal as refusal:
                status, headers = refusal.status, refusal.headers
                value = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": str(refusal), "code": status}
                value["reason"] = REASONS.get(status, "InternalError")
        if fault and fault.get("hang"):
            self.stopping.wait(60)
            request.close_connection = True
            return
        self.send(request, status, value, headers)

    @staticmethod
    def send(request, status, value, headers):
        text = (value if isinstance(value, str) else json.dumps(value)).encode()
        try:
            request.send_response(status)
            for key, header in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
                request.send_header(key, header)
            request.end_headers()
            request.wfile.write(text)
        except OSError:
            request.close_connection = True  # it was killed meanwhile

    def act(self, verb, name, query, body):
        if verb == "create":
            return 201, self.create(body)
        if verb == "list":
            return 200, self.list(query)
        if name not in self.pods:
            raise Refusal(404, f'pods "{name}" not found')
        if verb == "get":
            return 200, self.pods[name]
        if verb == "patch":
            return 200, self.patch(name, body or {})
        if verb == "delete":
            return 200, self.delete(name, body or {})
        raise Refusal(405, "the server does not allow this method")

    def create(self, pod):
        check_manifest(pod)
        name = pod["metadata"]["name"]
        if name in self.pods:
            raise Refusal(409, f'pods "{name}" already exists')
        pod["metadata"]["uid"] = str(uuid.uuid4())
        pod["metadata"]["creationTimestamp"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        pod["status"] = {"phase": "Pending"}
        self.pods[name] = pod
        self.ever.append(pod["metadata"]["uid"])
        self.touch(pod)
        self.schedule()
        return pod

    def list(self, query):
        key, _, value = query.get("labelSelector", "").partition("=")
        found = [pod for _, pod in sorted(self.pods.items()) if not key or pod["metadata"]["labels"].get(key) == value]
        start = int(query.get("continue", "0"))
        end = start + min(self.page, int(query.get("limit", "500")))
        metadata = {"resourceVersion": str(self.version)}
        if end < len(found):
            metadata["continue"] = str(end)
        items = [{key: part for key, part in pod.items() if key not in ("kind", "apiVersion")} for pod in found[start:end]]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}

    def patch(self, name, change):
        """A merge patch; only metadata can be changed, as of a Pod almost nothing else can."""
        pod = self.pods[name]
        unknown_fields(change, {"metadata": dict}, "")
        metadata = change.get("metadata", {})
        unknown_fields(metadata, {"uid": str, "resourceVersion": str, "annotations": dict, "labels": dict}, "metadata")
        for key in ("uid", "resourceVersion"):
            if metadata.get(key, pod["metadata"][key]) != pod["metadata"][key]:
                raise Refusal(409, f"Precondition failed: {key} in precondition: {metadata[key]}, in object meta: {pod['metadata'][key]}")
        for part in ("annotations", "labels"):
            for key, value in metadata.get(part, {}).items():
                pod["metadata"].setdefault(part, {}).pop(key, None)
                if value is not None:
                    pod["metadata"][part][key] = value
        self.touch(pod)
        return pod

    def delete(self, name, options):
        pod = self.pods[name]
        for key, wanted in options.get("preconditions", {}).items():
            if pod["metadata"][key] != wanted:
                raise Refusal(409, f"Precondition failed: {key} in precondition: {wanted}, in object meta: {pod['metadata'][key]}")
        del self.pods[name]
        process = self.processes.pop(name, None)
        if process:
            process.kill()
            process.wait()
        self.schedule()
        return pod

    def schedule(self):
        for name, pod in self.pods.items():
            if pod["spec"].get("nodeName"):
                continue
            if len([other for other in self.pods.values() if other["spec"].get("nodeName")]) < self.gpus:
                self.start(name, pod)
            else:
                message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
                condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
                pod["status"]["conditions"] = [condition]
            self.touch(pod)

    def start(self, name, pod):
        # Each pod has an address of loopback's own, so that all may listen on one port.
        self.addresses += 1
        number = os.getpid()
        address = f"127.{1 + number // 250 % 250}.{1 + number % 250}.{1 + self.addresses % 250}"
        container = pod["spec"]["containers"][0]
        arguments = [argument.replace("0.0.0.0", address) for argument in container["args"]]
        environment = {variable["name"]: variable["value"] for variable in container["env"]}
        pod["spec"]["nodeName"] = "node-1"
        pod["status"] = {"phase": "Running", "podIP": address, "conditions": [{"type": "PodScheduled", "status": "True"}]}
        self.processes[name] = subprocess.Popen(
            [self.worker, *arguments],
            env={"PATH": os.environ["PATH"], **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
