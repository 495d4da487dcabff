"""Report pages as a browser shows them."""

import numpy as np
import pytest
from PIL import Image

from experiments.tiny import run, tiny_spec
from lifelong.report.html import write_report
from report.pages import browse, needs_chromium

SORT = """
  const table = document.querySelector("table.sortable");
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex((cell) => cell.textContent.trim() === "%s");
  const content = (cell) => cell.dataset.value ?? cell.textContent;
  const read = () => [...table.tBodies[0].rows].map((row) => content(row.cells[column]));
  const button = table.tHead.rows[0].cells[column].querySelector("button");
  button.click();
  const once = read();
  button.click();
  return {once, twice: read(), sort: table.tHead.rows[0].cells[column].getAttribute("aria-sort")};
"""
FIGURES = """
  return [...document.querySelectorAll("figure svg")].map((svg) => {
    const box = svg.getBoundingClientRect();
    const ink = getComputedStyle(svg.querySelector("text")).fill;
    return {width: box.width, height: box.height, alt: svg.getAttribute("aria-label"), ink};
  });
"""
LAYOUT = """
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  return {page: document.documentElement.scrollWidth, window: innerWidth, loaded};
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    needs_chromium()
    folder = tmp_path_factory.mktemp("run")
    run(tiny_spec(repetitions=2), folder)
    return write_report([folder], folder)[0]


def test_the_table_sorts_both_ways_by_numbers_and_by_names(page, tmp_path):
    seen, complaints = browse(page, tmp_path, script=SORT % "train s")
    once = [float(value) for value in seen["once"]]
    assert once == sorted(once, reverse=True)
    assert [float(value) for value in seen["twice"]] == sorted(once)
    assert seen["sort"] == "ascending"
    names, more = browse(page, tmp_path, script=SORT % "learner")
    assert names["once"] == ["rf", "two trees"]
    assert names["twice"] == ["two trees", "rf"]
    assert complaints + more == []


@pytest.mark.parametrize(
    ("dark", "ink"), [(False, "rgb(31, 35, 40)"), (True, "rgb(230, 237, 243)")]
)
def test_figures_are_visible_and_their_ink_follows_the_colour_scheme(page, tmp_path, dark, ink):
    figures, complaints = browse(page, tmp_path, script=FIGURES, dark=dark)
    assert len(figures) == 5 + 1 + 2  # strips, stages, a matrix per learner
    assert complaints == []
    for figure in figures:
        assert figure["width"] > 200
        assert figure["height"] > 80
        assert figure["ink"] == ink
        assert len(figure["alt"]) > 20


@pytest.mark.parametrize(("dark", "paper"), [(False, 255), (True, 20)])
def test_both_colour_schemes_are_painted(page, tmp_path, dark, paper):
    browse(page, tmp_path, dark=dark, screenshot=tmp_path / "page.png")
    with Image.open(tmp_path / "page.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    assert abs(int(np.median(pixels[:, :5])) - paper) <= 10
    assert pixels.std() > 10


def test_the_page_fits_a_phone_and_loads_nothing(page, tmp_path):
    seen, complaints = browse(page, tmp_path, script=LAYOUT, width=500)
    assert seen["page"] <= seen["window"]  # wide tables scroll within themselves
    assert seen["loaded"] == []
    assert complaints == []
    assert "http://" not in page.read_text().replace("http://www.w3.org/", "")
