"""``python -m repro``."""

import sys

try:
    from repro.cli import main
except ModuleNotFoundError as error:
    # Before anything is installed this is all that a user sees, and a traceback would hide it.
    sys.exit(f"repro: {sys.executable} has no package {error.name!r}; `make setup` makes an environment that has it")

if __name__ == "__main__":
    sys.exit(main())
