import re


def read(text):
    found = re.findall(r"first bus in minute (\d+), then every (\d+) minutes, ride of (\d+) minutes", text)
    return {"legs": [[int(value) for value in leg] for leg in found], "start": int(re.search(r"first stop in minute (\d+)\.", text).group(1))}
