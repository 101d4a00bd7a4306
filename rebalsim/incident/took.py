"""How long each thing took, one after another, where a scenario has a place for it: the assignments of
the group, and each life's revocations. A machine under load takes a different time each time, and a
replay that is to be held against what was observed has to take the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from statistics import median_low

from rebalsim.domain.kafka_states import KafkaClientState
from rebalsim.incident.lives import MUCH_US, Life
from rebalsim.worlds.logs.coarse_times import is_coarse
from rebalsim.worlds.logs.facts import ANSWERED, CALLS, GOES, Fact, FactKind
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.stops import LONG_CLOSE_US
from rebalsim.worlds.logs.triggers import TriggerKind

HANDLED_US = 4_000  # a SyncGroup, its answer and the turn that reads it, on a machine at rest
AGAIN_US = 50_000  # as much later the leader is done, where nobody says when it was refused
NOTICEABLE_US = 10_000
BACK_US = 200_000  # so soon after a handler's return its calls come
LONGEST_WAIT_US = 10_000_000
LONGEST_US = 600_000_000
TURN_US = 20_000  # the consumer protocol's client looks up so much later, as a rule
_BEHIND_REVOKED = (
    FactKind.ASKING,
    FactKind.LEAVING,
    FactKind.ASSIGNED,
    FactKind.STATE,
    FactKind.CLOSED,
)


def assignments_us(story: GroupStory) -> list[int]:
    """From each barrier's end to the leader's assignment; where no coordinator tells of that, to the
    moment when half of the members had called a listener.
    """
    barriers = sorted(
        (r for r in story.rounds if r.joined_us >= 0 and not r.is_epoch and not r.is_empty),
        key=lambda r: r.joined_us,
    )
    untils = [r.joined_us for r in barriers[1:]] + [1 << 62]
    found = [_assignment_us(story, r, until) for r, until in zip(barriers, untils)]
    known = [us for us in found if us >= 0]
    usual = median_low(known) if known else 0
    return [us if us >= 0 else usual for us in found]


def _assignment_us(story: GroupStory, r: Round, until_us: int) -> int:
    if r.is_guessed or r.end_us < 0:
        if r.over_us >= 0 and not r.is_guessed:
            return _overtaken_us(story, r, until_us)
        called = _first(story, r.joined_us, until_us, (FactKind.ASSIGNED, FactKind.REVOKED))
        return max(0, median_low(called) - r.joined_us - HANDLED_US) if called else -1
    return max(0, r.end_us - r.joined_us - HANDLED_US)


def _overtaken_us(story: GroupStory, r: Round, until_us: int) -> int:
    """Somebody came before the leader was done: its assignment is refused, and it asks again."""
    asked = []
    for voice in story.voices:
        mine = [f for f in voice.facts if r.joined_us <= f.at_us < until_us]
        places = [place for place, f in enumerate(mine) if f.what == FactKind.JOINED]
        asked += (
            [f.at_us for f in mine[places[0] :] if f.what == FactKind.ASKING][:1] if places else []
        )
    least = r.over_us - r.joined_us + AGAIN_US
    return max(least, min(asked, default=0) - r.joined_us - HANDLED_US)


def _first(
    story: GroupStory, since_us: int, until_us: int, shows: tuple[FactKind, ...]
) -> list[int]:
    """Of each member the first such line in this time."""
    found = []
    for voice in story.voices:
        told = (f.at_us for f in voice.facts if f.what in shows and since_us <= f.at_us < until_us)
        found += [at for at in [next(told, -1)] if at >= 0]
    return found


def revocations_us(life: Life, rounds: Sequence[Round]) -> list[int]:
    """What each call with partitions took of its thread, until the request that followed had left."""
    if is_coarse(life.voice):
        return []
    mine = [f for f in life.voice.facts if life.begin_us <= f.at_us <= life.end_us]
    found = []
    for place, f in enumerate(mine):
        if f.what == FactKind.REVOKED and f.partitions:
            behind = (x for x in mine[place + 1 :] if x.what in _BEHIND_REVOKED)
            found.append(_until_request(life, f, next(behind, None), rounds))
    return found


def _until_request(life: Life, f: Fact, following: Fact | None, rounds: Sequence[Round]) -> int:
    """To the next line; to the end of the barrier where that waited for this member's JoinGroup."""
    took = following.at_us - f.at_us if following is not None else 0
    if following is not None and following.what == FactKind.ASKING:
        for r in rounds:
            last = r.late_member in life.voice.ids and r.late_how == "joined"
            if last and r.begin_us <= f.at_us <= r.joined_us:
                took = max(took, r.joined_us - f.at_us - HANDLED_US // 2)
    if following is not None and following.what in GOES:
        for r in rounds:
            is_its_own = r.trigger.kind == TriggerKind.LEAVE and life.began(r)
            if is_its_own and f.at_us <= r.begin_us <= f.at_us + LONG_CLOSE_US:
                took = max(took, r.begin_us - f.at_us - HANDLED_US // 2)
    return min(max(0, took), LONGEST_US)


def waits_us(life: Life, what: FactKind, rounds: Sequence[Round]) -> list[int]:
    """What passed before each call of this kind with partitions, since the member had heard what it is
    called for.
    """
    if is_coarse(life.voice):
        return []
    mine = [f for f in life.voice.facts if life.begin_us <= f.at_us <= life.end_us]
    ends = sorted(r.end_us for r in rounds if r.end_us >= 0 and not r.is_epoch)
    found = []
    for place, f in enumerate(mine):
        if f.what == what and f.partitions:
            since = _told_us(mine[:place], f, ends)
            waited = f.at_us - since if since >= 0 else 0
            most = MUCH_US if what == FactKind.REVOKED else LONGEST_WAIT_US
            told = any(b.at_us <= f.at_us <= b.at_us + b.for_us + BACK_US for b in life.blows)
            found.append(waited if 0 <= waited < most and not told else 0)  # else it was stuck
    return found


def _told_us(before: Sequence[Fact], f: Fact, ends: Sequence[int]) -> int:
    """When it could have made this call, had its machine been at rest; −1 where nothing tells."""
    for x in reversed(before):
        if x.what in CALLS and x.partitions:
            break  # of one assignment; or what came in between is not told
        before_it, _, after = x.why.partition(">")
        if x.what == FactKind.STATE and after == KafkaClientState.RECONCILING != before_it:
            return x.at_us + TURN_US
        if x.what in ANSWERED:
            break  # it is called for what the assignment says
        if x.what == FactKind.HEARD and f.what == FactKind.REVOKED:
            return x.at_us + HANDLED_US
    place = bisect_right(ends, f.at_us) - 1
    asked = max((x.at_us for x in before if x.what == FactKind.ASKING), default=0)
    if (
        place < 0
        or ends[place] < asked - MUCH_US  # of another assignment
        or (before and before[-1].at_us > ends[place] and before[-1].what in CALLS)
    ):
        return -1
    return ends[place] + HANDLED_US // 2


def in_turn(took: Sequence[int]) -> str:
    """As the language writes it; empty where none of it is worth a word."""
    if max(took, default=0) < NOTICEABLE_US:
        return ""
    listed = ", ".join(f"{us // 1_000}ms" for us in took)
    return f"{{in_turn: [{listed}]}}" if len(set(took)) > 1 else f"{took[0] // 1_000}ms"
