"""Read a unit whole: `km/h`, `kilometres per hour`, `km h^{-1}` and `\\frac{\\text{km}}{\\text{h}}` are one, `km` is another.

A unit has one name, made of its parts in the singular with their powers: `kilometre hour^-1`, `metre^2`, `celsius`. Nothing is converted: a
kilometre is not 1000 metres. What the tables do not know is a noun that is counted (`12 apples`), compared by its words in the singular. Standard
library only: the exported reward function carries this file along.
"""

from __future__ import annotations

import re

PER_CENT, DEGREE, DOLLAR = "percent", "degree", "dollar"
_PREFIXES = {
    "k": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta", "h": "hecto", "da": "deca", "d": "deci", "c": "centi", "m": "milli",
    "µ": "micro", "u": "micro", "n": "nano", "p": "pico", "f": "femto",
}
_METRIC = {
    "m": "metre", "g": "gram", "s": "second", "l": "litre", "L": "litre", "A": "ampere", "K": "kelvin", "mol": "mole", "cd": "candela",
    "Hz": "hertz", "N": "newton", "Pa": "pascal", "J": "joule", "W": "watt", "V": "volt", "Ω": "ohm", "F": "farad", "C": "coulomb", "T": "tesla",
    "Wb": "weber", "H": "henry", "lm": "lumen", "lx": "lux", "Bq": "becquerel", "Gy": "gray", "Sv": "sievert", "S": "siemens", "bar": "bar",
    "cal": "calorie", "eV": "electronvolt", "t": "tonne", "B": "byte", "bit": "bit", "pc": "parsec", "rad": "radian", "Wh": "watt hour",
    "Ah": "ampere hour", "M": "mole litre^-1",
}
"""Symbol -> name of a unit that takes prefixes."""
_OTHER_UNITS = """
second: sec secs 秒 秒钟
minute: min mins 分 分钟
hour: h hr hrs 时 小时 个小时
day: d 天 日
week: wk wks 周 星期
month: mo mos 月 个月
year: yr yrs y 年
inch: in inches ″
foot: ft feet ′
yard: yd yds
mile: mi 英里
acre: ac
hectare: ha 公顷
pound: lb lbs £ GBP sterling
ounce: oz
ton:
stone: st
pint: pt
quart: qt
gallon: gal gals
cup:
tablespoon: tbsp
teaspoon: tsp
knot: kn kts
degree: ° deg degs 度
celsius: °C degC centigrade 摄氏度
fahrenheit: °F degF 华氏度
atmosphere: atm
percent: % pct percentage
permille: ‰
dollar: $ USD 美元
cent: ¢ cents
euro: € EUR 欧元
yen: ¥ JPY 日元
rupee: ₹ INR
yuan: CNY RMB 元
won: ₩ KRW
franc: CHF
penny: pence pennies
revolution: rev revs
decibel: dB
light-year: ly
angstrom: Å
horsepower: hp
ppm:
psi:
mmHg:
tonne: 吨
gram: gramme grammes 克
kilogram: kilo kilos 千克 公斤
milligram: 毫克
metre: 米
kilometre: 千米 公里
decimetre: 分米
centimetre: 厘米
millimetre: 毫米
micrometre: micron microns
litre: 升
millilitre: 毫升
ampere: amp amps
kiloohm: kilohm kilohms
metre newton: Nm
unit:
mole litre^-1: molar
mile hour^-1: mph
kilometre hour^-1: kph kmh kmph
mile gallon^-1: mpg
revolution minute^-1: rpm
centimetre^3: cc ccm
metre^2: sqm
foot^2: sqft
kilowatt hour: kwh KWh KWH
kilobyte: KB
"""
"""A line for each unit that takes no prefixes, and for other spellings of those that do: its name, then how else it is written."""
_TWO_WORDS = {
    "degree celsius": "celsius", "degree centigrade": "celsius", "degree fahrenheit": "fahrenheit", "degree kelvin": "kelvin", "degree c": "celsius",
    "degree f": "fahrenheit", "fluid ounce": "fluid-ounce", "fl oz": "fluid-ounce", "nautical mile": "nautical-mile", "light year": "light-year",
    "pound sterling": "pound", "per cent": PER_CENT, "metric ton": "tonne", "metric tonne": "tonne", "us dollar": DOLLAR, "american dollar": DOLLAR,
    "mm hg": "mmHg", "electron volt": "electronvolt",
}
_POWER_BEFORE = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWER_AFTER = {"squared": 2, "cubed": 3}
_IRREGULAR = {
    "children": "child", "men": "man", "women": "woman", "people": "person", "mice": "mouse", "geese": "goose", "teeth": "tooth", "oxen": "ox",
    "buses": "bus", "gases": "gas", "lenses": "lens", "vertices": "vertex", "indices": "index", "dice": "die", "halves": "half", "loaves": "loaf",
    "leaves": "leaf", "knives": "knife", "wolves": "wolf", "shelves": "shelf", "series": "series", "species": "species", "feet": "foot",
}
_NAMED_UNITS: dict[str, str] = {}
for _line in _OTHER_UNITS.split("\n"):
    _unit, _, _others = _line.partition(":")
    _NAMED_UNITS |= dict.fromkeys([_unit, *_others.split()], _unit)
