"""How tests/persistence/format_1 was made, once.

Never make it again: files that people have saved do not change.
"""

import json
import shutil
from pathlib import Path

from small import QUICK, rows

from lifelong import SillyForest, SillyNetwork, save

HERE = Path(__file__).with_name("format_1")
LEARNERS = {
    "forest": lambda: SillyForest(3, random_state=0),
    "network": lambda: SillyNetwork((6,), recipe=QUICK, channel="neighbours", random_state=0),
}
QUESTION = rows(99, n=6)[0]


def main() -> None:
    """Write both learners and what they say."""
    shutil.rmtree(HERE, ignore_errors=True)
    answers = {}
    for name, make in LEARNERS.items():
        learner = make()
        for number, task in enumerate(["first", 2]):
            learner.partial_fit(*rows(number), task=task)
        learner.partial_fit(*rows(1, n=9), task="first")
        save(learner, HERE / name)
        (HERE / name / "lock").unlink()
        answers[name] = [
            [task, learner.predict_proba(QUESTION, task=task).tolist()] for task in learner.tasks_
        ]
    (HERE / "answers.json").write_text(
        json.dumps({"rows": QUESTION.tolist(), "answers": answers}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
