"""usage: bench_table_test.py ROOT   the short table of bench/gpu/run, from results as the benches write them"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


def image(device, name, median, batch=8, size="720p", area="frame"):
    return {"name": name, "device": device, "size": size, "area": area, "batch": batch, "median": median, "p99": 99.0}


def peer(way, batch, unet, decoder, frame):
    return {"way": way, "batch": batch, "unet": unet, "decoder": decoder, "frame": frame, "ms_per_frame": frame / batch,
            "frames_per_second": 1000 * batch / frame, "pictures_per_second": 1.0}


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, rows, separators):
        (self.folder / name).write_text(json.dumps({"machine": {"cpu": "x"}, "rows": rows}, separators=separators))

    def lines(self):
        """The table's lines as words."""
        done = subprocess.run([ROOT / "bench/gpu/run", "--table", self.folder], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return [line.split() for line in done.stdout.splitlines() if line]

    def test_the_articles_operations_on_whole_frames_of_the_largest_batch(self):
        rows = [image("cpu", "resize, linear", 9.0, batch=1)]
        rows += [image("cpu", "resize, linear", 0.8), image("cpu", "unsharp mask", 3.25), image("cpu", "blend", 1.5)]
        rows += [image("cuda:0", "resize, linear", 2e-3), image("cuda:0", "unsharp mask", 0.0025), image("cuda:0", "copy to host", 0.055)]
        rows += [image("cpu", "blend", 7.0, area="face"), image("cuda:0", "blend", 7.0, size="1080p")]
        self.write("image.json", rows, (",", ":"))  # as navtalk writes it
        lines = self.lines()
        self.assertEqual(lines[0], ["720p", "frame,", "batch", "8", "CPU", "ms", "GPU", "ms", "ratio"])
        self.assertEqual(lines[1], ["resize", "0.800", "0.00200", "400x"])
        self.assertEqual(lines[2], ["sharpening", "3.250", "0.00250", "1300x"])
        self.assertEqual(lines[3], ["blending", "1.500", "-", "-"])  # the GPU's is missing
        self.assertEqual(lines[4], ["transfer", "0.055", "none", "-"])

    def test_navtalks_nets_stand_beside_the_best_of_python(self):
        self.write("peer.json", [peer("fp16", 1, 14.0, 3.0, 16.0), peer("fp16", 8, 24.0, 16.0, 40.0),
                                 peer("fp16 channels_last", 8, 20.0, 12.0, 32.0)], (", ", ": "))
        way = {"precision": "fp16", "way": "graphs", "clock": "events", "batch": 8}
        names = {"unet": 0.5, "decoder": 0.75, "faces": 1.2, "paste": 0.004, "frame": 1.25}
        rows = [way | {"clock": "host", "name": "pictures", "median": 1.6, "frames_per_second": 625.0, "memory_bytes": 1}]
        rows += [way | {"name": name, "median": median} for name, median in names.items()]
        rows += [way | {"way": "launches", "batch": 2, "name": "unet", "median": 0.25},
                 way | {"way": "launches", "batch": 2, "name": "faces", "median": 0.5}]
        self.write("nets.json", rows, (",", ":"))
        host = {"precision": "fp16", "batch": 8}
        # A row of the device's clock has the host's inside, which is not what counts.
        self.write("pipeline.json", [host | {"name": "unet", "median": 0.6, "host": {"median": 7.0}}, host | {"name": "decoder", "median": 0.8},
                                     host | {"name": "frame", "median": 2.0}], (",", ":"))
        lines = self.lines()
        self.assertEqual(lines[0], ["nets", "batch", "UNet", "decoder", "paste", "frame", "frames/s"])
        self.assertEqual(lines[1:4], [["Python", "fp16", "1", "14.000", "3.000", "-", "16.000", "62.5"],
                                      ["Python", "fp16", "8", "3.000", "2.000", "-", "5.000", "200.0"],
                                      ["Python", "fp16", "channels_last", "8", "2.500", "1.500", "-", "4.000", "250.0"]])
        # Times by the host's clock, of which Python has none here, are held against nothing.
        self.assertEqual(lines[4], ["navtalk", "fp16", "pictures", "8", "-", "-", "-", "1.600", "625.0"])
        self.assertEqual(lines[5], ["navtalk", "fp16", "graphs", "8", "0.500", "0.750", "0.004", "1.250", "800.0", "3.20x", "of", "Python"])
        self.assertEqual(lines[6], ["navtalk", "fp16", "launches", "2", "0.250", "-", "-", "0.500", "2000.0"])
        self.assertEqual(lines[7], ["navtalk", "fp16", "pipeline", "8", "0.600", "0.800", "-", "2.000", "500.0"])
        # 625 pictures a second, by the host's clock, of which a session shows 25.
        self.assertEqual(lines[-1][:11], ["live", "sessions", "of", "25", "pictures", "a", "second:", "25", "at", "most,", "by"])

    def test_without_results_there_is_no_table(self):
        self.assertEqual(self.lines(), [])


if __name__ == "__main__":
    unittest.main()
