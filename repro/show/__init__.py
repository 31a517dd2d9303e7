"""Show: records come in, an artefact's files come out: rows, the paper's table, its figure.

`render` writes them, `results` and `measurements` read rows, `tables`, `plots`, `panels` and `looks` are what artefacts
build theirs with, `redraw` draws again what is stored.
"""
