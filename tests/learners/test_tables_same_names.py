"""Names of tasks and labels at the front door: what would be misread is refused or named."""

import numpy as np
import pandas as pd
import pytest

from learners.small_tables import classifier, inputs, regressor, table
from lifelong.exceptions import InputError, InputTypeError, InputWarning, ParameterError

FRAME = table(12, sites=(1, 2, 3))
ROWS = inputs(FRAME)


@pytest.mark.parametrize("written", [str, "{:02d}".format])
def test_a_task_that_was_a_number_and_comes_as_text_is_refused(written):
    model = classifier().fit(ROWS, FRAME.ill)
    before = model.predict_proba(ROWS)
    other = ROWS.assign(site=[written(site) for site in ROWS.site])
    for call in (lambda: model.predict(other), lambda: model.partial_fit(other, FRAME.ill)):
        with pytest.raises(InputError, match="is text, and task . is a whole number"):
            call()
    np.testing.assert_array_equal(model.predict_proba(ROWS), before)
    assert list(model.tasks_) == list(dict.fromkeys(ROWS.site))


def test_a_task_that_was_text_and_comes_as_a_number_is_refused():
    model = classifier().fit(ROWS.assign(site="07"), FRAME.ill)
    with pytest.raises(InputError, match="write it as '07' everywhere"):
        model.predict(ROWS.assign(site=7))


def test_both_kinds_of_one_name_in_one_table_are_refused():
    site = np.array([1, "1"] * 18, dtype=object)
    with pytest.raises(InputError, match="they would be two tasks"):
        classifier().fit(ROWS.assign(site=site), FRAME.ill)


def test_tasks_that_differ_in_case_or_spaces_are_named_in_a_warning():
    model = classifier().fit(ROWS.assign(site="Oslo"), FRAME.ill)
    with pytest.warns(InputWarning, match="'oslo ' is not known, and is answered as an unseen"):
        model.predict(ROWS.assign(site="oslo "))
    with pytest.warns(InputWarning, match="'oslo' is learnt as a task of its own"):
        model.partial_fit(ROWS.assign(site="oslo"), FRAME.ill)
    model.predict(ROWS.assign(site="oslo"))  # it is a task now


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pd.array([1, 2] * 18, dtype="Int64"), [1, 2]),
        (pd.array([True, False] * 18, dtype="boolean"), [False, True]),
        (pd.Series([1, 2] * 18, dtype="int64[pyarrow]"), [1, 2]),
    ],
)
def test_labels_of_nullable_kinds_stay_what_they_are(labels, expected):
    model = classifier().fit(ROWS, labels)
    assert model.classes_.tolist() == expected
    assert [type(label) for label in model.classes_.tolist()] == [type(expected[0])] * 2


@pytest.mark.parametrize("classes", ["yes", {"no", "yes"}, 3])
def test_declared_classes_are_a_list_of_labels(classes):
    with pytest.raises(InputTypeError, match="no list of labels"):
        classifier().partial_fit(ROWS, FRAME.ill, classes=classes)


def test_a_target_that_is_no_sequence_is_refused():
    with pytest.raises(InputTypeError, match="y is a set"):
        classifier().fit(ROWS, {"no", "yes"})


def test_dates_are_no_numbers_to_predict():
    with pytest.raises(InputTypeError, match="dates"):
        regressor().fit(ROWS, pd.date_range("2024-01-01", periods=len(ROWS)))


def test_an_interval_around_a_number_that_never_changes_is_that_number():
    model = regressor().fit(ROWS, np.full(len(ROWS), 3.0))
    np.testing.assert_allclose(model.predict(ROWS, interval=0.9), 3.0)


def test_a_number_in_a_column_of_true_and_false_is_refused_by_row():
    model = classifier().fit(ROWS, FRAME.ill)
    smokes = ROWS.smokes.astype(float)
    model.predict(ROWS.assign(smokes=smokes))
    with pytest.raises(InputError, match="holds true and false, and row 5 has a number: '7.0'"):
        model.predict(ROWS.assign(smokes=smokes.where(smokes.index != smokes.index[5], 7.0)))


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5, True])
def test_n_jobs_is_a_number_of_workers(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs"):
        classifier(n_jobs=n_jobs).fit(ROWS, FRAME.ill)


def test_what_is_no_table_is_called_by_its_kind():
    with pytest.raises(InputError, match="X is a NoneType, not a table"):
        classifier().fit(None, FRAME.ill)


def test_numbers_as_text_are_learnt_with_a_warning():
    comma = ["1,5", "2,5", "3,5"] * 12
    with pytest.warns(InputWarning, match="Column 'size' holds numbers that are written as text"):
        classifier().fit(ROWS.assign(size=comma), FRAME.ill)
