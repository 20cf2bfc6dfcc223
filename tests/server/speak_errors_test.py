"""usage: speak_errors_test.py EXAMPLE   examples/speak.py tells why a session ended, and sends its API key, to a gateway that is faked"""

import base64
import hashlib
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import wave

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "survival"))

import needs_websocket  # noqa: E402, F401   the example's

KEY = "nt_a-key-of-these-tests"
HANDSHAKE = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455
READY = {"type": "session.ready", "session": "1", "avatar": "ada"}
TEXT, CLOSE = 1, 8


class Gateway:
    """Takes one connection with KEY, answers session.start with the events `first`, sound with `then`, and closes; without `first` it
    closes at once. A connection without KEY gets 401."""

    def __init__(self, first, then):
        self.first, self.then = first, then
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection = self.listener.accept()[0]
        with connection, connection.makefile("rb") as stream:
            headers = {}
            while (line := stream.readline().decode().strip()) != "":
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            if headers.get("authorization") != f"Bearer {KEY}":
                connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
                return
            accept = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + HANDSHAKE).encode()).digest()).decode()
            connection.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
            self.receive(stream)  # session.start
            for event in self.first:
                self.send(connection, TEXT, json.dumps(event).encode())
            if self.first and not self.receive(stream):
                return
            for event in self.then:
                self.send(connection, TEXT, json.dumps(event).encode())
            self.send(connection, CLOSE, struct.pack(">H", 1011))
            stream.read()  # until the client has closed it: nothing that was sent is lost

    @staticmethod
    def receive(stream):
        """One masked frame, whose content does not matter; False when the client has gone."""
        head = stream.read(2)
        if len(head) < 2:
            return False
        length = head[1] & 127
        if length == 126:
            length = struct.unpack(">H", stream.read(2))[0]
        return len(stream.read(4 + length)) == 4 + length

    @staticmethod
    def send(connection, kind, content):
        size = bytes([len(content)]) if len(content) < 126 else struct.pack(">BH", 126, len(content))
        connection.sendall(bytes([0x80 | kind]) + size + content)

    def close(self):
        self.listener.close()


def speak(example, folder, url, *options, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
    command = [sys.executable, example, folder / "speech.wav", folder / "out.mp4", "--url", url, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**environment, **variables})
    assert "Traceback" not in done.stderr, done.stderr
    return done


def ends(example, folder, first, then):
    gateway = Gateway(first, then)
    done = speak(example, folder, gateway.url, NAVTALK_API_KEY=KEY)
    gateway.close()
    assert done.returncode == 1, f"exit status {done.returncode}: {done.stderr}"
    return done.stderr


def tells_errors(example, folder):
    lost = {"type": "error", "code": "worker_lost", "message": "no other GPU was obtained in time"}
    told = ends(example, folder, [READY], [lost])
    assert "worker_lost: no other GPU was obtained in time" in told, told
    full = {"type": "error", "code": "no_capacity", "message": "no GPU and no place in the queue"}
    told = ends(example, folder, [full], [])
    assert "no_capacity: no GPU and no place in the queue" in told, told
    told = ends(example, folder, [READY], [])
    assert "the session ended early: the gateway closed" in told, told
    told = ends(example, folder, [], [])
    assert "ended before the session began" in told, told


def sends_its_key(example, folder):
    for options, said in (([], "needs an API key"), (["--key-file", folder / "wrong"], "refuses this API key"),
                          (["--key-file", folder / "missing"], "cannot read the API key")):
        gateway = Gateway([READY], [])
        done = speak(example, folder, gateway.url, *options)
        gateway.close()
        assert done.returncode == 1 and said in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
    gateway = Gateway([READY], [])
    done = speak(example, folder, gateway.url, "--key-file", folder / "key")
    gateway.close()
    assert "session.ready" in done.stdout, done.stderr


def main():
    example = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with wave.open(str(folder / "speech.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes(bytes(2 * 16000))
        (folder / "key").write_text(KEY + "\nits id\n")
        (folder / "wrong").write_text("another\n")
        tells_errors(example, folder)
        sends_its_key(example, folder)


main()
