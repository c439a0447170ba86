"""From the end backwards: each order as late as it can."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("jobs"), list):
        return {"status": "schema_error", "detail": "jobs"}
    jobs = inputs["jobs"]
    found = placed(jobs, frozenset(range(len(jobs))), max(late for _, _, late in jobs), set())
    return [found[number] for number in range(len(jobs))] if found else {"status": "schema_error", "detail": "no plan"}


def placed(jobs, waiting, limit, dead):
    if not waiting:
        return {}
    if (waiting, limit) in dead:
        return None
    for number in sorted(waiting, key=lambda item: (-jobs[item][0], item)):
        early, length, late = jobs[number]
        start = min(limit, late) - length
        if start >= early:
            found = placed(jobs, waiting - {number}, start, dead)
            if found is not None:
                return {number: start, **found}
    dead.add((waiting, limit))
    return None
