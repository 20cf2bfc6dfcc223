"""usage: hub_test.py NAVTALK   a model comes from a hub's repository as it is, whose files the hub redirects elsewhere"""

import hashlib
import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from store_server import sha256  # noqa: E402
from store_test import Store  # noqa: E402

LARGE = random.Random(3).randbytes(20 << 20)
FILES = {"unet/unet.bin": LARGE, "unet/config.json": b'{"a": 1}', "whisper/vocabulary.json": b"{}"}
LISTING = "/api/models/org/net/tree/main?recursive=true"
PLACE = "/org/net/resolve/main/"
TOKEN = "hidden-hub-token"


def entry(path, body, kind="file"):
    """A file as the hub lists it; .bin files are in Git LFS."""
    listed = {"type": kind, "path": path, "size": len(body), "oid": hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()}
    if path.endswith(".bin"):
        pointer = b"version 1\noid sha256:" + sha256(body).encode()
        listed |= {"oid": hashlib.sha1(pointer).hexdigest(), "lfs": {"oid": sha256(body), "size": len(body), "pointerSize": len(pointer)}}
    return listed


class Hub(Store):
    def setUp(self):
        super().setUp()
        self.listing = [entry(path, body) for path, body in FILES.items()]
        self.listing += [entry("unet", b"", "directory"), entry(".gitattributes", b"*.bin filter=lfs"), entry("empty.txt", b"")]
        self.link, self.private, self.moved, self.tokens = None, False, None, []
        self.elsewhere = self.server({"/cdn/" + path: body for path, body in FILES.items()}, self.note)
        self.hub = self.server({}, self.answer)

    def note(self, request, path, _body):
        self.tokens.append((path, request.headers.get("Authorization")))
        return False

    def answer(self, request, path, _body):
        self.tokens.append((path, request.headers.get("Authorization")))
        name = path.removeprefix(PLACE)
        if self.private and request.headers.get("Authorization") != f"Bearer {TOKEN}":
            request.answer(401)
        elif path == LISTING:
            request.answer(200, json.dumps(self.listing).encode(), [("Link", self.link)] if self.link else [])
        elif name.endswith(".bin"):
            request.answer(302, headers=[("Location", self.moved or f"{self.elsewhere.url}/cdn/{name}")])
        elif name in FILES:
            request.answer(200, FILES[name])
        else:
            request.answer(404)
        return True

    @property
    def source(self):
        return self.hub.url + PLACE.rstrip("/")

    def pull(self, **variables):
        return self.navtalk("model", "pull", "net", "--source", self.source, **variables)

    def refused(self, **variables):
        message = self.failed(1, "model", "pull", "net", "--source", self.source, **variables)
        self.assertFalse((self.folder / "cache/artifacts/models/net").exists())
        return message

    def test_a_repository_is_the_model_of_its_name(self):
        pulled = self.pull()
        came = {path: (pathlib.Path(pulled["path"]) / path).read_bytes() for path in FILES}
        self.assertEqual(came, FILES)
        self.assertEqual(pulled["files"], len(FILES))
        # A range that waits for seconds on a busy machine is asked for twice.
        self.assertGreaterEqual(self.elsewhere.sent["/cdn/unet/unet.bin"], len(LARGE))
        self.assertLess(self.elsewhere.sent["/cdn/unet/unet.bin"], 2 * len(LARGE))
        self.assertEqual(self.pull()["downloaded_bytes"], 0)
        # Each connection is redirected once, whatever number of ranges it fetches.
        self.assertLessEqual(sum(path.endswith(".bin") for _, path, _ in self.hub.asked), 4)
        self.assertIn("no source of models has the model other", self.failed(4, "model", "pull", "other", "--source", self.source))

    def test_the_token_goes_to_the_hub_and_nowhere_else(self):
        self.private = True
        self.assertIn("401, which refuses access: set NAVTALK_HUB_TOKEN", self.refused())
        done = self.run_navtalk("model", "pull", "net", "--source", self.source, "--log-level", "trace", NAVTALK_HUB_TOKEN=TOKEN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(TOKEN, done.stdout + done.stderr)
        sent = dict(self.tokens)
        self.assertEqual(sent[LISTING], f"Bearer {TOKEN}")
        self.assertIn("/cdn/unet/unet.bin", sent)
        self.assertEqual({token for path, token in self.tokens if path.startswith("/cdn/")}, {None})

    def test_content_that_has_not_the_sums_of_the_list_is_refused(self):
        good = self.listing
        self.listing = [{**one, "oid": "0" * 40} if one["path"] == "unet/config.json" else one for one in good]
        self.assertIn("do not have the git id of the hub's list", self.refused())
        self.listing = [{**one, "lfs": {**one["lfs"], "oid": "0" * 64}} if "lfs" in one else one for one in good]
        message = self.failed(1, "model", "pull", "net", "--source", self.source)
        self.assertIn("do not have the SHA-256", message)
        self.assertNotIn("0" * 64, [path.name for path in (self.folder / "cache/artifacts/blobs").iterdir()])

    def test_a_list_that_leads_elsewhere_or_is_not_all_is_refused(self):
        good = self.listing
        for path in ("../out.json", "/etc/out.json", "a/../../out.json", "a//b.json", "a/./b.json"):
            self.listing = [*good, entry(path, b"{}")]
            self.assertIn("leads out of the folder", self.refused())
        self.listing = [*good, good[0]]
        self.assertIn("twice", self.refused())
        self.listing = {"error": "none"}
        self.assertIn("it is not a list", self.refused())
        self.listing, self.link = good, f'<{self.hub.url}/next>; rel="next"'
        self.assertIn("more files than the hub lists at once", self.refused())

    def test_a_redirect_to_http_beyond_this_machine_or_in_a_circle_is_refused(self):
        for self.moved in ("http://192.0.2.1/cdn", f"{self.hub.url}{PLACE}unet/unet.bin", "ftp://127.0.0.1/cdn"):
            self.assertIn("redirects to an address that is not allowed", self.failed(1, "model", "pull", "net", "--source", self.source))

    def test_a_name_that_a_store_cannot_hold_is_left_out_with_a_warning(self):
        self.listing.append(entry("pictures/a b.png", b"x"))
        done = self.run_navtalk("model", "pull", "net", "--source", self.source)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pictures/a b.png", done.stderr)

    def test_a_manifest_in_the_repository_counts_instead_of_the_list(self):
        file = {"path": "only.json", "bytes": 8, "sha256": sha256(FILES["unet/config.json"]), "key": "unet/config.json"}
        manifest = {"format": "navtalk-artifact", "format_version": 1, "kind": "model", "name": "net", "files": [file]}
        self.addCleanup(FILES.pop, "models/net/manifest.json")
        FILES["models/net/manifest.json"] = json.dumps(manifest).encode()
        self.assertEqual(self.pull()["files"], 1)

    def test_a_hub_is_not_pushed_to(self):
        (self.folder / "a").mkdir()
        message = self.failed(1, "avatar", "push", str(pathlib.Path(__file__).resolve().parents[3] / "assets/demo/avatars/ada"), "--source", self.source)
        self.assertIn("can only be read", message)


if __name__ == "__main__":
    unittest.main()
