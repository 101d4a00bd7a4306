"""Which client, and which program: read from names of images, variables and settings.

A table of facts: a program known here has habits that its files do not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rebalsim.worlds.kafka_names import LIBRDKAFKA
from rebalsim.worlds.values import Text, Value, inferred, unknown


@dataclass(frozen=True, slots=True)
class Program:
    """A program known by its name: its client, and whether it has several consumers by nature."""

    sign: str  # an expression over names of images, containers and variables
    client: str | None
    has_many: bool = False
    why: str = ""


PROGRAMS = (
    Program(r"knative|eventing-kafka", "java", True, "one consumer per trigger or source"),
    Program(r"eventuate", "java", True, "one per subscription of Eventuate Tram"),
    Program(r"thingsboard|\btb[-_](?:node|core|rule)", "java", True, "consumers for each queue"),
    Program(r"firehose|source_kafka_consumer", "java"),
    Program(r"zipkin", "java"),
    Program(r"jaeger", "sarama", False, "Jaeger is written in Go"),
    Program(r"otel(?:-?col)?|opentelemetry-collector", "franz-go"),
    Program(r"\bvector\b", "librdkafka"),
    Program(r"logstash", "java"),
    Program(r"telegraf", "sarama"),
    Program(r"datahub-(?:mae|mce|gms)", "spring"),
    Program(r"sentry|snuba|taskbroker", "librdkafka", True, "several topics in one program"),
    Program(r"posthog", "librdkafka"),
    Program(r"openreplay", "librdkafka"),
    Program(r"clickhouse-server", "librdkafka"),
    Program(r"\bflink", "flink"),
    Program(r"ksql", "streams", True, "one application per query"),
    Program(r"druid|pinot", "java", True, "one per ingestion task"),
    Program(r"mojaloop", "librdkafka"),
    Program(r"hypertrace", "streams"),
    Program(r"skywalking|\boap\b", "java"),
    Program(r"insights-results|insights_results|ccx-", "sarama", False, "a Go service"),
    Program(r"openwhisk|invoker", "java"),
    Program(r"debezium", "java"),
    Program(r"karafka|racecar", "librdkafka"),
    Program(r"faust", "faust"),
    Program(r"argo-?events", "sarama", True, "one per event source"),
    Program(r"benthos|redpanda-?connect", "franz-go"),
)

# Images and names of what is no consumer though it speaks with Kafka.
BROKER_VARIABLES = re.compile(
    r"^KAFKA_(CFG_)?(ADVERTISED_LISTENERS|PROCESS_ROLES|BROKER_ID|NODE_ID|LISTENERS|ZOOKEEPER_CONNECT)$"
)
TOOLS = re.compile(
    r"(?i)(akhq|kafdrop|kafka-?ui|kowl|conduktor|kafka-?manager|cmak|burrow|kminion|kafka-?exporter)"
)
_TOOLS_OWN = "confluent.controlcenter."  # its Streams and consumers are its own business
OTHERS = re.compile(
    r"(?i)(akhq|kafdrop|kafka-?ui|kowl|redpanda-?console|conduktor|kafka-?manager|cmak|burrow|"
    r"exporter|schema-?registry|zookeeper|kafka-?rest|rest-?proxy|control-?center|kafka-?init|"
    r"init-?kafka|kafka-?setup|topics?-?creat|create-?topics?|kafka-?broker$|kminion|mysql|postgres|"
    r"redis|mongo|elasticsearch|grafana|prometheus|nginx)"
)
BROKER_IMAGES = re.compile(
    r"(?i)(^|/)((cp-|confluent-)?(enterprise-)?kafka|kafka-(native|kraft)|redpanda|cp-server|"
    r"strimzi/kafka|wurstmeister/kafka|bitnami(legacy)?/kafka|apache/kafka(-native)?)(:|@|$)"
)
PRODUCERS = re.compile(
    r"(?i)(^|[-_/])(producer?|publish(?:er)?|generator|loadgen|load-?generator|simulator|emitter)s?"
    r"($|[-_:/])|(^|/)(fluent-?bit|fluentd|filebeat|promtail|cadvisor)(:|@|$)"
)
CONSUMERS = re.compile(r"(?i)consumer|worker|listener|subscriber|sink|ingest")

_LANGUAGES = (
    (r"(?i)kafkajs", "kafkajs"),
    (r"(?i)aiokafka", "aiokafka"),
    (r"(?i)confluent[-_]kafka|rdkafka|RDKAFKA_", "librdkafka"),
    (r"(?i)kafka[-_]python", "kafka-python"),
    (r"(?i)sarama", "sarama"),
    (r"(?i)\bspring\b|spring[-_]boot|SPRING_(?:KAFKA|PROFILES|APPLICATION)", "spring"),
    (r"(?i)quarkus", "smallrye"),
    (r"(?i)micronaut", "micronaut"),
    (r"(?i)\bjava\b|\bjdk|\bjre\b|openjdk|temurin|JAVA_|JVM_|_JAVA|\.jar\b|vertx", "java"),
    (r"(?i)dotnet|ASPNETCORE", "librdkafka"),
)


def is_a_tools(key: str) -> bool:
    """Whether a key is a tool's beside Kafka, by its first words."""
    return bool(TOOLS.fullmatch(key.split(".")[0])) or key.startswith(_TOOLS_OWN)


