"""Strong scaling over the processor's cores, drawn: ``python -m benchmarks.scaling [folder]``.

Products and a read of as many bytes, three times what the last-level cache holds, by the threads that take part. Rows
have 27 entries, or 7. Where the read gains no more from threads, memory's bandwidth is saturated. Writes
``scaling.csv`` and ``scaling.png``.
"""

from __future__ import annotations

import csv
import statistics
import sys
from pathlib import Path

import numpy as np

from benchmarks import spmv
from repro.show import plots

WHATS = spmv.Scaling.params[0]
SATURATED = 0.95  # of the most that any number of threads reads
APART = 0.12  # threads, so that bars of the same number do not hide one another


def measured(opened, size_bytes):
    """Yield what was run, threads, and the GB/s of the median, the slowest and the fastest sample."""
    counts = [count for count in spmv.Scaling.params[1] if count < opened.compute_units]
    for what in WHATS:
        launch, moved = spmv.streaming(opened, what, size_bytes)
        for threads in [*counts, opened.compute_units]:
            with opened.limited(threads):
                launch()
                seconds = spmv.samples(launch, opened)["samples"]
            rates = [moved / each / 1e9 for each in (statistics.median(seconds), max(seconds), min(seconds))]
            yield what, threads, *rates


def saturation(rows) -> tuple[int, float]:
    """Return the fewest threads that read nearly as much as any number does, and that bandwidth in GB/s."""
    reads = [(threads, rate) for what, threads, rate, *_ in rows if what == "read"]
    most = max(rate for _, rate in reads)
    return min(threads for threads, rate in reads if rate >= SATURATED * most), most


def drawn(rows, title: str):
    """Return the figure."""
    made, (axes,) = plots.figure(plots.PAGE, 3.2)
    with plots.style():
        for place, what in enumerate(WHATS):
            own = [row for row in rows if row[0] == what]
            threads, rates, low, high = (np.array([row[k] for row in own]) for k in (1, 2, 3, 4))
            aside = threads + APART * (place - len(WHATS) // 2)
            name = f"{what.removesuffix('-7')}, 7 diagonals" if what.endswith("-7") else what
            look = {"fmt": "k--"} if what == "read" else {"fmt": "o-", "markersize": 3.5}
            axes.errorbar(aside, rates, (rates - low, high - rates), label=name, capsize=2, elinewidth=0.8, **look)
        threads, most = saturation(rows)
        axes.axhline(most, color="0.6", linewidth=0.8)
        is_saturated = threads < max(row[1] for row in rows)
        told = f"saturated from {threads} threads on" if is_saturated else "not saturated"
        axes.annotate(f"{most:.3g} GB/s, {told}", (1, most), va="bottom", fontsize=7)
        axes.set(
            xlabel="threads",
            ylabel="GB/s of least bytes\n(bars: slowest to fastest sample)",
            ylim=(0, 1.1 * max(row[4] for row in rows)),
            title=title,
        )
        axes.set_xticks(sorted({row[1] for row in rows}))
        axes.legend()
    return made


def main(folder: str = ".") -> None:
    """Measure, and write both files."""
    opened = spmv.device("openmp")
    size = spmv.out_of_caches(opened)
    rows = list(measured(opened, size))
    stem = Path(folder) / "scaling"
    stem.parent.mkdir(parents=True, exist_ok=True)
    with stem.with_suffix(".csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("what", "threads", "gb_per_s", "slowest", "fastest"))
        writer.writerows((what, threads, *(f"{rate:.4g}" for rate in rates)) for what, threads, *rates in rows)
    title = f"{spmv.heading(opened)}, {size / 1e6:.0f} MB"
    plots.save(drawn(rows, title), stem)
    print(f"{title}; {spmv.binding()}")
    for what, threads, rate, *_ in rows:
        print(f"{what:12} {threads:4} threads {rate:8.1f} GB/s")


if __name__ == "__main__":
    main(*sys.argv[1:])
