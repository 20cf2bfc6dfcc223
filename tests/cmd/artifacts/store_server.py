"""A model store on loopback: a web server whose answers can be spoilt, and a bucket that checks every signature by itself."""

import hashlib
import hmac
import http.server
import re
import socketserver
import threading
import time
import urllib.parse
import xml.sax.saxutils

PIECE = 64 * 1024


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Objects by path. `fault(request, path, body)` may answer in its own way and then returns true."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, objects=None, fault=None, credentials=None, port=0):
        self.objects, self.fault, self.credentials = dict(objects or {}), fault, credentials
        self.sent, self.asked, self.refused, self.lock = {}, [], [], threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, path, size):
        with self.lock:
            self.sent[path] = self.sent.get(path, 0) + size

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.give(body)

    def give(self, body):
        for start in range(0, len(body), PIECE):
            self.wfile.write(body[start : start + PIECE])
            self.server.count(self.path, len(body[start : start + PIECE]))

    def cut(self, body, size, status=200, headers=()):
        """The head of the whole, and only so many of its bytes."""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.give(body[:size])
        self.close_connection = True

    def drip(self, body, pause_s):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for start in range(0, len(body), PIECE):
            self.give(body[start : start + PIECE])
            self.wfile.flush()
            time.sleep(pause_s)

    def first_byte(self):
        asked = self.byte_range()
        return asked[0] if asked else None

    def byte_range(self):
        """First and last byte that are asked for; the last one may be None: the end."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        return (int(found[1]), int(found[2]) if found[2] else None) if found else None

    def give_range(self, body):
        """An answer 206 with what is asked for, or 416."""
        first, last = self.byte_range()
        last = len(body) - 1 if last is None else min(last, len(body) - 1)
        if first > last:
            return self.answer(416)
        return self.answer(206, body[first : last + 1], [("Content-Range", f"bytes {first}-{last}/{len(body)}")])

    def admitted(self, body):
        """Whether the request is signed, or nobody has to."""
        if self.server.credentials is None:
            return True
        problem = signature_problem(self.command, self.path, self.headers, body, *self.server.credentials)
        if problem:
            with self.server.lock:
                self.server.refused.append((self.command, self.path, problem))
            self.answer(403, f"<Error><Message>{xml.sax.saxutils.escape(problem)}</Message></Error>".encode())
        return not problem

    def serve(self):
        with self.server.lock:
            self.server.asked.append((self.command, self.path, self.headers.get("Range")))
        body = self.server.objects.get(self.path)
        try:
            if not self.admitted(b"") or (self.server.fault and self.server.fault(self, self.path, body)):
                return
            first = self.first_byte()
            if body is None:
                self.answer(404)
            elif first is None:
                self.answer(200, body)
            else:
                self.give_range(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_HEAD = serve

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.asked.append(("PUT", self.path, None))
        if not self.admitted(body):
            return
        if self.server.fault and self.server.fault(self, self.path, body):
            return
        self.server.objects[self.path] = body
        self.answer(200)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature_problem(method, target, headers, body, access_key, secret_key, token, region):
    """What is wrong with a request's Signature Version 4, by Amazon's description of it; empty when it is right."""
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})",
        headers.get("Authorization", ""),
    )
    if not found:
        return "no signature"
    key_id, day, signed_region, names, signature = found.groups()
    if (key_id, signed_region) != (access_key, region):
        return f"signed by {key_id} for {signed_region}"
    if headers.get("x-amz-content-sha256") != sha256(body):
        return "x-amz-content-sha256 is not that of the body"
    if (headers.get("x-amz-security-token") or "") != token:
        return "the session token is wrong"
    moment = headers.get("x-amz-date", "")
    if not moment.startswith(day):
        return "the dates differ"
    signed = names.split(";")
    must = {"host"} | {name.lower() for name in headers if name.lower().startswith("x-amz-")}
    if not must <= set(signed) or signed != sorted(signed):
        return f"the headers {names} are signed"
    path, _, query = target.partition("?")
    path = urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~")
    canonical = [method, path, "&".join(sorted(query.split("&")))]
    canonical += [f"{name}:{' '.join(headers[name].split())}" for name in signed]
    canonical += ["", names, headers["x-amz-content-sha256"]]
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, sha256("\n".join(canonical).encode())])
    key = ("AWS4" + secret_key).encode()
    for part in (day, region, "s3", "aws4_request"):
        key = sign(key, part)
    return "" if hmac.compare_digest(sign(key, text).hex(), signature) else "the signature is wrong"
