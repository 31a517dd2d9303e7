"""Rivals in assembly: the serial loop, sums over coordinate triples in SciPy and CuPy."""
