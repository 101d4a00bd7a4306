"""A scenario's text from what was understood: every value with a comment that says from where it is,
which default it is and why, or `# ASK:` with how to measure it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rebalsim.scenario.config_language import BROKER_CONFIG
from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.connect_block import (
    cluster_of,
    connectors_of,
    topics_of,
    without_sinks,
    workers_play,
)
from rebalsim.worlds.connect_block import lines_of as connect_lines
from rebalsim.worlds.groups import Play, name_of
from rebalsim.worlds.groups_found import groups_of
from rebalsim.worlds.rolls import rolls_of
from rebalsim.worlds.scaler_lines import autoscalers_of
from rebalsim.worlds.streams_block import is_streams
from rebalsim.worlds.streams_block import lines_of as streams_lines
from rebalsim.worlds.understood import Connector, Understood
from rebalsim.worlds.values import Value, place
from rebalsim.worlds.words import milliseconds, whole

PARTITIONS = 12
RATE = "100/s"


@dataclass(slots=True)
class Line:
    """A line of the scenario and what stands behind it."""

    text: str
    why: str = ""


@dataclass(slots=True)
class Draft:
    """The lines so far."""

    lines: list[Line] = field(default_factory=list)

    def add(self, text: str, why: str = "") -> None:
        self.lines.append(Line(text, why))

    def text(self) -> str:
        made = []
        for line in self.lines:
            why = re.sub(r"\s+", " ", line.why)
            pad = max(1, 46 - len(line.text)) if line.text.strip() else 0
            made.append(f"{line.text}{' ' * pad}# {why}" if why else line.text)
        return "\n".join(made).rstrip() + "\n"


def can_be_played(made: Understood) -> bool:
    """Whether there is a group to write a scenario of."""
    return bool(plays_of(made))


def plays_of(made: Understood) -> list[Play]:
    """What there is to play: the groups, and last the workers of a Connect cluster, whose sinks are
    no groups of their own.
    """
    cluster = cluster_of(made)
    workers = [workers_play(cluster)] if cluster is not None else []
    return [*without_sinks(groups_of(made), made), *workers]


@dataclass(frozen=True, slots=True)
class Happening:
    """A script in place of the usual rollout: its lines, and how long the story lasts."""

    title: str
    lines: tuple[tuple[str, str], ...]
    seconds: int
    coming: tuple[Connector, ...] = ()  # connectors that the script creates


def to_scenario(
    made: Understood,
    happening: Happening | None = None,
    budgets: list[tuple[str, str, str]] | None = None,
) -> str:
    """The scenario's text: topics, groups, a rollout by its own rules, and the budgets."""
    everybody, cluster = plays_of(made), cluster_of(made)
    plays = everybody[:-1] if cluster is not None else everybody
    coming = happening.coming if happening is not None else ()
    draft = Draft()
    draft.add("# Written by rebalsim import. What says ASK is assumed: measure it, and put it in.")
    draft.add(f"title: {_quoted(happening.title if happening else _title(everybody))}")
    if any(is_streams(play, plays) for play in plays):
        draft.add("start: cold", "a Streams application is played from its start, its stores warm")
    else:
        draft.add("start: settled", "what is rolled is running already")
    _version(draft, made)
    _brokers(draft, made)
    connectors = [*connectors_of(made), *coming] if cluster is not None else []
    _topics(draft, made, plays, topics_of(connectors))
    if cluster is not None:
        draft.add("")
        for text, why in connect_lines(cluster, made, coming):
            draft.add(text, why)
    if plays:
        draft.add("")
        draft.add("groups:")
    for play in plays:
        if is_streams(play, plays):
            draft.add(f"  {name_of(play.name)}:", play.group.source)
            for text, why in streams_lines(play):
                draft.add(f"    {text}", why)
        else:
            _group(draft, play)
    if happening is None:
        _script(draft, everybody, made)
    else:
        _happens(draft, happening)
    _budgets(draft, budgets_of(made) if budgets is None else budgets)
    return draft.text()


def _happens(draft: Draft, happening: Happening) -> None:
    draft.add("")
    draft.add("script:")
    for text, why in happening.lines or [("[]", "nothing restarts")]:
        draft.add(f"  {text}", why)
    draft.add("")
    draft.add("replay: [as-written]")
    draft.add(f"horizon: {happening.seconds}s")


