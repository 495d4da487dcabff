"""How a network is trained, as data: every network learner, ours and the references, takes one."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from lifelong._validation import check_choice, check_count
from lifelong.exceptions import ParameterError
from lifelong.schema import COUNT, FLAG, POSITIVE, Number, Text, maybe, saved

_RISE = 0.3  # of the steps of a cycle
_FASTEST = 1e6  # a learning rate beyond is a slip
_OPTIMISERS = ("adam", "sgd", "rmsprop")
_SCHEDULES = ("constant", "cosine", "one-cycle")
_PRECISIONS = ("float32", "bfloat16", "auto")
_BATCH_NORMS = ("torch", "keras")


@dataclass(frozen=True)
class Recipe:
    """What the training loop does.

    Parameters
    ----------
    epochs : int, default 100
        Passes over the rows.
    iterations : int, optional
        Steps in all, whatever the number of rows; takes the place of ``epochs``.
    batch_size : int, default 32
        Rows of a step.
    optimiser : "adam", "sgd" or "rmsprop", default "adam"
        The rule of a step.
    lr : float, default 3e-4
        Learning rate.
    momentum, weight_decay : float, default 0
        ``momentum`` is Nesterov's, for ``"sgd"``.
    schedule : "constant", "cosine" or "one-cycle", default "constant"
        Whether the learning rate stays, falls to 0 along half a cosine, or rises for 30 % of the
        steps and then falls.
    augment : bool, default False
        Images only: small random shifts while training, and mirroring where the training rows show
        that mirror images look like rows; then predictions are averaged over an image and its
        mirror image.
    precision : "float32", "bfloat16" or "auto", default "float32"
        Of the products and convolutions while training (weights and predictions stay as they are).
        Half the bits take about two thirds of the time where the processor has instructions for
        them, and more time where it has none. ``"auto"`` takes them where a short trial on this
        processor says so and the network has half a million weights: the same bits on processors
        of one kind only.
    batch_norm : "torch" or "keras", default "torch"
        Whose constants batch norm has while an encoder or a plain network is trained: momentum .1
        and eps 1e-5, or .01 (Keras calls it .99) and 1e-3. References keep torch's.
    patience : int, optional
        Early stopping of encoders and plain networks: a third of the rows is held out, and training
        ends when their loss has not fallen for so many epochs (``epochs`` is the most). The last
        weights stay. References train as long as they are told.
    """

    epochs: int = saved(COUNT, default=100)
    batch_size: int = saved(COUNT, default=32)
    optimiser: Literal["adam", "sgd", "rmsprop"] = saved(Text(_OPTIMISERS), default="adam")
    lr: float = saved(POSITIVE, default=3e-4)
    momentum: float = saved(Number(0), default=0.0)
    weight_decay: float = saved(Number(0), default=0.0)
    iterations: int | None = saved(maybe(COUNT), default=None)
    schedule: Literal["constant", "cosine", "one-cycle"] = saved(
        Text(_SCHEDULES), default="constant"
    )
    augment: bool = saved(FLAG, default=False)
    precision: Literal["float32", "bfloat16", "auto"] = saved(Text(_PRECISIONS), default="float32")
    batch_norm: Literal["torch", "keras"] = saved(Text(_BATCH_NORMS), default="torch")
    patience: int | None = saved(maybe(COUNT), default=None)

    def __post_init__(self) -> None:
        check_count(self.epochs, "epochs")
        check_count(self.iterations, "iterations", optional=True)
        check_count(self.batch_size, "batch_size")
        check_choice(self.optimiser, "optimiser", _OPTIMISERS)
        check_choice(self.schedule, "schedule", _SCHEDULES)
        check_choice(self.precision, "precision", _PRECISIONS)
        check_choice(self.batch_norm, "batch_norm", _BATCH_NORMS)
        check_count(self.patience, "patience", optional=True)
        if self.patience and (self.iterations or self.schedule != "constant"):
            raise ParameterError(
                f"patience={self.patience} stops after some epoch: give epochs instead of"
                ' iterations, and schedule="constant".'
            )
        is_number = isinstance(self.lr, Real) and not isinstance(self.lr, bool)
        if not is_number or not 0 < self.lr <= _FASTEST:
            raise ParameterError(
                f"lr={self.lr!r} is no learning rate. Give a positive number, such as 3e-4."
            )

    @classmethod
    def paper(cls, *, keras: bool = False) -> "Recipe":
        """SiLLy-N in the paper: Adam, learning rate 3e-4.

        It does not say how many epochs or rows per batch.

        Parameters
        ----------
        keras : bool, default False
            As its authors' code trains: batch norm with the constants of Keras, and early stopping
            on a third of the rows with a patience of 5 epochs.

        Examples
        --------
        >>> Recipe.paper(keras=True).patience
        5
        """
        if keras:
            return cls(batch_norm="keras", patience=5)
        return cls()

    @classmethod
    def strong(cls) -> "Recipe":
        """What brings most for few images: augmentation, a learning rate that rises and falls; in
        half precision where that is clearly faster.
        """
        return cls(
            epochs=60,
            batch_size=64,
            lr=1e-3,
            schedule="one-cycle",
            augment=True,
            precision="auto",
        )

    def rate(self, done: float) -> float:
        """The learning rate after that share of the steps.

        >>> Recipe(lr=1.0, schedule="one-cycle").rate(0.3)
        1.0
        """
        if self.schedule == "constant":
            return self.lr
        if self.schedule == "one-cycle" and done < _RISE:
            return self.lr * (0.04 + 0.96 * _half_cosine(1 - done / _RISE))
        if self.schedule == "one-cycle":
            done = (done - _RISE) / (1 - _RISE)
        return self.lr * _half_cosine(done)


def _half_cosine(done: float) -> float:
    """From 1 down to 0."""
    return (1 + math.cos(math.pi * done)) / 2
