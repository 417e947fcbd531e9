"""The operations of a graph: checks, random draws, and what XLA has no code for."""

import re
from collections.abc import Iterator

from .errors import UNSUPPORTED

VANISHING = {"Assert", "CheckNumerics"}
"""Operations that TensorFlow runs as checks and that XLA replaces by nothing."""

DRAWS = frozenset(
    """
    Multinomial ParameterizedTruncatedNormal RandomCrop RandomGamma RandomIndexShuffle
    RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform
    RandomUniformInt TruncatedNormal

    StatefulRandomBinomial StatefulStandardNormal StatefulStandardNormalV2
    StatefulTruncatedNormal StatefulUniform StatefulUniformInt

    StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomBinomial
    StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomNormal
    StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniform
    StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessRandomUniformV2
    StatelessShuffle StatelessTruncatedNormal StatelessTruncatedNormalV2
    """.split()
)
"""Operations that draw what a reader asked for, without those that only prepare a seed."""

GUARD = re.compile(r"(/Assert)*(/AssertGuard/Assert)?$")  # what TensorFlow adds to a check's name


def checks_in(operations) -> tuple[str, ...]:
    """The names of the checks among operations, without what TensorFlow adds to them."""
    return _once(GUARD.sub("", name) or name for name, op in operations if op in VANISHING)


def draws_in(operations) -> tuple[str, ...]:
    """The operations that draw random numbers."""
    return _once(op for _, op in operations if op in DRAWS)


def unsupported_in(operations, error) -> tuple[str, ...]:
    """What the error names, then what else of the graph has no kernel for XLA; only after an error.

    The registry of kernels is full only once XLA has been asked to compile something.
    """
    if error is None:
        return ()
    others = (op for _, op in operations if op != "Placeholder" and not _has_kernel(op))
    return _once([*UNSUPPORTED.findall(str(error)), *others])


def _has_kernel(operation):
    from tensorflow.python.framework import kernels

    registered = kernels.get_registered_kernels_for_op(operation).kernel
    return any(re.fullmatch(r"XLA_\w+_JIT", kernel.device_type) for kernel in registered)


def operations_in(graph_def) -> Iterator[tuple[str, str]]:
    """Name and type of every operation that a graph can reach, bodies of loops and calls too."""
    library = {function.signature.name: function for function in graph_def.library.function}

    def walk(nodes, path, inside, above):
        for node in nodes:
            name = node.name if node.name.startswith(inside) else inside + node.name
            yield path + name, node.op
            for called in _called(node):
                if called in library and called not in above:
                    nodes_inside = library[called].node_def
                    # The body of a loop names its operations after the loop, a function does not.
                    if any(n.name.startswith(f"{node.name}/") for n in nodes_inside):
                        yield from walk(nodes_inside, path, f"{node.name}/", above | {called})
                    else:
                        yield from walk(nodes_inside, f"{path}{name}/", "", above | {called})

    return walk(graph_def.node, "", "", frozenset())


def _called(node):
    """The names of the functions that a node calls, such as the two branches of an `If`."""
    for attribute in node.attr.values():
        for function in (attribute.func, *attribute.list.func):
            if function.name:
                yield function.name


def _once(names):
    return tuple(dict.fromkeys(names))
