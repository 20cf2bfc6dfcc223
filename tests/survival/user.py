"""Users: WebSocket clients that wait, hold a session and leave, each on a thread of its own."""

import json
import queue
import threading
import time

import websocket

START = json.dumps({"type": "session.start"})
END = json.dumps({"type": "session.end"})
CLOSED = {"type": "closed"}


class Session:
    """One connection of one user, driven by its caller. What comes is read at once: the gateway cuts a client that reads nothing."""

    def __init__(self, url, timeout_s=60):
        self.socket = websocket.create_connection(url.replace("http", "ws") + "/v1/realtime", timeout=timeout_s)
        self.socket.settimeout(None)
        self.positions = []
        self.ready = None
        self.frames = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self.socket.send(START)

    def _read(self):
        """Pictures, sound and the rate that a busy machine keeps up with are passed over."""
        try:
            while frame := self.socket.recv():
                if isinstance(frame, str) and json.loads(frame)["type"] != "quality":
                    self.frames.put(json.loads(frame))
        except (websocket.WebSocketException, OSError, ValueError):
            pass
        self.frames.put(CLOSED)

    def receive(self, timeout_s):
        """The next frame as a dictionary; None when none came in time; CLOSED at the end."""
        try:
            frame = self.frames.get(timeout=max(0.001, timeout_s))
        except queue.Empty:
            return None
        if frame is CLOSED:
            self.frames.put(CLOSED)
        if frame["type"] == "queue.update":
            self.positions.append(frame["position"])
        if frame["type"] == "session.ready":
            self.ready = frame
        return frame

    def wait_ready(self, timeout_s):
        """True with a session; False when it was refused, ended, or too late."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            frame = self.receive(end - time.monotonic())
            if frame and frame["type"] in ("session.ready", "error", "closed"):
                return frame["type"] == "session.ready"
        return False

    def leave(self):
        try:
            self.socket.send(END)
        except (websocket.WebSocketException, OSError):
            pass
        self.drop()

    def drop(self):
        """As a client that is killed: the connection just ends."""
        try:
            self.socket.shutdown()
        except (websocket.WebSocketException, OSError):
            pass


class User(threading.Thread):
    """Comes, holds, leaves and comes again until told to stop. `gateway()` gives the URL to go to, or None.

    counts: sessions, and how connections ended ("left", "gave up", "closed", or an error frame's code).
    """

    def __init__(self, gateway, rng, hold_s=2.0, patience_s=8.0):
        super().__init__(daemon=True)
        self.gateway, self.rng, self.hold_s, self.patience_s = gateway, rng, hold_s, patience_s
        self.counts = {}
        self.rises = 0  # of a queue position
        self.stopping = threading.Event()
        self.start()

    def stop(self):
        self.stopping.set()

    def run(self):
        while not self.stopping.is_set():
            url = self.gateway()
            end = "no gateway"
            if url:
                try:
                    end = self.visit(Session(url, 10))
                except (websocket.WebSocketException, OSError):
                    end = "no connection"
            self.count(end)
            self.stopping.wait(self.rng.uniform(0.02, 0.3))

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def visit(self, session):
        leaves_at = time.monotonic() + self.rng.expovariate(1 / self.patience_s)
        held = False
        try:
            while time.monotonic() < leaves_at and not self.stopping.is_set():
                frame = session.receive(0.2)
                if frame is None:
                    continue
                if frame["type"] == "session.ready":
                    held = True
                    self.count("sessions")
                    leaves_at = time.monotonic() + self.rng.expovariate(1 / self.hold_s)
                elif frame["type"] == "error":
                    return frame["code"]
                elif frame["type"] == "closed":
                    return "closed"
            if held and self.rng.random() < 0.6:
                session.leave()
            return "left" if held else "gave up"
        finally:
            known = [position for position in session.positions if position is not None]
            self.rises += sum(a < b for a, b in zip(known, known[1:]))
            session.drop()
