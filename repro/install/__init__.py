"""Set up: the environment of a checkout, by nothing but the standard library; see `bootstrap`."""
