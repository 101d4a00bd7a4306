"""A group to play: its pods and members, its settings, client and life, and why each is so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from rebalsim.scenario.config_language import CLIENT_KEYS
from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.kubernetes.pods import Probe
from rebalsim.worlds.live.listings import Group as LiveGroup
from rebalsim.worlds.understood import Consumer
from rebalsim.worlds.values import Value, unknown
from rebalsim.worlds.words import cores, milliseconds, whole

# A client that is known here as something else, and what is lost by it.
AS_CLIENT = {
    "java": ("java", ""),
    "spring": ("java", "Spring's container over the Java client"),
    "smallrye": ("java", "SmallRye over the Java client"),
    "micronaut": ("java", "Micronaut over the Java client"),
    "streams": ("java", "played as a plain consumer: Streams' own assignor and state are not"),
    "flink": ("java", "played as a plain consumer: Flink assigns partitions by itself"),
    "librdkafka": ("librdkafka", ""),
    "franz-go": ("franz-go", ""),
    "sarama": ("sarama", ""),
    "kafka-python": ("kafka-python", ""),
    "aiokafka": ("aiokafka", ""),
    "faust": ("aiokafka", "Faust is built on aiokafka"),
    "kafkajs": ("java", "played as Java with KafkaJS' defaults; it beats between messages only"),
}
# Seconds from a pod's start to its first poll, by client, where nobody says it.
START = {
    "connect": 30,  # its plugins are scanned, and its REST interface is up
    "spring": 20,
    "java": 15,
    "smallrye": 10,
    "micronaut": 10,
    "streams": 15,
    "librdkafka": 5,
}
START_OTHER = 5
NATIVE = ("franz-go", "sarama")
# Defaults that differ from those of the client that stands in for another one.
OWN_DEFAULTS = {
    "kafkajs": (
        ("session.timeout.ms", "30000"),
        ("max.poll.interval.ms", "60000"),  # its rebalanceTimeout
        ("partition.assignment.strategy", "[roundrobin]"),
    )
}
PLAYED = frozenset(f.name for f in CLIENT_KEYS)


def name_of(text: str) -> str:
    """A name that the scenario's language takes, as near to the given as it can be."""
    clean = re.sub(r"[^a-zA-Z0-9._\-]", "-", str(text).replace("{pod}", "pod")).strip("-.") or "it"
    return clean[:100]


@dataclass(slots=True)
class Pods:
    """One workload's pods within a group."""

    name: str
    count: int
    each: int  # members in a pod
    consumer: Consumer | None
    why: str
    each_why: str

    @property
    def members(self) -> int:
        return self.count * self.each


