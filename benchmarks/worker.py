"""One side in a process of its own, started once and asked many times: two environments can then
take turns.

A worker reads one JSON object per line, ``[name of a function, arguments]``, and answers with one
line of figures. This file is run by both environments, so it imports nothing of either.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Figures = dict[str, float]


class Worker:
    """A process that measures: ``worker.ask("forest", tasks=10)``."""

    def __init__(self, python: Path, module: str) -> None:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONWARNINGS": "ignore",
        }
        self._process = subprocess.Popen(
            [python, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, function: str, **arguments: Any) -> Figures:
        """What the function measured."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([function, arguments]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(
                f"The worker ended with exit code {self._process.wait()} while it measured"
                f" {function}."
            )
        return dict(json.loads(answer))

    def close(self) -> None:
        """Let the process end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve(functions: dict[str, Callable[..., Figures]]) -> None:
    """Answer until the other side closes; what libraries print goes nowhere, the pipe is for
    answers alone.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        function, arguments = json.loads(line)
        print(json.dumps(functions[function](**arguments)), file=answers, flush=True)


class Watch:
    """CPU seconds of everything that runs inside its blocks."""

    def __init__(self) -> None:
        self.total = 0.0

    def __enter__(self) -> None:
        self._began = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.total += time.process_time() - self._began

    def over(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, watched."""

        def watched(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        return watched


def measured(
    stream: list[tuple[Any, Any]],
    add: Callable[[Any, Any, int], Any],
    predict: Callable[[Any], Any],
    *,
    channels: Watch,
    encoder: Any,
    push: str,
    held: Callable[[], Any],
) -> Figures:
    """Learn the tasks and predict the first one's rows.

    ``channels`` watches what a learner does after training an encoder; of that, ``encoder.push`` is
    rows going through encoders. ``held()`` is what channels are made of.
    """
    total = Watch()
    pushing = Watch()
    rows = Watch()
    one_row = Watch()
    plain = getattr(encoder, push)
    setattr(encoder, push, pushing.over(plain))
    with total:
        for t, (X, y) in enumerate(stream):
            add(X, y, t)
    setattr(encoder, push, plain)
    X, y = stream[0]
    with rows:
        right = (predict(X) == y).mean()
    with one_row:
        predict(X[:1])
    return {
        "total": total.total,
        "channels": channels.total,
        "counting": channels.total - pushing.total,
        "predict": rows.total,
        "predict one row": one_row.total,
        "bytes of channels": deep_bytes(held()),
        "accuracy on training rows": float(right),
    }


def deep_bytes(*things: Any) -> int:
    """Bytes of Python objects and of everything they hold, each counted once; trees by their nodes
    and values.
    """
    total = 0
    seen = set()
    left = list(things)
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        total += sys.getsizeof(thing)
        if type(thing).__name__ == "ndarray":
            if thing.base is not None:
                total += thing.nbytes
        elif type(thing).__name__ == "Tree":
            state = thing.__getstate__()
            total += state["nodes"].nbytes + state["values"].nbytes
        elif isinstance(thing, dict):
            left += [*thing, *thing.values()]
        elif isinstance(thing, list | tuple | set):
            left += thing
        elif hasattr(thing, "__dict__"):
            left.append(vars(thing))
    return total
