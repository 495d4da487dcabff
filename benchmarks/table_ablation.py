"""What each part of the learner of tables brings, and whether its mix harms a task.

``python -m benchmarks.table_ablation`` fits LifelongClassifier on the paired draws of the race
(:mod:`benchmarks.tables`), takes its opinions apart and stacks them anew: without each opinion,
without the stacking prior, with stratified bags, with other tasks' answers. On test rows it also
compares the mix with each opinion, task by task. ``--report`` writes docs/results/tables-ablation
and the tables of docs/channels.md.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.table_data import CLASSES, Draw, read, related_tasks
from benchmarks.table_report import read_rows
from benchmarks.table_scores import HIGHER_IS_BETTER, classification_scores
from benchmarks.tables import ROWS_PER_TASK, SEEDS, append, without_cut_line
from lifelong import LifelongClassifier
from lifelong._random import generator
from lifelong.channels import stacking
from lifelong.channels.stacking import Evidence
from lifelong.encoders.answers import grow_answering
from lifelong.encoders.shared_fit import draw_in_bag
from lifelong.evaluation.paired import mean_and_error
from lifelong.learners.table_corrections import corrected_opinion, opinions_of_others
from lifelong.learners.table_knowledge import TablesKnown, in_all_columns
from lifelong.learners.table_learning import Settings, ask_all, unshared
from lifelong.learners.table_linears import own_opinions
from lifelong.learners.table_weights import no_harm
from lifelong.rows import table_of
from lifelong.rows.views import TreeView

FILE = Path("runs/tables-ablation/rows.jsonl")
RESULTS = Path("docs/results/tables-ablation")
PAGE = Path("docs/channels.md")
BEGIN = "<!-- tables ablation: begin -->"
END = "<!-- tables ablation: end -->"

OWN = "own forest"
OWN_LINEAR = "own linear model"
STRATIFIED = "own forest, stratified bags"
OTHERS = "other tasks' answers"
OTHERS_LINEAR = "other tasks' linear models"
CORRECTED = "other tasks' answers, corrected"
SHARED = ("shared forest", "boosted trees", "linear model")
FULL = (OWN, OWN_LINEAR, *SHARED)  # the second only where the model has it
PRIOR = "prior"
EQUAL = "each task from equal weights"
COMMON = "the same weights for all tasks"


ASKING = Settings("classes", 100, shares_rows=False, asks_others=True)


@dataclass(frozen=True)
class Variant:
    """Which opinions are stacked, and how."""

    opinions: tuple[str, ...]
    weights: str = PRIOR
    protects: bool = True


VARIANTS = {
    "all": Variant(FULL),
    "without the own forest": Variant((OWN_LINEAR, *SHARED)),
    "without own linear models": Variant((OWN, *SHARED)),
    "without the shared forest": Variant((OWN, OWN_LINEAR, *SHARED[1:])),
    "without boosted trees": Variant((OWN, OWN_LINEAR, SHARED[0], SHARED[2])),
    "without the linear model": Variant((OWN, OWN_LINEAR, *SHARED[:2])),
    "without the stacking prior": Variant(FULL, EQUAL),
    "without a task's own weights": Variant(FULL, COMMON),
    "without the bias correction (bags stratified by class)": Variant(
        (STRATIFIED, OWN_LINEAR, *SHARED)
    ),
    "without the rule of no harm": Variant(FULL, protects=False),
    "with other tasks' answers": Variant((*FULL, OTHERS)),
    "without shared encoders, with others' answers (`shared=None`)": Variant(
        (OWN, OTHERS, OTHERS_LINEAR, CORRECTED)
    ),
    "without both (`shared=False`)": Variant((OWN,)),
}


@dataclass(frozen=True, eq=False)
class Opinions:
    """What each opinion answers (n, K): to the training rows, held out, and to the test rows."""

    draw: Draw
    held_out: dict[str, NDArray[np.float64]]
    test: dict[str, NDArray[np.float64]]


def opinions_of(draw: Draw) -> Opinions:
    """All opinions on the rows of a draw, of one fitted model."""
    task_column = draw.table.source.task
    model = LifelongClassifier(task_column, random_state=draw.seed, n_jobs=1)
    model.fit(draw.table.frame.iloc[draw.train], draw.y)
    known: TablesKnown = model.knowledge_
    asked = known.columns.rows(_table(draw))
    places = known.labels.astype(int)
    found = Opinions(draw, {}, {})

    def put(name: str, task: str, held_out: NDArray[Any], answers: NDArray[Any]) -> None:
        for target, rows, values in (
            (found.held_out, draw.train_tasks == task, held_out),
            (found.test, draw.test_tasks == task, answers),
        ):
            size = (len(rows), draw.table.n_classes)
            full = target.setdefault(name, np.full(size, 1 / size[1]))
            wide = np.zeros((rows.sum(), size[1]))
            wide[:, places] = in_all_columns(values, known)
            full[rows] = np.nan_to_num(wide, nan=1 / size[1])

    asking = ask_all(unshared(known, ASKING), ASKING)
    assert known.shared is not None
    names = [SHARED[0], SHARED[2]]
    if known.shared.boosted is not None:
        names = list(SHARED)
    for task, mix in known.channels.items():
        X = asked[draw.test_tasks == task]
        own = own_opinions(known, task, X)
        for name, held_out, answers in zip((OWN, OWN_LINEAR), mix.held_out, own, strict=False):
            put(name, task, held_out, answers)
        shared = known.shared.answers(X, task, mix.centre)
        for name, held_out, answers in zip(names, mix.held_out[known.n_own :], shared, strict=True):
            put(name, task, held_out, answers)
        channel = asking.channels[task]
        of_others = opinions_of_others(asking, X, channel.others, channel)
        put(OTHERS, task, channel.held_out[1], of_others[0])
        put(OTHERS_LINEAR, task, channel.held_out[2], of_others[1])
        corrected = corrected_opinion(asking, X, channel, of_others, "classes")
        put(CORRECTED, task, channel.held_out[3], corrected)
        put(STRATIFIED, task, *_stratified(known, task, X))
    return found


def _table(draw: Draw) -> Any:
    frame = draw.table.frame.iloc[draw.test]
    return table_of(frame.drop(columns=draw.table.source.task))


def _stratified(
    known: TablesKnown, task: str, X: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The own forest, had each tree drawn its rows class by class."""
    rows = known.memory[task]
    view = TreeView.of(known.columns)
    Z = view(rows.X)
    rng = generator(known.seed, task, "stratified")
    in_bag = draw_in_bag(rows.targets, 100, "classes", rng)
    forest, _ = grow_answering(
        Z,
        rows.targets,
        in_bag=in_bag,
        n_answers=known.n_answers,
        aim="classes",
        rng=rng,
        max_features="sqrt",
    )
    return forest.held_out_answers(Z, in_bag), forest.answers(view(X))


