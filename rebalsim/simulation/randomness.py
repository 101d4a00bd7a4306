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

from rebalsim.domain.draws import LISTED, Draw, base_of, mean_of

_MASK = 0xFFFFFFFFFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15
_NORMAL = NormalDist()


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
    standard = _NORMAL.inv_cdf(min(max(unit, 1e-12), 1 - 1e-12))
    if shape == "normal":
        return a + b * min(4.0, max(-4.0, standard))
    return (
        a * math.exp(standard * math.log(b / a) / 2.3263478740408408) if a > 0 and b > a else a
    )  # lognormal: b is the 99th percentile


def variance_of(what: Draw) -> float:
    """The square of how far draws spread around their mean (a cap is not minded)."""
    shape, a, b = what.shape, what.a, what.b
    plain = Draw(shape, a, b, what.values)
    middle = mean_of(plain)
    if shape == "uniform":
        variance = (b - a) ** 2 / 12
    elif shape == "normal":
        variance = b * b
    elif shape == "exponential":
        variance = a * a
    elif shape in LISTED:
        variance = sum((value - middle) ** 2 for value in what.values) / len(what.values)
    elif shape == "lognormal" and a > 0 and b > a:
        variance = (math.exp((math.log(b / a) / 2.3263478740408408) ** 2) - 1) * middle * middle
    else:
        variance = 0.0
    share = what.tail_share
    if not share:
        return variance
    tail = (base_of(what) + what.tail_us) / 2
    tail_variance = (what.tail_us - base_of(what)) ** 2 / 12
    whole = (1 - share) * middle + share * tail
    return (
        (1 - share) * (variance + middle * middle)
        + share * (tail_variance + tail * tail)
        - whole * whole
    )


def sum_of(stream: Stream, what: Draw, count: int) -> float:
    """What so many draws come to together: one by one while they are few, else by the law of
    large numbers.
    """
    if what.is_constant:
        return what.a * count
    if count <= 12:
        return float(sum(stream.draw(what) for _ in range(count)))
    standard = _NORMAL.inv_cdf(min(max(stream.unit(), 1e-12), 1 - 1e-12))
    return max(0.0, mean_of(what) * count + standard * math.sqrt(variance_of(what) * count))


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
