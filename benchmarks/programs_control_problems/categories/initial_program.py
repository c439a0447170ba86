"""A plan by names."""


# EVOLVE-BLOCK-START
SCALES = ["none", "log", "rank", "unit"]
SELECTIONS = ["all", "top", "random", "greedy"]
SPLITS = ["time", "random", "group"]
MODELS = ["linear", "tree", "nearest", "kernel"]
VOTES = ["mean", "median", "best"]
ORDERS = ["first", "last", "mixed"]


def plan():
    """Return the method of each step, and two numbers."""
    return {
        "scale": "none", "select": "random", "split": "random", "model": "linear", "vote": "mean", "order": "first",
        "depth": 2, "share": 0.9,
    }
# EVOLVE-BLOCK-END
