"""The project's sources, results and tables are UTF-8, whatever the user's locale and terminal are."""

import locale
import os
import sys
from collections.abc import MutableMapping

STRICT = ("strict", "surrogateescape")  # what ends a command at a character that the terminal has not


def require_utf8(environment: MutableMapping[str, str] = os.environ) -> None:
    """Start this program anew in Python's UTF-8 mode where the locale would read its sources as something else.

    A dataset is known by its recipe's text, so that by another encoding it would be another one, or not be read at all.
    """
    is_read_as_utf8 = sys.flags.utf8_mode or locale.getencoding().lower().replace("-", "") == "utf8"
    if is_read_as_utf8 or environment.get("PYTHONUTF8") == "1":  # the latter where Python was told to ignore it
        return
    environment["PYTHONUTF8"] = "1"  # for what this program starts, too
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], dict(environment))


def replace_what_streams_lack() -> None:
    """Let standard output and error show a ``?`` for each character that they have not, in place of an error."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") in STRICT and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
