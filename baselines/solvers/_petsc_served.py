"""Code that PETSc's processes share: all carry out the commands that the first of them reads.

Commands come as lines on the first process's standard input, its answers go as lines of JSON to standard output. This
module lies on the path of whatever Python has petsc4py, beside which it needs nothing.
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

END = "end"


def everyone(petsc, world, value):
    """Return the first process's small integer in all of them, by the one kind of message that PETSc wraps."""
    vector = petsc.Vec().createMPI((1 if world.rank == 0 else 0, 1))
    if world.rank == 0:
        vector.setValue(0, float(value))
    vector.assemble()
    return round(vector.sum())


def version(petsc):
    """Return the answer to the first command."""
    return {"version": ".".join(map(str, petsc.Sys.getVersion())), "seconds": 0.0}


def serve(make, commands):
    """Answer commands until standard input ends, or END is read.

    Parameters
    ----------
    make : callable
        Makes of the folder what has a method for each command, ``petsc`` and ``world``.
    commands : tuple of str
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: end with the process that asks
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    commands = (*commands, END)
    try:
        served = make(Path(sys.argv[1]))
        while True:
            asked = commands.index(END)
            if served.world.rank == 0 and (line := sys.stdin.readline().strip()):
                asked = commands.index(line.replace(" ", "_"))
            command = commands[everyone(served.petsc, served.world, asked)]
            if command == END:
                return
            answer = getattr(served, command)()
            if served.world.rank == 0:
                print(json.dumps(answer), file=answers, flush=True)
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        print(json.dumps({"error": words[:400]}), file=answers, flush=True)
        os._exit(1)  # an orderly end would wait for the other processes, which wait for this one
