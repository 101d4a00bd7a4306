"""Applications beside Dapr: the sidecar consumes, by a component, in the application's name."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.words.lists import listed
from rebalsim.worlds import containers
from rebalsim.worlds.clients import signs
from rebalsim.worlds.clients.reading import Reading
from rebalsim.worlds.kubernetes.workloads import Workload, workloads
from rebalsim.worlds.text_tree import at, texts, word
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Text, Tree, inferred, place
from rebalsim.worlds.words import boolean


def consumer_of(
    made: Understood, component: Tree, reading: Reading, every: list[Workload]
) -> Consumer | None:
    """The workload whose sidecar reads by a component, if the files leave but one; else None."""
    apps = [(w, app) for w in every if (app := _app(w)) and _may_use(component, app)]
    scoped = [pair for pair in apps if reading.group and reading.group.value == pair[1]]
    named = [pair for pair in apps if signs.CONSUMERS.search(pair[0].name)]
    chosen = next((some for some in (scoped, named, apps) if len(some) == 1), None)
    if chosen is None:
        return None
    workload, app = chosen[0]
    if reading.group is None or not reading.group.known:
        source = f"{place(app)}: Dapr takes the application's id"
        reading.put("group.id", inferred(str(app), source))
    made.maybe = [m for m in made.maybe if m[0] != workload.label]
    made.ignored = [i for i in made.ignored if not i.startswith(f"{workload.label}: ")]
    return containers.consumer_with(workload, reading)


def leave_other_brokers(made: Understood, objects: Sequence[Tree]) -> None:
    """An application beside Dapr that only its name calls a consumer reads by a component; where
    those among the files are of other brokers, it is none of Kafka's.
    """
    kinds = [str(at(t, "spec", "type") or "") for t in objects if at(t, "kind") == "Component"]
    buses = [kind for kind in kinds if kind.startswith(("pubsub.", "bindings."))]
    if not buses or any(kind.endswith(".kafka") for kind in buses):
        return
    beside = {w.label for t in objects for w in workloads(t) if _app(w)}
    for label, why in [m for m in made.maybe if m[0] in beside]:
        made.maybe.remove((label, why))
        made.ignore(label, f"it consumes by Dapr over {listed(sorted(set(buses)))}, not from Kafka")


def _app(workload: Workload) -> Text | None:
    """The application's id, where a sidecar is put beside a workload that may consume."""
    notes = at(workload.tree, "spec", "template", "metadata", "annotations")
    enabled = boolean(at(notes, "dapr.io/enabled")) is True
    return word(at(notes, "dapr.io/app-id")) if enabled and _reads(workload) else None


def _reads(workload: Workload) -> bool:
    return not signs.PRODUCERS.search(workload.name)


def _may_use(component: Tree, app: Text) -> bool:
    scopes = texts(at(component, "scopes"))
    return not scopes or app in scopes
