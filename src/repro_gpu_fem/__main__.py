"""The command ``repro``; also ``python -m repro_gpu_fem``, or Python with this folder's path."""

import sys
from pathlib import Path


def main() -> int:
    """Run the command line with the project's own folders first on the path of this process, and of its workers."""
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here if (here / "repro").is_dir() else here.parents[1]))
    from repro.__main__ import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
