"""Measure: cells come in, records of what was measured come out.

`runner` goes through the cells that a command wants, `worker` measures each in a process of its own, `execution` takes
the machine's lock, calls the artefact's `measure(cell, run)` and stores its record. `context` has the `Run` that it is
given, `timing` and `statistics` what its times are, `building` the data that is made ahead, `ceilings` and
`device_ceilings` what a device allows, `memory`, `busy` and `state` what may disturb a measurement. `shares` leaves out
what this host's share of cores would mix.
"""
