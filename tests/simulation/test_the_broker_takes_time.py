"""A coordinator takes a rebalance's requests in one at a time, and a broker's answers leave one at a
time: a large group takes longer for that, and a broker under other load makes everybody wait.
"""

from __future__ import annotations

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.machine import FREE, RequestCosts
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.jsonl import lines_for
from rebalsim.trace.trace import Trace

COSTS = RequestCosts()
REBALANCE = """
cluster: {latency: 1ms, costs: %s}
topics: {orders: {partitions: 4}}
group: {members: %d, handler: 1ms, config: {partition.assignment.strategy: [range]}}
script: [{at: 30s, enforce_rebalance: c0}]
replay: as-written
horizon: 40s
"""
BUSY = """
cluster: {brokers: 2, latency: 1ms}
topics: {orders: {partitions: 4, rate: 10/s, replicas: 2}}
group: {members: 2, handler: 1ms, config: {group.protocol: %s}}
script: [{at: 30s, broker_busy: {broker: %s, wait: %s, for: 20s}}, {at: 40s, join: 1}]
replay: as-written
horizon: 70s
"""


def told(text: str, *, plain: bool = False, wire: bool = False) -> Trace:
    return play(story_of(text.encode(), "story").check().scenario(), plain=plain, wire=wire)


def handed_out_us(members: int, costs: str = "{}") -> int:
    """From the last one's joining until everybody has its assignment."""
    events = told(REBALANCE % (costs, members)).events
    began = max(e.at_us for e in events if type(e) is ev.BarrierCompleted)
    return max(e.at_us for e in events if type(e) is ev.AssignmentReceived) - began


def test_three_hundred_members_take_longer_than_ten_by_what_their_answers_take() -> None:
    each = COSTS.join_answer_us + COSTS.sync_answer_us  # no two of these leave at once
    assert handed_out_us(300) - handed_out_us(10) == pytest.approx(290 * each, rel=0.15)


def test_a_story_can_say_what_they_take() -> None:
    free = ", ".join(
        f"{key}: 0" for key in ("join", "join_answer", "sync", "sync_answer", "offset_fetch")
    )
    assert handed_out_us(50, f"{{{free}}}") == handed_out_us(5, f"{{{free}}}")
    slow = handed_out_us(50, "{join_answer: 1ms}") - handed_out_us(50)
    assert slow == pytest.approx(50 * (1000 - COSTS.join_answer_us), rel=0.1)


def test_two_groups_of_one_partition_of_the_offsets_topic_wait_for_each_other() -> None:
    def joined(partitions: int) -> list[int]:
        text = f"""
            cluster: {{brokers: 2, config: {{offsets.topic.num.partitions: {partitions}}}, costs: {{join: 40ms}}}}
            topics: {{t: 4}}
            groups: {{a: {{members: 1}}, b: {{members: 1}}}}
            replay: as-written
            horizon: 20s
            """
        return [e.at_us for e in told(text).events if type(e) is ev.MemberAdded and e.how == "new"]

    assert min(joined(50)) == max(joined(50))  # a coordinator each
    first, second = joined(1)
    assert second - first == 40_000


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_what_a_busy_broker_is_asked_waits_until_it_is_busy_no_more(protocol: str) -> None:
    trace = told(BUSY % (protocol, "coordinator", "200ms"), wire=True)
    beats = [
        (e.at_us, e.at_us - e.sent_at_us)
        for e in trace.events
        if type(e) is ev.ResponseReceived and e.api.endswith("Heartbeat") and e.consumer == "c0"
    ]
    busy = [took for at, took in beats if 31_000_000 < at < 50_000_000]
    quiet = [took for at, took in beats if at < 30_000_000 or at > 51_000_000]
    assert min(busy) >= 200_000 and len(busy) > 2
    assert min(quiet) < 10_000


def test_another_broker_is_not() -> None:
    waits = {
        broker: analyse(told(BUSY % ("classic", broker, "300ms"))).measure("settle_time")
        for broker in (0, 1)
    }
    assert abs(waits[0] - waits[1]) > 300_000  # type: ignore[operator]


def test_the_script_says_it() -> None:
    acted = [e for e in told(BUSY % ("classic", "1", "50ms")).events if type(e) is ev.ScriptActed]
    assert acted[0].text == "broker 1 is busy: requests wait 50ms for 20s"
    assert acted[0].targets == ("broker-1",)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["classic"])  # not yet event by event under the other
@pytest.mark.parametrize("wait", ["200ms", "10ms..400ms"])
def test_asleep_and_awake_the_same_comes_of_it(protocol: str, wait: str) -> None:
    text = BUSY % (protocol, "coordinator", wait)
    assert list(lines_for(told(text))) == list(lines_for(told(text, plain=True)))


def test_bare_rules_take_no_time() -> None:
    assert all(getattr(FREE, name) == 0 for name in RequestCosts.__dataclass_fields__)
