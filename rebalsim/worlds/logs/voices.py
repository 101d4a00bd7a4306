"""One voice for each consumer: its facts over all parts of its log, in order, with its settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from rebalsim.worlds.logs.dialects import Dialect
from rebalsim.worlds.logs.facts import CALLS, Fact, FactKind
from rebalsim.worlds.logs.streams import Stream


@dataclass(slots=True)
class Voice:
    """One consumer of one process, over all lives that its log tells of."""

    stream: Stream
    client: str
    group: str
    facts: list[Fact]
    dialect: str = ""
    instance: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    is_only: bool = True  # of its stream
    name: str = ""
    is_cooperative: bool = False  # its group's assignor is
    told_ids: list[tuple[int, str]] = field(default_factory=list)
    adopted: list[tuple[int, str]] = field(default_factory=list)  # ids that only a coordinator told

    def index(self) -> None:
        """Remember which member id it had when."""
        own = [(f.at_us, f.member) for f in self.facts if f.member and f.what not in OF_OTHERS]
        self.told_ids = sorted([*own, *self.adopted]) if self.adopted else own

    @property
    def ids(self) -> tuple[str, ...]:
        """Every member id it ever had, in order."""
        return tuple(dict.fromkeys(i for _, i in self.told_ids))

    def id_at(self, at_us: int) -> str:
        """Its member id then: the last one told, else the first that comes."""
        best = ""
        for told_us, name in self.told_ids:
            if told_us > at_us and best:
                break
            best = name
        return best

    def settled(self, key: str) -> int:
        """A setting in ms; −1 where the log does not print it."""
        value = self.settings.get(key, "")
        return int(value) if value.isdigit() and len(value) < 13 else -1


OF_OTHERS = (FactKind.PLANNED,)
# groups of a process; what a line of a file with more proves of a process is nobody's
MOST_GROUPS = 50
OF_JAVA = ("Java", "Java without prefix", "Spring", "Streams", "Connect")


def voices_of(stream: Stream) -> list[Voice]:
    """The consumers that speak in a client's stream."""
    by_key: dict[str, list[tuple[Dialect, Fact]]] = {}
    loose: list[tuple[Dialect, Fact]] = []
    for dialect, fact in stream.told:
        if dialect.is_broker or fact.what == FactKind.SPOKE:
            continue
        if fact.client:
            by_key.setdefault(fact.client, []).append((dialect, fact))
        else:
            loose.append((dialect, fact))
    _place(loose, by_key)
    _give_signs_of_life(stream, by_key)
    voices = [
        voice
        for client, told in by_key.items()
        if (voice := _voice(stream, client, told)) is not None
    ]
    _give_settings(loose, voices)
    for voice in voices:
        voice.is_only = len(voices) == 1
    return voices


def _give_signs_of_life(stream: Stream, by_key: dict[str, list[tuple[Dialect, Fact]]]) -> None:
    """To each consumer those of its process, in order: its own, for times are put right for each."""
    is_one_process = len({f.group for _, f in stream.told if f.group}) <= MOST_GROUPS
    place = {id(fact): n for n, (_, fact) in enumerate(stream.told)}
    spoke = [(d, f, n) for n, (d, f) in enumerate(stream.told) if f.what == FactKind.SPOKE]
    for told in by_key.values():
        for d, f, n in spoke if is_one_process else ():
            told.append((d, own := replace(f)))
            place[id(own)] = n
        told.sort(key=lambda x: place[id(x[1])])


def _place(
    loose: Iterable[tuple[Dialect, Fact]], by_key: dict[str, list[tuple[Dialect, Fact]]]
) -> None:
    """Facts without a client's name: by their thread, else by their group, else the only one's."""
    threads = {f.thread: client for client, told in by_key.items() for _, f in told if f.thread}
    named = list(by_key)
    group = ""
    for dialect, fact in loose:
        if fact.what in (FactKind.SETTINGS, FactKind.SETTING, FactKind.VERSION):
            continue
        if fact.what == FactKind.POSITIONED or fact.is_second_hand:
            key = threads.get(fact.thread, named[0] if len(named) == 1 else "")
            if key or (fact.what != FactKind.POSITIONED and not named):
                by_key.setdefault(key or f"\n{fact.thread}", []).append((dialect, fact))
        elif named and dialect.name in OF_JAVA:
            if len(named) == 1:
                by_key[named[0]].append((dialect, fact))
        else:
            group = fact.group or group
            by_key.setdefault("", []).append((dialect, fact))


def _voice(stream: Stream, client: str, told: list[tuple[Dialect, Fact]]) -> Voice | None:
    facts = _in_order(told)
    group = next((f.group for f in facts if f.group), "")
    if not group and not client:
        return None  # nothing tells whose it is; a client's name may be found with a coordinator
    told_by = next((d.name for d, f in told if f.group), told[0][0].name)
    voice = Voice(stream, client.strip("\n"), group, facts, told_by)
    voice.instance = next((f.instance for f in facts if f.instance), "")
    return voice


def _in_order(told: list[tuple[Dialect, Fact]]) -> list[Fact]:
    """The facts with messages of several lines made whole, in order."""
    order: dict[str, list[Fact]] = {}
    makers = {}
    for dialect, fact in told:
        order.setdefault(dialect.name, []).append(fact)
        makers[dialect.name] = dialect.put_together
    merged: list[Fact] = []
    for name, facts in order.items():
        put_together, last = makers[name], -1
        for fact in put_together(facts) if put_together is not None else facts:
            last = fact.place = fact.place if fact.place >= 0 else last
            merged.append(fact)
    if len(order) > 1:
        merged.sort(key=lambda fact: fact.place)
    return _without_containers(merged)


def _without_containers(facts: list[Fact]) -> list[Fact]:
    """Spring's lines stand in only where Kafka's own are missing."""
    has_own = any(f.what in CALLS and not f.is_second_hand for f in facts)
    return [f for f in facts if not (has_own and f.is_second_hand)]


def _give_settings(loose: Iterable[tuple[Dialect, Fact]], voices: list[Voice]) -> None:
    """Each printed block of settings to the consumer of its client id, else to all of its group."""
    block: dict[str, str] = {}
    blocks: list[dict[str, str]] = []
    for _, fact in loose:
        if fact.what == FactKind.SETTINGS:
            block = {}
            blocks.append(block)
        elif fact.what == FactKind.SETTING:
            if not blocks:
                blocks.append(block)
            block.setdefault(fact.why, fact.other)
    for found in blocks:
        client, group = found.get("client.id", ""), found.get("group.id", "")
        mine = [v for v in voices if v.client == client] or [v for v in voices if v.group == group]
        for voice in mine:
            voice.settings.update(found)
