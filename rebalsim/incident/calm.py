"""Nights on which nothing stood still: what the logs tell all the same of twins and of coordinators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebalsim.incident.told import NOTHING
from rebalsim.reports.names import safe
from rebalsim.reports.observed import clock
from rebalsim.words.lists import listed
from rebalsim.words.times import say_duration
from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.voices import Voice

FENCED = "FENCED_INSTANCE_ID"
TOGETHER_US = 30_000_000  # losses so near to each other are of one coordinator
MOST = 5


def render_calm(stories: Iterable[GroupStory]) -> str:
    """That nothing stood still, and what happened nevertheless."""
    told = [line for story in stories for line in (*_twins(story), *_moves(story))]
    more = [f"and {len(told) - MOST} more of the kind."] if len(told) > MOST else []
    return "\n".join([NOTHING, *told[:MOST], *more]) + "\n"


def _twins(story: GroupStory) -> Iterator[str]:
    for voice in story.voices:
        fenced = next((f for f in voice.facts if _is_fenced(f)), None)
        if fenced is None:
            continue
        twins = [v.name for v in story.voices if v is not voice and v.instance == voice.instance]
        who = safe(listed(twins, 2)) if twins else "another process"
        yield (
            f"At {clock(fenced.at_us)} UTC {safe(voice.name)} was fenced: {who} had come with its "
            f"group.instance.id {safe(voice.instance)}, in group {safe(story.name)}."
        )


def _is_fenced(f: Fact) -> bool:
    return f.what == FactKind.THROWN_OUT and FENCED in f.why.upper()


def _moves(story: GroupStory) -> Iterator[str]:
    """Coordinators that were lost, a sentence for those who lost one together."""
    lost = sorted(_losses(story), key=lambda loss: loss[0])
    while lost:
        begin = lost[0][0]
        mine = [loss for loss in lost if loss[0] < begin + TOGETHER_US]
        lost = lost[len(mine) :]
        names = safe(listed(sorted({voice.name for _, _, voice in mine}), 4))
        ends = [end for _, end, _ in mine]
        found = (
            f"they had found one again after {say_duration(max(1_000, max(ends) - begin))}"
            if min(ends) >= 0
            else "not all of them found one again in these logs"
        )
        yield f"At {clock(begin)} UTC {names} lost the coordinator of group {safe(story.name)}; {found}."


def _losses(story: GroupStory) -> Iterator[tuple[int, int, Voice]]:
    """(when, until when or −1, who) of each."""
    for voice in story.voices:
        since = -1
        for f in voice.facts:
            if f.what == FactKind.COORDINATOR_LOST and since < 0:
                since = f.at_us
            elif f.what == FactKind.COORDINATOR_FOUND and since >= 0:
                yield since, f.at_us, voice
                since = -1
        if since >= 0:
            yield since, -1, voice
