"""The order of 18 jobs that go through four machines."""


# EVOLVE-BLOCK-START
def order(jobs):
    """Return the numbers of the jobs in the order in which every machine takes them; a job is its weight and four times."""
    rest = list(range(18))
    chosen = []
    while rest:
        best = rest[0]
        for job in rest:
            if jobs[job][1] < jobs[best][1]:
                best = job
        rest.remove(best)
        chosen.append(best)
    return chosen
# EVOLVE-BLOCK-END
