"""A dead owner's transaction that is open for longer than its session."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import applications, is_classic, place

RULE = Rule(
    id="streams-transaction-outlives-session",
    heading="Kafka Streams",
    title="A dead owner's transaction outlives its session",
    what="processing.guarantee is exactly_once_v2, and transaction.timeout.ms is longer than the "
    "session.",
    why="Restoration reads committed records only, and stops at the first open transaction. After "
    "a crash the group hands the tasks on when the session has run out, and the new owner then "
    "waits until the brokers have aborted what the dead one had begun.",
    fix="Make transaction.timeout.ms no longer than session.timeout.ms; 10 s is Kafka Streams' "
    "own.",
    example="streams: {config: {processing.guarantee: exactly_once_v2,\n"
    "                   transaction.timeout.ms: 60s}}   # → 10s",
    source="Kafka Streams under exactly-once: restoration with read_committed; KIP-447.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        if not app.config.is_exactly_once or not members:
            continue
        session = (
            min(c.config.session_timeout_us for c in members)
            if is_classic(app)
            else app.config.streams_session_timeout_us
        )
        timeout = app.config.transaction_timeout_us
        if timeout > session:
            yield Finding(
                f"a crashed owner's transaction stays open for {say(timeout)}, and its session "
                f"runs out after {say(session)}: who takes over waits for the former — write "
                f"transaction.timeout.ms: {session // 1000}",
                place(group),
                fix=(("streams.config.transaction.timeout.ms", str(session // 1000)),),
            )
