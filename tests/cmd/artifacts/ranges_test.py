"""usage: ranges_test.py NAVTALK   a large file comes in ranges over several connections, from servers that cut, stall and lie"""

import contextlib
import json
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from store_server import PIECE, sha256  # noqa: E402
from store_test import PATIENCE_S, PROGRAM, Store, environment, files_of  # noqa: E402

MIB = 1 << 20
LARGE = random.Random(7).randbytes(50 * MIB + 12_345)
KEY = "/blobs/" + sha256(LARGE)
COPIES = 64


def store():
    """A store with one model, which is one large file."""
    file = {"path": "unet.bin", "bytes": len(LARGE), "sha256": sha256(LARGE), "key": KEY[1:]}
    manifest = {"format": "navtalk-artifact", "format_version": 1, "kind": "model", "name": "m", "files": [file]}
    return {"/models/m/manifest.json": json.dumps(manifest).encode(), KEY: LARGE}


def spoilt():
    """The same with a wrong byte in each piece, so that every range of it is a lie."""
    body = bytearray(LARGE)
    for at in range(0, len(body), MIB):
        body[at] ^= 1
    return {**store(), KEY: bytes(body)}


class Ranges(Store):
    def pull(self, *servers, **variables):
        sources = [argument for server in servers for argument in ("--source", server.url)]
        pulled = self.navtalk("model", "pull", "m", *sources, **variables)
        self.assertEqual((pathlib.Path(pulled["path"]) / "unet.bin").read_bytes(), LARGE)
        return pulled

    def assert_one_copy(self, *servers):
        """On a busy machine a connection may lose its range, and what it had in the network is sent twice."""
        sent = sum(server.sent[KEY] for server in servers)
        self.assertGreaterEqual(sent, len(LARGE))
        self.assertLess(sent, 2 * len(LARGE))

    def ranges_asked(self, server):
        return [asked for command, path, asked in server.asked if command == "GET" and path == KEY]

    def test_several_connections_fetch_one_copy_together(self):
        met, first, alone = threading.Barrier(3), threading.Semaphore(3), []

        def meet(request, path, _body):
            """The first three ranges are answered when three were asked for."""
            if path == KEY and request.byte_range() and first.acquire(blocking=False):
                try:
                    met.wait(PATIENCE_S)
                except threading.BrokenBarrierError:
                    alone.append(path)
            return False

        server = self.server(store(), meet)
        self.pull(server)
        self.assertEqual(alone, [])
        self.assert_one_copy(server)

    def test_two_stores_that_hold_it_send_one_copy_together(self):
        one, other = self.server(store()), self.server(store())
        self.pull(one, other)
        self.assertTrue(self.ranges_asked(one))
        self.assertTrue(self.ranges_asked(other))
        self.assert_one_copy(one, other)

    def test_a_store_that_stalls_loses_its_ranges_to_the_other(self):
        stalled, given_up_after = [], []

        def stall(request, path, body):
            if path != KEY or request.command != "GET":
                return False
            stalled.append(request.first_byte())
            request.send_response(206)
            first, last = request.byte_range()
            request.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
            request.send_header("Content-Length", str(last + 1 - first))
            request.end_headers()
            request.give(body[first : first + PIECE])
            request.wfile.flush()
            begun = time.monotonic()
            request.rfile.read(1)  # until the client is gone
            given_up_after.append(time.monotonic() - begun)
            request.close_connection = True
            return True

        bad, good = self.server(store(), stall), self.server(store())
        self.pull(bad, good)
        self.assertTrue(stalled)
        self.assertLess(min(given_up_after), 18)  # a stall is a fault after 20 s
        self.assert_one_copy(bad, good)

    def test_a_store_that_cuts_every_answer_and_one_without_ranges_send_the_right_bytes(self):
        def cut(request, path, body):
            if path != KEY or request.command != "GET" or request.byte_range() is None:
                return False
            first, last = request.byte_range()
            last = len(body) - 1 if last is None else last
            request.cut(body[first : last + 1], max(MIB // 2, (last + 1 - first) * 3 // 8), 206, [("Content-Range", f"bytes {first}-{last}/{len(body)}")])
            return True

        server = self.server(store(), cut)
        self.pull(server)
        self.assert_one_copy(server)
        plain = self.server(store(), lambda request, path, body: path == KEY and (request.answer(200, body) or True))
        self.pull(plain, CACHE_DIRECTORY=str(self.folder / "other"))

    def test_of_two_stores_the_one_that_lies_is_found(self):
        good = self.server(store())
        for order in (0, 1):
            bad = self.server(spoilt())
            servers = [bad, good] if order else [good, bad]
            self.pull(*servers, CACHE_DIRECTORY=str(self.folder / f"cache{order}"))
            self.assertTrue(self.ranges_asked(bad))
        bad = self.server(spoilt())
        alone = self.failed(1, "model", "pull", "m", "--source", bad.url, CACHE_DIRECTORY=str(self.folder / "alone"))
        self.assertIn("do not have the SHA-256 of the manifest", alone)
        self.assertEqual(list((self.folder / "alone/artifacts/blobs").iterdir()), [])

    def test_a_killed_process_is_continued_by_the_next_also_where_ranges_came_ahead(self):
        reached, choosing, held = threading.Event(), threading.Lock(), []

        def hold(request, path, body):
            """Of the first range from 16 MiB on nothing comes, and of the next one half."""
            if path != KEY or not request.byte_range():
                return False
            first, last = request.byte_range()
            with choosing:
                if (not held and first >= 16 * MIB) or (len(held) == 1 and first == held[0][1]):
                    held.append((first, last + 1))
            if held and first == held[0][0]:
                reached.wait(PATIENCE_S)
            if len(held) == 2 and first == held[1][0]:
                request.send_response(206)
                request.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
                request.send_header("Content-Length", str(last + 1 - first))
                request.end_headers()
                request.give(body[first : (first + last) // 2])
                request.wfile.flush()
                reached.wait(PATIENCE_S)
                request.close_connection = True
                return True
            return False

        def came_ahead():
            """All before the first of them is written, and half of the second one is there."""
            if len(held) < 2 or not partial.exists():
                return False
            first, end = held[1]
            half = partial.with_name(f"{partial.name}.{first}")
            return half.exists() and half.stat().st_size >= (end - first) // 3 and partial.stat().st_size >= held[0][0]

        server = self.server(store(), hold)
        partial = self.folder / "cache/artifacts/partial" / sha256(LARGE)
        arguments = [PROGRAM, "model", "pull", "m", "--source", server.url]
        with subprocess.Popen(arguments, env=environment(self.folder), cwd=self.folder, stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + PATIENCE_S
            while not came_ahead():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        kept = partial.stat().st_size
        self.assertEqual(partial.read_bytes(), LARGE[:kept])
        ahead = {int(path.suffix[1:]): path.read_bytes() for path in partial.parent.glob("*.*")}
        begin = held[1][0]
        self.assertEqual(ahead[begin], LARGE[begin : begin + len(ahead[begin])])
        reached.set()
        second = self.server(store())
        self.pull(second)
        self.assertTrue(self.ranges_asked(second))
        for asked in self.ranges_asked(second):
            first, last = map(int, asked.removeprefix("bytes=").split("-"))
            self.assertGreaterEqual(first, kept)
            for begin, body in ahead.items():
                self.assertFalse(first < begin + len(body) and begin <= last, f"{asked}, and {len(body)} bytes from {begin} on were there")
        self.assertEqual(list(partial.parent.iterdir()), [])

    def test_64_workers_that_start_at_once_take_one_copy(self):
        server = self.server(store())
        arguments = [PROGRAM, "model", "pull", "m", "--source", server.url, "--json"]
        with contextlib.ExitStack() as stack:
            started = [
                stack.enter_context(subprocess.Popen(arguments, env=environment(self.folder), cwd=self.folder, stdout=subprocess.PIPE))
                for _ in range(COPIES)
            ]
            answers = [json.loads(process.communicate(timeout=PATIENCE_S)[0]) for process in started]
        self.assertEqual({process.returncode for process in started}, {0})
        self.assert_one_copy(server)
        self.assertEqual(sum(answer["downloaded_bytes"] for answer in answers), len(LARGE))
        self.assertEqual(sorted(files_of(self.folder / "cache/artifacts/blobs")), [sha256(LARGE)])


if __name__ == "__main__":
    unittest.main()
