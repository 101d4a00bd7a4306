"""What the protocol's causality says of two clocks: who answered whom cannot have spoken first.

A client's line that answers a coordinator's bounds how far its clock can be behind; one that the
coordinator answers, how far ahead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.voices import Voice


@dataclass(slots=True, frozen=True)
class Bound:
    """At its own time `at_us` the client's clock was ahead by at most (or at least) so much."""

    at_us: int
    ahead_us: int
    is_most: bool
    place: int = -1  # of its line among the stream's


@dataclass(slots=True)
class Coordination:
    """A coordinator's doings, by what the client's lines name: generation or member id."""

    stabilized: dict[tuple[str, int], int] = field(default_factory=dict)
    preparing: dict[tuple[str, int], int] = field(default_factory=dict)
    distributed: dict[tuple[str, int], int] = field(default_factory=dict)
    bumped: dict[tuple[str, int], int] = field(default_factory=dict)
    born: dict[tuple[str, str], int] = field(default_factory=dict)
    added: dict[tuple[str, str], int] = field(default_factory=dict)
    left: dict[tuple[str, str], int] = field(default_factory=dict)
    failed: dict[tuple[str, str], int] = field(default_factory=dict)
    step_us: int = 0  # by so much later a doing may have been than it is told, in whole seconds


def coordination(facts: Iterable[Fact], step_us: int = 0) -> Coordination:
    """The index of one coordinator's facts; `step_us`: the resolution of its times."""
    found = Coordination(step_us=step_us if step_us >= 1_000_000 else 0)
    for f in facts:
        if f.what == FactKind.PREPARING:
            found.preparing.setdefault((f.group, f.generation + 1), f.at_us)
        elif f.what in (FactKind.STABILIZED, FactKind.DISTRIBUTED, FactKind.BUMPED):
            getattr(found, f.what).setdefault((f.group, f.generation), f.at_us)
        elif f.what in (FactKind.BORN, FactKind.ADDED, FactKind.LEFT, FactKind.FAILED):
            getattr(found, f.what).setdefault((f.group, f.member), f.at_us)
        elif f.what == FactKind.REPLACED and f.member:
            found.added.setdefault((f.group, f.member), f.at_us)
    return found


def bounds(voice: Voice, by: Coordination) -> list[Bound]:
    """Every bound that one consumer's lines set, in the order of its lines."""
    found: list[Bound] = []
    step = voice.stream.step_us if voice.stream.step_us >= 1_000_000 else 0
    for first, then, broker_us in _pairs(voice, by):
        if first is None and then is not None:
            found.append(Bound(then.at_us, then.at_us + step - broker_us, True, then.place))
        elif first is not None:
            least = first.at_us - broker_us - by.step_us
            found.append(Bound(first.at_us, least, False, first.place))
    found.sort(key=lambda b: b.place)
    return found


def _pairs(voice: Voice, by: Coordination) -> Iterator[tuple[Fact | None, Fact | None, int]]:
    """(the client's line that came first, or that came after, the coordinator's instant)."""
    asking: Fact | None = None
    known: set[str] = set()
    g = voice.group
    for f in voice.facts:
        what = f.what
        if what == FactKind.ASKING:
            asking = f
        elif what == FactKind.NAMED and (g, f.member) not in by.born:
            # a client that makes its id itself
            yield from _before(f, by.added.get((g, f.member)))
        elif what == FactKind.NAMED:
            yield from _after(f, by.born.get((g, f.member)))
            yield from _before(asking, by.born.get((g, f.member)))
            asking = None
        elif what == FactKind.JOINED:
            key = (g, f.generation)
            yield from _after(f, by.stabilized.get(key))
            yield from _before(asking, by.stabilized.get(key))
            if f.member not in known:  # only its first join is told by `added`
                yield from _before(asking, by.added.get((g, f.member)))
            known.add(f.member)
            asking = None
        elif what in (FactKind.ASSIGNED, FactKind.REVOKED) and f.generation > 0 and f.member:
            if what == FactKind.ASSIGNED:
                yield from _after(f, by.distributed.get((g, f.generation)))
            else:
                yield from _before(f, by.stabilized.get((g, f.generation + 1)))
        elif what == FactKind.EPOCH:
            yield from _after(f, by.bumped.get((g, f.generation)))
            yield from _after(f, by.added.get((g, f.member)))
        elif what == FactKind.PLANNED:
            yield from _before(f, by.distributed.get((g, f.generation)))
        elif what == FactKind.SYNCED:
            yield from _after(f, by.distributed.get((g, f.generation)))
        elif what == FactKind.LEAVING:
            yield from _before(f, by.left.get((g, f.member)))
        elif what == FactKind.THROWN_OUT and f.member:
            yield from _after(f, by.failed.get((g, f.member)))
        elif what == FactKind.STATE:
            yield from _of_state(f, g, by)


def _of_state(f: Fact, g: str, by: Coordination) -> Iterator[tuple[Fact | None, Fact | None, int]]:
    if f.why.endswith(">JOINING"):
        yield from _before(f, by.added.get((g, f.member)))
    elif f.why.endswith(">LEAVING"):
        yield from _before(f, by.left.get((g, f.member)))
    elif f.why.endswith(">RECONCILING"):
        yield from _after(f, by.bumped.get((g, f.generation)))
        yield from _after(f, by.added.get((g, f.member)))


def _before(f: Fact | None, us: int | None) -> Iterator[tuple[Fact | None, Fact | None, int]]:
    if f is not None and us is not None:
        yield f, None, us


def _after(f: Fact | None, us: int | None) -> Iterator[tuple[Fact | None, Fact | None, int]]:
    if f is not None and us is not None:
        yield None, f, us
