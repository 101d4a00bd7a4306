"""What a budget speaks of and nobody ever owned: of that nothing was measured, whatever the figure.

A group that never formed never stands still, and a partition that nobody had has no pause. Nor has
a topic that is gone, or a member that is dead, within a window after its end. Such a budget is not
kept: undecided while somebody may still come, broken where nobody will.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalsim.analysis.findings import Findings
from rebalsim.analysis.openness import groups_of
from rebalsim.analysis.pending import pending_of
from rebalsim.analysis.selecting import (
    overlaps,
    partitions_before,
    selected_keys,
    selected_pauses,
    was_held,
)
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import Partition
from rebalsim.domain.metrics import METRICS, Selection
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.domain.unit import Population

_OF_PARTITIONS = (Population.PAUSES, Population.PARTITIONS, Population.RECORDS)
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
    is_of_partitions = METRICS[metric].population in _OF_PARTITIONS or metric in _LAG
    if found is None and is_of_partitions:
        found = _partitions(a, s)
    found = found or _members_then(a, s)
    return found or (_partitions_then(a, s) if is_of_partitions else None)


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


def _members(a: Findings, s: Selection) -> Unowned | None:
    """A named member that never owned any of the selected topics' partitions."""
    owners = {
        h.consumer
        for (_, p), held in a.holdings.items()
        if not s.topics or p.topic in s.topics
        for h in held
    }
    member = next((m for m in s.members if m not in owners), "")
    if not member:
        return None
    end = OpenEnd(OpenEndKind.MEMBER_NEVER_OWNED, member, " and ".join(s.topics))
    return _never(a, a.index.group_of.get(member, ""), end)


def _partitions(a: Findings, s: Selection) -> Unowned | None:
    """Partitions of the selection that nobody ever owned; with members named, members that
    never owned any.
    """
    if s.members:
        return _members(a, s)
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
    end = s.until_us if _is_early(a, s) else None
    then = partitions_before(a, a.horizon_us if end is None else end)

    def whole(group: str, topic: str) -> None:
        if topic in a.header.topics and (not s.topics or topic in s.topics):
            keys.update(((group, Partition(topic, n)), None) for n in range(then[topic]))

    for group, topics in a.expected.items():
        if not s.group or s.group == group:
            for topic in topics:
                whole(group, topic)
    for group, topic in dict.fromkeys((group, p.topic) for group, p in keys):
        whole(group, topic)  # what has been added to it meanwhile
    known = {p.topic for _, p in keys}
    for topic in s.topics:  # named, and nobody subscribes to it
        if topic not in known:
            whole(s.group or next(iter(a.groups), ""), topic)
    return sorted(keys)


def _was_owned(a: Findings, key: tuple[str, Partition], s: Selection) -> bool:
    return was_held(a, key, s) if _is_early(a, s) else bool(a.holdings.get(key))


def _partitions_then(a: Findings, s: Selection) -> Unowned | None:
    """What the selection names, or anything at all, must have had an owner within its window, or
    have stood still there.
    """
    if s.from_us is None and s.until_us is None:
        return None
    moments = replace(s, topics=(), action="", members=())
    stood = {(p.group, p.partition) for p in selected_pauses(a, moments)}
    there = [
        key
        for key in selected_keys(a, s)
        if key in stood or any(overlaps(h, s) for h in a.holdings.get(key, ()))
    ]
    for topic in s.topics or ("",):
        if not any(topic in ("", partition.topic) for _, partition in there):
            group = next(iter(groups_of(a, s)), "")
            named = topic or "any partition"
            return _not_then(a, s, OpenEnd(OpenEndKind.NOT_OWNED_THEN, named), group)
    return None


def _members_then(a: Findings, s: Selection) -> Unowned | None:
    """A named member must have lived within the selection's window, or have partitions in it that
    it had, and nobody else has yet.
    """
    if s.from_us is None and s.until_us is None:
        return None
    for member in s.members:
        spans = [x for m in a.members if m.consumer == member for x in m.spans]
        lived = any(x.what is not Doing.AWAY and overlaps(x, s) for x in spans)
        if not lived and not selected_pauses(a, replace(s, members=(member,), action="")):
            end = OpenEnd(OpenEndKind.MEMBER_NOT_THERE_THEN, member)
            return _not_then(a, s, end, a.index.group_of.get(member, ""))
    return None


def _not_then(a: Findings, s: Selection, end: OpenEnd, group: str) -> Unowned:
    told = replace(
        end,
        from_us=-1 if s.from_us is None else s.from_us,
        until_us=-1 if s.until_us is None else s.until_us,
    )
    if _is_early(a, s):
        return Unowned(told, False)
    has_begun = s.from_us is None or s.from_us < a.horizon_us
    return _never(a, group, told) if has_begun else Unowned(told, True)


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
