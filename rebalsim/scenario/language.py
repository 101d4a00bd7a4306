"""The language: every key a scenario may have, what may stand there, what it means, and where it
goes. ONE table, a file for each part of it (`*_language.py`, and `script_actions/`); the whole file
is SCENARIO, here.

The loader, the JSON Schema, `rebalsim show` and the paths of `--set` are all made from it. To
add a setting, add a line there and, if its target is new, a field in the domain.
"""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.action_language import ACTION, RANDOM_FAULT
from rebalsim.scenario.cluster_language import CLUSTER
from rebalsim.scenario.common_language import ANY_TEXT, NAME, POSITIVE, TOPIC
from rebalsim.scenario.config_language import CLIENT_NAMES
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import (
    Choice,
    Field,
    Kind,
    ListOf,
    MapOf,
    Schema,
    Section,
    Whole,
    Written,
)
from rebalsim.scenario.member_language import CONNECT, GROUP, TEMPLATE
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.replay_language import REPLAY, Version
from rebalsim.scenario.topic_language import TOPIC_BLOCK


class Raw(Kind):
    """Kept as it stands, read later by whoever knows what it means."""

    def __init__(self, says: str, shape: Schema) -> None:
        self.says = says
        self.shape = shape

    def _read(self, node: Node, out: Problems) -> Any:
        return node

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return self.shape


def _needs_topics(written: Written, out: Problems) -> None:
    if "topics" in written.at or ("connect" in written.at and "group" not in written.at):
        return
    if "topics" not in written.at:
        out.add(written.node, "The scenario lacks 'topics' — write topics: {orders: 12}")
        written.is_bad = True


BUDGET_SHAPE: Schema = {"type": ["object", "array"]}
SCENARIO = Section(
    "scenario",
    (
        Field("title", ANY_TEXT, "What the story is called.", target="title"),
        Field(
            "description",
            ANY_TEXT,
            "What it is about; printed above the results.",
            target="description",
        ),
        Field(
            "kafka",
            Version(),
            "The brokers' Kafka version, with that version's defaults.",
            default="4.3",
        ),
        Field("cluster", CLUSTER, "The brokers and the network."),
        Field(
            "topics",
            MapOf(TOPIC_BLOCK, TOPIC, "topics", least=1),
            "The topics, by name; needed unless all there is are Connect's sources.",
            example="topics: {orders: 12}",
        ),
        Field(
            "templates",
            MapOf(TEMPLATE, NAME, "templates"),
            "Named settings that members can begin with.",
        ),
        Field("group", GROUP, "The consumer group."),
        Field(
            "groups",
            MapOf(GROUP, NAME, "groups", least=1, most=200),
            "Several consumer groups, by name.",
        ),
        Field("connect", CONNECT, "A Kafka Connect cluster, beside or without consumer groups."),
        Field(
            "script",
            ListOf(
                ACTION,
                most=5_000,
                goes_on=True,
                says="a list of actions, each beginning with a dash, as in - {at: 1m, crash: c1}",
            ),
            "What is done to the world, in order of time.",
        ),
        Field(
            "random_faults",
            ListOf(
                RANDOM_FAULT,
                most=200,
                goes_on=True,
                says="a list of faults, each beginning with a dash",
            ),
            "Faults at random, drawn from the seed.",
        ),
        Field(
            "replay",
            REPLAY,
            "The variants to play side by side: stock ones, versions and clients as in {kafka: "
            '"3.9"}, or your own.',
            default="[eager, cooperative]",
        ),
        Field("horizon", POSITIVE, "When the story ends.", target="horizon_us"),
        Field(
            "start",
            Choice("cold", "settled"),
            "settled: the story begins with a group that has run for an hour, as the same seed plays "
            "that. cold: it begins with the group's start. What is not said is settled where the "
            "group can have settled before the first action, half a minute and its members' start "
            "time after 0, and keeps up; Kafka Streams and members that start later begin cold.",
            target="start",
        ),
        Field("seed", Whole(0, 2**53), "Decides every random draw.", target="seed"),
        Field("runs", Whole(1, 1_000_000), "Over how many seeds it is played.", target="runs"),
        Field(
            "heartbeat_phase",
            Choice("by-seed", "as-written"),
            "by-seed: seed 1 plays the script as written, every other one up to a heartbeat "
            "interval"
            " later, so that each strikes at another moment between two heartbeats. as-written: "
            "all at the written times.",
            default="by-seed",
        ),
        Field(
            "budgets",
            Raw("a block of limits on metrics", BUDGET_SHAPE),
            'What a rebalance may cost: {longest_pause: "<= 2s"}, for all variants or by variant.',
        ),
        Field(
            "expect",
            Raw("a list of facts that must hold", {"type": ["array", "string"]}),
            "Facts that must hold: `at 41s: orders-3 owned by c2`.",
        ),
    ),
    "A rebalsim scenario: one story of a Kafka consumer group.",
    after=_needs_topics,
    elsewhere=lambda key: (
        "a file with axes is a plan; `rebalsim sweep` plays it"
        if key in ("axes", "objectives", "scenario")
        else "it belongs under group:"
        if key in GROUP.by_key or key in CLIENT_NAMES
        else "it belongs under cluster:"
        if key in CLUSTER.by_key
        else ""
    ),
)
