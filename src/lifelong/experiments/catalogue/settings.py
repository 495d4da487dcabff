"""How the networks of an experiment are trained."""

from collections.abc import Mapping
from typing import Any

from lifelong.references.tuned import with_tuned

PLAIN = {"recipe": {"epochs": 20, "batch_size": 32, "lr": 3e-4}}


def strong(n_rows: int) -> dict[str, Any]:
    """With augmentation and a cycle of the learning rate: 30 000 rows are shown, whatever the size
    of the task.
    """
    recipe = {
        "epochs": 30_000 // n_rows,
        "batch_size": 64,
        "lr": 1e-3,
        "schedule": "one-cycle",
        "augment": True,
    }
    return {"recipe": {**recipe, "precision": "bfloat16"}}


STRONG = strong(500)
# A third of the training, half the width: for grids of many arms, in which all are trained alike.
SHORT = {"width": 0.5, "recipe": {**STRONG["recipe"], "epochs": 20}}
# Batches of 128 take half the time of batches of 32, and 14 million weights learn as well from
# them.
TABULAR = {"network": "mlp", "recipe": {"epochs": 20, "batch_size": 128, "lr": 3e-4}}
SIMULATION = {"network": [10, 10], "recipe": {"epochs": 30, "lr": 3e-3}}
TINY = {"network": [16], "recipe": {"epochs": 2, "lr": 3e-3}}  # smoke

# The algorithms' own optimisers, rates and batches, but shorter, so that all sixteen fit into an
# hour or two on two cores: about 8000 rows shown per task instead of 128 000.
_ADAM = {"recipe": {"iterations": 120, "batch_size": 64, "lr": 1e-4}}
_RMSPROP = {"recipe": {"epochs": 8, "batch_size": 10, "optimiser": "rmsprop", "lr": 1e-4}}
_OWN: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("none", "si", "lwf", "total-replay", "partial-replay"), _ADAM),
    "ewc": {**_ADAM, "fisher_rows": 200},
    "o-ewc": {**_ADAM, "fisher_rows": 200},
    "er": {"recipe": {"epochs": 8, "batch_size": 10, "optimiser": "sgd", "lr": 0.1}},
    "a-gem": {
        "recipe": {"epochs": 8, "batch_size": 10, "optimiser": "sgd", "lr": 0.03},
        "reference_size": 64,
    },
    "tag": {"recipe": {"epochs": 6, "batch_size": 10, "optimiser": "rmsprop", "lr": 2.5e-4}},
    "prognn": _RMSPROP,
    "df-cnn": _RMSPROP,
    "lmc": {"recipe": {"epochs": 20, "batch_size": 64, "lr": 1e-3}},
    # Crops, flips and epochs of its authors: nothing is shortened.
    "model-zoo": {
        "recipe": {
            "epochs": 100,
            "batch_size": 16,
            "optimiser": "sgd",
            "lr": 0.01,
            "momentum": 0.9,
            "weight_decay": 1e-5,
            "schedule": "cosine",
            "augment": True,
        }
    },
    "coscl": {"recipe": {"epochs": 15, "batch_size": 64, "lr": 1e-3}},
    "der++": {"recipe": {"epochs": 16, "batch_size": 32, "optimiser": "sgd", "lr": 0.03}},
    "packnet": {"recipe": {"iterations": 120, "batch_size": 64, "lr": 1e-3}},
    # The authors' rate of .05 is for 200 epochs: after 30 it has not even learnt the training rows
    # (.37 on the first task, and .98 with .2).
    "hat": {
        "recipe": {
            "epochs": 30,
            "batch_size": 32,
            "optimiser": "sgd",
            "lr": 0.2,
            "schedule": "cosine",
        }
    },
    "gpm": {"recipe": {"epochs": 30, "batch_size": 32, "optimiser": "sgd", "lr": 0.01}},
    "wsn": {"recipe": {"epochs": 16, "batch_size": 64, "lr": 1e-3}},
    "der": {
        "recipe": {
            "epochs": 16,
            "batch_size": 64,
            "optimiser": "sgd",
            "lr": 0.05,
            "momentum": 0.9,
            "weight_decay": 5e-4,
            "schedule": "cosine",
        }
    },
}

OWN: Mapping[str, Mapping[str, Any]] = with_tuned(_OWN)
"""Settings of the references' own, with the values that trials have chosen."""
