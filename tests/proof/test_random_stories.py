"""Random stories: the same text for a seed, safe with faults on, settled without; and what
breaks a promise is found and told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis import alarms, findings, values
from rebalsim.analysis.values import Violation
from rebalsim.proof import random_stories, seeds
from rebalsim.proof.random_stories import CLIENTS, LAST_S, random_story
from rebalsim.scenario.action_language import DEEDS
from rebalsim.scenario.connect_language import CONNECT_DEEDS
from rebalsim.scenario.load import story_of
from rebalsim.simulation import world


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        0,
        pytest.param(40, marks=pytest.mark.slow),
        *(pytest.param(first, marks=pytest.mark.soak) for first in (20, *range(60, 240, 20))),
    ],
)
def test_random_stories_are_safe_and_settle(first: int) -> None:
    for seed in range(first, first + 20):
        broken = seeds.check_seed(seed)
        assert broken is None, (
            f"rebalsim dev seeds --from {seed} --count 1\n{broken.why}\n{broken.story}"
        )


KEPT = Path(__file__).parent / "stories"


# the fault, and the kept story that it was found in
BROKE = {
    (
        "a coordinator that had moved answered over the connection that its sender's restart "
        "was about to make"
    ): 101248,
    (
        "a coordinator took over in generation 6 and went back to 1, the last that was "
        "written, as Kafka does; the group settled in 3"
    ): 102128,
    (
        "a JoinGroup behind a heartbeat behind a commit, held up by a cut, was never taken "
        "up; nor was its time over for a process that froze"
    ): 205801,
    (
        "a busy member reads of generation 5 when a new coordinator has gone back to 3, and "
        "then joins 4"
    ): 206567,
    "nobody who lives asks for bills": 207320,
    "a timer put off rang while its member slept, and was forgotten": 1013,
    "a deploy of members that another one has yet to start": 111,
    (
        "a static leader that returns never hears of partitions that came meanwhile, as with Kafka"
    ): 55,
    (
        "the last static member that comes back as classic turns the group without a round, "
        "and a hand-over under way is never finished: Kafka's"
    ): 400211,
    "the last one that turns the group the other way leaves a hand-over unfinished, too": 500076,
    "a thaw that woke the application put out the clock that it had just set": 500279,
    "who beats for a group that has turned classic dies of it, as with Kafka": 600046,
    "what a stale member is told of is none of its own": 600860,
    (
        "who joins anew has let go of what it had only just been handed, though no callback says so"
    ): 800224,
    (
        "an assignment whose answer a cut held up comes to somebody whom the group has "
        "removed, and who cannot commit"
    ): 802071,
    (
        "a coordinator's restart forgets the second round of a hand-over, and the static "
        "member that was to join it is restarted: Kafka's too"
    ): 805957,
    (
        "an assignment that its application had not come to before it left is applied "
        "nevertheless, as with Kafka"
    ): 1006282,
    (
        "who speaks the consumer protocol begins another group where a classic one is empty, "
        "and its epochs count anew"
    ): 1010353,
    (
        "asked for everything by another coordinator, a member does not name what its "
        "application has yet to come to; the broker hands that on"
    ): 5004033,
    (
        "a bounce restarts a member whose turn to start has yet to come, which then started a "
        "second time beside itself"
    ): 5004195,
    (
        "a librdkafka that once led minded the group's topics for ever, and had it join again "
        "and again"
    ): 1658,
    "the commit in a callback of sarama waited for an answer that had come": 2412,
    (
        "a franz-go read the answer to its SyncGroup so late that its session seemed over, "
        "and took what it had just lost"
    ): 3520,
    (
        "what members of librdkafka are given that asked for it before they subscribed to "
        "less is wanted by nobody"
    ): 62042,
    (
        "a sarama put out of the group while it was being given partitions lost none of them"
    ): 7001309,
}


# stories that take fifteen seconds and more
LONGEST = (
    ("who joins anew has let go of what it had only just been handed, though no callback says so"),
    "a Fetch from a broker that leads no more",
)


def each(faults: dict[str, int]) -> list[Any]:
    return [
        pytest.param(fault, marks=pytest.mark.soak if fault in LONGEST else ()) for fault in faults
    ]


@pytest.mark.slow
@pytest.mark.parametrize("fault", each(BROKE))
def test_what_a_random_story_once_broke_stays_mended(fault: str) -> None:
    broken = seeds.check_story((KEPT / f"{BROKE[fault]}.yaml").read_text())
    assert broken is None, f"{broken.why}\n{broken.story}"


DIFFERED = {
    "steady times that ended in poll() began again in it": 5001,
    "a coordinator's connection that was not made yet": 5006,
    "a poll() that ended in a freeze; a beat sent by poll()": 5011,
    "when steady times may begin": 5013,
    "failed beats in a row": 5023,
    "a Fetch from a broker that leads no more": 5058,
    "a clock that rang in a freeze": 5109,
    "positions asked for by a member that the group had lost": 5129,
    "the answer to a beat that was sent asleep wakes a poll()": 900054,
    "a pass of two halves": 1005,
    "passes up to a freeze, and not during it": 1019,
    "a Fetch that brings nothing": 1055,
    "the beat whose answer is awaited": 1091,
    "a commit that is due when the last one is answered": 1104,
    "chances taken before a process ends": 1120,
    "a beat that came before the group began to rebalance": 3000092,
    "the timer of commits without anything to commit": 3100009,
    "a beat that is overdue because the coordinator had to be found": 3100060,
    "two ids of one consumer whose sessions end at one instant": 3100209,
    "a session that ends before the first beat": 3100416,
    (
        "an answer about a partition that had been revoked woke a member, whose beats were "
        "never begun again"
    ): 3007502,
    "the looks of a heartbeat thread while its application was with a batch": 8000011,
    "who waits behind a beat that was made up for": 8000049,
    (
        "a member that rested did not see that the coordinator had gone back to the broker "
        "that returned"
    ): 8000131,
    (
        "who had nothing to read and thawed after its poll interval did not leave first, "
        "where its passes were slept through"
    ): 9100005,
    "a pass of poll() that finds a beat due, where nothing else is under way": 9200144,
    "a batch that takes the very last of what is buffered leaves nobody behind": 44000222,
    "who was read last stands last, though it was read while nobody looked": 44001098,
    "a broker that answered in quiet time turns to the next request a little later": 45000015,
    "a coordinator is found, and nobody says when the next beat is due": 46000020,
    "without latency what follows an answer of the log comes at its very instant": 459,
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", each(DIFFERED))
def test_what_once_differed_between_asleep_and_tick_by_tick_stays_mended(fault: str) -> None:
    broken = seeds.check_story((KEPT / f"{DIFFERED[fault]}.yaml").read_text(), plain=True)
    assert broken is None, f"{broken.why}\n{broken.story}"


def test_a_seed_always_writes_the_same_story_and_another_seed_another() -> None:
    assert random_story(7) == random_story(7) != random_story(8)


# random stories are of consumer groups; autoscalers, Kubernetes and Connect have stories of their own,
# and when each heartbeat left is for incidents that are played again
RECORDED = {"heartbeat", "refresh_metadata"}
APART = {"autoscale", "kubectl_rollout", "drain_node", "evict", "probe", *RECORDED, *CONNECT_DEEDS}


def test_every_kind_of_action_comes_up() -> None:
    texts = "\n".join(random_story(seed) for seed in range(400))
    for word in (
        *(deed for deed in DEEDS if deed not in APART),
        "random_faults:",
        "group.protocol: consumer",
        "group.instance.id",
        "after: a",
        "when: group is stable",
        "every: ",
        "as: deployment",
        "as: statefulset",
        *(f"client: {client}" for client in CLIENTS),
        "overrides: {c0: {client: java}}",
    ):
        assert word in texts


def test_a_story_of_another_client_differs_in_what_that_client_has_not_and_in_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = [random_story(seed) for seed in range(200)]
    monkeypatch.setattr(random_stories, "CLIENTS", {})
    java = [random_story(seed) for seed in range(200)]
    assert 20 < sum(one != other for one, other in zip(told, java)) < 100
    for one, other in zip(told, java):
        lines, others = one.splitlines(), other.splitlines()
        for line in [line for line in lines if line not in others] + [
            line for line in others if line not in lines
        ]:
            assert (
                line.startswith(("  client: ", "  overrides: ", "  config: {max.poll.records"))
                or "option: " in line
            )


def test_no_harm_begins_after_the_healing() -> None:
    for seed in range(200):
        scenario = story_of(random_story(seed).encode(), "x").scenario()
        assert all(
            action.at_us + (action.every_us or 0) * (action.times - 1) <= LAST_S * 1_000_000
            for action in scenario.script
        )


def test_phases_that_leave_a_gap_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    story = (
        "topics: {orders: 2}\ngroup: {members: 2}\nreplay: as-written\nhorizon: 3m\nscript:\n  - "
        "{at: 20s, crash: {members: c1, restart_after: 5s}}\n"
    )
    tally = seeds.Tally()
    assert seeds.check_story(story, tally=tally) is None and tally.phases > tally.pauses > 0
    monkeypatch.setattr(values.Pause, "phases", property(lambda pause: pause.story.phases[1:]))
    broken = seeds.check_story(story)
    assert broken is not None and "do not add up" in broken.why


def test_what_fell_between_two_rounds_is_allowed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    story = (
        (Path(__file__).parents[2] / "scenarios" / "static-torn-handover.yaml")
        .read_text()
        .partition("  - at: 5m ")[0]
    )
    story = story.replace(
        "  handler: 1ms",
        "  handler: 1ms\n  config: {partition.assignment.strategy: cooperative-sticky}",
    )
    story += "replay: as-written\nhorizon: 3m\n"
    assert seeds.check_story(story) is None
    monkeypatch.setattr(alarms, "find_torn", lambda *_: [])
    broken = seeds.check_story(story)
    assert broken is not None and "nobody holds orders-3" in broken.why


def test_a_partition_that_nobody_holds_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "_subscriptions", lambda *_: {"c0": ("orders", "bills")})
    broken = seeds.check_story(
        "topics: {orders: 2, bills: 1}\ngroup: {members: 1, topics: [orders]}\nreplay: "
        "as-written\nhorizon: 1m\n"
    )
    assert broken is not None and "nobody holds bills-0" in broken.why


def test_a_broken_invariant_is_told_with_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        findings,
        "find_violations",
        lambda *_: [Violation("two-owners", 5_000_000, "orders-0 is held by c0 and c1", ())],
    )
    broken = seeds.check_seed(3)
    assert (
        broken is not None
        and "two-owners at 5.000000 s" in broken.why
        and broken.story == random_story(3)
    )


def test_a_group_that_never_settles_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        seeds,
        "random_story",
        lambda seed: (
            "topics: {orders: 2}\ngroup: {members: 2, config: {max.poll.interval.ms: "
            "10s}}\nreplay: as-written\nhorizon: 1m\n"
            "script:\n  - {at: 55s, hang: {members: c0, for: 1h}}\n  - {at: 56s, "
            "enforce_rebalance: c1}\n"
        ),
    )
    broken = seeds.check_seed(0)
    assert broken is not None and "not settled" in broken.why


def test_an_error_is_told_with_where_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("of all things")

    monkeypatch.setattr(seeds, "play", fails)
    broken = seeds.check_seed(1)
    assert broken is not None and "ValueError: of all things" in broken.why
    assert world.play is not fails