_PREFIXABLE = {name.split()[0] for name in _METRIC.values()}
_UNIT_TOKEN = re.compile(
    r"\s*+(?:(?P<word>[^\W\d_]++|[°º]\s?[CF](?![^\W_])|[°º%‰$€£¥₹₩¢′″])|(?P<count>\d{2,7}(?=\s?[^\W\d_]))|(?P<power>(?:\^|\*\*)\s*+(?:\([-+]?\d\)|[-+]?\d)|-?\d(?!\d|[.,]\d))|(?P<mark>[-/·.*()]))"
)
_WRAPPED_UNIT = re.compile(r"\\(?:text|textrm|textit|textbf|mathrm|mathit|mathbf|mbox|operatorname|rm|unit)\s*+\{([^{}\\$]*+)\}")
_UNIT_FRACTION = re.compile(r"\\[dt]?frac\s*+\{([^{}\d][^{}]*+)\}\s*+\{([^{}\d][^{}]*+)\}")
_AS_PLAIN = [
    (re.compile(r"(?:\{\s*+\})?\^\s*+(?:\{\s*+\\circ\s*+\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])|º"), "°"),
    (re.compile(r"\^\s*+\{\s*+([-+−]?)\s*+(\d)\s*+\}"), r"^\1\2"),
    (re.compile(r"(?<=[^\W\d_}])\s*+\$\^\s*+([-+]?\d)\s*+\$"), r"^\1"),
    (re.compile(r"\\(?:up)?mu(?![A-Za-z])\s*+(\\(?:text|mathrm)\s*+\{)?|μ"), r"\1µ"),
    (re.compile(r"(?:\\(?:text|mathrm)\s*+\{\s*+([kMGm])\s*+\}\s*+)?\\Omega(?![A-Za-z])|\u2126"), r"\1Ω"),
    (re.compile("℃"), "°C"), (re.compile("℉"), "°F"),
    (re.compile(r"\\ell(?![A-Za-z])"), "l"),
    (re.compile(r"\\(?:AA|r?angstrom)(?![A-Za-z])|\u212b"), "Å"),
    (re.compile(r"\\per(?![A-Za-z])"), "/"),
    (re.compile(r"\\(?:cdot|times)(?![A-Za-z])(?=\s*+(?:\\[A-Za-z]|[^\W\d_]))|[⋅•∙]|·(?=\s*+[^\W\d_])"), "·"),
    (re.compile(r"\\([%$])"), r"\1"),
    (re.compile(r"~|\\[,;:!> ](?=\s*+[\\(]?[^\W\d_])|(?<=[^\W\d_}°])\\[,;:!> ]|\\q?quad(?![A-Za-z])"), " "),
    (re.compile("平方"), " square "), (re.compile("立方"), " cubic "), (re.compile("每"), " per "),
]
_MARKS_OF_LATEX = frozenset("\\^$~")
_SUPERSCRIPTS = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]++")
_FROM_SUPERSCRIPT = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
LONGEST_UNIT = 80
"""Characters of the longest unit."""


