"""From texts to what they mean together: a workload, its ConfigMap, its settings, its scaler and its
topics become one consumer. Pure: texts come in, facts go out.
"""

from __future__ import annotations

import re
from itertools import takewhile

from rebalsim.worlds import (
    asks,
    compose,
    connect_cluster,
    connectors,
    containers,
    created_topics,
    dapr,
    hurts,
    platforms,
    scaled,
)
from rebalsim.worlds.clients import collectors, profiles, signs
from rebalsim.worlds.clients.reading import Reading
from rebalsim.worlds.configs import knative_source, read_config
from rebalsim.worlds.kubernetes import (
    autoscalers,
    controllers,
    event_sources,
    from_values,
    kustomize,
    openshift,
    strimzi,
    topics,
)
from rebalsim.worlds.kubernetes.environment import Environment, Maps, command_of
from rebalsim.worlds.kubernetes.workloads import KINDS, Workload, not_played_of, workloads
from rebalsim.worlds.live.listings import read_listing
from rebalsim.worlds.live.metrics import measured
from rebalsim.worlds.recognise import Config, Found, sort_out
from rebalsim.worlds.text_tree import at
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Tree, Value, default, place, place_in, stated, unknown
from rebalsim.worlds.values import inferred as likely

_SHARE = re.compile(r"share\.(acknowledgement|auto\.offset)|group\.share\.|\bshare-?consumer", re.I)


def understand(sources: list[tuple[str, str]]) -> Understood:
    """Everything that a set of files tells of consumer groups."""
    found = sort_out(sources)
    found.configs = profiles.joined(found.configs)
    made = Understood(files=found.files, unread=found.unread, to_render=found.to_render)
    objects = [
        inner
        for tree in found.objects
        for inner in (openshift.objects_of(tree) if openshift.is_template(tree) else [tree])
    ]
    objects, made.missing = kustomize.built(
        found.kustomizations, objects, found.object_files, dict(sources)
    )
    objects = platforms.with_their_services(controllers.referring(objects))
    maps = Maps()
    for tree in objects:
        if at(tree, "kind") == "ConfigMap":
            maps.add(tree)
    for tree in objects:
        _object(made, tree)
    _connectors(made, found, maps)
    _live(made, found)
    _workloads(made, objects, maps, found)
    used = [c for tree in found.composes for c in compose.read_compose(made, tree, found.configs)]
    found.configs = [c for c in found.configs if c not in used]
    _without_workload(made, found, objects, maps)
    _helm_values(made, found)
    _finish(made, found, sources)
    return made


# ---- objects that are no workload ----
def _object(made: Understood, tree: Tree) -> None:
    kind, version = str(at(tree, "kind")), str(at(tree, "apiVersion") or "")
    name = str(at(tree, "metadata", "name") or "")
    if kind == "ScaledObject" or (kind == "ScaledJob" and "keda" in version):
        made.scalings.append(autoscalers.scaled_object(tree))
    elif kind == "HorizontalPodAutoscaler":
        made.scalings.append(autoscalers.horizontal(tree))
    elif kind == "PodDisruptionBudget":
        spec = at(tree, "spec")
        key = "minAvailable" if at(spec, "minAvailable") is not None else "maxUnavailable"
        made.budgets_min_available.append((name, key, str(at(spec, key))))
    elif topics.is_topic(kind, version):
        topics.read_topic(made, tree)
    elif kind in event_sources.KINDS:
        _event_source(made, tree)
    elif strimzi.is_a_clusters(kind, version):
        strimzi.read(made, tree)
    elif kind == "ClowdApp":
        strimzi.clowd_topics(made, tree)
    elif besides := list(controllers.told(tree)):
        for label, why in besides:
            made.ignore(label, why)
    elif _is_strange(kind, version):
        made.strange.append(f"{kind}/{name} ({version})")


def _event_source(made: Understood, tree: Tree) -> None:
    for found in event_sources.read_event_source(tree):
        if found.reading is None:
            made.ignore(found.label, found.why_not)
            continue
        consumer = client_of(found.reading, place_in(tree))
        consumer.workload, consumer.replicas = found.label, found.replicas
        made.consumers.append(consumer)


