"""Committed results are light, and their numbers follow from the rows beside them."""

import csv
import gzip
import json
import re
from dataclasses import fields
from functools import cache
from math import isnan
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from benchmarks import (
    arriving,
    calibration,
    equal_rows,
    growth_tables,
    missing_columns,
    no_row_shared,
    patch_trials,
    shared_networks,
    table_ablation,
    table_report,
    tune,
)
from benchmarks import table as speed
from benchmarks.measured import committed

from lifelong.experiments.catalogue import EXPERIMENTS
from lifelong.experiments.catalogue.measured import measured_experiments
from lifelong.experiments.store import Store
from lifelong.experiments.tables import results_of, summary
from lifelong.report.headline import write_table
from lifelong.report.tables import COLUMNS, write_csv

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
FOLDERS = sorted(path.parent for path in RESULTS.glob("*/spec.json"))
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NUMBERS = {"spec.json", "summary.json", "table.csv", "tasks.csv"}
ROWS = "rows.jsonl.gz"
MOST_BYTES = 8_000_000

# Measured before rows were committed. Only ever take a name away: measure it again, with its rows.
WITHOUT_ROWS = {
    "ablation-replay",
    "adversarial-labels",
    "adversarial-order",
    "adversarial-rotation",
    "best-xor",
    "overlapping-classes",
    "tabular-cifar",
}


def name_of(folder):
    return folder.name


@cache
def rows_of(folder):
    return Store(folder).rows()


def same_numbers(found, wanted):
    """Whether two tables have the same text, and the same numbers but for the last digit."""
    lines = zip(found, wanted, strict=True)
    return all(same_cell(*cells) for line in lines for cells in zip(*line, strict=True))


def same_cell(found, wanted):
    try:
        return float(found) == pytest.approx(float(wanted), rel=2e-5, abs=1e-9, nan_ok=True)
    except ValueError:
        return found == wanted


def cells_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def follows_from_tasks(folder):
    """Means over tasks, and over headline streams, of ``tasks.csv``: the finest lines there are."""
    headline = {part.name for part in Store(folder).read_spec().headline}
    by_learner = {}
    with (folder / "tasks.csv").open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if line["stream"] in headline:
                streams = by_learner.setdefault(line["learner"], {})
                streams.setdefault(line["stream"], []).append(line)
    wanted = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
        table = {line["learner"]: line for line in csv.DictReader(file)}
    assert list(by_learner) == list(wanted) == list(table)
    for learner, streams in by_learner.items():
        for statistic in COLUMNS:
            means = [fmean(float(line[statistic]) for line in tasks) for tasks in streams.values()]
            found = fmean(means)
            if wanted[learner][statistic] is None:  # no plain model to compare with
                assert isnan(found)
                assert table[learner][statistic] == ""
                continue
            assert wanted[learner][statistic] == pytest.approx(found, abs=1e-5), learner
            assert float(table[learner][statistic]) == pytest.approx(found, abs=1e-5), learner


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_every_committed_result_can_be_recomputed(folder, tmp_path):
    if folder.name in WITHOUT_ROWS:
        assert not (folder / ROWS).exists(), "it has its rows: take it out of WITHOUT_ROWS"
        follows_from_tasks(folder)
        return
    results = results_of(Store(folder).read_spec(), rows_of(folder))
    wanted = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    found = summary(results)
    assert list(found) == list(wanted)
    for learner, means in wanted.items():
        numbers = {name: mean for name, mean in means.items() if mean is not None}
        assert found[learner].keys() == means.keys(), learner
        assert {name for name, mean in found[learner].items() if mean is not None} == set(numbers)
        again = {name: found[learner][name] for name in numbers}
        assert again == pytest.approx(numbers, rel=1e-12, abs=1e-12), learner
    write_table(tmp_path / "table.csv", results)
    tables = [(part, table) for (part, _), table in results.tables.items()]
    write_csv(tmp_path / "tasks.csv", tables)
    for name in ("table.csv", "tasks.csv"):
        assert same_numbers(cells_of(tmp_path / name), cells_of(folder / name)), name


def test_the_race_over_tables_can_be_recomputed(tmp_path):
    folder = RESULTS / "tables-race"
    packed = gzip.decompress((folder / ROWS).read_bytes()).decode()
    table_report.write([json.loads(line) for line in packed.splitlines()], tmp_path)
    for name in ("summary.json", "table.csv", "table.md"):
        assert (tmp_path / name).read_text() == (folder / name).read_text(), name


def test_the_ablation_of_tables_can_be_recomputed():
    folder = RESULTS / "tables-ablation"
    packed = gzip.decompress((folder / ROWS).read_bytes())
    rows = [json.loads(line) for line in packed.splitlines()]
    text = table_ablation.markdown(rows)
    assert text == (folder / "table.md").read_text(encoding="utf-8").removesuffix("\n")
    assert text in (ROOT / table_ablation.PAGE).read_text(encoding="utf-8")
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert found == table_ablation.harm_summary(rows)


def test_the_table_of_shared_networks_can_be_recomputed():
    text = shared_networks.text_of(RESULTS / "shared-networks")
    assert text in (ROOT / shared_networks.PAGE).read_text(encoding="utf-8")


def test_the_table_of_patches_can_be_recomputed():
    lines = json.loads((RESULTS / "patches" / "summary.json").read_text(encoding="utf-8"))
    text = patch_trials.text_of(lines)
    assert text in (ROOT / patch_trials.PAGE).read_text(encoding="utf-8")


