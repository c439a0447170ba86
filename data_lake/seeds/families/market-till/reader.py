import re


def read(text):
    held = re.search(r"coins in its till: ([^.]*)\.", text).group(1)
    sales = re.findall(r"- price (\d+) cents, paid with ([\d +]+)", text)
    return {
        "till": [[int(value), int(count)] for count, value in re.findall(r"(\d+) of (\d+) cents", held)],
        "ones": int(re.search(r"let their number be (\d+)\.", text).group(1)),
        "sales": [[int(price), [int(coin) for coin in paid.split("+")]] for price, paid in sales],
    }
