"""The figures of docs/references.md are those of the committed results."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # for benchmarks/, which no wheel has

from benchmarks import reference_tables  # noqa: E402

from lifelong.experiments.catalogue.entry import EVERYONE  # noqa: E402
from lifelong.references import BOUNDS, LEARNERS, REFERENCES  # noqa: E402

PAGE = reference_tables.PAGE.read_text(encoding="utf-8")


def test_the_tables_of_the_page_follow_from_the_committed_results():
    assert reference_tables.with_tables(PAGE) == PAGE, "python -m benchmarks.reference_tables"


def test_every_reference_with_a_large_difference_has_a_reason_and_no_other_has():
    for experiment, reasons in reference_tables.REASONS.items():
        lines = [line.split("|") for line in reference_tables.table(experiment).splitlines()[2:]]
        large = {name.strip(" †") for _, name, *_, reason, _ in lines if reason.strip()}
        assert large == set(reasons), experiment
        assert all(re.search(r"[a-z]", reason) for reason in reasons.values())


def test_the_page_has_a_paragraph_for_every_file_of_an_algorithm():
    for name in EVERYONE:
        if name not in {**REFERENCES, **BOUNDS}:
            continue
        module = LEARNERS[name].make.partition(":")[0].rpartition(".")[2]
        assert f"(`{module}.py`" in PAGE, module


def test_no_page_shows_a_reference_from_before_its_mending_without_saying_so():
    for experiment, names in reference_tables.BEFORE_MENDING.items():
        page = reference_tables.page_of(experiment).read_text(encoding="utf-8")
        assert reference_tables.with_warning(experiment, page) == page, experiment
        if names:
            assert reference_tables.warning(experiment) in page, experiment
        assert set(names) <= set(reference_tables.rows_of(experiment)), experiment
