"""Assets, one package a line or a study. A package that has a `line` or a `study` is one: pipelines finds it by that alone."""
