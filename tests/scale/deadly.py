"""What workers import: parts that kill the process they run in, and one that counts how often it is
sent.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from lifelong import ForestEncoder


@dataclass(frozen=True)
class DeadlyEncoder(ForestEncoder):
    """The first ``deaths`` times that an encoder trains, its process is killed in the
    middle of it.
    """

    folder: str = ""
    deaths: int = 1

    def fit(self, X, y, **options):
        fitted = super().fit(X, y, **options)
        for death in range(self.deaths):
            try:
                (Path(self.folder) / str(death)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return fitted


class CountsItsPickles:
    """Something large: how often was it sent?"""

    def __init__(self, value):
        self.value, self.times = value, 0

    def __getstate__(self):
        self.times += 1
        return {"value": self.value, "times": 0}


def times(number, large):
    """A piece of work."""
    return float(large.value.sum() * number)
