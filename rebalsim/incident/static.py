"""Static membership as a remedy for processes that came back: nobody can set it in the incident's
scenario, where each life is a member of its own, so it is tried on one in which they are the same.
"""

from __future__ import annotations

import re
from itertools import pairwise

from rebalsim.advice.advise import WANTED
from rebalsim.advice.judging import outcome_of
from rebalsim.advice.trial import OutOfEvents, Played, Purse, over_seeds
from rebalsim.domain.remedy import Patch, Remedy, Turn
from rebalsim.incident.align import aligned
from rebalsim.incident.lives import NEVER, Life
from rebalsim.incident.replay import story_in
from rebalsim.incident.settings import is_consumer_group
from rebalsim.incident.to_scenario import Written
from rebalsim.words.times import say_duration
from rebalsim.worlds.logs.observation import GroupStory

_SESSION = re.compile(r"(?m)^( +session\.timeout\.ms: )(\d+)")
DEFAULT_SESSION_US = 45_000_000
LONGEST_AWAY_US = 300_000_000  # a session that outlasts more would hide a death for too long
ROOM = 1.25
VARIANT = "as-written"


def static_remedy(story: GroupStory, written: Written, events: int) -> list[Remedy]:
    """What it would have come to, if anybody came back and it helps."""
    away = longest_away_us(written.lives)
    is_static = any(v.instance for v in story.voices)
    if is_static or is_consumer_group(story) or not 0 < away <= LONGEST_AWAY_US:
        return []
    text, turns = _with_session(aligned(story, is_static=True).text, away)
    before, after = Played(story_in(written.text), VARIANT), Played(story_in(text), VARIANT)
    seeds = _played(before, after, events)
    found = outcome_of(before, after, seeds, WANTED) if seeds else None
    if found is None:
        return []
    patch = Patch((Turn("group.instance.id", "none", "one for each process"), *turns), ())
    return [Remedy(VARIANT, patch, found.before, found.after, seeds, found.gains, found.price)]


def longest_away_us(lives: list[Life]) -> int:
    """How long the slowest of those that came back was away; 0 where nobody did."""
    away = [0]
    for voice in {id(x.voice): x.voice for x in lives}.values():
        mine = sorted((x for x in lives if x.voice is voice), key=lambda x: x.begin_us)
        away += [b.begin_us - a.end_us for a, b in pairwise(mine) if a.end_us < NEVER]
    return max(away)


def _with_session(text: str, away_us: int) -> tuple[str, tuple[Turn, ...]]:
    """A session that outlasts a restart, where it does not already."""
    told = _SESSION.search(text)
    session = int(told[2]) * 1_000 if told is not None else DEFAULT_SESSION_US
    if away_us < session or told is None:
        return text, ()
    longer = -(-int(away_us * ROOM) // 1_000_000)
    changed = _SESSION.sub(rf"\g<1>{longer * 1_000}", text)
    return changed, (
        Turn("session.timeout.ms", say_duration(session), say_duration(longer * 1_000_000)),
    )


def _played(before: Played, after: Played, events: int) -> tuple[int, ...]:
    """The seeds that both were played with, as many as the events allow."""
    purse = Purse(events)
    try:
        for played in (before, after):
            played.play(played.story.seed, purse)
        return over_seeds(before, after, purse)
    except OutOfEvents:
        return ()
