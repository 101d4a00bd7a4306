"""What a budget speaks of and nobody ever owned: of that nothing was measured, whatever the figure.

A group that never formed never stands still, and a partition that nobody had has no pause. Such a
budget is not kept: undecided while somebody may still come, broken where nobody will.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.openness import groups_of
from rebalsim.analysis.pending import pending_of
from rebalsim.analysis.selecting import selected_keys
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import Partition
from rebalsim.domain.metrics import METRICS, Selection
from rebalsim.domain.open_end import OpenEnd, OpenEndKind

_OF_PARTITIONS = ("pauses", "partitions", "records")
_LAG = ("lag_peak", "lag_at_end", "duplicates", "duplicates_per_rebalance", "skipped")
_MANY = 3


@dataclass(frozen=True, slots=True)
class Unowned:
    """Why nothing was measured, and whether a longer horizon could change it."""

    end: OpenEnd
    may_come: bool


def find_unowned(a: Findings, metric: str, s: Selection) -> Unowned | None:
    """None where everything that the budget speaks of had an owner at some time."""
    found = _groups(a, s)
    if found is None and (METRICS[metric].population in _OF_PARTITIONS or metric in _LAG):
        found = _partitions(a, s)
    return found


def _groups(a: Findings, s: Selection) -> Unowned | None:
    asked = dict.fromkeys(groups_of(a, s)) if not s.is_all or a.groups else {}
    if s.is_all or s.action or s.after_start:
        asked.update(dict.fromkeys(a.expected))
    formed = {group for group, _ in a.holdings}
    for group in asked:
        if group not in formed:
            end = OpenEnd(OpenEndKind.GROUP_NEVER_OWNED, group, length_us=a.horizon_us)
            return _never(a, group, end)
    return None if formed else _never(a, "", OpenEnd(OpenEndKind.NO_GROUP_OWNED))


def _partitions(a: Findings, s: Selection) -> Unowned | None:
    """Those of the selection; with members named, that these ever had any."""
    for member in s.members:
        if not any(
            h.consumer == member and (not s.topics or p.topic in s.topics)
            for (_, p), held in a.holdings.items()
            for h in held
        ):
            group = a.index.group_of.get(member, "")
            end = OpenEnd(OpenEndKind.MEMBER_NEVER_OWNED, member, " and ".join(s.topics))
            return _never(a, group, end)
    if s.members:
        return None
    keys = [k for k in _asked(a, s) if not _was_owned(a, k, s)]
    if not keys:
        return None
    names = [f"{p.topic}-{p.number}" for _, p in keys[:_MANY]]
    is_early = _is_early(a, s)
    end = OpenEnd(
        OpenEndKind.NEVER_OWNED,
        what=", ".join(names),
        count=max(0, len(keys) - _MANY),
        length_us=(s.until_us or 0) if is_early else -1,
    )
    return Unowned(end, False) if is_early else _never(a, keys[0][0], end)


def _asked(a: Findings, s: Selection) -> list[tuple[str, Partition]]:
    """The selected partitions that were there, those of topics that nobody came to hold too."""
    keys = dict.fromkeys(selected_keys(a, s))
    for group, topics in a.expected.items():
        if s.group and s.group != group:
            continue
        for topic in topics:
            facts = a.header.topics.get(topic)
            if facts is not None and (not s.topics or topic in s.topics):
                keys.update(((group, Partition(topic, n)), None) for n in range(facts.partitions))
    known = {p.topic for _, p in keys}
    for topic in s.topics:  # named, and nobody subscribes to it
        facts = a.header.topics.get(topic)
        if topic not in known and facts is not None:
            group = s.group or next(iter(a.groups), "")
            keys.update(((group, Partition(topic, n)), None) for n in range(facts.partitions))
    return sorted(keys)


def _was_owned(a: Findings, key: tuple[str, Partition], s: Selection) -> bool:
    held = a.holdings.get(key, ())
    if _is_early(a, s):
        assert s.until_us is not None
        return any(h.started_us < s.until_us for h in held)
    return bool(held)


def _is_early(a: Findings, s: Selection) -> bool:
    """A window that ends early is over, however long the horizon."""
    return s.until_us is not None and s.until_us < a.horizon_us


def _never(a: Findings, group: str, end: OpenEnd) -> Unowned:
    """Somebody may still come where a process of the group lives, or something is under way."""
    lives = any(
        m.spans and m.spans[-1].what is not Doing.AWAY
        for m in a.members
        if m.group == group or not group
    )
    formed = any(g == group for g, _ in a.holdings)
    under_way = any(p.group in ("", group) for p in pending_of(a))
    return Unowned(end, under_way or (lives and not formed))
