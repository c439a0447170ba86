import re


def read(text):
    alarms = re.findall(r"for the first time in minute (\d+), then every (\d+) minutes", text)
    return {
        "alarms": [[int(first), int(every)] for first, every in alarms], "asked": int(re.search(r"ring number (\d+) heard", text).group(1)),
    }
