"""Which kind of learner leads which life, with which settings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from answers import lives
from answers.learners import (
    BEST,
    BEST_AS_IT_IS,
    CNNS,
    FORESTS,
    MENDED,
    NETWORKS,
    NOT_IN_A_STORE,
    NOTHING_HELD_OUT,
    ON_A_BUDGET,
    ON_IMAGES,
    ON_ROWS,
    OTHERS,
    PARTS,
    PLAIN,
    PRETRAINED,
    TWO_JOBS,
    USEFUL,
    Kind,
    Setting,
    settings_of,
)
from answers.lives import Life, World
from answers.recording import Answers, answers_of, close_look
from answers.rows import asked_rows, lesson

N_ROWS = 25


@dataclass(frozen=True)
class Case:
    """One life of one learner."""

    kind: Kind
    setting: Setting
    weighted: bool
    life: Life

    @property
    def name(self) -> str:
        """In words; also the name of a file."""
        weights = ", weights" if self.weighted else ""
        event = self.life.__name__.replace("_", " ")
        return f"{self.kind.name}{self.setting}{weights} - {event}"

    @property
    def exact(self) -> bool:
        """Whether posteriors are the same on every processor."""
        return self.kind.exact and not self.weighted

    def answers(self, n_rows: int = N_ROWS) -> Answers:
        """All answers at all steps, by step and question."""
        found: Answers = {}
        rows = asked_rows(self.kind.shape, n_rows)
        judging = lesson("words", self.kind.shape)
        with TemporaryDirectory() as folder:
            world = World(self.kind, self.setting, self.weighted, Path(folder))
            for step in self.life(world):
                answers = answers_of(step.learner, rows)
                if step.closely:
                    answers |= close_look(step.learner, rows, judging)
                answers |= step.more
                found |= {f"{step.name}: {name}": answer for name, answer in answers.items()}
        return found


OF_ALL: list[Life] = [
    lives.three_tasks,
    lives.more_rows,
    lives.rename,
    lives.forget_task,
    lives.saved,
    lives.declared_classes,
    lives.fit,
    lives.tiny_tasks,
    lives.refused,
]
OF_IMAGES: list[Life] = [  # a CNN that normalises batches cannot train on a single row
    lives.three_tasks,
    lives.more_rows,
    lives.rename,
    lives.saved,
]
WITH_ENCODERS: list[Life] = [
    lives.forget_encoder,
    lives.forget_all,
    lives.add_encoder,
    lives.add_encoder_file,
    lives.encoders_first,
    lives.store,
    lives.alone_goes_on,
    lives.whole_life,
]
WITHOUT_WEIGHTS: list[Life] = [lives.many, lives.store_of_many]
WITH_WEIGHTS: list[Life] = [lives.other_weights]
OF_MAIN_KINDS: list[Life] = [
    lives.one_row,
    lives.store_asked_all,
    lives.store_changes_meanwhile,
    lives.add_last_encoder,
    lives.explained_by_rows,
]
FOR_EVERY_SETTING: list[Life] = [
    lives.three_tasks,
    lives.more_rows,
    lives.forget_encoder,
    lives.saved,
]
A_FEW: list[Life] = [*FOR_EVERY_SETTING, lives.whole_life]
WITHOUT_JUDGES: list[Life] = [lives.more_rows, lives.saved, lives.whole_life]


def _all_lives(kind: Kind, weighted: bool) -> list[Life]:
    chosen = [*OF_ALL, *WITH_ENCODERS]
    chosen += WITH_WEIGHTS if kind.weights else []
    chosen += [] if weighted else WITHOUT_WEIGHTS
    return chosen


def _weights_of(kind: Kind) -> list[bool]:
    return [False, True] if kind.weights else [False]


def _every_setting(kinds: list[Kind]) -> Iterator[Case]:
    """All settings, all lives."""
    for kind in kinds:
        for setting in settings_of(kind):
            for weighted in _weights_of(kind):
                for life in _all_lives(kind, weighted):
                    yield Case(kind, setting, weighted, life)


def _most_settings(kinds: list[Kind], common: list[Setting]) -> Iterator[Case]:
    """All lives for the common settings, a few lives for all."""
    for case in _every_setting(kinds):
        if case.setting in common or case.life in FOR_EVERY_SETTING:
            yield case


def _some_settings(kinds: list[Kind], chosen: list[Life]) -> Iterator[Case]:
    """The plain setting, with and without weights, and one on a budget."""
    for kind in kinds:
        budget = USEFUL if kind.chooses else ON_A_BUDGET
        for life in chosen:
            for weighted in _weights_of(kind):
                yield Case(kind, PLAIN, weighted, life)
            yield Case(kind, budget, False, life)


def _plain(kinds: list[Kind], *chosen: Life) -> Iterator[Case]:
    for kind in kinds:
        for life in chosen:
            yield Case(kind, PLAIN, False, life)


def _all_cases() -> Iterator[Case]:
    main_kinds = [*FORESTS, *NETWORKS[:3]]
    yield from _every_setting(FORESTS)
    yield from _most_settings(NETWORKS[:3], [PLAIN, ON_A_BUDGET, USEFUL])
    yield from _most_settings(NETWORKS[3:], [PLAIN])
    yield from _some_settings(PARTS, [*OF_ALL, *WITH_ENCODERS])
    yield from _some_settings(CNNS, [lives.three_tasks, lives.more_rows])
    yield from _some_settings(BEST, [*FOR_EVERY_SETTING, lives.add_encoder])
    yield from _some_settings(main_kinds, [lives.changes_asked_all])
    yield from _plain([*CNNS, *BEST], lives.saved, lives.store, lives.whole_life)
    yield from _plain(BEST_AS_IT_IS, lives.three_tasks)
    yield from _plain(main_kinds, *OF_MAIN_KINDS)
    yield from _plain(OTHERS, *A_FEW, lives.add_encoder_file, lives.store)
    yield from _plain(PRETRAINED, *A_FEW, lives.add_encoder, lives.store, lives.plain_models)
    yield from _plain(NOTHING_HELD_OUT, *WITHOUT_JUDGES)
    yield from _plain(NOT_IN_A_STORE, *A_FEW)
    yield from _plain(TWO_JOBS, lives.three_tasks, lives.many, lives.whole_life)
    yield from _plain(ON_ROWS, *OF_ALL, lives.refused_weights, lives.plain_models)
    yield from _plain(ON_IMAGES, *OF_IMAGES)
    yield from _plain([*FORESTS[:2], *NETWORKS[:2], *PARTS[:1]], lives.plain_models)
    yield from _plain([FORESTS[1], NETWORKS[1]], lives.refused_weights)
    yield from _plain(FORESTS[:1], lives.frames, lives.unnamed_encoder)
    yield from _plain([*FORESTS[:2], *NETWORKS[1:3]], lives.large_task)
    yield from _plain([NETWORKS[0], CNNS[0], CNNS[3], CNNS[4]], lives.onnx)


CASES = {case.name: case for case in _all_cases()}


# Learners that one checkout saves and another one loads


def _saved_kinds() -> list[Kind]:
    ours = [*FORESTS, *NETWORKS, *PARTS, *CNNS, *BEST, *OTHERS, *PRETRAINED, *NOT_IN_A_STORE]
    cannot_be_saved = ("nearest-mean", "chance")
    references = [kind for kind in ON_ROWS if kind.name not in cannot_be_saved]
    return [*ours, *references, *(kind for kind in ON_IMAGES if kind.name == "df-cnn, images")]


def save_all(folder: Path) -> int:
    """A learner of every kind, in a directory each; returns how many."""
    for kind in _saved_kinds():
        lives.save_changed(World(kind, PLAIN, kind.weights, folder))
    return len(_saved_kinds())


def reading_cases(folder: Path) -> dict[str, Case]:
    """Those learners, loaded: cases by name."""
    life = lives.reading(folder)
    cases = [Case(kind, PLAIN, kind.weights, life) for kind in _saved_kinds()]
    return {case.name: case for case in cases}


# What is kept with the tests: small, quick, and a bit of everything that other processors agree on.
# Not so CNNs after a few steps of training, ridge channels on them, and a few of the references.

N_KEPT_ROWS = 8
_STABLE = [
    "network, forest, two networks - saved",
    "network, forest, middle layer - saved",
    "network, neighbours, augmented images - more rows",
    "best forest - saved",
    "model-zoo, images - saved",
    "rf, images - saved",
]
_UNSTABLE = [
    "lwf - three tasks",
    "lwf - more rows",
]


def _kept_cases() -> Iterator[Case]:
    main_kinds = [*FORESTS, *NETWORKS[:3]]
    first_kinds = [*FORESTS[:2], NETWORKS[0]]
    yield from _plain([*FORESTS, *NETWORKS, *PARTS], lives.three_tasks)
    yield from _plain(main_kinds, lives.whole_life)
    yield from _plain(first_kinds, lives.store, lives.many, lives.add_encoder_file, lives.rename)
    yield from _plain(FORESTS, lives.tiny_tasks)
    yield from _plain([FORESTS[0], FORESTS[1], FORESTS[4]], lives.changes_asked_all)
    for kind in main_kinds:
        yield Case(kind, ON_A_BUDGET, False, lives.whole_life)
        yield Case(kind, Setting(replay=0.0), False, lives.forget_encoder)
    for kind in [FORESTS[1], NETWORKS[1]]:
        yield Case(kind, USEFUL, False, lives.whole_life)
    for kind in [*FORESTS, NETWORKS[0], NETWORKS[2]]:
        if kind.weights:
            yield Case(kind, PLAIN, True, lives.other_weights)
    as_before = [kind for kind in ON_ROWS if kind.name not in MENDED]
    yield from _plain(as_before, lives.three_tasks, lives.more_rows)
    yield from (CASES[name] for name in _STABLE)


KEPT = {case.name: case for case in _kept_cases() if case.name not in _UNSTABLE}
