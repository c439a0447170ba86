import re


def read(text):
    meetings = re.findall(r"- day (\d+): person (\d+) and person (\d+)", text)
    return {
        "count": int(re.search(r"village of (\d+) people", text).group(1)),
        "meetings": [[int(number) for number in meeting] for meeting in meetings],
        "first": int(re.search(r"Person (\d+) was infected on day 0", text).group(1)),
        "home": int(re.search(r"Person P is number (\d+)", text).group(1)),
    }
