"""Kafka Connect in a preview: what differs between two versions of a cluster's connectors, and what
the script does to get from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rebalsim.preview.differences import of_settings
from rebalsim.reports.previewed import Difference
from rebalsim.worlds.connect_block import GROUP, cluster_of, connectors_of
from rebalsim.worlds.connect_cluster import written
from rebalsim.worlds.groups import Play, name_of, settings_written
from rebalsim.worlds.understood import Connector, Understood
from rebalsim.worlds.values import stated
from rebalsim.worlds.words import milliseconds

Lines = list[tuple[str, str]]
METRICS = ("longest_task_pause", "task_seconds", "tasks_touched", "worker_rebalances")
_DELAY_KEY, _DELAY = "scheduled.rebalance.max.delay.ms", 300_000
_FROM_NOW = {"auto.offset.reset": stated("latest", "what its topics hold is not known")}
_APART = 60  # seconds between two deeds, so that each is seen for itself


def is_workers(play: Play) -> bool:
    return play.name == GROUP and play.client.value == "connect"


def seconds_after(plays: list[Play], least: int) -> int:
    """How long until the last thing that happened is over: lost work is waited for, and once more
    where it is lost meanwhile.
    """
    delays = [0]
    for play in plays:
        if is_workers(play) and play.consumer is not None:
            told = play.consumer.settings.get(_DELAY_KEY)
            found = milliseconds(str(told.value)) if told is not None and told.known else None
            delays.append(_DELAY if found is None else found)
    return max(least, 2 * max(delays) // 1000 + 120)


@dataclass(frozen=True, slots=True)
class Change:
    """A connector before and after; None where it is not there."""

    name: str
    old: Connector | None
    new: Connector | None

    @property
    def is_new(self) -> bool:
        return self.old is None

    @property
    def has_other_tasks(self) -> bool:
        return bool(self.old and self.new) and self.tasks[0] != self.tasks[1]

    @property
    def tasks(self) -> tuple[object, object]:
        old, new = (c.tasks.value if c is not None else 0 for c in (self.old, self.new))
        return old, new


def changes_of(old: Understood, new: Understood) -> list[Change]:
    """The connectors that are not the same in both; none where one side plays no cluster."""
    if cluster_of(old) is None or cluster_of(new) is None:
        return []
    before = {c.name: c for c in connectors_of(old)}
    after = {c.name: c for c in connectors_of(new)}
    names = dict.fromkeys((*before, *after))
    found = [Change(n, before.get(n), after.get(n)) for n in names]
    return [c for c in found if _told(c.old) != _told(c.new)]


def _told(connector: Connector | None) -> object:
    if connector is None:
        return None
    return (connector.tasks.value, *_reads(connector))


def _reads(connector: Connector) -> tuple[object, object]:
    own = settings_written(connector.settings)
    return connector.topics, [(key, text) for key, text, _ in own]


# ---- told ----
def differences(old: Understood, new: Understood) -> Iterator[Difference]:
    one, other = cluster_of(old), cluster_of(new)
    if one is None or other is None:
        return
    yield from of_settings(other.name, one.of_sinks, other.of_sinks, "consumer.")
    for change in changes_of(old, new):
        yield from _connector(change)


def _connector(change: Change) -> Iterator[Difference]:
    name, old, new = change.name, change.old, change.new
    if old is None and new is not None:
        yield Difference(name, "connector", "–", f"new, with {new.tasks.value} tasks", new.where)
    elif new is None and old is not None:
        note = "its tasks stop, which is left out of the figures"
        yield Difference(name, "connector", "there", "gone", old.where, note)
    elif old is not None and new is not None:
        if change.has_other_tasks:
            before, after = map(str, change.tasks)
            yield Difference(name, "tasks.max", before, after, new.tasks.source or new.where)
        if old.topics != new.topics:
            yield Difference(
                name, "topics", ", ".join(old.topics), ", ".join(new.topics), new.where
            )
        yield from of_settings(name, old.settings, new.settings, "consumer.override.", new.where)


# ---- played ----
def coming(changes: list[Change]) -> tuple[Connector, ...]:
    """Connectors that only the new version has. What a new sink finds in its topics nobody knows: it
    is played from their ends.
    """
    found = [c.new for c in changes if c.is_new and c.new is not None]
    return tuple(replace(c, settings={**c.settings, **_FROM_NOW}) if c.topics else c for c in found)


def deeds(changes: list[Change], begin: int) -> tuple[Lines, int]:
    """Connectors are created and reconfigured one after another, once the workers are rolled."""
    lines: Lines = []
    for change in changes:
        name = name_of(change.name)
        if change.is_new:
            said, deed = f"create-{name}", f"create_connector: {name}"
        elif change.new is not None:
            more = f", tasks.max: {change.tasks[1]}" if change.has_other_tasks else ""
            said, deed = f"change-{name}", f"reconfigure_connector: {{connector: {name}{more}}}"
        else:
            continue
        lines += [(f"- at: {begin}s", ""), (f"  id: {said}", ""), (f"  {deed}", "")]
        begin += _APART
    return lines, begin


def deployed(old: Play, new: Play) -> str:
    """What a rollout sets the workers to: settings that are gone are their defaults again."""
    before = written(old.consumer.settings if old.consumer else {})
    settings = {
        key: text for key, text, _ in written(new.consumer.settings if new.consumer else {})
    }
    gone = {key: "null" for key, _, _ in before if key not in settings}
    inner = ", ".join(f"{k}: {t}" for k, t in {**gone, **settings}.items())
    return f"worker: {{{inner}}}"


def notes(changes: list[Change]) -> Iterator[str]:
    """What of the change is told and not played."""
    for change in changes:
        old, new = change.old, change.new
        if old is None and new is not None and new.topics:
            yield f"{change.name}: played from its topics' ends: what they hold is not known"
        if old is not None and new is not None and _reads(old) != _reads(new):
            yield (
                f"{change.name}: its tasks are reconfigured, and go on with the topics and "
                "consumer settings that they had"
            )
