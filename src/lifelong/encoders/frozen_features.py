"""Raw rows → frozen features: checked, computed once, kept on disk."""

from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from lifelong._validation import Rows, check_rows
from lifelong.encoders.feature_cache import features_of
from lifelong.exceptions import InputError
from lifelong.nets.pretrained import Backbone
from lifelong.tasks.datasets._places import cache_dir as user_cache

Cache = Literal["auto"] | str | Path | None
_READS = {"images": "images (n, c, h, w)", "texts": "texts", "sounds": "sounds (n, samples)"}


class FrozenFeatures(TransformerMixin, BaseEstimator):
    """Raw rows → frozen features, as a step of a scikit-learn pipeline."""

    def __init__(self, backbone: Backbone, cache_dir: Cache = "auto") -> None:
        self.backbone = backbone
        self.cache_dir = cache_dir

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Nothing to learn."""
        return self

    def transform(self, X: Any) -> Rows:
        """Features (n, d)."""
        return frozen_features(self.backbone, self.cache_dir, X)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def frozen_features(backbone: Backbone, cache_dir: Cache, rows: Any) -> Rows:
    """The network's features of checked rows, each computed once."""
    checked = _check(backbone, rows)
    if isinstance(checked, np.ndarray) and checked.shape[1:] == (backbone.n_features,):
        return checked
    return features_of(
        checked,
        lambda batch: _run(backbone, batch),
        identity=backbone.identity,
        name=backbone.name,
        batch=backbone.batch_size,
        cache_dir=_folder(cache_dir),
    )


def _folder(cache_dir: Cache) -> Path | None:
    """Where features are kept on disk, if they are."""
    if cache_dir is None:
        return None
    if cache_dir == "auto":
        return user_cache() / "features"
    return Path(cache_dir)


def _run(backbone: Backbone, batch: list[Any]) -> Rows:
    """Features of at most ``batch_size`` rows."""
    if backbone.kind == "texts":
        return backbone.run(batch)
    # Always as many rows: kernels for other sizes round differently, and features would depend on a
    # row's company.
    full = batch + batch[-1:] * (backbone.batch_size - len(batch))
    return backbone.run(np.stack(full))[: len(batch)]


def _check(backbone: Backbone, rows: Any) -> Any:
    """Raw rows of the kind that the network reads, or features."""
    if backbone.kind == "texts" and (isinstance(rows, str) or not _holds_numbers(rows)):
        texts: list[Any] = []
        if not isinstance(rows, str):
            texts = list(rows)
        if not texts or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{backbone.name} reads a list of texts (str), at least one.")
        return texts
    X = check_rows(rows, owner=backbone.name)
    if X.shape[1:] == (backbone.n_features,):
        return X
    if X.ndim != {"images": 4, "texts": None, "sounds": 2}[backbone.kind]:
        advice = ""
        if backbone.kind == "texts":
            advice = " Turn texts into rows first: X = encoder.features(texts)."
        raise InputError(
            f"{backbone.name} reads {_READS[backbone.kind]}, or their features (n,"
            f" {backbone.n_features}); these rows have shape {X.shape}.{advice}"
        )
    if backbone.kind == "images":
        _check_images(backbone, X)
    return X


def _holds_numbers(rows: Any) -> bool:
    return getattr(getattr(rows, "dtype", None), "kind", "O") in "fiub"


def _check_images(backbone: Backbone, X: Rows) -> None:
    if X.shape[1] not in (1, 3):
        raise InputError(
            f"{backbone.name} reads images of 1 or 3 channels; these have {X.shape[1]}."
        )
    low = float(X.min())
    high = float(X.max())
    if low < 0 or high > 1:
        raise InputError(
            f"Images must have values in [0, 1]; these go from {low:g} to {high:g}. Divide by 255?"
        )
