"""Figures that rules compare: what a draw comes to at worst, what a full batch or a callback
costs. Estimates, and said to be so.
"""

from __future__ import annotations

import math

from rebalsim.domain.consumer import Consumer, Handler
from rebalsim.domain.draws import LISTED, Draw
from rebalsim.domain.scenario import Scenario

# what happens once in a thousand times counts as likely: a handler runs thousands of batches a day
LIKELY_WORST = 0.999
_Z99 = 2.3263478740408408


def mean(draw: Draw) -> float:
    """The expected value of a draw."""
    return (1 - draw.tail_share) * _base_mean(draw) + draw.tail_share * (
        _tail_from(draw) + draw.tail_us
    ) / 2


def deviation(draw: Draw) -> float:
    """The standard deviation of a draw."""
    variance = _base_variance(draw)
    if draw.tail_share > 0:
        base, near, far = _base_mean(draw), _tail_from(draw), draw.tail_us
        second = (near * near + near * far + far * far) / 3  # of what is uniform between the two
        variance = (
            (1 - draw.tail_share) * (variance + base * base)
            + draw.tail_share * second
            - mean(draw) ** 2
        )
    return math.sqrt(max(0.0, variance))


def quantile(draw: Draw, q: float) -> float:
    """The value that a share `q` of draws stays below."""
    if draw.tail_share > 0:
        if q > 1 - draw.tail_share:  # roughly: as if the whole tail lay above the rest
            near = _tail_from(draw)
            return max(
                near, near + (q - (1 - draw.tail_share)) / draw.tail_share * (draw.tail_us - near)
            )
        q = min(1 - 1e-9, q / max(1e-9, 1 - draw.tail_share))
    return _base_quantile(draw, q)


def high(draw: Draw) -> float:
    """The likely worst: one in a thousand."""
    return quantile(draw, LIKELY_WORST)


def low(draw: Draw) -> float:
    """The likely best: one in a hundred is quicker."""
    return quantile(draw, 0.01)


def sum_high(draw: Draw, count: int) -> float:
    """The likely worst sum of so many independent draws: three deviations above the mean, or one
    single worst draw among usual ones.
    """
    if count <= 0:
        return 0.0
    middle = mean(draw)
    return count * middle + max(3 * math.sqrt(count) * deviation(draw), high(draw) - middle)


def _tail_from(draw: Draw) -> float:
    """Where a tail begins: at the base value."""
    return _base_mean(draw) if draw.shape in LISTED else draw.a


def _base_mean(draw: Draw) -> float:
    if draw.shape == "uniform":
        return (draw.a + draw.b) / 2
    if draw.shape == "lognormal":
        return draw.a * math.exp(_sigma(draw) ** 2 / 2)
    if draw.shape == "exponential":
        return draw.a if draw.b <= 0 or draw.a <= 0 else draw.a * (1 - math.exp(-draw.b / draw.a))
    if draw.shape in LISTED:
        return sum(draw.values) / len(draw.values) if draw.values else 0.0
    return draw.a


def _base_variance(draw: Draw) -> float:
    if draw.shape == "uniform":
        return (draw.b - draw.a) ** 2 / 12
    if draw.shape == "normal":
        return draw.b**2
    if draw.shape == "lognormal":
        squared = _sigma(draw) ** 2
        return (math.exp(squared) - 1) * draw.a**2 * math.exp(squared)
    if draw.shape == "exponential":
        return draw.a**2
    if draw.shape in LISTED:
        middle = _base_mean(draw)
        return (
            sum((v - middle) ** 2 for v in draw.values) / len(draw.values) if draw.values else 0.0
        )
    return 0.0


def _base_quantile(draw: Draw, q: float) -> float:
    if draw.shape == "uniform":
        return draw.a + q * (draw.b - draw.a)
    if draw.shape == "normal":
        return max(0.0, draw.a + max(-4.0, min(4.0, normal_quantile(q))) * draw.b)
    if draw.shape == "lognormal":
        return draw.a * math.exp(_sigma(draw) * normal_quantile(q))
    if draw.shape == "exponential":
        value = -draw.a * math.log(max(1e-12, 1 - q))
        return min(value, draw.b) if draw.b > 0 else value
    if draw.shape in LISTED:
        ordered = sorted(draw.values)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else 0.0
    return draw.a


def _sigma(draw: Draw) -> float:
    # capped: a 99th percentile of a million medians is a slip of the pen, and exp() of its square
    # would overflow
    return min(6.0, math.log(draw.b / draw.a) / _Z99) if draw.a > 0 and draw.b > draw.a else 0.0


def normal_quantile(q: float) -> float:
    """The standard normal's quantile, by bisection of erf: exact enough here, and without
    importing `statistics`.
    """
    under, over = -8.0, 8.0
    for _ in range(50):
        middle = (under + over) / 2
        if 0.5 * (1 + math.erf(middle / math.sqrt(2))) < q:
            under = middle
        else:
            over = middle
    return (under + over) / 2


# --------------------------------------------------------------------- what a consumer's work costs


def commit_round_trip_us(scenario: Scenario) -> float:
    """What one synchronous commit takes: there and back, and the coordinator's log."""
    cluster = scenario.cluster
    return 2 * mean(cluster.network.latency) + mean(cluster.log_append) + mean(cluster.replication)


def usual_batch_us(scenario: Scenario, handler: Handler, records: int) -> float:
    """What a batch of so many records takes on average, its commits included."""
    return (
        records * mean(handler.per_record)
        + mean(handler.per_batch)
        + handler.commits_of(records) * commit_round_trip_us(scenario)
    )


def worst_batch_us(scenario: Scenario, handler: Handler, records: int) -> float:
    """The likely worst of the same."""
    return (
        sum_high(handler.per_record, records)
        + high(handler.per_batch)
        + handler.commits_of(records) * commit_round_trip_us(scenario)
    )


def revoke_us(consumer: Consumer, partitions: int) -> float:
    """What giving up so many partitions takes at worst: the callback and flushing their state."""
    cost = consumer.listener.revoked
    flush = 0.0
    if consumer.state.flush_bytes_per_second > 0:
        flush = (
            partitions
            * consumer.state.bytes_per_partition
            / consumer.state.flush_bytes_per_second
            * 1e6
        )
    return high(cost.fixed) + sum_high(cost.per_partition, partitions) + flush


def restore_us(consumer: Consumer, partitions: int) -> float:
    """What restoring the state of so many partitions takes."""
    state = consumer.state
    if state.restore_bytes_per_second <= 0:
        return 0.0
    return (
        partitions
        * state.bytes_per_partition
        * (1 - state.standby_share)
        / state.restore_bytes_per_second
        * 1e6
    )


def assign_us(consumer: Consumer, partitions: int) -> float:
    """What taking over so many partitions takes at worst: the callback, and restoring their state
    where that goes on within it.
    """
    cost = consumer.listener.assigned
    return (
        high(cost.fixed)
        + sum_high(cost.per_partition, partitions)
        + (restore_us(consumer, partitions) if consumer.state.where == "callback" else 0.0)
    )
