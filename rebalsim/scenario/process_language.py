"""What a process does: its handler, its listener, its state, its life."""

from __future__ import annotations

import re
from typing import Any

from rebalsim.domain.commit_style import AfterError, CommitOnRevoke, CommitStyle
from rebalsim.scenario.cluster_language import MICROSECONDS
from rebalsim.scenario.common_language import DRAW, DURATION_KIND, word_of
from rebalsim.scenario.document import Mapping, Node, Scalar
from rebalsim.scenario.error_handler import ERROR_HANDLER
from rebalsim.scenario.kinds import (
    BAD,
    ByteRate,
    Choice,
    Duration,
    Field,
    Kind,
    Percentage,
    Schema,
    Section,
    Size,
    Whole,
    named_schema,
    shown,
)
from rebalsim.scenario.pods import STARTUP, Cores
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quantities import DURATION


class CostKind(Kind):
    """What a callback costs: `150ms + 20ms/partition`, or a block with draws."""

    says = "a cost such as 150ms, 20ms/partition or 150ms + 20ms/partition"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Mapping):
            written = COST.read(node, out)
            return (
                BAD
                if written is BAD or written.is_bad
                else (written.get("fixed"), written.get("per_partition"), written.get("before"))
            )
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.wrong(node, out)
        fixed: Any = None
        per: Any = None
        for part in re.split(r" ?\+(?![-/]) ?", node.text):
            bare = re.sub(r" ?/ ?partition$", "", part)
            place = Scalar(node.source, node.line, node.column, node.width, bare, False)
            draw = DRAW.read(place, out)
            if draw is BAD:
                return BAD
            if bare != part and per is None:
                per = draw
            elif bare == part and fixed is None:
                fixed = draw
            else:
                return self.wrong(node, out, f"{shown(node)} has a part twice — write {self.says}")
        return (fixed, per, None)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        one = rf"{DURATION}[^+]*"
        return named_schema(
            defs,
            "cost or text",
            lambda: {
                "anyOf": [
                    {
                        "type": "string",
                        "pattern": rf"^(?:{one}|{one}\+ ?{one}|{DURATION} ?(?:\+/-|\+-).*)$",
                    },
                    {"const": 0},
                    COST.schema(defs),
                ],
            },
        )

    def say(self, value: Any) -> str:
        parts = [DRAW.say(value[0])] if value[0] is not None else []
        parts += [DRAW.say(value[1]) + "/partition"] if value[1] is not None else []
        parts += [DRAW.say(value[2]) + " before it"] if value[2] is not None else []
        return " + ".join(parts) or "0s"


