"""x"""
BUILDS = [("stream.c", 256, {"real": real, "CHUNK": 4096, "LANES": 8}) for real in ("double", "float")]
