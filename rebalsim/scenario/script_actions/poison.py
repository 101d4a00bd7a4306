"""A record that hangs whoever gets it."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import NOTHING
from rebalsim.domain.ids import partition_named
from rebalsim.domain.script import Poison
from rebalsim.scenario.action_words import for_
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.kinds import Field, Flag, Nullable, Section, Whole, Written
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.script_language import PARTITION_NAME
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import or_nearest

SECTION = Section(
    "poison",
    (
        Field(
            "partition",
            PARTITION_NAME,
            "Where the record is, such as orders-3.",
            is_required=True,
            example="partition: orders-3",
        ),
        Field(
            "offset",
            Nullable("next", Whole(0, 10**15)),
            "Its offset, or the next to arrive.",
            target="offset",
            default="next",
        ),
        Field("for", DRAW, "For how long. Where it throws: until then, or at once."),
        Field(
            "times",
            Whole(1),
            "How many deliveries hang before it is skipped.",
            target="times",
            default="every one",
        ),
        Field(
            "throws",
            Flag(),
            "Its handling throws in the end: what comes of that is the handler's error_handler, "
            "or its on_error.",
            default="false",
        ),
    ),
    "A record that hangs whoever gets it; uncommitted, it travels to the next owner.",
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    partition = partition_named(written.get("partition"))
    node = written.at["partition"]
    count = script.partitions.get(partition.topic)
    if count is None:
        script.out.add(
            node,
            f"There is no topic '{shorten(partition.topic)}' — "
            f"{or_nearest(partition.topic, script.partitions)}",
        )
        return None
    if partition.number >= count:
        script.out.add(
            node,
            f"{shorten(partition.topic)} has {count} partitions so far, {partition.topic}-0 "
            f"to {partition.topic}-{count - 1} —"
            " write one of them",
        )
        return None
    if "for" not in written and not written.get("throws"):
        script.out.add(
            written.node, "The poison neither hangs nor throws — write for: 30s, or throws: true"
        )
        return None
    return Poison(
        partition.topic,
        partition.number,
        written.get("offset"),
        written.get("for", NOTHING),
        written.get("times"),
        written.get("throws", False),
    )


def say(deed: Poison) -> str:
    which = "the next record" if deed.offset is None else f"record {deed.offset}"
    times = f", {deed.times} times" if deed.times else ""
    hangs = "" if deed.throws and deed.for_.is_zero else f"hangs its handler{for_(deed.for_)}"
    does = " and ".join(x for x in (hangs, "makes it throw" if deed.throws else "") if x)
    return f"{which} of {deed.topic}-{deed.partition} {does}{times}"


ACTION = ScriptAction("poison", SECTION, read, {Poison: say}, is_of_streams=True)
