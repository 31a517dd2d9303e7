"""A loop that the GPU repeats by itself: a CUDA graph with a conditional node, which a kernel of its body steers."""

from __future__ import annotations

import os
from collections.abc import Callable

from kernels.device import sanitized

Enqueue = Callable[[int], None]
FIRST_DRIVER = 12040  # the CUDA version whose drivers have loops in graphs


def missing() -> str:
    """Return what a loop lacks on this machine, or an empty text."""
    if os.environ.get(sanitized.VARIABLE) == "memory":
        return f"compute-sanitizer cannot follow loops in graphs, and {sanitized.VARIABLE} says that it watches"
    try:
        from cuda.bindings import driver
    except ImportError as error:
        return f"cuda-bindings is not installed: {error}"
    error, version = driver.cuDriverGetVersion()
    if error != driver.CUresult.CUDA_SUCCESS or version < FIRST_DRIVER:
        return f"the driver is for CUDA {version}; loops in graphs came with {FIRST_DRIVER}"
    return ""


class Loop:
    """``first(handle)``, then ``body(handle)`` again and again while the condition behind `handle` is not zero.

    Both enqueue kernels, and are called once to record them; a kernel of each sets the condition by
    ``cudaGraphSetConditional(handle, value)``. Neither may allocate, wait, or copy to the host. A launch goes to CuPy's
    current stream.

    Raises
    ------
    RuntimeError
        When the driver refuses.
    """

    def __init__(self, first: Enqueue, body: Enqueue):
        import cupy
        from cuda.bindings import driver

        self._driver, self._cupy = driver, cupy
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._kept = first, body  # the arrays that they work on live as long as the graph
        with self._stream:
            body(0)  # kernels are loaded when they first run, which a recording cannot do
            first(0)
            self._stream.synchronize()
        self._graph = self._call(driver.cuGraphCreate, 0)
        context = self._call(driver.cuCtxGetCurrent)
        handle = self._call(driver.cuGraphConditionalHandleCreate, self._graph, context, 0, 0)
        self._record(self._graph, lambda: first(int(handle)))
        nodes = self._nodes()
        parameters = driver.CUgraphNodeParams()
        parameters.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        parameters.conditional.handle = handle
        parameters.conditional.type = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE
        parameters.conditional.size = 1
        parameters.conditional.ctx = context
        self._call(driver.cuGraphAddNode, self._graph, nodes, None, len(nodes), parameters)
        self._record(parameters.conditional.phGraph_out[0], lambda: body(int(handle)))
        # Each kernel has the priority of the stream that it was recorded in.
        flag = driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
        self._executable = self._call(driver.cuGraphInstantiate, self._graph, int(flag))

    def __call__(self) -> None:
        """Enqueue the loop."""
        stream = self._cupy.cuda.get_current_stream()
        self._call(self._driver.cuGraphLaunch, self._executable, stream.ptr)

    def _call(self, function, *arguments):
        error, *values = function(*arguments)
        if error != self._driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"{function.__name__}: {error.name}")
        return values[0] if values else None

    def _record(self, graph, enqueue) -> None:
        driver, stream = self._driver, self._stream.ptr
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        with self._stream:
            self._call(driver.cuStreamBeginCaptureToGraph, stream, graph, None, None, 0, mode)
            try:
                enqueue()
            finally:
                self._call(driver.cuStreamEndCapture, stream)

    def _nodes(self):
        """Return the nodes recorded last, which later nodes wait for: `first` enqueues a single kernel."""
        error, nodes, count = self._driver.cuGraphGetNodes(self._graph, 1)
        if error != self._driver.CUresult.CUDA_SUCCESS or count != 1:
            raise RuntimeError(f"the loop's first part has {count} nodes ({error.name}), not one")
        return nodes[:1]

    def __del__(self):
        driver = getattr(self, "_driver", None)
        if driver is not None and driver.cuGraphExecDestroy is not None:
            if getattr(self, "_executable", None) is not None:
                driver.cuGraphExecDestroy(self._executable)
            if getattr(self, "_graph", None) is not None:
                driver.cuGraphDestroy(self._graph)
