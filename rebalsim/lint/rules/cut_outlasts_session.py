"""A network cut longer than the session: the member is expelled and goes on reading."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Cut
from rebalsim.lint.facts import heartbeat_us, say, say_names, session_key
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import Strike, expelled_by, strikes_of

RULE = Rule(
    id="cut-outlasts-session",
    heading="Faults",
    title="A network cut outlasts the session",
    what="The network between a consumer and its coordinator is cut, told in the script or at "
    "random, for longer at worst than the session "
    "less one heartbeat interval.",
    why="The coordinator expels the member. The Java client does not know: its own session timer "
    "only makes it look for the coordinator "
    "again, and it keeps its partitions. If it still reaches the other brokers it goes on "
    "reading records that the new owner reads too, "
    "until it hears UNKNOWN_MEMBER_ID; its commits are all refused.",
    fix="Make session.timeout.ms longer than the cuts you expect, and the handler idempotent.",
    example="cut: {member: 1, for: 60s}\nsession.timeout.ms: 45s          # 15 s with two owners",
    source="AbstractCoordinator.HeartbeatThread (session expiry marks the coordinator unknown); "
    "ConsumerCoordinator.onPartitionsLost.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for cut in strikes_of(scenario, Cut):
        yield from _cuts(scenario, cut)


def _cuts(scenario: Scenario, cut: Strike) -> Iterator[Finding]:
    from_all = not isinstance(cut.deed, Cut) or cut.deed.from_all_brokers
    for who, lasts, session, enough in expelled_by(scenario, cut):
        beside = lasts - session + heartbeat_us(scenario, who[0])
        outcome = (
            "its partitions move, and it rejoins after the cut"
            if from_all
            else f"it may read on beside the new owners for up to {say(beside)}"
        )
        yield Finding(
            f"{say_names(who)} cannot reach {'any broker' if from_all else 'the coordinator'} "
            f"for up to {say(lasts)}, and the session is "
            f"{say(session)}: expelled, {outcome} — write {session_key(who[0])}: {enough}",
            cut.place,
            fix=((session_key(who[0]), enough),),
        )
