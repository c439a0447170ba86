import random

TASKS = [
    "airing", "baking", "cleaning", "dusting", "emptying", "frying", "gardening", "hoovering", "ironing", "jarring", "knitting", "laundry", "mending",
    "nailing", "oiling", "painting", "quilting", "repairing", "sweeping", "tidying", "unpacking", "varnishing", "washing", "zipping",
]


def input(difficulty):
    tasks = random.sample(TASKS, 5 + difficulty + difficulty // 2)
    plan = random.sample(tasks, len(tasks))
    before = []
    for later in range(1, len(plan)):
        for earlier in random.sample(range(later), min(later, random.choice((0, 1, 1, 2)))):
            before.append([plan[earlier], plan[later]])
    random.shuffle(before)
    place = random.randint(2, len(tasks) - 1)
    lines = [f"- {earlier} has to be done before {later}" for earlier, later in before]
    return {"tasks": tasks, "before": before, "place": place}, [", ".join(tasks), "\n".join(lines), str(place)]
