"""All that pip installs of the project: a launcher, and in a wheel the project's folders below it.

Packages of other projects are called `datasets` and `kernels`, too, so that none of these names may be installed.
"""
