import re


def read(text):
    lines = re.findall(r"- fault \d+ sets off (.*)", text)
    ringing = re.search(r"these numbers ring: ([\d, ]+)\.", text).group(1)
    return {
        "alarms": int(re.search(r"has (\d+) alarms", text).group(1)),
        "faults": [[int(alarm) for alarm in re.findall(r"alarm (\d+)", line)] for line in lines],
        "ringing": [int(alarm) for alarm in ringing.split(",")],
        "most": int(re.search(r"Let F be (\d+)\.", text).group(1)),
    }
