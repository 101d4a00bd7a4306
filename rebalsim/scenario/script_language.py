"""Words that actions of the script share: who, where, for how long."""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.common_language import DRAW, DURATION_KIND, KAFKA_NAME, NAME, POSITIVE
from rebalsim.scenario.connect_language import WORKER_CONFIG
from rebalsim.scenario.document import Node, Scalar, Sequence
from rebalsim.scenario.kinds import (
    Choice,
    Field,
    Kind,
    Nullable,
    Schema,
    ShareOrWhole,
    Text,
    Whole,
    named_schema,
)
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.streams_language import STREAMS_CONFIG


class Targets(Kind):
    """Who is meant: all, a name, a number, or a list of them. A tuple of (name or number, node);
    () means all.
    """

    says = "all, a member such as c1, its number such as 1, or a list of them"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and node.text == "all":
            return ()
        items = node.items if isinstance(node, Sequence) else [node]
        made = []
        for item in items:
            if isinstance(item, Scalar) and item.trap:
                return self.wrong(item, out, item.trap)
            if not isinstance(item, Scalar) or item.text == "":
                return self.wrong(item, out)
            if type(item.value) not in (int, str):
                return self.wrong(item, out)
            if isinstance(item.value, int) and item.value < 0:
                says = f"{item.value} is no member's number — they count from 0"
                return self.wrong(item, out, says)
            made.append((item.value if isinstance(item.value, int) else item.text, item))
        if not made:
            return self.wrong(node, out, f"The list is empty — write {self.says}")
        return tuple(made)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        one: Schema = {
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 0}]
        }
        return named_schema(
            defs,
            "targets",
            lambda: {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]},
        )

    def say(self, value: Any) -> str:
        return "all" if not value else ", ".join(str(v) for v, _ in value)


TARGETS = Targets()
WHO = Field("members", TARGETS, "Who: all, names or numbers.", aliases=("member",))
PROCESS = Field("process", NAME, "All members of this process.")
IN_GROUP = Field("group", NAME, "Which group, where there are several.")
FOR = Field("for", DRAW, "For how long.", is_required=True, example="for: 30s")
FOR_A_WHILE = Field(
    "for", POSITIVE, "For how long.", target="for_us", is_required=True, example="for: 2m"
)
BROKER = Field(
    "broker",
    Nullable("coordinator", Whole(0, 100_000)),
    "Which one, by its id, or the one that coordinates the group.",
    target="broker",
    is_required=True,
)
STAGGER = Field(
    "stagger", DURATION_KIND, "One after another, so far apart.", target="stagger_us", default="0s"
)
LOAD = Field("load", DRAW, "How long the new coordinator takes to read the group.", target="load")


def join_shorthand(node: Node) -> str:
    return (
        "count"
        if isinstance(node, Scalar)
        and isinstance(node.value, int)
        and not isinstance(node.value, bool)
        else "names"
    )


join_shorthand.keys = ("count", "names")  # type: ignore[attr-defined]
BOUNCE_FIELDS = (
    WHO,
    IN_GROUP,
    Field(
        "as",
        Choice("in-place", "statefulset", "deployment"),
        "in-place: same names in order. statefulset: the last one first. deployment: new names.",
        default="in-place",
    ),
    Field(
        "order",
        Choice("as-listed", "reversed"),
        "In which order.",
        default="as-listed (statefulset: reversed)",
    ),
    Field(
        "max_unavailable",
        ShareOrWhole(),
        "How many may be away at once.",
        default="1 (deployment: 25%, rounded down)",
    ),
    Field(
        "surge",
        ShareOrWhole(),
        "How many replacements may run beside the old ones (deployment only).",
        default="0 (deployment: 25%, rounded up)",
    ),
    Field(
        "down",
        DRAW,
        "How long a process is away between its exit and its restart.",
        default="not at all: only life.start",
    ),
    Field(
        "ready_after",
        DURATION_KIND,
        "It counts as ready so long after it was started.",
        target="ready_after_us",
    ),
    Field(
        "ready_when",
        Choice("started", "assigned"),
        "When a restarted one counts as ready: once started, or once it has its partitions.",
        default="started",
    ),
    Field("settle", DURATION_KIND, "The wait before the next one.", target="settle_us"),
)
PARTITION_NAME = Text("a partition such as orders-3", rf"{KAFKA_NAME}-[0-9]{{1,6}}")
STREAMS_SETTINGS = Field(
    "streams", STREAMS_CONFIG, "A Streams application: its instances' settings from then on."
)
WORKER_SETTINGS = Field("worker", WORKER_CONFIG, "Connect workers: their settings from then on.")
