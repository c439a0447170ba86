import re


def read(text):
    pairs = re.findall(r"arrives in minute (\d+), treatment (\d+) minutes", text)
    asked = re.search(r"patient number (\d+) end", text)
    return {"patients": [[int(arrival), int(length)] for arrival, length in pairs], "asked": int(asked.group(1))}
