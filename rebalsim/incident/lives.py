"""Each process's lives as a script has them: when it came, what befell it, how it went."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.incident.spelling import played_name
from rebalsim.worlds.logs.adoption import stem_of
from rebalsim.worlds.logs.coarse_times import is_coarse
from rebalsim.worlds.logs.facts import APPLICATION_GOES_ON, GOES, MAKES_A_MEMBER, Fact, FactKind
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.stops import LONG_CLOSE_US, Stop, StopKind
from rebalsim.worlds.logs.triggers import TriggerKind
from rebalsim.worlds.logs.voices import Voice

BEFORE_JOIN_US = 30_000  # from a warm process's first poll to its JoinGroup
# under the consumer protocol a beat sees that nobody polls: the last poll() was some time before
LEAVES = (">PREPARE_LEAVING", ">LEAVING")
BEFORE_BEGIN_US = 300_000
BEFORE_BEAT_US = 60_000
AGAIN_US = 6_000  # from a poll() that finds its member thrown out to the group's first move
TAKEN_IN_US = 1_500  # from a request's leaving to its group's first move
SLOW_JOIN_US = 5_000_000  # a JoinGroup that is under way longer is another one's
NEVER = 1 << 62
MUCH_US = 1_000_000  # a poll loop that takes so long to come has been held up


@dataclass(slots=True)
class Blow:
    """Something that befell a process. `what`: crash | freeze | hang | leave."""

    at_us: int
    what: str
    for_us: int = 0

    @property
    def end_us(self) -> int:
        """When it was over."""
        return self.at_us + self.for_us


@dataclass(slots=True)
class Life:
    """One process from its first join to its end."""

    name: str
    voice: Voice
    begin_us: int
    end_us: int = NEVER
    member: str = ""
    joins_us: int = -1  # when the JoinGroup left that brought it in
    blows: list[Blow] = field(default_factory=list)

    def began(self, r: Round) -> bool:
        """Whether the rebalance is this process's doing, in any of its lives."""
        return r.trigger.member in self.voice.ids


def lives_of(story: GroupStory) -> list[Life]:
    """Every life that the logs tell of, in order of their beginnings; later ones of a process have a
    number behind its name.
    """
    found = []
    begins = [r.begin_us for r in story.rounds]
    barriers = {r.generation: r.joined_us for r in story.rounds if r.joined_us >= 0}
    failed = {f.member for f in story.coordinator if f.what == FactKind.FAILED}
    added: dict[str, int] = {}
    for f in story.coordinator:
        if f.what == FactKind.ADDED and f.member:
            added.setdefault(f.member, f.at_us)
    names: set[str] = set()
    for voice in story.voices:
        name = _own(played_name(voice.name), names)
        deaths = [s.at_us for s in story.stops if s.voice is voice and s.how == StopKind.KILLED]
        mine = _lives(voice, deaths, added)
        if mine and mine[-1].end_us == NEVER:
            mine[-1].end_us = _left_us(mine[-1], story.rounds)
        for number, life in enumerate(mine, 1):
            life.name = name if number == 1 else f"{name}.{number}"
            stops = [s for s in story.stops if s.voice is voice and life.begin_us <= s.at_us]
            _strike(life, [s for s in stops if s.at_us < life.end_us], story.rounds, failed)
            _tarry(life, barriers, begins)
            life.joins_us = _taken_in(life, story.rounds)
            life.blows = _merged(life.blows)
        found += mine
    return sorted(found, key=lambda x: x.begin_us)


def _own(name: str, taken: set[str]) -> str:
    """The name, or one like it that nobody has yet."""
    more = itertools.chain((name,), (f"{name}-{number}" for number in itertools.count(2)))
    own = next(n for n in more if n not in taken)
    taken.add(own)
    return own