def stacked(found: Opinions, variant: Variant) -> NDArray[np.float64]:
    """Answers of a variant to the test rows (n, K)."""
    draw = found.draw
    names = [name for name in variant.opinions if name in found.held_out]
    held_out = stacking.log_opinion(np.stack([found.held_out[name] for name in names]))
    test = stacking.log_opinion(np.stack([found.test[name] for name in names]))
    evidence = {}
    for task in np.unique(draw.train_tasks):
        rows = draw.train_tasks == task
        evidence[task] = Evidence(held_out[:, rows], draw.y[rows], np.ones(rows.sum()))
    equal = np.full(len(names), 1 / len(names))
    common = equal
    if len(names) > 1 and variant.weights != EQUAL:
        common = stacking.common_weights(list(evidence.values()))
    answers = np.empty((len(draw.test), draw.table.n_classes))
    for task, of_task in evidence.items():
        weights = common
        if len(names) > 1 and variant.weights == PRIOR:
            weights = stacking.task_weights(of_task, common)
        if len(names) > 1 and variant.weights == EQUAL:
            weights = stacking.common_weights([of_task])
        if variant.protects:
            weights = no_harm(of_task, weights, "classes")
        rows = draw.test_tasks == task
        answers[rows] = stacking.mixed(weights, test[:, rows])
    return answers


def harm(found: Opinions, answers: NDArray[np.float64]) -> Iterator[dict[str, Any]]:
    """Per task: the log-loss of the mix minus that of the opinion that is best on the test rows."""
    draw = found.draw
    truth = draw.table.y[draw.test]
    mix = stacking.log_losses(answers, truth)
    single = {
        name: stacking.log_losses(
            stacking.mixed(np.ones(1), stacking.log_opinion(found.test[name])[None]), truth
        )
        for name in FULL
        if name in found.test
    }
    for task in np.unique(draw.test_tasks):
        rows = draw.test_tasks == task
        best = min(single, key=lambda name: single[name][rows].mean())
        worse = mix[rows] - single[best][rows]
        mean, error = mean_and_error(pd.Series(worse))
        yield {"task": task, "best": best, "worse": round(mean, 5), "error": round(error, 5)}


