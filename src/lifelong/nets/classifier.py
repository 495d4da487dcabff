"""One plain network with a softmax head, for one task: what SiLLy-N has to beat."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import nn

from lifelong._labels import Labels, check_labels, classes_in, encode_labels, join_classes
from lifelong._random import RandomState, generator, seed_from
from lifelong._validation import check_rows
from lifelong.nets.architectures import Network
from lifelong.nets.augmentation import both_sides
from lifelong.nets.recipe import Recipe
from lifelong.nets.training import choose_device, fit_classifier, forward


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A network trained on all rows of one task.

    Parameters
    ----------
    network : "auto", "cnn", "mlp", sequence of int or callable, default "auto"
        ``"auto"`` is the paper's CNN for images and its tabular MLP for flat rows.
    width : float, default 1.0
        Multiplies the size of every layer.
    recipe : Recipe, optional
        How it is trained; the paper's if left out.
    device : str, default "auto"
        ``"auto"`` is the GPU where there is one.
    random_state : int, Generator or None, default None
        Decides on the first weights and the order of rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels, in the order of the columns of :meth:`predict_proba`.
    model_ : nn.Module
        Rows → softmax outputs.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0]] * 20, np.float32), ["no", "yes"] * 20
    >>> model = NetworkClassifier((8,), recipe=Recipe(epochs=30, lr=0.01), random_state=0).fit(X, y)
    >>> model.predict([[0.1], [0.9]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        network: Network = "auto",
        *,
        width: float = 1.0,
        recipe: Recipe | None = None,
        device: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.network = network
        self.width = width
        self.recipe = recipe
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train body and head."""
        rows = check_rows(X)
        labels = check_labels(y, n_rows=len(rows))
        self.classes_ = join_classes(labels[:0], classes_in(labels), like=labels)
        body, head = fit_classifier(
            rows,
            encode_labels(labels, self.classes_.tolist()),
            network=self.network,
            width=self.width,
            recipe=self.recipe or Recipe.paper(),
            rng=generator(seed_from(self.random_state), "network"),
            device=choose_device(self.device),
        )
        self.in_shape_ = rows.shape[1:]
        self.model_ = nn.Sequential(body, head, nn.Softmax(dim=1)).eval()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Softmax outputs (n, K)."""
        rows = check_rows(X, in_shape=self.in_shape_, owner=type(self).__name__)
        return forward(both_sides(self.model_), rows, device=choose_device(self.device)).astype(
            np.float64
        )

    def predict(self, X: Any) -> Labels:
        """The most probable label of each row."""
        labels: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels
