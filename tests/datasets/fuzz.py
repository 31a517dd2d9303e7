"""Read mutated files: python fuzz.py KIND FOLDER COUNT SEED; prints a line a bad outcome, and counts of them all.

An error of the project's own, or a mesh or matrix that passes every check, is right; any other exception is not. Each
file is read in a fork, for speed, under limits as those of the process that reads a user's: what that one would not
survive is told apart.
"""

import contextlib
import json
import os
import resource
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import datasets
from datasets import _reading_worker, guarded
from repro.model import ReproError

SECONDS, PATIENCE, MEMORY = 0.5, 10, 4 * 2**30  # of a processor, of the clock; a file takes some milliseconds
ODD = (b"0", b"-1", b"1e999", b"nan", b"9999999999", b"2147483648", b"18446744073709551616", b"\xff\xfe", b"", b" ")


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return content with one to four damages: bytes flipped, pieces cut, doubled, moved, numbers replaced."""
    for _ in range(rng.integers(1, 5)):
        if len(content) < 8:
            return content
        start, end = sorted(int(i) for i in rng.integers(0, len(content), 2))
        end = min(end, start + 200)
        damage = rng.integers(7)
        if damage == 0:
            flipped = bytearray(content)
            for place in rng.integers(0, len(content), 3):
                flipped[place] ^= int(rng.integers(1, 256))
            content = bytes(flipped)
        elif damage == 1:
            content = content[:start]
        elif damage == 2:
            content = content[:start] + content[end:]
        elif damage == 3:
            content = content[:end] + content[start:]
        elif damage == 4:
            content = content[:start] + rng.bytes(int(rng.integers(1, 40))) + content[start:]
        else:  # a number somewhere becomes an odd one: sizes and indices are what readers believe
            words = [
                i for i in range(len(content)) if content[i : i + 1].isdigit() and not content[i - 1 : i].isdigit()
            ]
            if words:
                # The first lines hold the sizes; they are taken as often as all that follow.
                place = words[int(rng.integers(min(len(words), 12) if damage == 5 else len(words)))]
                stop = place
                while stop < len(content) and content[stop : stop + 1].isdigit():
                    stop += 1
                content = content[:place] + ODD[int(rng.integers(len(ODD)))] + content[stop:]
    return content


def read(kind: str, path: Path) -> None:
    """Read a file as the user's own data, and look at what comes of it."""
    if kind == "matrix":
        csr = datasets.load("wong2015/own", "paper", path).csr
        assert csr.has_canonical_format and np.isfinite(csr.data).all() and csr.indices.min() >= 0
    else:
        mesh = datasets.load("fu2014/heart", "smoke", override=path)
        assert np.isfinite(mesh.points).all() and mesh.cells.min() >= 0 and mesh.cells.max() < len(mesh.points)


def guarded_here(kind: str, path: Path) -> dict:
    """Stand in for `guarded.read`: the worker's own function, in this process."""
    try:
        return _reading_worker.READERS[kind](str(path))
    except (Exception, SystemExit) as problem:  # it has ended then, with one line
        raise guarded.Unreadable(" ".join(str(problem).split())[:200] or type(problem).__name__) from problem


def outcome(kind: str, path: Path) -> str:
    """Return what becomes of a file."""
    try:
        read(kind, path)
    except ReproError as refusal:
        return f"BAD several lines: {refusal!r}" if "\n" in str(refusal) else "refused"
    except BaseException as problem:
        return f"BAD {type(problem).__name__}: {problem}"
    return "right"


def forked(kind: str, path: Path) -> str:
    """Return what becomes of a file in a process of its own; of 'stopped' and 'crashed' the guard makes errors."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # meshio prints
        os.dup2(1, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(PATIENCE)
        os.write(theirs, outcome(kind, path).encode()[:4000])
        os._exit(0)
    os.close(theirs)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    ends = {"stopped": (signal.SIGPROF, signal.SIGALRM), "crashed": (signal.SIGSEGV, signal.SIGABRT)}
    told = {0: said, **{-each: name for name, signals in ends.items() for each in signals}}
    return told.get(code, f"BAD ended with {code}")


def main(kind: str, folder: str, count: str, seed: str) -> None:
    """Read `count` mutations of the files in a folder."""
    guarded.read = guarded_here
    rng = np.random.default_rng(int(seed))
    originals = sorted(Path(folder).iterdir())
    scratch = Path(folder).with_name("mutated")
    scratch.mkdir()
    for original in originals:
        with contextlib.redirect_stdout(None):
            assert outcome(kind, original) == "right", original  # and all that reading imports is in this process now
    found = Counter()
    for number in range(int(count)):
        original = originals[number % len(originals)]
        path = scratch / f"{number}-{original.name}"
        path.write_bytes(mutated(original.read_bytes(), rng))
        result = forked(kind, path)
        found[result.partition(" ")[0]] += 1
        if result.startswith("BAD"):
            print(f"{path}: {result}", flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
