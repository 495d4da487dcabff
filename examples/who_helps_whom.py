"""Who helps whom: handwritten digits from six angles, and what each angle's encoder brings to every
other angle.

python examples/who_helps_whom.py                                   # prints the table
python examples/who_helps_whom.py --out docs/images/who-helps-whom  # and draws it, as .svg and .png
"""

import argparse
from pathlib import Path

from lifelong import SillyForest
from lifelong.tasks.datasets import load


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--out", type=Path, help="where the picture goes, without .svg or .png")
    chosen = parser.parse_args()

    learner = SillyForest(chosen.trees, random_state=0)
    stream = load("digits", n_tasks=chosen.tasks)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)

    explanation = learner.explain(X={task.name: (task.X_test, task.y_test) for task in stream})
    print(explanation)
    if chosen.out:
        for suffix in (".svg", ".png"):
            explanation.plot(chosen.out.with_suffix(suffix))


if __name__ == "__main__":
    main()
