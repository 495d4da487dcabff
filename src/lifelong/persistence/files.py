"""What learners need of files, for :mod:`lifelong.learners`, which does not know this package."""

from pathlib import Path
from typing import Any

from lifelong.learners.knowledge import Knowledge
from lifelong.learners.silly import Silly
from lifelong.persistence.exchange import ImportedEncoder, encoder_for
from lifelong.persistence.store import OpenStore, Store


class LearnerFiles:
    """Stores, and encoders from files."""

    def open_store(self, store: "str | Path | Store") -> OpenStore:
        """A store in use by one learner."""
        if not isinstance(store, Store):
            store = Store(store)
        return store.open()

    def read_encoder(
        self, source: Any, learner: Silly, known: Knowledge | None, max_bytes: int
    ) -> ImportedEncoder:
        """An encoder from elsewhere that the learner can use."""
        return encoder_for(source, learner, known, max_bytes)


FILES = LearnerFiles()
