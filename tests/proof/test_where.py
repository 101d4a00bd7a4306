"""What the time goes to is told by where the work is when it is looked at."""

from __future__ import annotations

import signal
import time

import pytest

from rebalsim.proof.bench.where import CAN_LOOK, where
from rebalsim.scenario.load import load_scenario
from rebalsim.simulation.randomness import Stream
from rebalsim.simulation.world import play

pytestmark = pytest.mark.skipif(
    not CAN_LOOK, reason="this system has no timer of processor time, or its Python compiles"
)


def test_work_of_one_layer_counts_for_that_layer() -> None:
    stream = Stream(7)

    def work() -> None:
        began = time.process_time()
        while time.process_time() < began + 0.2:
            for _ in range(100):
                stream.unit()

    assert where(work) == {"chance": 1.0}


def test_a_run_is_told_by_all_its_layers_and_the_timer_is_as_before() -> None:
    scenario = load_scenario("scale-out").scenario("cooperative")
    before = signal.getsignal(signal.SIGPROF)
    shares = where(lambda: [play(scenario, seed=seed) for seed in range(150)])
    assert {
        "clients",
        "coordinator",
        "queue and network",
        "arrivals and batches",
    } <= shares.keys() and "analysis" not in shares
    assert sum(shares.values()) == pytest.approx(1.0) and list(shares.values()) == sorted(
        shares.values(), reverse=True
    )
    assert signal.getsignal(signal.SIGPROF) == before and signal.getitimer(signal.ITIMER_PROF) == (
        0.0,
        0.0,
    )
