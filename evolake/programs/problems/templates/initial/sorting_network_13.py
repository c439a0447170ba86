"""A network of comparators that sorts 13 inputs."""


def build(case):
    """Return the comparators [i, j], after which the smaller number is at i: neighbours in turn."""
    return [[place, place + 1] for step in range(13) for place in range(step % 2, 12, 2)]
