"""Memory traffic and arithmetic at the hardware's rate: the ceilings that kernels are compared with."""
