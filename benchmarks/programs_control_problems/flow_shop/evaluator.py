"""When 18 jobs in one order leave four machines, as a mean over 20 weeks in which work takes longer here and there."""

JOBS = [[(1, 2, 1, 5, 3)[k * k % 7 % 5]] + [1 + (k * k * 7 + k * (5 + 6 * machine) + 3 * machine) % 19 for machine in range(4)] for k in range(18)]


def cases(seed):
    """One: the weight of each job and its planned hours on each machine."""
    return [JOBS]


def score(cases, results):
    """Return the mean hour in which a job ends, by weight; 1000 for what is no order."""
    order = results[0]["output"] if results[0]["status"] == "ok" else None
    if not isinstance(order, list) or not all(type(job) is int for job in order) or sorted(order) != list(range(18)):
        return {"hours": 1000.0}
    total = 0.0
    for week in range(20):
        free = [0.0] * 4
        for job in order:
            end = 0.0
            for machine in range(4):
                slow = 1.5 if (job * 5 + machine * 3 + week * 7) % 11 == 0 else 1.0
                end = free[machine] = max(end, free[machine]) + slow * JOBS[job][machine + 1]
            total += end * JOBS[job][0]
    return {"hours": total / 20 / sum(job[0] for job in JOBS)}
