"""The heart of wong2015 as others compute it: plain loops on one core, and PETSc on several processes."""
