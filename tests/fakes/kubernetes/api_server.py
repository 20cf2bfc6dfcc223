"""A Kubernetes API server on loopback that knows pods and their owners, for tests of the binary.

It keeps names unique, checks preconditions of deletes and patches, cuts lists into pages, tells changes to watches, schedules pods
while nodes have free GPUs, starts a worker for each pod that has a node, and removes pods whose owner is gone. Whatever it gets and
whatever it answers is held to the published schema, where that is at hand (schemas.py); `wrong` keeps what broke it. Faults are scripted; each is used for so many requests and then forgotten:

    {"verb": "create", "status": 429, "retry_after": 1}    answers that, and does nothing
    {"verb": "create", "status": 500, "acts": True}        does it, and answers that
    {"verb": "create", "how": "hang", "acts": True}        does it, and never answers; "close", "reset" and "garbage" likewise
    {"verb": "create", "status": 0, "delay_s": 2}          the usual answer, but late
    {"verb": "list", "status": 200, "body": "<html>"}      answers with other words
    {"verb": "list", "status": 0, "lack": True}            leaves out the last pod
    {"verb": "*", "skip": 1, "times": -1, ...}             every call but the first, for ever

faults.py has them by name. Verbs are those of the API; "owner" is the get of an owner.
"""

import datetime
import http.server
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

import faults
import schemas

