"""asv's benchmarks: the experiments' own code, at a small scale, followed over commits by ``make bench``."""
