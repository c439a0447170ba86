"""A validator of jobs that places one job after the other on the calendars of the workers."""

FIRST = ""
__answer__ = __constants__ = None
# --- program ---
"""The earliest moment at which any job may begin, and which job it is."""

__constants__


def solution(inputs):
    jobs = [(time, [one - 1 for one in needs]) for time, needs in inputs["jobs"]]
    begun, calendars = {}, [0] * inputs["workers"]
    while len(begun) < len(jobs):
        earliest = {
            job: max([min(calendars), *(begun[one] + jobs[one][0] for one in needs)])
            for job, (_, needs) in enumerate(jobs) if job not in begun and all(one in begun for one in needs)
        }
        moment = min(earliest.values())
        able = [job for job in earliest if earliest[job] == moment]
        if FIRST == "latest":
            chosen = able[-1]
        else:
            strength = {
                "longest": [jobs[job][0] for job in able], "shortest": [-jobs[job][0] for job in able],
                "wanted": [len([1 for _, needs in jobs if job in needs]) for job in able],
            }[FIRST]
            chosen = able[strength.index(max(strength))]
        begun[chosen] = moment
        calendars[calendars.index(min(calendars))] = moment + jobs[chosen][0]
    __answer__
