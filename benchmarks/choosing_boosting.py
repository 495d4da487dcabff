"""What chose the sizes of boosted trees: ``python -m benchmarks.choosing_boosting``.

The tables of :mod:`benchmarks.choosing_tables` (it says how to get them), or with ``--of-the-race``
training rows of the race's first draw. Prints the change from trees of eight leaves alone, for each
other size alone and for the search among them: log-loss for classes, log RMSE for numbers.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.choosing_tables import RACE, STREAMS, Stream, drawn, loss, race_over
from benchmarks.table_data import NUMBERS, SOURCES
from lifelong import LifelongClassifier, LifelongRegressor
from lifelong.encoders import boosted

OF_THE_RACE = (
    *RACE,
    *(Stream("", name, SOURCES[name].task, SOURCES[name].target, cut=1) for name in NUMBERS),
)
FIRST = boosted.SIZES[boosted.FIRST_SIZE]
SEARCH = "the search"


def losses(stream: Stream, rows: int, seed: int) -> Iterator[tuple[str, float]]:
    """The mean loss of tasks, for each size alone and for the search."""
    frame, y, train, test = drawn(stream, rows, seed)
    every = boosted.SIZES, boosted.FIRST_SIZE
    variants = {name_of(size): ((size,), 0) for size in boosted.SIZES}
    variants[SEARCH] = every
    for name, (boosted.SIZES, boosted.FIRST_SIZE) in variants.items():
        model: Any = LifelongClassifier(stream.task, random_state=seed, n_jobs=1)
        if stream.cut == 1:
            model = LifelongRegressor(stream.task, random_state=seed, n_jobs=1)
        model.fit(frame.iloc[train], y[train])
        yield name, loss(model, frame.iloc[test], y[test], stream.task)
    boosted.SIZES, boosted.FIRST_SIZE = every


def name_of(size: boosted.Size) -> str:
    """In words."""
    return f"{size.leaves} leaves, at most {size.rounds} rounds"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    race_over(STREAMS, OF_THE_RACE, losses, name_of(FIRST), __doc__, arguments)


if __name__ == "__main__":
    main()
