"""The meshes of Remacle, Gandham and Warburton (2016): the three cubes of Figure 3."""
