"""The meshes of Remacle, Gandham and Warburton (2016): the cubes of Figure 3, and the rod of Figure 4."""
