"""What logs of this kind and level cannot tell, and which logger at which level would."""

from __future__ import annotations

from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import FactKind
from rebalsim.worlds.logs.observation import GroupStory, Observation

WHAT_TO_LOG = """\
Broker (log4j2.yaml; log4j.properties alike): who joins, leaves, expires, and why a group rebalances
  logger org.apache.kafka.coordinator.group   INFO    (Kafka 4; DEBUG: who is missing at a barrier,
                                                      and when a consumer group is settled)
  logger kafka.coordinator.group              INFO    (Kafka 2 and 3)
  logger kafka.request.logger                 DEBUG   (each JoinGroup's arrival: who came last)

Java clients (log4j, logback): each listener's call, generations, why they join again
  org.apache.kafka.clients.consumer.internals       INFO    (DEBUG: heartbeats, a listener's end)
  org.apache.kafka.clients.consumer.ConsumerConfig  INFO    (timeouts, assignors)
  Keep milliseconds and the zone in the pattern: %d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} [%t] %p %c - %m%n

Spring Boot (application.yaml)
  logging.level.org.apache.kafka.clients.consumer: INFO
  logging.level.org.springframework.kafka.listener: INFO
  logging.pattern.dateformat: "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"

librdkafka (C, Python, Go, .NET): says nothing of rebalances unless told to
  debug=cgrp                                  joins, assignments, revocations, heartbeats
  debug=cgrp,consumer                         with what moved, and why

franz-go: kgo.WithLogger(kgo.BasicLogger(w, kgo.LogLevelInfo, func() string { time first }))
sarama: sarama.Logger = log.New(w, "[sarama] ", log.LstdFlags|log.Lmicroseconds|log.LUTC)
kafka-python, aiokafka: logging at INFO with %(asctime)s in the format
KafkaJS: logLevel: logLevel.INFO (DEBUG tells generations)
"""


def gaps_of(observed: Observation) -> list[str]:
    """Sentences, the gravest first; each names what would tell."""
    found: list[str] = []
    if not observed.has_broker and observed.groups:
        found.append(
            "No coordinator's log is at hand: what began a rebalance is put together from the "
            "members' logs, and who was expelled is known only by who fell silent."
        )
    for story in observed.groups.values():
        found += _of_group(story)
    return found[:12]


def _of_group(story: GroupStory) -> list[str]:
    found = []
    known = {i for v in story.voices for i in v.ids}
    strangers = {r.trigger.member for r in story.rounds if r.trigger.member} - known
    if not story.voices:
        found.append(
            f"{story.name}: no member's log is at hand, so its partitions' pauses are unknown. The "
            "clients' own logs at INFO tell them."
        )
    elif strangers:
        found.append(
            f"{story.name}: {len(strangers)} of its members have no log here; what they held and "
            "when is unknown."
        )
    slow = [r for r in story.rounds if r.joined_us - r.begin_us >= 500_000 and not r.late_member]
    if slow:
        found.append(
            f"{story.name}: who came last to {len(slow)} of its barriers: kafka.request.logger at "
            "DEBUG on the broker, or all members' logs."
        )
    quiet = [
        v for v in story.voices if v.facts and not any(f.what == FactKind.ASSIGNED for f in v.facts)
    ]
    for voice in quiet:
        how = dialect(voice.dialect).tells_more
        found.append(f"{voice.name}: prints no assignment; {how} would.")
    return found
