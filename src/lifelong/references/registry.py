"""The table of learners: what there is, what each is, and how to make it.

The command line, experiments, the report and persistence all read this one table. It is plain data:
a learner's code, and torch, are imported when the learner is made, not before.

A new learner is one file and one entry here. An entry may also be added while a program runs:
``LEARNERS["mine"] = Entry("my_module:MyLearner", "what it is")``.
"""

from collections.abc import Mapping

from lifelong._words import did_you_mean
from lifelong.exceptions import ParameterError
from lifelong.references.entry import CONTROL, OURS, REFERENCE, Entry

LEARNERS: dict[str, Entry] = {
    "silly-f": Entry(
        "lifelong.learners:SillyForest",
        "SiLLy-F: a forest per task, leaf channels (the paper)",
        kind=OURS,
        trains_network=False,
        growing=True,
        keeps_rows=True,
        takes_budget=True,
        space=1,
        time=1,
    ),
    "silly-n": Entry(
        "lifelong.learners:SillyNetwork",
        "SiLLy-N: a network per task, forest channels (the paper)",
        kind=OURS,
        growing=True,
        keeps_rows=True,
        takes_budget=True,
        space=1,
        time=1,
    ),
    "silly-f-best": Entry(
        "lifelong.learners:SillyForest.best",
        "our most accurate forests: ridge channels, 100 trees per task",
        kind=OURS,
        trains_network=False,
        growing=True,
        keeps_rows=True,
        takes_budget=True,
    ),
    "silly-n-best": Entry(
        "lifelong.learners:SillyNetwork.best",
        "a network per task: ridge channels, middle layers, strong recipe; tasks share nothing",
        kind=OURS,
        growing=True,
        keeps_rows=True,
        takes_budget=True,
        parameters={"shared": None},
    ),
    "silly-n-shared": Entry(
        "lifelong.learners:SillyNetwork.best",
        "our most accurate networks: one per task, two and patches that all tasks share",
        kind=OURS,
        growing=True,
        keeps_rows=True,
        parameters={"shared": 2},
    ),
    "silly-n-shared-once": Entry(
        "lifelong.learners:SillyNetwork.best",
        "tasks share two networks and patches: no more row passes than a network per task",
        kind=OURS,
        growing=True,
        keeps_rows=True,
        parameters={"shared": 1},
    ),
    "lifelong": Entry(
        "lifelong.learners:LifelongClassifier",
        "tables: a forest per task, and forests and a linear model of all tasks, mixed for each",
        kind=OURS,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "lifelong-number": Entry(
        "lifelong.learners:LifelongRegressor",
        "the same for numbers instead of classes",
        kind=OURS,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "none": Entry(
        "lifelong.references.none:NoneLearner",
        "fine-tuning: nothing against forgetting",
    ),
    "dn": Entry(
        "lifelong.references.dn:ForgetfulNetwork",
        "one network and one head for all tasks: it ignores the task and forgets",
    ),
    "ewc": Entry(
        "lifelong.references.ewc:EWC",
        "elastic weight consolidation",
        paper="Kirkpatrick et al., PNAS",
        year=2017,
        space=1,
        time=2,
    ),
    "o-ewc": Entry(
        "lifelong.references.o_ewc:OnlineEWC",
        "online EWC: one running penalty",
        paper="Schwarz et al., ICML",
        year=2018,
        space=0,
        time=1,
    ),
    "si": Entry(
        "lifelong.references.si:SI",
        "synaptic intelligence",
        paper="Zenke, Poole & Ganguli, ICML",
        year=2017,
        space=0,
        time=1,
    ),
    "lwf": Entry(
        "lifelong.references.lwf:LwF",
        "learning without forgetting: the old network teaches the new one",
        paper="Li & Hoiem, ECCV",
        year=2016,
        space=0,
        time=1,
    ),
    "total-replay": Entry(
        "lifelong.references.total_replay:TotalReplay",
        "every step replays a batch of every task",
        keeps_rows=True,
        space=1,
        time=2,
    ),
    "partial-replay": Entry(
        "lifelong.references.partial_replay:PartialReplay",
        "as many replayed rows as new ones",
        keeps_rows=True,
    ),
    "er": Entry(
        "lifelong.references.er:ER",
        "experience replay from a small reservoir",
        keeps_rows=True,
        paper="Chaudhry et al., arXiv",
        year=2019,
    ),
    "a-gem": Entry(
        "lifelong.references.a_gem:AGEM",
        "gradients projected off those of a small memory",
        keeps_rows=True,
        paper="Chaudhry et al., ICLR",
        year=2019,
    ),
    "tag": Entry(
        "lifelong.references.tag:TAG",
        "task-based accumulated gradients",
        paper="Malviya, Ravindran & Chandar, CoLLAs",
        year=2022,
    ),
    "prognn": Entry(
        "lifelong.references.prognn:ProgNN",
        "progressive networks: a new column per task",
        growing=True,
        paper="Rusu et al., arXiv",
        year=2016,
        space=2,
        time=2,
    ),
    "df-cnn": Entry(
        "lifelong.references.df_cnn:DFCNN",
        "deconvolutional factorised networks",
        growing=True,
        paper="Lee, Stokes & Eaton, IJCAI",
        year=2019,
        space=1,
        time=1,
    ),
    "lmc": Entry(
        "lifelong.references.lmc:LMC",
        "local module composition",
        growing=True,
        paper="Ostapenko et al., NeurIPS",
        year=2021,
        space=1,
        time=1,
    ),
    "model-zoo": Entry(
        "lifelong.references.model_zoo:ModelZoo",
        "boosted ensemble of small multi-task networks",
        growing=True,
        keeps_rows=True,
        paper="Ramesh & Chaudhari, ICLR",
        year=2022,
        space=1,
        time=1,
    ),
    "coscl": Entry(
        "lifelong.references.coscl:CoSCL",
        "cooperation of small continual learners",
        growing=True,
        paper="Wang et al., ECCV",
        year=2022,
    ),
    "randumb": Entry(
        "lifelong.references.randumb:RanDumb",
        "random features, nearest class mean",
        trains_network=False,
        paper="Prabhu et al., NeurIPS",
        year=2024,
    ),
    "der++": Entry(
        "lifelong.references.der_plus_plus:DERPlusPlus",
        "a small reservoir replays labels and old logits",
        keeps_rows=True,
        paper="Buzzega et al., NeurIPS",
        year=2020,
    ),
    "packnet": Entry(
        "lifelong.references.packnet:PackNet",
        "each task prunes and freezes its share of one network",
        paper="Mallya & Lazebnik, CVPR",
        year=2018,
    ),
    "hat": Entry(
        "lifelong.references.hat:HAT",
        "hard attention to the task: units of old tasks are protected",
        paper="Serrà et al., ICML",
        year=2018,
    ),
    "gpm": Entry(
        "lifelong.references.gpm:GPM",
        "gradient projection memory: steps orthogonal to old tasks' inputs",
        paper="Saha, Garg & Roy, ICLR",
        year=2021,
    ),
    "wsn": Entry(
        "lifelong.references.wsn:WSN",
        "winning subnetworks: a mask per task, used weights frozen",
        paper="Kang et al., ICML",
        year=2022,
    ),
    "der": Entry(
        "lifelong.references.der:DER",
        "dynamically expandable representation: a frozen extractor per task",
        growing=True,
        keeps_rows=True,
        paper="Yan, Xie & He, CVPR",
        year=2021,
    ),
    "ranpac": Entry(
        "lifelong.references.ranpac:RanPAC",
        "random projection of frozen features, ridge over all classes",
        trains_network=False,
        paper="McDonnell et al., NeurIPS",
        year=2023,
    ),
    "single": Entry(
        "lifelong.references.single:Single",
        "a plain network per task",
        kind=CONTROL,
        growing=True,
        keeps_rows=True,
    ),
    "rf": Entry(
        "lifelong.references.forest:Forest",
        "an ordinary random forest per task",
        kind=CONTROL,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "own-ensemble": Entry(
        "lifelong.references.own_ensemble:OwnEnsemble",
        "for each task as many networks of its own rows as there are tasks",
        kind=CONTROL,
        growing=True,
        keeps_rows=True,
    ),
    "joint": Entry(
        "lifelong.references.joint:Joint",
        "upper bound: one network on all rows of all tasks, trained anew for each task",
        kind=CONTROL,
        keeps_rows=True,
    ),
    "table-rf": Entry(
        "lifelong.references.pooled:TableForest",
        "an ordinary random forest per task, on tables; for classes or numbers",
        kind=CONTROL,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "pooled-rf": Entry(
        "lifelong.references.pooled:TableForest",
        "one random forest on all rows, with a column per task; for classes or numbers",
        kind=CONTROL,
        trains_network=False,
        keeps_rows=True,
        parameters={"pooled": True},
    ),
    "table-lightgbm": Entry(
        "lifelong.references.table_models:TableBoosting",
        "LightGBM per task, on tables; for classes or numbers",
        kind=CONTROL,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "pooled-lightgbm": Entry(
        "lifelong.references.table_models:TableBoosting",
        "one LightGBM on all rows, the task as a category; for classes or numbers",
        kind=CONTROL,
        trains_network=False,
        keeps_rows=True,
        parameters={"pooled": True},
    ),
    "pooled-catboost": Entry(
        "lifelong.references.table_models:TableBoosting",
        "one CatBoost on all rows, the task as a category; for classes or numbers",
        kind=CONTROL,
        trains_network=False,
        keeps_rows=True,
        parameters={"library": "catboost", "pooled": True},
    ),
    "table-silly-f-best": Entry(
        "lifelong.references.table_models:TableSilly",
        "silly-f-best on tables: rows become numbers, holes are filled",
        kind=CONTROL,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "companions-n": Entry(
        "lifelong.references.companions:Companions.networks",
        "an own network and as many companions as there are other tasks, by arm",
        kind=CONTROL,
        growing=True,
        keeps_rows=True,
    ),
    "companions-f": Entry(
        "lifelong.references.companions:Companions.forests",
        "the same with forests",
        kind=CONTROL,
        trains_network=False,
        growing=True,
        keeps_rows=True,
    ),
    "nearest-mean": Entry(
        "lifelong.references.nearest_mean:NearestMean",
        "the class with the nearest mean",
        kind=CONTROL,
        trains_network=False,
    ),
    "chance": Entry(
        "lifelong.references.chance:Chance",
        "any class, all alike",
        kind=CONTROL,
        trains_network=False,
    ),
}
"""Every learner by name, in the order in which they are listed."""

_NAMES = [name for name, entry in LEARNERS.items() if entry.kind == REFERENCE]
REFERENCES: Mapping[str, Entry] = {name: LEARNERS[name] for name in _NAMES}
"""The reference algorithms."""

CONTROLS: Mapping[str, Entry] = {name: LEARNERS[name] for name in ("single", "rf")}
"""A model of its own for every task: what tables compare with."""

BOUNDS: Mapping[str, Entry] = {name: LEARNERS[name] for name in ("own-ensemble", "joint")}
"""What an ensemble gains without other tasks, and what one network gains from all rows at once."""


def entry_of(name: str) -> Entry | None:
    """The entry of that name, budgets included; None where nobody here knows it.

    Parameters
    ----------
    name : str
        A name of the table, or one that takes a budget with a number behind it: ``silly-n-4``.

    Examples
    --------
    >>> entry_of("silly-n").growing, entry_of("silly-n-4").growing
    (True, False)
    >>> entry_of("ewc-4") is None
    True
    """
    family, budget = split_budget(name)
    if budget is None:
        return LEARNERS.get(name)
    return LEARNERS[family].on_budget(budget)


def split_budget(name: str) -> tuple[str, int | None]:
    """A name without its budget, and the budget; None where it has none.

    >>> split_budget("silly-n-best-4"), split_budget("silly-n-best")
    (('silly-n-best', 4), ('silly-n-best', None))
    """
    family, _, number = name.rpartition("-")
    entry = LEARNERS.get(family)
    if name in LEARNERS or entry is None or not entry.takes_budget or not number.isdecimal():
        return name, None
    return family, int(number)


def find_learner(name: str) -> Entry:
    """The entry of that name, as :func:`entry_of` finds it.

    Raises
    ------
    ParameterError
        Where there is none, with the nearest name and all that there are.
    """
    entry = entry_of(name)
    if entry is None:
        hint = did_you_mean(name, LEARNERS)
        known = ", ".join(LEARNERS)
        raise ParameterError(f"Unknown learner {name!r}.{hint} Known: {known}.")
    return entry
