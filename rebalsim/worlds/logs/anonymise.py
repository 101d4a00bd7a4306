"""Names replaced, each always by the same one: groups, topics, members, files and hosts."""

from __future__ import annotations

from collections.abc import Iterable

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.observation import GroupStory, Observation
from rebalsim.worlds.logs.triggers import Trigger


class Names:
    """What stands for what, numbered as it comes."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {}
        self.counts: dict[str, int] = {}

    def of(self, kind: str, name: str) -> str:
        if not name:
            return name
        if (kind, name) not in self.known:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.known[kind, name] = f"{kind}-{self.counts[kind]}"
        return self.known[kind, name]

    def partition(self, name: str) -> str:
        topic, _, number = name.rpartition("-")
        if not topic or not number.isdigit():
            return self.of("topic", name) + "-0"
        return f"{self.of('topic', topic)}-{number}"


def anonymised(observed: Observation) -> Observation:
    """The same story with other names; lines that were not understood are only counted."""
    names = Names()
    groups = {}
    for story in observed.groups.values():
        replace_names(story, names)
        groups[story.name] = story
    clocks = {names.of("file", file): clock for file, clock in sorted(observed.clocks.items())}
    observed.census.examples = dict.fromkeys(observed.census.examples, "(left out)")
    observed.groups, observed.clocks, observed.notes = groups, clocks, []
    return observed


def replace_names(story: GroupStory, names: Names) -> None:
    """All names of one group's story."""
    story.name = names.of("group", story.name)
    for voice in story.voices:
        voice.group, voice.name = story.name, names.of("consumer", voice.name)
        voice.client, voice.instance = names.of("client", voice.client), ""
        voice.stream.file = names.of("file", voice.stream.file)
        voice.stream.host = names.of("file", voice.stream.host)
        for f in voice.facts:
            _fact_words(f, names)
        voice.adopted = [(at, names.of("member", m)) for at, m in voice.adopted]
        voice.index()
    for f in story.coordinator:
        _fact_words(f, names)
        f.group = story.name
    for r in story.rounds:
        r.group, r.reason = story.name, ""
        r.late_member, r.leader = names.of("member", r.late_member), names.of("member", r.leader)
        r.removed = [names.of("member", m) for m in r.removed]
    for trigger in _triggers(story):
        trigger.member = names.of("member", trigger.member)
    for p in story.pauses:
        p.partition, p.member = names.partition(p.partition), names.of("member", p.member)


def _triggers(story: GroupStory) -> Iterable[Trigger]:
    """Each once: a root may be that of several rebalances, and one's own trigger."""
    both = (t for r in story.rounds for t in (r.trigger, r.root) if t is not None)
    return {id(t): t for t in both}.values()


def _fact_words(f: Fact, names: Names) -> None:
    f.member, f.other = names.of("member", f.member), ""
    f.group, f.client, f.thread = names.of("group", f.group), names.of("client", f.client), ""
    f.instance = names.of("instance", f.instance)
    f.partitions = tuple(names.partition(p) for p in f.partitions)
    f.plan = None
    if f.what not in _WORDED_WITHOUT_NAMES:
        f.why = ""


# what says why, how or which in words of Kafka's own, without any name
_WORDED_WITHOUT_NAMES = (
    FactKind.JOINED,
    FactKind.SETTING,
    FactKind.VERSION,
    FactKind.STATE,
    FactKind.STREAMS_STATE,
    FactKind.TASK,
    FactKind.THROWN_OUT,
    FactKind.RESET,
    FactKind.COMPUTED,
    FactKind.RECONCILED,
    FactKind.CONVERTED,
    FactKind.ADDED,
    FactKind.REPLACED,
)
