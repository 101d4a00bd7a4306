"""docker-compose: services that consume, brokers whose version and defaults they tell."""

from __future__ import annotations

import re

from rebalsim.worlds import containers, created_topics
from rebalsim.worlds.clients import signs
from rebalsim.worlds.kubernetes.environment import Maps
from rebalsim.worlds.kubernetes.workloads import Workload
from rebalsim.worlds.placeholders import GAP
from rebalsim.worlds.recognise import Config
from rebalsim.worlds.text_tree import at, merge, table, texts, word
from rebalsim.worlds.understood import Understood, Update
from rebalsim.worlds.values import (
    Text,
    Tree,
    Value,
    default,
    place,
    stated,
    unknown,
)
from rebalsim.worlds.words import milliseconds, whole


def read_compose(made: Understood, tree: Tree, configs: list[Config]) -> list[Config]:
    """Every service: a consumer, a broker, or something else. Returns the files of variables that
    services name, which are theirs and nobody else's.
    """
    services = table(at(tree, "services"))
    used: list[Config] = []
    for name, service in services.items():
        if isinstance(service, dict):
            own = _extended(service, services)
            _broker(made, own)
            told = [*_words(at(own, "entrypoint")), *_words(at(own, "command"))]
            created_topics.by_commands(made, told)
            files = [c for path in _env_files(own) for c in configs if _is_file(c, path)]
            used += files
            containers.read_workload(made, _workload(name, own, files), Maps(), [])
    return used


def _env_files(service: Tree) -> list[str]:
    """The files of `env_file`, as text, in a list, or as `path:` of a block; the last one wins."""
    told = at(service, "env_file")
    rows = told if isinstance(told, list) else [told]
    paths = [word(at(row, "path")) if isinstance(row, dict) else row for row in rows]
    return [str(p) for p in paths if isinstance(p, Text)]


def _is_file(config: Config, path: str) -> bool:
    """Whether this is the file that a service names, beside its compose file."""
    wanted = re.sub(r"^(\./)+", "", path)
    return config.form in ("environment", "properties") and (
        config.file == wanted or config.file.endswith(f"/{wanted}")
    )


def _extended(service: dict[Text, Tree], services: dict[Text, Tree]) -> Tree:
    base = at(service, "extends", "service") or at(service, "extends")
    if isinstance(base, Text) and base in services and "file" not in table(at(service, "extends")):
        return merge(services[base], service)
    return service


def _workload(name: Text, service: Tree, files: list[Config]) -> Workload:
    """A service in the words of a pod: its environment, command, grace and count."""
    container: dict[Text, Tree] = {
        Text("name"): word(at(service, "container_name")) or name,
        Text("image"): word(at(service, "image")) or Text(""),
        Text("env"): [
            *({Text("name"): k, Text("value"): t} for f in files for k, t in f.keys.items() if t),
            *_env(at(service, "environment")),
        ],
        Text("command"): _words(at(service, "entrypoint")),
        Text("args"): _words(at(service, "command")),
    }
    grace = word(at(service, "stop_grace_period"))
    ms = milliseconds(grace) if grace is not None else None
    pod: Tree = {}
    if grace is not None and ms is not None:
        seconds = Text(str(ms // 1000), grace.file, grace.line)
        pod = {Text("terminationGracePeriodSeconds"): seconds}
    made = Workload("service", str(name), pod, [container], {Text("spec"): {}})
    made.where = place(name)
    made.replicas = _replicas(service)
    count = made.replicas.value if isinstance(made.replicas.value, int) else 1
    made.update = Update("Recreate", most_pods=count, fewest_available=0)
    return made


def _replicas(service: Tree) -> Value:
    told = at(service, "deploy", "replicas") or at(service, "scale")
    if told is None:
        return default(1, "compose starts one container of a service")
    number = whole(told)
    return unknown(place(told)) if number is None else stated(number, place(told))


def _env(tree: Tree) -> list[Tree]:
    if isinstance(tree, dict):
        pairs = [
            (k, v if isinstance(v, Text) else Text("", k.file, k.line)) for k, v in tree.items()
        ]
    else:
        pairs = []
        for text in texts(tree):
            key, sign, value = text.partition("=")
            if not sign:  # taken from whoever starts it
                value = GAP
            pairs.append((Text(key, text.file, text.line), Text(value, text.file, text.line)))
    return [{Text("name"): k, Text("value"): _unescaped(v)} for k, v in pairs]


def _unescaped(text: Text) -> Text:
    return Text(text.replace("$$", "$"), text.file, text.line)


def _words(tree: Tree) -> list[Text]:
    if isinstance(tree, Text):
        return [Text(w, tree.file, tree.line) for w in tree.split()]
    return texts(tree)


def _broker(made: Understood, service: Tree) -> None:
    """What a broker's image and variables tell: the version, and the groups' settings."""
    image = str(at(service, "image") or "")
    version = signs.broker_version(image)
    if version:
        made.kafka_version = stated(version, place(at(service, "image")))
    if not signs.BROKER_IMAGES.search(image):
        return
    for row in _env(at(service, "environment")):
        name, value = str(at(row, "name")), at(row, "value")
        if name == "KAFKA_CREATE_TOPICS" and isinstance(value, Text):
            created_topics.by_image(made, value)
        if name.startswith(("KAFKA_GROUP_", "KAFKA_OFFSETS_", "KAFKA_NUM_PARTITIONS")):
            key = name.removeprefix("KAFKA_").lower().replace("_", ".")
            made.broker_settings[key] = stated(str(value), place(value))
