"""What learnt weights prevent: Gaussian XOR, then a second XOR that is turned by an angle, with
100 rows each.

    python examples/learnt_weights.py --repetitions 100 --picture docs/images/learnt-weights

At 0° the second task is the same as the first; at 45° it can only confuse. What does it do to the
first task, and how much does its encoder weigh in the first task's ridge channel?
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lifelong import RidgeChannel, SillyForest
from lifelong.report.style import GREY, INK, new_figure, plain, write
from lifelong.tasks.simulations import xor_stream

WAYS: dict[str, Callable[[int], SillyForest]] = {
    "leaf channel (the paper)": lambda seed: SillyForest(random_state=seed),
    "ridge, equal weights": lambda seed: SillyForest(
        channel=RidgeChannel(weights="equal"), random_state=seed
    ),
    "ridge, learnt weights": lambda seed: SillyForest(channel="ridge", random_state=seed),
}
COLOURS = (GREY, "#c98a1b", "#d1495b")


def measure(way: str, angle: float, rows: int, seed: int) -> tuple[float, float]:
    """What the second task adds to the first one's accuracy, and the share of the second encoder in
    its scores.
    """
    first, second = xor_stream(rows, second="r-xor", angle=angle, random_state=seed)
    learner = WAYS[way](seed).partial_fit(first.X_train, first.y_train, task="first")
    before = learner.score(first.X_test, first.y_test, task="first")
    learner.partial_fit(second.X_train, second.y_train, task="second")
    after = learner.score(first.X_test, first.y_test, task="first")
    channel = learner.channels_["first"]
    share = 0.5
    if hasattr(channel, "readout"):
        share = channel.readout.influence["second"]
    return after - before, share


def draw(path: Path, angles: list[float], measured: dict[str, np.ndarray]) -> None:
    """Left the change of accuracy, right the share; ``measured`` (angles, repetitions,
    2) by way.
    """
    figure = new_figure(8.4, 3.4)
    panels = figure.subplots(1, 2)
    for (way, values), colour in zip(measured.items(), COLOURS, strict=True):
        for column, (axis, factor) in enumerate(zip(panels, (100, 1), strict=True)):
            mean = factor * values[:, :, column].mean(axis=1)
            spread = factor * values[:, :, column].std(axis=1) / np.sqrt(values.shape[1])
            axis.plot(
                angles,
                mean,
                "o-",
                color=colour,
                label=way if column == 0 else None,
                linewidth=1.8,
                markersize=4,
            )
            axis.fill_between(
                angles, mean - 2 * spread, mean + 2 * spread, color=colour, alpha=0.15, linewidth=0
            )
    panels[0].axhline(0, color=GREY, linewidth=0.8)
    equal, learnt = (100 * measured[way][-1, :, 0].mean() for way in list(WAYS)[1:])
    plain(
        panels[0],
        title=f"At 45°: {equal:+z.1f} points with equal weights, {learnt:+z.1f} with learnt ones",
        xlabel="angle of the second task",
        ylabel="points of accuracy",
    )
    plain(
        panels[1],
        title="… because its encoder weighs less",
        xlabel="angle of the second task",
        ylabel="weight of its encoder",
    )
    panels[1].set_ylim(0, 0.8)
    for text in figure.legend(
        loc="outside lower center", ncols=3, frameon=False, fontsize=9
    ).get_texts():
        text.set_color(INK)
    write(figure, path)
    print(f"Picture: {path.with_suffix('.svg')} and .png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--rows", type=int, default=100, help="training rows of each task")
    parser.add_argument("--picture", type=Path, help="where the picture goes, without .svg or .png")
    chosen = parser.parse_args()

    angles = [0.0, 7.5, 15.0, 22.5, 30.0, 37.5, 45.0]
    measured = {}
    print(f"{'points of accuracy (share) at':30}" + "".join(f"{angle:>14}°" for angle in angles))
    for way in WAYS:
        pairs = [
            [measure(way, angle, chosen.rows, seed) for seed in range(chosen.repetitions)]
            for angle in angles
        ]
        measured[way] = np.array(pairs)
        cells = (
            f"{100 * change:+z8.1f} ({share:.2f})" for change, share in measured[way].mean(axis=1)
        )
        print(f"{way:30}" + "".join(f"{cell:>15}" for cell in cells), flush=True)
    if chosen.picture:
        draw(chosen.picture, angles, measured)


if __name__ == "__main__":
    main()
