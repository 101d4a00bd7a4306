"""A poison record that outlasts max.poll.interval.ms: it expels one owner after the other and is
never got past.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Poison
from rebalsim.lint.facts import everyone, say
from rebalsim.lint.figures import high, low
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of

RULE = Rule(
    id="poison-travels",
    heading="Faults",
    title="A poison record expels one owner after the other",
    what="A poison record hangs the handler for longer than max.poll.interval.ms, at each "
    "delivery.",
    why="The owner is expelled before it is past the record, its offset is not committed, and "
    "the next owner gets it first of all. So it "
    "goes round the group: each stop costs max.poll.interval.ms and two disturbances (the "
    "expulsion, and the return), and the partition "
    "makes no progress ever.",
    fix="Bound the time for one record and put what fails aside (a dead-letter topic); in the "
    "story: `times`, after which it is skipped. "
    "A longer max.poll.interval.ms than the hang lets one member get past it.",
    example=(
        "poison: {partition: orders-3, for: 6m}    # max.poll.interval.ms: 5m\n"
        "# → poison: {partition: orders-3, for: 6m, times: 3}, as a dead-letter\n"
        "# topic does"
    ),
    source="AbstractCoordinator.HeartbeatThread (poll timeout); a commit by an expelled member is "
    "refused (UNKNOWN_MEMBER_ID).",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, Poison):
        if deed.times is not None or deed.throws:
            continue
        readers = [c for c in everyone(scenario) if c.subscribes_to(deed.topic)]
        limit = min((c.config.max_poll_interval_us for c in readers), default=0)
        if readers and high(deed.for_) > limit:
            always = "each" if low(deed.for_) > limit else "many a"
            yield Finding(
                f"the poison record in {deed.topic}-{deed.partition} hangs a handler for up to "
                f"{say(high(deed.for_))}, longer than "
                f"max.poll.interval.ms {say(limit)}: it expels {always} owner in turn, and the "
                "partition never gets past it — bound the "
                "handler's time per record, or say times: after how many it is skipped",
                place_of(action),
            )
