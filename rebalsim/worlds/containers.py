"""A workload's containers: which of them consume, and what their variables, command and mounted
files say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients import profiles, signs
from rebalsim.worlds.clients.console import arguments, read_command
from rebalsim.worlds.clients.reading import Keys, Reading
from rebalsim.worlds.configs import read_config, read_keys
from rebalsim.worlds.connect_cluster import dotted, workers_of_keys
from rebalsim.worlds.container_signs import by_weak_signs, consumes_by_settings, fixed_names
from rebalsim.worlds.kubernetes import pods
from rebalsim.worlds.kubernetes.environment import Environment, Maps, command_of, environment
from rebalsim.worlds.kubernetes.workloads import Workload
from rebalsim.worlds.placeholders import GAP
from rebalsim.worlds.recognise import Config, sort_out
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.understood import Consumer, Understood, Workers
from rebalsim.worlds.values import Text, Tree, Value, default, place, stated, unknown
from rebalsim.worlds.words import boolean

_SETTINGS_FILE = re.compile(r"\.(properties|ya?ml|json|conf|ini|toml|env|cfg)$")
OF_CONNECT = "workers of Kafka Connect, whose own protocol is another than a consumer group's"
NOT_CONSUMERS = re.compile(r"(?i)producer|webclient|httpserver|log4j|logback|logging|tracing")


def read_workload(
    made: Understood,
    workload: Workload,
    maps: Maps,
    configs: list[Config],
    surely: bool = False,
) -> None:
    """The consumers of a workload, or why it is none. `surely`: something outside of it says that it
    consumes, though nothing in it does.
    """
    plain = [c for c in configs if not is_worker_file(c)]
    consumers = [
        c for container in workload.containers for c in _container(workload, container, maps, plain)
    ]
    loose = [] if consumers else [c for c in configs if is_worker_file(c)]
    workers = _workers(workload, maps, loose)
    made.workers += workers
    if surely and not consumers and not workers:
        consumers = _whatever_consumes(workload, maps, plain)
    if consumers:
        made.consumers += consumers
        made.hurts += workload.hurts
        return
    if workers:
        made.ignore(workload.label, OF_CONNECT)
    else:
        _tell_no_consumer(made, workload)


def _tell_no_consumer(made: Understood, workload: Workload) -> None:
    """Note what speaks for a consumer all the same, or why the container is none."""
    names = [workload.name, *(str(at(c, "image") or "") for c in workload.containers)]
    if re.search(r"(?i)consumer|listener|subscriber", workload.name) and not any(
        signs.OTHERS.search(n) for n in names
    ):
        made.maybe.append((workload.label, "a consumer by its name alone: no sign of Kafka"))
    elif workload.kind == "Application" and at(workload.pod, "kafka", "pool") is not None:
        made.maybe.append((workload.label, "it may use Kafka: nothing says whether it consumes"))
    else:
        made.ignore(workload.label, _why_not(workload, names))


def _whatever_consumes(workload: Workload, maps: Maps, configs: list[Config]) -> list[Consumer]:
    """The first container that is no tool beside, where something else says that one consumes."""
    for container in workload.containers:
        if not _is_of_others(container):
            env = _environment(workload, container, maps)
            command = command_of(container, env)
            reading = _readings(workload, container, env, command, maps, configs)[0]
            names = _names(workload, container, env, command)
            return [_consumer(workload, container, reading, env, command, names)]
    return []


def consumer_with(workload: Workload, reading: Reading) -> Consumer:
    """A workload's consumer whose settings stand elsewhere than in its containers."""
    container = next((c for c in workload.containers if not _is_of_others(c)), None)
    container = workload.containers[0] if container is None else container
    env = _environment(workload, container, Maps())
    return _consumer(workload, container, reading, env, command_of(container, env), [])


def _workers(workload: Workload, maps: Maps, loose: list[Config]) -> list[Workers]:
    """The workers of Kafka Connect in a workload: by their variables, or by a worker's file that is
    mounted, or lies beside where nothing else tells what the containers are.
    """
    found = []
    for container in workload.containers:
        env = environment(container, maps)
        files = [c for c in [*_mounted(workload, container, maps), *loose] if is_worker_file(c)]
        if is_connect(env):
            keys = dotted(env.keys)
        elif files and not _is_of_others(container):
            keys = {k: t for c in files for k, t in c.keys.items()}
        else:
            continue
        made = workers_of_keys(workload.name, keys, env.known())
        found.append(made)
        reading, told = made.pods.reading, made.pods
        made.pods = _consumer(workload, container, reading, env, command_of(container, env), [])
        made.pods.client, made.pods.group = told.client, told.group
        made.pods.instance, made.pods.members = told.instance, told.members
    return found


