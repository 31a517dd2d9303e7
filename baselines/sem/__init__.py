"""Spectral elements without a kernel: sums over one axis at a time, by NumPy."""
