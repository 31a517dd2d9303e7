"""Excitation of the heart: the monodomain equations with Aliev and Panfilov's model (wong2015, sections 2 and 4).

Lengths are centimetres; potential, recovery and time are the model's, in which an action potential goes from 0 to 1
and a unit of time is 12.9 ms (Göktepe and Kuhl 2009). `IonicHeart` has a cell of ions in the place of that model.
"""

from kernels.monodomain.heart import Diverged, Heart, Step
from kernels.monodomain.hybrid import Hybrid
from kernels.monodomain.ionic import IonicHeart, Tissue
from kernels.monodomain.model import MILLISECONDS, Model

__all__ = ["MILLISECONDS", "Diverged", "Heart", "Hybrid", "IonicHeart", "Model", "Step", "Tissue"]
