"""What the race over tables has measured: rows, means, and ours against each rival."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.table_scores import HIGHER_IS_BETTER
from lifelong.evaluation.paired import Verdict, count_verdicts, mean_and_error, verdict

RESULTS = Path("docs/results/tables-race")
README = Path("README.md")
BEGIN = "<!-- tables: begin -->"
END = "<!-- tables: end -->"
SHOWN = {
    "own forest": "a forest per task",
    "own LightGBM": "LightGBM per task",
    "pooled logistic": "one logistic regression, task as columns",
    "pooled LightGBM": "one LightGBM, task as a column",
    "pooled CatBoost": "one CatBoost, task as a column",
    "pooled forest": "one forest, task as columns",
    "stacked prototype": "five models stacked, a prototype",
    "ours": "**LifelongClassifier**",
}
NUMBERS_SHOWN = {
    "own forest": "a forest per task",
    "mixed effects": "a mixed-effects model",
    "pooled forest": "one forest",
    "pooled CatBoost": "one CatBoost",
    "pooled LightGBM": "one LightGBM",
    "ours": "**LifelongRegressor**",
}
OURS = "ours"
KEY = ("part", "table", "rows", "seed", "split", "task", "learner")
TITLES = {
    "tasks": "Every task with 20, 50 and 200 rows",
    "new": "A new task with five rows per class, after all others were learnt with 50 rows",
    "unseen": "A task that was never seen",
    "one-class": "A new task with twenty rows of one class",
    "numbers": "Numbers: RMSE relative to that of the task's mean",
}
NO_ROW = ", no row of the task"


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row is of."""
    return tuple(row[name] for name in KEY)


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The measured rows; a last line that was cut off is left out."""
    if not file.exists():
        return []
    text = file.read_text()
    whole = text[: text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


def latest(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per cell and learner, the last that was measured; failures are left out."""
    found = {key(row): row for row in rows if "error" not in row}
    return list(found.values())


