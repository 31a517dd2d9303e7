"""What a visitor sees first, computed from stored results: verdicts, figures, and kernels against bound and rivals."""