# API groups of Kubernetes itself: their kinds are known, and most of them have nothing to say here.
_OWN_GROUPS = re.compile(r"^(v1|(apps|batch|autoscaling|policy|extensions)/.*|.*\.k8s\.io/.*)$")


def _is_strange(kind: str, version: str) -> bool:
    """A custom resource that no reader here is for."""
    read = kind in KINDS or kind in ("Component", "Subscription", "KafkaSource", "Template")
    return not (read or _OWN_GROUPS.match(version))


# ---- workloads ----
def _workloads(made: Understood, objects: list[Tree], maps: Maps, found: Found) -> None:
    every = [w for tree in objects for w in workloads(tree)]
    joined = _configs_of(every, found, maps)
    by_lag = scaled.scaled_by_lag(made)
    for workload in every:
        for container in workload.containers:
            _broker_version(made, at(container, "image"))
            created_topics.by_commands(made, command_of(container, Environment()))
        configs, before = joined.get(id(workload), []), len(made.consumers)
        app_topics = strimzi.topics_of_app(workload.tree)
        surely = workload.label in by_lag or (app_topics and signs.CONSUMERS.search(workload.name))
        containers.read_workload(made, workload, maps, configs, bool(surely))
        if made.consumers[before:] and (why := not_played_of(workload)):
            made.ignore(workload.label, why)
        for consumer in made.consumers[before:]:
            if consumer.topics.sure == "unknown" and len(app_topics) == 1:
                consumer.topics = likely(app_topics, "the only one in the app's kafkaTopics")
    for config_list in joined.values():
        for config in config_list:
            if config in found.configs:
                found.configs.remove(config)


def _broker_version(made: Understood, image: Tree) -> None:
    version = signs.broker_version(str(image or ""))
    if version is not None:
        made.kafka_version = stated(version, place(image))


def _alone_to_consume(every: list[Workload], maps: Maps) -> list[Workload]:
    """The workloads that consume by themselves; where none does, those that could."""
    alone = []
    for workload in every:
        trial = Understood()
        containers.read_workload(trial, workload, maps, [])
        if trial.consumers:
            alone.append(workload)
    return alone or [w for w in every if containers.may_consume(w)]


def _configs_of(every: list[Workload], found: Found, maps: Maps) -> dict[int, list[Config]]:
    """Which files of settings belong to which workload: all to the only one that consumes; with
    several, by the workload's name in the file's path, else by the folders that they share.
    """
    if not found.configs:
        return {}
    only = every if len(every) == 1 else _alone_to_consume(every, maps)
    if len(only) == 1:
        return {id(only[0]): list(found.configs)}
    joined: dict[int, list[Config]] = {}
    for config in found.configs:
        for workload in _named_in(config.file, every) or _nearest_to(config.file, only):
            joined.setdefault(id(workload), []).append(config)
    return joined


def _named_in(file: str, every: list[Workload]) -> list[Workload]:
    """The workloads whose name stands in the file's path, as whole words; of two of which one's
    name holds the other's, the longer.
    """
    named = [w for w in every if w.name and re.search(rf"(?<!\w){re.escape(w.name)}(?!\w)", file)]
    longest = max((len(w.name) for w in named), default=0)
    return [w for w in named if len(w.name) == longest]


def _nearest_to(file: str, consuming: list[Workload]) -> list[Workload]:
    """The workload whose manifest shares more folders with the file than any other's does: a folder
    for each service is how many keep them.
    """
    shared = [_shared_folders(file, place_in(w.tree).rpartition(":")[0]) for w in consuming]
    most = max(shared, default=0)
    nearest = [w for w, count in zip(consuming, shared) if count == most]
    return nearest if len(nearest) == 1 else []


def _shared_folders(one: str, other: str) -> int:
    folders = zip(one.split("/")[:-1], other.split("/")[:-1])
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], folders))


# ---- clients whose workload is not among the files ----
def _without_workload(made: Understood, found: Found, objects: list[Tree], maps: Maps) -> None:
    _of_objects(made, objects)
    for file, own in found.own:
        made.ignore(file, own)
    known = _environments(found)
    for config in found.configs:
        _of_config(made, config, known)
    if not any(w for tree in objects for w in workloads(tree)):
        _maps_alone(made, maps)


