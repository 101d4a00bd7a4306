"""Grid arithmetic: every rank is one point and seed, each exactly once, in slices that add up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rebalsim.scenario.grid import Order, digits_of, even_order, first_points, groups, number_of

GRIDS = st.lists(st.lists(st.floats(1.0, 500.0), min_size=1, max_size=5), min_size=1, max_size=4)


def order_of(costs: list[list[float]], seeds: int, unit: float = 0.1) -> Order:
    return Order(tuple(len(c) for c in costs), seeds, tuple(tuple(c) for c in costs), unit)


def test_digits_and_back() -> None:
    radices = (3, 1, 7, 2)
    for number in range(3 * 7 * 2):
        assert number_of(digits_of(number, radices), radices) == number
    assert digits_of(41, radices) == [2, 0, 6, 1]


@given(GRIDS, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_every_point_and_seed_is_walked_once(costs: list[list[float]], seeds: int) -> None:
    order = order_of(costs, seeds)
    walker = order.walker()
    walked = list(walker.walk(0, order.size))
    assert sorted(walked) == [(p, s) for p in range(order.size // seeds) for s in range(seeds)]
    assert [walker.rank_of(p, s) for p, s in walked] == list(range(order.size))


@given(GRIDS, st.integers(1, 4), st.floats(0.05, 200.0), st.integers(1, 50))
@settings(max_examples=100, deadline=None)
def test_slices_cover_all_and_cost_what_their_runs_cost(
    costs: list[list[float]], seeds: int, target: float, most: int
) -> None:
    order = order_of(costs, seeds)
    slices = list(order.slices(target, most))
    assert [s.start for s in slices] == [0, *(s.stop for s in slices[:-1])]
    assert slices[-1].stop == order.size
    walker = order.walker()
    for piece in slices:
        spent = 0.0
        for point, _ in walker.walk(piece.start, piece.stop):
            factor = order.unit
            for axis, digit in enumerate(digits_of(point, order.radices)):
                factor *= order.costs[axis][digit]
            spent += factor
        assert abs(spent - piece.cost) <= 1e-6 * max(1.0, spent)
        assert piece.stop - piece.start <= most
        assert piece.cost <= target * (1 + 1e-9) or piece.stop - piece.start == 1
    assert abs(sum(s.cost for s in slices) - order.total()) <= 1e-6 * order.total()


def test_the_expensive_come_first() -> None:
    order = order_of([[1.0, 1.2], [1.0, 600.0, 30.0]], 2)
    walked = [point for point, seed in order.walker().walk(0, order.size) if seed == 0]
    assert [digits_of(p, order.radices)[1] for p in walked] == [1, 1, 2, 2, 0, 0]


def test_the_end_is_cut_finer() -> None:
    slices = list(even_order((1000,), 10, unit=0.01).slices(1.0))
    assert {round(s.cost, 6) for s in slices[:90]} == {1.0}
    assert (
        all(0.1 <= round(s.cost, 6) <= 0.25 for s in slices[90:])
        and sum(s.stop - s.start for s in slices) == 10_000
    )


def test_a_huge_grid_is_cut_lazily() -> None:
    order = even_order((1000, 1000, 1000, 1000), 10, unit=0.001)
    first = next(order.slices(1.0, 1000))
    assert first.start == 0 and first.stop == 1000
    far = order.size - 5
    assert len(list(order.walker().walk(far, order.size))) == 5


def test_groups_keep_order_and_bounds() -> None:
    order = even_order((40,), 5, unit=0.1)
    batches = list(groups(order.slices(0.5, 100), cost=2.0, most=3))
    assert all(len(b) <= 3 for b in batches)
    assert [s.start for b in batches for s in b] == [s.start for s in order.slices(0.5, 100)]


def test_a_look_at_the_grid_reaches_both_ends() -> None:
    assert list(first_points((10, 10), 5)) == [0, 24, 49, 74, 99]
    assert list(first_points((2, 2), 5)) == [0, 1, 2, 3]