def playable(text: str) -> str:
    """The scenario with what no Kafka would take put into comments, each with the reason: files
    hold such settings, and a scenario that cannot be played helps nobody.
    """
    from rebalsim.domain.errors import ProblemsError
    from rebalsim.scenario.load import story_of

    for _ in range(20):
        try:
            story_of(text.encode(), "the imported scenario").check()
        except ProblemsError as e:
            lines = text.split("\n")
            wrong = {p.line: p.message for p in e.problems if not p.is_warning}
            if not any(_can_go(lines, n) for n in wrong):
                return text
            for number, message in wrong.items():
                if _can_go(lines, number):
                    said = re.sub(r"\s+", " ", message)
                    kept = lines[number - 1]
                    pad = kept[: len(kept) - len(kept.lstrip())]
                    lines[number - 1] = f"{pad}# left out: {kept.strip()} · refused: {said}"
            text = "\n".join(lines)
        else:
            break
    return text


def _can_go(lines: list[str], number: int) -> bool:
    """Only a setting of Kafka's own may go: a line `name.of.it: value`."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return bool(re.match(r"\s+[a-z]+(\.[a-z]+)+: \S", line))


def _title(plays: list[Play]) -> str:
    names = [p.title for p in plays]
    return f"A rollout of {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "").replace('"', "'") + '"'


KNOWN_VERSIONS = ("2.8", "3.9", "4.3")


def _version(draft: Draft, made: Understood) -> None:
    question = QUESTIONS["kafka_version"]
    if made.kafka_version is None or not made.kafka_version.known:
        draft.add("# kafka: the newest", f"ASK: {question.what}: {question.how}")
        return
    said = str(made.kafka_version.value)
    chosen = nearest_version(said)
    note = "" if said.startswith(chosen) else f", played as {chosen}, the nearest known"
    draft.add(f'kafka: "{chosen}"', f"{made.kafka_version.source}: {said}{note}")


def _brokers(draft: Draft, made: Understood) -> None:
    """What the brokers' own files set of groups."""
    told = [
        (key, text, value.source)
        for key, value in made.broker_settings.items()
        if key in BROKER_CONFIG.fields and value.known and (text := _of_brokers(key, value))
    ]
    if told:
        draft.add("cluster:")
        draft.add("  config:")
    for key, text, where in told:
        draft.add(f"    {key}: {text}", where)


def _of_brokers(key: str, value: Value) -> str:
    text = str(value.value).strip()
    if key.endswith(".ms"):
        number = milliseconds(text)
        return "" if number is None else str(number)
    return text if re.fullmatch(r"[\w.\-]+", text) else ""


def nearest_version(said: str) -> str:
    """The known one of the same major version, since defaults changed with these: session.timeout.ms
    and the assignors with 3.0, the consumer protocol with 4.0.
    """
    major = int(next(iter(re.findall(r"\d+", said)), 99))
    older = [v for v in KNOWN_VERSIONS if int(v.split(".")[0]) <= major]
    return older[-1] if older else KNOWN_VERSIONS[0]


# ---- topics ----
def _topics(draft: Draft, made: Understood, plays: list[Play], more: list[str]) -> None:
    topics = list(dict.fromkeys([*(t for p in plays for t in p.topics), *more]))
    if not topics:
        return
    draft.add("")
    draft.add("topics:")
    asked = QUESTIONS["partitions"]
    for topic in topics:
        count, why, is_assumed = partitions_of(made, topic)
        draft.add(f"  {name_of(topic)}:")
        said = f"ASK: {asked.what}: {asked.how} · assumed {why}" if is_assumed else why
        draft.add(f"    partitions: {count}", said)
        _rate(draft, made, topic)


def partitions_of(made: Understood, topic: str) -> tuple[int, str, bool]:
    """A topic's partitions, where the number is from, and whether it is assumed."""
    told = made.topics.get(topic, {}).get("partitions")
    if told is not None and told.known:
        return int(told.value), told.source, False
    least = max((g.partitions.get(topic, 0) for g in made.listed.groups.values()), default=0)
    if least:
        return least, "a listing: at least so many, of those with commits", False
    return *_assumed_partitions(made), True