def test_the_table_of_learners_that_share_no_row_can_be_recomputed():
    folder = RESULTS / "no-row-shared"
    packed = gzip.decompress((folder / ROWS).read_bytes())
    rows = [json.loads(line) for line in packed.splitlines()]
    text = no_row_shared.text_of(rows, RESULTS / "tables-race" / ROWS)
    assert text == (folder / "table.md").read_text(encoding="utf-8")
    assert text in (ROOT / no_row_shared.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted((RESULTS / "bench").glob("*.md")), ids=lambda f: f.stem)
def test_the_tables_of_the_benchmark_can_be_recomputed(file):
    content = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    names = [field.name for field in fields(speed.Row)]
    rows = [speed.Row(**{name: row[name] for name in names}) for row in content["rows"]]
    found = speed.markdown(rows).splitlines()
    wanted = file.read_text(encoding="utf-8").splitlines()
    # The first line names the machine it is written on.
    assert found[1:] == wanted[1:]
    assert [row.met for row in rows] == [row["met"] for row in content["rows"]]


def test_the_growth_of_tables_can_be_recomputed():
    found = json.loads((ROOT / growth_tables.FILE).read_text(encoding="utf-8"))
    assert growth_tables.markdown(found) in (ROOT / growth_tables.PAGE).read_text(encoding="utf-8")


def test_the_page_of_tuning_can_be_recomputed():
    folder = RESULTS / "tune" / "quick"
    trials = tune.read_trials(folder / "trials.jsonl")
    assert tune.page(trials) == (folder / "tune.md").read_text(encoding="utf-8")


def test_the_table_of_missing_columns_can_be_recomputed():
    page = (ROOT / missing_columns.PAGE).read_text(encoding="utf-8")
    with (RESULTS / "missing-columns" / "rows.csv").open(newline="") as file:
        results = [missing_columns.result_of(line) for line in csv.DictReader(file)]
    for rows_per_task in sorted({result.rows_per_task for result in results}):
        assert "\n".join(missing_columns.table(results, rows_per_task)) in page


def test_the_table_of_equal_rows_can_be_recomputed():
    page = equal_rows.PAGE.read_text(encoding="utf-8")
    assert equal_rows.with_table(page) == page, "run: python -m benchmarks.equal_rows --print"


def test_the_picture_of_arriving_tasks_has_its_rows():
    rows = pd.read_csv(ROOT / arriving.RESULTS)
    drawn = rows.groupby(["table", "asked", "learner"]).size()
    assert set(rows.table) == set(arriving.TABLES)
    assert set(rows.learner) == set(arriving.LINES)
    assert drawn.min() >= len(arriving.SEEDS) * (arriving.N_TASKS - arriving.N_FIRST + 1)


def test_the_tables_of_calibration_and_coverage_can_be_recomputed(monkeypatch):
    monkeypatch.chdir(ROOT)
    frame = pd.DataFrame(calibration.read())
    page = (ROOT / calibration.PAGE).read_text(encoding="utf-8")
    assert "\n".join(calibration.calibration_table(frame)) in page
    assert "\n".join(calibration.coverage_table(frame)) in page


def test_no_folder_of_results_is_forgotten_here():
    others = {
        "arriving",
        "bench",
        "calibration",
        "equal-rows",
        "missing-columns",
        "no-row-shared",
        "patches",
        "shared-networks",
        "tables-race",
        "tables",
        "tables-ablation",
    }
    known = {folder.name for folder in FOLDERS} | others | {"tune"}
    assert {folder.name for folder in RESULTS.iterdir() if folder.is_dir()} == known


def test_results_that_lack_their_rows_get_fewer_and_never_more():
    assert len(WITHOUT_ROWS) <= 7
    assert {folder.name for folder in FOLDERS if not (folder / ROWS).exists()} == WITHOUT_ROWS


def test_what_rows_share_is_written_once_in_committed_results():
    for folder in FOLDERS:
        if folder.name not in WITHOUT_ROWS:
            content = gzip.decompress((folder / ROWS).read_bytes())
            shared = {(row.spec, row.machine, *row.versions.values()) for row in rows_of(folder)}
            assert content.count(b'"versions"') == len(shared) > 0


def test_committed_results_hold_numbers_rows_and_the_figures_that_pages_show():
    shown = set()
    for page in PAGES:
        links = re.findall(r'\]\(([^)\s]+)|\bsrc="([^"]+)"', page.read_text(encoding="utf-8"))
        shown |= {(page.parent / (markdown or html)).resolve() for markdown, html in links}
    superfluous = []
    for folder in FOLDERS:
        assert {path.name for path in folder.iterdir()} >= NUMBERS, folder.name
        for file in folder.rglob("*"):
            kept = file.parent == folder and file.name in {*NUMBERS, ROWS, "figures"}
            figure = file.suffix == ".svg" and file.resolve() in shown
            ignored = file.name == "report.html"  # by git
            if not (kept or figure or ignored):
                superfluous.append(str(file.relative_to(ROOT)))
    assert superfluous == []


def test_committed_results_are_light():
    files = [file for file in RESULTS.rglob("*") if file.is_file() and file.name != "report.html"]
    assert len(files) > 100
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


def test_the_list_of_experiments_knows_every_committed_result():
    known = measured_experiments()
    assert committed("some other day") == known, "run: python -m benchmarks.measured"
    assert set(known) == {folder.name for folder in FOLDERS}
    assert set(known) <= set(EXPERIMENTS)
    for name, found in known.items():
        assert found.repetitions <= Store(RESULTS / name).read_spec().repetitions


def test_no_page_promises_results_instead_of_saying_why_there_are_none():
    for page in PAGES:
        assert "results go here" not in page.read_text(encoding="utf-8"), page.name
