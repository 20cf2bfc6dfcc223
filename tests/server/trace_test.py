"""usage: trace_test.py NAVTALK   a gateway tells an OpenTelemetry collector the way of its sessions"""

import http.server
import json
import re
import threading
import time
import unittest

from patience import eventually
from serve_process import START, Process, next_picture, receive

HEX = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
KINDS = {"stringValue": str, "intValue": str, "doubleValue": float, "boolValue": bool}


def attributes(entries):
    found = {}
    for entry in entries:
        ((kind, value),) = entry["value"].items()
        assert isinstance(value, KINDS[kind]), entry
        found[entry["key"]] = value
    return found


class Collector:
    """Takes OTLP over HTTP in JSON, and refuses what the protocol does not have."""

    def __init__(self, statuses=()):
        self.spans, self.statuses, self.resources, self.authorizations = [], list(statuses), [], []
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *unused):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = collector.statuses.pop(0) if collector.statuses else 200
                if status == 200:
                    try:
                        assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
                        collector.authorizations.append(self.headers["Authorization"])
                        collector.take(json.loads(body))
                    except (AssertionError, KeyError, ValueError) as error:
                        status = 400
                        collector.spans.append({"name": f"refused: {error!r} {body[:300]}"})
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1/traces"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, request):
        assert set(request) == {"resourceSpans"}
        for resource in request["resourceSpans"]:
            self.resources.append(attributes(resource["resource"]["attributes"]))
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    self.check(span)
                    self.spans.append(span)

    @staticmethod
    def check(span):
        for name, digits in HEX.items():
            assert re.fullmatch(f"[0-9a-f]{{{digits}}}", span.get(name, "0" * digits)), name
        assert span["kind"] in (1, 2, 3)
        begin, end = span["startTimeUnixNano"], span["endTimeUnixNano"]
        assert isinstance(begin, str) and int(begin) <= int(end) <= (time.time() + 1) * 1e9
        attributes(span.get("attributes", []))

    def named(self, name):
        return [span for span in self.spans if span["name"] == name]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Traces(unittest.TestCase):
    def start(self, collector, **environment):
        self.addCleanup(collector.close)
        environment = {"NAVTALK_TRACE_URL": collector.url, "NAVTALK_LOCAL_DEVICES": "cpu", **environment}
        serve = Process("--listen", "127.0.0.1:0", **environment)
        self.addCleanup(lambda: serve.process.poll() is not None or serve.end())
        return serve

    def session(self, serve):
        socket = serve.connect()
        socket.send(START)
        name = receive(socket, "session.ready")["session"]
        next_picture(socket)
        socket.send(json.dumps({"type": "session.end"}))
        return name

    def test_a_session_tells_its_allocation_its_connection_and_its_first_picture(self):
        # The first two requests are refused for a while, and sent again.
        collector = Collector(statuses=[503, 429])
        serve = self.start(collector, NAVTALK_TRACE_AUTHORIZATION="Bearer of-this-test")
        name = self.session(serve)
        eventually(lambda: collector.named("session"), "the session's trace")
        (whole,) = collector.named("session")
        parts = {span["name"]: span for span in collector.spans if span is not whole}
        self.assertEqual(set(parts), {"allocation", "connect", "first picture"})
        self.assertEqual({span["traceId"] for span in collector.spans}, {whole["traceId"]})
        self.assertEqual({span["parentSpanId"] for span in parts.values()}, {whole["spanId"]})
        self.assertNotIn("parentSpanId", whole)
        self.assertEqual(attributes(whole["attributes"])["navtalk.session"], name)
        self.assertEqual(attributes(parts["connect"]["attributes"])["navtalk.provider"], "local")
        # One after the other, within the whole, without a gap.
        times = [int(span[end]) for span in (parts["allocation"], parts["connect"], parts["first picture"]) for end in ("startTimeUnixNano", "endTimeUnixNano")]
        self.assertEqual(times, sorted(times))
        self.assertEqual((times[0], times[1], times[3]), (int(whole["startTimeUnixNano"]), times[2], times[4]))
        self.assertLessEqual(times[5], int(whole["endTimeUnixNano"]))
        self.assertEqual(collector.resources[0]["service.name"], "navtalk")
        self.assertEqual(set(collector.authorizations), {"Bearer of-this-test"})
        self.assertNotIn("status", whole)

    def test_a_session_that_never_got_a_worker_says_so_when_the_gateway_ends(self):
        collector = Collector()
        serve = self.start(collector, NAVTALK_LOCAL_DEVICES="none")
        socket = serve.connect()
        socket.send(START)
        receive(socket, "queue.update")
        socket.close()
        serve.end()
        eventually(lambda: collector.named("session"), "the session's trace")
        self.assertEqual(collector.named("session")[0]["status"]["code"], 2)
        self.assertEqual({span["name"] for span in collector.spans}, {"session", "allocation"})

    def test_a_job_tells_its_wait_its_run_and_its_segments(self):
        collector = Collector()
        serve = self.start(collector, NAVTALK_POOL_FREE_RUNNING_GPU="1")
        job = {"avatar": "ada", "text": "A short sentence is enough.", "output": {"width": 64, "fps": 2}}
        status, body = serve.ask("POST", "/v1/jobs", job)
        self.assertEqual(status, 202, body)
        eventually(lambda: collector.named("job"), "the job's trace")
        (whole,), (run,) = collector.named("job"), collector.named("run")
        about = attributes(whole["attributes"])
        self.assertEqual((about["navtalk.job"], about["navtalk.state"]), (json.loads(body)["id"], "done"))
        self.assertNotIn("status", whole)
        self.assertTrue(attributes(run["attributes"])["navtalk.gpu"].startswith("local-"))
        (result,), (allocation,) = collector.named("result"), collector.named("allocation")
        for part, parent in ((run, whole), (allocation, whole), (result, run), *((one, run) for one in collector.named("segment"))):
            self.assertEqual((part["parentSpanId"], part["traceId"]), (parent["spanId"], whole["traceId"]))
        self.assertEqual((allocation["endTimeUnixNano"], result["endTimeUnixNano"]), (run["startTimeUnixNano"], run["endTimeUnixNano"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
