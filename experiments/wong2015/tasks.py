"""The tasks of a step on a device: what they take, and their shares in the three ways of the paper's Figure 3."""

from __future__ import annotations

import numpy as np

from experiments.wong2015 import heart

ASSEMBLY = {"elements": "elements", "sums": "sums (as a product)", "rest": "the rest"}
SOLVER = {"products": "products", "vectors": "all else of CG", "begin": "beginning and end"}
ALL = {"multiplying": "products and sums", "rest": "the rest", "control": "waiting for the host"}
COLOURS = ("#0072B2", "#009E73", "#CC79A7")


def measure(run, seconds):
    """Time each task apart, with so many seconds of sampling, and the parts of measured runs."""
    who = heart.OnDevice(run)
    who()
    beating, device = who.heart, run.device
    x = device.array(run.rng.uniform(-1, 1, beating.nodes))
    y = device.zeros(beating.nodes, "float64")
    independent = heart.Assembled(run)

    def assembly():
        beating.matrix.multiply(x, y)
        return independent.error(device.to_host(x), device.to_host(y), device.to_host(beating.residual))

    def solved():
        return beating.solver.true_residual(beating.residual, y)

    who.start()
    beating.assembly_part()
    parts = {"elements": (beating.elements_part, beating.elements_work()),
             "sums": (beating.sums_part, beating.sums_work()),
             "product": (lambda: beating.matrix.multiply(x, y), beating.matrix.least_work()),
             "begin": (beating.begin_part, None)}  # fmt: skip
    for name, (part, work) in parts.items():
        run.time(name, part, check=assembly, tolerance=1e-11, work=work, max_seconds=seconds)
    run.time("solve", lambda: beating.solver.enqueue(beating.residual, y, 1e-6, 5000), check=solved, tolerance=1e-5,
             max_seconds=seconds, capture=False)  # fmt: skip
    for name, spent in who.parts(0.0).items():
        run.value("part", spent / who.steps, "s", name=name)
    run.value("newton_iterations", who.newton / who.steps, "count")
    run.value("linear_iterations", who.linear / who.steps, "count")
    run.value("padding", beating.plan.padding, "x")
    run.value("nodes", beating.nodes, "count")


def shares(results, case, form, backend):
    """Return the seconds of a step by task, in the three ways of the paper; None where they were not measured."""

    def of(metric, **own):
        return results.value(case, form, metric, backend, **own)

    if of("part", name="solver") is None:
        return None
    newton, linear = of("newton_iterations"), of("linear_iterations")
    elements, sums = (newton + 1) * of("elements"), (newton + 1) * of("sums")
    products, begin = linear * of("product"), (newton + 1) * of("begin")
    control = of("part", name="control") + of("part", name="update")
    solver = of("part", name="solver")
    assembly = of("part", name="assembly")
    total = assembly + solver + control
    return {
        "assembly": {"elements": elements, "sums": sums, "rest": max(0.0, assembly - elements - sums)},
        "solver": {"products": products, "vectors": max(0.0, solver - products - begin), "begin": begin},
        "all": {
            "multiplying": sums + products,
            "rest": max(0.0, total - control - sums - products),
            "control": control,
        },
    }


def percentages(found) -> dict[str, float]:
    """Return the tasks' shares in percent, by the names of columns."""
    columns = {}
    for title, group in (("assembly", ASSEMBLY), ("solver", SOLVER), ("all", ALL)):
        total = sum(found[title].values())
        columns |= {f"{title}: {text} [%]": 100 * found[title][task] / total for task, text in group.items()}
    return columns


def bounds(results, case, form, backend) -> dict[str, float | None]:
    """Return the times of the tasks whose least work is known, and what share of the time their bound is."""
    columns = {}
    for metric in ("elements", "sums", "product"):
        row = results.row(case, form, metric, backend)
        columns[f"{metric} [µs]"] = 1e6 * row["value"]
        columns[f"{metric}, of bound [%]"] = results.of_bound(row)
    return columns


def draw(part, found):
    """Draw the shares of hearts, by their numbers of nodes, into a part of a figure."""
    titles = {"assembly": ("Assembly", ASSEMBLY), "solver": ("Solver", SOLVER), "all": ("Both", ALL)}
    for axes, (what, (title, group)) in zip(part.subplots(1, 3), titles.items(), strict=True):
        below = np.zeros(len(found))
        for colour, (task, text) in zip(COLOURS, group.items(), strict=False):
            share = np.array([100 * each[what][task] / sum(each[what].values()) for each in found.values()])
            axes.bar(range(len(found)), share, 0.7, bottom=below, color=colour, edgecolor="black", linewidth=0.4,
                     label=text)  # fmt: skip
            below += share
        axes.set_xticks(range(len(found)), list(found))
        axes.tick_params(axis="x", length=0)
        axes.set_ylim(0, 100)
        axes.set_xlabel("Nodes of the heart")
        axes.set_ylabel(f"{title}: share of its time [%]")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), fontsize=6, borderaxespad=0)
