"""kustomize, as far as files among the given ones go: resources, patches, replicas, namespace,
generated ConfigMaps. No file is fetched, none outside the given is read.
"""

from __future__ import annotations

import posixpath
import re

from rebalsim.worlds.text_tree import Unreadable, at, merge, rows, table, texts, trees, word
from rebalsim.worlds.values import Text, Tree


def named_files(file: str, text: str) -> list[str]:
    """The paths that a kustomization names, joined to its folder; nothing for other files."""
    if "resources:" not in text and "bases:" not in text and "patches" not in text:
        return []
    if "kustomize.config.k8s.io" not in text and not posixpath.basename(file).lower().startswith(
        "kustomization"
    ):
        return []
    try:
        tree = next(iter(trees(text, file)), None)
    except Unreadable:
        return []
    folder = posixpath.dirname(file)
    return [
        posixpath.normpath(posixpath.join(folder, t))
        for t in _paths_in(tree)
        if "://" not in t and "\n" not in t and not t.startswith("/")
    ]


def _paths_in(tree: Tree) -> list[Text]:
    said = [t for key in ("resources", "bases", "components") for t in texts(at(tree, key))]
    said += texts(at(tree, "patchesStrategicMerge"))
    for key in ("patches", "patchesJson6902"):
        said += [t for row in rows(at(tree, key)) if (t := word(at(row, "path")))]
    for row in rows(at(tree, "configMapGenerator")):
        said += [Text(t.rpartition("=")[2]) for k in ("files", "envs") for t in texts(at(row, k))]
    return said


def built(
    kustomizations: list[tuple[str, Tree]],
    objects: list[Tree],
    file_of: dict[int, str],
    sources: dict[str, str],
) -> tuple[list[Tree], list[str]]:
    """The objects as the outermost kustomizations make them, and what was named but not given."""
    if not kustomizations:
        return objects, []
    builder = _Builder(dict(kustomizations), objects, file_of, sources)
    made: list[Tree] = []
    for file, _ in kustomizations:
        if not builder.is_used(file):
            made += builder.build(file, 0)
    used = builder.used
    made += [o for o in objects if id(o) not in used]
    return made, sorted(builder.missing)


