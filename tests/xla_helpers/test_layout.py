import itertools

import pytest

from xla_helpers.layout import lay_out

DIAMOND = {"in": 4, "left": 9, "right": 20, "out": 4}
EDGES = [("in", "left"), ("in", "right"), ("left", "out"), ("right", "out"), ("in", "out")]


def test_a_node_stands_below_its_inputs():
    places, _ = lay_out(DIAMOND, EDGES)
    assert {name: y for name, (_, y) in places.items()} == {
        "in": 0,
        "left": 1,
        "right": 1,
        "out": 2,
    }


def test_a_constant_stands_just_above_its_first_user():
    places, _ = lay_out(dict.fromkeys("xabc", 4), [("x", "a"), ("a", "b"), ("c", "b")])
    assert places["c"][1] == places["b"][1] - 1 == places["a"][1]


def test_nothing_overlaps_and_a_long_edge_goes_between(examples):
    nodes, edges = examples.graph()
    widths = {name: len(operation) for name, (operation, _) in nodes.items()}
    places, paths = lay_out(widths, edges)
    assert len(set(places.values())) == len(places)
    for one, other in itertools.combinations(widths, 2):
        (x, y), (other_x, other_y) = places[one], places[other]
        assert y != other_y or abs(x - other_x) >= (widths[one] + widths[other]) / 2
    for path in paths:
        assert [y for _, y in path] == list(range(path[0][1], path[-1][1] + 1))
    assert max(len(path) for path in paths) > 2


def test_paths_begin_and_end_at_their_nodes():
    places, paths = lay_out(DIAMOND, EDGES)
    ends = {(path[0], path[-1]) for path in paths}
    assert ends == {(places[start], places[end]) for start, end in EDGES}
    long = next(path for path in paths if len(path) == 3)
    assert (long[0], long[-1]) == (places["in"], places["out"])
    assert long[1] not in places.values()


def test_no_nodes_have_no_places():
    assert lay_out({}, []) == ({}, [])


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "c")], "`edges` names 'c', which is not in `nodes`"),
        ([("a", "b"), ("b", "a")], "`edges` go round in a circle"),
    ],
)
def test_edges_that_make_no_sense_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        lay_out({"a": 3, "b": 3}, edges)
