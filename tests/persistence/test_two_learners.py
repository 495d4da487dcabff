"""Two learners on one store never lose what either has learnt; `make soak` runs this for long."""

from typing import ClassVar

from hypothesis import HealthCheck, settings
from two_learners import TwoLearners

QUICK = settings(
    max_examples=12,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class Growing(TwoLearners):
    """Every task trains an encoder."""


class OnABudget(TwoLearners):
    """Two encoders; rows go when they are trained."""

    parameters: ClassVar[dict] = {"budget": 2}


TestGrowing = Growing.TestCase
TestGrowing.settings = QUICK
TestOnABudget = OnABudget.TestCase
TestOnABudget.settings = QUICK
