import re


def read(text):
    tasks = re.search(r"one after the other: ([a-z, ]+)\.", text).group(1)
    before = re.findall(r"- (\w+) has to be done before (\w+)", text)
    place = re.search(r"Let K be (\d+)\.", text).group(1)
    return {"tasks": tasks.split(", "), "before": [list(pair) for pair in before], "place": int(place)}