def plain_units(text: str) -> str:
    """Return a text with what LaTeX and superscripts write around units in plain signs: `^\\circ\\text{C}` is `°C`, `m³` is `m^3`."""
    if text.isascii() and _MARKS_OF_LATEX.isdisjoint(text):
        return text
    text = _SUPERSCRIPTS.sub(lambda match: "^" + match[0].translate(_FROM_SUPERSCRIPT), text).replace("−", "-")
    for pattern, plain in _AS_PLAIN:
        text = pattern.sub(plain, text)
    return _UNIT_FRACTION.sub(r" (\1)/(\2)", _WRAPPED_UNIT.sub(r" \1 ", text)) if "\\" in text else text


def leading_unit(text: str) -> tuple[str, int]:
    """Return (the name of the longest unit that a plain text begins with, where it ends); ("", 0) without one."""
    return _UnitReader(text).longest()


class _UnitReader:
    """One pass over the tokens of a unit: `name power? ((space | mark | per) count? name power?)*`. After `/` and `per`, all is below the line."""

    def __init__(self, text: str):
        self.text = text
        self.at = self.depth = 0
        self.sign = self.power = 1
        self.parts: dict[str, int] = {}
        self.last: list[tuple[str, int]] = []  # what a power would belong to

    def longest(self) -> tuple[str, int]:
        """Return the longest unit and where it ends."""
        found, end = "", 0
        while self.at < LONGEST_UNIT and (match := _UNIT_TOKEN.match(self.text, self.at)):
            kind = str(match.lastgroup)
            touches, self.at = match.start(kind) == self.at, match.end()
            taken = {"power": self._take_power, "count": self._take_count, "mark": self._take_mark, "word": self._take_word}[kind](match[kind], touches)
            if taken is None:
                break
            if taken and not self.depth:
                found, end = self._written(), self.at
        return (found, end) if found else ("", 0)

    def _take_power(self, token: str, touches: bool) -> bool | None:
        """Return whether a unit may end here, None if the token is no part of it; as the other two."""
        if not self.last or not (touches or token[0] in "^*"):
            return None
        times = int(re.sub(r"[^-\d]", "", token))
        if times < 0 and self.last == [("millisecond", 1)]:  # "ms^{-1}" is metres a second
            del self.parts["millisecond"]
            self.parts["metre"], self.last = self.parts.get("metre", 0) + 1, [("second", 1)]
            self.parts["second"] = self.parts.get("second", 0) + 1
        for name, exponent in self.last:
            self.parts[name] += exponent * (times - 1)
        self.last = []
        return True

    def _take_count(self, token: str, touches: bool) -> bool | None:
        """Take the number of `litres per 100 km`: it stands right behind the line."""
        if not self.parts or self.sign > 0 or self.last:
            return None
        self.parts[token] = -1
        return False

    def _take_mark(self, token: str, touches: bool) -> bool | None:
        if token == "." and self.power > 1:  # "sq. ft"
            return False
        follows = self.text[self.at : self.at + 1]
        if token == "(":
            self.depth += 1
        elif token == ")":
            self.depth -= 1
        elif token == "/":
            self.sign = -1
        elif not (follows.isalpha() or token == "·"):
            return None
        if self.depth < 0 or (token != "(" and not self.parts) or (token == "(" and self.parts and self.sign > 0):
            return None
        self.last = []
        return token == ")"

    def _take_word(self, token: str, touches: bool) -> bool | None:
        word = token.casefold()
        if word in _POWER_AFTER:
            return self._take_power(f"^{_POWER_AFTER[word]}", touches)
        if word in _POWER_BEFORE and self.power == 1:
            self.power = _POWER_BEFORE[word]
            return False
        name, second = "", _UNIT_TOKEN.match(self.text, self.at + (self.text[self.at : self.at + 1] == "-"))
        if second and second["word"]:
            pairs = (f"{first} {singular(second['word'])}" for first in (singular(token), _unit_of_word(token)))
            name = next((_TWO_WORDS[pair] for pair in pairs if pair in _TWO_WORDS), "")
        if name and second:
            self.at = second.end()
        elif word in ("per", "a", "an") and (self.parts or token != "A"):
            self.sign, self.last = -1, []
            return False if self.parts else None
        elif (word == "in" and self.parts and self.sign == self.power) or not (name := _unit_of_word(token)):
            return None  # "20 hours in a day"
        self.last = [(base, self.sign * self.power * int(power or 1)) for base, _, power in (part.partition("^") for part in name.split())]
        for base, power in self.last:
            self.parts[base] = self.parts.get(base, 0) + power
        self.power = 1
        return True

    def _written(self) -> str:
        order = sorted(self.parts.items(), key=lambda item: (item[1] < 0, item))
        return " ".join(name if power == 1 else f"{name}^{power}" for name, power in order if power)