def _lives(voice: Voice, deaths: Sequence[int], added: Mapping[str, int]) -> list[Life]:
    """`added`: when the coordinator took each member in, which is when the first life of one began whose
    log lacks its beginning.
    """
    found: list[Life] = []
    is_open = is_in = has_expired = False
    left_us = NEVER
    for f in voice.facts:
        is_other = f.what == FactKind.STARTED or any(
            found and found[-1].begin_us < us < f.at_us for us in deaths
        )
        if is_open and (is_other or (f.what == FactKind.ASKING and left_us < f.at_us)):
            found[-1].end_us = min(found[-1].end_us, f.at_us, left_us)
            is_open = False
        if f.what in (FactKind.POLL_EXPIRED, FactKind.STARTED, FactKind.JOINED):
            has_expired = f.what == FactKind.POLL_EXPIRED
        if f.what in (FactKind.ASKING, FactKind.STATE, FactKind.EPOCH) and not is_open:
            since = _since(f, voice, added) if not found else f.at_us
            is_in_already = since < f.at_us
            if f.what == FactKind.STATE and not (is_in_already or f.why.endswith(">JOINING")):
                continue
            found.append(Life("", voice, since, joins_us=since))
            is_open, is_in, left_us = True, False, NEVER
        elif f.what == FactKind.ASKING and not is_in:
            found[-1].joins_us = f.at_us  # again, with the member id that it was given
        elif f.what in MAKES_A_MEMBER:
            is_in = True
        elif f.what == FactKind.LEAVING and not has_expired:
            left_us = f.at_us
        elif f.what == FactKind.CLOSED and is_open and not has_expired:  # else it left, and lives
            found[-1].end_us = f.at_us
            is_open = False
        if is_open and f.member and not found[-1].member and f.what != FactKind.PLANNED:
            found[-1].member = f.member
    return found


def _since(first: Fact, voice: Voice, added: Mapping[str, int]) -> int:
    """When the life began of which this is the first that its log tells."""
    taken_in = added.get(first.member or voice.id_at(first.at_us), first.at_us)
    return taken_in if taken_in < first.at_us - MUCH_US else first.at_us


def _taken_in(life: Life, rounds: Sequence[Round]) -> int:
    """When it asked to be let in: what its coordinator says of the rebalance that this began goes
    before its own log, whose requests may have waited for a busy machine; under the consumer protocol,
    whose coordinator answers at once, what it was answered goes before when it began to ask.
    """
    until = min(life.end_us, life.joins_us + SLOW_JOIN_US)
    begun = (
        r.begin_us - TAKEN_IN_US
        for r in rounds
        if r.trigger.kind in (TriggerKind.JOIN, TriggerKind.REJOIN, TriggerKind.STATIC_REJOIN)
        and life.begin_us <= r.begin_us <= until
        and not r.is_guessed
        and life.began(r)
    )
    return next(begun, max(life.joins_us, _answered_us(life) - TAKEN_IN_US))


def _answered_us(life: Life) -> int:
    """When a client of the consumer protocol was answered that it is in; −1 where no line says so."""
    states = (f for f in _facts(life) if f.what == FactKind.STATE)
    return next((f.at_us for f in states if f.why.startswith("JOINING>")), -1)


def _left_us(life: Life, rounds: Sequence[Round]) -> int:
    """When its coordinator heard that it leaves, where it says no word after that; not where its
    application had stopped polling, which lives on.
    """
    last = life.voice.facts[-1].at_us
    left = (
        r.begin_us
        for r in rounds
        if r.trigger.kind == TriggerKind.LEAVE
        and life.began(r)
        and r.begin_us >= max(life.begin_us, last - MUCH_US)
    )
    return next(left, NEVER)


def _strike(
    life: Life, stops: Sequence[Stop], rounds: Sequence[Round], failed: Collection[str]
) -> None:
    """What befell it, from the stops that no listener's call explains, and how it ended. `failed`: whose
    sessions ran out, whatever else they said: Kafka Streams closes without leaving its group.
    """
    has_states = any(f.what == FactKind.STATE for f in life.voice.facts)
    for stop in stops:
        if stop.how == StopKind.KILLED:
            goodbye = _said_goodbye(life, stop.at_us)
            at = goodbye if goodbye >= 0 else stop.at_us
            life.blows.append(Blow(at, "leave" if goodbye >= 0 else "crash"))
            return
        if stop.how == StopKind.FROZEN:
            life.blows.append(Blow(stop.at_us, "freeze", _back(life, stop, rounds) - stop.at_us))
        elif stop.how == StopKind.HUNG:
            at = stop.at_us - (BEFORE_BEAT_US if has_states else 0)
            if any(r.begin_us == stop.at_us for r in rounds):
                at -= BEFORE_BEGIN_US  # known only by its absence: it would have heard, and come
            life.blows.append(Blow(at, "hang", _back(life, stop, rounds) - at))
    if life.end_us < NEVER:
        is_static = bool(life.voice.instance)  # none of whom leaves
        stays = not is_static and life.voice.id_at(life.end_us) in failed
        left = _left_well(life) and not stays
        life.blows.append(Blow(_goodbye(life, rounds), "leave" if left else "crash"))


