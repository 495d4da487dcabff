"""None: nothing is done against forgetting. The lower end of every table."""

from lifelong.references.base import MultiTask, NetworkLearner, Round


class NoneLearner(NetworkLearner):
    """Fine-tunes the trunk and the current head on the current task only.

    Old heads stay untouched, bit for bit; the trunk under them moves on, and that is the
    forgetting.

        loss = CE(current rows, current head)

    Memory is constant but for the heads, and so is the time per task.
    """

    def _train(self, model: MultiTask, now: Round) -> None:
        self._fit_rows(model, now)
