"""A workload as far as a Helm chart's values tell it, where no template is among the files."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.worlds import flat_files
from rebalsim.worlds.kubernetes.workloads import Workload, workloads
from rebalsim.worlds.text_tree import Unreadable, at, rows, table, trees, word
from rebalsim.worlds.values import Text, Tree

_DEPTH = 4  # how far down a chart's values hold the file of the program that it deploys


def program_files(tree: Tree, depth: int = _DEPTH) -> Iterator[Tree]:
    """The parts of a chart's values that are a program's own file: pipelines, sources, receivers."""
    if not isinstance(tree, dict) or not depth:
        return
    if {"sources", "receivers", "input", "inputs", "pipelines"} & set(tree):
        yield tree
    for value in tree.values():
        yield from program_files(value, depth - 1)


def workload_of_values(file: str, tree: Tree, has_variables: bool = True) -> Workload:
    """A Deployment of the values' names, numbers and variables: charts mostly call them alike."""
    name = _name(file, tree)
    count = next((c for k in ("replicaCount", "replicas") if (c := at(tree, k)) is not None), None)
    container: dict[Text, Tree] = {
        Text("name"): name,
        Text("image"): word(at(tree, "image", "repository")) or word(at(tree, "image")),
        Text("env"): _env(file, tree) if has_variables else [],
    }
    for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
        own = at(tree, probe) or at(tree, "healthCheck", probe) or at(tree, "healthChecks", probe)
        if isinstance(own, dict):
            container[Text(probe)] = own
    spec: dict[Text, Tree] = {
        Text("template"): {Text("spec"): {Text("containers"): [container]}},
    }
    if isinstance(count, Text):
        spec[Text("replicas")] = count
    made: Tree = {
        Text("apiVersion"): Text("apps/v1"),
        Text("kind"): Text("Deployment"),
        Text("metadata"): {Text("name"): name},
        Text("spec"): spec,
    }
    return workloads(made)[0]


def _name(file: str, tree: Tree) -> Text:
    for path in (
        ("fullnameOverride",),
        ("nameOverride",),
        ("labels", "app"),
        ("name",),
        ("image", "repository"),
    ):
        if said := word(at(tree, *path)):
            return Text(said.rpartition("/")[2], said.file, said.line)
    stem = file.rpartition("/")[2].rpartition(".")[0]
    return Text(stem.removesuffix("values").rstrip("-_.") or stem, file)


def _env(file: str, tree: Tree) -> list[Tree]:
    """Variables as a list, a table, or a text that the chart's template would unfold."""
    made: list[Tree] = []
    for key in ("env", "extraEnv", "extraEnvs", "environment", "envVars"):
        own = at(tree, key)
        if isinstance(own, Text) and "name:" in own:
            try:
                own = next(iter(trees(own, file)), None)
            except Unreadable:
                own = None
        if isinstance(own, list):
            made += rows(own)
        for name, value in table(own).items():
            if isinstance(value, Text):
                made.append({Text("name"): name, Text("value"): value})
    if not made:
        flat = flat_files.flattened(tree)
        made = [
            {Text("name"): Text(k, k.file, k.line), Text("value"): v}
            for k, v in flat.items()
            if "kafka" in k.lower() or "consumer" in k.lower()
        ]
    return made
