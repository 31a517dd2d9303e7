"""The number of the way in which times are taken: a measurement depends on it, and on nothing else of the harness.

It is raised where a change of the timing code may change what is measured. `CODE` is the hash of the code that it
stands for, see `repro.cache.code.protocol_hash`; a change that measures nothing otherwise needs a new hash alone.
"""

PROTOCOL = 6
CODE = "c11a6a66ce275885"
#: Code that takes times and summarises them: files of `repro.run`, and of some the definitions that count.
TIMING = {
    "timing.py": None, "statistics.py": None, "guard.py": None, "pace.py": None,
    "state.py": ("Cores", "Processor", "SETTLING", "LOOK", "SPINNING", "LOST_CORES", "FORGIVEN"),
    "context.py": ("Run.time", "Run._verify", "SAMPLING_SECONDS", "SEVERAL_TIMES", "WARM_UP"),
}  # fmt: skip
