"""Named streams of random numbers from the one seed: a draw more in one stream moves nothing in
another.

A stream is counter-based (splitmix64 over a key from SHA-256), so that any of its numbers can be
had without those before it: what happens in quiet times can be worked out late, and only where
it matters.
"""

from __future__ import annotations

import math
from base64 import urlsafe_b64encode
from hashlib import sha256
from statistics import NormalDist

from rebalsim.domain.draws import Draw, base_of

_MASK = 0xFFFFFFFFFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15
_NORMAL = NormalDist()
_NEARLY_ONE = 1.0 - 2.0**-53


def mixed(key: int, counter: int) -> int:
    """The counter-th 64-bit number of the stream with this key."""
    z = (key + counter * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


class Stream:
    """One named stream."""

    __slots__ = ("key", "used")

    def __init__(self, key: int) -> None:
        self.key = key
        self.used = 0

    def unit(self) -> float:
        """The next number in [0, 1)."""
        self.used += 1
        return _unit(mixed(self.key, self.used))

    def bits(self) -> int:
        """The next 64 bits."""
        self.used += 1
        return mixed(self.key, self.used)

    def unit_at(self, counter: int) -> float:
        """The number in [0, 1) that belongs to this counter (mostly an instant), whoever asks."""
        return _unit(mixed(self.key, counter))

    def uuid_at(self, counter: int) -> str:
        """The counter-th id of this stream, as Kafka writes them: 16 bytes in URL-safe base64,
        never with a dash in front.
        """
        text = "-"
        at = counter << 8
        while text[0] == "-":
            raw = mixed(self.key, 2 * at).to_bytes(8, "big") + mixed(self.key, 2 * at + 1).to_bytes(
                8, "big"
            )
            text = urlsafe_b64encode(raw).decode().rstrip("=")
            at += 1
        return text

    def draw(self, what: Draw) -> int:
        """The next value of a distribution, as integer µs."""
        if what.shape == "constant" and not what.tail_share:
            return int(what.a)
        if what.tail_share and self.unit() < what.tail_share:
            base = base_of(what)
            return max(0, round(base + (what.tail_us - base) * self.unit()))
        if what.shape == "in_turn":
            self.used += 1
            return max(0, round(what.values[(self.used - 1) % len(what.values)]))
        return max(0, round(_shaped(what, self.unit())))

    def draw_at(self, what: Draw, counter: int) -> int:
        """The value that belongs to this counter (often an instant): the same whoever asks,
        however often, in whatever order.
        """
        if what.shape == "constant" and not what.tail_share:
            return int(what.a)
        if what.shape == "in_turn":
            return max(0, round(what.values[counter % len(what.values)]))
        unit = _unit(mixed(self.key, 4 * counter))
        if what.tail_share and unit < what.tail_share:
            base = base_of(what)
            return max(
                0, round(base + (what.tail_us - base) * _unit(mixed(self.key, 4 * counter + 1)))
            )
        return max(0, round(_shaped(what, _unit(mixed(self.key, 4 * counter + 2)))))


def _unit(bits: int) -> float:
    return (bits >> 11) * 1.1102230246251565e-16


def _shaped(what: Draw, unit: float) -> float:
    shape, a, b = what.shape, what.a, what.b
    if shape == "constant":
        return a
    if shape == "uniform":
        return a + (b - a) * unit
    if shape == "exponential":
        value = -a * math.log1p(-unit)
        return min(value, b) if b > 0 else value
    if shape == "choice":
        return what.values[int(unit * len(what.values))]
    standard = min(4.0, max(-4.0, _NORMAL.inv_cdf(min(max(unit, 1e-12), 1 - 1e-12))))
    if shape == "normal":
        return a + b * standard
    return (
        a * math.exp(standard * math.log(b / a) / 2.3263478740408408) if a > 0 and b > a else a
    )  # lognormal: b is the 99th percentile


def quantile(what: Draw, unit: float) -> float:
    """The value below which this share of draws lies; the tail, if there is one, is the uppermost
    of it.
    """
    share = what.tail_share
    if share and unit >= 1.0 - share:
        base = base_of(what)
        return max(0.0, base + (what.tail_us - base) * (unit - 1.0 + share) / share)
    return max(0.0, _shaped(what, min(unit / (1.0 - share), _NEARLY_ONE)))


class Randomness:
    """The streams of one run."""

    __slots__ = ("_seed", "_streams")

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[str, Stream] = {}

    def stream(self, name: str) -> Stream:
        """The stream of this name; the same object each time."""
        found = self._streams.get(name)
        if found is None:
            digest = sha256(f"{self._seed}/{name}".encode()).digest()
            found = self._streams[name] = Stream(int.from_bytes(digest[:8], "big"))
        return found
