"""A report as OpenMetrics text: rebalsim's own metrics in seconds, and each consumer's client
metrics under the names that a JMX exporter gives to Kafka's (in Kafka's units, ms for
latencies), so that one dashboard shows what was predicted beside what was observed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.metrics import METRICS, OF_WORKERS, Metric
from rebalsim.domain.unit import Unit
from rebalsim.reports.names import safe
from rebalsim.reports.report import Report, VariantReport

BUCKETS_S = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_FETCHER = ("records-lag-max",)
_OF_WORKERS = tuple(name for name, *_ in OF_WORKERS)
_CONSUMER = ("poll-idle-ratio-avg", "time-between-poll-max")


@dataclass(slots=True)
class Family:
    """A metric with all its samples."""

    name: str
    kind: str  # gauge | counter | histogram
    meaning: str
    unit: str = ""
    # (suffix, labels, value)
    samples: list[tuple[str, dict[str, str], float]] = field(default_factory=list)


def render(report: Report) -> str:
    """The exposition, ended by `# EOF`."""
    lines: list[str] = []
    for family in [*_own(report), _pauses(report), *_clients(report)]:
        if not family.samples:
            continue
        lines.append(f"# TYPE {family.name} {family.kind}")
        if family.unit:
            lines.append(f"# UNIT {family.name} {family.unit}")
        lines.append(f"# HELP {family.name} {_help(family.meaning)}")
        lines += [
            f"{family.name}{suffix}{_labels(labels)} {_value(value)}"
            for suffix, labels, value in family.samples
        ]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _identity(report: Report, v: VariantReport) -> dict[str, str]:
    found = {"story": report.title, "variant": v.name}
    if report.is_comparison and v.file:
        found["file"] = v.file
    return found


def _own(report: Report) -> Iterable[Family]:
    for metric in METRICS.values():
        if metric.kafka_name:
            continue
        unit, factor = _unit(metric)
        name = f"rebalsim_{metric.name}"
        family = Family(
            f"{name}_{unit}" if unit and not name.endswith(f"_{unit}") else name,
            "gauge",
            metric.meaning,
            unit,
        )
        for v in report.variants:
            value = v.analysis.measure(metric.name)
            if value is not None:
                family.samples.append(("", _identity(report, v), value * factor))
        yield family


def _unit(metric: Metric) -> tuple[str, float]:
    if metric.unit.is_time:
        return "seconds", 1 / SECOND
    return ("ratio", 1.0) if metric.unit == Unit.SHARE else ("", 1.0)


def _pauses(report: Report) -> Family:
    """Every pause, in buckets, by topic."""
    family = Family(
        "rebalsim_pause_seconds", "histogram", "how long partitions stood still", "seconds"
    )
    for v in report.variants:
        topics = dict.fromkeys(sorted(lane.partition.topic for lane in v.analysis.lanes))
        for topic in topics:
            lengths = [
                p.length_us / SECOND for p in v.analysis.pauses if p.partition.topic == topic
            ]
            labels = {**_identity(report, v), "topic": topic}
            for bound in BUCKETS_S:
                family.samples.append(
                    ("_bucket", {**labels, "le": _value(bound)}, sum(x <= bound for x in lengths))
                )
            family.samples.append(("_bucket", {**labels, "le": "+Inf"}, len(lengths)))
            family.samples.append(("_count", labels, len(lengths)))
            family.samples.append(("_sum", labels, sum(lengths)))
    return family


def _bean(kafka: str) -> str:
    """The JMX bean that has a client's metric of this name, as the exporter spells it."""
    if kafka in _OF_WORKERS:
        is_coordinators = kafka.startswith("assigned-")
        return f"connect_connect_{'coordinator' if is_coordinators else 'worker_rebalance'}_metrics"
    if kafka in _FETCHER:
        return "consumer_consumer_fetch_manager_metrics"
    return f"consumer_consumer_{'' if kafka in _CONSUMER else 'coordinator_'}metrics"


def _clients(report: Report) -> Iterable[Family]:
    """One family a client metric; totals are counters, as Kafka's are."""
    for metric in METRICS.values():
        kafka = metric.kafka_name
        if not kafka:
            continue
        name, is_total = f"kafka_{_bean(kafka)}_{kafka.replace('-', '_')}", kafka.endswith("-total")
        is_time = metric.unit == Unit.DURATION
        factor = 1.0 if not is_time else 1 / SECOND if "seconds" in kafka else 1 / MS
        family = Family(
            name.removesuffix("_total") if is_total else name,
            "counter" if is_total else "gauge",
            metric.meaning.split(";")[0],
        )
        for v in report.variants:
            for consumer, found in v.analysis.client_metrics.items():
                value = found.get(kafka)
                if value is not None:
                    facts = v.analysis.header.consumers.get(consumer)
                    labels = {
                        "client_id": consumer,
                        "group": facts.group if facts else "",
                        **_identity(report, v),
                    }
                    family.samples.append(("_total" if is_total else "", labels, value * factor))
        yield family


def _labels(labels: dict[str, str]) -> str:
    return (
        "{" + ",".join(f'{name}="{_escape(safe(value))}"' for name, value in labels.items()) + "}"
    )


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _help(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _value(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(round(value, 9))
