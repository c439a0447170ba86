"""Units are read whole: what a question asks for is right in each of its spellings, a part of it or another
unit is wrong, and a number alone is right; here, in the exported file, and at the end of a reply."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.answers.units import LONGEST_UNIT, known_unit, unit_name
from evolake.families.dataset.exports import reward_source
from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.scoring import judge_reply

REWARD: dict = {"__name__": "reward"}
exec(compile(reward_source(), "reward.py", "exec"), REWARD)

ASKED = r"""
? What is its speed in km/h?
+ 5 | 5 km/h | 5km/h | 5 \text{ km/h} | 5\,\mathrm{km/h} | 5~\text{km}/\text{h} | 5 km / h | 5 kph
+ 5 \frac{\text{km}}{\text{h}} | 5 kilometres per hour | 5 kilometers/hour | 5 kilometers an hour
+ 5\ \mathrm{km\,h^{-1}} | 5 km h^-1 | 5 km·h⁻¹ | 5 \text{ km per hour} | 5\,\text{km}\cdot\text{h}^{-1}
+ **5 km/h** | 5 KM/H | v = 5 \text{ km/h}
- 5 km | 5 h | 5 m/h | 5 km/s | 5 mph | 5 km/h^2 | 5 h/km | 5 \text{ km} | 5 km h | 5 kilometres | 6 km/h
- 5 km/hh
? How many kilometres per hour does it go?
+ 5 | 5 km/h | 5 kilometres per hour
- 5 kilometres | 5 hours | 5 per hour
? How many miles per hour is that?
+ 5 mph | 5 miles per hour | 5 mi/h | 5 miles an hour
- 5 miles | 5 km/h | 5 miles per minute
? What is the area in m^2?
+ 5 m^2 | 5 m² | 5m2 | 5 \text{ m}^2 | 5 \text{ m}^{2} | 5 \mathrm{m}^2 | 5 square metres | 5 sq m | 5 sq. m
+ 5 square meters | 5 metres squared | 5 \text{ square metres} | 5\text{ m}²
- 5 m | 5 m^3 | 5 square | 5 metres | 5 cm^2 | 5 \text{ m} | 5 m m^2
? Find the area in square centimetres.
+ 5 cm^2 | 5 sq cm | 5\,\text{cm}^2 | 5
- 5 cm | 5 square | 5 square metres | 5 m^2 | 5 mm²
? What is its area in $\text{cm}^2$?
+ 5 cm² | 5 square centimetres
- 5 cm | 5 cm^3
? What is the area in cm$^2$?
+ 5 cm² | 5 square centimetres
- 5 cm | 5 cm^3
? How many cubic metres of water fit in?
+ 5 m^3 | 5 m³ | 5 cubic metres | 5 cubic metres of water | 5 cubic meters
- 5 metres | 5 cubic | 5 m^2 | 5 water | 5 litres
? How many cubic centimetres is it?
+ 5 cm^3 | 5 cc | 5 cm³
- 5 cm | 5 cm^2
? What is the density in kg/m^3?
+ 5 kg/m^3 | 5 kg/m³ | 5 \text{ kg/m}^3 | 5\,\frac{\text{kg}}{\text{m}^3} | 5\,\mathrm{kg\,m^{-3}}
+ 5 kg m⁻³ | 5 kilograms per cubic metre | 5 kg per m^3 | 5 \dfrac{kg}{m^3}
- 5 kg | 5 kg/m | 5 kg/m^2 | 5 g/m^3 | 5 m^3/kg | 5 kg m^3 | 5 kg/cm^3
? How many degrees Celsius is it?
+ 5°C | 5 °C | 5^\circ\text{C} | 5^{\circ}\mathrm{C} | 5\,{}^\circ C | 5 degrees Celsius | 5 degree Celsius
+ 5 deg C | 5 C | 5 ℃ | 5 Celsius
- 5 degrees | 5° | 5^\circ | 5 °F | 5 degrees Fahrenheit | 5 K | 5 F
? What is the temperature in °F?
+ 5°F | 5 degrees Fahrenheit | 5^\circ \text{F} | 5 F
- 5°C | 5 degrees | 5°
? How many degrees is the angle?
+ 5° | 5^\circ | 5 degrees | 5 deg | 5\degree | 5 \text{ degrees}
- 5 radians | 5°C | 5%
? Give the angle in radians.
+ 5 rad | 5 radians | 5\text{ rad}
- 5° | 5 degrees
? What is its acceleration in m/s^2?
+ 5 m/s^2 | 5 m/s² | 5 m/s/s | 5 m s^{-2} | 5 metres per second squared | 5 metres per second per second
+ 5\,\tfrac{\text{m}}{\text{s}^2}
- 5 m/s | 5 m | 5 m^2/s | 5 m/s^3
? What is the force in N?
+ 5 N | 5 newtons | 5\,\text{N}
- 5 J | 5 n | 5 Nm | 5 kN
? How many newton metres is the torque?
+ 5 N m | 5 N·m | 5 N⋅m | 5 newton-metres | 5 newton metres
- 5 N | 5 newtons | 5 metres | 5 N/m
? How many kilowatt hours does it use?
+ 5 kWh | 5 kilowatt-hours | 5 kW h | 5 kilowatt hours
- 5 kW | 5 kilowatts | 5 hours | 5 Wh | 5 kW/h
? What is its specific heat in J/(kg·K)?
+ 5 J/(kg·K) | 5 J/(kg K) | 5\,\text{J}\,\text{kg}^{-1}\,\text{K}^{-1} | 5 joules per kilogram kelvin
- 5 J | 5 J/kg | 5 J/K
? What is the power in MW?
+ 5 MW | 5 megawatts
- 5 mW | 5 W | 5 kW | 5 milliwatts
? What is the wavelength in µm?
+ 5 µm | 5 μm | 5 um | 5 micrometres | 5\,\mu\text{m} | 5 microns
- 5 m | 5 mm | 5 nm
? What is the resistance in ohms?
+ 5 Ω | 5\,\Omega | 5 ohms | 5 ohm
- 5 kΩ | 5 V
? What is the flow in litres per minute?
+ 5 L/min | 5 l/min | 5 liters per minute | 5 litres a minute
- 5 L | 5 litres | 5 L/s | 5 min
? How many litres are left?
+ 5 L | 5 l | 5 liters | 5 litre | 5 Liters
- 5 ml | 5 gallons
? How many hours a day does she work?
+ 5 hours | 5 hours a day | 5 hours per day | 5 h
- 5 days | 5 minutes
? How many dollars per hour does she earn?
+ 5 dollars per hour | $5/hour | \$5 per hour | $5/h
- €5/h | 5 hours | 5 euros per hour | $6/hour
? What is the price in US dollars?
+ $5 | \$5 | 5 dollars | 5 USD | 5 US dollars
- €5 | 5 euros | 5 cents | £5
? What is the price in $?
+ $5 | 5 dollars
- €5 | 5 cents
? What is the price in €?
+ €5 | 5 EUR | 5 euros
- £5 | 5 dollars
? What is the answer in %?
+ 5% | 5\% | 5 percent | 5 per cent | 5 pct | 5 \text{ percent} | 5\,\%
- 0.05 | 5‰ | 5 dollars
? How many years old is she?
+ 5 years | 5 years old | 5 \text{ years old} | 5 yrs
- 5 months | 5 months old | 5 old
? How many kilograms of apples are left?
+ 5 kg | 5 kg of apples | 5 kilograms of apples | 5 kilograms
- 5 apples | 5 grams of apples | 5 kg of pears
? How many gold coins are left?
+ 5 coins | 5 gold coins | 5 coin
- 5 silver coins | 5 dollars
? How many pairs of shoes does he have?
+ 5 pairs | 5 pairs of shoes | 5 pair
- 5 shoes | 5 pairs of socks
? How many boys and girls are there?
+ 5 boys and girls
- 5 boys | 5 girls
? How many more minutes does it take?
+ 5 minutes | 5 min
- 5 hours | 5 seconds
? How many boxes fit?
+ 5 boxes | 5 box
- 5 bottles
? How many children attend the school?
+ 5 children | 5 child
- 5 schools
? How many square tiles are needed?
+ 5 square tiles | 5 tiles
- 5 square | 5 round tiles
? How many man hours is it?
+ 5 man hours | 5 man-hours
- 5 hours
? How long is it, to the nearest tenth of a metre?
+ 5 m | 5 metres
- 5 cm | 5 tenths
? How many litres, to the nearest millilitre?
+ 5 L
- 5 mL
? What does it cost in dollars, to the nearest cent?
+ $5 | 5 dollars
- 5 cents
? How many nautical miles is it?
+ 5 nautical miles | 5 nautical mile
- 5 miles | 5 nautical
? How many light-years away is it?
+ 5 light-years | 5 light years | 5 ly
- 5 years | 5 light
? How many fluid ounces?
+ 5 fl oz | 5 fluid ounces
- 5 oz | 5 ounces
? How many GB is it?
+ 5 GB | 5 gigabytes
- 5 Gb | 5 MB | 5 gb/s
? How many words per minute can she type?
+ 5 words per minute | 5
- 5 words | 5 minutes
? How many minutes are in 3 hours?
+ 5 minutes | 5 min
- 5 hours
? Find its area in square units.
+ 5 square units | 5 \text{ units}^2 | 5 sq. units
- 5 units | 5 square
? What is the current in A?
+ 5 A | 5 amps | 5 amperes
- 5 mA | 5 V
? Give the speed in $\mathrm{m\,s^{-1}}$.
+ 5 m/s | 5 m s^{-1} | 5 ms^{-1}
- 5 ms | 5 m | 5 s
? Give the torque in N·m.
+ 5 Nm | 5 N m | 5\text{ N}\cdot\text{m} | 5 newton metres
- 5 N | 5 m | 5 nm
? 多少厘米？
+ 5 cm | 5厘米 | 5 厘米 | 5 \text{ cm}
- 5米 | 5 m | 5 厘米 平方
? 面积是多少平方米？
+ 5 m² | 5平方米 | 5 square metres
- 5米 | 5 m
? 速度是多少千米每小时？
+ 5 km/h | 5千米每小时 | 5 千米/小时
- 5千米 | 5 km
? 速度是多少km/h？
+ 5 km/h | 5千米每小时
- 5千米 | 5 km
? 共有多少个苹果？
+ 5个 | 5 个苹果 | 5
- 5 公斤 | 5 个梨
"""
"""Questions for a 5, with right (+) and wrong (-) replies."""


def pairs() -> Iterator[tuple[str, str, bool]]:
    question = ""
    for line in ASKED.strip().split("\n"):
        mark, text = line[0], line[2:]
        if mark == "?":
            question = text
        else:
            yield from ((question, reply, mark == "+") for reply in text.split(" | "))


PAIRS = list(pairs())


@pytest.mark.parametrize(("question", "reply", "right"), PAIRS)
def test_a_unit_is_right_whole_and_wrong_otherwise(question: str, reply: str, right: bool) -> None:
    units, box = asked_units(question), f"\\boxed{{{reply}}}"
    assert matches(box, 5, units=units) is right
    assert REWARD["reward"]([box], ["5"], units=[units]) == [float(right)]


# at the end of a reply, words after the answer and before a noun that is asked for are passed over
SAID = [
    pair
    for pair in PAIRS
    if not {"\\", "*", "$"} & set(pair[1]) and (pair[2] or known_unit(pair[1].removeprefix("5")))
]


@pytest.mark.parametrize(("question", "reply", "right"), SAID)
def test_a_unit_is_read_whole_at_the_end_of_a_reply(question: str, reply: str, right: bool) -> None:
    problem = Problem("p", question, "5", True, "kind", 1, "train", "test", "p")
    assert judge_reply(f"It took 3 tries. The answer is {reply}.", problem, "last").correct is right


@pytest.mark.parametrize(
    ("label", "right", "wrong"),
    [
        (
            "60 km/h",
            ["60", "60 km/h", "60 kilometres per hour", r"60 \text{ km/h}", r"60\,\mathrm{km\,h^{-1}}"],
            ["60 km", "60 m/s", "61"],
        ),
        (r"60 \text{ km/h}", ["60", "60 km/h", "60 kph"], ["60 km", r"60 \text{ km}", "60 h"]),
        ("60 m^2", ["60", "60 m²", "60 square metres"], ["60 m", "60 cm^2"]),
        (r"60 \text{ m}^2", ["60", "60 m^2", "60 sq m"], ["60 m", r"60 \text{ m}", r"60 \text{ m}^3"]),
        (r"20^\circ\text{C}", ["20", "20°C", "20 degrees Celsius"], ["20°", r"20^\circ", "20°F"]),
        (
            r"6\sqrt{3} \text{ cm}^2",
            [r"6\sqrt{3}", r"6\sqrt3\text{ cm}^2", r"6\sqrt{3} \text{ square centimetres}"],
            [r"6\sqrt{3}\text{ cm}", "6 cm^2"],
        ),
        (
            r"28\%",
            ["28 pct", "28%", "28 percent", "28 per cent", r"28\text{ percent}"],
            ["28", "0.28", "28 cm", "29%"],
        ),
        ("28%", ["28 pct", r"28\%", "28 percent"], ["28", "0.28"]),
        (
            r"\frac{3}{2} \text{ kg/m}^3",
            ["3/2", "1.5 kg/m^3", r"\frac32 \text{ kg/m}^3"],
            [r"\frac{3}{2} \text{ kg}", "1.5 kg"],
        ),
        ("5m", ["5m"], ["5", "5 metres"]),
        ("5 pm", ["5 pm"], ["5"]),
        (r"\text{Ada}", ["Ada"], ["5", ""]),
    ],
)
def test_a_labels_unit_may_be_left_out_and_not_be_another(
    label: str, right: list[str], wrong: list[str]
) -> None:
    assert [reply for reply in right if not matches(f"\\boxed{{{reply}}}", label)] == []
    assert [reply for reply in wrong if matches(f"\\boxed{{{reply}}}", label)] == []


@pytest.mark.parametrize(
    ("question", "units"),
    [
        ("How many hours in a day?", ["hours"]),
        ("How many are left in the box?", []),
        ("How many dozen eggs are left?", []),
        ("Is 3 in A or in B?", []),
        ("What is the leading coefficient, a polynomial in W?", []),
        ("Write it in simplest form.", ["simplest"]),
        ("Round to the nearest whole number.", ["number"]),
        ("What is the price to the nearest cent?", []),
        ("How many apples and how many pears?", ["apples", "pears"]),
        ("In how many ways can 5 people sit?", ["ways"]),
        ("几千克？", ["千克"]),
        ("约多少千？", []),
    ],
)
def test_words_that_ask_for_no_unit_are_none(question: str, units: list[str]) -> None:
    assert asked_units(question) == units


def test_a_unit_has_one_name_and_a_noun_is_no_unit() -> None:
    assert known_unit("kilometers per hour") == known_unit("km/h") == "kilometre hour^-1"
    assert known_unit("apples") is None and unit_name("apples") == unit_name("Apple") == "apple"
    assert [
        known_unit(text) for text in ("perimeter", "per hour", "square", "x", "pm", "5", "", "m/", "/m")
    ] == [None] * 9


def test_a_unit_of_any_length_costs_its_length() -> None:
    start = time.perf_counter()
    for text in (
        "m/" * 50_000,
        "m^2" * 50_000,
        r"\text{m}" * 600,
        "(" * 50_000,
        "kg " * 50_000,
        r"\frac{\text{m}" * 300,
        "5 m " * 40_000,
    ):
        assert not matches(f"\\boxed{{5 {text}}}", 5, units=["m"]) and not matches(
            f"\\boxed{{{text}}}", r"5 \text{ m}"
        )
        assert len(asked_units(f"How many {text}?")) < 9 and LONGEST_UNIT < 100
    assert time.perf_counter() - start < 5
