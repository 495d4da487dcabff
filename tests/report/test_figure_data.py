"""Figures are data first: what they say can be read without looking at them."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.tiny import run, tiny_spec
from lifelong.evaluation import ErrorTable
from lifelong.exceptions import DatasetError
from lifelong.experiments.spec import FigureSpec, LearnerSpec
from lifelong.experiments.store import Store
from lifelong.experiments.tables import Results, results_of, summary
from lifelong.report.curves import draw_curves
from lifelong.report.growth import growth_curves, growth_table
from lifelong.report.headline import headline, write_table
from lifelong.report.html import write_report
from lifelong.report.learner_facts import growing_labels
from lifelong.report.markdown import BEGIN, END, markdown, write_into
from lifelong.report.matrices import matrix
from lifelong.report.runs import read_run, side_by_side
from lifelong.report.sections import section
from lifelong.report.strip import VENIAT, draw_dots, draw_strips, strips
from lifelong.report.style import inline_svg, write_svg
from lifelong.report.sweeps import first_task, learner_curve, stages, sweep
from lifelong.report.tables import write_csv
from lifelong.report.written import written_strip


def table(learner, single, arrival, final):
    """One repetition per entry of ``final``; two tasks with the same errors."""
    errors = np.array([[[arrival, value], [np.nan, value]] for value in final])
    alone = np.full((len(final), 2), single)
    return ErrorTable(
        learner,
        ["a", "b"],
        np.array([100, 100]),
        errors,
        alone,
        {"plain": np.full_like(alone, 0.2)},
    )


def results(learners=("silly-n", "none"), **changes):
    """silly-n gains, none forgets; on the second stream both are worse."""
    good, bad = (0.3, 0.3, (0.1, 0.15)), (0.3, 0.3, (0.5, 0.6))
    worse = {"silly-n": (0.3, 0.3, (0.2, 0.25)), "none": (0.3, 0.3, (0.7, 0.8))}
    parts = [part.name for part in tiny_spec().parts]
    tables = {}
    for name in learners:
        tables[parts[0], name] = table(name, *(good if name == "silly-n" else bad))
        tables[parts[1], name] = table(name, *worse[name])
    spec = tiny_spec(
        learners=tuple(LearnerSpec(name) for name in learners), repetitions=2, **changes
    )
    return Results(spec, tables, [], [])


def measured(found):
    return {learner.label: found.headline(learner.label) for learner in found.spec.learners}


def test_strips_put_the_most_accurate_first_and_say_who_wins():
    panels = {panel.statistic: panel for panel in strips(measured(results(("none", "silly-n"))))}
    assert [row.label for row in panels["accuracy"].rows] == ["silly-n", "none"]
    assert panels["accuracy"].title == "silly-n is most accurate: 0.875"
    assert panels["gain"].title == "1 of 2 beat the plain single-task model, silly-n most"
    assert panels["backward_transfer"].title == "Later tasks help 1 of 2 learners; 1 forget"
    row = panels["accuracy"].rows[0]
    assert (row.whole.lower, row.whole.median) == pytest.approx((0.8625, 0.875))  # of 0.85 and 0.9
    assert row.dots.upper.tolist() == pytest.approx([0.8875, 0.8875])
    assert row.ages.tolist() == [0, 1]
    assert "silly-n 0.875" in panels["accuracy"].alt


def test_a_median_lies_between_its_quartiles_where_a_mean_may_not():
    part = tiny_spec().parts[0].name
    rare = table("silly-n", 0.3, 0.3, (0.3, 0.3, 0.3, 0.9))  # one bad repetition of four
    spec = tiny_spec(learners=(LearnerSpec("silly-n"),))
    found = Results(spec, {(part, "silly-n"): rare}, [], [])
    row = strips({"silly-n": [rare]}, ("transfer",))[0].rows[0]
    assert row.mean < row.whole.lower <= row.whole.median <= row.whole.upper
    assert (row.dots.lower <= row.dots.median).all()
    line = first_task(found).lines[0]
    assert line.y[-1] < line.lower[-1] <= line.median[-1] <= line.upper[-1]
    cell = headline(found)[0].cells["transfer"]
    assert cell.text == "−0.405"
    assert cell.spread == "0 (−0.275 … 0)"


def test_many_panels_are_drawn_in_rows_of_three_with_the_names_beside_each_row():
    panels = strips(measured(results()))
    for draw in (draw_strips, draw_dots):
        figure = draw(panels)
        assert len(figure.axes) == 6
        assert figure.get_figwidth() < 10
        assert [bool(axis.get_yticklabels()) for axis in figure.axes[:5]] == [
            *(True, False, False),
            *(True, False),
        ]
    whiskers = draw_dots(panels).axes[0].collections
    assert len(whiskers) == 4  # a set of lines and a set of dots for each of two learners


def test_a_strip_made_of_written_tables_is_the_strip_of_the_rows(tmp_path):
    found = results()
    write_table(tmp_path / "table.csv", found)
    write_csv(tmp_path / "tasks.csv", [(part, each) for (part, _), each in found.tables.items()])
    headline_parts = [part.name for part in found.spec.headline]
    for panel in strips(measured(found)):
        again = written_strip(tmp_path, panel.statistic, streams=headline_parts)
        assert [row.label for row in again.rows] == [row.label for row in panel.rows]
        for row, wanted in zip(again.rows, panel.rows, strict=True):
            np.testing.assert_allclose(row.values, wanted.values, rtol=1e-5)
            np.testing.assert_allclose(row.dots.upper, wanted.dots.upper, rtol=1e-5)
            assert row.whole.median == pytest.approx(wanted.whole.median, rel=1e-5)


def test_strips_mark_the_learners_that_grow_as_the_paper_does():
    names = ("silly-n", "silly-f-4", "silly-f-1", "model-zoo", "ewc", "not in the table")
    part = tiny_spec().parts[0].name
    specs = (*map(LearnerSpec, names), LearnerSpec("on a budget", "silly-n", {"budget": 2}))
    tables = {(part, one.label): table(one.label, 0.3, 0.3, (0.1,)) for one in specs}
    found = Results(tiny_spec(learners=specs), tables, [], [])
    growing = growing_labels(found)
    assert growing == {"silly-n", "silly-f-4", "model-zoo"}  # two tasks: four encoders are no limit
    panel = strips(measured(found), growing=growing)[0]
    figure = draw_strips([panel])
    shown = {text.get_text() for text in figure.axes[0].get_yticklabels()}
    assert shown == {
        *("silly-n *", "silly-f-4 *", "silly-f-1", "model-zoo *", "ewc"),
        *("not in the table", "on a budget"),
    }


def test_veniats_strips_show_differences_of_errors():
    panels = {panel.statistic: panel for panel in strips(measured(results()), tuple(VENIAT))}
    assert list(panels) == list(VENIAT)
    assert panels["veniat_transfer"].rows[0].values.tolist() == pytest.approx([0.3 - 0.125] * 2)
    title = "In differences of errors: later tasks help 1 of 2 learners; 1 forget"
    assert panels["veniat_backward_transfer"].title == title


def test_a_sweep_has_a_point_per_stream():
    curves = sweep(results(), statistic="error", task="a", over="degrees")
    line = curves.lines[0]
    assert (line.x.tolist(), line.y.tolist()) == ([0, 45], pytest.approx([0.125, 0.225]))
    assert curves.title == "silly-n ends with the lowest error: 0.225"
    assert sweep(results(), statistic="error", task="nobody's", over="degrees") is None
    assert (
        sweep(results(), statistic="error", task="a", over="degrees", groups=["turned"]) is None
    )  # one point: no curve


def test_stages_and_the_first_task_follow_the_stream():
    assert stages(results()).lines[0].y.tolist() == pytest.approx([0.3, 0.125])
    first = first_task(results())
    assert first.lines[0].y.tolist() == pytest.approx(
        [0, np.log(0.3 / 0.125)]
    )  # errors are averaged first
    assert first.title.startswith("Later tasks help the first one in 1 of 2 learners, silly-n most")


def test_a_stream_that_has_ended_keeps_its_last_error():
    two_tasks = results(("silly-n",))
    parts = [part.name for part in two_tasks.spec.parts]
    longer = two_tasks.tables[parts[1], "silly-n"]
    errors = np.full((2, 3, 3), np.nan)
    errors[:, 0], errors[:, 1, 1:], errors[:, 2, 2] = [0.4, 0.3, 0.2], [0.3, 0.2], 0.2
    longer = replace(
        longer,
        tasks=["a", "b", "c"],
        test_rows=np.full(3, 100),
        errors=errors,
        single=np.full((2, 3), 0.3),
        references={"plain": np.full((2, 3), 0.2)},
    )
    both = tuple(
        replace(part, group=two_tasks.spec.parts[0].group) for part in two_tasks.spec.parts
    )
    together = replace(
        two_tasks,
        spec=replace(two_tasks.spec, parts=both),
        tables={**two_tasks.tables, (parts[1], "silly-n"): longer},
    )
    of_first = [0.3, 0.125, 0.125]
    of_second = [0.4, 0.3, 0.2]
    expected = np.mean([of_first, of_second], axis=0)
    assert stages(together).lines[0].y.tolist() == pytest.approx(expected.tolist())


def test_a_curve_over_learners_joins_those_of_one_name():
    part = tiny_spec().parts[0].name
    specs = tuple(LearnerSpec(f"silly-n, {m}", "silly-n", {"budget": m}, at=m) for m in (1, 2))
    tables = {(part, s.label): table(s.label, 0.3, 0.3, (0.1 * s.at,)) for s in specs}
    curves = learner_curve(
        Results(tiny_spec(learners=specs), tables, [], []), statistic="accuracy", over="encoders"
    )
    assert [line.label for line in curves.lines] == ["silly-n"]
    assert curves.lines[0].y.tolist() == pytest.approx([0.9, 0.8])
    assert curves.title == "silly-n: accuracy 0.900 with 1, 0.800 with 2"


def test_a_matrix_says_what_happened_to_old_tasks():
    assert matrix(table("none", 0.3, 0.3, (0.5,))).title == "none loses 0.200 on old tasks"
    assert matrix(table("silly-n", 0.3, 0.3, (0.1,))).title == "silly-n gains 0.200 on old tasks"
    assert matrix(table("rf", 0.3, 0.3, (0.3,))).title == "rf keeps its accuracy on old tasks"


def test_names_at_the_ends_of_lines_never_cover_each_other():
    figure = draw_curves(stages(results()))
    places = sorted(text.get_position()[1] for text in figure.axes[0].texts)
    assert np.diff(places).min() > 0.05


def test_an_inline_figure_has_an_alt_text_and_takes_the_ink_of_the_page():
    svg = inline_svg(draw_curves(stages(results())), name="a figure", alt='says "so" & more')
    assert svg.startswith('<svg role="img" aria-label="says &quot;so&quot; &amp; more"')
    assert "currentColor" in svg
    assert "#1f2328" not in svg
    assert 'id="a-figure-' in svg


def test_the_headline_marks_the_best_and_the_csv_has_quartiles(tmp_path):
    rows = headline(results())
    assert [(row.label, row.cells["accuracy"].best) for row in rows] == [
        ("silly-n", True),
        ("none", False),
    ]
    assert rows[1].cells["transfer"].sign == "down"
    write_table(tmp_path / "table.csv", results())
    with (tmp_path / "table.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert float(lines[0]["accuracy"]) == pytest.approx(0.875)
    assert float(lines[0]["accuracy_lower"]) == pytest.approx(0.8625)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    learners = (
        LearnerSpec("silly-f", "silly-f", {"n_estimators": 2}),
        LearnerSpec("silly-f-1", "silly-f-1"),
    )
    run(tiny_spec(repetitions=1, learners=learners, figures=(FigureSpec("growth"),)), folder)
    return folder


def test_growth_stands_beside_the_papers_taxonomy(folder):
    lines = {line.label: line for line in growth_table(read_run(folder))}
    assert (lines["silly-f"].paper_space, lines["silly-f"].paper_time) == (1, 1)
    assert (lines["silly-f-1"].paper_space, lines["silly-f-1"].paper_time) == (0, 0)
    assert lines["silly-f"].exponents["rows"] == pytest.approx(1)
    assert lines["silly-f-1"].exponents["encoders"] == pytest.approx(0)
    assert {curves.name for curves in growth_curves(read_run(folder))} >= {
        "growth-size",
        "growth-training",
    }


def test_results_go_between_the_marks_of_a_page(folder, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n{BEGIN}\nold\n{END}\nafter\n")
    write_into(page, section(read_run(folder)), tmp_path / "results")
    text = page.read_text()
    assert text.startswith("# Before")
    assert text.endswith("after\n")
    assert "| silly-f |" in text
    assert "old" not in text
    assert "[results](results)" in text
    page.write_text("no marks")
    with pytest.raises(DatasetError, match="lacks the marks"):
        write_into(page, section(read_run(folder)), tmp_path)


def test_a_page_shows_the_spread_over_repetitions_and_no_finding_twice(tmp_path):
    run(
        tiny_spec(repetitions=2, figures=(FigureSpec("strip"), FigureSpec("strip-veniat"))),
        tmp_path,
    )
    found = section(read_run(tmp_path))
    lines = list(markdown(found, "results"))
    spread = found.table[0].cells["accuracy"].spread
    assert "…" in spread
    assert any(
        line.startswith(f"| {found.table[0].label} |") and f"<small>{spread}</small>" in line
        for line in lines
    )
    findings = [line for line in lines if line.startswith("- ")]
    assert len(findings) == len(set(findings)) == len(found.pictures)


def test_a_page_shows_what_the_experiment_names_first_and_then_the_strips(tmp_path):
    run(
        tiny_spec(
            repetitions=1,
            figures=(FigureSpec("stages"), FigureSpec("strip"), FigureSpec("matrices")),
        ),
        tmp_path,
    )
    pictures = [
        line for line in markdown(section(read_run(tmp_path)), "results") if line.startswith("![")
    ]
    assert ["stages.svg" in pictures[0], "strip.svg" in pictures[1], len(pictures)] == [
        True,
        True,
        2,
    ]


def test_different_experiments_stay_apart(folder, tmp_path):
    run(replace(tiny_spec(repetitions=1), experiment="another"), tmp_path)
    assert [found.spec.experiment for found in side_by_side([folder, tmp_path])] == [
        "tiny",
        "another",
    ]


def test_runs_of_one_experiment_are_joined_and_told_apart_by_their_folders(tmp_path):
    twins = [tmp_path / "mine" / "run", tmp_path / "yours" / "run"]
    for twin in twins:
        run(tiny_spec(repetitions=1), twin)
    (joined,) = side_by_side([*twins, twins[0]])
    assert [learner.label for learner in joined.spec.learners] == [
        *("two trees · mine/run", "rf · mine/run"),
        *("two trees · yours/run", "rf · yours/run"),
    ]
    assert len(headline(joined)) == 4


def test_a_report_has_the_spec_of_what_it_shows_and_a_run_keeps_its_own(tmp_path):
    old, new, shown = tmp_path / "old", tmp_path / "new", tmp_path / "shown"
    specs = {
        folder: tiny_spec(repetitions=n, figures=()) for n, folder in enumerate((old, new), start=1)
    }
    for folder, spec in specs.items():
        run(spec, folder)
        write_report([folder], shown)
        assert Store(shown).read_spec() == Store(folder).read_spec() == spec
    write_report([old, new], new)
    assert Store(new).read_spec() == specs[new]


@pytest.mark.parametrize("name", ["ours", "a learner whose name is very long"])
def test_the_title_of_a_strip_ends_inside_the_figure(name):
    for panel in strips({one: [table(one, 0.3, 0.3, (0.1,))] for one in (name, "rf")}):
        figure = draw_strips([panel])
        figure.draw_without_rendering()
        assert figure.axes[0]._left_title.get_window_extent().x1 <= figure.bbox.x1


def test_the_rows_beside_a_report_give_its_summary_again(tmp_path):
    twins = [tmp_path / "mine", tmp_path / "yours"]
    for seed, twin in enumerate(twins):
        run(tiny_spec(repetitions=1, seed=seed, figures=()), twin)
    for name, folders in {"one": twins[:1], "both": twins}.items():
        shown = tmp_path / name
        write_report(folders, shown)
        store = Store(shown)
        again = summary(results_of(store.read_spec(), store.rows()))
        assert again == json.loads((shown / "summary.json").read_text())
        assert len(again) == 2 * len(folders)
        assert all(means["gain"] is not None for means in again.values())


def test_a_report_of_packed_rows_gives_the_same_files(tmp_path):
    first = tmp_path / "first"
    second = tmp_path / "second"
    run(tiny_spec(repetitions=2, figures=(FigureSpec("strip"),)), tmp_path / "run")
    write_report([tmp_path / "run"], first)
    write_report([first], second)
    assert not (first / "rows.jsonl").exists()
    files = {file.relative_to(first) for file in first.rglob("*") if file.is_file()}
    assert Path("rows.jsonl.gz") in files
    assert files == {file.relative_to(second) for file in second.rglob("*") if file.is_file()}
    for file in files:
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


def test_a_report_in_its_own_run_directory_leaves_the_rows_alone(tmp_path):
    run(tiny_spec(repetitions=1, figures=()), tmp_path)
    before = (tmp_path / "rows.jsonl").read_bytes()
    write_report([tmp_path], tmp_path)
    assert (tmp_path / "rows.jsonl").read_bytes() == before
    assert not (tmp_path / "rows.jsonl.gz").exists()


def test_a_figure_has_its_text_as_text_and_the_same_bytes_each_time(tmp_path):
    panels = strips(measured(results()))
    files = [write_svg(draw_strips(panels), tmp_path / folder / "strip") for folder in "ab"]
    texts = [file.read_text() for file in files]
    assert texts[0] == texts[1]
    assert ">silly-n is most accurate: 0.875</text>" in texts[0]
    places = re.findall(r'\b[dxy]="([^"]*)"', texts[0])
    assert places
    assert not [place for place in places if re.search(r"\.\d{3}", place)]
