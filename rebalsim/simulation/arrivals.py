"""How a topic's records spread over its partitions, and over time: what the scenario says of
rates, laid out as flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebalsim.domain.scenario import RateStep, Topic
from rebalsim.simulation.flow import Flow

PIECES_OF_RAMP = 24  # while a rate changes, whoever counts on it looks again so often


def share_of(topic: Topic, number: int, count: int) -> float:
    """Which part of the topic's records this partition gets while there are so many; one without
    a weight weighs 1.
    """
    if not topic.weights:
        return 1.0 / count if count else 0.0
    weights = [topic.weights[n] if n < len(topic.weights) else 1.0 for n in range(count)]
    whole = sum(weights)
    return weights[number] / whole if whole > 0 else 0.0


def lay_out(flow: Flow, steps: Sequence[RateStep], share: float, from_us: int) -> None:
    """The topic's rate from this instant on, as one partition has it."""
    for i, step in enumerate(steps):
        then = steps[i + 1] if i + 1 < len(steps) else None
        if then is not None and then.at_us <= from_us:
            continue
        at, rate = step.at_us, step.per_second
        if then is None or not then.is_ramp:
            flow.change(max(at, from_us), rate * share)
            continue
        if at < from_us:  # in the middle of a ramp
            rate += (then.per_second - rate) * (from_us - at) / (then.at_us - at)
            at = from_us
        flow.change(at, rate * share, then.at_us, then.per_second * share)


def steps_ahead(steps: Sequence[RateStep], after_us: int) -> Iterator[int]:
    """The instants at which the rate is another one than expected: its steps, and often during a
    ramp.
    """
    for i, step in enumerate(steps):
        if step.is_ramp and i:
            began = steps[i - 1].at_us
            for piece in range(1, PIECES_OF_RAMP):
                at = began + (step.at_us - began) * piece // PIECES_OF_RAMP
                if at > after_us:
                    yield at
        if step.at_us > after_us:
            yield step.at_us
