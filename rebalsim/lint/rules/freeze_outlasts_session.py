"""A freeze longer than the session: the member is expelled, and doesn't know it when it thaws."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Freeze
from rebalsim.lint.facts import (
    alike,
    heartbeat_us,
    is_classic,
    named,
    round_up,
    say,
    say_names,
    say_setting,
    session_key,
    session_us,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import Strike, strikes_of

RULE = Rule(
    id="freeze-outlasts-session",
    heading="Faults",
    title="A freeze outlasts the session",
    what="A freeze (GC pause, suspended machine), told in the script or at random, lasts at worst "
    "longer than the session less one "
    "heartbeat interval.",
    why="Nothing of the process runs, so no heartbeat is sent and the coordinator removes the "
    "member. When it thaws it takes itself for a "
    "member: it handles the rest of its batch, its commit is refused, and those records are "
    "handled a second time by the new owner. "
    "Then it joins again: two disturbances for one pause of the garbage collector.",
    fix="Make session.timeout.ms longer than the longest freeze you expect plus a heartbeat, or "
    "get rid of the freeze (heap, collector, "
    "CPU limits).",
    example="session.timeout.ms: 10s\nfreeze: {member: 1, for: 15s}    # → session.timeout.ms: 20s",
    source="ConsumerCoordinator: onPartitionsLost after UNKNOWN_MEMBER_ID; KIP-735 raised the "
    "default to 45 s for this reason.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for freeze in strikes_of(scenario, Freeze):
        yield from _freezes(scenario, freeze)


def _freezes(scenario: Scenario, freeze: Strike) -> Iterator[Finding]:
    lasts, frozen = high(freeze.for_), named(scenario, freeze.consumers)
    what = "a random freeze" if freeze.deed is None else "the freeze"
    for (session, beat, _), who in alike(
        frozen, lambda c: (session_us(scenario, c), heartbeat_us(scenario, c), is_classic(c))
    ):
        if lasts <= session - beat:
            continue
        yield Finding(
            f"{what} of {say_names(who)} lasts up to {say(lasts)}, the session {say(session)} "
            "from the last heartbeat on: expelled, its last "
            f"batch is handled twice, and it joins anew — write {session_key(who[0])}: "
            f"{say_setting(round_up(1.1 * lasts + beat, 5 * SECOND))}",
            freeze.place,
            fix=((session_key(who[0]), say_setting(round_up(1.1 * lasts + beat, 5 * SECOND))),),
        )
