import re


def read(text):
    count = int(re.search(r"has (\d+) painters", text).group(1))
    taught = {int(pupil): int(master) for pupil, master in re.findall(r"painter (\d+) was a pupil of painter (\d+)", text)}
    if set(taught) != set(range(2, count + 1)):
        raise ValueError("a painter's master is not said")
    steps = re.search(r"Let D be (\d+)\.", text).group(1)
    return {"masters": [taught.get(person, 0) for person in range(1, count + 1)], "steps": int(steps)}
