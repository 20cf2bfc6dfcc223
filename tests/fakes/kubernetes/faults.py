"""The misbehaviours of the fake API server by name: those of the fake Runpod, in the words of Kubernetes.

Two of them are of Runpod alone: a pod of a cluster does not resume, and an account of a cluster has no balance; its quota stands for that.
"""

NAMED = {
    "rate-limited": {"status": 429, "retry_after": 1},
    "server-error": {"status": 500},
    "unavailable": {"status": 503, "retry_after": 1},
    "done-but-500": {"status": 500, "acts": True},
    "done-but-reset": {"how": "reset", "acts": True},
    "done-but-closed": {"how": "close", "acts": True},
    "done-but-silent": {"how": "hang", "acts": True},
    "done-but-late": {"status": 0, "delay_s": 2, "acts": True},
    "no-capacity": {"status": 403, "message": 'pods "x" is forbidden: exceeded quota: gpus, requested: 1, used: 4, limited: 4'},
    "broken-rule": {"status": 400, "message": "the request could not be understood"},
    "bad-key": {"status": 401, "message": "Unauthorized"},
    "forbidden": {"status": 403, "message": "pods is forbidden: cannot do that"},
    "edge-html": {"status": 502, "body": "<html><h1>Bad gateway</h1></html>", "type": "text/html"},
    "edge-text": {"status": 404, "body": "default backend - 404", "type": "text/plain"},
    "conflict": {"status": 409, "message": "Operation cannot be fulfilled: the object has been modified"},
    "api-gone": {"status": 410, "message": "The provided continue parameter is too old"},
    "not-found": {"status": 404, "message": 'pods "x" not found'},
    "unprocessable": {"status": 422, "message": 'Pod "x" is invalid'},
    "too-large": {"status": 413, "message": "Request entity too large"},
    "short-list": {"status": 0, "acts": True, "lack": True},
    "empty-list": {"status": 200, "body": {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}},
    "garbage": {"how": "garbage"},
    "silent": {"how": "hang"},
    "reset": {"how": "reset"},
}
