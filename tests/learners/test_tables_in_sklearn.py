"""scikit-learn's tools around the models of tables: routing, searches, pipelines, folds."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from small_tables import MODELS, classifier, inputs, regressor, table

each_model = pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS)
FRAME = table(30)
ROWS = inputs(FRAME)
BARE = ROWS.drop(columns="site")


@each_model
def test_scikit_learn_knows_what_kind_of_model_it_is(make, target):
    model = make()
    assert is_classifier(model) == (target == "ill")
    assert is_regressor(model) == (target == "days")
    copied = clone(model.fit(ROWS, FRAME[target]))
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "tasks_")


@each_model
def test_cross_validation_takes_the_table_as_it_is(make, target):
    scores = cross_val_score(make(), ROWS, FRAME[target], cv=KFold(3, shuffle=True, random_state=0))
    assert len(scores) == 3
    assert scores.mean() > 0.5


@each_model
def test_folds_of_tasks_measure_tasks_that_are_new(make, target):
    scores = cross_val_score(make(), ROWS, FRAME[target], groups=ROWS.site, cv=GroupKFold(3))
    by_hand = []
    for train, test in GroupKFold(3).split(ROWS, groups=ROWS.site):
        model = make().fit(ROWS.iloc[train], FRAME[target].iloc[train])
        assert not set(ROWS.site.iloc[test]) & set(model.tasks_)
        by_hand.append(model.score(ROWS.iloc[test], FRAME[target].iloc[test]))
    np.testing.assert_allclose(scores, by_hand)


@each_model
def test_task_names_are_routed_to_fit_and_score(make, target):
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(task_column=None).set_fit_request(task=True)
        model.set_score_request(task=True)
        folds = KFold(3, shuffle=True, random_state=0)
        routed = cross_val_score(
            model, BARE, FRAME[target], cv=folds, params={"task": ROWS.site.to_numpy()}
        )
        in_column = cross_val_score(make(), ROWS, FRAME[target], cv=folds)
        np.testing.assert_allclose(routed, in_column)


@each_model
def test_predictions_by_cross_validation_find_the_task_in_the_table(make, target):
    folds = KFold(2, shuffle=True, random_state=0)
    predicted = cross_val_predict(make(), ROWS, FRAME[target], cv=folds)
    for train, test in folds.split(ROWS):
        model = make().fit(ROWS.iloc[train], FRAME[target].iloc[train])
        np.testing.assert_array_equal(predicted[test], model.predict(ROWS.iloc[test]))


@each_model
def test_a_grid_search_tunes_across_tasks(make, target):
    search = GridSearchCV(make(), {"shared": [True, False], "max_depth": [1, None]}, cv=2)
    search.fit(ROWS, FRAME[target])
    assert set(search.best_params_) == {"shared", "max_depth"}
    assert list(search.best_estimator_.tasks_) == list(dict.fromkeys(ROWS.site))
    assert len(search.predict(ROWS)) == len(ROWS)


def test_a_grid_search_routes_tasks_and_weights():
    with sklearn.config_context(enable_metadata_routing=True):
        model = classifier(task_column=None)
        model.set_fit_request(task=True, sample_weight=True)
        model.set_score_request(task=True, sample_weight=False)
        search = GridSearchCV(model, {"max_depth": [1, 3]}, cv=2)
        weights = np.ones(len(BARE))
        search.fit(BARE, FRAME.ill, task=ROWS.site.to_numpy(), sample_weight=weights)
    assert set(search.best_estimator_.tasks_) == set(ROWS.site)


@each_model
def test_a_pipeline_of_transformed_columns_with_the_site_passed_through(make, target):
    transform = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["dose"]),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["pain"]),
        ],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(transform, make())
    scores = cross_val_score(model, ROWS, FRAME[target], cv=KFold(3, shuffle=True, random_state=0))
    assert scores.mean() > 0.5
    model.fit(ROWS, FRAME[target])
    assert "site" not in model[-1].feature_names_in_
    assert len(model.predict(ROWS)) == len(ROWS)


def test_a_pipeline_that_makes_arrays_gets_its_tasks_by_routing():
    numbers = make_column_selector(dtype_include="number")
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            ColumnTransformer([("numbers", StandardScaler(), numbers)]),
            classifier(task_column=None)
            .set_fit_request(task=True)
            .set_predict_request(task=True)
            .set_score_request(task=True),
        )
        model.fit(BARE, FRAME.ill, task=ROWS.site)
        predicted = model.predict(BARE, task=ROWS.site)
        assert model.score(BARE, FRAME.ill, task=ROWS.site) == (predicted == FRAME.ill).mean()


def test_a_step_in_front_may_add_columns():
    def with_square(frame):
        return frame.assign(square=frame.dose**2)

    model = make_pipeline(FunctionTransformer(with_square), regressor())
    model.fit(ROWS, FRAME.days)
    assert "square" in model[-1].columns_.by_name
    assert model.score(ROWS, FRAME.days) > 0.5


def test_it_votes_among_others():
    several = VotingClassifier(
        [("a", classifier()), ("b", classifier(shared=False))], voting="soft"
    )
    several.fit(ROWS, FRAME.ill)
    assert several.score(ROWS, FRAME.ill) > 0.7


def test_columns_can_be_shuffled_to_see_which_matter():
    found = permutation_importance(
        regressor().fit(ROWS, FRAME.days), ROWS, FRAME.days, n_repeats=2, random_state=0
    )
    importance = pd.Series(found.importances_mean, index=ROWS.columns)
    assert importance.idxmax() == "dose"


@each_model
def test_scores_take_weights_and_any_scorer(make, target):
    model = make().fit(ROWS, FRAME[target])
    first = np.arange(len(ROWS)) < 20
    assert model.score(ROWS, FRAME[target], sample_weight=first.astype(float)) == pytest.approx(
        model.score(ROWS[first], FRAME[target][first])
    )
    scorer = "roc_auc" if target == "ill" else "neg_mean_absolute_error"
    folds = KFold(2, shuffle=True, random_state=0)
    scores = cross_val_score(make(), ROWS, FRAME[target], cv=folds, scoring=scorer)
    assert np.isfinite(scores).all()


@each_model
def test_an_array_in_the_place_of_a_frame_is_read_by_position_with_scikit_learns_warning(
    make, target
):
    frame = BARE[["dose", "smokes"]].astype(float)
    model = make(task_column=None).fit(frame, FRAME[target], task=ROWS.site)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = model.predict(frame.to_numpy(), task=ROWS.site)
    np.testing.assert_array_equal(found, model.predict(frame, task=ROWS.site))