def measure(file: Path, seeds: Sequence[int], tables: Sequence[str]) -> None:
    """Measure draws that are not in the file yet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    without_cut_line(file)
    present = {(row["seed"], row["table"], row["rows"]) for row in read_rows(file)}
    for seed in seeds:
        for table in tables:
            for rows in ROWS_PER_TASK:
                if (seed, table, rows) not in present:
                    append(file, _measured(table, rows, seed))


def _measured(table: str, rows: int, seed: int) -> dict[str, Any]:
    found = opinions_of(related_tasks(read(table), rows, seed))
    row: dict[str, Any] = {"seed": seed, "table": table, "rows": rows, "variants": {}}
    for name, variant in VARIANTS.items():
        answers = stacked(found, variant)
        scores = classification_scores(found.draw, answers)
        row["variants"][name] = {
            metric: scores[metric] for metric in ("accuracy", "log_loss", "auc")
        }
        if name == "all":
            row["tasks"] = list(harm(found, answers))
    return row


# What was measured


def ablation_table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown: means over draws of each variant, and its difference from all."""
    lines = ["| | accuracy | log-loss | AUC |", "|---|---|---|---|"]
    for name in VARIANTS:
        cells = [_cell(rows, name, metric) for metric in ("accuracy", "log_loss", "auc")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(rows: Sequence[dict[str, Any]], name: str, metric: str) -> str:
    """The mean, and the difference from all with its standard error over draws."""
    pairs = [(row["variants"][name][metric], row["variants"]["all"][metric]) for row in rows]
    found = pd.DataFrame(pairs, columns=["value", "all"]).dropna().astype(float)
    mean = found["value"].mean()
    if name == "all":
        return f"{mean:.3f}"
    gain, error = mean_and_error(found["value"] - found["all"])
    verdict = "a tie"
    if abs(gain) > 2 * error:
        verdict = "better" if (gain > 0) == HIGHER_IS_BETTER[metric] else "worse"
    return f"{mean:.3f} ({gain:+.4f} ± {error:.4f}, {verdict})"


def complete(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The draws of seeds that have as many as any seed has."""
    counts = pd.Series([row["seed"] for row in rows]).value_counts()
    return [row for row in rows if counts[row["seed"]] == counts.max()]


def harm_summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many tasks are worse than the opinion that is best on their test rows."""
    tasks = pd.DataFrame([task for row in rows for task in row["tasks"]])
    clearly = tasks.worse > 2 * tasks.error
    return {
        "tasks": len(tasks),
        "worse_by_two_standard_errors": int(clearly.sum()),
        "share": round(float(clearly.mean()), 4),
        "better_by_two_standard_errors": int((tasks.worse < -2 * tasks.error).sum()),
        "mean_difference": round(float(tasks.worse.mean()), 4),
    }


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Both results, as they stand on the page."""
    found = harm_summary(rows)
    seeds = len({row["seed"] for row in rows})
    return "\n".join(
        [
            f"Five tables with 20, 50 and 200 rows per task, {seeds} paired seeds; in brackets the"
            " difference from all and its standard error over draws:"
            " `python -m benchmarks.table_ablation`, then `--report`.",
            "",
            ablation_table(rows),
            "",
            f"**No harm.** Of {found['tasks']} tasks (all draws), {100 * found['share']:.1f} % are"
            " worse on their test rows, by more than two standard errors, than the one opinion that"
            f" is best on these very rows; {found['better_by_two_standard_errors']} are better than"
            f" it by as much. The mean difference in log-loss is {found['mean_difference']:+.4f}.",
        ]
    )


def report(file: Path) -> str:
    """Write the results, with their rows, and the tables of the page."""
    rows = complete(read_rows(file))
    text = markdown(rows)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "table.md").write_text(text + "\n")
    (RESULTS / "summary.json").write_text(json.dumps(harm_summary(rows), indent=1) + "\n")
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (RESULTS / "rows.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(CLASSES))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.report:
        print(report(FILE))
        return
    measure(FILE, chosen.seeds, chosen.tables)


if __name__ == "__main__":
    main()
