"""asv's benchmarks: the experiments' own code, at a small scale, followed over commits by ``make bench``."""

# Benchmarks that `make bench` and `make bench-compare` run when they are asked for nothing by name: one or two of each
# family, on every back end, by asv's regular expressions over names with parameters.
QUICK = (
    r"assembly\.Kernels\.track_(time|error)\('(ring|patch)', '\w+', 'fu2014/regular'\)",
    r"spmv\.Formats\.track_(time|bytes)\('(csr_vector|sell|sbell|ellwarp)', '\w+', 'zhang2013/hex', 'float64'\)",
    r"multigrid\.Solves\.track_(time|cycles)\('jacobi', 'ellpack_r', '\w+', 'circle', 'q1'\)",
    r"solvers\.Multigrid\.track_(time|setup|iterations|memory)\('patch-pcgamg', '\w+', 'fu2014/regular'\)",
    r"solvers\.Polynomials\.track_(time|iterations)\('least-squares', 'mixed', '\w+', 'zhang2013/hex'\)",
    r"sem\.Products\.track_(time|error)\('stored', 'float64', '\w+', 3\)",
    r"sem\.Solves\.track_(time|iterations)\('two-scale', 'float64', '\w+', 'mesh1-16', 2\)",
    r"sem\.SetUps\.track_time\('two-scale', '\w+', 3\)",
    r"sem\.Steps\.track_(time|iterations)\('two-scale', '\w+'\)",
    r"monodomain\.Hearts\.track_\w+\('ellwarp', '\w+'\)",
)
