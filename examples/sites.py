"""One model per site, or one for all? Both, and a model that learns from all sites.

    python examples/sites.py                       # hospitals: `heart`, if LIFELONG_DATA has it
    python examples/sites.py --table rows.csv --task-column site --label-column state

The table has text and holes in it, and goes into LifelongClassifier as it is. Its rivals are what
one would try first: a random forest for each site, and one forest for all rows that is told the
site in columns of its own. Without the table of hospitals it is scikit-learn's `diabetes`, with
ages in the place of sites.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lifelong import LifelongClassifier

SCORES = ["accuracy", "log-loss", "AUC"]
AGES = ["up to 35", "36 to 45", "46 to 55", "56 to 65", "over 65"]
WAYS = ["a forest per site", "one forest, site as columns", "LifelongClassifier"]


def diabetes() -> pd.DataFrame:
    """A small real table of scikit-learn's: patients of five ages, and whether their diabetes got
    worse than that of half of all patients within a year.
    """
    frame = load_diabetes(as_frame=True, scaled=False).frame
    ages = pd.cut(frame["age"], [0, 35, 45, 55, 65, 100], labels=AGES)
    worse = frame["target"] > frame["target"].median()
    return frame.drop(columns=["age", "target"]).assign(
        sex=frame["sex"].map({1: "one", 2: "other"}),  # the source does not say which is which
        age=ages.astype(str),
        disease=np.where(worse, "worse", "better"),
    )


def real_table() -> tuple[pd.DataFrame, str]:
    """Patients of hospitals where that table is there, else of ages; and the column of tasks."""
    file = Path(os.environ.get("LIFELONG_DATA", ".")) / "tables" / "heart.csv.gz"
    if file.is_file():
        print("heart: patients of four hospitals, some of which did not measure every column.")
        return pd.read_csv(file), "hospital"
    print("diabetes: patients of five ages (set LIFELONG_DATA for the table of hospitals).")
    return diabetes(), "age"


def drawn(sites: pd.Series, n_rows: int, seed: int) -> np.ndarray:
    """Which rows to learn from (n,): so many of each site, and at most half of them."""
    rng = np.random.default_rng(seed)
    learnt = np.zeros(len(sites), dtype=bool)
    for site in sites.unique():
        of_site = np.flatnonzero(sites == site)
        learnt[rng.choice(of_site, min(n_rows, len(of_site) // 2), replace=False)] = True
    return learnt


def forest(n_trees: int, seed: int) -> Pipeline:
    """A random forest; text becomes a column per value, and holes are left to the trees."""
    text = make_column_selector(dtype_exclude="number")
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((one_hot, text), remainder="passthrough")
    return make_pipeline(columns, RandomForestClassifier(n_trees, random_state=seed))


def probabilities(model: Pipeline, X: pd.DataFrame, classes: np.ndarray) -> np.ndarray:
    """One column for each of all labels, also of a forest that knows some only."""
    answers = np.zeros((len(X), len(classes)))
    answers[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return answers


def all_answers(
    X: pd.DataFrame, y: pd.Series, learnt: np.ndarray, column: str, n_trees: int, seed: int
) -> dict[str, np.ndarray]:
    """What each way answers to the rows that were not learnt from."""
    asked = X[~learnt]
    ours = LifelongClassifier(task_column=column, random_state=seed).fit(X[learnt], y[learnt])
    pooled = forest(n_trees, seed).fit(X[learnt], y[learnt])
    each = np.zeros((len(asked), len(ours.classes_)))
    for site in X[column].unique():
        of_site = learnt & (X[column] == site).to_numpy()
        own = forest(n_trees, seed).fit(X[of_site], y[of_site])
        of_asked = (asked[column] == site).to_numpy()
        each[of_asked] = probabilities(own, asked[of_asked], ours.classes_)
    together = probabilities(pooled, asked, ours.classes_)
    return dict(zip(WAYS, [each, together, ours.predict_proba(asked)], strict=True))


def scores(answers: np.ndarray, truth: pd.Series, classes: np.ndarray) -> list[float]:
    """Accuracy, log-loss and, for two classes, AUC; NaN where the rows have one class only."""
    auc = np.nan
    if len(classes) == 2 and truth.nunique() == 2:
        auc = roc_auc_score(truth == classes[1], answers[:, 1])
    accuracy = accuracy_score(truth, classes[answers.argmax(axis=1)])
    certain = np.clip(answers, 1e-6, 1)  # a forest's zero would cost without limit
    shares = certain / certain.sum(axis=1, keepdims=True)
    return [accuracy, log_loss(truth, shares, labels=classes), auc]


def measured(
    table: pd.DataFrame, task_column: str, label_column: str, options: argparse.Namespace
) -> np.ndarray:
    """Scores (draws, sites, ways, 3) on rows that were not learnt from."""
    table = table.dropna(subset=[task_column, label_column]).reset_index(drop=True)
    X = table.drop(columns=label_column)
    y = table[label_column].astype(str)
    classes = np.unique(y)
    found = []
    for seed in range(options.repetitions):
        learnt = drawn(X[task_column], options.rows, seed)
        answers = all_answers(X, y, learnt, task_column, options.trees, seed)
        sites = X[task_column][~learnt].to_numpy()
        truth = y[~learnt]
        found.append(
            [
                [
                    scores(given[sites == site], truth[sites == site], classes)
                    for given in answers.values()
                ]
                for site in X[task_column].unique()
            ]
        )
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, help="a .csv file with one row per case")
    parser.add_argument("--task-column", default="hospital")
    parser.add_argument("--label-column", default="disease")
    parser.add_argument("--rows", type=int, default=50, help="to learn from, at each site")
    parser.add_argument("--trees", type=int, default=300, help="of the rivals' forests")
    parser.add_argument("--repetitions", type=int, default=5, help="draws of the rows")
    parser.add_argument("--picture", type=Path, help="draw it, as .svg and .png")
    chosen = parser.parse_args()

    task_column = chosen.task_column
    if chosen.table is None:
        table, task_column = real_table()
    else:
        table = pd.read_csv(chosen.table)
    found = measured(table, task_column, chosen.label_column, chosen)
    # Of a score that no site has, such as AUC with three classes, there is no mean: NaN.
    has_score = ~np.isnan(found)
    n_sites = has_score.sum(axis=1)
    by_draw = np.where(has_score, found, 0).sum(axis=1) / np.where(n_sites, n_sites, np.nan)
    print(f"{'mean of sites, ± over draws':28} " + " ".join(f"{name:>14}" for name in SCORES))
    for way, mean, spread in zip(WAYS, by_draw.mean(axis=0), by_draw.std(axis=0), strict=True):
        cells = [
            "–" if np.isnan(m) else f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)
        ]
        print(f"{way:28} " + " ".join(f"{cell:>14}" for cell in cells))
    if chosen.picture:
        from pictures import dumbbells

        accuracy = found[..., 0].mean(axis=0).T
        errors = 1 - accuracy.mean(axis=1)
        title = f"Errors: {errors[0]:.0%} with a forest per site, {errors[2]:.0%} with ours"
        names = [str(name) for name in table[task_column].dropna().unique()]
        dumbbells(chosen.picture, dict(zip(WAYS, accuracy.tolist(), strict=True)), names, title)


if __name__ == "__main__":
    main()
