"""The cheapest flow through a small network, found the way Kafka finds it: among equal costs the
order of its steps decides who gets what.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = -1
_START = -2  # an extra node before all others, from which every search begins


@dataclass(slots=True)
class _Edge:
    target: int
    cost: int
    residual: int
    flow: int
    forward: bool
    counter: _Edge | None = None


class FlowNetwork:
    """Edges with capacity, cost and a flow to begin with; node ids are whole numbers from 0."""

    def __init__(self) -> None:
        self._edges: dict[int, dict[int, _Edge]] = {}

    def add(self, source: int, target: int, capacity: int, cost: int, flow: int) -> None:
        """Add an edge, and its reverse along which flow can be taken back."""
        there = _Edge(target, cost, capacity - flow, flow, True)
        back = _Edge(source, -cost, flow, 0, False, there)
        there.counter = back
        self._edges.setdefault(source, {})[target] = there
        self._edges.setdefault(target, {})[source] = back

    def flows_to(self, node: int) -> list[int]:
        """The nodes to which something flows from here, in order."""
        return [
            target
            for target, edge in sorted(self._edges.get(node, {}).items())
            if edge.forward and edge.flow > 0
        ]

    def fill(self, sink: int) -> None:
        """The largest flow, by shortest ways (breadth first, nodes in order)."""
        while way := self._way(sink):
            amount = min(edge.residual for edge in way)
            for edge in way:
                _push(edge, amount)

    def _way(self, sink: int) -> list[_Edge]:
        came: dict[int, tuple[int, _Edge]] = {}
        queue, seen = [SOURCE], {SOURCE}
        for node in queue:
            for target, edge in sorted(self._edges.get(node, {}).items()):
                if target in seen or edge.residual <= 0:
                    continue
                came[target] = (node, edge)
                if target == sink:
                    return _back(came, sink)
                queue.append(target)
                seen.add(target)
        return []

    def cheapen(self) -> None:
        """Cancel cycles of negative cost until there is none."""
        nodes = sorted(self._edges)
        ordered = [
            (node, [edge for _, edge in sorted(self._edges[node].items())]) for node in nodes
        ]
        while cycle := _negative_cycle(ordered, nodes):
            amount = min(edge.residual for edge in cycle)
            for edge in cycle:
                _push(edge, amount)


def _back(came: dict[int, tuple[int, _Edge]], sink: int) -> list[_Edge]:
    way, node = [], sink
    while node != SOURCE:
        node, edge = came[node]
        way.append(edge)
    return way


def _push(edge: _Edge, amount: int) -> None:
    counter = edge.counter
    assert counter is not None
    edge.residual -= amount
    if edge.forward:
        edge.flow += amount
    counter.residual += amount
    if counter.forward and counter.flow >= amount:
        counter.flow -= amount


def _negative_cycle(ordered: list[tuple[int, list[_Edge]]], nodes: list[int]) -> list[_Edge]:
    """Bellman and Ford's search from a node before all: an improvement in its last pass lies on,
    or leads from, a cycle. The first pass sets every distance to 0, from there.
    """
    came: dict[int, tuple[int, _Edge | None]] = dict.fromkeys(nodes, (_START, None))
    distance = dict.fromkeys(nodes, 0)
    passes = len(nodes) + 1  # the node before all counts
    for number in range(passes):
        improved = False
        for start, edges in ordered:
            here = distance[start]
            for edge in edges:
                if edge.residual == 0 or distance[edge.target] <= here + edge.cost:
                    continue
                distance[edge.target] = here + edge.cost
                came[edge.target] = (start, edge)
                improved = True
                if number == passes - 1:
                    return _cycle(came, edge.target)
        if not improved:
            return []
    return []


def _cycle(came: dict[int, tuple[int, _Edge | None]], node: int) -> list[_Edge]:
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        node = came[node][0]
    cycle, at = [], node
    while True:
        at, edge = came[at]
        assert edge is not None
        cycle.append(edge)
        if at == node:
            return cycle
