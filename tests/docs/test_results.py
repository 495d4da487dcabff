"""Committed results are light, and their numbers follow from the rows beside them."""

import csv
import gzip
import json
import re
from pathlib import Path

import pytest

from lifelong.experiments.store import Store
from lifelong.experiments.tables import results_of, summary
from lifelong.report.headline import write_table
from lifelong.report.tables import write_csv

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
FOLDERS = sorted(path.parent for path in RESULTS.glob("*/spec.json"))
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NUMBERS = {"spec.json", "summary.json", "table.csv", "tasks.csv"}
ROWS = "rows.jsonl.gz"
MOST_BYTES = 8_000_000

# Measured before rows were committed. Only ever take a name away: measure it again, with its rows.
WITHOUT_ROWS = {
    "ablation-budget",
    "ablation-replay",
    "ablation-trees",
    "adversarial-labels",
    "adversarial-order",
    "adversarial-rotation",
    "best-xor",
    "overlapping-classes",
    "pretrained",
    "tabular-cifar",
    "task-unaware-cifar",
    "task-unaware-spoken-digit",
    "xor-rxor",
    "xor-xnor",
}


def name_of(folder):
    return folder.name


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


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_every_committed_result_can_be_recomputed(folder, tmp_path):
    if folder.name in WITHOUT_ROWS:
        assert not (folder / ROWS).exists(), "it has its rows: take it out of WITHOUT_ROWS"
        return
    store = Store(folder)
    results = results_of(store.read_spec(), store.rows())
    wanted = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    found = summary(results)
    assert list(found) == list(wanted)
    for learner, means in wanted.items():
        assert found[learner] == pytest.approx(means, rel=1e-12, abs=1e-12), learner
    write_table(tmp_path / "table.csv", results)
    tables = [(part, table) for (part, _), table in results.tables.items()]
    write_csv(tmp_path / "tasks.csv", tables)
    for name in ("table.csv", "tasks.csv"):
        assert same_numbers(cells_of(tmp_path / name), cells_of(folder / name)), name


def test_results_that_lack_their_rows_get_fewer_and_never_more():
    assert len(WITHOUT_ROWS) <= 14
    assert {folder.name for folder in FOLDERS if not (folder / ROWS).exists()} == WITHOUT_ROWS


def test_what_rows_share_is_written_once_in_committed_results():
    for folder in FOLDERS:
        if folder.name not in WITHOUT_ROWS:
            content = gzip.decompress((folder / ROWS).read_bytes())
            rows = Store(folder).rows()
            shared = {json.dumps([row.spec, row.versions, row.machine]) for row in rows}
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
