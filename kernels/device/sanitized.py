"""Kernels under ThreadSanitizer, with the variable ``REPRO_SANITIZE=thread``: races between the blocks of a grid show.

The sanitizer must be in the process already; ``make races`` sees to it. It does not know libgomp's barriers, and would
take the end of a parallel loop for a race, so here the blocks are dealt to POSIX threads. Threads of a block are one
loop on this back end; races between them are what compute-sanitizer looks for on CUDA.
"""

from __future__ import annotations

import os

from kernels.device.source import Signature

VARIABLE, FLAGS = "REPRO_SANITIZE", ("-O1", "-g", "-fsanitize=thread")

_LAUNCH = """
#undef {name}
struct job_{name} {{ long dialect_gx, dialect_gy, dialect_gz, dialect_first; {members} }};
static void *some_{name}(void *given)
{{
    const struct job_{name} *job = given;
    const long dialect_total = job->dialect_gx * job->dialect_gy * job->dialect_gz;
    for (long dialect_b = job->dialect_first; dialect_b < dialect_total; dialect_b += 4) {{
        const long dialect_row = dialect_b / job->dialect_gx;
        {name}(dialect_b % job->dialect_gx, dialect_row % job->dialect_gy, dialect_row / job->dialect_gy{from_job});
    }}
    return 0;
}}
void launch_{name}(const long dialect_gx, const long dialect_gy, const long dialect_gz{parameters})
{{
    unsigned long dialect_threads[4];
    struct job_{name} dialect_jobs[4];
    for (int dialect_i = 0; dialect_i < 4; ++dialect_i) {{
        const struct job_{name} dialect_job = {{dialect_gx, dialect_gy, dialect_gz, dialect_i{values}}};
        __builtin_memcpy(&dialect_jobs[dialect_i], &dialect_job, sizeof dialect_job); // members may be const
        pthread_create(&dialect_threads[dialect_i], 0, some_{name}, &dialect_jobs[dialect_i]);
    }}
    for (int dialect_i = 0; dialect_i < 4; ++dialect_i) pthread_join(dialect_threads[dialect_i], 0);
}}
"""


# By hand: the system's headers have names that kernels define.
HEAD = """
extern int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);
extern int pthread_join(unsigned long, void **);
"""


def wanted() -> bool:
    """Return whether kernels are to be built so."""
    return os.environ.get(VARIABLE) == "thread"


def launcher(kernel: Signature) -> str:
    """Return the C text that launches a kernel on four threads."""
    names = [argument.name for argument in kernel.arguments]
    return _LAUNCH.format(
        name=kernel.name, parameters=f", {kernel.text}" if kernel.text else "", values="".join(f", {n}" for n in names),
        members="".join(f"{declaration}; " for declaration in kernel.text.split(",") if declaration.strip()),
        from_job="".join(f", job->{n}" for n in names),
    )  # fmt: skip
