"""asv over the history: the quick set of benchmarks, two commits against each other, and asv's pages.

asv measures, keeps and publishes; what is here names the machine after its GPU, runs each commit's own code with this
environment's libraries (`environment`), reads what asv measured (`measured`), and compares two commits in rounds until
each benchmark is judged (`compare`, by `repro.judge.difference`).
"""
