"""What a text is, by its content and not by its name, and the parts that it comes in."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from rebalsim.worlds import flat_files, platforms, templates
from rebalsim.worlds.clients.reading import Keys
from rebalsim.worlds.live.listings import is_listing
from rebalsim.worlds.live.metrics import is_metrics
from rebalsim.worlds.own_files import told_of_own
from rebalsim.worlds.placeholders import GAP
from rebalsim.worlds.text_tree import Unreadable, at, merge, rows, table, trees
from rebalsim.worlds.values import Text, Tree
from rebalsim.worlds.words import listed


@dataclass(slots=True)
class Config:
    """A file of client settings: flat keys, and the tree they came from where it has one."""

    file: str
    keys: Keys
    form: str  # properties · environment · ini · hocon · yaml · json
    tree: Tree = None
    sections: dict[str, flat_files.Flat] = field(default_factory=dict)
    profiles: list[tuple[str, Keys]] = field(default_factory=list)  # condition, keys: Spring's


@dataclass(slots=True)
class Found:
    """The parts of a set of files, sorted by what they are."""

    objects: list[Tree] = field(default_factory=list)  # Kubernetes, each with kind
    composes: list[Tree] = field(default_factory=list)
    configs: list[Config] = field(default_factory=list)
    values: list[tuple[str, Tree]] = field(default_factory=list)  # of Helm
    charts: list[tuple[str, Tree]] = field(default_factory=list)  # a Chart.yaml
    listings: list[tuple[str, str]] = field(default_factory=list)
    metrics: list[tuple[str, str]] = field(default_factory=list)
    kustomizations: list[tuple[str, Tree]] = field(default_factory=list)
    own: list[tuple[str, str]] = field(default_factory=list)  # of rebalsim's: the file, what it is
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    to_render: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    object_files: dict[int, str] = field(default_factory=dict)  # id of an object → its file


def sort_out(sources: list[tuple[str, str]]) -> Found:
    """Every source read and put where it belongs; templates last, since values may fill them."""
    found = Found()
    waiting: list[tuple[str, str]] = []
    for file, text in sources:
        found.files.append(file)
        if templates.is_template(text) and _is_manifest(text):
            waiting.append((file, text))
            continue
        _guarded(found, file, text)
    values: Tree = {}
    for _, tree in found.values:
        values = merge(values, tree)
    named = {k: v for _, text in waiting for k, v in templates.defines(text).items()}
    charts = [name for _, tree in found.charts if (name := at(tree, "name"))]
    chart = str(charts[0]) if len(charts) == 1 else ""
    for file, text in waiting:
        found.to_render.append(file)
        _guarded(found, file, templates.render(text, values, named, chart))
    return found


def _is_manifest(text: str) -> bool:
    return bool(re.search(r"(?m)^[ \t]*+-?\s*kind:\s*\S|^\{\{-? ?define", text))


def _guarded(found: Found, file: str, text: str) -> None:
    try:
        _one(found, file, text)
    except Unreadable as e:
        found.unread.append((file, e.line, e.why))


def _one(found: Found, file: str, text: str) -> None:
    if "\0" in text:
        raise Unreadable(1, "binary: no text that anybody deploys")
    text = templates.without_comments(text)
    if not text.strip():
        return
    if others := platforms.objects_of_text(text, file):
        for tree in others:
            _object(found, file, tree)
    elif is_listing(text):
        found.listings.append((file, text))
    elif is_metrics(text):
        found.metrics.append((file, text))
    elif (flat := _flat(text, file)) is not None:
        found.configs += _documents_of(flat, text, file)
    else:
        _trees(found, file, text)


_NAME_VALUE = re.compile(r"(?m)^[ \t]*+(?:export\s+)?[A-Z_][A-Z0-9_]*=")
_KEY_VALUE = re.compile(r"(?m)^[A-Za-z%][\w.%\-\"\[\]*]*\s*=")
_COLON = re.compile(r"(?m)^[ \t]*+(?:- )?[\w\"'./\-]+\s*:(?:\s|$)")
# A block that opens: at a line's end, or with a pair or a block inside; `{name}` is a gap.
_OPENED = re.compile(r"(?m)^[ \t]*+[\w.\-]++[ \t]*+=?[ \t]*+\{[ \t]*+(?:$|[\w.\-\"]++[ \t]*+[={])")


def _flat(text: str, file: str) -> Config | None:
    """Files of keys and values, by the marks that each form leaves; None for trees."""
    body = re.sub(r"(?m)^[ \t]*+(#|//|!).*$", "", text)
    if body.lstrip().startswith(("{", "[{")):
        return None
    pairs, colons = len(_KEY_VALUE.findall(body)), len(_COLON.findall(body))
    braces = len(_OPENED.findall(body))
    inside = len(re.findall(r"(?m)(?:^[ \t]++|[{,][ \t]*+)[\w.\-\"]++[ \t]*+=[ \t]*+\S", body))
    if braces and (pairs or inside or "=>" in body) and pairs + braces >= colons - braces:
        return Config(file, _keys(flat_files.hocon(text, file)), "hocon")
    headed = re.search(r"(?m)^\[\[?[\w ./:\"-]+\]\]?\s*$", body)
    if headed and len(re.findall(r"(?m)^[ \t]*+[\w.\"-]+\s*=", body)) > colons:
        return _ini_or_toml(text, file)
    if pairs <= colons:
        return None
    if re.search(r"(?m)^[ \t]*+\[\[?[\w ./:-]+\]\]?\s*$", body):
        return _ini_or_toml(text, file)
    if len(_NAME_VALUE.findall(body)) == pairs:
        return Config(file, _keys(flat_files.environment(text, file)), "environment")
    return Config(file, _keys(flat_files.properties(text, file)), "properties")


_BETWEEN = re.compile(r"(?m)^[#!]---[ \t]*$")


def _documents_of(flat: Config, text: str, file: str) -> list[Config]:
    """Spring's properties files may hold several documents, with `#---` between."""
    parts = _BETWEEN.split(text)
    if flat.form != "properties" or len(parts) == 1 or "spring." not in text:
        return [flat]
    made, line = [], 0
    for part in parts:
        padded = "\n" * line + part
        made.append(Config(file, _keys(flat_files.properties(padded, file)), "properties"))
        line += part.count("\n")
    return [c for c in made if c.keys]


