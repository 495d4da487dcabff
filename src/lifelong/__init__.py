"""Lifelong learning by representation ensembling: all tasks, old and new, gain as tasks arrive.

Names are loaded when they are first used, so that ``import lifelong`` is instant and never needs
torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lifelong._provided import provide

if TYPE_CHECKING:
    from lifelong.channels import Channel as Channel
    from lifelong.channels import ForestChannel as ForestChannel
    from lifelong.channels import LeafChannel as LeafChannel
    from lifelong.channels import NeighboursChannel as NeighboursChannel
    from lifelong.channels import RidgeChannel as RidgeChannel
    from lifelong.encoders import Encoder as Encoder
    from lifelong.encoders import ForestEncoder as ForestEncoder
    from lifelong.encoders.network import NetworkEncoder as NetworkEncoder
    from lifelong.encoders.pretrained import PretrainedEncoder as PretrainedEncoder
    from lifelong.engines import engine as engine
    from lifelong.evaluation import ErrorTable as ErrorTable
    from lifelong.evaluation import evaluate as evaluate
    from lifelong.exceptions import LifelongError as LifelongError
    from lifelong.learners import Learner as Learner
    from lifelong.learners import LifelongClassifier as LifelongClassifier
    from lifelong.learners import LifelongRegressor as LifelongRegressor
    from lifelong.learners import Silly as Silly
    from lifelong.learners import SillyForest as SillyForest
    from lifelong.learners import SillyNetwork as SillyNetwork
    from lifelong.nets import Recipe as Recipe
    from lifelong.persistence import Store as Store
    from lifelong.persistence import load as load
    from lifelong.persistence import save as save
    from lifelong.persistence.exchange import ImportedEncoder as ImportedEncoder
    from lifelong.persistence.exchange import export_encoder as export_encoder
    from lifelong.persistence.exchange import import_encoder as import_encoder
    from lifelong.tasks import Task as Task
    from lifelong.tasks import TaskStream as TaskStream

__version__ = "0.1.0"

provide("files of learners", "lifelong.persistence.files:FILES")  # for `store=` and `add_encoder`

_HOMES = {
    "lifelong.channels": [
        "Channel",
        "ForestChannel",
        "LeafChannel",
        "NeighboursChannel",
        "RidgeChannel",
    ],
    "lifelong.encoders": ["Encoder", "ForestEncoder"],
    "lifelong.encoders.network": ["NetworkEncoder"],
    "lifelong.encoders.pretrained": ["PretrainedEncoder"],
    "lifelong.engines": ["engine"],
    "lifelong.evaluation": ["ErrorTable", "evaluate"],
    "lifelong.exceptions": ["LifelongError"],
    "lifelong.learners": [
        "Learner",
        "LifelongClassifier",
        "LifelongRegressor",
        "Silly",
        "SillyForest",
        "SillyNetwork",
    ],
    "lifelong.nets": ["Recipe"],
    "lifelong.persistence": ["Store", "load", "save"],
    "lifelong.persistence.exchange": ["ImportedEncoder", "export_encoder", "import_encoder"],
    "lifelong.tasks": ["Task", "TaskStream"],
}
_NEEDS_TORCH = {
    "lifelong.encoders.network": "torch",
    "lifelong.encoders.pretrained": "pretrained",
}  # home → extra
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        hint = import_module("lifelong._words").did_you_mean(name, __all__)
        problem = f"module 'lifelong' has no attribute {name!r}.{hint}"
        raise AttributeError(f"{problem} Public names: {', '.join(__all__)}.")
    if _HOME_OF[name] in _NEEDS_TORCH:
        import_module("lifelong._extras").require(
            "torch", extra=_NEEDS_TORCH[_HOME_OF[name]], for_what=name
        )
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
