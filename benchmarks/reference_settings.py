"""Why some reference algorithms differ from their published accuracy: one setting at a time,
everything else equal.

    python -m benchmarks.reference_settings [tag] [df-cnn] [lmc] [coscl] [none] [randumb]
        [--data DIR]

For each setting: the accuracy of every task when it has just been learnt, and after the last one
(500 test rows each, one seed). The tables are in docs/references.md.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lifelong import Recipe, TaskStream
from lifelong.references import REFERENCES, df_cnn
from lifelong.tasks.datasets import load

ROWS = 500


def show(what: str, name: str, stream: TaskStream, **parameters: Any) -> None:
    """Teach the stream and print what was known of each task at its arrival and at the end."""
    learner = REFERENCES[name](0, **parameters)
    arrival = []
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        arrival.append(accuracy(learner, task))
    end = [accuracy(learner, task) for task in stream]
    print(f"{what:<44} arrival {numbers(arrival)}   end {numbers(end)}", flush=True)


def accuracy(learner: Any, task: Any) -> float:
    """Share of the first test rows that are right."""
    return float(np.mean(learner.predict(task.X_test[:ROWS], task=task.name) == task.y_test[:ROWS]))


def numbers(values: list[float]) -> str:
    """The values and their mean."""
    return " ".join(f"{value:.3f}" for value in values) + f" (mean {np.mean(values):.3f})"


def tag(cifar: Callable[[int], TaskStream], _: Any) -> None:
    """A fitted task leaves v ≈ 0, so that the next one begins with steps of lr g/√(α_t v_t): far
    too long ones.
    """
    for epochs in (1, 6, 30):
        recipe = Recipe(epochs=epochs, batch_size=10, optimiser="rmsprop", lr=2.5e-4)
        show(
            f"TAG, {epochs} passes, a quarter of the width",
            "tag",
            cifar(4),
            width=0.25,
            recipe=recipe,
        )


def df(cifar: Callable[[int], TaskStream], _: Any) -> None:
    """How the bases start, and what batch norm changes."""
    recipe = Recipe(epochs=16, batch_size=10, optimiser="rmsprop", lr=1e-4)
    for what, norm, smaller in (
        ("Glorot, batch norm", True, 1.0),
        ("Glorot, no batch norm", False, 1.0),
        ("bases a tenth of Glorot, batch norm", True, 0.1),
    ):
        with _changed(norm, smaller):
            show(f"DF-CNN, {what}", "df-cnn", cifar(3), width=0.25, recipe=recipe)


@contextmanager
def _changed(norm: bool, smaller: float) -> Iterator[None]:
    """DF-CNN without batch norm, or with bases that start smaller."""
    plain = df_cnn.FactorisedConvolution.__init__
    usual = df_cnn.new_base

    def without_norm(self: Any, *sizes: Any) -> None:
        plain(self, *sizes)
        if not norm:
            self.norm = nn.Identity()

    df_cnn.FactorisedConvolution.__init__ = without_norm  # type: ignore[method-assign]
    df_cnn.new_base = lambda n_channels: smaller * usual(n_channels)
    try:
        yield
    finally:
        df_cnn.FactorisedConvolution.__init__ = plain  # type: ignore[method-assign]
        df_cnn.new_base = usual


def lmc(cifar: Callable[[int], TaskStream], _: Any) -> None:
    """Passes, and the weight of the modules' reconstruction of their input."""
    for epochs, regularisation in ((20, 10.0), (5, 10.0), (20, 100.0), (20, 1000.0)):
        what = f"LMC, {epochs} passes, reconstruction × {regularisation:g}"
        recipe = Recipe(epochs=epochs, batch_size=64, lr=1e-3)
        show(what, "lmc", cifar(2), regularisation=regularisation, recipe=recipe)


def coscl(cifar: Callable[[int], TaskStream], _: Any) -> None:
    """Passes and strength: with dropout it learns slowly."""
    for epochs, strength in ((15, 4e2), (15, 4e3), (15, 4e4), (60, 4e4)):
        recipe = Recipe(epochs=epochs, batch_size=64, lr=1e-3)
        what = f"CoSCL, {epochs} passes, λ = {strength:g}, half the width"
        show(what, "coscl", cifar(3), width=0.5, strength=strength, recipe=recipe)


def none(_: Any, spoken: Callable[[], TaskStream]) -> None:
    """How far fine-tuning moves the weights decides how much it forgets; and dense layers forget
    more.
    """
    for steps, lr in ((120, 1e-4), (480, 1e-4), (120, 1e-3)):
        recipe = Recipe(iterations=steps, batch_size=64, lr=lr)
        show(f"None on spoken digits, {steps} steps, rate {lr:g}", "none", spoken(), recipe=recipe)
    recipe = Recipe(iterations=240, batch_size=64, lr=1e-4)
    show(
        "None on spoken digits, MLP, 240 steps", "none", spoken(), network=(400, 400), recipe=recipe
    )


def randumb(cifar: Callable[[int], TaskStream], _: Any) -> None:
    """The width of the random features' kernel, each task alone."""
    tasks = list(cifar(8))
    for width in (0.7, 5.0, 20.0, None, 200.0):
        alone = [TaskStream([tasks[number]]) for number in (0, 3, 7)]
        for stream in alone:
            show(
                f"RanDumb, kernel width {width or 'median distance'}",
                "randumb",
                stream,
                kernel_width=width,
            )


EXPERIMENTS = {
    "tag": tag,
    "df-cnn": df,
    "lmc": lmc,
    "coscl": coscl,
    "none": none,
    "randumb": randumb,
}


def main() -> None:
    """Print the experiments that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"some of {', '.join(EXPERIMENTS)}; all if left out",
    )
    parser.add_argument(
        "--data", type=Path, help="folder with the official files; LIFELONG_DATA if left out"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    def cifar(n_tasks: int) -> TaskStream:
        return TaskStream(list(load("cifar-10x10", arguments.data))[:n_tasks])

    for name in arguments.names or EXPERIMENTS:
        EXPERIMENTS[name](cifar, lambda: load("spoken-digit", arguments.data))


if __name__ == "__main__":
    main()
