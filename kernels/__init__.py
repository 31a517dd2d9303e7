"""The shared kernel core: portable kernel sources beside the Python that packs their data and launches them."""
