"""A process that reads a store, whose files are then changed in place: it must live on."""

import sys
from pathlib import Path

import numpy as np
from small import OURS, rows

from lifelong import Store
from lifelong.persistence import store

store.MAPPED_FROM = 1  # every file


def main(folder: Path, name: str, seed: int) -> None:
    """Read everything, change the files, and go on."""
    make, shape = OURS[name]
    learner = make().set_params(store=Store(folder))
    known = learner.knowledge_
    for values in (known.encoders, known.channels, known.memory, known.densities):
        for key in values:
            assert values[key] is not None  # checked, and in the cache
    chance = np.random.default_rng(seed)
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("r+b") as file:
            size = path.stat().st_size
            header = int.from_bytes(file.read(8), "little") + 8
            file.seek(header)
            file.write(chance.choice([127, 255, 254, 64], size - header).astype(np.uint8).tobytes())
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
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    print("alive")  # noqa: T201