def program_of(names: Iterable[str], variables: Iterable[str] = ()) -> Program | None:
    """The program that names of images and containers speak of, or that variables begin with:
    a variable that only mentions another program (SENTRY_DSN, OTEL_…) tells nothing.
    """
    everything = " ".join(names).lower()
    for program in PROGRAMS:
        if re.search(program.sign, everything):
            return program
    own = [v.lower() for v in variables if not v.upper().startswith(("OTEL", "SENTRY", "JAEGER"))]
    return next((p for p in PROGRAMS if any(re.match(p.sign, v) for v in own)), None)


def client_by_settings(names: Iterable[str], values: Iterable[str]) -> Value | None:
    """The client by settings that only one of them has, or by classes that are Java's."""
    names = list(names)
    if any(n in ("application.id", "num.stream.threads", "default.key.serde") for n in names):
        return inferred("streams", "settings that only Kafka Streams has")
    if any(n in LIBRDKAFKA for n in names):
        return inferred("librdkafka", "settings that only librdkafka has")
    if any(re.search(r"\b(org\.apache\.kafka|io\.confluent|io\.cloudevents)\.", v) for v in values):
        return inferred("java", "its classes are Java's")
    if any(n.endswith(("deserializer", "interceptor.classes")) for n in names):
        return inferred("java", "deserialisers by class are Java's")
    return None


_OF_KAFKAJS = re.compile(
    r"(^|[._])(maxWaitTimeInMs|partitionAssigners|rebalanceTimeout|partitionsConsumedConcurrently|"
    r"autoCommitThreshold)$"
)


def client_by_words(keys: Mapping[Text, Text | None]) -> Value | None:
    """The client by words of its own that a program hands on: options of KafkaJS, sarama's offsets."""
    if any(_OF_KAFKAJS.search(key) for key in keys):
        return inferred("kafkajs", "options that only KafkaJS has")
    if any(
        text is not None and text.strip().lower() in ("oldest", "newest")
        for key, text in keys.items()
        if "offset" in key.lower()
    ):
        return inferred("sarama", "oldest and newest are sarama's words for offsets")
    return None


def client_by_names(names: Iterable[str]) -> Value:
    """The client by the names of the image, the variables and the command; unknown else."""
    everything = " ".join(names)
    for sign, client in _LANGUAGES:
        if re.search(sign, everything):
            return inferred(client, f"named in its image, command or variables ({client})")
    if re.search(r"\b[A-Z][a-z]+(?:__[A-Z][A-Za-z]+)+\b", everything):
        return inferred("librdkafka", "Section__Key is .NET's, whose client wraps librdkafka")
    if re.search(r"\b[A-Z_]+__[A-Z_]+\b", everything):
        return inferred("sarama", "SECTION__KEY is the habit of services in Go")
    return unknown("not told")


# Image of a broker → the version of Kafka that its tag names, where the two are the same.
_SAME_VERSION = re.compile(
    r"(?i)(?:apache/kafka(?:-native)?|bitnami(?:legacy)?/kafka):v?(\d+\.\d+(?:\.\d+)?)"
)
# Builds that name Scala's version first: wurstmeister/kafka:2.13-2.8.1.
_SCALA_FIRST = re.compile(r"(?i)wurstmeister/kafka:2\.\d+-(\d+\.\d+(?:\.\d+)?)")
_STRIMZI = re.compile(r"(?i)strimzi/kafka:.*kafka-(\d+\.\d+\.\d+)")
# Confluent's Platform → Kafka, by their first two numbers.
_CONFLUENT = re.compile(r"(?i)confluentinc/cp-(?:enterprise-)?(?:kafka|server)[^:]*:(\d+)\.(\d+)")


def broker_version(image: str) -> str | None:
    """The version of Kafka that a broker's image names, where its tag can be told."""
    if "connect" in image.lower():
        return None  # a worker's image tells the worker's version
    same = (_SAME_VERSION, _SCALA_FIRST, _STRIMZI)
    if found := next((m for form in same if (m := form.search(image))), None):
        return found[1]
    if found := _CONFLUENT.search(image):
        major, minor = int(found[1]), int(found[2])
        if major == 8:
            return f"4.{minor}"
        return {7: f"3.{minor}", 6: f"2.{minor + 6}", 5: f"2.{minor}"}.get(major)
    return None
