import re


def read(text):
    found = re.findall(r"- order \d+: not before hour (\d+), takes (\d+) hours, done by hour (\d+)", text)
    if not found or not re.search(r"A workshop has (\d+) orders", text):
        raise ValueError("no orders")
    return {"jobs": [[int(value) for value in item] for item in found]}