def _keys(flat: flat_files.Flat) -> Keys:
    return dict(flat)


def _ini_or_toml(text: str, file: str) -> Config:
    import tomllib

    try:
        tree = _as_tree(tomllib.loads(text), file)
        return Config(file, _keys(flat_files.flattened(tree)), "toml", tree)
    except tomllib.TOMLDecodeError:
        sections = flat_files.ini(text, file)
        keys = _keys({k: v for flat in sections.values() for k, v in flat.items()})
        return Config(file, keys, "ini", None, sections)


def _as_tree(value: object, file: str) -> Tree:
    if isinstance(value, dict):
        return {Text(str(k), file): _as_tree(v, file) for k, v in value.items()}
    if isinstance(value, list):
        return [_as_tree(v, file) for v in value]
    return (
        None if value is None else Text(str(value).lower() if value is True else str(value), file)
    )


def _trees(found: Found, file: str, text: str) -> None:
    for tree in _documents(found, file, text):
        _tree(found, file, tree)


def _documents(found: Found, file: str, text: str) -> list[Tree]:
    try:
        return trees(text, file)
    except Unreadable as e:
        if text.lstrip().startswith(("{", "[")):
            try:
                return [_as_tree(json.loads(text), file)]
            except (ValueError, RecursionError):
                pass
        mended = _rendered(text, file) or _mended(text, file, e)
        if mended is None:
            raise
        found.to_render.append(file)
        return mended


_UNRENDERED = re.compile(r"\{\{|\{%|\$\{|" + GAP)


def _rendered(text: str, file: str) -> list[Tree] | None:
    """A file of settings inside a chart, with gaps where the chart's values would stand."""
    if "{{" not in text:
        return None
    try:
        return trees(templates.render(text, None), file)
    except Unreadable:
        return None


def _mended(text: str, file: str, first: Unreadable) -> list[Tree] | None:
    """A file with unrendered pieces, its unreadable lines left out; None where that is hopeless."""
    if not _UNRENDERED.search(text) or "anchor" in first.why:
        return None
    lines, error = text.split("\n"), first
    for _ in range(60):
        at_line = min(error.line, len(lines))
        around = [n for n in (at_line, at_line - 1, at_line - 2) if 0 < n <= len(lines)]
        bad = next((n for n in around if _UNRENDERED.search(lines[n - 1])), None)
        if bad is None:
            return None
        lines[bad - 1] = _gapped(lines[bad - 1])
        try:
            return trees("\n".join(lines), file)
        except Unreadable as e:
            error = e
    return None


