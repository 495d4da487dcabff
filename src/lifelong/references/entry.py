"""One learner of the table of learners: what it is, and how to make it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Self

from lifelong._extras import require
from lifelong._random import RandomState

if TYPE_CHECKING:
    from lifelong.learners.base import Learner

Kind = Literal["ours", "reference", "control"]
OURS: Kind = "ours"
REFERENCE: Kind = "reference"
CONTROL: Kind = "control"


@dataclass(frozen=True)
class Entry:
    """One learner of the table. Called with a seed, it makes the learner.

    Parameters
    ----------
    make : str
        Where its class, or the function that makes it, is: ``"module:name"``. It takes
        ``random_state`` and settings by name.
    what : str
        What it is, in one line.
    kind : "ours", "reference" or "control", default "reference"
        A control is no lifelong learner: it says what can be had without.
    trains_network : bool, default True
        Whether it takes a ``network`` and a ``recipe``. Then it needs torch, and experiments give
        it their settings for networks.
    growing : bool, default False
        Whether it adds resources with every task ("resource growing" in the paper, a star in
        strip plots). One whose penalties or stored rows grow around a network of constant size
        counts as constant, as in the paper.
    keeps_rows : bool, default False
        Whether rows of the tasks stay in it.
    takes_budget : bool, default False
        Whether ``NAME-M`` is the same learner on a budget of M encoders.
    paper : str, default ""
        Who published it, and where.
    year : int, optional
        When.
    space, time : int, optional
        Exponents of the paper's taxonomy (table tax): how space, and the time to learn all tasks
        so far, grow with T tasks of equal size. None where the paper has none.
    parameters : dict, default empty
        Settings that its name stands for.

    Examples
    --------
    >>> from lifelong.references import LEARNERS
    >>> LEARNERS["silly-f"](0, n_estimators=20)
    SillyForest(n_estimators=20, random_state=0)
    >>> LEARNERS["ewc"].source
    'Kirkpatrick et al., PNAS 2017'
    """

    make: str
    what: str
    kind: Kind = REFERENCE
    trains_network: bool = True
    growing: bool = False
    keeps_rows: bool = False
    takes_budget: bool = False
    paper: str = ""
    year: int | None = None
    space: int | None = None
    time: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, seed: RandomState = None, **parameters: Any) -> "Learner":
        """The learner with that seed; ``parameters`` take the place of defaults."""
        make = attrgetter(self._name)(self._module())
        learner: Learner = make(random_state=seed, **self.parameters, **parameters)
        return learner

    @property
    def learner(self) -> str:
        """The name of its class."""
        return self._name.partition(".")[0]

    @property
    def source(self) -> str:
        """Paper and year, as far as there are any."""
        if self.year is None:
            return self.paper
        return f"{self.paper} {self.year}"

    def learner_class(self) -> Any:
        """The class itself."""
        return getattr(self._module(), self.learner)

    def on_budget(self, budget: int) -> Self:
        """The same learner with at most so many encoders: from then on it is of constant size."""
        limited = replace(
            self,
            what=f"{self.what}; on a budget of {budget} encoders",
            growing=False,
            takes_budget=False,
            parameters={**self.parameters, "budget": budget},
        )
        if self.space is None:
            return limited
        return replace(limited, space=0, time=0)

    @property
    def _name(self) -> str:
        return self.make.partition(":")[2]

    def _module(self) -> Any:
        if self.trains_network:
            require("torch", extra="torch", for_what=self.learner)
        return import_module(self.make.partition(":")[0])
