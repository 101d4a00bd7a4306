"""What logs measure that no scenario can know: callbacks' costs, restarts, round trips, silences; each
with the samples it rests on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import CALLS, Fact, FactKind
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.stops import StopKind
from rebalsim.worlds.logs.voices import Voice

NOTICEABLE_US = 100_000
USUAL_MS = 3_000  # every classic client's heartbeat interval by default
ACKNOWLEDGED = ("ACKNOWLEDGING>STABLE", "JOINING>STABLE")
RECORDS_A_SECOND = "restored records a second"  # what is no time
ONE_ANSWER_US = 300_000  # calls that are nearer to each other come from one heartbeat's answer


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


def measure(stories: Sequence[GroupStory]) -> Measured:
    """Everything that these groups' logs measure."""
    found = Measured()
    for story in stories:
        for voice in story.voices:
            _callbacks(found, voice.facts)
            _joins(found, voice.facts)
            _restarts(found, voice.facts)
            _batches(found, voice)
            _restorations(found, voice.facts)
            _cuts(found, voice.facts)
        for stop in story.stops:
            if stop.how == StopKind.FROZEN and stop.noticed_us > stop.at_us:
                found.add("freeze", stop.noticed_us - stop.at_us)
        for r in story.rounds:
            if r.joined_us >= 0 and r.end_us >= r.joined_us and not r.is_epoch:
                found.add("assignment", r.end_us - r.joined_us)
    return found


def _callbacks(found: Measured, facts: Sequence[Fact]) -> None:
    for f, following in pairwise(facts):
        ends = (FactKind.ASKING, FactKind.POSITIONED, FactKind.CALLBACK_TOOK, FactKind.LEAVING)
        if f.partitions and f.what in CALLS and following.what in ends:
            took = following.amount * 1_000 if following.what == FactKind.CALLBACK_TOOK else -1
            took = took if took >= 0 else following.at_us - f.at_us
            if 0 <= took < 600_000_000:
                found.add(f"on_{f.what}", took)


def _joins(found: Measured, facts: Sequence[Fact]) -> None:
    """From a first JoinGroup to its answer with the member id: a round trip, and the coordinator."""
    asking: Fact | None = None
    for f in facts:
        if f.what == FactKind.ASKING:
            asking = f
        elif f.what == FactKind.NAMED and asking is not None and f.at_us >= asking.at_us:
            found.add("round_trip", f.at_us - asking.at_us)
            asking = None
        elif f.what == FactKind.JOINED:
            asking = None


def _restarts(found: Measured, facts: Sequence[Fact]) -> None:
    """From a process's last word to its successor's first, and from that to its join."""
    closed: Fact | None = None
    started: Fact | None = None
    for f in facts:
        if f.what == FactKind.CLOSED:
            closed = f
        elif f.what == FactKind.STARTED:
            if closed is not None:
                found.add("down", f.at_us - closed.at_us)
            closed, started = None, f
        elif f.what == FactKind.ASKING and started is not None:
            found.add("start", f.at_us - started.at_us)
            started = None


def _batches(found: Measured, voice: Voice) -> None:
    """A client whose heartbeat thread hears of a rebalance acts on it when the application polls: on the
    average half a batch later.
    """
    if dialect(voice.dialect).client != "java":
        return
    heard = -1
    for f in voice.facts:
        if f.what == FactKind.HEARD:
            heard = f.at_us if heard < 0 else heard
        elif f.what in (
            FactKind.REVOKED,
            FactKind.ASKING,
            FactKind.LOST,
            FactKind.JOINED,
            FactKind.THROWN_OUT,
        ):
            if heard >= 0 and f.what in (FactKind.REVOKED, FactKind.ASKING):
                found.add("batch", 2 * (f.at_us - heard))
            heard = -1


def _restorations(found: Measured, facts: Sequence[Fact]) -> None:
    """What Kafka Streams says that restoring its stores took, and how many records a second that was."""
    records = 0
    for f in facts:
        if f.what == FactKind.CHANGELOG:
            records += f.amount
        elif f.what == FactKind.RESTORED:
            found.add("restore", f.amount * 1_000)
            if records and f.amount > 0:
                found.add(RECORDS_A_SECOND, records * 1_000 // f.amount)
            records = 0


def _cuts(found: Measured, facts: Sequence[Fact]) -> None:
    """From losing the coordinator to finding it again."""
    lost = -1
    for f in facts:
        if f.what == FactKind.COORDINATOR_LOST:
            lost = f.at_us if lost < 0 else lost
        elif f.what in (FactKind.COORDINATOR_FOUND, FactKind.CLOSED, FactKind.STARTED):
            if lost >= 0 and f.what == FactKind.COORDINATOR_FOUND:
                found.add("cut", f.at_us - lost)
            lost = -1


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
            if f.what in (FactKind.SYNCED, FactKind.ASSIGNED):
                since = f.at_us if f.what == FactKind.SYNCED or since < 0 else since
            elif f.what == FactKind.HEARD and since >= 0 and interval > 0:
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
    gaps = [
        (news - settled) // 1_000
        for voice in story.voices
        for settled, news in news_of(voice.facts)
    ]
    return _usual_beat(gaps)


def classic_beat_ms(story: GroupStory) -> int:
    """A classic group's heartbeat interval where no log prints it; 0 where it may be the default.

    Java's client sends no beat sooner than an interval after it has joined: news that came sooner than
    the default would allow came in multiples of something shorter.
    """
    gaps = []
    for voice in story.voices:
        settled = -1
        for f in voice.facts if dialect(voice.dialect).client == "java" else ():
            if f.what == FactKind.JOINED:
                settled = f.at_us
            elif f.what == FactKind.HEARD and settled >= 0:
                gaps.append((f.at_us - settled) // 1_000)
                settled = -1
    soonest = min(gaps, default=USUAL_MS)
    return _usual_beat([g for g in gaps if g < USUAL_MS]) if soonest < USUAL_MS * 0.95 else 0


def _usual_beat(gaps: Sequence[int]) -> int:
    """The longest usual interval that most of these are multiples of, and all but one no shorter than;
    leaving out news that came with the answer to a beat that acknowledged.
    """
    gaps = [gap for gap in gaps if gap * 1_000 > ONE_ANSWER_US]
    soonest = sorted(gaps)[1] if len(gaps) > 1 else 0
    for beat in (5_000, 3_000, 2_000, 1_000, 500):
        near = [gap for gap in gaps if _fits(gap, beat)]
        if beat <= soonest * 1.05 and len(near) * 3 >= len(gaps) * 2:
            return beat
    return 0


def news_of(facts: Sequence[Fact]) -> list[tuple[int, int]]:
    """Consumer protocol: each moment at which a beat brought news, and when its beats had begun anew
    before that. Where a client does not tell its states, its listener's calls do.
    """
    has_states = any(f.what == FactKind.STATE for f in facts)
    found = []
    settled = -1
    for f in facts:
        if has_states:
            is_news = f.what == FactKind.POLL_EXPIRED or f.why == "STABLE>RECONCILING"
            settles = f.why in ACKNOWLEDGED
        else:
            settles = f.what in CALLS
            is_news = settles and f.at_us > settled + ONE_ANSWER_US
        if is_news and settled >= 0:
            found.append((settled, f.at_us))
        if settles:
            settled = f.at_us
    return found


def _fits(gap: int, beat: int) -> bool:
    """So many beats, each of which a busy machine may send a little late."""
    late = gap - beat * max(1, round(gap / beat))
    return -beat * 0.02 <= late <= 100 + gap * 0.02
