"""Where the nodes of a layered graph stand, as plain data."""

import itertools
import math

import numpy as np

SWEEPS = 24  # times that the layout goes over the layers


def lay_out(widths, edges):
    """Places ``(x, layer)`` of nodes of the given widths, and the places each edge runs through.

    Layered as in Sugiyama, Tagawa and Toda (1981): a node stands below its inputs, a long edge
    has a stand-in on each layer that it passes, and all seek the middle of their neighbours.
    """
    import networkx as nx

    graph = nx.DiGraph(edges)
    if not set(graph) <= set(widths):
        raise ValueError(
            f"`edges` names {min(set(graph) - set(widths))!r}, which is not in `nodes`"
        )
    graph.add_nodes_from(widths)
    try:
        generations = list(nx.topological_generations(graph))
    except nx.NetworkXUnfeasible as error:
        raise ValueError("`edges` go round in a circle: there is no top to begin at") from error
    layer = {name: y for y, names in enumerate(generations) for name in names}
    for name in graph:  # an argument or a constant stands just above its first user
        if not graph.pred[name] and graph.succ[name]:
            layer[name] = min(layer[user] for user in graph.succ[name]) - 1
    paths = []
    for start, end in graph.edges:
        between = {(start, end, y): y for y in range(layer[start] + 1, layer[end])}
        paths.append([start, *between, end])
        layer |= between
    neighbours = nx.Graph(pair for path in paths for pair in itertools.pairwise(path))
    neighbours.add_nodes_from(layer)
    x = _spread(neighbours, layer, widths)
    return {n: (x[n], layer[n]) for n in widths}, [[(x[n], layer[n]) for n in p] for p in paths]


def _spread(neighbours, layer, widths):
    """Across each layer: everything near the middle of its neighbours, and nothing overlapping."""
    rows = [[n for n in layer if layer[n] == y] for y in range(max(layer.values(), default=-1) + 1)]
    x = {n: 10.0 * i for row in rows for i, n in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in reversed(rows) if sweep % 2 else rows:
            wanted = {n: np.mean([x[m] for m in neighbours[n]] or [x[n]]) for n in row}
            free = -math.inf
            for n in sorted(row, key=wanted.get):
                half = widths.get(n, 1) / 2 + 1
                x[n] = max(wanted[n], free + half)
                free = x[n] + half
            shift = np.mean([x[n] - wanted[n] for n in row])
            x |= {n: x[n] - shift for n in row}
    return x
