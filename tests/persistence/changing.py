"""A process that reads a store, whose files are then changed in place: it must live on."""

import json
import sys
from pathlib import Path

import numpy as np
from small import OURS, rows

from lifelong import Store
from lifelong.persistence import saving

saving.MAPPED_FROM = 1  # every file


def change(path: Path, dtype: str) -> None:
    """Other numbers in all arrays of one type, in place."""
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        for name, entry in header.items():
            if name != "__metadata__" and entry["dtype"] == dtype:
                start, stop = entry["data_offsets"]
                file.seek(8 + length + start)
                file.write(b"\x7f" * (stop - start))


def main(folder: Path, name: str, dtype: str) -> None:
    """Read everything, change the files, and go on."""
    make, shape = OURS[name]
    learner = make().set_params(store=Store(folder))
    known = learner.knowledge_
    for values in (known.encoders, known.channels, known.memory, known.densities):
        for key in values:
            assert values[key] is not None  # checked, and in the cache
    for path in sorted(folder.glob("*.safetensors")):
        change(path, dtype)
    X, y = rows(5, n=300, shape=shape)
    for question in (
        lambda: learner.predict_proba(X, task="task-0"),
        lambda: learner.predict(X),
        lambda: learner.novelty(X),
        lambda: learner.explain("task-0", folds=2),
        lambda: learner.alone("task-1").predict(X),
        lambda: learner.partial_fit(X, y, task="task-0"),
        lambda: learner.partial_fit(X, y, task="task-9"),
    ):
        try:
            question()
        except Exception as error:
            print(type(error).__name__)  # noqa: T201


if __name__ == "__main__":
    np.seterr(all="ignore")
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
    print("alive")  # noqa: T201
