"""An entry of the script: an action, and when it happens; and faults at random."""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.common_language import DRAW, DURATION_KIND, NAME, POSITIVE
from rebalsim.scenario.document import Mapping, Node, Scalar
from rebalsim.scenario.kinds import BAD, Choice, Field, Kind, Schema, Section, Whole, shown
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.script_action import all_actions
from rebalsim.scenario.script_language import IN_GROUP, TARGETS

DEEDS: dict[str, Section] = {key: action.section for key, action in all_actions().items()}


class WhenKind(Kind):
    """`stable`, `group is stable`, `orders is caught-up`, or a block: (group, condition, for
    µs).
    """

    says = "stable, empty or caught-up, as in `when: group is stable`"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Mapping):
            written = WHEN.read(node, out)
            return (
                BAD
                if written is BAD or written.is_bad
                else (written.get("group", ""), written.get("is"), written.get("for", 0))
            )
        if isinstance(node, Scalar) and isinstance(node.value, str):
            group, _, condition = node.text.rpartition(" is ")
            if condition.strip() in CONDITIONS:
                return (
                    group.strip().removeprefix("group ").replace("the ", "").strip()
                    if group.strip() not in ("group", "the group")
                    else "",
                    condition.strip(),
                    0,
                )
        return self.wrong(node, out, f"{shown(node)} is no condition — write {self.says}")

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": rf"^(?:.* is )?(?:{'|'.join(CONDITIONS)})$"},
                WHEN.schema(defs),
            ]
        }

    def say(self, value: Any) -> str:
        return f"{value[0] or 'the group'} is {value[1]}" + (
            f" for {DURATION_KIND.say(value[2])}" if value[2] else ""
        )


CONDITIONS = ("stable", "empty", "caught-up")
WHEN = Section(
    "when",
    (
        Field("group", NAME, "Which group, where there are several."),
        Field("is", Choice(*CONDITIONS), "The condition.", is_required=True),
        Field("for", DURATION_KIND, "It must have held for so long.", default="0s"),
    ),
)
TIMING = (
    Field("at", DURATION_KIND, "When, counted from the start. With `when`: not before that."),
    Field("after", NAME, "After the action with this id is done."),
    Field("delay", DURATION_KIND, "… so much later.", default="0s"),
    Field("when", WhenKind(), "Once a condition holds: group is stable, empty or caught-up."),
    Field("every", POSITIVE, "Again and again, so far apart."),
    Field("times", Whole(1, 100_000), "… so often in all.", default="until the horizon"),
    Field(
        "jitter",
        DURATION_KIND,
        "… each later by a random part of this.",
        target="jitter_us",
        default="0s",
    ),
    Field("id", NAME, "A name that `after`, budgets and expectations can use."),
)
_DEED_KEYS = {key: name for name, section in DEEDS.items() for key in section.by_key}


def _in_deed(key: str) -> str:
    return (
        f"it belongs one level deeper, as in {_DEED_KEYS[key]}: {{{key}: …}}"
        if key in _DEED_KEYS
        else ""
    )


ACTION = Section(
    "action",
    (*TIMING, *(Field(name, section, section.doc) for name, section in DEEDS.items())),
    "One thing that is done to the world, and when.",
    exactly_one=tuple(DEEDS),
    elsewhere=_in_deed,
)
RANDOM_FAULT = Section(
    "random fault",
    (
        Field(
            "kind",
            Choice("crash", "freeze", "hang", "cut"),
            "What happens.",
            target="kind",
            is_required=True,
        ),
        Field("members", TARGETS, "To whom.", aliases=("member",), default="all"),
        IN_GROUP,
        Field(
            "about_every",
            POSITIVE,
            "The mean time between two of them, for each member.",
            is_required=True,
            example="about_every: 10m",
        ),
        Field(
            "for",
            DRAW,
            "For how long; a crash: until it is started again.",
            target="for_",
            is_required=True,
            example="for: 2s",
        ),
        Field("from", DURATION_KIND, "Not before.", target="from_us", default="0s"),
        Field("until", DURATION_KIND, "Not after.", target="until_us", default="the horizon"),
    ),
    "Faults at random, drawn from the seed.",
)
