"""All encoders of a stream with ``n_jobs=2`` against one after another: wall-clock seconds, on two
idle cores.
"""

from collections.abc import Iterator

from benchmarks.measure import Row, compare, in_turn, side
from benchmarks.streams import Rows, flat_tasks, image_tasks
from lifelong import Silly, SillyForest, SillyNetwork
from lifelong.learners.many import train_encoders


def rows(quick: bool) -> Iterator[Row]:
    """Four CNNs, and 20 wide forests."""
    note = "needs two idle cores"
    images = image_tasks(4, 500, (3, 32, 32))
    wide = flat_tasks(20, 500, 3072)
    sides = {
        "4 CNNs": lambda jobs: _train(
            SillyNetwork("cnn", epochs=2, n_jobs=jobs, random_state=0), images
        ),
        "20 forests of 500 × 3072": lambda jobs: _train(
            SillyForest(n_jobs=jobs, random_state=0), wide
        ),
    }
    for what, train in sides.items():
        train(2)  # starts the processes
        pairs = in_turn(
            side(lambda t=train: t(2)), side(lambda t=train: t(None)), 1 if quick else 3
        )
        yield compare(
            f"{what}, n_jobs=2", "one after another", pairs, "≥", 1.8, figure="s", note=note
        )


def _train(learner: Silly, stream: list[Rows]) -> None:
    known, _ = learner._rows_to_learn(None, stream[0][0])
    lessons = [learner._lesson(known, X, y, t) for t, (X, y) in enumerate(stream)]
    train_encoders(known, lessons, learner._parts())
