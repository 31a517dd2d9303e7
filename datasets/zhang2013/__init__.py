"""The meshes of Zhang and Zhang (2013), Table 1."""