def known_unit(text: str) -> str | None:
    """Return the name of a unit that the tables know; None for any other text."""
    name, rest = _split(text[: 2 * LONGEST_UNIT])
    return None if rest else name or None


def unit_name(text: str) -> str:
    """Return a unit's name in the singular: `cm`, `Centimeters` and `centimetre` are one; so are `cm^2` and `square centimetres`, `kg of apples`
    and `kilogram of apples`."""
    name, rest = _split(text[: 2 * LONGEST_UNIT])
    return " ".join([name, *map(singular, re.split(r"[\s-]+", rest))]).strip()


_SPLIT: dict[str, tuple[str, str]] = {}
"""What `_split` found; emptied when it is full."""


def _split(text: str) -> tuple[str, str]:
    """Return (the name of the unit that a text begins with, the words after it)."""
    found = _SPLIT.get(text)
    if found is None:
        plain = plain_units(text).strip()
        name, end = leading_unit(plain)
        if len(_SPLIT) > 1000:
            _SPLIT.clear()
        found = _SPLIT[text] = name, plain[end:].strip(" .")
    return found


def singular(word: str) -> str:
    """Return a noun in lower case and in the singular, by its ending."""
    word = word.casefold().strip(".'’")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses", "oes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _unit_of_word(word: str) -> str:
    """Return the name of the unit that a symbol or a noun is; "" for any other word."""
    word = word.replace("º", "°").replace("° ", "°")
    if word in _NAMED_UNITS:
        return _NAMED_UNITS[word]
    if word in _METRIC:
        return _METRIC[word]
    for size in (1, 2):
        if word[:size] in _PREFIXES and word[size:] in _METRIC and word[size:] != "M" and word != "pm":
            return _PREFIXES[word[:size]] + _METRIC[word[size:]]
    lower = word.casefold()
    if len(lower) < 2:
        return ""
    for name in (lower, singular(lower), lower.removesuffix("s")):
        name = re.sub(r"(met|lit)er\Z", r"\1re", name)
        if len(lower) > 1 and name in _NAMED_UNITS:
            return _NAMED_UNITS[name]
        if name in _PREFIXABLE:
            return name
        for prefix in _PREFIXES.values():
            if name.startswith(prefix) and name[len(prefix) :] in _PREFIXABLE:
                return name
    short = lower.removesuffix("s") if len(lower) > 2 else lower  # KM, kgs
    return _PREFIXES[short[0]] + _METRIC[short[1]] if short in ("km", "cm", "mm", "kg", "mg", "ml", "cl", "dl") else ""
