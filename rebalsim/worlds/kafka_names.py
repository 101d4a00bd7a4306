"""Kafka's settings by all the names that clients, frameworks and images give them.

`known` takes a name in pieces from the right: whatever stands before a setting's own words is a
prefix, which the caller judges (a producer's setting is none of the consumer's).
"""

from __future__ import annotations

from rebalsim.worlds.values import Text, like
from rebalsim.worlds.words import listed, milliseconds, squash, words

# The consumer's settings by Kafka's own names; then those that only librdkafka or Streams know.
JAVA = listed(
    """
    allow.auto.create.topics auto.commit.interval.ms auto.offset.reset bootstrap.servers check.crcs
    client.dns.lookup client.id client.rack connections.max.idle.ms default.api.timeout.ms
    enable.auto.commit enable.metrics.push exclude.internal.topics fetch.max.bytes fetch.max.wait.ms
    fetch.min.bytes group.id group.instance.id group.protocol group.remote.assignor
    heartbeat.interval.ms interceptor.classes internal.leave.group.on.close isolation.level
    key.deserializer value.deserializer max.partition.fetch.bytes max.poll.interval.ms
    max.poll.records metadata.max.age.ms metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms partition.assignment.strategy
    receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms
    retry.backoff.max.ms retry.backoff.ms sasl.mechanism security.protocol send.buffer.bytes
    session.timeout.ms socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms
    ssl.endpoint.identification.algorithm ssl.protocol ssl.enabled.protocols ssl.keystore.type
    ssl.truststore.type security.providers zookeeper.connect ssl.truststore.location
    ssl.truststore.certificates ssl.keystore.location ssl.keystore.certificate.chain ssl.provider
    ssl.cipher.suites ssl.trustmanager.algorithm ssl.keymanager.algorithm ssl.engine.factory.class
    ssl.secure.random.implementation sasl.kerberos.service.name sasl.kerberos.kinit.cmd
    sasl.kerberos.min.time.before.relogin sasl.kerberos.ticket.renew.jitter
    sasl.kerberos.ticket.renew.window.factor sasl.login.class sasl.login.callback.handler.class
    sasl.client.callback.handler.class sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
    sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.jwks.endpoint.url config.providers
    metadata.recovery.strategy metadata.recovery.rebootstrap.trigger.ms
    """
)
STREAMS = listed(
    """
    application.id application.server commit.interval.ms default.key.serde default.value.serde
    num.standby.replicas num.stream.threads processing.guarantee replication.factor state.dir
    topology.optimization cache.max.bytes.buffering statestore.cache.max.bytes
    acceptable.recovery.lag max.warmup.replicas probing.rebalance.interval.ms poll.ms
    default.deserialization.exception.handler default.production.exception.handler max.task.idle.ms
    """
)
LIBRDKAFKA = listed(
    """
    enable.auto.offset.store enable.partition.eof queued.min.messages queued.max.messages.kbytes
    statistics.interval.ms socket.keepalive.enable socket.timeout.ms log.connection.close
    api.version.request broker.address.family event_cb offset_commit_cb rebalance_cb
    topic.metadata.refresh.interval.ms fetch.error.backoff.ms enable.random.seed
    coordinator.query.interval.ms socket.max.fails debug log_level ssl.ca.location
    ssl.certificate.location ssl.key.location enable.ssl.certificate.verification
    """
)
# Settings that only a producer has, for those that share a table of variables with a consumer.
PRODUCERS = frozenset(
    listed(
        """
    acks batch.size buffer.memory compression.type delivery.timeout.ms enable.idempotence linger.ms
    max.block.ms max.in.flight.requests.per.connection max.request.size message.max.bytes
    queue.buffering.max.ms retries transaction.timeout.ms transactional.id
    """
    )
)
# What frameworks' and registries' own (de)serialisers read: no setting of Kafka's, and no slip.
_OF_SERIALISERS = (
    "spring.json.",
    "spring.deserializer.",
    "spring.message.",
    "schema.registry.",
    "apicurio.",
    "specific.",
    "use.latest.",
    "auto.register.",
    "json.",
    "avro.",
)
NAMES = frozenset((*JAVA, *STREAMS, *LIBRDKAFKA))