def _is_of_others(container: Tree) -> bool:
    image = str(at(container, "image") or "")
    return bool(signs.OTHERS.search(image) or signs.BROKER_IMAGES.search(image))


def is_worker_file(config: Config) -> bool:
    return any(k == "config.storage.topic" for k in config.keys)


def may_consume(workload: Workload) -> bool:
    """Whether a workload is neither a broker nor a tool nor a producer by its names."""
    names = [workload.name, *(str(at(c, "image") or "") for c in workload.containers)]
    return _why_not(workload, names).startswith("nothing")


def _why_not(workload: Workload, names: list[str]) -> str:
    if any(signs.BROKER_IMAGES.search(n) for n in names):
        return "a broker"
    if any(signs.OTHERS.search(n) for n in names):
        return "a tool beside Kafka, no consumer of yours"
    if signs.PRODUCERS.search(workload.name):
        return "produces"
    if any(is_connect(environment(c, Maps())) for c in workload.containers):
        return OF_CONNECT
    return "nothing in it consumes from Kafka"


def _environment(workload: Workload, container: Tree, maps: Maps) -> Environment:
    """The container's variables; HOSTNAME is the pod's name, unless it is in the node's network."""
    env = environment(container, maps)
    if workload.kind != "service" and boolean(at(workload.pod, "hostNetwork")) is not True:
        env.implied["HOSTNAME"] = "{pod}"
    return env


def _container(
    workload: Workload, container: Tree, maps: Maps, configs: list[Config]
) -> list[Consumer]:
    env = _environment(workload, container, maps)
    command = command_of(container, env)
    names = _names(workload, container, env, command)
    mounted = _mounted(workload, container, maps)
    if _is_another_thing(container, env, command) or any(is_worker_file(c) for c in mounted):
        return []
    image = str(at(container, "image") or "")
    readings = _readings(workload, container, env, command, maps, configs)
    chosen = [r for r in readings if consumes_by_settings(r, workload, image)]
    if not chosen and not any(r.produces for r in readings):
        chosen = by_weak_signs(workload, container, env, readings, names)
    return [_consumer(workload, container, r, env, command, names) for r in chosen]


def _is_another_thing(container: Tree, env: Environment, command: list[Text]) -> bool:
    """A broker, a worker of Connect, or a tool that is known by its name."""
    image = str(at(container, "image") or "")
    if signs.BROKER_IMAGES.search(image) and not _consumes_from_console(command):
        return True  # its version is read where the whole of the files is
    if any(signs.OTHERS.search(n) for n in (image, str(word(at(container, "name")) or ""))):
        return True
    if any(signs.BROKER_VARIABLES.match(k) for k in env.keys) and not (command or _asks(env)):
        return True
    return is_connect(env)


def _asks(env: Environment) -> bool:
    """Whether variables tell where the brokers are, which no broker is told: a table of variables
    may be shared with one.
    """
    return any(
        (found := kafka_names.known(k)) and found[0] == "bootstrap.servers" for k in env.keys
    )


def is_connect(env: Environment) -> bool:
    """A worker of Kafka Connect, by the topics that only those have: no consumer group of this kind."""
    names = {str(k).upper() for k in env.keys}
    return bool(
        names & {"CONNECT_CONFIG_STORAGE_TOPIC", "CONNECT_OFFSET_STORAGE_TOPIC"}
        or {"CONFIG_STORAGE_TOPIC", "OFFSET_STORAGE_TOPIC"} <= names
    )


def _consumes_from_console(command: list[Text]) -> bool:
    return "kafka-console-consumer" in " ".join(command)


def _names(workload: Workload, container: Tree, env: Environment, command: list[Text]) -> list[str]:
    labels = table(at(workload.tree, "metadata", "labels"))
    return [
        workload.name,
        str(at(container, "image") or ""),
        str(at(container, "name") or ""),
        *map(str, env.keys),
        *env.used_maps,
        *(str(v) for v in labels.values() if isinstance(v, Text)),
        *map(str, command),
    ]


