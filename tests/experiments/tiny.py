"""An experiment of milliseconds, on real learners."""

import json

from lifelong.experiments.rows import Row
from lifelong.experiments.session import prepare
from lifelong.experiments.spec import FigureSpec, LearnerSpec, Part, Spec

TIMES = ("train_seconds", "predict_seconds")


def tiny_spec(**changes):
    """Two forests, two streams, three repetitions: no torch."""
    content = {
        "experiment": "tiny",
        "version": "full",
        "question": "Is everything stored?",
        "parts": (
            Part("xor, xnor", "xor", {"n": 12, "n_test": 10, "second": "xnor"}, at=0),
            Part("xor, r-xor", "xor", {"n": 12, "n_test": 10, "second": "r-xor"}, "turned", at=45),
        ),
        "learners": (
            LearnerSpec("two trees", "silly-f", {"n_estimators": 2}),
            LearnerSpec("rf", "rf", {"n_estimators": 2}),
        ),
        "repetitions": 3,
        "figures": (FigureSpec("strip"), FigureSpec("stages"), FigureSpec("matrices")),
    }
    return Spec(**{**content, **changes})


def run(spec, folder, **options):
    """Run to the end; the rows of this start."""
    return [event for event in prepare(spec, folder).events(**options) if isinstance(event, Row)]


def stored_lines(folder):
    """The rows of rows.jsonl as they are, each with its provenance, without clocks."""
    rows = []
    shared = {}
    for line in (folder / "rows.jsonl").read_bytes().split(b"\n")[:-1]:
        content = json.loads(line)
        if content["kind"] == "provenance":
            number = content.pop("number")
            shared[number] = {name: content[name] for name in ("spec", "versions", "machine")}
            continue
        content |= shared[content.pop("provenance")]
        rows.append({name: value for name, value in content.items() if name not in TIMES})
    return rows


def without_clocks(folder):
    """summary.json without what a clock measured."""
    summary = json.loads((folder / "summary.json").read_text())
    return {
        label: {k: v for k, v in means.items() if k not in TIMES}
        for label, means in summary.items()
    }
