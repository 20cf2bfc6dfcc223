"""usage: dockerfile.py ROOT   fails where packaging/Dockerfile asks for what the tree does not have; needs no docker

Checked: what it copies is there and not left out by .dockerignore; scripts that it runs are there when they run, and executable;
presets, build folders and stages exist; options of its command are navtalk's; it listens where it exposes, for every
address; it runs as another user than root, on the Debian that navtalk is for.
"""

import fnmatch
import json
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
SCRIPT = re.compile(r"(?<![\w/.-])((?:scripts|packaging)/[a-z-]+)")
STAGE = re.compile(r"(\S+)(?: AS (\S+))?$")


def instructions(text):
    """The lines of a Dockerfile, continued ones joined, without comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [line.strip().split(None, 1) for line in joined.splitlines() if line.strip()]


def left_out(root, path):
    patterns = [line for line in (root / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")]
    parts = pathlib.PurePath(path).parts
    heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(fnmatch.fnmatch(head, pattern.replace("**/", "*")) for head in heads for pattern in patterns)


def copy_faults(root, rest, there, stages):
    words = rest.split()
    source = next((word.split("=")[1] for word in words if word.startswith("--from=")), None)
    if source is not None:
        return [] if source in stages else [f"COPY --from={source}: there is no such stage"]
    faults = []
    for path in words[:-1]:
        there.add("." if path == "." else path.rstrip("/"))
        if not (root / path).exists():
            faults.append(f"COPY {path}: not in the tree")
        elif path != "." and left_out(root, path):
            faults.append(f"COPY {path}: .dockerignore leaves it out")
    return faults


def run_faults(root, rest, there, stages):
    faults = []
    for script in SCRIPT.findall(rest):
        copied = "." in there or any(script == path or script.startswith(path + "/") for path in there)
        if not os.access(root / script, os.X_OK):
            faults.append(f"RUN {script}: no such program")
        elif not copied:
            faults.append(f"RUN {script}: not copied yet")
    presets = {preset["name"] for preset in json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
    for preset in re.findall(r"--preset (\S+)", rest) + re.findall(r"build/(\w+)/CPackConfig", rest):
        if preset not in presets:
            faults.append(f"RUN: there is no preset {preset}")
    for stage in re.findall(r"from=(\w+)", rest):
        if stage not in stages:
            faults.append(f"RUN --mount from={stage}: there is no such stage")
    return faults


def command_faults(root, last):
    faults = []
    options = (root / "cmd/serve/serve.cpp").read_text(encoding="utf-8")
    command = json.loads(last.get("CMD", "[]"))
    for option in (word for word in command if word.startswith("--")):
        if f'"{option}"' not in options:
            faults.append(f"CMD {option}: navtalk serve has no such option")
    if f'0.0.0.0:{last.get("EXPOSE")}' not in command:
        faults.append("CMD: it does not listen on the exposed port, for every address")
    if json.loads(last.get("ENTRYPOINT", "[]")) != ["navtalk"]:
        faults.append("ENTRYPOINT: it is not navtalk, as pools expect")
    if last.get("USER", "root") in ("root", "0"):
        faults.append("USER: it runs as root")
    if "compute" not in last.get("ENV", ""):
        faults.append("ENV: NVIDIA_DRIVER_CAPABILITIES lacks compute")
    return faults


def all_faults(root, text):
    faults, stages, there, last = [], set(), set(), {}
    for name, rest in instructions(text):
        if name == "FROM":
            image, stage = STAGE.match(rest).groups()
            if not re.match(r"debian:bookworm(-slim)?$", image):
                faults.append(f"FROM {image}: navtalk is for Debian 12")
            there, last = set(), {}
            stages |= {stage} - {None}
        elif name == "COPY":
            faults += copy_faults(root, rest, there, stages)
        elif name == "RUN":
            faults += run_faults(root, rest, there, stages)
        last[name] = rest
    return faults + command_faults(root, last)


class Dockerfile(unittest.TestCase):
    text = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8")

    def test_everything_that_it_asks_for_is_there(self):
        self.assertEqual(all_faults(ROOT, self.text), [])

    def test_each_kind_of_fault_is_found(self):
        for old, new, fault in (
            ("COPY scripts scripts", "COPY skripts scripts", "skripts: not in the tree"),
            ("COPY scripts scripts", "COPY .git scripts", ".git: .dockerignore leaves it out"),
            ("COPY scripts scripts\n", "", "scripts/packages: not copied yet"),
            ("RUN scripts/nvcc", "RUN scripts/nvcd", "scripts/nvcd: no such program"),
            ("--preset cuda -D", "--preset gpu -D", "no preset gpu"),
            ("--from=build", "--from=built", "--from=built: there is no such stage"),
            ("from=build,", "from=built,", "from=built: there is no such stage"),
            ("debian:bookworm-slim", "debian:trixie-slim", "debian:trixie-slim: navtalk is for Debian 12"),
            ('"--worker"', '"--werker"', "--werker: navtalk serve has no such option"),
            ("EXPOSE 2160", "EXPOSE 2161", "does not listen on the exposed port"),
            ('ENTRYPOINT ["navtalk"]', 'ENTRYPOINT ["sh"]', "it is not navtalk"),
            ("USER navtalk", "USER root", "runs as root"),
            ("compute,", "", "lacks compute"),
        ):
            with self.subTest(fault=fault):
                self.assertIn(old, self.text)
                found = all_faults(ROOT, self.text.replace(old, new))
                self.assertTrue(any(fault in one for one in found), found)


if __name__ == "__main__":
    unittest.main()
