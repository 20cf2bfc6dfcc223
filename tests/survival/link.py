"""A TCP link between a gateway and a worker on loopback, which treats the connections of jobs as a test wants."""

import contextlib
import socket
import threading
import time

PIECE = 512  # bytes
LATE_S = 0.5  # what a link that was late for its next piece makes good


class Link:
    """`refuses`: jobs are answered with 503. `bytes_per_s`: what comes back on a job's connection; None: as it comes."""

    def __init__(self, port):
        self.port = port
        self.refuses = False
        self.bytes_per_s = None
        self.refused = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def close(self):
        self.listener.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self.port)) as worker:
            first = client.recv(65536)
            job = first.startswith(b"GET /v1/job?")
            if job and self.refuses:
                self.refused += 1
                client.sendall(b"HTTP/1.1 503 Service Unavailable\r\nX-Navtalk-Protocol: 1\r\nContent-Length: 0\r\n\r\n")
                return
            worker.sendall(first)
            threading.Thread(target=self._pass, args=(client, worker, False), daemon=True).start()
            self._pass(worker, client, job)

    def _pass(self, source, target, slow):
        due = 0  # when the next piece may pass
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE if slow and self.bytes_per_s else 65536):
                target.sendall(piece)
                if slow and self.bytes_per_s:
                    due = max(due, time.monotonic() - LATE_S) + len(piece) / self.bytes_per_s
                    time.sleep(max(0, due - time.monotonic()))
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
