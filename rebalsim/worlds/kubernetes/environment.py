"""A container's environment: envFrom, then env over it, `$(VAR)` filled in from what came before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rebalsim.worlds.clients.reading import Keys
from rebalsim.worlds.placeholders import expanded
from rebalsim.worlds.text_tree import at, rows, table, texts, word
from rebalsim.worlds.values import Text, Tree


@dataclass(slots=True)
class Maps:
    """The ConfigMaps among the files, by name. Secrets are never read."""

    maps: dict[str, dict[Text, Tree]] = field(default_factory=dict)
    about: dict[str, list[str]] = field(default_factory=dict)  # namespaces and labels

    def add(self, tree: Tree) -> None:
        if name := word(at(tree, "metadata", "name")):
            self.maps.setdefault(str(name), {}).update(table(at(tree, "data")))
            labels = table(at(tree, "metadata", "labels")).values()
            space = at(tree, "metadata", "namespace")
            self.about[str(name)] = [str(t) for t in (space, *labels) if isinstance(t, Text)]

    def get(self, name: str | None) -> dict[Text, Tree] | None:
        return self.maps.get(name) if name else None


@dataclass(slots=True)
class Environment:
    """The variables of a container: text, or None where nobody can tell from these files."""

    keys: Keys = field(default_factory=dict)
    missing_maps: list[str] = field(default_factory=list)
    used_maps: set[str] = field(default_factory=set)
    secrets: set[str] = field(default_factory=set)
    implied: dict[str, str] = field(default_factory=dict)  # set by Kubernetes itself

    def known(self) -> dict[str, str]:
        told = {str(k): str(v) for k, v in self.keys.items() if v is not None}
        return {**self.implied, **told}

    def put(self, key: Text, value: Text | None) -> None:
        self.keys.pop(key, None)
        self.keys[key] = value


def environment(container: Tree, maps: Maps) -> Environment:
    made = Environment()
    for row in rows(at(container, "envFrom")):
        _from_map(made, row, maps)
    env = at(container, "env")
    for row in rows(env):
        _variable(made, row, maps)
    return made


def _from_map(made: Environment, row: dict[Text, Tree], maps: Maps) -> None:
    name = word(at(row, "configMapRef", "name"))
    if name is None:
        return
    made.used_maps.add(str(name))
    prefix = word(row.get(Text("prefix"))) or ""
    data = maps.get(str(name))
    if data is None:
        made.missing_maps.append(str(name))
        return
    for key, value in data.items():
        if isinstance(value, Text) and not key.startswith("_example") and "\n" not in value:
            made.put(Text(f"{prefix}{key}", key.file, key.line), value)


def _variable(made: Environment, row: dict[Text, Tree], maps: Maps) -> None:
    name = word(row.get(Text("name")))
    if name is None:
        return
    if "valueFrom" not in row:
        value = row.get(Text("value"))
        text = value if isinstance(value, Text) else None
        made.put(name, expanded(text, made.keys) if text is not None else Text("", name.file))
        return
    source = table(row.get(Text("valueFrom")))
    if path := word(at(source, "fieldRef", "fieldPath")):
        label = re.search(r"pod-index", path)
        pod = path == "metadata.name" or label
        made.put(name, Text("{pod}", name.file, name.line) if pod else None)
    elif "secretKeyRef" in source:
        made.secrets.add(str(name))
        made.put(name, None)
    elif key := word(at(source, "configMapKeyRef", "key")):
        owner = word(at(source, "configMapKeyRef", "name"))
        made.used_maps.add(str(owner))
        data = maps.get(owner)
        value = data.get(key) if data is not None else None
        if data is None and owner:
            made.missing_maps.append(str(owner))
        made.put(name, value if isinstance(value, Text) else None)
    else:
        made.put(name, None)


def command_of(container: Tree, env: Environment) -> list[Text]:
    """command and args, one after the other, with `$(VAR)` filled in from the environment. What only
    the cluster knows stays as it is written, and is unknown to whoever reads it.
    """
    written = [*texts(at(container, "command")), *texts(at(container, "args"))]
    return [said if (said := expanded(w, env.keys)) is not None else w for w in written]