def _of_objects(made: Understood, objects: list[Tree]) -> None:
    """Understand Dapr's components and Knative's sources."""
    for tree in objects:
        kind = at(tree, "kind")
        readings: list[Reading] = []
        if kind == "Component":
            readings = collectors.read_dapr(tree, {}, objects)
        elif kind == "KafkaSource" and (source := knative_source(tree)):
            readings = [source]
        for reading in readings:
            every = [w for t in objects for w in workloads(t)] if kind == "Component" else []
            joined = dapr.consumer_of(made, tree, reading, every) if every else None
            made.consumers.append(joined or client_of(reading, place_in(tree)))
    dapr.leave_other_brokers(made, objects)


def _of_config(made: Understood, config: Config, known: dict[str, str]) -> None:
    """The consumers of a settings file, or why it has none."""
    _worker_files(made, config)
    if why := _of_another_kind(config):
        made.ignore(config.file, why)
        return
    if any(signs.is_a_tools(k) for k in config.keys):
        made.ignore(config.file, "settings of a tool beside Kafka, no consumer of yours")
        return
    _tell_profiles(made, config, profiles.active(config.keys, known))
    told = read_config(config, known)
    readings = [r for r in told if consumes(r) or _reads_by_nature(r, config)]
    for reading in readings:
        made.consumers.append(_known_program(client_of(reading, config.file), config))
    if not readings:
        made.ignore(config.file, "settings, but of no consumer")


def _tell_profiles(made: Understood, config: Config, active: list[str]) -> None:
    for condition in profiles.left_out(config, active):
        made.ignore(
            f"{config.file}, profile {condition}",
            "not active as far as the files tell: SPRING_PROFILES_ACTIVE says which is",
        )


def _connectors(made: Understood, found: Found, maps: Maps) -> None:
    """Files that hold connectors, also those in ConfigMaps: they belong to the workers, and to no
    workload that consumes.
    """
    mapped = [c for data in maps.maps.values() for c in containers.configs_of_map(data)]
    for config in [*found.configs, *mapped]:
        held = connectors.connectors_of_file(config)
        if held and config in found.configs:
            found.configs.remove(config)
        for connector in held:
            made.connectors.append(connector)
            group = connectors.sink_group(connector, None)
            if group is None:
                made.ignore(
                    f"{config.file}: {connector.name}", "a source connector: no group of consumers"
                )
            else:
                made.consumers.append(group)


def _worker_files(made: Understood, config: Config) -> None:
    """A worker's own properties, or MirrorMaker's, whose workload is not among the files."""
    if containers.is_worker_file(config):
        made.workers.append(connect_cluster.workers_of_keys("connect", config.keys, {}))
    elif mirrors := connectors.mirror_maker(config.keys):
        made.workers.append(connect_cluster.workers_of_keys("mirror-maker", config.keys, {}))
        made.connectors += mirrors


def _of_another_kind(config: Config) -> str:
    """Settings of what rebalances by other rules: Connect's workers, share groups."""
    keys = {str(k) for k in config.keys}
    if {
        "config.storage.topic",
        "offset.storage.topic",
    } & keys or "offset.storage.file.filename" in keys:
        return containers.OF_CONNECT
    if connectors.mirror_maker(config.keys):
        return "MirrorMaker, which assigns partitions by itself: no consumer group rebalances"
    if any(k.startswith("share.") for k in keys):
        return "a share group (KIP-932), which has no rebalance of this kind"
    return ""


def _reads_by_nature(reading: Reading, config: Config) -> bool:
    """A program known by its keys, which says where its brokers are: it has a consumer."""
    program = signs.program_of([], [k.split(".")[0] for k in config.keys])
    said = "bootstrap.servers" in reading.settings and not reading.produces
    return said and program is not None and program.client is not None


def _known_program(consumer: Consumer, config: Config) -> Consumer:
    """A program known by its keys may have several consumers by its nature."""
    program = signs.program_of([], [k.split(".")[0] for k in config.keys])
    if program and program.has_many and consumer.group.sure == "unknown":
        consumer.members = unknown(program.why)
    return consumer


