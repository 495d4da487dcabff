"""CORe50: 50 household objects filmed in 11 sessions: 110 tasks of 5 objects.

Official layout: ``core50_128x128/s<session>/o<object>/C_<session>_<object>_<frame>.png``. Objects
1–5 are plug adapters, 6–10 mobile phones, and so on: five of each of ten kinds. A task is one
session and one kind.
"""

import re
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from lifelong._labels import Labels
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_choice, check_count
from lifelong.exceptions import DatasetError
from lifelong.tasks._rows import RowNumbers, draw
from lifelong.tasks.base import Task, TaskName, TaskStream
from lifelong.tasks.datasets._cache import decoded, write
from lifelong.tasks.datasets._images import image_files, write_images
from lifelong.tasks.datasets._source import Download, Source
from lifelong.tasks.datasets._streams import Choice, Part, pixels, stream_of_pools

Pools = dict[TaskName, list[RowNumbers]]
TEST_SESSIONS = (3, 7, 10)  # as the authors set them apart
_FRAME = re.compile(r"C_(?P<session>\d{1,3})_(?P<thing>\d{1,3})_(?P<frame>\d+)\.png")


def core50_110x5(
    data_dir: str | Path | None = None,
    *,
    rows_per_class: int | None = 100,
    test_rows_per_class: int | None = None,
    classes_per_task: int = 5,
    size: int = 32,
    split: Literal["frames", "sessions"] = "frames",
    random_state: RandomState = 0,
) -> TaskStream:
    """Tasks ``s1-o1`` (session 1, objects 1 to 5), …, ``s11-o46``; images (3, 32, 32) in [0, 1].

    Parameters
    ----------
    rows_per_class : int or None
        Frames of each object to learn from (the paper: 100), drawn anew for each ``random_state``.
    size : int
        The paper does not say; 32 pixels are those of its other image tasks. The files have 128.
    split : "frames" or "sessions"
        "frames": the other frames of the same session are for testing. That gives the paper's 110
        tasks; neighbouring frames look alike, so it is easy. "sessions": the authors' own test
        sessions 3, 7 and 10 are for testing and the other eight make 80 tasks.
    """
    check_choice(split, "split", ("frames", "sessions"))
    check_count(classes_per_task, "classes_per_task")
    choice = Choice(rows_per_class, test_rows_per_class, seed_from(random_state))
    arrays = decoded(CORE50, data_dir, size=size)
    part = Part(arrays["X_all"], np.asarray(arrays["y_all"]), "core50")
    session = np.asarray(arrays["session"])
    chosen = [s for s in np.unique(session).tolist() if split == "frames" or s not in TEST_SESSIONS]
    things = np.unique(part.y).tolist()
    groups = [things[at : at + classes_per_task] for at in range(0, len(things), classes_per_task)]
    tasks = {f"s{s}-o{group[0]}": (s, group) for s in chosen for group in groups}
    pools: Pools = {name: _pool(part.y, session, (s,), group) for name, (s, group) in tasks.items()}
    if split == "frames":
        return stream_of_pools(pools, part, choice)
    tests: Pools = {
        f"s{s}-o{group[0]}": _pool(part.y, session, TEST_SESSIONS, group)
        for s in chosen
        for group in groups
    }
    return _stream_of_sessions(pools, tests, part, choice)


def _pool(
    things: Labels, session: Labels, sessions: tuple[int, ...], group: list[int]
) -> list[RowNumbers]:
    """For each object of the group the rows of those sessions."""
    in_session = np.isin(session, sessions)
    return [np.flatnonzero(in_session & (things == thing)) for thing in group]


def _stream_of_sessions(pools: Pools, tests: Pools, part: Part, choice: Choice) -> TaskStream:
    for name in pools:
        if (
            min(map(len, pools[name])) < (choice.rows_per_class or 1)
            or min(map(len, tests[name])) == 0
        ):
            raise DatasetError(
                f"core50 has too few frames in task {name!r}, or none of its objects in the test"
                f" sessions {TEST_SESSIONS}. Ask for fewer with rows_per_class, or fetch all"
                " sessions."
            )

    def task(name: TaskName) -> Task:
        rng = generator(choice.seed, name, "rows")
        learn = draw(pools[name], choice.rows_per_class, rng)
        ask = draw(tests[name], choice.test_rows_per_class, rng)
        return Task(name, pixels(part.X, learn), part.y[learn], pixels(part.X, ask), part.y[ask])

    return TaskStream.lazy({name: partial(task, name) for name in pools})


def frames(folder: Path) -> list[tuple[Path, int, int]]:
    """File, session and object of every frame; every session must have every object."""
    sessions = {
        int(path.name[1:]): path for path in folder.glob("s[0-9]*") if path.name[1:].isdecimal()
    }
    if not sessions:
        raise DatasetError(
            f"{folder} has no session folders. Expected s1, s2, … with object folders o1, o2, …."
        )
    things = {
        int(path.name[1:])
        for s in sessions.values()
        for path in s.glob("o[0-9]*")
        if path.name[1:].isdecimal()
    }
    if not things:
        raise DatasetError(
            f"{folder / 's1'} has no object folders. Expected o1, o2, … with C_ss_oo_fff.png files."
        )
    return [
        row
        for s in sorted(sessions)
        for thing in sorted(things)
        for row in _film(sessions[s], s, thing)
    ]


def _film(session_folder: Path, session: int, thing: int) -> list[tuple[Path, int, int]]:
    folder = session_folder / f"o{thing}"
    if folder.is_dir():
        files = image_files(folder)
    else:
        files = []
    if not files:
        raise DatasetError(
            f"{folder} is missing or empty. Expected frames C_{session:02d}_{thing:02d}_000.png, …."
        )
    for path in files:
        match = _FRAME.fullmatch(path.name)
        if match is None or (int(match["session"]), int(match["thing"])) != (session, thing):
            raise DatasetError(
                f"{path}: not a name of this folder. Expected"
                f" C_{session:02d}_{thing:02d}_<frame>.png."
            )
    return [(path, session, thing) for path in files]


def _files(folder: Path) -> list[Path]:
    return [path for path, _, _ in frames(folder)]


def _decode(folder: Path, scratch: Path, *, size: int) -> None:
    files, sessions, things = zip(*frames(folder), strict=True)
    write_images(scratch / "X_all.npy", files, size=size)
    write(
        scratch, y_all=np.array(things, dtype=np.int64), session=np.array(sessions, dtype=np.int64)
    )


CORE50 = Source(
    name="core50",
    folders=("core50_128x128", "core50/core50_128x128"),
    home="https://vlomonaco.github.io/core50/",
    licence="CC BY 4.0",
    citation=(
        "Lomonaco, Maltoni, CORe50: a New Dataset and Benchmark for Continuous Object Recognition,"
        " CoRL 2017"
    ),
    parts={"all": 164_866},
    files=_files,
    decode=_decode,
    settings={"size": 32},
    downloads=(
        Download(
            "http://bias.csr.unibo.it/maltoni/download/core50/core50_128x128.zip",
            to="core50_128x128",
            size=5_892_103_007,
            checksum="md5:745f3373fed08d69343f1058ee559e13",
            unpack=True,
        ),
    ),
)
