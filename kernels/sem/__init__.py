"""Spectral elements on unstructured hexahedra (remacle2016): GLL rules, numbering, the operator without a matrix."""
