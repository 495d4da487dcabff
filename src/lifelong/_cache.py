"""What is quickly made again is kept as long as there is room for it."""

import threading
import weakref
from collections import OrderedDict
from typing import Any


class Cache:
    """The values used last, of at most so many bytes.

    Each belongs to an object, and goes with it.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._total = 0
        # A lock that its holder may take again: an owner can die at any moment, also inside of a
        # block below.
        self._lock = threading.RLock()
        # By the owner's id: the owner, its value, and bytes of that.
        self._values: OrderedDict[int, tuple[weakref.ref[Any], Any, int]] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return Cache, (self.max_bytes,)

    def get(self, owner: Any) -> Any:
        """The owner's value, or None if it is not kept."""
        with self._lock:
            known, value, _ = self._values.get(id(owner), (None, None, 0))
            if known is None or known() is not owner:
                return None
            self._values.move_to_end(id(owner))
            return value

    def put(self, owner: Any, value: Any) -> None:
        """Keep a value, and drop those that have not been used for longest."""
        size = int(value.nbytes)
        with self._lock:
            if self.get(owner) is not None or size > self.max_bytes:
                return
            key = id(owner)
            self._values[key] = weakref.ref(owner, lambda dead: self._drop(key, dead)), value, size
            self._total += size
            while self._total > self.max_bytes:
                self._drop(next(iter(self._values)))

    def _drop(self, key: int, dead: "weakref.ref[Any] | None" = None) -> None:
        with self._lock:
            known, _, size = self._values.get(key, (None, None, 0))
            if known is None or (dead is not None and known is not dead):
                return
            del self._values[key]
            self._total -= size

    @property
    def nbytes(self) -> int:
        """Bytes of all values that are kept."""
        return self._total
