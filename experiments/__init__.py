"""One folder a paper, one module an artefact: what is varied, what is measured, how it is shown."""
