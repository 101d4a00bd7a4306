"""Estimates against what the simulation really draws, and range's skew against the assignor
itself.
"""

from __future__ import annotations

import random

import pytest
from lint_worlds import consumer, topic, world

from rebalsim.assignors.claim import Claim
from rebalsim.assignors.registry import client_assignor
from rebalsim.domain.draws import Draw
from rebalsim.lint.facts import selected_assignor
from rebalsim.lint.figures import deviation, high, low, mean, quantile, sum_high
from rebalsim.lint.registry import RULES
from rebalsim.lint.rules.range_skew import _counts
from rebalsim.simulation.randomness import Stream

DRAWS = {
    "constant": Draw(a=5_000),
    "uniform": Draw("uniform", 1_000, 9_000),
    "normal": Draw("normal", 10_000, 2_000),
    "lognormal": Draw("lognormal", 2_000, 40_000),
    "exponential": Draw("exponential", 3_000),
    "capped": Draw("exponential", 3_000, 20_000),
    "choice": Draw("choice", values=(1_000, 2_000, 30_000)),
    "tailed": Draw(a=2_000, tail_share=0.02, tail_us=400_000),
    "tailed uniform": Draw("uniform", 1_000, 3_000, tail_share=0.1, tail_us=50_000),
}
COUNT = 40_000


@pytest.mark.parametrize("name", DRAWS)
def test_mean_deviation_and_worst_are_those_of_the_simulation(name: str) -> None:
    draw = DRAWS[name]
    stream = Stream(12345)
    drawn = sorted(stream.draw(draw) for _ in range(COUNT))
    average = sum(drawn) / COUNT
    assert mean(draw) == pytest.approx(average, rel=0.05)
    spread = (sum((d - average) ** 2 for d in drawn) / COUNT) ** 0.5
    assert deviation(draw) == pytest.approx(spread, rel=0.15, abs=1)
    assert high(draw) == pytest.approx(drawn[int(0.999 * COUNT)], rel=0.2)
    assert low(draw) <= drawn[int(0.05 * COUNT)] + 1
    assert quantile(draw, 0.5) == pytest.approx(drawn[COUNT // 2], rel=0.1)


@pytest.mark.parametrize("name", DRAWS)
def test_a_batch_is_hardly_ever_worse_than_its_likely_worst(name: str) -> None:
    draw = DRAWS[name]
    stream = Stream(7)
    batches = [sum(stream.draw(draw) for _ in range(100)) for _ in range(300)]
    assert sum(1 for b in batches if b > sum_high(draw, 100) * 1.001) <= 6  # 2 %
    assert sum_high(draw, 100) < 3 * max(batches)  # and it is no fantasy either


def test_the_skew_is_what_range_really_does() -> None:
    chance = random.Random(3)
    assign = client_assignor("range").assign
    for _ in range(60):
        topics = tuple(topic(f"t{n}", chance.randint(1, 9)) for n in range(chance.randint(1, 6)))
        names = [t.name for t in topics]
        consumers = [
            consumer(
                f"c{n}",
                topics=tuple(chance.sample(names, chance.randint(1, len(names)))),
                partition_assignment_strategy=("range",),
                group_instance_id=f"i{chance.randint(0, 99)}-{n}"
                if chance.random() < 0.5
                else None,
            )
            for n in range(chance.randint(1, 5))
        ]
        scenario = world(*consumers, topics=topics)
        claims = [
            Claim(f"m{n}", c.topics, c.config.group_instance_id) for n, c in enumerate(consumers)
        ]
        given = assign({t.name: t.partitions for t in topics}, claims)
        assert _counts(scenario, consumers) == [len(given[f"m{n}"]) for n in range(len(consumers))]


@pytest.mark.parametrize(
    ("lists", "assignor"),
    [
        ([("range",)], "range"),
        ([("range", "cooperative-sticky"), ("cooperative-sticky",)], "cooperative-sticky"),
        ([("range",), ("roundrobin",)], ""),
        (
            [("range", "sticky"), ("sticky", "range")],
            "sticky",
        ),  # a tie: Java's order of the names decides
        ([("range", "roundrobin"), ("roundrobin", "range"), ("range", "roundrobin")], "range"),
    ],
)
def test_the_group_chooses_by_vote(lists: list[tuple[str, ...]], assignor: str) -> None:
    assert (
        selected_assignor(
            [
                consumer(f"c{n}", partition_assignment_strategy=listed)
                for n, listed in enumerate(lists)
            ]
        )
        == assignor
    )


def test_no_rule_stumbles_over_strange_settings() -> None:
    """Nought, huge, and everything at once: a rule finds something or nothing, and always says
    finite things.
    """
    from lint_strange import strange_world

    chance = random.Random(11)
    told = 0
    for _ in range(250):
        scenario = strange_world(chance)
        for checked in RULES:
            for finding in checked.find(scenario):
                told += 1
                assert " — " in finding.message and len(finding.message) < 700, finding.message
                assert (
                    "nan" not in finding.message.split() and "inf" not in finding.message.split()
                ), finding.message
    assert told > 500
