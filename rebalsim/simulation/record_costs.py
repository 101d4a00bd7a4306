"""What records take to handle, where that is drawn: each record's cost is its own, whoever handles it
and however often. So the variants of a story meet the same hard records at the same places, and what
a batch takes can be told without those before it.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from struct import unpack

from rebalsim.domain.draws import Draw
from rebalsim.domain.ids import Partition
from rebalsim.simulation.randomness import Randomness, mixed, quantile

BLOCK = 32  # records whose places in the distribution come from one hash …
_LEVELS = 1 << 16  # … each as one of so many
_HIGHEST = _LEVELS - 1
_FINE = 1.0 / (1 << 53)


class Quantiles(dict[int, float]):
    """The values in the middle of a distribution's levels, each worked out when it is first asked
    for. The highest level is no single value: all the extremes are in it.
    """

    def __init__(self, what: Draw) -> None:
        self._what = what

    def __missing__(self, level: int) -> float:
        value = self[level] = quantile(self._what, (level + 0.5) / _LEVELS)
        return value


@lru_cache(maxsize=256)
def quantiles_of(what: Draw) -> Quantiles:
    """One table for whoever draws of it."""
    return Quantiles(what)


class RecordCosts:
    """What the records of one partition take a group's handler, by their offsets."""

    __slots__ = ("_block", "_key", "_levels")

    def __init__(
        self, randomness: Randomness, purpose: str, group: str, partition: Partition
    ) -> None:
        self._key = randomness.stream(f"{purpose}/{group}/{partition}").key
        self._block = -1
        self._levels: tuple[int, ...] = ()

    def each(self, what: Draw, first: int, count: int = 1) -> list[float]:
        """What so many of them take from this offset on, one by one."""
        if what.shape == "in_turn":
            values = what.values
            return [values[(first + i) % len(values)] for i in range(count)]
        value_of = quantiles_of(what).__getitem__
        block, place = divmod(first, BLOCK)
        took: list[float] = []
        while len(took) < count:
            if block != self._block:
                self._turn_to(block)
            levels = self._levels[place : place + count - len(took)]
            if _HIGHEST in levels:
                at = block * BLOCK + place
                took += [
                    value_of(level) if level < _HIGHEST else self._extreme(what, at + i)
                    for i, level in enumerate(levels)
                ]
            else:
                took += map(value_of, levels)
            block, place = block + 1, 0
        return took

    def _turn_to(self, block: int) -> None:
        data = (self._key << 64 | block).to_bytes(16, "little")
        self._levels = unpack(f"<{BLOCK}H", blake2b(data, digest_size=2 * BLOCK).digest())
        self._block = block

    def _extreme(self, what: Draw, offset: int) -> float:
        fine = (mixed(self._key, offset) >> 11) * _FINE
        return quantile(what, (_HIGHEST + fine) / _LEVELS)
