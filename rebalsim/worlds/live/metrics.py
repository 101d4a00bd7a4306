"""A Prometheus text dump of Kafka's client metrics: rates and times that no manifest knows."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})?\s+(-?[\d.eE+]+|NaN)", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_SIGNS = re.compile(r"(?m)^(# (HELP|TYPE) \w+|kafka_\w+\{)")


def is_metrics(text: str) -> bool:
    return bool(_SIGNS.search(text[:4000])) and bool(
        re.search(r"(?m)^\w*kafka\w*(\{[^}]*\})?\s+-?[\d.NaN]", text)
    )


@dataclass(slots=True)
class Measured:
    """What the metrics of a set of clients say of them together."""

    clients: list[str] = field(default_factory=list)
    rate: float | None = None  # records a second over all clients
    batch_ms: float | None = None  # time between two polls, the mean over those that work
    records_per_request: float | None = None
    lag: float | None = None
    partitions: dict[str, int] = field(default_factory=dict)  # topic → at least


def measured(text: str) -> Measured:
    """Sums and means of the metrics that a scenario can use."""
    made = Measured()
    values: dict[str, list[float]] = defaultdict(list)
    clients: dict[str, None] = {}
    for name, labels, number in _SAMPLE.findall(text):
        if number == "NaN":
            continue
        told = dict(_LABEL.findall(labels))
        if client := told.get("client_id") or told.get("clientId") or told.get("client-id"):
            clients[client] = None
        short = re.sub(r"[^a-z]", "_", name.lower())
        values[short].append(float(number))
        if (topic := told.get("topic")) and told.get("partition", "").isdigit():
            count = int(told["partition"]) + 1
            made.partitions[topic] = max(count, made.partitions.get(topic, 0))
    made.clients = list(clients)
    made.rate = _sum(values, "records_consumed_rate")
    made.batch_ms = _mean(values, "time_between_poll_avg")
    made.records_per_request = _mean(values, "records_per_request_avg")
    made.lag = _sum(values, "fetch_manager_metrics_records_lag")
    return made


def _ending(values: dict[str, list[float]], end: str) -> list[float]:
    return next((v for name, v in values.items() if name.endswith(end)), [])


def _sum(values: dict[str, list[float]], end: str) -> float | None:
    found = [v for v in _ending(values, end) if v >= 0]
    return sum(found) if found else None


def _mean(values: dict[str, list[float]], end: str) -> float | None:
    found = [v for v in _ending(values, end) if v > 0]
    return sum(found) / len(found) if found else None
