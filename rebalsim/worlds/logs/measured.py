"""What logs measure that no scenario can know: callbacks' costs, restarts, round trips, silences; each
with the samples it rests on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rebalsim.worlds.logs.observation import GroupStory

NOTICEABLE_US = 100_000


@dataclass(slots=True)
class Measured:
    """µs, sorted; by what was measured."""

    samples: dict[str, list[int]] = field(default_factory=dict)

    def add(self, name: str, us: int) -> None:
        """One more sample."""
        self.samples.setdefault(name, []).append(us)

    def at(self, name: str, share: float) -> int:
        """The sample below which so much of them lies; −1 where there is none."""
        found = sorted(self.samples.get(name, ()))
        return found[min(len(found) - 1, int(len(found) * share))] if found else -1

    def listener_lines(self, indent: str) -> list[str]:
        """The listener's costs, where they are worth a word."""
        lines = []
        for name in ("on_revoked", "on_assigned", "on_lost"):
            # what follows an assigned callback waits for offsets, too: the quickest ones tell the cost
            middle = self.at(name, 0.1 if name == "on_assigned" else 0.5)
            if middle >= NOTICEABLE_US:
                count = len(self.samples[name])
                lines.append(f"{indent}  {name}: {middle // 1_000}ms   # of {count} calls")
        return [f"{indent}listener:", *lines] if lines else []


def measure(stories: Sequence[GroupStory]) -> Measured:
    """Everything that these groups' logs measure."""
    found = Measured()
    for story in stories:
        for voice in story.voices:
            _callbacks(found, voice.facts)
            _joins(found, voice.facts)
            _restarts(found, voice.facts)
        for stop in story.stops:
            if stop.how == "frozen" and stop.noticed_us > stop.at_us:
                found.add("freeze", stop.noticed_us - stop.at_us)
        for r in story.rounds:
            if r.joined_us >= 0 and r.end_us >= r.joined_us and not r.is_epoch:
                found.add("assignment", r.end_us - r.joined_us)
    return found


def _callbacks(found: Measured, facts: Sequence[object]) -> None:
    from rebalsim.worlds.logs.facts import Fact

    listed = [f for f in facts if isinstance(f, Fact)]
    for f, following in pairwise(listed):
        ends = ("asking", "positioned", "callback-took", "leaving")
        if f.partitions and f.what in ("revoked", "assigned", "lost") and following.what in ends:
            took = following.amount * 1_000 if following.what == "callback-took" else -1
            took = took if took >= 0 else following.at_us - f.at_us
            if 0 <= took < 600_000_000:
                found.add(f"on_{f.what}", took)


def _joins(found: Measured, facts: Sequence[object]) -> None:
    """From a first JoinGroup to its answer with the member id: a round trip, and the coordinator."""
    from rebalsim.worlds.logs.facts import Fact

    asking: Fact | None = None
    for f in facts:
        assert isinstance(f, Fact)
        if f.what == "asking":
            asking = f
        elif f.what == "named" and asking is not None and f.at_us >= asking.at_us:
            found.add("round_trip", f.at_us - asking.at_us)
            asking = None
        elif f.what == "joined":
            asking = None


def _restarts(found: Measured, facts: Sequence[object]) -> None:
    """From a process's last word to its successor's first, and from that to its join."""
    from rebalsim.worlds.logs.facts import Fact

    closed: Fact | None = None
    started: Fact | None = None
    for f in facts:
        assert isinstance(f, Fact)
        if f.what == "closed":
            closed = f
        elif f.what == "started":
            if closed is not None:
                found.add("down", f.at_us - closed.at_us)
            closed, started = None, f
        elif f.what == "asking" and started is not None:
            found.add("start", f.at_us - started.at_us)
            started = None


def beats_apart_ms(story: GroupStory) -> int:
    """How far apart heartbeats really came, by when members heard of rebalances; 0 where too few did.

    On a busy machine each comes some ms late, and over many of them the next rebalance is heard of
    that much later.
    """
    spacings = []
    for voice in story.voices:
        interval = voice.settled("heartbeat.interval.ms") * 1_000
        since = -1
        for f in voice.facts:
            if f.what in ("synced", "assigned"):
                since = f.at_us if f.what == "synced" or since < 0 else since
            elif f.what == "heard" and since >= 0 and interval > 0:
                beats = round((f.at_us - since) / interval)
                if beats >= 2:
                    spacings.append((f.at_us - since) // beats)
                since = -1
    spacings.sort()
    if len(spacings) < 3:
        return 0
    middle = spacings[len(spacings) // 2] // 1_000
    told = [v.settled("heartbeat.interval.ms") for v in story.voices]
    usual = max(told, default=-1)
    return middle if usual > 0 and usual < middle <= usual * 1.03 else 0


def beat_ms(story: GroupStory) -> int:
    """The consumer protocol's heartbeat interval, which only brokers know: the longest usual one that
    most answers with news came in multiples of; 0 where too few did.
    """
    gaps = []
    for voice in story.voices:
        since = -1
        for f in voice.facts:
            if f.what != "state":
                continue
            if f.why == "STABLE>RECONCILING" and since >= 0:
                gaps.append((f.at_us - since) // 1_000)
            if f.why == "ACKNOWLEDGING>STABLE":
                since = f.at_us
    for beat in (5_000, 3_000, 2_000, 1_000, 500):
        near = [g for g in gaps if g % beat <= beat * 0.1 or g % beat >= beat * 0.98]
        if len(gaps) >= 3 and len(near) * 3 >= len(gaps) * 2:
            return beat
    return 0
