"""Names in reports come from anywhere: they are shown as they are, and nothing runs them."""

import csv
import json

import pytest

from experiments.tiny import run, tiny_spec
from lifelong._spreadsheet import safe_cell
from lifelong.experiments.spec import LearnerSpec, Part
from lifelong.report.html import write_report
from lifelong.report.markdown import write_into
from lifelong.report.runs import side_by_side
from lifelong.report.sections import section
from report.pages import browse, needs_chromium

SCRIPT = "<script>x()</script>"
IMAGE = "<img src=x onerror=x()>"
FORMULA = "=cmd()"
HOSTILE = {
    "learner": SCRIPT,
    "other learner": FORMULA,
    "stream": f'"><svg onload="x()">{FORMULA}',
    "task": IMAGE,
    "second task": "$\\frac{$ [x](javascript:alert(1)) | --> </svg> \x1b[31m \ud800",
    "question": f"{SCRIPT} ${{7*7}} {{{{ 7*7 }}}}",
}
SEEN = """
  return {
    scripts: document.scripts.length,
    images: document.images.length,
    text: document.body.textContent,
    drawn: [...document.querySelectorAll("svg text")].map((text) => text.textContent),
    names: [...document.querySelectorAll("th[scope=row]")].map((cell) => cell.textContent),
  };
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose learners, streams, tasks and question have hostile names."""
    folder = tmp_path_factory.mktemp("run")
    spec = tiny_spec(
        experiment="tiny",
        question=HOSTILE["question"],
        parts=(Part(HOSTILE["stream"], "xor", {"n": 12, "n_test": 10, "second": "xnor"}),),
        learners=(
            LearnerSpec(HOSTILE["learner"], "silly-f", {"n_estimators": 2}),
            LearnerSpec(HOSTILE["other learner"], "rf", {"n_estimators": 2}),
        ),
        repetitions=2,
    )
    run(spec, folder)
    names = {"xor": HOSTILE["task"], "xnor": HOSTILE["second task"]}
    rows = folder / "rows.jsonl"
    lines = []
    for line in rows.read_text().splitlines():
        content = json.loads(line)
        if content.get("task") in names:
            content["task"] = names[content["task"]]
        lines.append(json.dumps(content))
    rows.write_text("\n".join(lines) + "\n")
    return folder


def test_nothing_in_a_report_page_runs_in_a_real_browser(folder, tmp_path):
    needs_chromium()
    page, *_ = write_report([folder], tmp_path / "report")
    seen, complaints = browse(page, tmp_path, script=SEEN)
    assert seen["scripts"] == 2  # the page's own, and the one that looks
    assert seen["images"] == 0
    assert set(seen["names"]) >= {SCRIPT, FORMULA}
    assert HOSTILE["question"] in seen["text"]
    drawn = "".join(seen["drawn"])
    assert IMAGE in drawn
    assert "$\\frac{$" in drawn
    assert complaints == []  # x is not defined: whoever calls it is heard of


def test_no_cell_of_a_written_table_is_a_formula(folder, tmp_path):
    write_report([folder], tmp_path)
    for name in ("table.csv", "tasks.csv"):
        with (tmp_path / name).open(newline="", encoding="utf-8") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert f"'{FORMULA}" in cells
        assert not [cell for cell in cells if is_formula(cell)]


def is_formula(cell):
    if not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    "label", ["=cmd()", "+1+1", "-1+1", "@SUM(A1)", "\t=1", " =1", "\r=1", "-", "=-1", "+"]
)
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(label):
    assert safe_cell(label) == f"'{label}"


@pytest.mark.parametrize("label", ["-1", "+1.5", "-1e-3", "-inf", -1, 2.5, None, "a=b", "", True])
def test_numbers_and_other_text_stay_as_they_are(label):
    assert safe_cell(label) is label


def test_a_markdown_page_gets_no_html_from_names(folder, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- measured: begin -->\n<!-- measured: end -->\n")
    write_into(page, section(side_by_side([folder])[0]), tmp_path)
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script>" in text


def test_a_run_s_name_leads_no_file_out_of_the_folder(tmp_path):
    for name in ("../../outside", "other"):
        run(tiny_spec(experiment=name, repetitions=1), tmp_path / "runs" / name[-5:])
    folders = sorted((tmp_path / "runs").iterdir())
    written = write_report(folders, tmp_path / "deep" / "report")
    assert all(path.resolve().is_relative_to(tmp_path / "deep" / "report") for path in written)
