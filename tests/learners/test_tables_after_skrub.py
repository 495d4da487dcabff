"""skrub's TableVectorizer in front of a model of tables, in one Pipeline."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from skrub import TableVectorizer
from small_tables import classifier, inputs, regressor, table

FRAME = table(30)
ROWS = inputs(FRAME)


def keeping_the_site():
    """All columns become numbers; the one that names tasks is left as it is."""
    return TableVectorizer(specific_transformers=[("passthrough", ["site"])])


@pytest.mark.parametrize(("make", "target"), [(classifier, "ill"), (regressor, "days")])
def test_a_pipeline_with_table_vectorizer_learns_a_task_per_row(make, target):
    pipeline = make_pipeline(keeping_the_site(), make()).fit(ROWS, FRAME[target])
    model = pipeline[-1]
    assert set(model.tasks_) == set(ROWS["site"])
    assert {column.kind for column in model.columns_} == {"number"}
    by_hand = model.predict(pipeline[:-1].transform(ROWS))
    np.testing.assert_array_equal(pipeline.predict(ROWS), by_hand)


def test_a_pipeline_with_table_vectorizer_is_cross_validated():
    scores = cross_val_score(make_pipeline(keeping_the_site(), classifier()), ROWS, FRAME.ill, cv=3)
    assert scores.mean() > 0.6
