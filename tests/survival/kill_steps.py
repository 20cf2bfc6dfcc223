"""The library of tests/fakes/kill_steps.cpp as a test uses it: which process is ended or held at which of its steps."""

import mmap
import os
import pathlib
import struct
import time
from dataclasses import dataclass

ROLES = ("nobody", "gateway", "worker", "renderer")
KILL, HOLD = 0, 1
ARMED, ROLE, ACTION, HELD, TARGET, FIRED, PID, COUNTS = 0, 4, 8, 12, 16, 24, 28, 32  # offsets


@dataclass
class Step:
    role: str
    number: int
    pid: int
    hit: bool  # the process was ended or held there
    what: str  # "fsync 000001.mp4.partial"


class KillSteps:
    def __init__(self, library, folder):
        self.library = pathlib.Path(library).resolve()
        self.page_file = pathlib.Path(folder) / "steps.page"
        self.journal = pathlib.Path(folder) / "steps"
        self.page_file.write_bytes(bytes(4096))
        self.journal.touch()
        with open(self.page_file, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)

    def close(self):
        self.disarm()
        self.page.close()

    def environment(self):
        return {"LD_PRELOAD": str(self.library), "KILL_STEPS_PAGE": str(self.page_file), "KILL_STEPS_JOURNAL": str(self.journal)}

    def _put(self, form, offset, value):
        struct.pack_into(form, self.page, offset, value)

    def _number(self, form, offset):
        return struct.unpack_from(form, self.page, offset)[0]

    def arm(self, role, number, action=KILL):
        """From now on steps are counted; `number` of 0 ends nobody."""
        self.disarm()
        os.truncate(self.journal, 0)  # processes append to it
        for index in range(len(ROLES)):
            self._put("<Q", COUNTS + 8 * index, 0)
        self._put("<Q", TARGET, number)
        self._put("<I", ROLE, ROLES.index(role))
        self._put("<I", ACTION, action)
        self._put("<I", HELD, 1)
        self._put("<I", FIRED, 0)
        self._put("<I", PID, 0)
        self.began = time.time()
        self._put("<I", ARMED, 1)

    def disarm(self):
        self._put("<I", ARMED, 0)
        self._put("<I", HELD, 0)

    def release(self):
        """Lets the process go on that is held."""
        self._put("<I", HELD, 0)

    def victim(self):
        """The process that was at the step; None before."""
        return self._number("<I", PID) or None

    def steps(self):
        found = []
        for line in self.journal.read_text(errors="replace").splitlines():
            role, number, pid, hit, what = line.split(" ", 4)
            found.append(Step(role, int(number), int(pid), hit == "x", what))
        return found

    def hit(self):
        """The step at which somebody was; None when there was none."""
        return next((step for step in self.steps() if step.hit), None)
