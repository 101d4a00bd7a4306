"""Which variants a story is played in, and what the stock ones change and why.

A variant is a stock base (`eager`, `cooperative`, `consumer`, or `as-written`), which decides
protocol and assignors, and a layer of settings upon it. Deploys of the script lie on top of
both: they are the story.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rebalsim.scenario.document import Node, parse
from rebalsim.scenario.kinds import Written, merge
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.replay_language import OVERLAY
from rebalsim.scenario.source import Source

BASES = ("eager", "cooperative", "consumer", "as-written")
DEFAULT_REPLAY = ("eager", "cooperative")

# Stock layers, in the scenario language itself.
STOCK_LAYERS = {
    # For people who want a dead member's partitions back in seconds: the session is short enough to
    # notice soon and still three heartbeats long; a stuck handler is given up after 30 s, which 100
    # records a poll must then fit into; and cooperative-sticky keeps the more frequent rebalances
    # from stopping everybody.
    "low-latency": """
        config:
          session.timeout.ms: 10s
          heartbeat.interval.ms: 3s
          max.poll.interval.ms: 30s
          max.poll.records: 100
          partition.assignment.strategy: [cooperative-sticky]
        why: dead and stuck members are given up within seconds; shorter polls keep healthy ones inside
    """,
    # For steady fleets with stable names: a restart within the session moves nothing, so the
    # session covers a pod's restart; who is really dead is missed for up to a minute, which is the
    # price.
    "static-production": """
        config:
          group.instance.id: "{name}"
          session.timeout.ms: 60s
          heartbeat.interval.ms: 5s
          max.poll.records: 500
          max.poll.interval.ms: 300s
          partition.assignment.strategy: [cooperative-sticky]
          client.rack: "{rack}"
        why: members keep their partitions over a restart of up to a minute
    """,
}


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One column of a replay."""

    name: str
    base: str
    layer: Written | None = None
    kafka: str = ""  # the brokers' version, where it is this variant's own
    sets: tuple[tuple[Any, Node], ...] = ()
    node: Node | None = None


@lru_cache(maxsize=8)
def stock_layer(name: str) -> Written | None:
    text = STOCK_LAYERS.get(name)
    if text is None:
        return None
    problems = Problems()
    root, found = parse(text, Source(f"the stock variant {name}", text, label=f"variant {name}"))
    assert root is not None and not found
    written: Written = OVERLAY.read(root, problems)
    assert not problems.items, problems.items
    return written


def variants_of(story: Written) -> tuple[Variant, ...]:
    """The story's variants in order: those it lists, else eager and cooperative, else (a
    migration) as it is written.
    """
    listed = story.get("replay")
    if listed is None:
        names = ("as-written",) if is_played_as_written(story) else DEFAULT_REPLAY
        return tuple(variant_named(name) for name in names)
    return tuple(variant_named(name, written, node) for name, written, node in listed)


def variant_named(name: str, written: Written | None = None, node: Node | None = None) -> Variant:
    """A stock variant, or one's own on the stock variant it is based on (its own name, if that
    is a stock one).
    """
    based_on = (written.get("based_on") if written is not None else None) or (
        name if name in BASES or name in STOCK_LAYERS else "as-written"
    )
    layer = stock_layer(based_on)
    if written is not None:
        layer = written if layer is None else merge(layer, written)
    kafka, sets = (
        (written.get("kafka", ""), written.get("set", ())) if written is not None else ("", ())
    )
    return Variant(name, based_on if based_on in BASES else "as-written", layer, kafka, sets, node)


def is_played_as_written(story: Written) -> bool:
    """A story that is itself about assignors or protocols (per member, deployed, or the consumer
    protocol) is not overlaid unasked, nor is one of Connect's workers alone: they have no assignors
    to choose from, and who asks which delay fits asks it of the protocol that is theirs.
    """
    groups = [
        story.get("group"),
        *(story.get("groups").values.values() if "groups" in story else ()),
    ]
    templates = story.get("templates").values.values() if "templates" in story else ()
    actions = [action for action in story.get("script", ()) if isinstance(action, Written)]
    deeds = [a.get(deed) for a in actions for deed in ("deploy", "join") if deed in a]
    return (
        ("connect" in story and "group" not in story and "groups" not in story)
        or any(_group_is_about_protocols(g) for g in groups if isinstance(g, Written))
        or _deploys_workers(story)
        or any(_is_about_protocols(written) for written in (*templates, *deeds))
    )


def _group_is_about_protocols(group: Written) -> bool:
    if "streams" in group or _says(group, "group.protocol") == "consumer":
        return True
    blocks = [written for _, _, written, _ in group.get("members", ()) if written is not None]
    if "overrides" in group:
        blocks += list(group.get("overrides").values.values())
    return any(_is_about_protocols(b) for b in blocks)


def _deploys_workers(story: Written) -> bool:
    """Does a deploy of the script change Connect's protocol?"""
    return any(
        isinstance(action, Written)
        and deed in action
        and "connect.protocol" in (action.get(deed).get("worker") or ())
        for action in story.get("script", ())
        for deed in ("deploy", "join")
    )


def _says(block: Written | None, key: str) -> Any:
    config = block.get("config") if block is not None else None
    return config.get(key) if config is not None else None


def _is_about_protocols(block: Written | None) -> bool:
    return (
        _says(block, "partition.assignment.strategy") is not None
        or _says(block, "group.protocol") is not None
    )
