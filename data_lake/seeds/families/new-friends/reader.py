import re


def read(text):
    listed = re.search(r"pairs of friends are: ([^.]*)\.", text).group(1)
    return {
        "count": int(re.search(r"live (\d+) people", text).group(1)),
        "friends": [[int(one), int(other)] for one, other in re.findall(r"(\d+) and (\d+)", listed)],
        "evenings": int(re.search(r"After (\d+) evenings", text).group(1)),
    }
