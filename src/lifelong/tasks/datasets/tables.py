"""Six small tables of related tasks, as CSV files with their names, text, dates and holes.

Where all columns are numbers (vowel, amazon, school), tasks have rows of numbers; otherwise they
have tables, which LifelongClassifier and LifelongRegressor read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_choice, check_count, check_share
from lifelong.exceptions import DatasetError, InputError, ParameterError
from lifelong.rows import Table, Texts
from lifelong.rows.files import labels_of, read_content, read_table
from lifelong.rows.table import is_there
from lifelong.tasks._rows import RowNumbers, draw_share
from lifelong.tasks.base import Target, Task, TaskName, TaskStream, groups_of
from lifelong.tasks.datasets._cache import write
from lifelong.tasks.datasets._source import Source

Split = Literal["random", "time"]

POLLUTION = (35.0, 115.0)
"""µg/m³ of PM2.5: the upper ends of Beijing's first two classes."""

POLLUTION_LABELS = ("up to 35", "up to 115", "above 115")


@dataclass(frozen=True)
class Facts:
    """Which columns of a file say what."""

    name: str
    task: str
    label: str
    target: Target = "class"
    words: tuple[tuple[str, str], ...] = ()  # labels of the file, and what they stand for

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.name}.csv.gz"


@dataclass(frozen=True, eq=False)
class Content:
    """A file's rows with a target: what to learn from (n, p), task and target of each."""

    X: Table
    numbers: NDArray[np.float64] | None  # (n, p), if all columns are numbers
    tasks: NDArray[Any]
    labels: Labels

    def rows(self, chosen: RowNumbers) -> Any:
        """Some rows: numbers where all are, else a table."""
        if self.numbers is None:
            return self.X[chosen]
        return self.numbers[chosen]


def table_stream(
    facts: Facts,
    data_dir: str | Path | None = None,
    *,
    rows_per_task: int | None = None,
    test_rows_per_task: int | None = None,
    test_share: float = 0.25,
    random_state: RandomState = 0,
) -> TaskStream:
    """One task per value of the table's task column, in order of appearance.

    Parameters
    ----------
    facts : Facts
        Which table.
    data_dir : path, optional
        Where the folder ``tables`` is.
    rows_per_task : int, optional
        At most so many rows to learn from, drawn from those that are not for testing.
    test_rows_per_task : int, optional
        At most so many of the rows for testing.
    test_share : float, default 0.25
        The share of each task's rows (of each class) that is for testing.
    random_state : int, Generator or None, default 0
        Decides which rows are drawn.
    """
    content = _content(facts, data_dir)
    choice = _Choice(rows_per_task, test_rows_per_task, test_share, seed_from(random_state))
    return _stream(content, content.labels, facts.target, choice, None)


def beijing(
    data_dir: str | Path | None = None,
    *,
    target: Target = "class",
    split: Split = "random",
    rows_per_task: int | None = None,
    test_rows_per_task: int | None = None,
    test_share: float = 0.25,
    random_state: RandomState = 0,
) -> TaskStream:
    """Twelve stations that measure air: PM2.5 as one of three classes, or as a number.

    Parameters
    ----------
    data_dir : path, optional
        Where the folder ``tables`` is.
    target : "class" or "number", default "class"
        Classes are up to 35, up to 115 and above 115 µg/m³.
    split : "random" or "time", default "random"
        Rows for testing are drawn, or are the last ones: neighbours in time are alike, so that a
        random split flatters whoever remembers days.
    rows_per_task, test_rows_per_task, test_share, random_state
        See :func:`table_stream`.
    """
    check_choice(target, "target", get_args(Target))
    check_choice(split, "split", get_args(Split))
    content = _content(BEIJING_FACTS, data_dir)
    labels: Labels = content.labels
    if target == "class":
        labels = np.array(POLLUTION_LABELS)[np.digitize(labels, POLLUTION, right=True)]
    moments = None
    if split == "time":
        moments = _moments(content.X)
    choice = _Choice(rows_per_task, test_rows_per_task, test_share, seed_from(random_state))
    return _stream(content, labels, target, choice, moments)


@dataclass(frozen=True)
class _Choice:
    """Which rows of a task are for what."""

    rows_per_task: int | None
    test_rows_per_task: int | None
    test_share: float
    seed: int

    def __post_init__(self) -> None:
        check_count(self.rows_per_task, "rows_per_task", optional=True)
        check_count(self.test_rows_per_task, "test_rows_per_task", optional=True)
        if not 0 < check_share(self.test_share, "test_share") < 1:
            raise ParameterError(
                f"test_share={self.test_share} leaves no rows to learn from, or none for testing."
            )


def _stream(
    content: Content, labels: Labels, target: Target, choice: _Choice, moments: Any
) -> TaskStream:
    def task(name: TaskName) -> Task:
        of_task = np.flatnonzero(content.tasks == name)
        rng = generator(choice.seed, name, "rows")
        if moments is None:
            groups = groups_of(labels[of_task], target)
            train, test = draw_share(groups, 1 - choice.test_share, rng)
        else:
            in_order = np.argsort(moments[of_task], kind="stable")
            n_train = round(len(of_task) * (1 - choice.test_share))
            train, test = np.sort(in_order[:n_train]), np.sort(in_order[n_train:])
        learn = _at_most(of_task[train], labels, target, choice.rows_per_task, rng)
        ask = _at_most(of_task[test], labels, target, choice.test_rows_per_task, rng)
        return Task(
            name, content.rows(learn), labels[learn], content.rows(ask), labels[ask], target
        )

    names = dict.fromkeys(content.tasks.tolist())
    return TaskStream.lazy({name: partial(task, name) for name in names})


