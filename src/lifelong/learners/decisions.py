"""From posteriors to decisions: other class shares than in training; the right to say nothing."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong._labels import Labels, check_labels
from lifelong._validation import check_share
from lifelong.exceptions import InputError


def with_priors(
    posteriors: NDArray[np.float64],
    priors: Mapping[Any, float],
    classes: Labels,
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Posteriors (n, K) where the classes have other shares than among the training rows.

    p'(k | x) ∝ p(k | x) · π'_k / π_k: Bayes' rule, if only the shares differ and not what rows of a
    class look like.

    >>> classes = np.array(["a", "b"])
    >>> shares = np.array([0.5, 0.5])
    >>> with_priors(np.array([[0.5, 0.5]]), {"a": 0.9, "b": 0.1}, classes, shares)
    array([[0.9, 0.1]])
    """
    labels = classes.tolist()
    given: dict[Any, float] = {}
    if isinstance(priors, Mapping):
        given = dict(priors)
    if (
        set(given) != set(labels)
        or any(not _is_prior(prior) for prior in given.values())
        or sum(given.values()) <= 0
    ):
        raise InputError(
            f"priors={priors!r} are not the shares of the classes. Give a number of at least 0 for"
            f" each of {labels}."
        )
    new = np.array([given[label] for label in labels])  # (K,)
    ratio = new / np.where(shares > 0, shares, np.inf)
    weighted = posteriors * ratio
    total = weighted.sum(axis=1, keepdims=True)
    fallback = new / sum(given.values())  # nothing the row says is possible
    return np.asarray(np.where(total > 0, weighted / np.where(total > 0, total, 1), fallback))


def _is_prior(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value) and value >= 0)


def abstaining(
    labels: Labels, confidence: NDArray[np.float64], below: float, marker: Hashable
) -> Labels:
    """The labels, with a marker in place of those that are not sure enough.

    >>> abstaining(np.array([3, 4]), np.array([0.9, 0.4]), 0.5, -1)
    array([ 3, -1])
    """
    unsure = confidence < check_share(below, "abstain_below")
    chosen = labels.tolist()
    for row in np.flatnonzero(unsure):
        chosen[row] = marker
    if marker is None:
        decided = np.empty(len(chosen), dtype=object)
        decided[:] = chosen
        return decided
    return check_labels(chosen)