def _gapped(line: str) -> str:
    """First the expressions out of a line; if that was done, the whole line."""
    said = re.sub(r"(:\s+|-\s+)\{\{.*\}\}\s*$", r"\1" + GAP, line)
    if said == line:
        said = re.sub(r"(:\s+)\S*\{\{.*$", r"\1" + GAP, line)
    return said if said != line and line.count("{{") else ""


def _tree(found: Found, file: str, tree: Tree) -> None:
    if own := told_of_own(tree):
        found.own.append((file, own))
    elif _is_object(tree):
        _object(found, file, tree)
    elif _is_kustomization(tree, file):
        found.kustomizations.append((file, tree))
    elif _is_list_of_objects(tree):
        for one in rows(tree):
            _object(found, file, one)
    elif others := platforms.objects_of_tree(tree):
        for one in others:
            _object(found, file, one)
    elif _is_compose(tree):
        found.composes.append(tree)
        found.object_files[id(tree)] = file
    elif _is_listed_topics(tree):
        found.listings.append((file, json.dumps(tree)))
    elif _is_chart(tree):
        found.charts.append((file, tree))
    elif _is_values(tree):
        found.values.append((file, tree))
    elif isinstance(tree, dict):
        found.configs.append(Config(file, _keys(flat_files.flattened(tree)), "yaml", tree))
    elif any(_is_connector(row) for row in rows(tree)):
        found.configs.append(Config(file, {}, "json", tree))
    elif isinstance(tree, Text) and "=" in tree:
        found.configs.append(
            Config(file, _keys(flat_files.properties(str(tree), file)), "properties")
        )


def _is_object(tree: Tree) -> bool:
    is_versioned = isinstance(at(tree, "apiVersion"), Text) or bool(at(tree, "spec", "template"))
    return isinstance(at(tree, "kind"), Text) and is_versioned


def _is_list_of_objects(tree: Tree) -> bool:
    return isinstance(tree, list) and all(at(t, "kind") for t in rows(tree)) and bool(rows(tree))


def _is_chart(tree: Tree) -> bool:
    is_charts = str(at(tree, "apiVersion")) in ("v1", "v2")
    return is_charts and bool(at(tree, "name")) and bool(at(tree, "version"))


def _object(found: Found, file: str, tree: Tree) -> None:
    if at(tree, "kind") == "Kustomization":
        found.kustomizations.append((file, tree))
        return
    if str(at(tree, "kind")).endswith("List") and isinstance(at(tree, "items"), list):
        for one in rows(at(tree, "items")):
            _object(found, file, one)
        return
    found.objects.append(tree)
    found.object_files[id(tree)] = file


def _is_kustomization(tree: Tree, file: str) -> bool:
    version = str(at(tree, "apiVersion") or "")
    if version.startswith("kustomize.config.k8s.io") or at(tree, "kind") == "Kustomization":
        return True
    return (
        isinstance(at(tree, "resources"), list)
        and not at(tree, "kind")
        and bool(re.search(r"(^|/)kustomization\.ya?ml$", file))
    )


def _is_compose(tree: Tree) -> bool:
    services = table(at(tree, "services"))
    return bool(services) and any(
        isinstance(s, dict) and {"image", "build", "environment", "command", "extends"} & set(s)
        for s in services.values()
    )


def _is_connector(tree: Tree) -> bool:
    """Kafka Connect's: a name and its config, or the config alone."""
    return isinstance(at(tree, "config", "connector.class") or at(tree, "connector.class"), Text)


def _is_listed_topics(tree: Tree) -> bool:
    return (
        isinstance(at(tree, "topics"), list)
        and isinstance(at(tree, "brokers"), list)
        and bool(at(tree, "topics", 0, "partitions"))
    )


_VALUES = frozenset(
    listed(
        """
    image replicaCount replicas resources nodeSelector tolerations affinity podAnnotations
    serviceAccount autoscaling ingress imagePullSecrets podSecurityContext
    """
    )
)


def _is_values(tree: Tree) -> bool:
    """A Helm chart's values: several of the keys that every chart has."""
    return isinstance(tree, dict) and len(_VALUES & set(tree)) >= 2 and "spring" not in tree
