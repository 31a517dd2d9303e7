"""The meshes of Geveler, Ribbrock, Göddeke, Zajac and Turek (2011), as hierarchies of refined elements.

A recipe here, ``circle``, ``blood`` or, of hexahedra, ``cube``, gives the coarse mesh, level 1 of the paper, at every
scale. `hierarchy` refines it, with nodes on the curved boundary wherever a level puts them, and `number` renumbers the
unknowns of a level.
"""

from datasets.geveler2011._hierarchy import Hierarchy, Level, Space, hierarchy, refined
from datasets.geveler2011._numbering import NUMBERINGS, number

__all__ = ["NUMBERINGS", "Hierarchy", "Level", "Space", "hierarchy", "number", "refined"]
