import random


def input(difficulty):
    workers = 3 + 2 * difficulty // 5
    tasks = workers + random.randint(-1, 1)
    named = [sorted(random.sample(range(1, tasks + 1), random.randint(1, tasks - 1))) for _ in range(workers)]
    given = random.randint(2, max(2, min(workers, tasks) - 1))
    lines = [f"- worker {number}: {names}" for number, names in enumerate(named, start=1)]
    return {"named": named, "tasks": tasks, "given": given}, [str(tasks), "\n".join(lines), str(given)]
