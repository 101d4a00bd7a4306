"""Members stop gracefully."""

from __future__ import annotations

from rebalsim.domain.deed import Deed
from rebalsim.domain.script import Leave
from rebalsim.scenario.action_words import apart, who_does
from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import Choice, Field, Section, Written, build
from rebalsim.scenario.profiles import first_that_may_leave_static, say_client
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.script_action import ScriptAction
from rebalsim.scenario.script_cast import ScriptCast, names_of
from rebalsim.scenario.script_language import IN_GROUP, PROCESS, STAGGER, WHO
from rebalsim.scenario.source import shorten

SECTION = Section(
    "leave",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        STAGGER,
        Field(
            "option",
            Choice("default", "leave", "remain"),
            "Java's close option: default (static members stay), leave, or"
            " remain (under the consumer protocol a dynamic member leaves all the same, as Kafka "
            "4.3.1's client does).",
            target="option",
        ),
    ),
    "Members stop gracefully.",
    shorthand=word_of("members"),
)


def read(script: ScriptCast, written: Written, line: int) -> Deed | None:
    found = script.seats_of(written)
    if written.get("option", "default") == "leave":
        _check_can_leave(script, found, written)
    for _, seat in found:
        seat.is_running, seat.gone_line, seat.gone_how = False, line, "it leaves"
    return build(Leave, written, consumers=names_of(found)) if found else None


def _check_can_leave(
    script: ScriptCast, found: list[tuple[Roster, Seat]], written: Written
) -> None:
    """A static member leaves on close only where close() has an option for it (KIP-1092):
    what it is may change with a deploy before this.
    """
    for roster, seat in found:
        spec = script.resolver.consumer(roster, seat)
        if spec.config.group_instance_id is None or spec.habits.may_leave_static:
            continue
        if newer := first_that_may_leave_static(spec.client):
            whose = f"a {say_client(spec.client)} client {spec.client_version}"
            then = f'write client_version: "{newer}", or leave option out'
        else:
            whose, then = f"{spec.client}", "leave option out"
        script.out.add(
            written.at["option"],
            f"{shorten(seat.name)} is static, and {whose} has no option with which a static "
            "member leaves when it closes"
            f" (Java's has since 4.1) — {then}",
        )
        return


def say(deed: Leave) -> str:
    option = f" with close option {deed.option}" if deed.option != "default" else ""
    return who_does(deed.consumers, "leaves", "leave") + apart(deed.stagger_us) + option


ACTION = ScriptAction("leave", SECTION, read, {Leave: say}, is_of_streams=True)