# ---- what it says ----
def _readings(
    workload: Workload,
    container: Tree,
    env: Environment,
    command: list[Text],
    maps: Maps,
    configs: list[Config],
) -> list[Reading]:
    known = env.known()
    options = [*_system_properties(env, command).items(), *arguments(command).items()]
    told = {**known, **{str(k): str(t) for k, t in dict(options).items() if t}}
    keys, special, client = _of_configs(
        [*_mounted(workload, container, maps), *configs], known, told
    )
    for key, text in [*env.keys.items(), *options]:
        keys.pop(key, None)  # what comes later stands last
        keys[key] = text
    readings = read_keys(keys, known) or [Reading()]
    for reading in readings:
        reading.client = reading.client or client
    said = read_command(command, known)
    if said is not None:
        readings = [_over(r, said) for r in readings]
    if special and not any(r.consumes for r in readings):
        return special
    return readings


def _of_configs(
    configs: list[Config], known: Mapping[str, str], told: Mapping[str, str]
) -> tuple[Keys, list[Reading], Value | None]:
    """What configuration files say: their keys, what those of a form of their own are read as,
    and which client they speak of.
    """
    keys: Keys = {}
    special: list[Reading] = []
    client: Value | None = None
    for config in configs:
        if config.form == "ini" or (config.tree is not None and not _is_plain(config)):
            special += [r for r in read_config(config, known) if r.consumes]
            continue
        keys.update(profiles.laid(config, profiles.active(config.keys, told)))
        if config.tree is not None:
            client = client or next((r.client for r in read_config(config, {})), None)
    return keys, special, client


def _is_plain(config: Config) -> bool:
    """A tree that dialects of keys read: Spring's, Quarkus', .NET's, a program's own."""
    return not any(r.name or r.client for r in read_config(config, {})) or any(
        k.lower().startswith(("spring", "mp.", "quarkus", "micronaut", "kafka"))
        for k in config.keys
    )


def _over(reading: Reading, said: Reading) -> Reading:
    """The command's options over the variables."""
    for name, value in said.settings.items():
        if value.known or name not in reading.settings:
            reading.put(name, value)
    reading.topics = said.topics if said.topics and said.topics.known else reading.topics
    reading.is_pattern = reading.is_pattern or said.is_pattern
    reading.client = said.client or reading.client
    reading.members = said.members or reading.members
    reading.consumes = reading.consumes or said.consumes
    reading.mentions_kafka = True
    return reading


def _system_properties(env: Environment, command: list[Text]) -> Keys:
    """-Dname=value of the JVM's options: over the environment, in every framework."""
    made: Keys = {}
    texts = [t for k, t in env.keys.items() if t and re.search(r"(?i)java|jvm|jdk", k)]
    for text in [*texts, *command]:
        for name, value in re.findall(r"-D([\w.\-\[\]]+)=(\S+)", text):
            made[Text(name, text.file, text.line)] = Text(value, text.file, text.line)
    return made


def _mounted(workload: Workload, container: Tree, maps: Maps) -> list[Config]:
    """Files of settings in the ConfigMaps that the container mounts."""
    mounted = {str(at(m, "name")) for m in rows(at(container, "volumeMounts"))}
    made: list[Config] = []
    for volume in rows(at(workload.pod, "volumes")):
        name = word(at(volume, "configMap", "name"))
        if name is None or str(at(volume, "name")) not in mounted:
            continue
        data = maps.get(str(name))
        if data is not None:
            made += configs_of_map(data)
    return made


def configs_of_map(data: Mapping[Text, Tree]) -> list[Config]:
    """The settings files inside a ConfigMap; examples and other programs' files are left out."""
    made: list[Config] = []
    for key, text in data.items():
        if not isinstance(text, Text) or key.startswith("_example") or NOT_CONSUMERS.search(key):
            continue
        if _SETTINGS_FILE.search(key) or "\n" in text.strip():
            inner = sort_out([(f"{key.file}#{key}", str(text))])
            made += [_at_line(c, text) for c in profiles.joined(inner.configs)]
    return made