class _Builder:
    def __init__(
        self,
        kustomizations: dict[str, Tree],
        objects: list[Tree],
        file_of: dict[int, str],
        sources: dict[str, str],
    ) -> None:
        self.kustomizations, self.objects, self.sources = kustomizations, objects, sources
        self.by_file: dict[str, list[Tree]] = {}
        for tree in objects:
            self.by_file.setdefault(posixpath.normpath(file_of.get(id(tree), "")), []).append(tree)
        self.used: set[int] = set()
        self.missing: set[str] = set()

    def _targets(self, file: str, tree: Tree) -> list[str]:
        folder = posixpath.dirname(file)
        named = [t for key in ("resources", "bases", "components") for t in texts(at(tree, key))]
        return [posixpath.normpath(posixpath.join(folder, t)) for t in named]

    def is_used(self, file: str) -> bool:
        """Whether another kustomization builds on this one."""
        folder, own = posixpath.dirname(posixpath.normpath(file)), posixpath.normpath(file)
        return any(
            target in (folder, own)
            for other, tree in self.kustomizations.items()
            if other != file
            for target in self._targets(other, tree)
        )

    def build(self, file: str, depth: int) -> list[Tree]:
        if depth > 20:
            return []
        tree = self.kustomizations[file]
        made: list[Tree] = []
        for target in self._targets(file, tree):
            made += self._resource(target, depth)
        made += self._generated(file, tree)
        made = self._patched(file, tree, made)
        names = {str(at(o, "metadata", "name")) for o in made}
        return [_with_references(self._renamed(tree, o), tree, names) for o in made]

    def _resource(self, target: str, depth: int) -> list[Tree]:
        inner = next(
            (
                f
                for f in self.kustomizations
                if posixpath.dirname(posixpath.normpath(f)) == target
                or posixpath.normpath(f) == target
            ),
            None,
        )
        if inner is not None:
            return self.build(inner, depth + 1)
        found = self.by_file.get(target)
        if found is None:
            self.missing.add(target)
            return []
        self.used.update(id(o) for o in found)
        return list(found)

    def _generated(self, file: str, tree: Tree) -> list[Tree]:
        made: list[Tree] = []
        for row in rows(at(tree, "configMapGenerator")):
            data: dict[Text, Tree] = {}
            for literal in texts(at(row, "literals")):
                key, _, value = literal.partition("=")
                data[Text(key, literal.file, literal.line)] = Text(
                    value.strip("\"'"), literal.file, literal.line
                )
            for named in [*texts(at(row, "files")), *texts(at(row, "envs"))]:
                key, _, path = named.rpartition("=")
                target = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
                text = self.sources.get(target)
                if text is None:
                    self.missing.add(target)
                else:
                    name = key or posixpath.basename(path)
                    data[Text(name, target, 1)] = Text(text, target, 1)
            made.append(
                {
                    Text("kind"): Text("ConfigMap"),
                    Text("metadata"): {Text("name"): at(row, "name")},
                    Text("data"): data,
                }
            )
        return made

    def _patched(self, file: str, tree: Tree, objects: list[Tree]) -> list[Tree]:
        for row in rows(at(tree, "patches")):
            for patch in self._patch_texts(file, row):
                objects = _apply(objects, patch, at(row, "target"))
        for row in rows(at(tree, "patchesJson6902")):
            for patch in self._patch_texts(file, row):
                objects = _apply(objects, patch, at(row, "target"))
        for said in texts(at(tree, "patchesStrategicMerge")):
            for patch in self._trees_of(file, said):
                objects = _apply(objects, patch, None)
        for row in rows(at(tree, "replicas")):
            objects = [_with_count(o, row) for o in objects]
        return objects

    def _patch_texts(self, file: str, row: Tree) -> list[Tree]:
        inline, path = word(at(row, "patch")), word(at(row, "path"))
        if inline is not None:
            try:
                return [_at_file(t, file, inline.line) for t in trees(inline, file)]
            except Unreadable:
                return []
        return self._trees_of(file, path) if path is not None else []

    def _trees_of(self, file: str, said: Text) -> list[Tree]:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), said))
        if target in self.by_file:
            self.used.update(id(o) for o in self.by_file[target])
            return self.by_file[target]
        text = self.sources.get(target)
        if text is None and "\n" in said:
            text = str(said)
        if text is None:
            self.missing.add(target)
            return []
        try:
            return trees(text, target)
        except Unreadable:
            return []

    def _renamed(self, tree: Tree, one: Tree) -> Tree:
        """namespace, namePrefix and nameSuffix."""
        metadata = dict(table(at(one, "metadata")))
        if namespace := word(at(tree, "namespace")):
            metadata[Text("namespace")] = namespace
        prefix, suffix = word(at(tree, "namePrefix")) or "", word(at(tree, "nameSuffix")) or ""
        name = at(metadata, "name")
        if (prefix or suffix) and isinstance(name, Text):
            metadata[Text("name")] = Text(f"{prefix}{name}{suffix}", name.file, name.line)
        return {**table(one), Text("metadata"): metadata}


_REFERENCES = ("configMapRef", "configMapKeyRef", "configMap", "secretRef", "scaleTargetRef")


def _with_references(one: Tree, tree: Tree, names: set[str]) -> Tree:
    """What names another object of the same build follows its new name."""
    prefix, suffix = word(at(tree, "namePrefix")) or "", word(at(tree, "nameSuffix")) or ""
    if not (prefix or suffix):
        return one

    def follow(part: Tree, is_reference: bool) -> Tree:
        if isinstance(part, list):
            return [follow(p, False) for p in part]
        if not isinstance(part, dict):
            return part
        made = {k: follow(v, k in _REFERENCES) for k, v in part.items()}
        name = at(part, "name")
        if is_reference and isinstance(name, Text) and name in names:
            made[Text("name")] = Text(f"{prefix}{name}{suffix}", name.file, name.line)
        return made

    return follow(one, False)


