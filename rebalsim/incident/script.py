"""What befell a group as a scenario's script: blows, topics that grew, members that joined again, and
heartbeats where they left.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.incident.beats import beats_of
from rebalsim.incident.growth import BEFORE_US, growths_of
from rebalsim.incident.lives import Blow, Life
from rebalsim.incident.spelling import spell_ms, spell_name
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind

ASKED_US = 10_000  # from being asked to rejoin to its group's first move
SEEN_US = 2_000  # from a topic's growing to the look at it, where a client was the first to see it
Entry = tuple[int, str]


def script_of(story: GroupStory, lives: Sequence[Life], zero: int) -> list[Entry]:
    """Every entry with its instant, counted from `zero`."""
    blows = [(b.at_us - zero, _blow(b, life, zero)) for life in lives for b in life.blows]
    others = (_growths, _beats, _rejoins)
    return blows + [entry for told in others for entry in told(story, lives, zero)]


def _blow(blow: Blow, life: Life, zero: int) -> str:
    what = f"{blow.what}: {spell_name(life.name)}"
    if blow.what in ("freeze", "hang"):
        length = spell_ms(max(1_000, blow.for_us))
        what = f"{blow.what}: {{members: {spell_name(life.name)}, for: {length}}}"
    return f"  - {{at: {spell_ms(blow.at_us - zero)}, {what}}}"


def _beats(story: GroupStory, lives: Sequence[Life], zero: int) -> list[Entry]:
    """Heartbeats, those that are alike together."""
    together: dict[tuple[int, int, int], list[str]] = {}
    for beat in beats_of(story, lives):
        if beat.at_us > zero:
            key = (beat.at_us - zero) // 1_000, beat.in_us // 1_000, beat.late_us // 1_000
            together.setdefault(key, []).append(spell_name(beat.life))
    found = []
    for (ms, due, late), names in together.items():
        who = f"[{', '.join(names)}]"
        when = [f"{key}: {us}ms" for key, us in (("in", due), ("late", late)) if us > 0]
        what = f"{{members: {who}, {', '.join(when)}}}" if when else who
        found.append((ms * 1_000, f"  - {{at: {ms}ms, heartbeat: {what}}}"))
    return found


def _growths(story: GroupStory, lives: Sequence[Life], zero: int) -> list[tuple[int, str]]:
    """The script's entries for topics that grew, and for who saw it."""
    found = []
    for grown in growths_of(story, lives):
        at = max(0, grown.at_us - zero)
        what = f"{{topic: {spell_name(grown.topic)}, to: {grown.count}}}"
        found.append((at, f"  - {{at: {spell_ms(at)}, add_partitions: {what}}}"))
        if grown.seen_by:
            seen = at + SEEN_US
            who = spell_name(grown.seen_by)
            found.append((seen, f"  - {{at: {spell_ms(seen)}, refresh_metadata: [{who}]}}"))
    return found


def _rejoins(story: GroupStory, lives: Sequence[Life], zero: int) -> list[tuple[int, str]]:
    """The script's entries for members that joined again for no cause that a log tells, or for topics
    that did not grow (a broker came back, and their replicas with it).
    """
    grew = {grown.at_us + BEFORE_US for grown in growths_of(story, lives)}
    found = []
    for r in story.rounds:
        is_own = r.trigger.kind == TriggerKind.REJOIN or (
            r.trigger.kind == TriggerKind.TOPIC_CHANGE and r.begin_us not in grew
        )
        who = _living(r, lives) if is_own and not r.is_epoch else None
        if who is not None:
            at = r.begin_us - zero - ASKED_US
            found.append(
                (at, f"  - {{at: {spell_ms(at)}, enforce_rebalance: [{spell_name(who.name)}]}}")
            )
    return found


def _living(r: Round, lives: Sequence[Life]) -> Life | None:
    """Whose deed began the rebalance, if it had joined before."""
    mine = (x for x in lives if x.began(r) and x.joins_us + ASKED_US < r.begin_us < x.end_us)
    return next(mine, None)
