"""Fu, Lewis, Kirby, Whitaker: Architecting the finite element method pipeline for the GPU (2014)."""

MESHES = ("regular", "irregular", "heart", "brain", "blobs")