def _at_file(tree: Tree, file: str, line: int) -> Tree:
    """A tree read from a text inside a file, its lines counted in that file."""
    if isinstance(tree, dict):
        return {_at_file(k, file, line): _at_file(v, file, line) for k, v in tree.items()}
    if isinstance(tree, list):
        return [_at_file(v, file, line) for v in tree]
    return Text(str(tree), file, line + tree.line) if isinstance(tree, Text) else tree


def _matches(one: Tree, target: Tree, patch: Tree) -> bool:
    kind, name = at(one, "kind"), at(one, "metadata", "name")
    if isinstance(target, dict):
        wanted_kind, wanted_name = at(target, "kind"), at(target, "name")
        return (wanted_kind in (None, kind)) and (
            wanted_name in (None, name) or _is_like(str(wanted_name), str(name))
        )
    return bool(at(patch, "kind") == kind and at(patch, "metadata", "name") == name)


def _is_like(expression: str, name: str) -> bool:
    """Names of targets are expressions over the whole name; those with groups are nobody's names,
    and could take for ever.
    """
    is_plain = re.fullmatch(r"[\w\-.|*+]{1,200}", expression) and expression.count("*") <= 3
    try:
        return bool(is_plain and re.fullmatch(expression, name[:300]))
    except re.error:
        return False


def _apply(objects: list[Tree], patch: Tree, target: Tree) -> list[Tree]:
    return [_one_patched(o, patch) if _matches(o, target, patch) else o for o in objects]


def _one_patched(one: Tree, patch: Tree) -> Tree:
    if isinstance(patch, list):
        for operation in rows(patch):
            one = _operated(one, operation)
        return one
    return strategic(one, patch)


def strategic(old: Tree, new: Tree) -> Tree:
    """A strategic merge: tables deeply, lists of named things by name, other lists replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        made = dict(old)
        for key, value in new.items():
            if value is None:
                made.pop(key, None)
            else:
                made[key] = strategic(made[key], value) if key in made else value
        return made
    are_named = rows(old) and rows(new) and all("name" in r for r in rows(new))
    if isinstance(old, list) and isinstance(new, list) and are_named:
        by_name = {str(at(r, "name")): r for r in rows(old)}
        for row in rows(new):
            name = str(at(row, "name"))
            by_name[name] = strategic(by_name.get(name, {}), row)
        return list(by_name.values())
    return merge(old, new)


def _operated(one: Tree, operation: Tree) -> Tree:
    """One JSON 6902 operation: add, replace or remove at a path."""
    path = [p.replace("~1", "/").replace("~0", "~") for p in str(at(operation, "path")).split("/")]
    return _set(one, path[1:], str(at(operation, "op")), at(operation, "value"))


def _set(tree: Tree, path: list[str], op: str, value: Tree) -> Tree:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(tree, list):
        index = len(tree) if step == "-" else int(step) if step.isdigit() else -1
        if index < 0:
            return tree
        made = list(tree)
        if rest and index < len(made):
            made[index] = _set(made[index], rest, op, value)
        elif op == "add":
            made.insert(index, value)
        elif index < len(made):
            made[index : index + 1] = [] if op == "remove" else [value]
        return made
    kept = dict(table(tree))
    if rest:
        kept[Text(step)] = _set(kept.get(Text(step)), rest, op, value)
    elif op == "remove":
        kept.pop(Text(step), None)
    else:
        kept[Text(step)] = value
    return kept


def _with_count(one: Tree, row: Tree) -> Tree:
    if at(one, "metadata", "name") != at(row, "name") or not isinstance(at(one, "spec"), dict):
        return one
    return _set(one, ["spec", "replicas"], "replace", at(row, "count"))
