"""The weighted tardiness of two job shops with three machines, which take waiting jobs by a rule."""

import importlib.util


def jobs(step):
    """Return 30 jobs as (arrival, due, weight, steps); a step is (machine, hours)."""
    made = []
    for k in range(30):
        route = [(k * step + place * (1 + k % 2)) % 3 for place in range(3)]
        steps = [(machine, 1 + (k * k * step + 7 * k + 5 * place) % 13) for place, machine in enumerate(route)]
        arrival, hours = 5 * k + k * step % 7, sum(time for _, time in steps)
        made.append((arrival, arrival + hours * (1.2 + k * step % 5 / 2), (1, 1, 2, 6)[(k * step + k // 3) % 4], steps))
    return made


def evaluate(program_path):
    """Return the mean weighted tardiness in hours; 1000 for a choice that is no place."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    late = []
    for step in (5, 11):
        shop = jobs(step)
        ready, done, free, now = [job[0] for job in shop], [0] * len(shop), [0, 0, 0], 0
        while any(count < 3 for count in done):
            for machine in range(3):
                waiting = [k for k, job in enumerate(shop) if done[k] < 3 and ready[k] <= now and job[3][done[k]][0] == machine]
                if free[machine] > now or not waiting:
                    continue
                place = 0
                if len(waiting) > 1:
                    rows = [(shop[k][3][done[k]][1], sum(time for _, time in shop[k][3][done[k]:]), shop[k][1], shop[k][2]) for k in waiting]
                    place = program.pick(now, rows)
                if type(place) is not int or not 0 <= place < len(waiting):
                    return {"tardiness": 1000.0}
                k = waiting[place]
                free[machine] = ready[k] = now + shop[k][3][done[k]][1]
                done[k] += 1
            now += 1
        late += [weight * max(0.0, end - due) for end, (_, due, weight, _) in zip(ready, shop, strict=True)]
    return {"tardiness": sum(late) / len(late)}
