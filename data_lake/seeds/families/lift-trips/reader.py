import re


def read(text):
    people = re.findall(r"- (\d+) kg, wants to go to floor (\d+)", text)
    load = re.search(r"carries at most (\d+) kg", text).group(1)
    return {"people": [[int(weight), int(floor)] for weight, floor in people], "load": int(load)}