# Of another name, the same thing.
ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "sasl.mechanisms": "sasl.mechanism",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "group.name": "group.id",
    "consumer.group": "group.id",
    "consumer.group.id": "group.id",
    "consumer.group.name": "group.id",
    "fetch.max.wait": "fetch.max.wait.ms",
    "max.wait.time.in.ms": "fetch.max.wait.ms",
    "fetch.max.wait.time": "fetch.max.wait.ms",
    "fetch.min.size": "fetch.min.bytes",
    "session.timeout": "session.timeout.ms",
    "session.timeout.millis": "session.timeout.ms",
    "heartbeat.interval": "heartbeat.interval.ms",
    "heart.beat.interval": "heartbeat.interval.ms",
    "max.poll.interval": "max.poll.interval.ms",
    "auto.commit.interval": "auto.commit.interval.ms",
    "commit.interval": "auto.commit.interval.ms",
    "auto.commit": "enable.auto.commit",
    "auto.commit.enable": "enable.auto.commit",
    "offset.reset": "auto.offset.reset",
    "reset.policy": "auto.offset.reset",
    "offset.reset.policy": "auto.offset.reset",
    "auto.offset.reset.policy": "auto.offset.reset",
    "initial.offset": "auto.offset.reset",
    "offset.initial": "auto.offset.reset",
    "poll.records": "max.poll.records",
    "consumer.max.poll.records": "max.poll.records",
    "request.timeout": "request.timeout.ms",
    "default.api.timeout": "default.api.timeout.ms",
    "metadata.max.age": "metadata.max.age.ms",
    "retry.backoff": "retry.backoff.ms",
    "group.rebalance.strategy": "partition.assignment.strategy",
    "group.rebalance.strategies": "partition.assignment.strategy",
    "rebalance.strategy": "partition.assignment.strategy",
    "balance.strategy": "partition.assignment.strategy",
    "assignment.strategy": "partition.assignment.strategy",
    "partition.assignment.strategies": "partition.assignment.strategy",
    "num.threads": "num.stream.threads",
    "stream.threads": "num.stream.threads",
    "bootstrap.server": "bootstrap.servers",
    "bootstrap.brokers": "bootstrap.servers",
    "broker.list": "bootstrap.servers",
    "brokers": "bootstrap.servers",
    "kafka.brokers": "bootstrap.servers",
    "kafka.broker": "bootstrap.servers",
    "kafka.servers": "bootstrap.servers",
    "kafka.server": "bootstrap.servers",
    "kafka.hosts": "bootstrap.servers",
    "kafka.host": "bootstrap.servers",
    "kafka.url": "bootstrap.servers",
    "kafka.urls": "bootstrap.servers",
    "kafka.addr": "bootstrap.servers",
    "kafka.address": "bootstrap.servers",
    "kafka.addresses": "bootstrap.servers",
    "kafka.endpoint": "bootstrap.servers",
    "kafka.endpoints": "bootstrap.servers",
    "kafka.bootstrap": "bootstrap.servers",
    "broker.address": "bootstrap.servers",
    "broker.addresses": "bootstrap.servers",
    "broker.url": "bootstrap.servers",
    "broker.urls": "bootstrap.servers",
    "kafka.group": "group.id",
    "broker.group": "group.id",
    "kafka.group.id": "group.id",
    "key.deserializer.class": "key.deserializer",
    "value.deserializer.class": "value.deserializer",
    "instance.id.group": "group.instance.id",
}
_BY_SQUASHED = {squash(name): name for name in (*NAMES, *ALIASES)}
LONGEST = max(len(words(n)) for n in _BY_SQUASHED.values())

# What a prefix may say that makes a setting somebody else's.
NOT_THE_CONSUMERS = frozenset(
    listed(
        """
    producer producers admin adminclient writer writers publisher publishers sink output template
    registry schemaregistry restore
    dlq deadletter transaction offsets
    """
    )
)

SHORT = {
    "cooperativestickyassignor": "cooperative-sticky",
    "rangeassignor": "range",
    "roundrobinassignor": "roundrobin",
    "stickyassignor": "sticky",
    "cooperativesticky": "cooperative-sticky",
    "cooperativestickybalancer": "cooperative-sticky",
    "roundrobin": "roundrobin",
    "range": "range",
    "sticky": "sticky",
}
RESETS = {
    "smallest": "earliest",
    "beginning": "earliest",
    "oldest": "earliest",
    "largest": "latest",
    "end": "latest",
    "newest": "latest",
    "error": "none",
    "earliest": "earliest",
    "latest": "latest",
}


def known(name: str) -> tuple[str, list[str]] | None:
    """Kafka's name of the setting that a key ends with, and the words that stand before it."""
    pieces = words(name)
    for start in range(max(0, len(pieces) - LONGEST), len(pieces)):
        found = _BY_SQUASHED.get("".join(pieces[start:]))
        if found:
            return canonical(found), pieces[:start]
    return None


def is_of_serialisers(name: str) -> bool:
    """Whether a deserialiser reads a key, and not the consumer."""
    return name.startswith(_OF_SERIALISERS)


def exactly(name: str) -> str | None:
    """Kafka's name of a key that says a setting and nothing else."""
    found = _BY_SQUASHED.get(squash(name))
    return canonical(found) if found else None


def canonical(name: str) -> str:
    return ALIASES.get(name, name)


def nearest(name: str) -> str | None:
    """The setting that a misspelt key most likely means."""
    from rebalsim.words.nearest import several_nearest

    mine = set(words(name))
    alike = [n for n in sorted(NAMES) if len(mine & set(words(n))) > 1]
    return next(iter(several_nearest(name, alike, 1)), None)


def reading(name: str, text: Text) -> Text | list[str]:
    """A value as Kafka's own key would have it: milliseconds, short names of assignors."""
    if name == "partition.assignment.strategy":
        return assignors(text)
    plain = like(text.strip(), text)
    if name == "auto.offset.reset":
        return like(RESETS.get(plain.lower(), plain), text)
    if name.endswith(".ms") and (ms := milliseconds(plain)) is not None:
        return like(str(ms), text)
    if name in ("enable.auto.commit",) and plain.lower() in ("true", "false"):
        return like(plain.lower(), text)
    return plain


def assignors(text: str) -> list[str]:
    """Short names of a list of classes or names, in order."""
    names = [n.strip().strip("\"'[]").rpartition(".")[2] for n in str(text).split(",")]
    return [SHORT.get(squash(n), n) for n in names if n]
