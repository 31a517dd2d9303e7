"""The meshes of Fu, Lewis, Kirby and Whitaker (2014), Table 1."""
