"""Members, templates, groups and workers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rebalsim.scenario.common_language import (
    ANY_TEXT,
    DRAW,
    DURATION_KIND,
    MAX_CONSUMERS,
    NAME,
    PATTERNED,
    TOPIC,
    word_of,
)
from rebalsim.scenario.config_language import CLIENT_NAMES, CONFIG, INSTANCE_ID, from_client
from rebalsim.scenario.connect_language import connect_section, connector_section, worker_fields
from rebalsim.scenario.document import Node, Scalar, Sequence
from rebalsim.scenario.kinds import (
    BAD,
    Field,
    Kind,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Schema,
    Section,
    Text,
    Whole,
    Written,
)
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.process_language import ASSIGNOR_COST, HANDLER, LIFE, LISTENER, STATE
from rebalsim.scenario.source import shorten
from rebalsim.scenario.streams_language import STREAMS
from rebalsim.words.synonyms import meant

TEMPLATE_FIELDS = (
    Field(
        "client",
        NAME,
        "The client library: java, librdkafka, franz-go, sarama, kafka-python or aiokafka.",
        default="java",
    ),
    Field(
        "client_version",
        ANY_TEXT,
        "Its version.",
        default="the brokers' (java), else the newest known",
    ),
    Field("config", CONFIG, "The consumer's settings, by Kafka's own names."),
    Field(
        "group.instance.id", INSTANCE_ID, "Makes members static: the same as in config.", kafka=True
    ),
    Field("rack", NAME, "Where it runs. What it tells the brokers is client.rack."),
    Field(
        "client.tag",
        MapOf(NAME, NAME, "client tags", most=5),
        "Kafka Streams: an instance's client.tag.KEY settings, as in {zone: a}; standbys differ in "
        "those that rack.aware.assignment.tags names.",
    ),
    Field(
        "topics",
        ListOf(TOPIC, is_lenient=True, least=1),
        "The topics it subscribes to.",
        default="every topic of the story",
    ),
    Field(
        "pattern",
        Text("a regular expression", max_length=200),
        "Subscribe by regular expression instead.",
    ),
    Field("handler", HANDLER, "What the application does with records."),
    Field("listener", LISTENER, "The rebalance listener and what it costs."),
    Field("state", STATE, "State that follows the partitions."),
    Field("life", LIFE, "How the process starts and stops."),
    Field("assignor_cost", ASSIGNOR_COST, "How long the leader computes."),
)
STARTS_AT = Field(
    "starts_at",
    Nullable("never", DRAW),
    "When the process is started; never: only by an action.",
    default="0s",
)


def _fold_static_id(written: Written, out: Problems) -> None:
    """The instance id may stand beside config, as it names rather than tunes; from here on it
    stands within.
    """
    config = written.get("config")
    if node := written.unset.pop("group.instance.id", None):
        _unset_static_id(written, config, node, out)
    if "group.instance.id" not in written.at:
        return
    at = written.at.pop("group.instance.id")
    pattern = written.values.pop("group.instance.id", None)
    is_override = (
        at.source.is_override
        and config is not None
        and not config.at.get("group.instance.id", at).source.is_override
    )
    if config is not None and "group.instance.id" in config.at and not is_override:
        out.add(at, "group.instance.id stands here and under config — keep one of the two")
    elif pattern is not None:
        node = config.node if config is not None else at
        values = (
            {**config.values, "group.instance.id": pattern}
            if config is not None
            else {"group.instance.id": pattern}
        )
        places = (
            {**config.at, "group.instance.id": at}
            if config is not None
            else {"group.instance.id": at}
        )
        is_bad, unset = (config.is_bad, config.unset) if config is not None else (False, {})
        written.values["config"] = Written(node, CONFIG, values, places, is_bad, unset)
        written.at.setdefault("config", at)


def _unset_static_id(written: Written, config: Written | None, at: Node, out: Problems) -> None:
    unset = {**(config.unset if config is not None else {}), "group.instance.id": at}
    if config is None:
        written.values["config"] = Written(at, CONFIG, unset=unset)
        written.at.setdefault("config", at)
    elif "group.instance.id" in config.at:
        out.add(at, "group.instance.id stands here and under config — keep one of the two")
    else:
        values, places = config.values, config.at
        written.values["config"] = Written(
            config.node, CONFIG, values, places, config.is_bad, unset
        )


def one_subscription(written: Written, out: Problems) -> None:
    _fold_static_id(written, out)
    if "topics" in written.at and "pattern" in written.at:
        out.add(
            written.at["pattern"],
            "A pattern stands beside topics — a consumer subscribes by one of the two",
        )


MEMBER_FIELDS = (
    *TEMPLATE_FIELDS,
    STARTS_AT,
    Field("template", NAME, "A template from templates: to begin with."),
    Field(
        "process",
        NAME,
        "The process it lives in: restarts, GC pauses and crashes take all of a process.",
        default="its own",
    ),
)
TEMPLATE_KEYS = {f.name for f in MEMBER_FIELDS}


def under_config(key: str) -> str:
    dotted = key.replace("_", ".")
    if key not in CLIENT_NAMES and dotted in CLIENT_NAMES:
        return f"Kafka spells it {dotted}; put it below, under config:"
    if key in CLIENT_NAMES:
        return "it is a setting of the client; put it below, under config:"
    for section in (HANDLER, LISTENER, STATE, LIFE):
        if key in section.by_key:
            return f"it belongs under {section.name}:"
    if setting := meant(key, CLIENT_NAMES):
        return f"Kafka calls it {setting}; put it below, under config:"
    return from_client(key)


MEMBER = Section(
    "member",
    (
        *MEMBER_FIELDS,
        Field(
            "count",
            Whole(0, MAX_CONSUMERS),
            "How many like this; the name then holds {n}.",
            default="1",
        ),
    ),
    "A member, or several alike.",
    allows_nothing=True,
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)
LISTED_MEMBER = Section(
    "listed member",
    (*MEMBER.fields.values(), Field("name", PATTERNED, "Its name.", is_required=True)),
    title="member",
    shorthand=word_of("name"),
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)
TEMPLATE = Section(
    "template",
    (*TEMPLATE_FIELDS, STARTS_AT),
    "Settings that members can begin with.",
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)
_MEMBER_MAP = MapOf(MEMBER, PATTERNED, "members")


def _why_no_name(name: str, count: int, is_counted: bool) -> str:
    """Why so many members cannot have this name (or names of this pattern); else empty."""
    if count != 1 and "{n}" not in name:
        return f"would be the name of {count} members — put {{n}} into it, as in '{name}-{{n}}'"
    if "{n}" in name and not is_counted:
        return "holds {n}, but how many there are is not said — add count: 3 below it"
    if unknown := re.search(r"\{(?!n\})[^}]*\}?|(?<!\{n)\}", name):
        what = shorten(unknown.group(), 20)
        return f"holds {what}, which stands for nothing in a name — only {{n}} does"
    return ""


class Members(Kind):
    """3 · [anna, ben] · {"orders-{n}": {count: 12}}: a tuple of (name or "", count, block or
    None, node).
    """

    says = "a number such as 3, a list of names, or a block of names with settings"
    listed = LISTED_MEMBER
    mapped = _MEMBER_MAP

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            if isinstance(node.value, bool) or not isinstance(node.value, int):
                return self.wrong(node, out)
            if not 0 <= node.value <= MAX_CONSUMERS:
                return self.wrong(
                    node,
                    out,
                    f"{node.value} members are out of bounds — write from 0 to {MAX_CONSUMERS}",
                )
            return (("", node.value, None, node),)
        if isinstance(node, Sequence):
            listed = [self.listed.read(item, out) for item in node.items]
            if any(w is BAD or "name" not in w for w in listed):
                return BAD
            return self._counted([(w.get("name"), w, w.at["name"]) for w in listed], out)
        named = self.mapped.read(node, out)
        if not isinstance(named, Named):
            return BAD
        members = [(name, w, named.node.keys[name]) for name, w in named.values.items()]
        return self._counted(members, out)

    def _counted(self, members: Iterable[tuple[str, Written, Node]], out: Problems) -> Any:
        made = []
        for name, written, node in members:
            count = written.get("count", 1)
            if "{n}" in name and "count" not in written and written.is_bad:
                return BAD  # the value of count is wrong, which has been told already
            if why := _why_no_name(name, count, "count" in written):
                out.add(node, f"'{name}' {why}")
                return BAD
            made.append((name, count, written, node))
        return tuple(made)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_CONSUMERS},
                {"type": "array", "items": self.listed.schema(defs)},
                self.mapped.schema(defs),
            ]
        }

    def say(self, value: Any) -> str:
        return str(sum(count for _, count, _, _ in value))


_WORKER_FIELDS = (
    *worker_fields(LIFE),
    Field(
        "count",
        Whole(0, MAX_CONSUMERS),
        "How many like this; the name then holds {n}.",
        default="1",
    ),
)
WORKER = Section(
    "worker",
    _WORKER_FIELDS,
    "A Connect worker, or several alike.",
    allows_nothing=True,
    can_unset=("config", "life", "rack"),
)
LISTED_WORKER = Section(
    "listed worker",
    (*_WORKER_FIELDS, Field("name", PATTERNED, "Its name.", is_required=True)),
    title="worker",
    shorthand=word_of("name"),
    can_unset=("config", "life", "rack"),
)


class Workers(Members):
    """Members that are Kafka Connect's workers, written as members are."""

    listed = LISTED_WORKER
    mapped = MapOf(WORKER, PATTERNED, "workers")


