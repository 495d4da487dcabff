"""Bad tables get an error that names column, row and what to do, and leave the model as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from small_tables import MODELS, answers, classifier, inputs, regressor, table

from lifelong import LifelongClassifier, LifelongError
from lifelong.exceptions import InputError, InputWarning, ParameterError, UnknownTaskError

each_model = pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS)
FRAME = table(12)
ROWS = inputs(FRAME)
NEW = inputs(table(5, seed=1))


def with_value(column, row, value):
    values = ROWS[column].tolist()
    for place in np.atleast_1d(row):
        values[place] = value
    return ROWS.assign(**{column: pd.Series(values, dtype=object)})


def twice(frame, column):
    return pd.concat([frame, frame[[column]]], axis=1)


BAD_TABLES = {
    "a misspelt task column": (
        ROWS.rename(columns={"site": "sit"}),
        "no task column 'site'. Did you mean 'sit'",
    ),
    "a task column with holes": (
        with_value("site", [3, 5], None),
        r"The task column 'site' is empty in 2 rows \(3, 5\). Fill it in",
    ),
    "a task column of fractions": (ROWS.assign(site=0.5), "holds fractions. Tasks have names"),
    "a task column of dates": (
        ROWS.assign(site=pd.Timestamp("2020-01-01")),
        "holds dates. Tasks have names",
    ),
    "a task column of numbers too long": (
        ROWS.assign(site=np.arange(len(ROWS)) + 2**60),
        "more than 15 digits.*as text",
    ),
    "text in a number column": (
        with_value("dose", 4, "much"),
        "Column 'dose' holds numbers, and row 4 has text: 'much'",
    ),
    "a number in a text column": (
        with_value("pain", 7, 3),
        "Column 'pain' holds text, and row 7 has a number: '3'",
    ),
    "no date in a date column": (
        with_value("visit", 2, "soon"),
        "Column 'visit' holds dates, and row 2 has no date: 'soon'",
    ),
    "two columns of one name": (twice(ROWS, "dose"), "two columns called 'dose'. Rename one"),
    "an empty frame": (ROWS[:0], "0 rows"),
    "nothing but the task": (ROWS[["site"]], "no column but the task column 'site'"),
    "a new column of only missing values": (
        ROWS.assign(weight=np.nan),
        "Column 'weight' has no value in any row.*Leave it out",
    ),
    "infinite numbers": (
        with_value("dose", 9, np.inf).astype({"dose": float}),
        "Column 'dose' has an infinite or too large number in row 9",
    ),
    "a whole number without end": (
        with_value("dose", 9, 10**400),
        "Column 'dose' has an infinite or too large number in row 9",
    ),
    "an object in a column": (
        with_value("pain", 1, {"a": 1}),
        r"Column 'pain' holds a dict.*\(row 1\)",
    ),
}


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


def refused(model, message, call, *arguments, **more):
    """The call is refused with this message, and the model is what it was."""
    before = state(model)
    with pytest.raises(LifelongError, match=message):
        getattr(model, call)(*arguments, **more)
    assert state(model) == before


@each_model
@pytest.mark.parametrize("what", BAD_TABLES)
def test_a_bad_table_is_refused_and_changes_nothing(make, target, what):
    frame, message = BAD_TABLES[what]
    model = make().fit(ROWS, FRAME[target])
    before = answers(model, NEW)
    y = FRAME[target].to_numpy()[: len(frame)]
    refused(model, message, "partial_fit", frame, y)
    np.testing.assert_array_equal(answers(model, NEW), before)
    if what != "a new column of only missing values":  # a column that is not known is not read
        refused(model, message, "predict", frame)


@each_model
def test_many_texts_are_refused_as_identifiers(make, target):
    frame = ROWS.assign(patient=[f"p{number}" for number in range(len(ROWS))])
    model = make().fit(frame, FRAME[target])
    n = 100_000
    many = pd.DataFrame({"site": "lyon", "patient": [f"q{number}" for number in range(n)]})
    refused(
        model,
        "'patient' holds 100036 different texts.*Leave the column out",
        "partial_fit",
        many,
        FRAME[target].sample(n, replace=True, random_state=0).to_numpy(),
    )


@each_model
def test_a_misspelt_column_is_met_with_the_right_one_when_asked(make, target):
    model = make().fit(ROWS, FRAME[target])
    asked = NEW.rename(columns={"dose": "doze"})
    refused(model, "Column 'doze' is not known. Did you mean 'dose'", "predict", asked)
    unknown = pd.DataFrame({"site": ["lyon"], "quite": [1.0], "different": ["a"]})
    refused(model, "None of the known columns is in X: 'dose', 'pain'", "predict", unknown)


@each_model
def test_a_misspelt_column_is_learnt_with_a_warning_that_names_the_right_one(make, target):
    model = make().fit(ROWS, FRAME[target])
    more = table(5, seed=1)
    new = inputs(more).rename(columns={"dose": "Doze"})
    with pytest.warns(InputWarning, match="'Doze' .did you mean 'dose'... They are learnt as"):
        model.partial_fit(new, more[target])
    assert "Doze" in model.columns_.by_name


def test_a_warning_turned_into_an_error_leaves_the_model_as_it_was():
    model = classifier().fit(ROWS, FRAME.ill)  # the tests make errors of warnings
    before = answers(model, NEW)
    with pytest.raises(InputWarning, match="did you mean"):
        model.partial_fit(ROWS.rename(columns={"dose": "doze"}), FRAME.ill)
    assert list(model.columns_.by_name) == list(ROWS.columns.drop("site"))
    np.testing.assert_array_equal(answers(model, NEW), before)


def test_labels_that_look_alike_are_learnt_with_a_warning_that_names_them():
    labels = FRAME.ill.replace({"yes": "Yes"}).to_numpy()
    model = classifier().fit(ROWS, FRAME.ill)
    with pytest.warns(InputWarning, match="The labels 'yes', 'Yes' are different classes"):
        model.partial_fit(ROWS, labels)
    assert set(model.classes_) == {"no", "yes", "Yes"}
    model.partial_fit(ROWS, labels)  # once is enough


def test_a_new_column_beside_a_known_one_of_a_similar_name_is_welcome():
    model = classifier().fit(ROWS, FRAME.ill)
    model.partial_fit(ROWS.assign(doses=1.0), FRAME.ill)
    model.partial_fit(ROWS.drop(columns="dose").assign(weight=1.0), FRAME.ill)
    assert {"doses", "weight"} <= set(model.columns_.by_name)


def test_columns_that_differ_in_their_number_are_no_misspelling():
    frame = ROWS.assign(sensor_1=1.0)
    model = classifier().fit(frame, FRAME.ill)
    assert len(model.predict(NEW.assign(sensor_12=2.0))) == len(NEW)


BAD_TARGETS = {
    "ill": {
        "holes": (
            FRAME.ill.where(~FRAME.index.isin([2, 7])),
            r"target is missing in 2 rows \(2, 7\). Leave these rows out",
        ),
        "holes of polars": (
            pl.Series([None, *FRAME.ill.tolist()[1:]]),
            r"target is missing in 1 rows \(0\)",
        ),
        "holes among numbers": (
            np.where(FRAME.index == 4, np.nan, 1.0),
            r"target is missing in 1 rows \(4\)",
        ),
        "masked": (np.ma.masked_array(FRAME.ill.to_numpy(str), FRAME.index < 3), "masked"),
        "unhashable": ([{"a": 1}] * 36, "hashable"),
        "lists": ([[1], [1, 2]] * 18, "hashable|1d|broadcast"),
        "fractions": (FRAME.days, "continuous"),
        "none": (None, "y"),
        "too few": (FRAME.ill[:5].to_numpy(), "X has 36 rows and y has 5 labels"),
        "another index": (
            FRAME.ill.sample(frac=1, random_state=0),
            "X and y have different indexes",
        ),
    },
    "days": {
        "holes": (
            FRAME.days.where(~FRAME.index.isin([2, 7])),
            r"target is missing in 2 rows \(2, 7\). Leave these rows out",
        ),
        "infinite": (FRAME.days.where(FRAME.index != 3, np.inf), "row 3 has inf"),
        "too large": (FRAME.days.where(FRAME.index != 3, 1e35), r"row 3 has 1e\+35"),
        "masked": (np.ma.masked_array(FRAME.days, FRAME.index < 3), "masked"),
        "dates": (np.arange(36).astype("datetime64[D]"), "dates"),
        "durations": (pd.Series(pd.to_timedelta(range(36), unit="h")), "durations"),
        "complex numbers": (1j * FRAME.days.to_numpy(), "complex"),
        "text": (FRAME.ill, "no number. For classes use LifelongClassifier"),
        "none": (None, "y"),
        "two columns": (np.zeros((36, 2)), "one number per row"),
        "too few": (FRAME.days[:5].to_numpy(), "X has 36 rows and y has 5 numbers"),
        "another index": (
            FRAME.days.sample(frac=1, random_state=0),
            "X and y have different indexes",
        ),
    },
}


@pytest.mark.parametrize(
    ("target", "what"), [(target, what) for target in BAD_TARGETS for what in BAD_TARGETS[target]]
)
def test_a_bad_target_is_refused_and_changes_nothing(target, what):
    y, message = BAD_TARGETS[target][what]
    make = MODELS[{"ill": "classifier", "days": "regressor"}[target]][0]
    refused(make(), message, "fit", ROWS, y)
    model = make().fit(ROWS, FRAME[target])
    refused(model, message, "partial_fit", ROWS, y)
    refused(model, message, "fit", ROWS, y)


@each_model
def test_bad_task_names_beside_a_table_are_refused(make, target):
    rows = ROWS.drop(columns="site")
    model = make(task_column=None).fit(rows, FRAME[target], task=FRAME.site)
    for names, message in {
        "too few": (["lyon"] * 3, "X has 36 rows and task has 3 names"),
        "holes": (FRAME.site.where(FRAME.index != 6), r"task= is empty in 1 rows \(6\)"),
        "lists": ([["lyon"]] * 36, "holds a list"),
        "a fraction": (1.5, "neither a name nor one name per row"),
        "fractions": (np.full(36, 0.5), "task= holds fractions"),
        "empty": ([""] * 36, "cannot name a task"),
        "another index": (FRAME.site[::-1], "different indexes"),
    }.values():
        refused(model, message, "partial_fit", rows, FRAME[target], task=names)
        refused(model, message, "predict", rows, task=names)
    refused(model, "Several tasks are known", "predict", rows)
    refused(make().fit(ROWS, FRAME[target]), "Give one of both", "predict", ROWS, task="lyon")


@each_model
def test_arrays_of_another_width_are_refused(make, target):
    X = FRAME[["dose", "smokes"]].to_numpy(float)
    model = make(task_column=None).fit(X, FRAME[target])
    for call, more in (("predict", ()), ("partial_fit", (FRAME[target],))):
        message = "X has 1 features, but .* is expecting 2 features"
        refused(model, message, call, X[:, :1], *more)


BAD_PARAMETERS = {
    "n_estimators": 0,
    "max_depth": -1,
    "max_features": "many",
    "min_samples_leaf": 0,
    "shared": "yes",
    "on_unseen": "guess",
    "n_jobs": 0,
    "task_column": 1.5,
}


@each_model
@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_a_bad_parameter_is_refused_by_name_and_changes_nothing(make, target, name):
    model = make().fit(ROWS, FRAME[target])
    model.set_params(**{name: BAD_PARAMETERS[name]})
    before = state(model)
    with pytest.raises(ParameterError, match=name):
        model.partial_fit(ROWS, FRAME[target])
    assert state(model) == before


@pytest.mark.parametrize(
    "classes",
    [
        *("ab", 3, {"no"}, {"no": 1}, ["no", np.nan], [0, 1.5], ["no", "no"], [1, True]),
        *(["a", ["b"]], np.array([["a", "b"]]), ["no", "a\0"]),
    ],
    ids=repr,
)
def test_what_is_no_list_of_distinct_labels_declares_no_classes(classes):
    """In tables, and in images, whose networks are not reached."""
    refused(classifier(), ".", "partial_fit", ROWS, FRAME.ill, classes=classes)
    pictures = np.zeros((36, 1, 4, 4), dtype=np.float32)
    model = LifelongClassifier(random_state=0)
    refused(model, ".", "partial_fit", pictures, FRAME.ill.to_numpy(), "a", classes=classes)


def test_rows_that_would_be_misread_are_refused():
    """What is masked is no value, and a loader gives no table."""
    numbers = np.arange(72.0).reshape(36, 2)
    masked = np.ma.masked_array(numbers, numbers > 20)
    columns = {"dose": masked[:, 0], "age": numbers[:, 1]}
    loader = torch.utils.data.DataLoader(list(numbers))
    for make, y in ((classifier, FRAME.ill), (regressor, FRAME.days)):
        model = make(task_column=None)
        for rows in (masked, columns):
            refused(model, "is a masked array", "fit", rows, y.to_numpy())
        for rows in (loader, (row for row in numbers), iter(numbers)):
            refused(model, "not rows. Give arrays", "fit", rows, y.to_numpy())
        model.fit(np.ma.masked_array(numbers, mask=False), y.to_numpy())


@pytest.mark.parametrize(
    "weight", ["even", {"yes": -1.0}, {"yes": np.nan}, {"yes": 1e300}, {"yes": 0, "no": 0}, 3]
)
def test_a_bad_class_weight_is_refused(weight):
    with pytest.raises(ParameterError, match="class_weight"):
        classifier(class_weight=weight).fit(ROWS, FRAME.ill)


@each_model
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "sample_weight has shape"),
        (np.full(36, -1.0), "at least 0"),
        (np.zeros(36), "not zero for all"),
        (["a"] * 36, "not numbers"),
        (pd.Series(np.ones(36))[::-1], "different indexes"),
    ],
)
def test_bad_weights_are_refused(make, target, weights, message):
    model = make().fit(ROWS, FRAME[target])
    refused(model, message, "partial_fit", ROWS, FRAME[target], sample_weight=weights)


def test_numbers_have_no_classes_and_an_interval_is_a_share():
    model = regressor().fit(ROWS, FRAME.days)
    refused(model, "classes= is for", "partial_fit", ROWS, FRAME.days, classes=[1, 2])
    for share in (0, 1, 90):
        refused(model, "interval=.* is not a share", "predict", ROWS, interval=share)


@each_model
def test_nothing_is_known_before_the_first_lesson(make, target):
    refused(make(), "has not learnt any task yet", "predict", ROWS)
    for attribute in ("tasks_", "columns_", "classes_", "n_features_in_"):
        assert not hasattr(make(), attribute)


@each_model
def test_an_unknown_task_is_refused_where_one_is_meant(make, target):
    model = make().fit(ROWS, FRAME[target])
    for call in (lambda: model.forget("rome"), lambda: model.rename("rome", "x")):
        with pytest.raises(UnknownTaskError, match="Unknown task 'rome'"):
            call()
    with pytest.raises(InputError, match="There is a task 'oslo' already"):
        model.rename("lyon", "oslo")
