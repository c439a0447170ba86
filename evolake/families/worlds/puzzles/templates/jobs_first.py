"""A validator of jobs that lets a clock tick."""

FIRST = ""
__answer__ = __constants__ = None
# --- program ---
"""One unit of time after the other."""

__constants__


def ordered(jobs):
    """The numbers of all jobs, those first that may go first."""
    numbers = list(range(1, len(jobs) + 1))
    if FIRST == "latest":
        return numbers[::-1]
    wanted = {number: 0 for number in numbers}
    for _, needs in jobs:
        for number in needs:
            wanted[number] += 1
    value = {number: {"longest": jobs[number - 1][0], "shortest": -jobs[number - 1][0], "wanted": wanted[number]}[FIRST] for number in numbers}
    return [number for best in sorted(set(value.values()), reverse=True) for number in numbers if value[number] == best]


def solution(inputs):
    jobs, order = inputs["jobs"], ordered(inputs["jobs"])
    left, started, done, t = {}, {}, {}, 0
    while len(done) < len(jobs):
        for number in order:
            if number not in started and len(left) < inputs["workers"] and set(jobs[number - 1][1]) <= set(done):
                started[number], left[number] = t, jobs[number - 1][0]
        t += 1
        for number in list(left):
            left[number] -= 1
            if not left[number]:
                del left[number]
                done[number] = t
    __answer__