@dataclass(slots=True)
class Play:
    """A group as it is written into the scenario."""

    name: str
    group: Value
    pods: list[Pods]
    topics: list[str]
    topics_why: str
    consumer: Consumer | None
    live: LiveGroup | None = None
    client: Value = field(default_factory=unknown)

    # ---- members ----
    def member_lines(self) -> list[tuple[str, str]]:
        made = []
        for pods in self.pods:
            own, note = self._own_settings(pods)
            why = f"{pods.why}; {note}" if note else pods.why
            if pods.each == 1:
                made.append((f'"{pods.name}-{{n}}": {{count: {pods.count}{own}}}', why))
                continue
            for number in range(pods.count):
                pod = f"{pods.name}-{number}"
                line = f'"{pod}-{{n}}": {{count: {pods.each}, process: {pod}{own}}}'
                made.append((line, f"{why}; {pods.each_why}" if number == 0 else ""))
        return made

    def _own_settings(self, pods: Pods) -> tuple[str, str]:
        """What a workload sets otherwise than the first one of the group, and where it says so."""
        consumer = pods.consumer
        if consumer is None or consumer is self.consumer:
            return "", ""
        shared = {key: text for key, text, _ in self.settings()}
        mine = {key: (text, why) for key, text, why in self.settings(consumer)}
        told = [(k, t, why) for k, (t, why) in mine.items() if shared.get(k) != t]
        told += [(k, "null", "not set there") for k in shared if k not in mine]
        if not told:
            return "", ""
        inner = ", ".join(f"{k}: {t}" for k, t, _ in told)
        return f", config: {{{inner}}}", ", ".join(f"{k}: {why}" for k, _, why in told)

    @property
    def title(self) -> str:
        return self.pods[0].name if self.pods else self.name

    # ---- the client ----
    @property
    def client_name(self) -> str:
        return AS_CLIENT.get(_first(self.client), ("java", ""))[0]

    @property
    def client_why(self) -> str:
        said = _first(self.client)
        note = AS_CLIENT.get(said, ("java", ""))[1]
        if not self.client.known:
            question = QUESTIONS["client"]
            return f"ASK: {question.what}: {question.how} · assumed: {question.why}"
        return f"{self.client.source}{'; ' + note if note else ''}"

    @property
    def instance(self) -> str | None:
        consumer = self.consumer
        if consumer is None:
            return (
                "{name}"
                if self.live and any(m.instance_id for m in self.live.members.values())
                else None
            )
        value = consumer.instance
        if not value.known or value.value is None:
            return None
        text = str(value.value)
        if "{pod}" in text:
            return "{name}"
        return text if self.pods and sum(p.members for p in self.pods) == 1 else None

    @property
    def instance_why(self) -> str:
        return self.consumer.instance.source if self.consumer else "a listing: GROUP-INSTANCE-ID"

    def settings(self, of: Consumer | None = None) -> list[tuple[str, str, str]]:
        """Kafka's own settings that the simulation plays, in the files' order: those of the first
        workload, or of another one.
        """
        consumer = of or self.consumer
        made = settings_written(consumer.settings if consumer else {})
        in_use = self.live.assignor if self.live else None
        is_told = any(n == "partition.assignment.strategy" for n, _, _ in made)
        if in_use in ("range", "roundrobin", "sticky", "cooperative-sticky") and not is_told:
            why = "a listing: the one in use"
            made.append(("partition.assignment.strategy", f"[{in_use}]", why))
        told = {name for name, _, _ in made}
        for name, text in OWN_DEFAULTS.get(_first(self.client), ()):
            if name not in told:
                made.append((name, text, f"default: {_first(self.client)}"))
        return _without_refused(made)

    def left_out(self) -> list[str]:
        """Settings that were read and are not played, and those that nobody can tell."""
        settings = self.consumer.settings if self.consumer else {}
        unsaid = [f"{n} ({v.source})" for n, v in settings.items() if not v.known and n in PLAYED]
        made = []
        if unsaid:
            made.append(f"ASK: set in the files, but not to what: {', '.join(unsaid)}")
        return made

    # ---- what the application does ----
    @property
    def handler(self) -> str:
        own = self.consumer.reading.handler_ms if self.consumer else None
        return f"{own.value}ms" if own is not None and own.known else "1ms"

    @property
    def handler_why(self) -> str:
        own = self.consumer.reading.handler_ms if self.consumer else None
        if own is not None and own.known:
            return f"{own.source}: inferred from its name"
        question = QUESTIONS["handler_time"]
        return f"ASK: {question.what}: {question.how} · assumed: {question.why}"

    @property
    def commit(self) -> tuple[str, str] | None:
        if self.consumer is None:
            return None
        auto = self.consumer.settings.get("enable.auto.commit")
        if auto is None or str(auto.value) != "false":
            return None
        if self.client.value != "spring":
            return "sync-batch", "assumed: enable.auto.commit is false, so the code commits"
        mode = self.consumer.settings.get("ack-mode")
        said = str(mode.value) if mode is not None and mode.known else "BATCH"
        form = "sync-record" if said in ("RECORD", "MANUAL_IMMEDIATE") else "sync-batch"
        return form, f"Spring's ack-mode {said}" + ("" if mode is not None else ", its default")

    def start_seconds(self) -> tuple[int, str]:
        """From the container's start to the first poll: assumed, and at least what a probe waits,
        for people set its delay to the time that they saw.
        """
        said = _first(self.client) if self.client.known else "java"
        seconds = START.get(said, 2 if said in NATIVE else START_OTHER)
        consumer = self.consumer
        waits = consumer.ready.at_least if consumer is not None and consumer.ready else 0
        question = QUESTIONS["start_time"]
        why = (
            f"ASK: {question.what}: {question.how} · assumed: what {said or 'such a client'} takes"
        )
        limit = cores(consumer.cpu_limit) if consumer is not None else None
        if limit is not None and limit < 1:  # what it takes with a core of its own
            seconds, why = ceil(seconds / limit), f"{why}, with {limit:g} of a core (limits.cpu)"
        if waits > seconds:
            seconds, why = waits, f"{why}, and the probe waits {waits} s"
        startup = next((p for p in self._probes() if p.kind == "startupProbe"), None)
        patience = startup.initial_delay + startup.period * startup.failures if startup else 0
        # a service that runs is not killed at its start
        if startup and seconds > 3 * patience // 4:
            seconds, why = max(1, 3 * patience // 4), f"{why}, and its startupProbe waits no longer"
        return seconds, why

    def _probes(self) -> list[Probe]:
        return self.consumer.probes if self.consumer is not None else []

    def drawn_start(self, more: tuple[int, int] = (0, 0)) -> str:
        """The start as a scenario has it. Drawn around what is assumed, since no two pods take the
        same time; but members of one process begin together, which a draw for each would not say.
        `more`: the least and the most that comes on top.
        """
        seconds, _ = self.start_seconds()
        if any(p.each > 1 for p in self.pods) and self.client.value != "streams":
            return f"{seconds + more[1] // 2}s"
        around = seconds // 4
        if any(more):
            return f"{seconds - around + more[0]}s..{seconds + around + more[1]}s"
        return f"{seconds}s ± {around}s" if around else f"{seconds}s"

    def life(self) -> list[tuple[str, str, str]]:
        _, why = self.start_seconds()
        made = [("start", self.drawn_start(), why)]
        consumer = self.consumer
        if consumer is None or consumer.grace is None:
            return made
        made += self._probed(consumer)
        grace, stop = consumer.grace, consumer.pre_stop
        if not grace.known:
            return made
        before = stop.value if stop is not None and stop.known else 0
        whole_grace, note = grace.value, sure_of(grace)
        if before and stop:
            made.append(("preStop", f"{before}s", f"{sure_of(stop)}; it uses up the grace"))
        if consumer.shell:
            made.append(
                ("stop", f"{whole_grace + 60}s", "a shell is process 1: SIGTERM never arrives")
            )
        elif self.client.value == "spring" and whole_grace - before > 10:
            whole_grace = before + 10
            note = f"Spring waits 10 s for its containers (of {grace.value} s of grace)"
        made.append(("grace", f"{whole_grace}s", note))
        return made

    def _probed(self, consumer: Consumer) -> list[tuple[str, str, str]]:
        """What the kubelet does with the container beside stopping it."""
        made = []
        startup = next((p for p in consumer.probes if p.kind == "startupProbe"), None)
        if startup is not None:
            parts = [
                f"initialDelaySeconds: {startup.initial_delay}s",
                f"periodSeconds: {startup.period}s",
                f"failureThreshold: {startup.failures}",
            ]
            made.append(("startupProbe", f"{{{', '.join(parts)}}}", startup.where))
        if (consumer.workload or "").startswith(("Deployment/", "StatefulSet/", "DaemonSet/")):
            made.append(("restartPolicy", "Always", "default: Kubernetes"))
        return made


def _first(client: Value) -> str:
    return re.split(r"\s*(?:\bor\b|[|,/])\s*", str(client.value or ""))[0]


def sure_of(value: Value) -> str:
    if value.sure == "stated":
        return value.source
    return f"{value.sure}: {value.source}"


def settings_written(settings: Mapping[str, Value]) -> list[tuple[str, str, str]]:
    """Of a consumer's settings those that are played: name, text, where it stands."""
    made = []
    for name, value in settings.items():
        if name not in PLAYED or name in ("group.id", "group.instance.id") or not value.known:
            continue
        if (text := _written(name, value.value)) is not None:
            made.append((name, text, sure_of(value)))
    return made


def _written(name: str, value: object) -> str | None:
    """A setting as the scenario's language writes it; None for what it would not take."""
    if isinstance(value, list):
        names = [v for v in value if v in ("range", "roundrobin", "sticky", "cooperative-sticky")]
        return f"[{', '.join(names)}]" if names else None
    text = str(value).strip()
    if name.endswith(".ms"):
        number = milliseconds(text)
        return str(number) if number is not None else None
    if re.fullmatch(r"[\w.\-]+", text):
        if (
            name in ("max.poll.records", "fetch.min.bytes", "fetch.max.bytes")
            and whole(text) is None
        ):
            return None
        return text
    return None


def _without_refused(made: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Under the consumer protocol the classic's settings are refused: they are left out."""
    if not any(n == "group.protocol" and t == "consumer" for n, t, _ in made):
        return made
    refused = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")
    return [line for line in made if line[0] not in refused]
