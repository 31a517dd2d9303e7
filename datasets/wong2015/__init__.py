"""The matrices and the hearts of Wong, Kuhl and Darve (2015), Table 2."""
