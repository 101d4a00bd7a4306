"""The timers of a coordinator that is asked without a simulation: the first set fires first, and
one that was set anew or cancelled does not fire.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from rebalsim.protocol.effects import CancelTimer, Effect, Reply, SetTimer

MS = 1_000


class TimerQueue:
    """Timers by key."""

    def __init__(self) -> None:
        self._due: dict[str, tuple[int, int]] = {}  # key → (due µs, order of setting)
        self._queue: list[tuple[int, int, str]] = []
        self._set = 0

    def apply(self, effects: Iterable[Effect]) -> list[Reply]:
        """What these set and cancel; the answers that are among them."""
        replies = []
        for effect in effects:
            if isinstance(effect, SetTimer):
                self.set(effect.key, effect.due_us)
            elif isinstance(effect, CancelTimer):
                self.cancel(effect.key)
            elif isinstance(effect, Reply):
                replies.append(effect)
        return replies

    def set(self, key: str, due_us: int) -> None:
        """It fires then, and no longer when it was to before."""
        self._due[key] = (due_us, self._set)
        heappush(self._queue, (due_us, self._set, key))
        self._set += 1

    def cancel(self, key: str) -> None:
        """The timer of this key does not fire."""
        self._due.pop(key, None)

    def next_ms(self, until_ms: int) -> int | None:
        """The millisecond in which the next timer fires; None where that is later than `until_ms`."""
        queue = self._queue
        while queue and self._due.get(queue[0][2]) != queue[0][:2]:
            heappop(queue)
        return queue[0][0] // MS if queue and queue[0][0] <= until_ms * MS else None

    def pop(self) -> str:
        """The key of the one that `next_ms` told of; it has fired."""
        _, _, key = heappop(self._queue)
        del self._due[key]
        return key
