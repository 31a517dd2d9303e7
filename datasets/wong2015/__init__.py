"""The matrices and the hearts of Wong, Kuhl and Darve (2015), Table 2.

Notes on how near the stand-ins come to the matrices: docs/notes/matrices.md.
"""
