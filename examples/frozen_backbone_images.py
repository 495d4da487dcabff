"""Images with a frozen backbone: a pretrained network that nobody trains, and a small channel for
each task.

    # CIFAR 10×10, ResNet-50
    LIFELONG_DATA=… LIFELONG_MODELS=… python examples/frozen_backbone_images.py
    # generated pictures, tiny network
    python examples/frozen_backbone_images.py --smoke

Each task is ten new kinds of pictures, a few of each. One encoder serves all tasks (budget=1); a
task adds a channel of a few hundred kilobytes in well under a second once its features are there.
Features are kept on disk: start it again.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from lifelong import PretrainedEncoder, SillyNetwork, Task, TaskStream
from lifelong.experiments.generated import generated_tree
from lifelong.experiments.models import find_model
from lifelong.tasks.datasets import load


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="resnet-50", help="a name below LIFELONG_MODELS")
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--rows-per-class", type=int, default=10)
    parser.add_argument("--test-rows-per-class", type=int, default=20)
    parser.add_argument("--image-size", type=int, default=128, help="smaller is faster")
    parser.add_argument(
        "--smoke", action="store_true", help="seconds, no files needed; the numbers mean nothing"
    )
    parser.add_argument(
        "--picture", type=Path, help="draw some of the pictures and what they were taken for (.png)"
    )
    options = parser.parse_args()

    encoder = PretrainedEncoder.from_pretrained(
        find_model("tiny-resnet" if options.smoke else options.model),
        image_size=24 if options.smoke else options.image_size,
    )
    learner = SillyNetwork(encoder=encoder, channel="ridge", budget=1, random_state=0)
    stream = stream_of(options)
    print(f"{encoder.backbone.name}: {encoder.backbone.n_parameters:,} weights, all frozen")
    for task in stream:
        started = time.perf_counter()
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        learnt = time.perf_counter() - started
        accuracy = learner.score(task.X_test, task.y_test, task=task.name)
        channel = learner.channels_[task.name].nbytes / 1000
        rows = f"{len(task.y_train):4} rows, {len(task.classes)} classes"
        print(
            f"task {task.name!s:3} {rows}: {learnt:6.1f} s, channel {channel:5.0f} kB, accuracy"
            f" {accuracy:.2f}"
        )
    mean = sum(learner.score(task.X_test, task.y_test, task=task.name) for task in stream) / len(
        stream
    )
    print(
        f"after all tasks: {mean:.2f} (nothing is forgotten: no task changes what another one"
        " learnt)"
    )
    if options.picture:
        draw(options.picture, learner, stream)


def draw(path: Path, learner: SillyNetwork, stream: TaskStream, columns: int = 10) -> None:
    """A row of test pictures per task; a red frame is a mistake."""
    from lifelong.report.style import new_figure

    figure = new_figure(0.72 * columns + 0.8, 0.95 * len(stream) + 0.3)
    cells = figure.subplots(len(stream), columns, squeeze=False)
    for task, row in zip(stream, cells, strict=True):
        found = learner.predict(task.X_test, task=task.name)
        shown = np.random.default_rng(0).permutation(len(found))[:columns]
        for at, cell in zip(shown, row, strict=False):
            right = found[at] == task.y_test[at]
            cell.imshow(task.X_test[at].transpose(1, 2, 0), interpolation="nearest")
            text = "#1f2328"
            frame = {"color": "#d0d6dc", "linewidth": 0.8}
            if not right:
                text = "#d1495b"
                frame = {"color": "#d1495b", "linewidth": 2.4}
            cell.set_xlabel(str(found[at]), fontsize=7, color=text, labelpad=2)
            for spine in cell.spines.values():
                spine.set(**frame)
        row[0].set_ylabel(f"task {task.name}", fontsize=9)
    for cell in cells.flat:
        cell.set(xticks=[], yticks=[])
    hits = [learner.score(task.X_test, task.y_test, task=task.name) for task in stream]
    accuracies = ", ".join(f"{hit:.0%}" for hit in hits)
    figure.suptitle(
        f"What it says of test pictures, after {len(stream)} tasks ({accuracies} right)",
        fontsize=10,
    )
    figure.savefig(path.with_suffix(".png"), dpi=150)
    print(f"Picture: {path.with_suffix('.png')}")


def stream_of(options: argparse.Namespace) -> TaskStream:
    if options.smoke:
        return load(
            "food1k-50x20",
            generated_tree("food1k-50x20"),
            classes_per_task=4,
            rows_per_class=6,
            size=24,
        )
    rows = {
        "rows_per_class": options.rows_per_class,
        "test_rows_per_class": options.test_rows_per_class,
    }
    return load("cifar-10x10", **rows)[: options.tasks].map(named)


def named(task: Task) -> Task:
    """CIFAR's labels are numbers; a file beside the pictures says what they mean."""
    file = Path(os.environ.get("LIFELONG_DATA", "")) / "cifar-100-binary" / "fine_label_names.txt"
    if not file.is_file():
        return task
    names = np.array(file.read_text(encoding="utf-8").split())
    return replace(task, y_train=names[task.y_train], y_test=names[task.y_test])


if __name__ == "__main__":
    main()
