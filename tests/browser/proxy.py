"""A TCP proxy on loopback whose connections a test may cut."""

import contextlib
import socket
import struct
import threading


class Proxy:
    def __init__(self, host, port):
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.sockets = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(self.target)
                with self.lock:
                    self.sockets |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self):
        """Resets every connection."""
        with self.lock:
            for one in self.sockets:
                with contextlib.suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
            self.sockets.clear()

    def close(self):
        self.listener.close()
        self.cut()