def _environments(found: Found) -> dict[str, str]:
    """Variables of environment files among the given: they resolve the others' placeholders."""
    return {
        str(k): str(t)
        for c in found.configs
        if c.form == "environment"
        for k, t in c.keys.items()
        if t
    }


def _maps_alone(made: Understood, maps: Maps) -> None:
    """ConfigMaps whose workload is not among the files."""
    for name, data in maps.maps.items():
        program = signs.program_of([name, *maps.about.get(name, [])])
        for reading in containers.readings_of_map(data, {}):
            if not consumes(reading):
                continue
            consumer = client_of(reading, place_in(data))
            if program and program.has_many:
                consumer.members = unknown(program.why)
            made.consumers.append(consumer)


def consumes(reading: Reading) -> bool:
    """Whether a reading without a workload is a consumer's."""
    if reading.is_off is not None and reading.is_off.value is True:
        return False
    return reading.consumes and not (
        reading.produces and reading.group is None and not _reads(reading)
    )


def _reads(reading: Reading) -> bool:
    return bool(
        set(reading.settings)
        & {
            "auto.commit.interval.ms",
            "auto.offset.reset",
            "enable.auto.commit",
            "isolation.level",
            "max.poll.records",
            "session.timeout.ms",
            "partition.assignment.strategy",
            "max.poll.interval.ms",
            "key.deserializer",
            "value.deserializer",
        }
    )


def client_of(reading: Reading, where: str) -> Consumer:
    """A consumer without a workload."""
    values = [str(v.value) for v in reading.settings.values() if v.known]
    client = (
        reading.client
        or signs.client_by_settings(reading.settings, values)
        or unknown("nothing in the file tells the client")
    )
    members = reading.members
    if members is None:
        members = default(1, "one per process")
    return Consumer(
        reading,
        client,
        reading.group or unknown("not in the file"),
        reading.instance or default(None, "not set"),
        reading.topics or unknown("not in the file"),
        members,
        name=reading.name,
        where=where,
    )


# ---- Helm's values alone ----
def _helm_values(made: Understood, found: Found) -> None:
    """A chart's values without a template that tells the workload: what stands in them as text."""
    if made.consumers or not found.values:
        return
    for file, tree in found.values:
        inner = [c for t in from_values.program_files(tree) if (c := _collector(file, t))]
        workload = from_values.workload_of_values(file, tree, has_variables=not inner)
        containers.read_workload(made, workload, Maps(), inner)
        if not made.consumers:
            made.ignore(file, "a chart's values: nothing in them consumes; render the chart first")


def _collector(file: str, tree: Tree) -> Config | None:
    """A program's own file inside a chart's values, where that program reads from Kafka."""
    return Config(file, {}, "yaml", tree) if collectors.read_collectors(tree, {}) else None


# ---- live ----
def _live(made: Understood, found: Found) -> None:
    """Understand listings and metrics of live clusters: groups, members, partitions, rates."""
    for _, text in found.listings:
        read_listing(text, made.listed)
    for _, text in found.metrics:
        made.measured = measured(text)
    for topic, told in made.listed.topics.items():
        made.topics[topic] = {k: Value(v, "stated", "a listing") for k, v in told.items()}


# ---- the whole ----
def _finish(made: Understood, found: Found, sources: list[tuple[str, str]]) -> None:
    _narrow_topics(made)
    scaled.join(made)
    for file, text in sources:
        if found_share := _SHARE.search(text):
            made.share_groups.append(f"{file}: {found_share[0]}")
    made.kind = _kind(made, found)
    made.hurts += hurts.hurts_of(made)
    made.asks = asks.asks_of(made)


def _narrow_topics(made: Understood) -> None:
    for consumer in made.consumers:
        if consumer.topics.known and isinstance(consumer.topics.value, str):
            consumer.topics = likely([consumer.topics.value], consumer.topics.source)


def _kind(made: Understood, found: Found) -> str:
    if any(c.workload for c in made.consumers) or (found.objects and not made.scalings):
        return "compose" if found.composes and not found.objects else "manifest"
    if made.listed.groups or made.listed.topics:
        return "live"
    if made.scalings:
        return "scaling"
    if found.composes:
        return "compose"
    return "client-config"
