"""A packed trace reads like the list of events that it was packed from."""

from __future__ import annotations

import pickle

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.ids import Partition
from rebalsim.scenario.load import load_scenario
from rebalsim.simulation import world
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.ledger import Ledger, events_at

STORIES = [
    ("scale-out", "cooperative"),
    ("rolling-bounce", "eager"),
    ("migration-to-consumer", "as-written"),
    ("topic-growth", "eager"),
]


def _packed(events: list[TraceEvent], piece: int) -> Ledger:
    ledger = Ledger()
    for at in range(0, len(events), piece):
        ledger.extend(events[at : at + piece])
    return ledger


def test_everything_is_found_where_it_was() -> None:
    events = list(play(load_scenario("rolling-bounce").scenario("cooperative"), wire=True).events)
    assert len(events) > 3 * 1024, "more than a few pages"
    ledger = _packed(events, 700)
    assert list(ledger) == events
    assert [ledger[n] for n in range(len(ledger))] == events
    assert [type(ledger[-n]) for n in range(1, 50)] == [
        type(events[-n]) for n in range(1, 50)
    ] and ledger[-1] == events[-1]
    assert ledger[1000:3000:7] == events[1000:3000:7]
    for numbers in (
        range(len(events)),
        range(5, len(events), 3),
        range(0, len(events), 40),
        [1023, 1024, 2047],
        [],
    ):
        assert (
            list(events_at(ledger, numbers))
            == list(events_at(events, numbers))
            == [events[n] for n in numbers]
        )
    assert ledger == events and events == ledger and ledger != events[:-1]
    with pytest.raises(IndexError):
        _ = ledger[len(events)]


def test_facts_of_all_sizes_and_sorts_are_kept() -> None:
    orders = Partition("orders", 3)
    events: list[TraceEvent] = [
        *[
            ev.ConsumerStarted(at_us, f"c{life}", -life)
            for life, at_us in enumerate((0, 127, 128, 32767, 32768, (1 << 31) - 1, 1 << 31))
        ],
        *[
            ev.CloseBegan(at_us, f"pod-{at_us}") for at_us in range(300)
        ],  # more names than a byte can number
        ev.ConsumerStarted(1 << 40, "c1", 2),  # beyond four bytes
        ev.RecordsDelivered(
            1 << 41, "c0", {orders: (0, 7, 1 << 33)}
        ),  # cannot be looked up by value
        ev.ConsumerStarted((1 << 40) + 1, "c0", -1),
        ev.HandlerStuck(1 << 42, "c0", "hang", (orders,)),
    ]
    assert list(_packed(events, 2)) == events
    assert list(pickle.loads(pickle.dumps(_packed(events, 2)))) == events


@pytest.mark.parametrize(("story", "variant"), STORIES)
def test_a_run_that_packs_its_trace_tells_and_means_the_same(
    story: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = load_scenario(story).scenario(variant)
    plain = play(scenario)
    monkeypatch.setattr(world, "LONG", 20)
    monkeypatch.setattr(world, "PIECE", 7)
    packed = play(scenario)
    assert isinstance(plain.events, list) and isinstance(packed.events, Ledger)
    assert packed == plain
    assert analyse(packed).summary == analyse(plain).summary
    assert [p.cause for p in analyse(packed).pauses] == [p.cause for p in analyse(plain).pauses]
