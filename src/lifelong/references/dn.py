"""DN: one network that does not know of tasks. The paper's example of catastrophic forgetting."""

import torch
from torch import nn

from lifelong.references.base import MultiTask, NetworkLearner, Round, SharedTrunk


class OneHead(SharedTrunk):
    """One trunk and one head for all tasks: output k is the k-th class of whichever task it is.

    A task with fewer classes than the head has outputs is answered with its first ones.
    """

    def __init__(self, trunk: nn.Module, n_features: int, dropout: float = 0.0) -> None:
        super().__init__(trunk, n_features, dropout)
        self.n_classes: list[int] = []  # of each task, in order of arrival

    def grow(self, task: int, n_classes: int) -> None:
        """Note how many classes the task has; the head is made wider where it must be."""
        if task == len(self.n_classes):
            self.n_classes.append(n_classes)
        self.n_classes[task] = max(self.n_classes[task], n_classes)
        super().grow(0, n_classes)

    def forward(self, x: torch.Tensor, task: int) -> torch.Tensor:
        """Logits (n, K): the same whatever the task, but for their number."""
        logits: torch.Tensor = super().forward(x, 0)
        return logits[:, : self.n_classes[task]]


class ForgetfulNetwork(NetworkLearner):
    """One network for all tasks that ignores the task ("DN" in the paper's simulations).

    Rows of a new task train the same trunk and the same head further. Where two tasks give the same
    row different labels, such as XOR and XNOR, what was learnt before is overwritten.

        loss = CE(current rows, the one head)

    :class:`~lifelong.references.none.NoneLearner` has a head per task instead and forgets less.
    Memory and the time per task are constant.
    """

    def _fresh(self, inputs: torch.Tensor) -> MultiTask:
        return OneHead.fresh(self.network, self.width, inputs, self._recipe())

    def _train(self, model: MultiTask, now: Round) -> None:
        self._fit_rows(model, now)
