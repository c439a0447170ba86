"""Order after order, each as early as it can; a state is the set of orders that are done and the hour."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("jobs"), list):
        return {"status": "schema_error", "detail": "jobs"}
    jobs, dead = inputs["jobs"], set()

    def plan(clock, starts):
        if len(starts) == len(jobs):
            return starts
        key = frozenset(starts), clock
        if key in dead:
            return None
        waiting = sorted((number for number in range(len(jobs)) if number not in starts), key=lambda number: jobs[number][2])
        if all(max(clock, jobs[number][0]) + jobs[number][1] <= jobs[number][2] for number in waiting):
            for number in waiting:
                start = max(clock, jobs[number][0])
                found = plan(start + jobs[number][1], {**starts, number: start})
                if found is not None:
                    return found
        dead.add(key)
        return None

    found = plan(0, {})
    return [found[number] for number in range(len(jobs))] if found else {"status": "schema_error", "detail": "no plan"}
