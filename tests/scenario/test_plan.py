"""Plan files: what they mean, and every mistake in them told on its line."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.sweep import Base, Plan
from rebalsim.scenario.plan import parse_plan

GOOD = """\
title: Which session timeout
scenario: crash
axes:
  group.config.session.timeout.ms: {as: session, range: 6s..24s, step: 6s}
  group.config.heartbeat.interval.ms: {as: heartbeat, values: [1000, 3s]}
  group.members: [3, 6]
  topics.orders.rate: {log: 100/s..10000/s, count: 3}
  size:
    cases:
      small: {group.members: 3, topics.orders.partitions: 12}
      large one: {group.members: 30, topics.orders.partitions: 120}
where: session >= 3 * heartbeat
set: {horizon: 5m}
variants: [eager, cooperative]
seeds: {count: 20, first: 7}
minimise: [cost, p95 longest_pause, session]
costs: {member_hour: 0.12}
"""


def find(name: str) -> Base:
    if name == "nowhere":
        raise LookupError(
            "There is no scenario 'nowhere' — write a file's path or a stock story's name"
        )
    return Base(name, f"{name}.yaml", "topics: {}")


def plan_of(text: str) -> Plan:
    return parse_plan(text, "plan.yaml", find, reserved=("run", "rebalances", "scenario"))


def test_a_plan_says_what_it_means() -> None:
    plan = plan_of(GOOD)
    session, heartbeat, members, rate, size = plan.axes
    assert (session.name, session.kind) == ("session", "duration")
    assert [s.label for s in session.steps] == ["6s", "12s", "18s", "24s"]
    assert [s.number for s in session.steps] == [6e6, 12e6, 18e6, 24e6]
    assert session.steps[1].settings == (("group.config.session.timeout.ms", "12s"),)
    assert [(s.label, s.number) for s in heartbeat.steps] == [
        ("1000", 1e6),
        ("3s", 3e6),
    ]  # a bare number under a *.ms key is ms
    assert (members.name, members.kind, [s.number for s in members.steps]) == (
        "members",
        "number",
        [3, 6],
    )
    assert [s.label for s in rate.steps] == ["100/s", "1000/s", "10000/s"]
    assert size.kind == "text" and [s.label for s in size.steps] == ["small", "large one"]
    assert size.steps[1].settings == (("group.members", "30"), ("topics.orders.partitions", "120"))
    assert plan.points == 4 * 2 * 2 * 3 * 2
    assert (plan.first_seed, plan.seeds) == (7, 20)
    assert [(o.name, o.percentile) for o in plan.objectives] == [
        ("cost", None),
        ("longest_pause", 95.0),
        ("session", None),
    ]
    assert plan.heat == ("session", "heartbeat")
    assert plan.settings == (("horizon", "5m"),)


def test_samples_are_one_digit_for_all_sampled_axes() -> None:
    plan = plan_of(
        "scenario: crash\naxes:\n  group.life.start: {as: start, sample: {median: 10s, p99: "
        "60s}}\n  group.members: {sample: 3..12}\nsamples: 50\n"
    )
    assert plan.points == 50 and plan.radices == (1, 50)
    start, members = plan.sampled
    assert start.kind == "duration" and start.draw.shape == "lognormal"
    assert members.is_whole and (members.draw.a, members.draw.b) == (3, 12)


def test_a_range_may_be_cut_by_count_and_a_log_range_is_rounded_to_what_people_write() -> None:
    plan = plan_of(
        "scenario: crash\naxes:\n  group.members: {log: 10..500, count: 5}\n  "
        "group.handler.per_record: {range: 1ms..2ms, count: 3}\n"
    )
    assert [s.label for s in plan.axes[0].steps] == ["10", "27", "71", "190", "500"]
    assert [s.label for s in plan.axes[1].steps] == ["1ms", "1ms500us", "2ms"]


def test_every_written_value_measures_what_it_says() -> None:
    plan = plan_of(
        "scenario: crash\naxes: {a.b: [1KiB, 2KiB], c.d: ['5%', '10%'], e.f: [u, v], g.h: "
        "{range: 10%..30%, step: 10%}}\n"
    )
    assert [[s.number for s in a.steps] for a in plan.axes] == [
        [1024, 2048],
        [5, 10],
        [None, None],
        [10, 20, 30],
    ]
    assert [s.label for s in plan.axes[3].steps] == ["10%", "20%", "30%"]


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("scenario: crash\n", "1:1", "lacks 'axes'"),
        ("axes: {group.members: [3]}\n", "1:1", "lacks 'scenario'"),
        (
            "scenario: nowhere\naxes: {group.members: [3]}\n",
            "1:11",
            "There is no scenario 'nowhere'",
        ),
        ("scenario: crash\naxis: {}\naxes: {group.members: [3]}\n", "2:1", "did you mean 'axes'?"),
        ("scenario: crash\naxes: {group.members: [3, 3]}\n", "2:27", "a second time"),
        ("scenario: crash\naxes: {group.members: 3}\n", "2:23", "write a list of values"),
        ("scenario: crash\naxes: {group.members: {range: 3..9}}\n", "2:31", "step"),
        (
            "scenario: crash\naxes: {group.members: {range: 9..3, step: 1}}\n",
            "2:31",
            "does not grow",
        ),
        (
            "scenario: crash\naxes: {group.members: {range: 3..9s, step: 1}}\n",
            "2:31",
            "ends of different kinds",
        ),
        ("scenario: crash\naxes: {group.members: {range: 3..9, step: 0}}\n", "2:43", "is no step"),
        ("scenario: crash\naxes: {group.members: {log: 0..9}}\n", "2:29", "cannot begin at nought"),
        (
            "scenario: crash\naxes: {group.members: {range: 1..9, log: 1..9}}\n",
            "2:37",
            "stands beside",
        ),
        ("scenario: crash\naxes: {group.members: {}}\n", "2:23", "does not say what happens"),
        (
            "scenario: crash\naxes: {group.members: {as: rebalances, values: [3]}}\n",
            "2:28",
            "a column of the results",
        ),
        (
            "scenario: crash\naxes: {a.members: [3], b.members: [4]}\n",
            "2:24",
            "Two axes are called 'members'",
        ),
        (
            "scenario: crash\naxes: {group.members: [3]}\nwhere: [membrs > 3]\n",
            "3:9",
            "did you mean 'members'?",
        ),
        (
            'scenario: crash\naxes: {group.members: [3]}\nwhere: "members > 3s"\n',
            "3:17",
            "compares a duration",
        ),
        (
            "scenario: crash\naxes: {group.members: [3]}\nminimise: longest_paus\n",
            "3:11",
            "did you mean 'longest_pause'?",
        ),
        ("scenario: crash\naxes: {group.members: [3]}\nminimise: cost\n", "3:11", "add costs:"),
        ("scenario: crash\naxes: {group.members: [3]}\nheat: [members, x]\n", "3:17", "is no axis"),
        ("scenario: crash\naxes: {group.members: [3]}\nsamples: 5\n", "3:10", "no axis has sample"),
        ("scenario: crash\naxes: {group.members: [010]}\n", "2:24", "octal"),
        ("scenario: crash\naxes: {group.members: [3]}\nseeds: 0\n", "3:8", "out of bounds"),
        ("topics: {orders: 4}\ngroup: {members: 3}\n", "1:1", "This is a scenario, not a plan"),
        ("", "1:1", "empty"),
        (
            "scenario: crash\naxes: {"
            + ", ".join(f"a{i}.b{i}: {{range: 1..1000, step: 1}}" for i in range(4))
            + "}\n",
            "2:7",
            "1,000,000,000,000 points",
        ),
        (
            "scenario: crash\naxes: {group.members: {range: 1..1000000000, step: 1}}\n",
            "2:52",
            "1,000,000,000 values",
        ),
    ],
)
def test_mistakes(text: str, place: str, says: str) -> None:
    with pytest.raises(ProblemsError) as e:
        plan_of(text)
    problem = next((p for p in e.value.problems if says in p.message), None)
    assert problem is not None, str(e.value)
    assert f"{problem.line}:{problem.column}" == place


def test_all_mistakes_at_once() -> None:
    with pytest.raises(ProblemsError) as e:
        plan_of("scenario: nowhere\naxes: {group.members: [3, 3]}\nseeds: x\nminimise: nothing\n")
    assert [p.line for p in e.value.problems] == [1, 2, 3, 4]
