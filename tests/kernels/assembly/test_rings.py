"""The chains of elements around every edge, against a search through all elements."""

import numpy as np
import pytest

from kernels.assembly.pattern import csr_pattern
from kernels.assembly.ring import edge_rings

TWO_ON_AN_EDGE = np.array([[0, 1, 2, 3], [0, 1, 4, 5]])  # with nodes 2, 3 on one side of the edge (0, 1), 4, 5 opposite


def chains(cells, nodes):
    """Return edge -> list of chains, each the list of its nodes and the list of its elements."""
    pattern = csr_pattern(cells, nodes)
    rings = edge_rings(cells, pattern)
    found = {}
    assert rings.offsets[0] == 0 and rings.offsets[-1] == len(rings.nodes) == len(rings.elements)
    for edge, begin, end in zip(pattern.edges.tolist(), rings.offsets[:-1], rings.offsets[1:], strict=True):
        nodes, elements = rings.nodes[begin:end], rings.elements[begin:end]
        starts = np.flatnonzero(elements < 0)
        assert starts[0] == 0
        found[tuple(edge)] = [
            (part.tolist(), of.tolist()[1:])
            for part, of in zip(np.split(nodes, starts[1:]), np.split(elements, starts[1:]), strict=True)
        ]
    return found


def test_every_element_around_every_edge_once_and_neighbours_share_faces(mesh):
    points, cells = mesh
    around = {}
    for element, cell in enumerate(cells.tolist()):
        for i in range(4):
            for j in range(4):
                if cell[i] < cell[j]:
                    around.setdefault((cell[i], cell[j]), set()).add(element)
    found = chains(cells, len(points))
    assert found.keys() == around.keys()
    corners = []
    for (low, high), parts in found.items():
        listed = [element for _, elements in parts for element in elements]
        assert len(listed) == len(set(listed)) and set(listed) == around[low, high]
        for nodes, elements in parts:
            assert len(nodes) == len(elements) + 1
            for a, b, element in zip(nodes, nodes[1:], elements):
                assert {low, high, a, b} == set(cells[element].tolist())
                corners.append((low, b, high, a))
        # Chains are as long as can be: the last node of one starts no other.
        if len(parts) > 1:
            assert not {nodes[-1] for nodes, _ in parts} & {nodes[0] for nodes, _ in parts}
    corners = points[np.array(corners)]
    assert np.linalg.det(corners[:, 1:] - corners[:, :1]).min() > 0  # the kernel's six volumes, b·(e × a)


def test_inner_edges_are_closed_and_boundary_edges_open(perturbed_cube):
    points, cells = perturbed_cube(3)
    lattice = np.rint(points).astype(int)
    # The nodes of a boundary edge lie on a common face of the cube; the cut of Kuhn makes no other such edge.
    on_face = [{(axis, int(v)) for axis, v in enumerate(node) if v in (0, 3)} for node in lattice]
    seen = {True: 0, False: 0}
    for (low, high), parts in chains(cells, len(points)).items():
        ((nodes, _),) = parts
        is_inner = not (on_face[low] & on_face[high])
        assert (nodes[0] == nodes[-1]) == is_inner
        assert len(set(nodes)) == len(nodes) - is_inner
        seen[is_inner] += 1
    assert min(seen.values()) > 20


def test_two_tetrahedra_that_share_an_edge_alone_are_two_chains():
    found = chains(TWO_ON_AN_EDGE, 6)
    assert sorted(found[0, 1]) == [([2, 3], [0]), ([4, 5], [1])]
    assert all(len(parts) == 1 for edge, parts in found.items() if edge != (0, 1))


def test_blocks_that_touch_along_edges(make_mesh):
    points, cells = make_mesh("touching")
    parts = [len(parts) for parts in chains(cells, len(points)).values()]
    assert sorted(parts)[-3:] == [1, 2, 2]


def test_two_closed_rings_around_one_edge_are_refused():
    # They fill the space around it twice.
    fan = [[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 2]]
    twice = np.array(fan + [[0, 1, 5, 6], [0, 1, 6, 7], [0, 1, 7, 5]])
    with pytest.raises(ValueError, match=r"edge \(0, 1\)"):
        edge_rings(twice, csr_pattern(twice, 8))


@pytest.mark.parametrize(
    "cells",
    [
        [[0, 1, 2, 3], [0, 1, 2, 3]],  # the same element twice
        [[0, 1, 2, 3], [0, 1, 2, 4]],  # two on the same side of a face
    ],
)
def test_overlap_is_refused(cells):
    cells = np.array(cells)
    with pytest.raises(ValueError, match="overlap or one is inverted"):
        edge_rings(cells, csr_pattern(cells, 5))


def test_an_inverted_element_is_refused_wherever_it_lies(perturbed_cube):
    points, cells = perturbed_cube(2)
    for element in range(len(cells)):
        wrong = cells.copy()
        wrong[element, 2:] = wrong[element, :1:-1]
        with pytest.raises(ValueError, match="overlap or one is inverted"):
            edge_rings(wrong, csr_pattern(wrong, len(points)))
