"""How a network is trained, as data: every network learner, ours and the references, takes one."""

from dataclasses import dataclass
from typing import Literal

from lifelong._validation import check_choice, check_count
from lifelong.exceptions import ParameterError


@dataclass(frozen=True)
class Recipe:
    """What the training loop does.

    Parameters
    ----------
    epochs : int
        Passes over the rows.
    iterations : int, optional
        Steps in all, whatever the number of rows; takes the place of ``epochs``.
    batch_size : int
    optimiser : "adam", "sgd" or "rmsprop"
    lr : float
        Learning rate.
    momentum, weight_decay : float
        ``momentum`` is Nesterov's, for ``"sgd"``.
    schedule : "constant" or "cosine"
        Whether the learning rate stays, or falls to 0 along half a cosine.
    """

    epochs: int = 100
    batch_size: int = 32
    optimiser: Literal["adam", "sgd", "rmsprop"] = "adam"
    lr: float = 3e-4
    momentum: float = 0.0
    weight_decay: float = 0.0
    iterations: int | None = None
    schedule: Literal["constant", "cosine"] = "constant"

    def __post_init__(self) -> None:
        check_count(self.epochs, "epochs")
        check_count(self.iterations, "iterations", optional=True)
        check_count(self.batch_size, "batch_size")
        check_choice(self.optimiser, "optimiser", ["adam", "sgd", "rmsprop"])
        check_choice(self.schedule, "schedule", ["constant", "cosine"])
        if not self.lr > 0:
            raise ParameterError(f"lr={self.lr!r} must be positive.")

    @classmethod
    def paper(cls) -> "Recipe":
        """SiLLy-N in the paper: Adam, learning rate 3e-4. It does not say how many epochs or rows per batch."""
        return cls()
