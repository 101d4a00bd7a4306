"""Random stories: the same text for a seed, safe with faults on, settled without; and what breaks a promise is found and told."""

from __future__ import annotations

import pytest

from rebalsim.analysis import analysis
from rebalsim.analysis.values import Violation
from rebalsim.scenario.load import story_of
from rebalsim.simulation import world
from rebalsim.verify import seeds
from rebalsim.verify.random_stories import HEALED_S, random_story


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_stories_are_safe_and_settle(first: int) -> None:
    for seed in range(first, first + 20):
        broken = seeds.check_seed(seed)
        assert broken is None, f"rebalsim seeds --from {seed} --count 1\n{broken.why}\n{broken.story}"


@pytest.mark.parametrize("seed", [101248, 102128, 205801, 206567, 207320])
def test_what_a_random_story_once_broke_stays_mended(seed: int) -> None:
    """101248: a coordinator that had moved answered over the connection that its sender's restart was about to make.
    102128: a coordinator took over in generation 6 and went back to 1, the last that was written, as Kafka does; the group settled in 3.
    205801: a JoinGroup behind a heartbeat behind a commit, held up by a cut, was never taken up; nor was its time over for a process that froze.
    206567: a busy member reads of generation 5 when a new coordinator has gone back to 3, and then joins 4. 207320: nobody who lives asks for bills."""
    broken = seeds.check_seed(seed)
    assert broken is None, f"{broken.why}\n{broken.story}"


@pytest.mark.parametrize("seed", [5001, 5006, 5011, 5013, 5023, 5058, 5109, 5129])
def test_what_once_differed_between_asleep_and_tick_by_tick_stays_mended(seed: int) -> None:
    """5001: steady times that ended in poll() began again in it. 5006: a coordinator's connection that was not made yet. 5011: a poll() that ended
    in a freeze; a beat sent by poll(). 5013: when steady times may begin. 5023: failed beats in a row. 5058: a Fetch from a broker that leads no more.
    5109: a clock that rang in a freeze. 5129: positions asked for by a member that the group had lost."""
    broken = seeds.check_seed(seed, dense=True)
    assert broken is None, f"{broken.why}\n{broken.story}"


def test_a_seed_always_writes_the_same_story_and_another_seed_another() -> None:
    assert random_story(7) == random_story(7) != random_story(8)


def test_every_kind_of_action_comes_up() -> None:
    texts = "\n".join(random_story(seed) for seed in range(400))
    for word in ("join:", "crash:", "freeze:", "hang:", "slow:", "rolling_bounce:", "cut:", "add_latency:", "broker_restart:", "coordinator_failover:",
                 "add_partitions:", "enforce_rebalance:", "set_rate:", "poison:", "subscribe:", "broker_upgrade:", "random_faults:"):
        assert word in texts


def test_no_harm_begins_after_the_healing() -> None:
    for seed in range(200):
        scenario = story_of(random_story(seed).encode(), "x").scenario()
        assert all(action.at_us <= (HEALED_S - 80) * 1_000_000 for action in scenario.script)


def test_a_broken_invariant_is_told_with_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "find_violations", lambda *_: [Violation("two-owners", 5_000_000, "orders-0 is held by c0 and c1", ())])
    broken = seeds.check_seed(3)
    assert broken is not None and "two-owners at 5.000000 s" in broken.why and broken.story == random_story(3)


def test_a_group_that_never_settles_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "random_story", lambda seed: (
        "topics: {orders: 2}\ngroup: {members: 2, config: {max.poll.interval.ms: 10s}}\nreplay: as-written\nhorizon: 1m\n"
        "script:\n  - {at: 55s, hang: {members: c0, for: 1h}}\n  - {at: 56s, enforce_rebalance: c1}\n"))
    broken = seeds.check_seed(0)
    assert broken is not None and "not settled" in broken.why


def test_an_error_is_told_with_where_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("of all things")

    monkeypatch.setattr(seeds, "play", fails)
    broken = seeds.check_seed(1)
    assert broken is not None and "ValueError: of all things" in broken.why
    assert world.play is not fails
