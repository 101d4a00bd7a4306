"""What differs between two versions of the files and bears on consumption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rebalsim.reports.previewed import Difference
from rebalsim.worlds.groups import Play
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Value

# Settings that say where and with whom, not how the group behaves.
_WITHOUT_BEARING = ("client.id", "bootstrap.servers", "security.protocol", "sasl.mechanism")
Settings = Mapping[str, Value]


def pairs_of(old: list[Play], new: list[Play]) -> list[tuple[Play | None, Play | None]]:
    """Groups of the two versions that are the same: by their id, then by their workload."""
    left = list(old)
    made: list[tuple[Play | None, Play | None]] = []
    for play in new:
        mate = next((o for o in left if o.name == play.name), None) or next(
            (o for o in left if _workloads(o) & _workloads(play)), None
        )
        if mate is not None:
            left.remove(mate)
        made.append((mate, play))
    return made + [(o, None) for o in left]


def _workloads(play: Play) -> set[str]:
    return {p.consumer.workload for p in play.pods if p.consumer and p.consumer.workload}


def differences_of(pairs: list[tuple[Play | None, Play | None]]) -> tuple[Difference, ...]:
    found: list[Difference] = []
    for old, new in pairs:
        if old is None and new is not None:
            note = "begins where auto.offset.reset says, and reads from there"
            found.append(Difference(new.name, "group", "–", "new", new.group.source, note))
        elif new is None and old is not None:
            note = "its members stop; its committed offsets stay for a week"
            found.append(Difference(old.name, "group", "there", "gone", old.group.source, note))
        elif old is not None and new is not None:
            found += _group(old, new)
    return tuple(found)


def _group(old: Play, new: Play) -> Iterator[Difference]:
    if old.name != new.name:
        note = (
            "another group: it does not know the old one's offsets and begins at auto.offset.reset"
        )
        yield Difference(new.title, "group.id", old.name, new.name, new.group.source, note)
    if sorted(old.topics) != sorted(new.topics):
        yield Difference(
            new.title, "topics", ", ".join(old.topics), ", ".join(new.topics), new.topics_why
        )
    before = {p.consumer.workload: p.consumer for p in old.pods if p.consumer}
    for pods in new.pods:
        consumer = pods.consumer
        mate = before.get(consumer.workload) if consumer else None
        if consumer is not None and mate is not None:
            yield from _consumer(pods.name, mate, consumer)


def _consumer(name: str, old: Consumer, new: Consumer) -> Iterator[Difference]:
    for what, before, after in (
        ("replicas", old.replicas, new.replicas),
        ("members a pod", old.members, new.members),
        ("client", old.client, new.client),
        ("group.instance.id", old.instance, new.instance),
        ("terminationGracePeriodSeconds", old.grace, new.grace),
        ("preStop", old.pre_stop, new.pre_stop),
    ):
        if _text(before) != _text(after):
            where = after.source if after is not None else ""
            yield Difference(name, what, _text(before), _text(after), where)
    yield from _update(name, old, new)
    skipped = (*_WITHOUT_BEARING, "group.id", "group.instance.id")
    told, told_now = (
        {key: value for key, value in side.settings.items() if key not in skipped}
        for side in (old, new)
    )
    yield from of_settings(name, told, told_now)


def of_settings(
    name: str, old: Settings, new: Settings, prefix: str = "", where: str = ""
) -> Iterator[Difference]:
    """Those that have another value. `where` they stand, if not where each of them says."""
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if _text(before) != _text(after):
            stands = where or next((each.source for each in (after, before) if each), "")
            yield Difference(name, f"{prefix}{key}", _text(before), _text(after), stands)


def _update(name: str, old: Consumer, new: Consumer) -> Iterator[Difference]:
    before, after = old.update, new.update
    if before is None or after is None:
        return
    if before.type != after.type:
        yield Difference(name, "update", before.type, after.type, new.where)
    for what, one, other in (
        ("maxSurge", before.surge, after.surge),
        ("maxUnavailable", before.unavailable, after.unavailable),
    ):
        if one and other and one[:2] != other[:2]:
            said = [f"{f[0]} = {f[1]}" if f[0] else str(f[1]) for f in (one, other)]
            yield Difference(name, what, said[0], said[1], other[3])
    if old.ready and new.ready and old.ready.at_least != new.ready.at_least:
        yield Difference(
            name,
            "ready after",
            f"{old.ready.at_least} s at least",
            f"{new.ready.at_least} s at least",
            new.ready.why,
        )


def _text(value: Value | None) -> str:
    """A value as a table shows it; a default left out and one written out are the same."""
    if value is None or value.value is None:
        return "not told"
    if isinstance(value.value, list):
        return ", ".join(map(str, value.value))
    return str(value.value)


def restarts(old: Understood, new: Understood) -> dict[str, bool]:
    """Workload → whether its pods are replaced: only a changed template does that."""
    before = {c.workload: c.template for c in _deployed(old) if c.workload}
    return {
        c.workload: c.workload not in before or before[c.workload] != c.template
        for c in _deployed(new)
        if c.workload
    }


def _deployed(made: Understood) -> list[Consumer]:
    """Whatever runs in pods of its own: consumers but no sinks, and Connect's workers."""
    return [*(c for c in made.consumers if not c.is_sink), *(w.pods for w in made.workers)]
