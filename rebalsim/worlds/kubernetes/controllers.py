"""Controllers that roll out what another object describes: an Argo Rollout that takes its pods from
a Deployment, Flagger's Canary, OpenKruise's Rollout.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.worlds.text_tree import at, table
from rebalsim.worlds.values import Text, Tree

FLAGGER = (
    "Flagger brings the new pods up beside a copy of the old ones (NAME-primary), and then rolls the "
    "copy: both are members of the group meanwhile, which is not played; the workload's own update is"
)
KRUISE = (
    "OpenKruise takes the workload's update in batches, which are not played; its own update is, in "
    "one go"
)


def referring(objects: list[Tree]) -> list[Tree]:
    """The objects, each Argo Rollout that refers to a Deployment with that one's pods in the place of
    both: Argo scales the Deployment to nothing.
    """
    rollouts = [tree for tree in objects if _is_argo(tree)]
    named = {_target(tree) for tree in rollouts if _target(tree)}
    described = {
        name: tree
        for tree in objects
        if (name := f"{at(tree, 'kind')}/{at(tree, 'metadata', 'name')}") in named
    }
    return [
        _with_pods(tree, described.get(_target(tree))) if _is_argo(tree) else tree
        for tree in objects
        if not any(tree is one for one in described.values())
    ]


def told(tree: Tree) -> Iterator[tuple[str, str]]:
    """What a controller does beside the workload's own update: whose it is, and what it does."""
    kind, version = str(at(tree, "kind")), str(at(tree, "apiVersion") or "")
    label = f"{kind}/{at(tree, 'metadata', 'name')}"
    if kind == "Canary" and "flagger" in version:
        yield f"{label} of {_reference(at(tree, 'spec', 'targetRef'))}", FLAGGER
    elif kind == "Rollout" and "kruise" in version:
        ref = at(tree, "spec", "workloadRef") or at(tree, "spec", "objectRef", "workloadRef")
        yield f"{label} of {_reference(ref)}", KRUISE


def _is_argo(tree: Tree) -> bool:
    return at(tree, "kind") == "Rollout" and "kruise" not in str(at(tree, "apiVersion") or "")


def _target(tree: Tree) -> str:
    """`Deployment/orders`, where a Rollout has no pods of its own; else nothing."""
    if at(tree, "spec", "template") is not None or at(tree, "spec", "workloadRef") is None:
        return ""
    return _reference(at(tree, "spec", "workloadRef"))


def _reference(ref: Tree) -> str:
    return f"{at(ref, 'kind') or 'Deployment'}/{at(ref, 'name')}"


def _with_pods(rollout: Tree, described: Tree) -> Tree:
    if described is None:
        return rollout
    template = at(described, "spec", "template")
    spec = {**table(at(rollout, "spec")), Text("template"): template}
    for key in ("replicas", "minReadySeconds"):
        own = at(described, "spec", key)
        if Text(key) not in spec and own is not None:
            spec[Text(key)] = own
    return {**table(rollout), Text("spec"): spec}