def _at_most(
    rows: RowNumbers, labels: Labels, target: Target, n: int | None, rng: np.random.Generator
) -> RowNumbers:
    """At most ``n`` of the rows; of each class as many as it has a share."""
    if n is None or n >= len(rows):
        return rows
    chosen, _ = draw_share(groups_of(labels[rows], target), n / len(rows), rng)
    return rows[chosen]


def _moments(X: Table) -> NDArray[Any]:
    """The column of times, which CSV files have as text: in ISO 8601, so that it can be sorted."""
    times = X.column("time")
    if isinstance(times, Texts):
        return times.objects().astype(str)
    return times


def _content(facts: Facts, data_dir: str | Path | None) -> Content:
    path = SOURCES[facts.name].require(data_dir) / facts.file
    looks = path.stat()
    return _read(path, facts, looks.st_size, looks.st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, facts: Facts, size: int, changed: int) -> Content:
    """The rows of a file that have a target; read once as long as the file stays as it is."""
    del size, changed
    table = read_table(path, read_content(path))
    try:
        label = table.column(facts.label, "label column")
        names = table.column(facts.task, "task column")
    except InputError as error:
        raise DatasetError(f"{path}: {error}") from None
    if not is_there(names).all():
        raise DatasetError(f"{path}: column {facts.task!r} must name the task of every row.")
    there = np.flatnonzero(is_there(label))
    labels = labels_of(label[there])
    if facts.target == "number" and any(isinstance(number, str) for number in labels):
        raise DatasetError(f"{path}: column {facts.label!r} holds text. Expected numbers.")
    if not len(there):
        raise DatasetError(f"{path}: column {facts.label!r} has no value in any row.")
    words = dict(facts.words)
    labels = [words.get(found, found) for found in labels]
    X = table.without(facts.label).without(facts.task)[there]
    return Content(X, X.as_numbers(), np.array(labels_of(names))[there], np.array(labels))


def _decode(facts: Facts, folder: Path, scratch: Path) -> None:
    """The targets of all rows with one: says how many there are, and that they can be read."""
    looks = (folder / facts.file).stat()
    content = _read(folder / facts.file, facts, looks.st_size, looks.st_mtime_ns)
    write(scratch, y_all=content.labels)


def _files(facts: Facts) -> Callable[[Path], list[Path]]:
    return lambda folder: [folder / facts.file]


def _source(facts: Facts, rows: int, what: str, home: str, licence: str, citation: str) -> Source:
    return Source(
        name=f"tables-{facts.name}",
        folders=("tables",),
        file=facts.file,
        home=home,
        licence=licence,
        citation=citation,
        parts={"all": rows},
        files=_files(facts),
        decode=partial(_decode, facts),
        hint=(
            f"Make {facts.file} from {what} ({home}): CSV with a header, the task in column"
            f" {facts.task!r} and the target in {facts.label!r}."
        ),
    )


HEART_FACTS = Facts("heart", "hospital", "disease")
ADULT_FACTS = Facts("adult", "occupation", "income")
BEIJING_FACTS = Facts("beijing", "station", "PM2.5", "number")
VOWELS = (  # the file's labels differ in case alone; these are the words that were read out
    ("hid", "heed"),
    ("hId", "hid"),
    ("hEd", "head"),
    ("hAd", "had"),
    ("hYd", "hud"),
    ("had", "hard"),
    ("hOd", "hod"),
    ("hod", "hoard"),
    ("hUd", "hood"),
    ("hud", "who'd"),
    ("hed", "heard"),
)
VOWEL_FACTS = Facts("vowel", "speaker", "vowel", words=VOWELS)
AMAZON_FACTS = Facts("amazon", "domain", "review")
SCHOOL_FACTS = Facts("school", "school", "score", "number")

_UCI = "https://archive.ics.uci.edu/dataset"
HEART = _source(
    HEART_FACTS,
    920,
    "UCI Heart Disease",
    f"{_UCI}/45",
    "CC BY 4.0",
    "Janosi et al., Heart Disease, UCI Machine Learning Repository, 1989",
)
ADULT = _source(
    ADULT_FACTS,
    16_099,
    "UCI Adult",
    f"{_UCI}/2",
    "CC BY 4.0",
    "Becker, Kohavi, Adult, UCI Machine Learning Repository, 1996",
)
BEIJING = _source(
    BEIJING_FACTS,
    36_000,
    "UCI Beijing Multi-Site Air Quality",
    f"{_UCI}/501",
    "CC BY 4.0",
    "Chen, Beijing Multi-Site Air Quality, UCI Machine Learning Repository, 2017",
)
VOWEL = _source(
    VOWEL_FACTS,
    990,
    "UCI Connectionist Bench (Vowel)",
    f"{_UCI}/152",
    "CC BY 4.0",
    "Deterding, Niranjan, Robinson, Connectionist Bench (Vowel), UCI Machine Learning Repository",
)
AMAZON = _source(
    AMAZON_FACTS,
    3_600,
    "the multi-domain sentiment reviews",
    "https://www.cs.jhu.edu/~mdredze/datasets/sentiment",
    "BSD-3-Clause (features)",
    "Blitzer, Dredze, Pereira, Biographies, Bollywood, Boom-boxes and Blenders, ACL 2007",
)
SCHOOL = _source(
    SCHOOL_FACTS,
    15_362,
    "the Inner London Education Authority's exam data",
    "https://github.com/jiayuzhou/MALSAR",
    "none stated by the authors",
    "Nuttall et al., Differential School Effectiveness, 1989; via MALSAR",
)
SOURCES = {
    "heart": HEART,
    "adult": ADULT,
    "beijing": BEIJING,
    "vowel": VOWEL,
    "amazon": AMAZON,
    "school": SCHOOL,
}
