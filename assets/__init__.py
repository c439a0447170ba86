"""Assets, one package a line. A package that has a `line` is one: pipelines finds it by that, so a new line is a new package and nothing else."""