CONNECTOR = connector_section(CONFIG, TOPIC)
CONNECT = connect_section(CONFIG, LIFE, CONNECTOR, Workers())
GROUP = Section(
    "group",
    (
        Field(
            "members",
            Members(),
            "How many, their names, or each with settings of its own.",
            is_required=True,
            example="members: 3",
        ),
        *TEMPLATE_FIELDS,
        STARTS_AT,
        Field("name", NAME, "The group's name (group.id).", default="group"),
        Field("template", NAME, "A template from templates: to begin with."),
        Field(
            "streams",
            STREAMS,
            "It is a Kafka Streams application, and its members are instances.",
        ),
        Field(
            "per_process",
            Whole(1, 1_000),
            "Consumers in one process (Spring's concurrency): one restart, GC pause or crash "
            "takes all of them.",
            default="1",
        ),
        Field(
            "racks",
            ListOf(NAME, is_lenient=True, least=1, says="a list such as [a, b]"),
            "Racks for the processes in turn.",
        ),
        Field(
            "stagger",
            DURATION_KIND,
            "Start the members so far apart instead of all at once.",
            default="0s",
        ),
        Field(
            "overrides",
            MapOf(MEMBER, NAME, "members"),
            "What single members have otherwise, by name.",
        ),
    ),
    "A consumer group: its members and what they share.",
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)
