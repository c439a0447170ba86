import random

DELAY = 1
LENGTH = 1000


def input(difficulty):
    count = 6 + 2 * difficulty
    first = random.randint(1, count)
    since, source, meetings, day = {first: 0}, {}, [], 0
    for _ in range(count + difficulty):
        day += random.randint(0, 2) if meetings else 1
        able = [person for person, start in since.items() if DELAY <= day - start < DELAY + LENGTH]
        new = [person for person in range(1, count + 1) if person not in since]
        if not able and random.random() < 0.8:
            day += DELAY
            able = [person for person, start in since.items() if DELAY <= day - start < DELAY + LENGTH]
        if able and new and random.random() < 0.7:
            one, other = random.choice(able[-4:]), random.choice(new)
            since[other], source[other] = day, one
        else:
            one, other = random.sample(new if len(new) > 1 and random.random() < 0.6 else range(1, count + 1), 2)
        meetings.append([day, *random.sample((one, other), 2)])
    passed_on = dict.fromkeys(range(1, count + 1), 0)
    for person in source:
        while person != first:
            passed_on[person] += 1
            person = source[person]
    home = random.choice(sorted(passed_on, key=lambda person: (-passed_on[person], person))[:3])
    random.shuffle(meetings)
    lines = [f"- day {day}: person {one} and person {other}" for day, one, other in meetings]
    return {"count": count, "meetings": meetings, "first": first, "home": home}, [str(count), "\n".join(lines), str(first), str(home)]