COST = Section(
    "cost",
    (
        Field("fixed", DRAW, "Whatever the number of partitions."),
        Field("per_partition", DRAW, "For each partition."),
        Field(
            "before",
            DRAW,
            "What passes before a call with partitions, where a machine is busy with other things.",
        ),
    ),
)
COST_KIND = CostKind()
HANDLER = Section(
    "handler",
    (
        Field("per_record", DRAW, "Time for one record.", target="per_record"),
        Field("per_batch", DRAW, "Time for each poll's records, beside that.", target="per_batch"),
        Field(
            "poll_timeout", Duration(1000), "The timeout given to poll().", target="poll_timeout_us"
        ),
        Field(
            "commit",
            Choice(*CommitStyle),
            "How the application commits. Other than auto switches enable.auto.commit off.",
            target="commit",
        ),
        Field(
            "commit_on_revoke",
            Choice(*CommitOnRevoke),
            "Whether the listener commits when partitions are revoked.",
            target="commit_on_revoke",
        ),
        Field(
            "on_error",
            Choice(*AfterError),
            "What the application does after an exception from poll(), a commit or a listener. "
            "One that no retry"
            " mends (fenced, or refused for its protocols, its subscription or the group's size) "
            "ends it in any case.",
            target="on_error",
        ),
        Field(
            "error_handler",
            ERROR_HANDLER,
            "Spring's: a record whose handling throws is sought again, and skipped in the end.",
            target="error_handler",
        ),
    ),
    "What the application does with records. A bare duration is the time per record.",
    shorthand=word_of("per_record"),
    can_unset=True,
)
LISTENER = Section(
    "listener",
    (
        Field("on_revoked", COST_KIND, "What onPartitionsRevoked costs.", target="revoked"),
        Field("on_assigned", COST_KIND, "What onPartitionsAssigned costs.", target="assigned"),
        Field("on_lost", COST_KIND, "What onPartitionsLost costs.", target="lost"),
        Field(
            "throws_in",
            Choice("revoked", "assigned", "lost"),
            "The callback that throws an exception.",
            target="throws_in",
        ),
        Field("throws_times", Whole(1), "… the first so many times.", target="throws_times"),
    ),
    "The rebalance listener: time spent in the poll thread.",
    can_unset=True,
)
STATE = Section(
    "state",
    (
        Field(
            "per_partition",
            Size(),
            "State to restore for each partition that is assigned.",
            target="bytes_per_partition",
        ),
        Field("restore", ByteRate(), "How fast it is restored.", target="restore_bytes_per_second"),
        Field(
            "flush",
            ByteRate(),
            "How fast it is flushed when a partition is revoked.",
            target="flush_bytes_per_second",
        ),
        Field(
            "standby",
            Percentage(),
            "How much of a restore a standby saves.",
            target="standby_share",
        ),
        Field(
            "survives",
            Choice("nothing", "restart"),
            "What it survives: nothing, so that all is restored; restart: it lies on a disk that is "
            "there again when the process is (of the same name), which then restores only what has "
            "changed meanwhile.",
            target="survives",
        ),
        Field(
            "changes",
            ByteRate(),
            "How fast the state of one partition changes: what has come since is restored where the "
            "rest survives.",
            target="changes_bytes_per_second",
            default="not at all",
        ),
        Field(
            "checkpoint",
            DURATION_KIND,
            "How often a checkpoint is written: a process that is killed goes on from its last one, "
            "one that stops from where it was.",
            target="checkpoint_us",
            default="0s: a kill loses nothing",
        ),
        Field(
            "where",
            Choice("callback", "background"),
            "Where it is restored: in the assigned callback, which holds up the poll loop, or in the "
            "background, where each partition waits for its own state alone.",
            target="where",
        ),
    ),
    "A state store that follows the partitions.",
    can_unset=True,
)
LIFE = Section(
    "life",
    (
        Field(
            "start",
            DRAW,
            "From being started to the first poll(): JVM, pod, warm-up.",
            target="start",
        ),
        Field("stop", DRAW, "From being asked to stop to close().", target="stop"),
        Field("grace", DURATION_KIND, "Killed when it has not exited by then.", target="grace_us"),
        Field(
            "preStop",
            DURATION_KIND,
            "The hook before it is asked to stop: it consumes on, and uses up its grace.",
            target="pre_stop_us",
        ),
        Field(
            "restartPolicy",
            Choice("Never", "Always"),
            "Always: when it has died it is started again, later and later (CrashLoopBackOff).",
            target="restart_policy",
        ),
        Field(
            "startupProbe",
            STARTUP,
            "Killed, and started again, when it does not run by the last look.",
            target="startup",
        ),
        Field(
            "cpuLimit",
            Cores(),
            "limits.cpu: below one core, start and handling take that much longer.",
            target="cpu_limit",
        ),
    ),
    "How the process starts and stops.",
    can_unset=True,
)
ASSIGNOR_COST = Section(
    "assignor_cost",
    (
        Field("fixed", DRAW, "Whatever the size of the group.", target="fixed"),
        Field(
            "per_member_partition",
            MICROSECONDS,
            "For each member times each partition.",
            target="per_member_partition_us",
        ),
    ),
    "The time the group's leader needs to compute an assignment. Stated, never measured.",
    can_unset=True,
)