def _at_line(config: Config, text: Text) -> Config:
    """A file inside a file: its lines counted in the outer one."""

    def moved(t: Text | None) -> Text | None:
        return Text(str(t), text.file, text.line + t.line) if t is not None else None

    def all_moved(keys: Keys) -> Keys:
        return {Text(str(k), text.file, text.line + k.line): moved(t) for k, t in keys.items()}

    config.keys = all_moved(config.keys)
    config.profiles = [(condition, all_moved(keys)) for condition, keys in config.profiles]
    return config


def container_name_of(container: Tree) -> str | None:
    name = word(at(container, "name"))
    return str(name) if name is not None and GAP not in name else None


def readings_of_map(data: Mapping[Text, Tree], known: Mapping[str, str]) -> list[Reading]:
    """A ConfigMap on its own: variables, or files of settings."""
    files = configs_of_map(data)
    plain: Keys = {
        k: t
        for k, t in data.items()
        if isinstance(t, Text) and "\n" not in t.strip() and not k.startswith("_example")
    }
    made = [r for c in files for r in read_config(c, known)]
    if any(r.consumes for r in made):
        return made
    return [*made, *(r for r in read_keys(plain, known) if plain)]


# ---- the consumer ----
def _consumer(
    workload: Workload,
    container: Tree,
    reading: Reading,
    env: Environment,
    command: list[Text],
    names: list[str],
) -> Consumer:
    program = signs.program_of(fixed_names(names, env), map(str, env.keys))
    client = _client(reading, program, names)
    made = Consumer(
        reading,
        client,
        reading.group or unknown(_group_missing(env)),
        _instance(reading, client),
        reading.topics or unknown("in the code"),
        _members(reading, program, client),
        workload=workload.label,
        container=container_name_of(container),
        name=reading.name,
        replicas=workload.replicas,
        replicas_left_out=workload.replicas_left_out,
        update=workload.update,
        grace=pods.grace(workload.pod, workload.kind),
        pre_stop=pods.pre_stop(container),
        ready=pods.ready(container),
        shell=pods.shell_is_process_one(command),
        where=workload.where,
        annotations=workload.annotations,
        template=repr((at(workload.tree, "spec", "template"), workload.pod)),
    )
    kinds = ("startupProbe", "readinessProbe", "livenessProbe")
    made.probes = [p for kind in kinds if (p := pods.probe(container, kind))]
    if limit := word(at(container, "resources", "limits", "cpu")):
        made.cpu_limit = str(limit)
    made.image = str(at(container, "image") or "")
    if request := word(at(container, "resources", "requests", "cpu")):
        made.cpu_request = str(request)
    if namespace := word(at(workload.tree, "metadata", "namespace")):
        made.namespace = stated(str(namespace), place(namespace))
    _spring_hints(made)
    return made


def _group_missing(env: Environment) -> str:
    if env.missing_maps:
        return f"ConfigMap {env.missing_maps[0]} is not among the files"
    return "in the code"


def _client(reading: Reading, program: signs.Program | None, names: list[str]) -> Value:
    if reading.client is not None:
        return reading.client
    values = [str(v.value) for v in reading.settings.values() if v.known]
    by_settings = signs.client_by_settings(reading.settings, values)
    if by_settings is not None and by_settings.value == "streams":
        return by_settings
    if program is not None and program.client:
        return Value(program.client, "inferred", program.why or "a program known by its name")
    return by_settings or signs.client_by_names(names)


def _instance(reading: Reading, client: Value) -> Value:
    instance = reading.instance
    if instance is None:
        untold = client.value == "streams" and not reading.settings
        return unknown("in the code") if untold else default(None, "not set")
    if client.value == "streams" and instance.known and "{thread}" not in str(instance.value):
        return stated(f"{instance.value}-{{thread}}", instance.source)
    return instance


def _members(reading: Reading, program: signs.Program | None, client: Value) -> Value:
    if reading.members is not None:
        return reading.members
    if program is not None and program.has_many:
        return unknown(program.why or "several consumers by its nature")
    if client.value == "streams":
        if not reading.settings:
            return unknown("num.stream.threads in the code")
        return default(1, "num.stream.threads is 1 by default")
    return default(1, "one per pod")


def _spring_hints(made: Consumer) -> None:
    """A Spring consumer whose settings are all in the environment is a listener, too."""
    if made.client.value == "spring":
        made.reading.is_listener = made.reading.is_listener or not made.reading.name
