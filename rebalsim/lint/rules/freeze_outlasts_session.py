"""A freeze longer than the session: the member is expelled, and doesn't know it when it thaws."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Freeze
from rebalsim.lint.facts import say, say_names, session_key
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import expelled_by, strikes_of

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
        what = "a random freeze" if freeze.deed is None else "the freeze"
        for who, lasts, session, enough in expelled_by(scenario, freeze):
            yield Finding(
                f"{what} of {say_names(who)} lasts up to {say(lasts)}, the session {say(session)} "
                "from the last heartbeat on: expelled, its last batch is handled twice, and it "
                f"joins anew — write {session_key(who[0])}: {enough}",
                freeze.place,
                fix=((session_key(who[0]), enough),),
            )
