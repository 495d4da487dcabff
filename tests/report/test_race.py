"""A race from stored rows: means, standard errors, and wins, ties and losses by stream."""

import pytest

from lifelong.evaluation.measure import SINGLE, STAGE
from lifelong.experiments.rows import Row
from lifelong.experiments.spec import FigureSpec, LearnerSpec, Part, Spec
from lifelong.experiments.tables import results_of
from lifelong.report.race import draw_race, race, table_lines

ERRORS = {  # by stream, learner and repetition
    ("near", "ours"): [0.10, 0.12, 0.11],
    ("near", "rival"): [0.20, 0.23, 0.21],
    ("far", "ours"): [0.30, 0.31, 0.29],
    ("far", "rival"): [0.25, 0.34, 0.30],
}


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
