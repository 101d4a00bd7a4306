"""From a point's number to its values and settings."""

from __future__ import annotations

from rebalsim.domain.sweep import Base, Plan
from rebalsim.scenario.plan import parse_plan
from rebalsim.spark.points import Points


def plan_of(text: str) -> Plan:
    return parse_plan(text, "plan.yaml", lambda name: Base(name, name, ""))


def test_every_point_has_the_values_of_its_digits() -> None:
    points = Points(
        plan_of(
            "scenario: [a, b]\naxes: {group.members: [3, 6], group.config.session.timeout.ms: "
            "[6s, 45s]}\nset: {horizon: 5m}\n"
        )
    )
    assert [points.base(p).name for p in range(8)] == ["a"] * 4 + ["b"] * 4
    assert points.labels(5) == {"members": "3", "session_timeout_ms": "45s"}
    assert points.values(6) == {"members": 6.0, "session_timeout_ms": 6_000_000.0, "scenario": "b"}
    assert points.settings(6) == (
        ("horizon", "5m"),
        ("group.members", "6"),
        ("group.config.session.timeout.ms", "6s"),
    )


def test_conditions_on_the_variant_drop_variants_not_points() -> None:
    points = Points(
        plan_of(
            "scenario: a\naxes: {group.members: [3, 6]}\nwhere: [members > 2, 'variant == "
            '"eager" or members > 3\']\n'
        )
    )
    assert [points.is_played(p) for p in (0, 1)] == [True, True]
    assert points.variants(0, ("eager", "cooperative")) == ("eager",)
    assert points.variants(1, ("eager", "cooperative")) == ("eager", "cooperative")


def test_samples_are_drawn_by_number_and_spread_as_they_should() -> None:
    text = (
        "scenario: a\naxes:\n  group.life.start: {as: start, sample: {median: 10s, p99: 60s}}\n  "
        "group.members: {sample: 3..12}\n"
        "  topics.orders.rate: {as: rate, sample: 0.5/s..1.5/s}\nsamples: 4000\n"
    )
    points = Points(plan_of(text))
    drawn = [points.values(p) for p in range(4000)]
    starts = sorted(float(v["start"]) for v in drawn)
    assert 9e6 < starts[2000] < 11e6 and 50e6 < starts[3960] < 72e6
    assert {float(v["members"]) for v in drawn} == {float(n) for n in range(3, 13)}
    rates = [float(v["rate"]) for v in drawn]
    assert 0.5 <= min(rates) < 0.51 and 1.49 < max(rates) <= 1.5
    again = Points(plan_of(text))
    assert again.values(1234) == points.values(1234)
    assert (
        points.labels(7)["start"].endswith("us")
        or points.labels(7)["start"].endswith("ms")
        or points.labels(7)["start"].endswith("s")
    )