def figures(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One line per part, split, table, size, seed, learner and metric.

    Tasks that arrive last are averaged. Where a task arrives with rows, rivals that answered it
    without any stand beside those that had them.
    """
    lines = [
        {**{name: row[name] for name in KEY}, "metric": metric, "value": row[metric]}
        for row in rows
        for metric in HIGHER_IS_BETTER
        if row.get(metric) is not None
    ]
    found = pd.DataFrame(lines, columns=[*KEY, "metric", "value"])
    without = found[(found.part == "unseen") & (found.learner != OURS)]
    without = without.assign(learner=without.learner + NO_ROW)
    beside = [
        without.assign(part=part) for part in ("new", "one-class") if (found.part == part).any()
    ]
    found = pd.concat([found, *beside])
    of_cell = ["part", "split", "table", "rows", "seed", "learner", "metric"]
    return found.groupby(of_cell, as_index=False).value.mean()


def table_of(found: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error over seeds, per table and size."""
    lines = []
    cell = ["part", "split", "table", "rows", "learner", "metric"]
    for names, group in found.groupby(cell):
        mean, error = mean_and_error(group.value)
        lines.append([*names, mean, error, len(group)])
    return pd.DataFrame(lines, columns=[*cell, "mean", "standard_error", "n_seeds"])


def wide(found: pd.DataFrame, part: str, metric: str) -> pd.DataFrame:
    """Draws (split, table, rows, seed) × learners; draws that all learners have."""
    chosen = found[(found.part == part) & (found.metric == metric)]
    index = ["split", "table", "rows", "seed"]
    return chosen.pivot(index=index, columns="learner", values="value").dropna()


def gains(of_learners: pd.DataFrame, metric: str) -> pd.DataFrame:
    """How much better ours is than each rival; above 0 is better, whatever the metric."""
    sign = 1 if HIGHER_IS_BETTER[metric] else -1
    rivals = of_learners.drop(columns=OURS)
    return rivals.rsub(of_learners[OURS], axis=0) * sign


def verdicts(gain: pd.DataFrame) -> dict[str, dict[Verdict, int]]:
    """Per rival: in how many tables and sizes ours is ahead, level or behind, by two standard
    errors of the paired difference.
    """
    counts = {}
    for rival in gain.columns:
        by_cell = gain[rival].groupby(["split", "table", "rows"])
        counts[rival] = count_verdicts(verdict(of_cell) for _, of_cell in by_cell)
    return counts


def against_best(of_learners: pd.DataFrame, metric: str) -> list[dict[str, Any]]:
    """Per table, over its sizes and per size: ours against the rival with the best mean."""
    gain = gains(of_learners, metric)
    found = []
    for (split, table), of_table in gain.groupby(["split", "table"]):
        sizes = sorted(of_table.index.unique("rows"))
        groups = {"all": of_table.groupby("seed").mean()}
        if len(sizes) > 1:
            groups |= {str(size): of_table.xs(size, level="rows") for size in sizes}
        for size, of_seeds in groups.items():
            best = of_seeds.mean().idxmin()
            mean, error = mean_and_error(of_seeds[best])
            found.append(
                {
                    "split": split,
                    "table": table,
                    "rows": size,
                    "best_rival": best,
                    "gain": mean,
                    "standard_error": error,
                }
            )
    return found


def summary(found: pd.DataFrame) -> dict[str, Any]:
    """Means over tables and sizes, verdicts, and ours against the best rival of each table."""
    parts: dict[str, Any] = {}
    for part in TITLES:
        for metric in HIGHER_IS_BETTER:
            of_learners = wide(found, part, metric)
            if OURS not in of_learners.columns or of_learners.empty:
                continue
            complete = _complete_seeds(of_learners)
            by_seed = complete.groupby("seed").mean()
            gain = gains(complete, metric)
            means = {name: mean_and_error(by_seed[name]) for name in by_seed.columns}
            gain_by_seed = gain.groupby("seed").mean()
            parts.setdefault(part, {})[metric] = {
                "seeds": sorted(by_seed.index.tolist()),
                "draws": len(complete),
                "means": means,
                "means_by_rows": _means_by_rows(complete),
                "gain": {name: mean_and_error(gain_by_seed[name]) for name in gain.columns},
                "verdicts": verdicts(gain),
                "against_best": against_best(complete, metric),
            }
    return parts


def _means_by_rows(of_learners: pd.DataFrame) -> dict[str, dict[str, tuple[float, float]]]:
    """Per size: mean over tables, and its standard error over seeds, of each learner."""
    found = {}
    for size, of_size in of_learners.groupby("rows"):
        by_seed = of_size.groupby("seed").mean()
        found[str(size)] = {name: mean_and_error(by_seed[name]) for name in by_seed.columns}
    return found


def _complete_seeds(of_learners: pd.DataFrame) -> pd.DataFrame:
    """The draws of those seeds that have as many as any seed has."""
    n_draws = of_learners.groupby("seed").size()
    whole = n_draws.index[n_draws == n_draws.max()]
    return of_learners[of_learners.index.get_level_values("seed").isin(whole)]


# Markdown


def markdown(parts: dict[str, Any]) -> str:
    """All parts: learners in the order of their first metric, then table by table."""
    lines: list[str] = []
    for part, by_metric in parts.items():
        lines += [f"## {TITLES[part]}", "", *_learners_table(by_metric), ""]
        if len(next(iter(by_metric.values()))["means_by_rows"]) > 1:
            lines += [*_sizes_table(by_metric), ""]
        lines += [*_best_table(by_metric), ""]
    return "\n".join(lines)


def _learners_table(by_metric: dict[str, Any]) -> list[str]:
    metrics = list(by_metric)
    head = [f"{metric.replace('_', ' ')} | ours wins, ties, losses" for metric in metrics]
    seeds = len(next(iter(by_metric.values()))["seeds"])
    lines = [
        f"Mean and standard error over {seeds} seeds; wins and losses by two standard errors.",
        "",
        "| | " + " | ".join(head) + " |",
        "|---" * (1 + 2 * len(metrics)) + "|",
    ]
    for learner in _ranked(by_metric):
        cells = [_name(learner)]
        for found in by_metric.values():
            count = found["verdicts"].get(learner, {})
            cells += [_with_error(*found["means"][learner]), ", ".join(map(str, count.values()))]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _sizes_table(by_metric: dict[str, Any]) -> list[str]:
    sizes = sorted(next(iter(by_metric.values()))["means_by_rows"], key=int)
    head = [f"{metric.replace('_', ' ')}, {size} rows" for metric in by_metric for size in sizes]
    lines = ["| | " + " | ".join(head) + " |", "|---" * (1 + len(head)) + "|"]
    for learner in _ranked(by_metric):
        cells = [_name(learner)]
        for found in by_metric.values():
            cells += [f"{found['means_by_rows'][size][learner][0]:.3f}" for size in sizes]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _ranked(by_metric: dict[str, Any]) -> list[str]:
    """Learners, the best in the first metric first."""
    metric, found = next(iter(by_metric.items()))
    means = found["means"]
    return sorted(means, key=lambda learner: means[learner][0], reverse=HIGHER_IS_BETTER[metric])


def _name(learner: str) -> str:
    if learner == OURS:
        return f"**{learner}**"
    return learner


def _with_error(mean: float, error: float, sign: str = "") -> str:
    """Such as 0.812 ± 0.003; without an error where one seed has none."""
    if np.isnan(error):
        return f"{mean:{sign}.3f}"
    return f"{mean:{sign}.3f} ± {error:.3f}"


def _best_table(by_metric: dict[str, Any]) -> list[str]:
    lines = [
        "Ours against the best rival of each table (above 0: ours is better):",
        "",
        "| table | rows | metric | best rival | gain | in standard errors |",
        "|---|---|---|---|---|---|",
    ]
    for metric, found in by_metric.items():
        for line in found["against_best"]:
            table = line["table"]
            if line["split"] != "random":
                table += f", by {line['split']}"
            gain = line["gain"]
            error = line["standard_error"]
            ratio = ""
            if error > 0:
                ratio = f"{gain / error:+.1f}"
            lines.append(
                f"| {table} | {line['rows']} | {metric.replace('_', ' ')} | {line['best_rival']} |"
                f" {_with_error(gain, error, '+')} | {ratio} |"
            )
    return lines


def headline(parts: dict[str, Any]) -> str:
    """The table of README: strong rivals and ours, means over tables and sizes."""
    by_metric = parts["tasks"]
    lines = [
        "Five real tables (hospitals, occupations, stations, speakers, review domains) with 20, 50"
        " and 200 rows per task: accuracy, log-loss and AUC, means over tables and sizes, ±"
        " standard error over seeds (`python -m benchmarks.tables`;"
        " [every table and rival](docs/results/tables-race/table.md)). Settings of ours were chosen"
        " on half of the rows of these tables; boosting, and the size of its trees, came in after"
        " looks at this race: other tables may show less.",
        "",
        "| | accuracy | log-loss | AUC |",
        "|---|---|---|---|",
    ]
    for learner, name in SHOWN.items():
        cells = [_with_error(*found["means"][learner]) for found in by_metric.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    means = parts["numbers"]["relative_rmse"]["means"]
    shown = [f"{name} {_with_error(*means[learner])}" for learner, name in NUMBERS_SHOWN.items()]
    lines += [
        "",
        "Where a number is predicted (school marks, and air at stations, rows drawn at random and"
        f" by time), RMSE relative to that of a task's mean: {', '.join(shown)}.",
    ]
    return "\n".join(lines)


def write_headline(text: str, page: Path = README) -> None:
    """Put the table between its marks."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def write(rows: list[dict[str, Any]], folder: Path = RESULTS) -> str:
    """table.csv, table.md, summary.json and rows.jsonl.gz; the Markdown text."""
    rows = latest(rows)
    found = figures(rows)
    parts = summary(found)
    text = markdown(parts)
    folder.mkdir(parents=True, exist_ok=True)
    table_of(found).round(5).to_csv(folder / "table.csv", index=False)
    rounded = json.dumps(_rounded(parts), indent=1, ensure_ascii=False)
    (folder / "summary.json").write_text(rounded + "\n")
    (folder / "table.md").write_text(text)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sorted(rows, key=key))
    packed = gzip.compress(lines.encode(), mtime=0)
    (folder / "rows.jsonl.gz").write_bytes(packed)
    return text


def _rounded(value: Any) -> Any:
    """Five digits; NaN, which JSON does not have, as null."""
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return round(value, 5)
    return value
