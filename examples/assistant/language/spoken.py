"""Text as it is spoken: digits, times of day and signs as words, lower case, no punctuation."""
import re

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}
SIGNS = {"%": " percent ", "°": " degrees ", "+": " plus ", "*": " times ", "×": " times ", "÷": " divided by ", "/": " over ", "=": " equals ", "&": " and ", "^": " to the power of "}
CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds"}
SHORT = {"min": "minutes", "mins": "minutes", "sec": "seconds", "secs": "seconds", "hr": "hours", "hrs": "hours", "h": "hours", "m": "minutes", "s": "seconds", "km": "kilometers", "kg": "kilograms",
         "cm": "centimeters", "mm": "millimeters", "ml": "milliliters", "g": "grams", "l": "liters", "lb": "pounds", "lbs": "pounds", "oz": "ounces", "ft": "feet", "mph": "miles per hour", "c": "celsius", "f": "fahrenheit"}


def number(n):
    if n < 20:
        return UNITS[n]
    if n < 100:
        return TENS[n // 10] + (" " + UNITS[n % 10] if n % 10 else "")
    if n < 1000:
        return UNITS[n // 100] + " hundred" + (" " + number(n % 100) if n % 100 else "")
    if n < 1000000:
        return number(n // 1000) + " thousand" + (" " + number(n % 1000) if n % 1000 else "")
    return " ".join(UNITS[int(c)] for c in str(n))


def ordinal(n):
    head, _, last = number(n).rpartition(" ")
    last = ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return (head + " " + last).strip()


def clock(m):
    h, minute = int(m[1]), int(m[2])
    if h > 24 or minute > 59:
        return number(h) + " " + number(minute)
    head = "oh " + UNITS[h] if m[1][0] == "0" and h else number(h)
    return head + (" " + number(minute) if minute > 9 else " oh " + UNITS[minute] if minute else " o'clock" if h < 13 else " hundred")


def spoken(text):
    t = text.lower().replace("’", "'").replace("−", "-")
    t = re.sub(r"(\d),(?=\d{3})", r"\1", t)
    t = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", t)
    t = re.sub(r"\b([ap]) m\b", r"\1m", t)
    t = re.sub(r"\bo ?clock\b", "o'clock", t)
    t = re.sub(r"([$€£])\s?(\d+)", lambda m: f"{m[2]} {CURRENCIES[m[1]]}", t)
    t = re.sub(r"\b(\d{1,2}):(\d\d)\b", clock, re.sub(r"\b(\d{1,2}):00(?= ?[ap]m)", r"\1", re.sub(r"\b(\d{1,2}:\d\d)([ap]m)\b", r"\1 \2", t)))
    t = re.sub(r"\b(\d+)(st|nd|rd|th)\b", lambda m: ordinal(int(m[1])), t)
    t = re.sub(r"(\d)([a-z])", r"\1 \2", t)
    t = re.sub(r"(?<=\d )(" + "|".join(sorted(SHORT, key=len, reverse=True)) + r")\b", lambda m: SHORT[m[1]], t)
    t = re.sub(r"(\d+)\.(\d+)", lambda m: m[1] + " point " + " ".join(UNITS[int(c)] for c in m[2]), t)
    t = re.sub(r"(?<=\d)\s*-\s*(?=\d)", " minus ", t)
    t = re.sub(r"(^|\s)-(?=\d)", r"\1minus ", t)
    for sign, word in SIGNS.items():
        t = t.replace(sign, word)
    t = re.sub(r"\d+", lambda m: " " + number(int(m[0])) + " ", t)
    t = re.sub(r"[^a-z' ]+", " ", t)
    return " ".join(w for w in (w.strip("'") if w not in ("'em",) else w for w in t.split()) if w)