def _assumed_partitions(made: Understood) -> tuple[int, str]:
    """As many as the brokers give a topic that nobody made, where their files tell."""
    told = made.broker_settings.get("num.partitions")
    count = whole(told.value) if told is not None and told.known else None
    if told is None or not count:
        return PARTITIONS, f"because {QUESTIONS['partitions'].why}"
    return count, f"because it is the brokers' num.partitions ({told.source})"


def _rate(draft: Draft, made: Understood, topic: str) -> None:
    asked = QUESTIONS["rate"]
    if made.measured is not None and made.measured.rate:
        draft.add(f"    rate: {round(made.measured.rate, 2)}/s", "metrics: records-consumed-rate")
        return
    for consumer in made.consumers:
        told = consumer.reading.rate
        if told is not None and consumer.topics.value in ([topic], topic):
            draft.add(
                f"    rate: {round(told.value, 2)}/s", f"{told.source}: inferred from its name"
            )
            return
    draft.add(f"    rate: {RATE}", f"ASK: {asked.what}: {asked.how} · assumed: {asked.why}")


# ---- groups ----
def _group(draft: Draft, play: Play) -> None:
    draft.add(
        f"  {name_of(play.name)}:", play.group.source if play.group.known else _ask("group_id")
    )
    draft.add("    members:")
    for line, why in play.member_lines():
        draft.add(f"      {line}", why)
    draft.add(f"    topics: [{', '.join(name_of(t) for t in play.topics)}]", play.topics_why)
    draft.add(f"    client: {play.client_name}", play.client_why)
    if play.instance:
        draft.add(f'    group.instance.id: "{play.instance}"', play.instance_why)
    settings = play.settings()
    if settings:
        draft.add("    config:")
        for key, text, why in settings:
            draft.add(f"      {key}: {text}", why)
    for why in play.left_out():
        draft.add(f"    # {why}")
    draft.add("    handler:")
    draft.add(f"      per_record: {play.handler}", play.handler_why)
    if play.commit:
        draft.add(f"      commit: {play.commit[0]}", play.commit[1])
    draft.add("    life:")
    for key, text, why in play.life():
        draft.add(f"      {key}: {text}", why)


def _ask(word: str) -> str:
    question = QUESTIONS[word]
    return f"ASK: {question.what}: {question.how}"


# ---- the rollout ----
def _script(draft: Draft, plays: list[Play], made: Understood) -> None:
    rolls = rolls_of(plays)
    draft.add("")
    draft.add("script:")
    for line, why in autoscalers_of(made, plays):
        draft.add(f"  {line}", why)
    for act in (act for roll in rolls for act in roll.acts()):
        first, *more = act.when
        draft.add(f"  - {first}")
        for line in (*more, f"id: {act.id}"):
            draft.add(f"    {line}")
        draft.add(f"    {act.written('rolling_bounce')}", act.why)
    if not rolls:
        draft.add("  []", "nothing here is rolled out: add what you want to try")
    draft.add("")
    draft.add("replay: [as-written]")
    workers = 15 if cluster_of(made) is not None else 0  # a delay of five minutes, and more
    draft.add(f"horizon: {int(horizon(plays)[:-1]) + workers}m")


def horizon(plays: list[Play]) -> str:
    """Long enough for the rollout and for what it leaves behind."""
    seconds = max((r.begin + r.longest_seconds for r in rolls_of(plays)), default=120) + 300
    return f"{-(-seconds // 60)}m"


# ---- budgets ----
def _budgets(draft: Draft, found: list[tuple[str, str, str]]) -> None:
    if not found:
        return
    draft.add("")
    draft.add("budgets:")
    for metric, limit, where in found:
        draft.add(f'  {metric}: "{limit}"', where)


def budgets_of(made: Understood) -> list[tuple[str, str, str]]:
    """`rebalsim.io/METRIC-WITH-HYPHENS: LIMIT` of the workloads that consume."""
    told: dict[str, tuple[str, str, str]] = {}
    for consumer in made.consumers:
        for key, value in consumer.annotations.items():
            if key.startswith("rebalsim.io/"):
                metric = key.removeprefix("rebalsim.io/").replace("-", "_")
                limit = re.sub(r'["\n\\]', "", value)
                where = f"annotation {key} of {consumer.workload}"
                told[metric] = (metric, limit, ": ".join(filter(None, [place(value), where])))
    return list(told.values())
