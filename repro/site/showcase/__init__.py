"""Parts seen first, computed from stored results: verdicts, figures, and kernels against their bound and rivals."""