def _said_goodbye(life: Life, until_us: int) -> int:
    """When a client of the consumer protocol began to leave, of which no line says that it has closed; −1
    where it did not.
    """
    own: list[int] = []
    leaves = False
    for f in _facts(life):
        if f.at_us > until_us:
            break
        if f.what in MAKES_A_MEMBER or f.why.endswith(">JOINING"):
            own, leaves = [], False
        elif f.what == FactKind.REVOKED or f.why.endswith(LEAVES):
            own.append(f.at_us)
            leaves = leaves or f.what == FactKind.STATE
    return min(own) if leaves and own[-1] >= until_us - LONG_CLOSE_US else -1


def _merged(blows: Sequence[Blow]) -> list[Blow]:
    """In order of time; a process that is stuck for two reasons at once is stuck once."""
    found: list[Blow] = []
    for blow in sorted(blows, key=lambda b: b.at_us):
        last = found[-1] if found else None
        if (
            last is not None
            and last.what == blow.what == "hang"
            and blow.at_us <= last.at_us + last.for_us
        ):
            last.for_us = max(last.for_us, blow.at_us + blow.for_us - last.at_us)
        else:
            found.append(blow)
    return found


def _tarry(life: Life, barriers: dict[int, int], begins: Sequence[int]) -> None:
    """It heard of a rebalance and did not come for long, or took the answer late: its handler was at
    work until it did.
    """
    heard = asked = -1
    for f in _facts(life):
        if f.what == FactKind.ASKING:
            asked = f.at_us
        elif f.what == FactKind.JOINED and f.at_us - barriers.get(f.generation, f.at_us) > MUCH_US:
            since = max(asked + 100_000, barriers[f.generation] - MUCH_US // 2)
            life.blows.append(Blow(since, "hang", f.at_us - since))
        if f.what == FactKind.HEARD and heard < 0:
            heard = f.at_us
        elif f.what in (
            FactKind.REVOKED,
            FactKind.ASKING,
            FactKind.JOINED,
            FactKind.LOST,
            FactKind.ASSIGNED,
        ):
            is_told = any(b.at_us <= f.at_us <= b.at_us + b.for_us + MUCH_US for b in life.blows)
            if 0 <= heard < f.at_us - MUCH_US and not is_told:
                # since before the others began: it would have come at its first heartbeat else
                since = max((b for b in begins if b <= heard), default=heard) - BEFORE_BEGIN_US
                life.blows.append(Blow(since, "hang", f.at_us - since))
            heard = -1


def _back(life: Life, stop: Stop, rounds: Sequence[Round]) -> int:
    """Its first word after it was noticed to be missing; where it then asked to be let in, so late that
    its group moves when it did.
    """
    for f in life.voice.facts:
        if f.at_us > stop.noticed_us and f.what in APPLICATION_GOES_ON:
            let_in = (
                r.begin_us - AGAIN_US
                for r in rounds
                if life.began(r)
                and f.at_us <= r.begin_us <= f.at_us + MUCH_US
                and r.trigger.kind in (TriggerKind.JOIN, TriggerKind.REJOIN)
            )
            return max(f.at_us, next(let_in, f.at_us))
    return stop.noticed_us


def _facts(life: Life) -> list[Fact]:
    return [f for f in life.voice.facts if life.begin_us <= f.at_us <= life.end_us]


def _goodbye(life: Life, rounds: Sequence[Round]) -> int:
    """When its close began: the listener's last call, or the LeaveGroup as it or its coordinator tells."""
    step = life.voice.stream.step_us if is_coarse(life.voice) else 0
    near = [
        r.begin_us - TAKEN_IN_US
        for r in rounds
        if r.trigger.kind == TriggerKind.LEAVE
        and life.began(r)
        and life.end_us - LONG_CLOSE_US <= r.begin_us <= life.end_us + step
    ]
    if step and near:
        return near[0]
    own: list[int] = []
    for f in _facts(life):
        if f.what in MAKES_A_MEMBER:
            own = []  # what was before is no part of its close
        elif (
            f.what in (FactKind.REVOKED, FactKind.LEAVING)
            and f.at_us >= life.end_us - LONG_CLOSE_US
        ):
            own.append(f.at_us)
    return min(own + near, default=life.end_us)


def _left_well(life: Life) -> bool:
    return any(f.what in GOES and f.at_us >= life.end_us - LONG_CLOSE_US for f in _facts(life))


def client_id_of(life: Life) -> str:
    """What its member id begins with, as far as assignors' order of members needs it."""
    stem = stem_of(life.member)
    return life.member[: len(stem) + 9] if stem else life.member
