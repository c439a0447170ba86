import re


def read(text):
    length, digits = re.search(r"has (\d+) digits, each from 1 to (\d+)\.", text).groups()
    tries = re.findall(r"- (\d+): first signal (\d+), second signal (\d+)", text)
    return {"length": int(length), "digits": int(digits), "tries": [[int(value) for value in attempt] for attempt in tries]}
