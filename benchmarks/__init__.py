"""asv's benchmarks: the experiments' own code, at a small scale, followed over commits by ``make bench``."""

# What `make bench` and `make bench-compare` run when they are asked for nothing by name: one or two of each family, on
# every back end, by asv's regular expressions over names with parameters.
QUICK = (
    r"assembly\.Kernels\.track_(time|error)\('(ring|patch)', '\w+', 'fu2014/regular'\)",
    r"spmv\.Formats\.track_(time|bytes)\('(csr_vector|sell|sbell|ellwarp)', '\w+', 'zhang2013/hex', 'float64'\)",
    r"multigrid\.Solves\.track_(time|cycles)\('jacobi', 'ellpack_r', '\w+', 'circle', 'q1'\)",
    r"solvers\.\w+\.track_(time|iterations)\(.*'fu2014/regular'\)",
    r"sem\..*track_(time|iterations).*",
    r"monodomain\..*track_.*",
)
