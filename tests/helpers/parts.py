"""A job for several processes that leaves a mark for every part: a new process imports it from here by name."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Marked:
    """Parts that are their numbers, each a moment long; the one that is `wrong` fails; processes other than `lasting` end at once."""

    folder: str
    wrong: int = -1
    lasting: int = 0

    def part(self, number):
        if self.lasting and os.getpid() != self.lasting:
            os._exit(1)
        if number == self.wrong:
            raise ValueError(f"part {number}")
        time.sleep(0.02)
        with (Path(self.folder) / f"{number}").open("a") as file:
            file.write(f"{os.getpid()}\n")
        return number, b""

    @property
    def workers(self):
        """Who worked out each part, by number."""
        return {int(path.name): path.read_text().split() for path in Path(self.folder).iterdir()}
