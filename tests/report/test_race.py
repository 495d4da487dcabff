"""A race from stored rows: means, standard errors, and wins, ties and losses by stream."""

import numpy as np
import pytest

from lifelong.evaluation.measure import SINGLE, STAGE
from lifelong.experiments.lines import RowLines, all_lines
from lifelong.experiments.rows import Row
from lifelong.experiments.spec import FigureSpec, LearnerSpec, Part, Spec
from lifelong.experiments.tables import results_of
from lifelong.report.html import write_sections
from lifelong.report.race import draw_race, race, table_lines
from lifelong.report.reliability import task_curves
from lifelong.report.sections import section

ERRORS = {  # by stream, learner and repetition
    ("near", "ours"): [0.10, 0.12, 0.11],
    ("near", "rival"): [0.20, 0.23, 0.21],
    ("far", "ours"): [0.30, 0.31, 0.29],
    ("far", "rival"): [0.25, 0.34, 0.30],
}
CURVES = [  # by repetition
    {"confidence": [None, 0.8], "accuracy": [None, 0.5], "rows": [0, 10]},
    {"confidence": [0.4, 0.9], "accuracy": [1.0, 1.0], "rows": [10, 10]},
    {"confidence": [None, 0.7], "accuracy": [None, 0.9], "rows": [0, 20]},
]


def results():
    parts = tuple(Part(name, "xor", others=("roc_auc",)) for name in ("near", "far"))
    spec = Spec(
        "a-race",
        "full",
        "Who wins?",
        parts,
        (LearnerSpec("rival", "rf"), LearnerSpec("ours", "silly-f")),
        repetitions=3,
        figures=(FigureSpec("race", {"ours": "ours"}),),
    )
    rows = []
    for (part, learner), errors in ERRORS.items():
        for repetition, error in enumerate(errors):
            for kind in (SINGLE, STAGE):
                others = {"roc_auc": error / 2} if kind == STAGE else {}
                rows.append(
                    Row(
                        spec=spec.hash,
                        part=part,
                        learner=learner,
                        name="rf",
                        parameters={},
                        repetition=repetition,
                        seed=repetition,
                        kind=kind,
                        task="t",
                        stage=0,
                        n_tasks=1,
                        error=error,
                        test_rows=10,
                        bytes={"encoders": 1},
                        others=others,
                        reliability=CURVES[repetition] if others else {},
                    )
                )
    return results_of(spec, rows)


def test_wins_and_ties_are_counted_by_stream_with_paired_differences():
    found = race(results(), "ours")
    assert list(found.standings) == ["ours", "rival"]
    assert found.metrics == ("accuracy", "AUC")
    rival = found.standings["rival"]["accuracy"]
    assert rival.verdicts == {"win": 1, "tie": 1, "loss": 0}
    assert rival.mean == pytest.approx(1 - (0.64 / 3 + 0.89 / 3) / 2)
    assert found.standings["ours"]["accuracy"].verdicts is None
    assert found.title.startswith("ours has accuracy 0.795, its best rival rival 0.745")


def test_the_table_has_a_line_for_each_learner_and_the_figure_a_panel_for_each_metric():
    found = race(results(), "ours")
    lines = table_lines(found)
    assert lines[2].startswith("| **ours** | 0.795 ± ")
    assert lines[3].count("1, 1, 0") == 2
    assert len(draw_race(found).axes) == 2


def test_there_is_no_race_without_a_rival_or_without_ours():
    assert race(results(), "somebody else") is None


def test_the_curve_of_a_task_holds_the_rows_of_all_repetitions():
    found = task_curves(results(), "ours")
    assert [(each.part, each.task) for each in found] == [("near", "t"), ("far", "t")]
    curve = found[0].curve
    assert curve.rows.tolist() == [10, 40]
    np.testing.assert_allclose(curve.confidence, [0.4, (8 + 9 + 14) / 40])
    np.testing.assert_allclose(curve.accuracy, [1.0, (5 + 10 + 18) / 40])


def test_a_curve_comes_back_from_its_line_as_it_was():
    (row, *_) = [row for row in results().rows if row.reliability]
    reader = RowLines()
    (found,) = [row for line in all_lines([row]).splitlines() if (row := reader.read(line))]
    assert found == row


def test_the_page_of_a_race_has_all_metrics_and_a_curve_for_each_task_of_ours(tmp_path):
    page, *_ = write_sections([section(results())], tmp_path)
    text = page.read_text()
    assert "<h2>accuracy, AUC</h2>" in text
    assert "probabilities mean what they say" in text
    for part in ("near", "far"):
        assert f"Reliability of {part}: t · ECE" in text