TOKEN = "a-token-of-the-cluster"
# What the role of the shipped manifests lets its account do with pods; nothing else is allowed here.
ROLE = (pathlib.Path(__file__).parents[3] / "packaging/kubernetes/base/account.yaml").read_text()
RIGHTS = re.search(r"resources: \[pods\]\n *verbs: \[(.*)\]", ROLE).group(1).split(", ")
OWNERS = re.search(r"apiGroups: \[(.*)\]\n *resources: \[(.*)\]\n *resourceNames: \[(.*)\]\n *verbs: \[get\]", ROLE)
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
    """gpus: how many pods find a node. worker: the program that stands for the image. tls: speaks HTTPS, and trusts whoever that
    context trusts as a client, without a token."""

    def __init__(self, worker, namespace="gpus", gpus=100, page=2, tls=None):
        self.worker, self.namespace, self.page = worker, namespace, page
        self.nodes = {"node-1": gpus}  # and how many pods each has room for, the one to fill first in front
        self.lock = threading.RLock()
        self.news = threading.Condition(self.lock)
        self.events, self.compacted, self.cuts = [], 0, 0
        self.owners, self.wrong = {}, []
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
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.tls = tls
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_address[1]}"
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

    def fault(self, verb, name=None, times=1, **how):
        with self.lock:
            self.faults.append({"verb": verb, "times": times, "skip": 0, **(faults.NAMED[name] if name else {}), **how})

    def take_fault(self, verb):
        for fault in [fault for fault in self.faults if fault["verb"] in (verb, "*")]:
            if fault["skip"] > 0:
                fault["skip"] -= 1
                continue
            fault["times"] -= 1
            if fault["times"] == 0:
                self.faults.remove(fault)
            return fault
        return {}

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
            self.nodes = {"node-1": gpus}
            self.schedule()

    def own(self, kind, name):
        """Makes an owner; pods go with it when it is disowned."""
        with self.lock:
            plural = kind.lower() + "s"
            uid = str(uuid.uuid4())
            self.owners[f"/apis/apps/v1/namespaces/{self.namespace}/{plural}/{name}"] = {
                "apiVersion": "apps/v1",
                "kind": kind,
                "metadata": {"name": name, "namespace": self.namespace, "uid": uid},
            }
            return uid

    def disown(self, uid):
        with self.lock:
            self.owners = {path: one for path, one in self.owners.items() if one["metadata"]["uid"] != uid}
            self.collect_garbage()

    def collect_garbage(self):
        uids = {one["metadata"]["uid"] for one in self.owners.values()}
        for name, pod in list(self.pods.items()):
            references = pod["metadata"].get("ownerReferences", [])
            if references and not any(one["uid"] in uids for one in references):
                self.delete(name, {})

    def remove(self, name):
        """As somebody else would, or a node that is lost."""
        with self.lock:
            self.delete(name, {})

    def touch(self, pod, kind="MODIFIED"):
        with self.lock:
            self.version += 1
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.events.append((self.version, kind, json.loads(json.dumps(pod))))
            self.news.notify_all()

    def compact(self):
        """Forgets what happened until now: who watches from an earlier version has to list again."""
        with self.lock:
            self.version += 1
            self.events, self.compacted = [], self.version

    def cut(self):
        """Ends every watch in the middle of a line."""
        with self.lock:
            self.cuts += 1
            self.news.notify_all()

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
        if verb == "list" and query.get("watch") in ("1", "true"):
            verb = "watch"
        owner = parts.path if not parts.path.startswith(base) and request.command == "GET" else ""
        verb = "owner" if owner else verb
        with self.lock:
            self.requests.append({"verb": verb, "name": name, "query": query, "body": body})
            fault = self.take_fault(verb)
        self.stopping.wait(fault.get("delay_s", 0))
        how = fault.get("how", "answer")
        with self.lock:
            try:
                # kubectl sends no token in clear text.
                trusted = self.tls or request.headers.get("User-Agent", "").startswith("kubectl/")
                if not trusted and request.headers.get("Authorization") != f"Bearer {TOKEN}":
                    raise Refusal(401, "Unauthorized")
                if verb == "owner":
                    self.check_owner_right(owner)
                elif verb not in RIGHTS:
                    raise Refusal(403, f'pods is forbidden: User "navtalk" cannot {verb} resource "pods"')
                if not owner and not parts.path.startswith(base):
                    raise Refusal(404, f'namespaces "{parts.path}" not found')
                status, value = 500, None
                if verb == "patch" and request.headers.get("Content-Type") != "application/merge-patch+json":
                    raise Refusal(415, "the body of the request was in an unknown format")
                usual = not fault or fault.get("status") == 0
                if usual or fault.get("acts"):
                    status, value = self.act(verb, owner or name, query, body)
                if fault.get("lack"):
                    value["items"] = value["items"][:-1]
                if not usual and how == "answer":
                    headers = {"Retry-After": str(fault["retry_after"])} if "retry_after" in fault else {}
                    if "body" not in fault:
                        raise Refusal(fault["status"], fault.get("message", "a scripted fault"), headers)
                    status, value = fault["status"], fault["body"]
                headers = {}
            except Refusal as refusal:
                status, headers = refusal.status, refusal.headers
                value = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": str(refusal), "code": status}
                value["reason"] = REASONS.get(status, "InternalError")
        if how != "answer":
            return self.misbehave(request, how)
        if verb == "watch" and status == 200 and value is None:
            return self.stream(request, query)
        if status >= 400 and isinstance(value, dict):
            self.judge("status-meta-v1", value)
        self.send(request, status, value, headers, fault.get("type", "application/json"))

    def misbehave(self, request, how):
        request.close_connection = True
        if how == "hang":
            self.stopping.wait(60)
        elif how == "garbage":
            request.wfile.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        elif how == "reset":
            # Closing it then sends RST.
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.connection.close()

    def judge(self, schema, value):
        why = schemas.fault(schema, value)
        if why:
            self.wrong.append(f"{schema} {why}")
        return value

    def check_owner_right(self, path):
        *_, plural, name = path.split("/")
        if not OWNERS or plural not in OWNERS.group(2).split(", ") or name not in OWNERS.group(3).split(", "):
            raise Refusal(403, f'{plural} "{name}" is forbidden: User "navtalk" cannot get resource "{plural}"')

    def stream(self, request, query):
        """A watch: one line of JSON for each change, a bookmark when nothing happens, until its time is over."""
        request.close_connection = True
        key, _, value = query.get("labelSelector", "").partition("=")
        until = time.monotonic() + float(query.get("timeoutSeconds", "1800"))
        request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")

        def line(kind, thing):
            self.judge("watchevent-meta-v1", {"type": kind, "object": thing})
            text = (json.dumps({"type": kind, "object": thing}) + "\n").encode()
            # In two pieces: a reader must not take a piece for a line.
            for part in (text[:9], text[9:]):
                request.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                request.wfile.flush()

        try:
            with self.lock:
                at, cuts = int(query["resourceVersion"]), self.cuts
            while time.monotonic() < until and not self.stopping.is_set():
                with self.lock:
                    new = [event for event in self.events if event[0] > at]
                    cut, gone, now = cuts != self.cuts, at < self.compacted, self.version
                    if not (new or cut or gone):
                        self.news.wait(0.5)
                        new = [event for event in self.events if event[0] > at]
                        cut, gone, now = cuts != self.cuts, at < self.compacted, self.version
                if cut:
                    request.wfile.write(b'40\r\n{"type":"ADDED","obj')
                    request.wfile.flush()
                    request.connection.shutdown(socket.SHUT_RDWR)
                    return
                if gone:
                    words = f"too old resource version: {at} ({self.compacted})"
                    line("ERROR", {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": words, "reason": "Expired", "code": 410})
                    break
                for version, kind, pod in new:
                    at = version
                    if not key or pod["metadata"].get("labels", {}).get(key) == value:
                        self.judge("pod-v1", pod)
                        line(kind, pod)
                if not new and query.get("allowWatchBookmarks") == "true":
                    at = now
                    line("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": str(now)}})
            request.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # nobody listens any more

    @staticmethod
    def send(request, status, value, headers, kind="application/json"):
        text = (value if isinstance(value, str) else json.dumps(value)).encode()
        try:
            request.send_response(status)
            for key, header in {"Content-Type": kind, "Content-Length": str(len(text)), **headers}.items():
                request.send_header(key, header)
            request.end_headers()
            request.wfile.write(text)
        except OSError:
            request.close_connection = True  # it was killed meanwhile

    def act(self, verb, name, query, body):
        if verb == "owner":
            if name not in self.owners:
                raise Refusal(404, f'"{name}" not found')
            return 200, self.judge(self.owners[name]["kind"].lower() + "-apps-v1", self.owners[name])
        if verb == "create":
            why = schemas.fault("pod-v1", body)
            if why:
                raise Refusal(422, f"not a Pod by its schema: {self.wrong.append(why) or why}")
            return 201, self.judge("pod-v1", self.create(body))
        if verb == "list":
            return 200, self.judge("podlist-v1", self.list(query))
        if verb == "watch":
            if int(query["resourceVersion"]) < self.compacted:
                raise Refusal(410, "too old resource version")
            return 200, None
        if name not in self.pods:
            raise Refusal(404, f'pods "{name}" not found')
        if verb == "get":
            return 200, self.judge("pod-v1", self.pods[name])
        if verb == "patch":
            return 200, self.judge("pod-v1", self.patch(name, body or {}))
        if verb == "delete":
            self.judge("deleteoptions-meta-v1", body or {})
            return 200, self.judge("pod-v1", self.delete(name, body or {}))
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
        self.touch(pod, "ADDED")
        self.schedule()
        self.collect_garbage()
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
        self.touch(pod, "DELETED")
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
            used = [other["spec"].get("nodeName") for other in self.pods.values()]
            node = next((node for node, room in self.nodes.items() if used.count(node) < room), None)
            if node:
                self.start(name, pod, node)
            else:
                message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
                condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
                pod["status"]["conditions"] = [condition]
            self.touch(pod)

    def start(self, name, pod, node):
        # Each pod has an address of loopback's own, so that all may listen on one port.
        self.addresses += 1
        number = os.getpid()
        address = f"127.{1 + number // 250 % 250}.{1 + number % 250}.{1 + self.addresses % 250}"
        container = pod["spec"]["containers"][0]
        arguments = [argument.replace("0.0.0.0", address) for argument in container["args"]]
        environment = {variable["name"]: variable["value"] for variable in container["env"]}
        pod["spec"]["nodeName"] = node
        pod["status"] = {"phase": "Running", "podIP": address, "conditions": [{"type": "PodScheduled", "status": "True"}]}
        self.processes[name] = subprocess.Popen(
            [self.worker, *arguments],
            env={"PATH": os.environ["PATH"], **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
