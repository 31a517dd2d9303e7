"""Conjugate gradients with a polynomial preconditioner on the host, in double precision: zhang2013's CPU side."""
