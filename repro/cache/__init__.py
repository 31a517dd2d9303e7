"""Keep: which cells there are, what they depend on, what is stored of them, and on which host it was measured.

`plan` gives the cells of an artefact with how each stands, by `keys`; `store` and `kept` keep records,
`files` reads them back from what git has, `hosts` tells whose a folder is,
`lacking` says why a selection leaves nothing.
"""
