"""Arithmetic (calculate) and units (convert_units)."""
import re
from fractions import Fraction

from grammar import UNITS, Intent, Lexicon


# --- the calculator: exact as long as the numbers allow it

def evaluate(text):
    """The value of an expression with + - * / ^ ( ) and sqrt(); ZeroDivisionError where it has none."""
    tokens = re.findall(r"\d+(?:\.\d+)?|sqrt|[-+*/^()]", text)
    assert "".join(tokens) == text, text
    at = 0

    def peek():
        return tokens[at] if at < len(tokens) else ""

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def total():
        x = product()
        while peek() in ("+", "-"):
            x = x + product() if take() == "+" else x - product()
        return x

    def product():
        x = signed()
        while peek() in ("*", "/"):
            x = x * signed() if take() == "*" else x / signed()
        return x

    def signed():
        if peek() == "-":
            take()
            return -signed()
        return power()

    def power():
        x = atom()
        if peek() == "^":
            take()
            x = x ** signed()
        return x

    def atom():
        t = take()
        if t == "sqrt":
            return atom() ** Fraction(1, 2)
        if t == "(":
            x = total()
            assert take() == ")", text
            return x
        return Fraction(t)

    x = total()
    assert at == len(tokens), text
    return x


def tidy(x):
    """An int where x is whole, else at most two decimals, halves rounded up."""
    x = x if isinstance(x, Fraction) else Fraction(repr(round(x, 9)))
    n = int(abs(x) * 100 + Fraction(1, 2)) * (1 if x > 0 else -1)
    return n // 100 if n % 100 == 0 else n / 100


def calculated(g, v, args):
    try:
        return {"result": tidy(evaluate(args["expression"]))}
    except ZeroDivisionError:
        return {"error": "division by zero"}
    except TypeError:  # complex
        return {"error": "square root of a negative number"}


def say_calculated(g, v, args, result):
    return f"I can't do that: {result['error']}." if "error" in result else f"That's {result['result']}."


def built(template, values):
    """The template with the slots' digits in the place of their names; a negative number inside gets brackets."""
    def put(m):
        if m.group() == "sqrt":
            return "sqrt"
        x, rest = values[m.group()], template[m.end():]
        return f"({x})" if x.startswith("-") and (m.start() > 0 and template[m.start() - 1] != "(" or rest.startswith("^")) else x
    return re.sub(r"[a-z]\w*", put, template)


def calculate(v):
    values = {k: x[0] for k, x in v.items() if isinstance(x, tuple)}
    return "calculate", {"expression": built(v.get("e", "x"), values)}


# --- numbers; the value of a slot is a tuple with the digits, so that the noise of speech may touch the words

def digits_said(g, n):
    if n >= 1000:
        if n % 100 == 0 and n % 1000 and n < 10000 and g.chance(0.2):
            return g.words(n // 100) + " hundred"
        if g.chance(0.2):
            return f"{n:,}"
    if n == 12 and g.chance(0.04):
        return "a dozen"
    if n == 6 and g.chance(0.02):
        return "half a dozen"
    return g.say_number(n)


def decimal(g, lo, hi):
    n = g.number(lo, hi)
    d = g.pick(["5", "5", str(g.between(1, 9)), str(g.between(1, 9)), f"{g.between(0, 9)}{g.between(1, 9)}"])
    if d == "5" and g.chance(0.2):
        return f"{g.say_number(n)} and a half", f"{n}.5"
    x = f"{n}.{d}"
    if n == 0:
        return g.pick([x, x, f"point {' '.join(UNITS[int(c)] for c in d)}", g.words(x)]), x
    return g.say_number(x), x


def number(g):
    """Any number people calculate with: mostly below a hundred."""
    r = g.rng.random()
    if r < 0.09:
        return decimal(g, 0, 30)
    if r < 0.38:
        n = g.number(2, 12) if not g.held else g.number(2, 99)
    elif r < 0.74:
        n = g.number(2, 99)
    elif r < 0.93:
        n = g.number(100, 999) if g.chance(0.6) else g.number(100, 1000, 10)
    else:
        n = g.number(1000, 9999) if g.chance(0.4) else g.number(1000, 10000, 100)
    return digits_said(g, n), str(n)


def slot(f):
    """A slot function from one that gives text and digits."""
    def made(g):
        text, digits = f(g)
        return text, (digits,)
    return made


def whole(lo, hi):
    def f(g):
        n = g.number(lo, hi)
        return digits_said(g, n), str(n)
    return f


def listed(g):
    """A number after which "and" cannot be a part of it."""
    n = g.number(2, 19) if not g.held else g.number(12, 99)
    return (str(n) if n > 19 else g.say_number(n)), str(n)


def division(first):
    """Two numbers, of which the first is mostly a multiple of the second; whichever is said first chooses both."""
    def f(g):
        pending = g.__dict__.pop("division", None)
        if pending is None or pending[0] == first:
            b = g.number(2, 12) if g.chance(0.7) else g.number(2, 60)
            a = b * g.between(2, 30) if g.chance(0.7) else g.number(b + 1, 999)
            if g.held:
                a = b * g.between(3, 30)
            pending = (None, a, b)
            g.division = (first, a, b)
        n = pending[1] if first else pending[2]
        return digits_said(g, n), str(n)
    return f


def fours(g):
    """ "fours" as in "how many fours are in 100"."""
    _, n = division(False)(g)
    w = g.words(int(n)) if g.chance(0.5) else n
    return w + "s" if w[-1].isdigit() else w[:-1] + "ies" if w.endswith("y") else w + "es" if w.endswith("x") else w + "s", n


CURRENCIES = ["dollars", "dollars", "dollars", "bucks", "euros", "pounds"]


def money(g):
    """An amount with or without its currency, which the call leaves out."""
    r = g.rng.random()
    if r < 0.38:
        return number(g)
    if r < 0.46:
        n = g.between(1, 60)
        c = g.between(1, 19) * 5 if g.chance(0.7) else g.between(10, 99)
        x = f"{n}.{c:02}"
        kind = g.below(4)
        if kind == 0:
            return g.pick(["$", "$", "€", "£", ""]) + x, x
        if c < 10:
            return x + " dollars", x
        if kind == 1:
            return f"{x} {g.pick(CURRENCIES)}", x
        head = "a dollar" if n == 1 else g.say_number(n) + " " + g.pick(["dollars", "dollars", "euros", "pounds"])
        if kind == 2:
            return f"{head} {g.say_number(c)}", x
        return f"{head} and {g.say_number(c)} {'pence' if 'pounds' in head else 'cents'}", x
    if r < 0.48:
        c = g.between(2, 19) * 5 if g.chance(0.7) else 99
        return f"{g.say_number(c)} cents", f"0.{c:02}"
    n = g.number(2, 100) if g.chance(0.5) else g.number(5, 500, 5) if g.chance(0.6) else g.number(100, 2000)
    if g.chance(0.25):
        return g.pick(["$", "$", "$", "€", "£"]) + str(n), str(n)
    return f"{digits_said(g, n)} {g.pick(CURRENCIES)}", str(n)


def percent(g):
    if g.held:
        n = str(g.number(12, 99))
    elif g.chance(0.6):
        n = g.pick(["5", "10", "10", "12", "15", "15", "18", "20", "20", "22", "25", "30", "33", "35", "40", "45", "50", "60", "70", "75", "80", "90"])
    else:
        n = str(g.number(1, 120)) if g.chance(0.85) else f"{g.number(1, 20)}.{g.pick(['5', '5', '25', '75', '2'])}"
    if g.chance(0.25):
        return n + "%", n
    said = g.say_number(n if "." in n else int(n))
    return f"{said} {g.pick(['percent'] * 7 + ['per cent'])}", n


# --- sums as they are said, in spoken order

OPS = {"+": ["plus"] * 8 + ["added to", "add"], "-": ["minus"] * 8 + ["take away", "take away", "less", "subtract"],
       "*": ["times"] * 8 + ["multiplied by", "multiplied by", "x", "multiply by"], "/": ["divided by"] * 7 + ["over", "divide by", "split by"]}
HELD_OPS = {"+": ["plus", "increased by"], "-": ["minus", "reduced by"], "*": ["times", "multiplied with"], "/": ["divided by", "shared by"]}
SIGNS = {"+": ["+"], "-": ["-"], "*": ["*", "*", "x", "×"], "/": ["/", "/", "÷"]}


def operator(g, op):
    return g.pick((HELD_OPS if g.held and g.chance(0.5) else OPS)[op])


def operands(g, op):
    if op == "/":
        return [division(True)(g), division(False)(g)]
    if op == "*" and g.chance(0.6):
        return [whole(2, 12 if not g.held else 99)(g), whole(2, 99)(g)]
    if g.chance(0.05):
        return [money(g), money(g)] if op != "*" else [money(g), whole(2, 20)(g)]
    a, b = number(g), number(g)
    if op == "-" and float(a[1]) < float(b[1]) and g.chance(0.85):
        a, b = b, a
    return [a, b]


def negative(g):
    n = g.number(2, 50)
    return f"{g.pick(['minus', 'negative', 'negative'])} {g.say_number(n)}", f"-{n}"


def arithmetic(g):
    """ "twelve times seven", "3 plus 4 plus 5", "100/4"."""
    op = g.pick("+++--***//")
    if g.chance(0.26):  # written
        sign = g.pick([" ", " ", "", ""])
        parts = [digits for _, digits in operands(g, op)]
        ops = [op]
        while len(ops) < 3 and g.chance(0.2):
            ops.append(g.pick("++--*"))
            parts.append(whole(2, 30)(g)[1])
        if len(parts) == 3 and g.chance(0.3):
            first = g.chance(0.5)
            text = f"({parts[0]}{sign}+{sign}{parts[1]}){sign}*{sign}{parts[2]}" if first else f"{parts[0]}{sign}*{sign}({parts[1]}{sign}+{sign}{parts[2]})"
            return text, text.replace(" ", "")
        text = parts[0]
        for o, p in zip(ops, parts[1:]):
            text += sign + g.pick(SIGNS[o]) + sign + p
        return text, parts[0] + "".join(o + p for o, p in zip(ops, parts[1:]))
    if g.chance(0.03):
        a, b = negative(g), whole(2, 60)(g)
        if op in "+-" and g.chance(0.4):
            return f"{b[0]} {operator(g, op)} {a[0]}", f"{b[1]}{op}({a[1]})"
        op = g.pick("+-*")
        return f"{a[0]} {operator(g, op)} {b[0]}", f"{a[1]}{op}{b[1]}"
    (a, x), (b, y) = operands(g, op)
    text, e = f"{a} {operator(g, op)} {b}", f"{x}{op}{y}"
    more = 0.2
    while g.chance(more):
        same = op in "+*" and g.chance(0.6)
        op = op if same else g.pick("++--*/")
        a, x = whole(2, 12 if op in "*/" and not g.held else 60)(g)
        text, e, more = f"{text} {operator(g, op)} {a}", f"{e}{op}{x}", 0.15
    return text, e


ORDINALS = {3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth"}


def power(g):
    kind = g.rng.random()
    n = g.number(2, 30) if g.chance(0.7) else g.number(2, 120)
    if kind < 0.36:
        s = g.number(2, 25) ** 2 if g.chance(0.6) else g.number(2, 1000)
        said = digits_said(g, s)
        return g.pick([f"the square root of {said}", f"the square root of {said}", f"square root of {said}", f"square root of {said}", f"the square root from {said}", f"square root {said}", f"square root of {s}",
            f"sq root of {said}", f"sqr root of {s}", f"the sqrt of {said}",
                       f"the root of {said}", f"sqrt {s}", f"sqrt({s})", f"sqrt of {said}", f"√{s}"]), f"sqrt({s})"
    if kind < 0.62:
        said = digits_said(g, n)
        return g.pick([f"{said} squared", f"{said} squared", f"{said} squared", f"the square of {said}", f"{n}²", f"{n}^2", f"{said} to the power of two", f"{said} to the second power"]), f"{n}^2"
    if kind < 0.78:
        n = g.number(2, 20)
        said = g.say_number(n)
        return g.pick([f"{said} cubed", f"{said} cubed", f"the cube of {said}", f"{n}³", f"{n}^3", f"{said} to the power of three", f"{said} to the third"]), f"{n}^3"
    if kind < 0.81:
        n = g.number(2, 12) ** 3
        return g.pick(["the cube root of ", "cube root of ", "the third root of "]) + digits_said(g, n), f"{n}^(1/3)"
    b = g.pick([2, 2, 2, 3, 4, 5, 10, 10]) if g.chance(0.7) else g.number(2, 12)
    n = g.between(3, 20 if b == 2 else 8 if b == 3 else 6)
    said, k = digits_said(g, b), g.say_number(n)
    forms = [f"{said} to the power of {k}", f"{said} to the power of {k}", f"{said} to the power {k}", f"{said} raised to the power of {k}", f"{said} raised to {k}", f"{b}^{n}", f"{b} ^ {n}", f"{b}**{n}"]
    if n in ORDINALS:
        o = g.pick([ORDINALS[n], f"{n}rd" if n == 3 else f"{n}th"])
        forms += [f"{said} to the {o} power", f"{said} to the {o}"]
    return g.pick(forms), f"{b}^{n}"


SHARES = [("half of", "m/2"), ("half of", "m/2"), ("half of", "m/2"), ("half", "m/2"), ("one half of", "m/2"), ("a third of", "m/3"), ("one third of", "m/3"), ("a quarter of", "m/4"), ("a quarter of", "m/4"), ("one quarter of", "m/4"),
          ("a fourth of", "m/4"), ("a fifth of", "m/5"), ("one fifth of", "m/5"), ("a sixth of", "m/6"), ("an eighth of", "m/8"), ("a tenth of", "m/10"), ("one tenth of", "m/10"), ("two thirds of", "2/3*m"), ("2/3 of",
              "2/3*m"), ("a half of", "m/2"), ("quarter of", "m/4"), ("third of", "m/3"), ("five times", "5*m"), ("three tenths of", "3/10*m"), ("a seventh of", "m/7"), ("a ninth of", "m/9"), ("a twelfth of", "m/12"),
          ("three quarters of", "3/4*m"), ("three fourths of", "3/4*m"), ("3/4 of", "3/4*m"), ("1/2 of", "m/2"), ("1/3 of", "m/3"), ("1/4 of", "m/4"), ("two fifths of", "2/5*m"), ("three fifths of", "3/5*m"), ("double", "m*2"), ("double", "m*2"),
          ("the double of", "m*2"), ("twice", "m*2"), ("triple", "m*3"), ("triple", "m*3"), ("the triple of", "m*3"), ("quadruple", "m*4"), ("two times", "2*m"), ("three times", "3*m"), ("ten times", "10*m")]


def share(g):
    said, template = g.pick(SHARES)
    text, m = whole(2, 100)(g) if g.chance(0.5) else money(g)
    return f"{said} {text}", built(template, {"m": m})


def part(g):
    """ "15 percent of 80", "a 20 percent tip on 45"."""
    p, n = percent(g)
    m, x = money(g)
    how = g.pick(["of"] * 9 + ["tip on", "tip on", "tip for", "tax on", "sales tax on", "interest on"])
    article = g.pick(["", "", "an " if re.match(r"(8|11|18|eight|eleven)", p) and not n.startswith("11") or n.startswith("11") and len(n.split(".")[0]) == 2 else "a "]) if how != "of" else ""
    return f"{article}{p} {how} {m}", f"{n}/100*{x}"


def rise_or_fall(g):
    p, n = percent(g)
    m, x = money(g)
    text, sign = g.pick([
        ("{m} plus {p}", "+"), ("{m} plus {p}", "+"), ("{m} plus {p} tax", "+"), ("{m} plus {p} tip", "+"), ("{m} plus a tip of {p}", "+"), ("{m} increased by {p}", "+"), ("{m} with {p} on top", "+"), ("{m} with a tip of {p}", "+"),
        ("{m} with {p} tip", "+"), ("{m} including {p} tax", "+"), ("{m} including a tip of {p}", "+"), ("{m} raised by {p}", "+"), ("{m} with {p} added", "+"),
        ("{m} minus {p}", "-"), ("{m} minus {p}", "-"), ("{p} off {m}", "-"), ("{p} off {m}", "-"), ("{p} off {m}", "-"), ("{p} off of {m}", "-"), ("{m} with {p} off", "-"), ("{m} less {p}", "-"), ("{m} reduced by {p}", "-"),
        ("{m} at {p} off", "-"), ("{m} with a discount of {p}", "-"), ("{m} with {p} discount", "-"), ("{m} after {p} off", "-"), ("{m} after a discount of {p}", "-"), ("{m} take away {p}", "-")])
    return text.replace("{m}", m).replace("{p}", p), f"{x}*(1{sign}{n}/100)"


ITEMS = Lexicon("""tickets, coffees, pizzas, beers, shirts, books, apples, bottles of wine, chairs, bags, boxes, eggs, lemons, burgers, sandwiches, donuts, bagels, pens, pencils, notebooks, socks, hats, movie tickets, train tickets,
    cups of coffee, cupcakes, muffins, cookies, tacos, hot dogs, ice creams, drinks, sodas, cans of soda, bottles of water, packs of gum, candles, plates, glasses, forks, pillows, towels, blankets, light bulbs, batteries,
    bricks, tiles, boards, nails, screws, gallons of gas, gallons of paint, rolls of tape, stamps, postcards, envelopes, toys, balloons, games, records, magazines, newspapers, oranges, bananas, avocados, melons, watermelons,
    pounds of beef, kilos of potatoes, pounds of cheese, pieces of cake, slices of pizza, roses, tulips, plants, trees, bushes, bags of soil, bags of chips, loaves of bread, cartons of milk, jars of honey, jars of jam,
    nights, hotel nights, lessons, piano lessons, yoga classes, haircuts, shares, phones, tablets, cables, chargers, lamps, tires, seats, concert tickets, bus passes, rides, taxi rides, meals, dinners, lunches, steaks,
    kids tickets, adult tickets, pairs of jeans, pairs of shoes, sweaters, dresses, ties, belts, dog treats, cat toys, cans of paint, meters of fabric, yards of fabric, square meters of carpet, cakes, pies, croissants, waffles,
    things, pieces, of them, of those, of these, units, packs, cases of beer, crates, hours of parking, hours of work, days, weeks of daycare, smoothies, juices, teas, lattes, milkshakes, burritos, fish fillets, shrimps, curtains""",
                """coats, lobsters, pineapples, guitars, umbrellas, scarves, buckets of sand, packets of seeds, museum passes, mangos, cocktails, vases, skirts, peaches, spatulas""", open=False)


def year(lo, hi):
    def f(g):
        n = str(g.number(lo, hi))
        return n, (n,)
    return f


def items(g):
    w = g.word(ITEMS)
    return w, [w]


EXPRESSION = {
    "a": slot(number), "b": slot(number), "c": slot(number), "s": slot(listed), "t": slot(listed), "u": slot(listed), "big": slot(whole(30, 999)), "small": slot(whole(2, 29)),
    "dd": slot(division(True)), "ds": slot(division(False)), "fours": slot(fours), "k": slot(whole(2, 12)), "w": slot(whole(2, 30)), "m": slot(money), "n": slot(money), "p": slot(percent), "items": items,
    "hundred": slot(whole(40, 300)), "ya": year(1900, 1999), "yb": year(2000, 2040), "neg": slot(negative),
}

# What can stand around any sum that is said as a noun.
HEADS = [
    "{x}", "{x}", "{x}", "what's {x}", "what's {x}", "what's {x}", "what is {x}", "what is {x}", "how much is {x}", "how much is {x}", "what does {x} (make|equal|give|come to|come out to|work out to|amount to)", "what would {x} be",
    "how much would {x} be", "how much does {x} make",
    "(calculate|compute|work out|figure out|solve|evaluate|find|do) {x}", "(tell|show) me {x}", "tell me (what|how much) {x} is", "give me {x}", "give me the (answer|result|number|total) (to|of|for) {x}", "what's the (answer|result|solution) (to|of|for) {x}",
    "what do (i|you|we) get for {x}", "what do i get if i do {x}", "what will {x} be", "what is {x} equal to", "what's {x} equal to", "{x} equals", "{x} is", "{x} is what", "{x} is how much", "{x} makes what", "{x} how much", "{x} how much is that",
    "{x} what's that", "{x} equals what",
    "how about {x}", "i need {x}", "i need to know (what {x} is|{x})", "i (want|would like) to know (what {x} is|{x})", "do you know (what {x} is|how much {x} is|{x})", "can you (tell me what {x} is|calculate {x}|work out {x}|do {x})",
    "quick math {x}", "math question {x}", "math question what's {x}",
    "let's calculate {x}", "let me know what {x} is", "help me with {x}", "help me (calculate|figure out|work out) {x}", "i have to calculate {x}", "run the numbers on {x}", "what's the value of {x}", "calculator {x}", "use the calculator for {x}",
    "do the math on {x}", "do the math for me {x}",
    "the (answer|result) of {x}", "result of {x}", "i forgot what {x} is", "what number is {x}", "what exactly is {x}", "i was wondering what {x} is", "i'm trying to figure out {x}", "i'm trying to work out what {x} is",
    "my son is asking what {x} is", "the kids want to know what {x} is", "what was {x} again",
    "what's {x} roughly", "how much is {x} exactly", "check {x} for me", "please count {x}", "so {x} is what", "say what {x} is", "quick what's {x}", "and what's {x}", "i don't know what {x} is", "i can't do {x} in my head", "what should {x} be",
    "what's {x} in numbers", "i wonder what {x} is", "how much {x}", "what {x}", "tell me what {x} gives", "my homework asks what {x} is", "i want to be sure what {x} is", "what {x} comes out to", "i keep looking for the answer to {x}",
]
# More of them, for the sums that people ask most.
HEADS_TOO = [
    "what's {x} come to",
            "gimme {x}", "whats {x} make", "what's {x} add up to", "what does {x} (add up to|come out as|total)", "what'd {x} be", "what you get for {x}", "what do you get (for|from|with) {x}", "{x} what's the answer",
            "{x} answer please", "answer {x}", "solve this {x}", "do this sum {x}", "do this one {x}", "here's one for you {x}", "how much does {x} come to", "how much do {x} make", "{x} makes", "{x} makes how much", "{x} comes to",
            "{x} equal to what", "{x} is equal to", "{x} equal how much", "what {x} equals", "what {x} is", "what {x} makes", "work this out for me {x}", "work this out {x}", "work it out {x}", "tell me the answer (to|for) {x}",
            "tell me the result of {x}", "i've got {x} what's that", "i have {x} how much is that", "maths {x}", "maths question {x}", "quick sum {x}", "quick one {x}", "crunch {x} [for me]",
            "what would i get for {x}", "what will i get for {x}", "could you tell me {x}", "i need the answer to {x}", "can you do the math on {x}", "can you solve {x}", "how much it is {x}", "how much it's {x}",
            "how much would that be {x}", "{x} how much would that be", "{x} what does that make", "{x} what do i get", "what's {x} again", "teach me what's {x}", "my kid needs {x}",
            "for my homework {x}", "help with {x}", "i'm stuck on {x}", "i can't work out {x}", "i can't figure out {x}", "what's the total of {x}", "figure {x}", "{x} calculate", "{x} calculator", "{x} solve", "{x} please calculate",
            "please calculate {x}", "so what's {x}", "right what's {x}", "do you know what's {x}", "can you tell me what's {x}", "could you work out what {x} is", "please tell me how much is {x}",
            "how much exactly is {x}",
        ]
HELD_HEADS = ["use a calculator and tell me {x}", "what number do i get for {x}", "{x} comes to what", "{x} gives how much", "any idea what {x} is", "i'm not sure how much {x} is", "find out what {x} comes to", "could you run the numbers for {x}",
    "let me have the answer for {x}",
              "my homework has {x} in it", "i'm looking for {x}", "the total of {x} please", "show me how much {x} makes", "how much do you get for {x}", "i want the result of {x}"]

WHAT = "(what's|what is|how much is|tell me|calculate|work out)"

ANSWER = {"call": calculate, "result": calculated, "say": say_calculated}


def with_what(*lines):
    return [line.replace("WHAT", WHAT) for line in lines]


MATH_INTENTS = [
    Intent(
        "math.sum", weight=3,
        patterns=HEADS + HEADS_TOO + with_what("how many is {x}", "how many (are|would be|makes) {x}", "how many are {x}"),
        held=HELD_HEADS, slots={**EXPRESSION, "x": slot(arithmetic)}, **ANSWER),
    Intent(
        "math.words", weight=2,
        patterns=with_what(
            # plus
            "add {s} and {t} => e=s+t", "add {a} to {b} => e=a+b", "add {s} {t} and {u} => e=s+t+u", "add {s} and {t} and {u} => e=s+t+u", "add up {s} {t} and {u} => e=s+t+u", "add (together|up) {s} and {t} => e=s+t",
            "(what's|what is) {s} and {t} [together] => e=s+t", "what do you get (when|if) you (add|put together) {s} and {t} => e=s+t", "what do you get (when|if) you multiply {s} (by|and) {t} => e=s*t",
            "what do you get (when|if) you (subtract|take) {small} from {big} => e=big-small", "what do you get (when|if) you divide {dd} by {ds} => e=dd/ds",
            "what do you get (when|if) you multiply {s} by {t} and [then] add {u} => e=s*t+u", "take {small} from {big} => e=big-small",
            "sum up {s} {t} and {u} => e=s+t+u", "add {s} and {t} together => e=s+t",
            "[WHAT] the sum of {s} and {t} => e=s+t", "WHAT the sum of {s} {t} and {u} => e=s+t+u", "[WHAT] the total of {s} and {t} => e=s+t", "sum of {s} and {t} => e=s+t", "what do {s} and {t} make => e=s+t",
            "what do {s} and {t} (make|add up to|come to) [together] => e=s+t", "what do {s} {t} and {u} (make|add up to) => e=s+t+u",
            "what's {s} and {t} => e=s+t", "what's {s} and {t} and {u} => e=s+t+u", "how much is {s} and {t} => e=s+t", "how much are {s} and {t} [together] => e=s+t", "{s} and {t} is what => e=s+t", "{s} and {t} makes what => e=s+t",
            "{s} and {t} together => e=s+t", "{s} and {t} added (together|up) => e=s+t", "put {s} and {t} together => e=s+t",
            "[WHAT] {a} more than {b} => e=b+a", "increase {b} by {a} => e=b+a", "if i have {s} and get {t} more how many do i have => e=s+t", "if i add {a} to {b} what do i get => e=a+b", "what do i get (if|when) i add {s} and {t} => e=s+t",
            "i have {s} and you give me {t} how many is that => e=s+t", "how many are {s} and {t} => e=s+t",
            "what is {s} with {t} added => e=s+t", "count {s} and {t} together => e=s+t", "how much is {m} and {n} together => e=m+n", "i paid {m} and then {n} how much is that together => e=m+n",
            "i spent {m} on food and {n} on gas what's the total => e=m+n", "total of {m} and {n} => e=m+n", "total up {m} and {n} => e=m+n",
            # minus
            "subtract {small} from {big} => e=big-small", "subtract {a} from {b} => e=b-a", "take {small} (away from|from|off) {big} => e=big-small", "take away {small} from {big} => e=big-small", "deduct {small} from {big} => e=big-small",
            "[WHAT] {small} less than {big} => e=big-small", "[WHAT] {small} subtracted from {big} => e=big-small", "minus {small} from {big} => e=big-small",
            "[WHAT] the difference between {big} and {small} => e=big-small", "[WHAT] the difference of {big} and {small} => e=big-small", "difference between {big} and {small} => e=big-small", "reduce {big} by {small} => e=big-small",
            "how much more is {big} than {small} => e=big-small", "how much bigger is {big} than {small} => e=big-small",
            "how much is left if i take {small} (from|away from|off) {big} => e=big-small", "what's left if i take {small} from {big} => e=big-small", "what do i get (if|when) i (subtract|take) {small} from {big} => e=big-small",
            "if i have {big} and (lose|use|eat|sell|give away|spend) {small} how (many|much) (is|are) left => e=big-small", "what's {big} if you take away {small} => e=big-small",
            "i have {big} dollars and spend {small} how much is left => e=big-small", "how much change do i get from {big} if i spend {small} => e=big-small", "how much change do i get back from {big} if it costs {small} => e=big-small",
            "i pay with {big} dollars and it costs {small} what's my change => e=big-small", "what's {small} from {big} => e=big-small",
            "how many are left from {big} when {small} are gone => e=big-small", "how many more do i need to get from {small} to {big} => e=big-small", "what do i have left if i spend {small} (of|out of) {big} => e=big-small",
            "what's missing from {small} to {big} => e=big-small", "make {big} smaller by {small} => e=big-small",
            # times
            "multiply {a} by {b} => e=a*b", "multiply {a} (by|with|times) {b} => e=a*b", "multiply {s} and {t} => e=s*t", "[WHAT] the product of {s} and {t} => e=s*t", "product of {s} and {t} => e=s*t", "WHAT {s} by {t} => e=s*t",
            "(what's|how many is|how much is) {k} (lots|groups|sets) of {w} => e=k*w", "{k} lots of {w} => e=k*w",
            "what do i get (if|when) i multiply {s} (by|and|with) {t} => e=s*t", "if i multiply {a} by {b} what do i get => e=a*b", "{s} multiplied with {t} => e=s*t", "{a} and then times {k} => e=a*k", "take {a} {k} times => e=a*k",
            "how many (is|are) {k} dozen => e=k*12", "how many (eggs|rolls|donuts|bottles|cans) are (in|there in) {k} dozen => e=k*12",
            "how many are in {k} (boxes|packs|bags|rows) of {w} => e=k*w", "i have {k} (boxes|packs|bags) of {w} how many is that [in total] => e=k*w", "{k} (rows|boxes|packs) of {w} how many in total => e=k*w",
            "how many (seats|plants|chairs) are {k} rows of {w} => e=k*w", "how much are {k} payments of {m} => e=k*m", "{k} payments of {m} => e=k*m",
            "i save {m} a month how much is that after {w} months => e=m*w", "i save {m} a week what's that in {w} weeks => e=m*w", "what do i make in {w} hours at {m} an hour => e=w*m", "{w} hours at {m} an hour => e=w*m",
            "how much is {m} a week for {w} weeks => e=m*w", "how much is {m} a month for {w} months => e=m*w",
            # divided
            "divide {dd} by {ds} => e=dd/ds", "divide {dd} by {ds} => e=dd/ds", "divide {dd} (in|into|over) {ds} [parts] => e=dd/ds", "how many times does {ds} (go|fit) (in|into) {dd} => e=dd/ds",
            "how often does {ds} (go|fit) (in|into) {dd} => e=dd/ds", "how many times is {ds} in {dd} => e=dd/ds", "how many {fours} are in {dd} => e=dd/fours", "how many {fours} are there in {dd} => e=dd/fours",
            "(what's|how much is) {ds} into {dd} => e=dd/ds", "{ds} into {dd} => e=dd/ds", "{ds} goes into {dd} how (often|many times) => e=dd/ds", "{dd} (divided|split|shared) (into|in) {ds} => e=dd/ds",
            "what do i get (if|when) i divide {dd} by {ds} => e=dd/ds", "if i divide {dd} by {ds} what do i get => e=dd/ds", "[WHAT] the quotient of {dd} and {ds} => e=dd/ds",
            "cut {dd} into {ds} (parts|pieces) how (big|long|much) is (each|one) => e=dd/ds", "{dd} in {ds} equal parts => e=dd/ds", "what's one part if i divide {dd} into {ds} => e=dd/ds", "share {dd} cookies between {ds} kids => e=dd/ds",
            "{ds} kids share {dd} cookies how many (each|does each get|for each) => e=dd/ds",
            "how many (groups|packs|rows) of {ds} can i make (from|out of|with) {dd} => e=dd/ds", "how much is one if {ds} cost {dd} => e=dd/ds", "if {ds} cost {dd} dollars how much is one => e=dd/ds",
            "what's the price of one if {ds} are {dd} dollars => e=dd/ds",
            # several
            "[WHAT] the average of {s} and {t} => e=(s+t)/2", "[WHAT] the average of {s} {t} and {u} => e=(s+t+u)/3", "[WHAT] the mean of {s} and {t} => e=(s+t)/2", "average of {s} and {t} => e=(s+t)/2", "average {s} {t} and {u} => e=(s+t+u)/3",
            "what's halfway between {s} and {t} => e=(s+t)/2", "what number is in the middle of {s} and {t} => e=(s+t)/2",
            "{s} plus {t} all times {k} => e=(s+t)*k", "{big} minus {small} all (times|multiplied by) {k} => e=(big-small)*k", "{s} plus {t} all divided by {k} => e=(s+t)/k", "{s} plus {t} in brackets times {k} => e=(s+t)*k",
            "open bracket {s} plus {t} close bracket times {k} => e=(s+t)*k", "{k} times open bracket {s} plus {t} close bracket => e=k*(s+t)",
            "add {s} and {t} and (multiply|times) (it|that|the result) by {k} => e=(s+t)*k", "add {s} and {t} (and|then) divide (it|that|the result) by {k} => e=(s+t)/k", "multiply {s} by {t} (and|then) add {u} => e=s*t+u",
            "multiply {s} by {t} (and|then) subtract {u} => e=s*t-u", "divide {dd} by {ds} (and|then) add {k} => e=dd/ds+k", "subtract {small} from {big} (and|then) divide (it|that) by {k} => e=(big-small)/k",
            "what's {neg} plus {a} => e=neg+a", "what's {neg} times {k} => e=neg*k", "what is {a} minus {neg} => e=a-neg", "subtract {a} from {neg} => e=neg-a", "add {a} to {neg} => e=a+neg",
            "from {big} subtract {small} => e=big-small", "by how much is {big} more than {small} => e=big-small", "how much is {big} without {small} => e=big-small",
            "what do (you|i) get (when|if) (you|i) multiply {s} by {t} and [then] (subtract|take away) {u} => e=s*t-u", "what do (you|i) get (when|if) (you|i) add {s} and {t} and [then] (divide|split) (it|that) by {k} => e=(s+t)/k",
            "what do (you|i) get (when|if) (you|i) add {s} and {t} and [then] (multiply|times) (it|that) by {k} => e=(s+t)*k", "what do you get (when|if) you divide {dd} by {ds} and [then] (add|plus) {k} => e=dd/ds+k",
            "(add|plus) {s} and {t} and {u} together => e=s+t+u", "{s} plus {t} and then times {k} => e=(s+t)*k", "{s} times {t} and then plus {u} => e=s*t+u", "{s} times {t} and then minus {u} => e=s*t-u",
            "multiply {s} by {t} and then add {u} => e=s*t+u", "multiply {s} by {t} and then take away {u} => e=s*t-u", "divide {dd} by {ds} and then multiply by {k} => e=dd/ds*k", "times {a} by {k} => e=a*k",
            "times {s} and {t} => e=s*t", "{s} multiply {t} => e=s*t", "{small} from {big} => e=big-small", "{small} (off|out of) {big} (how much is left|what's left) => e=big-small",
            "knock {small} off {big} => e=big-small", "{big} take off {small} => e=big-small", "{big} knock off {small} => e=big-small", "{big} without {small} => e=big-small", "{big} less {small} => e=big-small",
            "{s} and {t} how (much|many) is that => e=s+t", "{s} add {t} => e=s+t", "{s} add {t} add {u} => e=s+t+u",
            "if (i've got|i have|you have|you've got) {big} (sweets|apples|cookies|candies|marbles|stickers|pounds|dollars) and (eat|lose|give away|use|spend) {small} how (many|much) (are|is) left => e=big-small",
            "if i had {s} (apples|sweets|marbles|stickers) and got {t} more how many would i have => e=s+t", "i had {big} (quid|bucks|dollars|euros|pounds) and spent {small} what's left => e=big-small",
            "i have {big} minus {small} what's left => e=big-small", "i've got {big} and i need {small} how much will be left => e=big-small",
            "{ds} kids and {dd} (sweets|cookies|candies) how many each => e=dd/ds", "{dd} (sweets|cookies|candies|slices) for {ds} kids how many (each|does each get) => e=dd/ds",
            "if i have {dd} (sweets|cookies|stickers) and {ds} friends how many does each get => e=dd/ds", "how many {fours} go into {dd} => e=dd/fours", "how many {fours} in {dd} => e=dd/fours",
            "how many {fours} make {dd} => e=dd/fours", "what times {ds} (is|makes|equals) {dd} => e=dd/ds", "{ds} times what (is|makes|equals) {dd} => e=dd/ds", "what plus {small} (is|makes|equals) {big} => e=big-small",
            "{small} plus what (is|makes|equals) {big} => e=big-small", "how many more from {small} to [get to] {big} => e=big-small", "how far is it from {small} to {big} in numbers => e=big-small",
            "how many years (between|from) {ya} (and|to) {yb} => e=yb-ya", "how many years is it from {ya} to {yb} => e=yb-ya", "how old is someone born in {ya} in {yb} => e=yb-ya",
            "if i was born in {ya} how old will i be in {yb} => e=yb-ya", "{k} lots of {m} => e=k*m", "{m} a day for {w} days => e=m*w",
            "{m} a (week|month) for {w} (weeks|months) => e=m*w", "{m} an hour for {w} hours => e=m*w", "i earn {m} an hour and worked {w} hours how much is that => e=m*w",
            "if i make {m} an hour and work {w} hours what do i get => e=m*w", "{m} a month what's that a year => e=m*12", "{m} a year how much is that a month => e=m/12", "how much is {m} a month per year => e=m*12",
            "if i save {m} a month how much is that in a year => e=m*12", "share {dd} (between|among) {ds} => e=dd/ds", "{dd} shared (by|between|among) {ds} => e=dd/ds", "split {dd} into {ds} => e=dd/ds",
            "{dd} split {ds} ways => e=dd/ds", "mean of {s} and {t} => e=(s+t)/2", "average of {s} {t} and {u} => e=(s+t+u)/3", "what's the average if i have {s} {t} and {u} => e=(s+t+u)/3", "total {s} {t} and {u} => e=s+t+u",
            "sum of {s} {t} and {u} => e=s+t+u", "add these up {s} {t} {u} => e=s+t+u", "add up {s} {t} {u} => e=s+t+u",
        ),
        held=["if you put {s} and {t} together what do you get => e=s+t", "what's the total if i add {a} to {b} => e=a+b", "i need the sum of {s} and {t} => e=s+t", "how many do {s} {t} and {u} add up to => e=s+t+u",
              "take {big} and subtract {small} => e=big-small", "what remains if i take {small} away from {big} => e=big-small", "if i spend {small} out of {big} what do i have left => e=big-small",
              "what is the difference from {small} to {big} => e=big-small",
              "i want to multiply {s} by {t} => e=s*t", "take {a} and multiply it by {b} => e=a*b", "{w} each for {k} kids how many do i need => e=w*k", "what do {k} packs of {w} add up to => e=k*w",
              "take {dd} and divide it by {ds} => e=dd/ds", "i need {dd} divided in {ds} parts how much is one => e=dd/ds", "can you find the average of {s} {t} and {u} => e=(s+t+u)/3"],
        slots=EXPRESSION, **ANSWER),
    Intent(
        "math.percent", weight=1.5,
        patterns=HEADS[:40] + HEADS[45:62] + HEADS_TOO + with_what(
            "how much should i tip on {m} at {p} => e=p/100*m", "how much tip is {p} on {m} => e=p/100*m", "tip {p} on {m} => e=p/100*m", "the bill is {m} what's {p} => e=p/100*m", "my bill is {m} how much is a tip of {p} => e=p/100*m",
            "the check is {m} and i want to tip {p} how much is that => e=p/100*m",
            "what's the tip on {m} at {p} => e=p/100*m", "what's the tip for {m} if i give {p} => e=p/100*m", "i want to leave {p} on {m} => e=p/100*m", "leave {p} on {m} how much is that => e=p/100*m",
            "calculate the tip for {m} with {p} => e=p/100*m", "how much tip do i leave on {m} with {p} => e=p/100*m", "tip on {m} at {p} => e=p/100*m",
            "how much do i save (with|at) {p} off {m} => e=p/100*m", "how much is the tax on {m} at {p} => e=p/100*m", "what's the interest on {m} at {p} => e=p/100*m", "i get {p} of {m} how much is that => e=p/100*m", "take {p} of {m} => e=p/100*m",
            "find me {p} of {m} => e=p/100*m", "{p} tip {m} => e=p/100*m", "tip calculator {p} on {m} => e=p/100*m",
            "what (percent|percentage) of {big} is {small} => e=small/big*100", "what (percent|percentage) is {small} of {big} => e=small/big*100", "{small} is what (percent|percentage) of {big} => e=small/big*100",
            "how many percent is {small} of {big} => e=small/big*100", "how many percent of {big} is {small} => e=small/big*100",
            "{small} out of {big} (in percent|as a percentage|is what percent|is how many percent) => e=small/big*100", "what's {small} out of {big} (in percent|as a percentage) => e=small/big*100",
            "i got {small} (out of|of) {big} points what percent is that => e=small/big*100", "what (percent|percentage) is {small} out of {big} => e=small/big*100",
            "{p} tip on a {w} dollar (bill|meal|tab|check) => e=p/100*w", "what's {p} on a {w} dollar (bill|meal|tab) => e=p/100*w", "how much is {p} on a {w} dollar bill => e=p/100*w",
            "(bill was|bill is|the bill was|the bill's|bill's|check is|the check's) {m} (what's|how much is) [a] {p} [tip] => e=p/100*m", "the bill came to {m} what's {p} of that => e=p/100*m",
            "(dinner|lunch|the meal) was {m} (what's|how much is) a {p} tip => e=p/100*m", "i want to tip {p} on {m} => e=p/100*m", "i'd like to tip {p} on {m} how much is that => e=p/100*m", "tipping {p} on {m} => e=p/100*m",
            "{m} bill {p} tip => e=p/100*m", "tip {p} of {m} => e=p/100*m", "tip for {m} at {p} => e=p/100*m", "{p} service charge on {m} => e=p/100*m", "{p} (vat|gst|commission|deposit) on {m} => e=p/100*m",
            "how much is {p} (vat|gst|commission) on {m} => e=p/100*m", "how much would i save with {p} off {m} => e=p/100*m", "what do i save on {m} at {p} off => e=p/100*m", "i need {p} of {m} => e=p/100*m",
            "{p} from {m} how much is that => e=p/100*m", "what's {p} from {m} => e=p/100*m", "{p} out of {m} is how much => e=p/100*m", "what does {p} of {m} come to => e=p/100*m", "find {p} of {m} => e=p/100*m",
            "i get a {p} bonus on {m} how much is the bonus => e=p/100*m", "(what|how much) is {small} of {big} (in percent|as a percentage|as percent) => e=small/big*100",
            "{small} of {big} (in percent|as a percentage|as percent) => e=small/big*100", "i got {small} out of {big} (right|on my test|on the test|in the exam) what percent is that => e=small/big*100",
            "{small} out of {big} what percentage is that => e=small/big*100", "{small} out of {big} in per cent => e=small/big*100", "what percentage is {small} from {big} => e=small/big*100",
            "{small} is how many percent of {big} => e=small/big*100", "i scored {small} out of {big} what's that in percent => e=small/big*100",
        ),
        held=HELD_HEADS[:8] + ["with a bill of {m} how much is a {p} tip => e=p/100*m", "i'd like to tip {p} and the bill was {m} => e=p/100*m", "out of {big} how many percent is {small} => e=small/big*100",
            "the percentage of {small} in {big} => e=small/big*100"],
        slots={**EXPRESSION, "x": slot(part)}, **ANSWER),
    Intent(
        "math.rise", weight=1.1,
        patterns=HEADS[:36] + HEADS_TOO + [
            "add {p} to {m} => e=m*(1+p/100)", "add {p} to {m} => e=m*(1+p/100)", "add {p} (tax|tip) to {m} => e=m*(1+p/100)", "add a {p} tip to {m} => e=m*(1+p/100)", "(increase|raise) {m} by {p} => e=m*(1+p/100)",
            "put {p} on top of {m} => e=m*(1+p/100)", "put {p} (tax|tip) on {m} what's the total => e=m*(1+p/100)",
            "what's the total (of|for) {m} with (a|a tip of) {p} tip => e=m*(1+p/100)", "total with {p} tip on {m} => e=m*(1+p/100)", "the bill is {m} add {p} => e=m*(1+p/100)", "the bill is {m} plus {p} tip what do i pay => e=m*(1+p/100)",
            "the bill is {m} what's the total with {p} tip => e=m*(1+p/100)", "what do i pay for {m} with {p} tip => e=m*(1+p/100)",
            "rent is {m} and goes up {p} what's the new rent => e=m*(1+p/100)", "my pay goes up {p} from {m} what do i get => e=m*(1+p/100)", "what do i pay for {m} with {p} tax => e=m*(1+p/100)", "how much is {m} if it goes up {p} => e=m*(1+p/100)",
            "what's {m} with {p} more => e=m*(1+p/100)", "{p} more than {m} => e=m*(1+p/100)", "what's {p} more than {m} => e=m*(1+p/100)",
            "take {p} off {m} => e=m*(1-p/100)", "take {p} off [of] {m} => e=m*(1-p/100)", "take off {p} from {m} => e=m*(1-p/100)", "knock {p} off {m} => e=m*(1-p/100)", "(subtract|deduct|take) {p} from {m} => e=m*(1-p/100)",
            "(reduce|lower|cut) {m} by {p} => e=m*(1-p/100)", "give me {p} off {m} => e=m*(1-p/100)",
            "it costs {m} and it's {p} off what do i pay => e=m*(1-p/100)", "it's {m} with {p} off how much is it => e=m*(1-p/100)", "the (jacket|bag|sofa|tv|bike) is {m} (with|at|and) {p} off what does it cost => e=m*(1-p/100)",
            "shoes for {m} with {p} off what do they cost => e=m*(1-p/100)", "what's the sale price of {m} at {p} off => e=m*(1-p/100)",
            "what do i pay for {m} (with|at|after) {p} off => e=m*(1-p/100)", "price of {m} with {p} discount => e=m*(1-p/100)", "how much is {m} if it's {p} off => e=m*(1-p/100)", "how much is {m} if it goes down {p} => e=m*(1-p/100)",
            "everything is {p} off how much is something for {m} => e=m*(1-p/100)", "{p} less than {m} => e=m*(1-p/100)", "what's {p} less than {m} => e=m*(1-p/100)",
            "what's {m} after {p} are taken off => e=m*(1-p/100)", "apply a discount of {p} to {m} => e=m*(1-p/100)", "i get {p} off and it costs {m} what do i pay => e=m*(1-p/100)", "half off {m} => e=m/2", "what's half off {m} => e=m/2",
            "{m} at half price => e=m/2",
            "{p} discount on {m} (what do i pay|what's the price|how much is it|how much do i pay|what's the final price|what does it cost) => e=m*(1-p/100)",
            "{p} off {m} (what do i pay|how much is it|how much is that|what's left|what's the price) => e=m*(1-p/100)", "{p} off on {m} => e=m*(1-p/100)", "{m} {p} off => e=m*(1-p/100)", "{m} and {p} off => e=m*(1-p/100)",
            "{m} but {p} off => e=m*(1-p/100)", "{m} on sale {p} off => e=m*(1-p/100)", "{p} off a {w} dollar (shirt|jacket|bag|toy|game) => e=w*(1-p/100)", "what's {p} off a {w} dollar (shirt|jacket|bag|toy|game) => e=w*(1-p/100)",
            "(originally|it was|normally|usually) {m} now {p} off => e=m*(1-p/100)", "(it's|something's) {m} and {p} off what do i pay => e=m*(1-p/100)", "if it's {m} and {p} off how much is it => e=m*(1-p/100)",
            "if something costs {m} and it's {p} off what do i pay => e=m*(1-p/100)", "there's {p} off and it was {m} how much now => e=m*(1-p/100)",
            "the (dress|coat|laptop|phone) costs {m} there's a {p} discount what do i pay => e=m*(1-p/100)", "with a {p} discount what's {m} => e=m*(1-p/100)", "with a {p} coupon what do i pay for {m} => e=m*(1-p/100)",
            "i have a {p} coupon and it costs {m} => e=m*(1-p/100)", "what's {m} on sale at {p} off => e=m*(1-p/100)", "(lose|drop|shave) {p} off {m} => e=m*(1-p/100)", "drop {m} by {p} => e=m*(1-p/100)",
            "what's left of {m} after {p} tax => e=m*(1-p/100)", "{m} after {p} tax is taken off => e=m*(1-p/100)", "what do i keep of {m} after {p} tax => e=m*(1-p/100)",
            "{m} plus {p} (vat|gst|sales tax|service|gratuity) => e=m*(1+p/100)", "what's {m} plus {p} (vat|gst|sales tax|service|gratuity) => e=m*(1+p/100)",
            "add {p} (vat|gst|sales tax|gratuity|service charge) to {m} => e=m*(1+p/100)", "{m} with {p} (vat|gst|sales tax) => e=m*(1+p/100)", "add a {p} tip onto {m} => e=m*(1+p/100)",
            "(chuck|stick|whack|put) {p} (on|onto) {m} => e=m*(1+p/100)", "(mark|bump) {m} up [by] {p} => e=m*(1+p/100)", "{m} and {p} more => e=m*(1+p/100)", "{m} and {p} tip what's the total => e=m*(1+p/100)",
            "{m} plus {p} tip what's the total => e=m*(1+p/100)", "total for {m} with a {p} tip => e=m*(1+p/100)", "what's the total if the bill is {m} and i tip {p} => e=m*(1+p/100)",
            "the bill is {m} and i tip {p} what's the total => e=m*(1+p/100)", "i earn {m} and get a {p} raise what do i make => e=m*(1+p/100)", "if i get a {p} raise on {m} what do i make => e=m*(1+p/100)",
            "my rent of {m} goes up {p} what is it now => e=m*(1+p/100)",
        ],
        held=HELD_HEADS[:6] + ["make {m} bigger by {p} => e=m*(1+p/100)", "i want to add {p} to {m} => e=m*(1+p/100)", "if i put {p} on top of {m} what's the total => e=m*(1+p/100)", "it was {m} and now it's {p} off => e=m*(1-p/100)",
            "how much do i pay if i get {p} off {m} => e=m*(1-p/100)", "make {m} smaller by {p} => e=m*(1-p/100)"],
        slots={**EXPRESSION, "x": slot(rise_or_fall)}, **ANSWER),
    Intent(
        "math.share", weight=0.9,
        patterns=HEADS + HEADS_TOO + [
            "divide {m} in half => e=m/2", "cut {m} in half => e=m/2", "cut {m} in (three|thirds) => e=m/3", "cut {m} in (four|quarters) => e=m/4", "what's {m} cut in half => e=m/2", "halve {m} => e=m/2", "what's {m} doubled => e=m*2",
            "{m} doubled => e=m*2", "what's {m} tripled => e=m*3", "{m} tripled => e=m*3", "{m} halved => e=m/2",
            "what's {m} halved => e=m/2", "the half of {m} => e=m/2", "what's the half of {m} => e=m/2", "what do i get if i double {m} => e=m*2", "if i double {m} what's that => e=m*2", "{m} times two => e=m*2", "{m} times 3 => e=m*3",
            "{m} twice => e=m*2", "what's two times {m} => e=2*m", "twice {m} is how much => e=m*2",
            "double up {m} => e=m*2", "what's the double of {m} => e=m*2", "what's half {m} => e=m/2", "half {m} => e=m/2", "{m} divided in half => e=m/2", "{m} cut in half => e=m/2", "{m} split in half => e=m/2",
            "{m} in half => e=m/2", "halve {m} for me => e=m/2", "{m} two times => e=m*2", "{m} three times => e=m*3", "the recipe needs {w} and i'm making half => e=w/2",
            "i'm doubling the recipe what's {w} doubled => e=w*2", "a recipe says {w} and i want to double it => e=w*2", "divide {m} by two => e=m/2", "split {w} in two => e=w/2", "what's a third of {m} => e=m/3",
            "whats a quarter of {m} => e=m/4", "half off of {m} => e=m/2", 
        ],
        held=HELD_HEADS[:8] + ["take {m} and cut it in half => e=m/2", "take {m} and double it => e=m*2", "if i take half of {m} what's left => e=m/2"],
        slots={**EXPRESSION, "x": slot(share)}, **ANSWER),
    Intent(
        "math.power", weight=0.9,
        patterns=HEADS + HEADS_TOO + [
            "square {w} => e=w^2", "cube {k} => e=k^3", "square the number {w} => e=w^2", "take the square root of {hundred} => e=sqrt(hundred)", "extract the square root of {hundred} => e=sqrt(hundred)",
            "find the root of {hundred} => e=sqrt(hundred)", "raise {k} to the power of three => e=k^3", "raise {k} to the fourth power => e=k^4", "raise two to the power of {k} => e=2^k",
            "what's {hundred} square root => e=sqrt(hundred)", "{hundred} square root => e=sqrt(hundred)", "which number squared is {hundred} => e=sqrt(hundred)", "what number times itself is {hundred} => e=sqrt(hundred)",
            "multiply {w} by itself => e=w^2", "what's {w} times itself => e=w^2", "{w} times itself => e=w^2", "two to the {k} => e=2^k", "ten to the {k} => e=10^k",
            "what's two to the {k} => e=2^k", "root {hundred} => e=sqrt(hundred)", "what's root {hundred} => e=sqrt(hundred)", "{w} square => e=w^2", "what's {w} square => e=w^2", "the area of a square with side {w} => e=w^2",
            "how big is a square with sides of {w} => e=w^2", "take {w} to the power of two => e=w^2",
            "what's {w} squared => e=w^2", "{w} to the power of two => e=w^2", "{w} to the second => e=w^2", "{k} to the third power => e=k^3", "{k} to the fourth => e=k^4", "{k} to the power three => e=k^3", "{w} by itself => e=w^2",
            "what do you get when you square {w} => e=w^2", "what do you get when you cube {k} => e=k^3", "what do i get if i square {w} => e=w^2", "find me the square root of {hundred} => e=sqrt(hundred)",
            "do the square root of {hundred} => e=sqrt(hundred)", "what is the sq root of {hundred} => e=sqrt(hundred)", "whats the root of {hundred} => e=sqrt(hundred)", "{hundred} squareroot => e=sqrt(hundred)",
            "squareroot of {hundred} => e=sqrt(hundred)", "squareroot {hundred} => e=sqrt(hundred)", "what times itself makes {hundred} => e=sqrt(hundred)", "what squared (is|makes|equals) {hundred} => e=sqrt(hundred)",
            "two to the power {k} => e=2^k", "what's two to the power of {k} => e=2^k", "ten to the power of {k} => e=10^k", "raise {w} to the second power => e=w^2", "{w} raised to three => e=w^3", "{w} power two => e=w^2",
            "{w} power three => e=w^3", "square {hundred} => e=hundred^2",
        ],
        held=HELD_HEADS[:8] + ["what do you get if you square {w} => e=w^2", "i need the square root for {hundred} => e=sqrt(hundred)", "take {w} times itself => e=w^2", "what's the number you square to get {hundred} => e=sqrt(hundred)"],
        slots={**EXPRESSION, "x": slot(power)}, **ANSWER),
    Intent(
        "math.bill", weight=0.9,
        patterns=[
            "split {m} (between|among|amongst|across|by|for) {k} [people|friends|of us|persons|guests] => e=m/k", "split {m} {k} ways => e=m/k", "split {m} (in|into) {k} => e=m/k", "split {m} (between|among) the {k} of us => e=m/k",
            "split {m} with {k} people => e=m/k", "split a bill of {m} (between|among|by|for) {k} [people|friends] => e=m/k", "split a {w} dollar bill {k} ways => e=w/k",
            "split the bill of {m} {k} ways => e=m/k", "split the bill {m} for {k} people => e=m/k", "divide {m} (between|among|by|amongst|for) {k} (people|friends|persons|guests) => e=m/k", "divide a bill of {m} by {k} => e=m/k",
            "share {m} (between|among) {k} [people|friends] => e=m/k", "share {m} between the {k} of us => e=m/k",
            "{m} (between|among|for|split between|divided between|shared by|divided among) {k} (people|friends|persons|of us) => e=m/k", "{m} split {k} ways => e=m/k", "{m} {k} ways => e=m/k", "{m} {k} people how much each => e=m/k",
            "{k} people share {m} how much (each|per person|does each pay) => e=m/k", "{k} people split {m} => e=m/k", "{k} of us split {m} how much each => e=m/k",
            "the bill is {m} split it (between|by|for|among) {k} [people|of us] => e=m/k", "the bill is {m} split {k} ways => e=m/k", "the bill is {m} and we are {k} [people] how much (each|per person|is that each|does everyone pay) => e=m/k",
            "we are {k} people and the bill is {m} how much (does everyone pay|each|per person|for each) => e=m/k", "dinner was {m} for {k} people how much (each|per person) => e=m/k",
            "dinner cost {m} and there are {k} of us what does everyone owe => e=m/k", "what does (each|everyone|each person) pay if {k} (of us|people) (share|split) {m} => e=m/k", "what does each of {k} people pay for {m} => e=m/k",
            "how much does (each|everyone|each person) pay if we split {m} (between|by) {k} => e=m/k", "how much (is|would be) {m} (split|divided) (between|among|by) {k} (people|friends) => e=m/k",
            "what's {m} split {k} ways => e=m/k", "what's {m} (split|divided|shared) (between|among) {k} [people|friends] => e=m/k", "how much per person for {m} and {k} people => e=m/k", "how much per person is {m} for {k} => e=m/k",
            "what's my share of {m} (between|for|with) {k} people => e=m/k", "what's my part of {m} if we are {k} => e=m/k", "{m} divided by {k} people => e=m/k",
            "we have to pay {m} and we're {k} how much is it each => e=m/k", "how do we split {m} between {k} people => e=m/k", "everyone pays the same {m} for {k} people => e=m/k", "the check is {m} for {k} of us => e=m/k",
            "the taxi was {m} for {k} of us how much each => e=m/k", "rent is {m} and there are {k} of us what's my share => e=m/k", "split {m} evenly (between|among) {k} [people] => e=m/k",
            "divide {m} evenly (between|among) {k} => e=m/k", "divide {m} equally (between|among) {k} people => e=m/k", "split {m} in half => e=m/2", "split {m} down the middle => e=m/2", "split {m} between the two of us => e=m/2",
            "split {m} between us two => e=m/2", "split {m} fifty fifty => e=m/2", "half each of {m} => e=m/2",
            "split {m} with a tip of {p} between {k} people => e=m*(1+p/100)/k", "split {m} plus {p} tip {k} ways => e=m*(1+p/100)/k", "{m} plus {p} tip split between {k} people => e=m*(1+p/100)/k",
            "the bill is {m} add {p} tip and split it {k} ways => e=m*(1+p/100)/k", "what does everyone pay for {m} with {p} tip and {k} people => e=m*(1+p/100)/k",
            "{k} kids want to share {m} how much for each => e=m/k", "if {k} people pay {m} together how much is that each => e=m/k", "{m} among {k} => e=m/k", "each share of {m} for {k} people => e=m/k",
            "i want to split {m} with {k} people in total => e=m/k",
            
            "(the bill's|bill's|the bill is|the bill was|bill is|bill was|bill comes to|the tab is|the check's|it came to) {m} and there are {k} of us [how much each|how much is that each|what does each pay|what do we each pay|split it] => e=m/k",
            "(the bill's|bill is|the bill was) {m} for {k} [people] how much each => e=m/k", "{m} (between|for|among) {k} of us [how much each] => e=m/k", "{m} shared {k} ways => e=m/k", "{k} of us {m} how much each => e=m/k",
            "{k} of us and the bill is {m} => e=m/k", "there's {k} of us and the bill's {m} => e=m/k", "we're {k} people bill is {m} => e=m/k", "{k} people {m} how much each => e=m/k", "bill {m} people {k} => e=m/k",
            "{m} bill {k} people => e=m/k", "{m} bill split {k} ways => e=m/k", "{k} ways {m} => e=m/k", "{k} way split of {m} => e=m/k", "{k} way split on {m} => e=m/k",
            "(how much|what) does everyone owe if it's {m} for {k} [people] => e=m/k", "how much each if it's {m} (between|for) {k} [people|of us] => e=m/k", "how much each for {m} between {k} => e=m/k",
            "what does everyone chip in for {m} between {k} => e=m/k", "what do we each pay if {k} of us split {m} => e=m/k",
            "what do we each owe on {m} between {k} of us => e=m/k", "go dutch on {m} between {k} [of us] => e=m/k", "we're going dutch {m} between {k} => e=m/k", "split {m} equally {k} ways => e=m/k",
            "split {m} evenly {k} ways => e=m/k", "split {m} by {k} => e=m/k", "split up {m} between {k} [people] => e=m/k", "divvy up {m} between {k} [people|of us] => e=m/k", "share {m} out between {k} [people|kids] => e=m/k",
            "(pizza|dinner|lunch|drinks|the hotel|the cab|the present|gas|petrol) (was|cost|came to) {m} (split|shared) (between|by) {k} [people|of us] => e=m/k",
            "(dinner|lunch|the hotel|the present) cost {m} and there are {k} of us => e=m/k", "{k} of us are sharing a (pizza|taxi|house) for {m} how much each => e=m/k", "my share of {m} for {k} people => e=m/k",
            "each person's share of {m} for {k} [people] => e=m/k", 
            "how do we divide {m} (among|between) {k} [friends|people] => e=m/k", "split {m} two ways => e=m/2", "{m} fifty fifty => e=m/2", "{m} between two => e=m/2", "{m} between the two of us => e=m/2", "half each on {m} => e=m/2",
            "going halves on {m} => e=m/2", "we're going halves on {m} how much each => e=m/2", "{m} plus {p} tip {k} ways => e=m*(1+p/100)/k", "{m} with a {p} tip split {k} ways => e=m*(1+p/100)/k",
            "split {m} {k} ways with a {p} tip => e=m*(1+p/100)/k", "split {m} between {k} with {p} tip => e=m*(1+p/100)/k",
        ],
        held=["we're {k} and the check is {m} what does each owe => e=m/k", "{m} for dinner split it {k} ways => e=m/k", "what is the share of everyone if {k} of us pay {m} => e=m/k", "i have to divide a check of {m} between {k} friends => e=m/k",
            "how much does each get if {k} people divide {m} => e=m/k",
              "among {k} people how much is {m} each => e=m/k", "there are {k} of us and dinner was {m} how much per person => e=m/k", "the two of us split {m} => e=m/2"],
        slots=EXPRESSION, **ANSWER),
    Intent(
        "math.cost", weight=0.9,
        patterns=[
            "what (do|would|will) {k} {items} at {m} [each] cost => e=k*m", "what (do|would) {k} {items} cost (at|if one is|if they are) {m} [each] => e=k*m", "what (do|would) {k} {items} for {m} each cost => e=k*m",
            "how much (do|would|will) {k} {items} (at|for) {m} each cost => e=k*m", "how much (are|is|would be) {k} {items} at {m} [each|apiece|a piece] => e=k*m",
            "how much (are|is) {k} {items} if one (costs|is) {m} => e=k*m", "how much (are|is) {k} {items} if they cost {m} each => e=k*m", "{k} {items} at {m} [each] => e=k*m",
            "{k} {items} (at|for) {m} (each|apiece|a piece) how much is that => e=k*m", "{k} {items} {m} each => e=k*m", "{k} {items} times {m} => e=k*m", "{k} times {m} => e=k*m",
            "total (for|of) {k} {items} at {m} [each] => e=k*m", "what's the total for {k} {items} at {m} [each] => e=k*m", "(what's the|the|what is the) price (of|for) {k} {items} at {m} each => e=k*m",
            "(what's the|the) cost of {k} {items} at {m} each => e=k*m", "price for {k} {items} at {m} => e=k*m", "i'm buying {k} {items} (at|for) {m} each (how much is that|what's the total|what do i pay) => e=k*m",
            "i bought {k} {items} (at|for) {m} each how much did i (pay|spend) => e=k*m", "i want {k} {items} at {m} each what does that cost => e=k*m",
            "if i buy {k} {items} (at|for) {m} each (how much is that|what do i pay|what's the total) => e=k*m", "{items} are {m} each how much (are|for|is) {k} => e=k*m", "{items} cost {m} each what do {k} cost => e=k*m",
            "{items} cost {m} how much are {k} => e=k*m",
            "one costs {m} how much are {k} => e=k*m", "if one is {m} (what are|how much are|how much is|what do i pay for) {k} => e=k*m", "if (one|it) costs {m} what do {k} cost => e=k*m", "at {m} each what do {k} {items} cost => e=k*m",
            "at {m} apiece how much are {k} {items} => e=k*m", "how much do i pay for {k} {items} at {m} [each] => e=k*m",
            "what do i pay for {k} {items} (at|that cost|costing) {m} [each] => e=k*m", "calculate {k} {items} (at|for) {m} each => e=k*m", "work out the cost of {k} {items} at {m} => e=k*m",
            "how much money do i need for {k} {items} at {m} each => e=k*m", "{k} at {m} each => e=k*m", "{k} at {m} apiece => e=k*m", "what's {k} at {m} each => e=k*m", "how much is {k} at {m} each => e=k*m", "{m} each for {k} {items} => e=k*m",
            "{m} each times {k} => e=k*m", "we need {k} {items} and each is {m} => e=k*m", "each of the {k} {items} costs {m} what's the total => e=k*m", "how much will it be for {k} {items} at {m} => e=k*m", "what's {k} {items} at {m} => e=k*m",
            "how expensive are {k} {items} at {m} each => e=k*m",
            "{k} {items} {m} (a pop|a piece|apiece|per piece|per unit) => e=k*m", "{k} {items} at {m} (a pop|per piece|a go|total|what's the total|how much) => e=k*m",
            "{k} {items} {m} each (total|what's the total|how much is that|how much in total|altogether) => e=k*m", "{k} at {m} a pop => e=k*m", "{k} for {m} each => e=k*m", "{m} each {k} {items} => e=k*m", "{m} each for {k} => e=k*m",
            "{m} per piece for {k} => e=k*m", "{m} times {k} {items} => e=m*k", "if (i'm|we're) buying {k} {items} at {m} each what's the total => e=k*m", "if i get {k} {items} at {m} each what's that => e=k*m",
            "if i (want|need|take) {k} {items} at {m} [each] (how much is that|what's the total|what do i pay) => e=k*m", "if {items} are {m} each how much (are|for|is) {k} => e=k*m",
            "if {items} cost {m} how much (are|for) {k} => e=k*m", "(one is|it's|they're) {m} each and i want {k} => e=k*m", "they're {m} each how much for {k} => e=k*m", "they are {m} each and i need {k} => e=k*m",
            "it costs {m} each for {k} people what's the total => e=k*m", "{k} people at {m} each => e=k*m", "{k} people at {m} a head => e=k*m", "{k} people paying {m} each => e=k*m",
            "{k} people pay {m} each how much is that => e=k*m", "how much for {k} {items} at {m} [each|apiece] => e=k*m", "how much for {k} at {m} each => e=k*m", "what's it cost for {k} {items} at {m} each => e=k*m",
            "what will {k} {items} at {m} each set me back => e=k*m", "what's {k} times {m} => e=k*m", "total cost of {k} {items} at {m} each => e=k*m", "total price {k} {items} {m} each => e=k*m",
            "add up {k} {items} at {m} each => e=k*m", "i'm getting {k} {items} at {m} each => e=k*m", "we're buying {k} {items} for {m} each => e=k*m", "buying {k} {items} at {m} each => e=k*m",
            "bought {k} {items} at {m} each how much => e=k*m",
        ],
        held=["{k} {items} and each costs {m} what do i pay => e=k*m", "what will i spend on {k} {items} at {m} each => e=k*m", "if {items} are {m} each what's the price of {k} => e=k*m",
            "what's the cost if i buy {k} {items} for {m} apiece => e=k*m", "how much money is {k} {items} at {m} => e=k*m",
              "i need {k} {items} at {m} each how much will it be => e=k*m"],
        slots=EXPRESSION, **ANSWER),
    Intent(
        "math.zero", weight=0.12,
        patterns=["divide {a} by (zero|0) => e=a/0", "what's {a} divided by (zero|0) => e=a/0", "what is {a} divided by (zero|0) => e=a/0", "{a} divided by (zero|0) => e=a/0", "{a} over (zero|0) => e=a/0",
            "how much is {a} divided by (zero|0) => e=a/0", "{a}/0 => e=a/0", "{a} / 0 => e=a/0", "can you divide {a} by (zero|0) => e=a/0",
                  "what happens if i divide {a} by (zero|0) => e=a/0", "calculate {a} divided by nothing => e=a/0", "split {m} between (zero|0) people => e=m/0", "(zero|0) divided by (zero|0) => e=0/0", "how many times does (zero|0) go into {a} => e=a/0"],
        held=["what do i get if i divide {a} by (zero|0) => e=a/0", "try {a} divided by zero => e=a/0", "i want to divide {a} by zero => e=a/0"],
        slots=EXPRESSION, **ANSWER),
]


def in_order(pattern):
    """A product as it is said: "5 at 3 each" is 5*3, "3 each for 5" is 3*5."""
    m = re.search(r"=> e=(\w)\*(\w)$", pattern)
    if m and pattern.find(f"{{{m[2]}}}") < pattern.find(f"{{{m[1]}}}"):
        pattern = pattern[:m.start()] + f"=> e={m[2]}*{m[1]}"
    return pattern


for _intent in MATH_INTENTS:
    if _intent.name in ("math.words", "math.cost"):
        _intent.patterns, _intent.held = ([in_order(p) for p in x] for x in (_intent.patterns, _intent.held))


# --- going on with the result

def on_result(v):
    """The template with the last result as r."""
    prev = v["prev"]["result"]
    values = {k: x[0] for k, x in v.items() if isinstance(x, tuple)}
    return "calculate", {"expression": built(v["e"], {**values, "r": str(prev.get("result", 0))})}


def other_percent(v):
    """The last percentage with another rate (p) or another amount (m)."""
    rate, amount = re.fullmatch(r"([\d.]+)/100\*([\d.]+)", v["prev"]["args"]["expression"]).groups()
    return "calculate", {"expression": f"{v.get('p', (rate,))[0]}/100*{v.get('m', (amount,))[0]}"}


def other_number(v):
    """The last sum with another number at its end."""
    head, tail = re.fullmatch(r"(.*?)(?:\d+\.)?\d+(\)*)", v["prev"]["args"]["expression"]).groups()
    return "calculate", {"expression": head + v["a"][0] + tail}


THAT = "(that|it|this|the result)"
UNIT_NAMES = ("units.convert", "units.temperature", "units.kitchen", "units.everyday", "units.to", "units.value")
SUMS = ("math.sum", "math.fix")
MATH_NAMES = tuple(i.name for i in MATH_INTENTS if i.name != "math.zero") + ("math.part",)
AFTER_MATH = MATH_NAMES + ("math.next", "math.again", "math.rate", "math.fix")

MATH_INTENTS += [
    # The same wordings as math.percent, apart, so that a rate or an amount can be replaced afterwards.
    Intent(
        "math.part", weight=0.5,
        patterns=["{p} of {m}", "what's {p} of {m}", "how much is {p} of {m}", "what is {p} of {m}", "what's a tip of {p} on {m}", "calculate {p} of {m}", "{p} tip on {m}", "how much is a {p} tip on {m}", "tell me {p} of {m}",
            "how much is a tip of {p} for {m}", "work out {p} of {m}", "tip of {p} on {m}"],
        held=["i need {p} of {m} as a tip", "find me a {p} tip for {m}"],
        slots=EXPRESSION, call=lambda v: ("calculate", {"expression": f"{v['p'][0]}/100*{v['m'][0]}"}), result=calculated, say=say_calculated),
    Intent(
        "math.rate", follows=("math.part", "math.rate"), weight=3,
        patterns=["what about {p}", "how about {p}", "and at {p}", "and with {p}", "make it {p}", "and if it's {p}", "what if it's {p}", "what if i tip {p}", "what would {p} be", "no {p}", "i meant {p}", "and {p} instead", "{p} instead",
            "and what's {p}", "how much would {p} be", "and how much is {p}", "actually {p}", "try {p}", "let's say {p}", "what would it be (at|with) {p}", "change it to {p}",
                  "and of {m}", "what about of {m}", "and on {m}", "and for {m}", "and for a bill of {m}", "the same for {m}", "same for {m}", "the same on {m}", "how about for {m}", "what about on {m}", "what about for {m}",
                  "and if the bill is {m}", "what if it's for {m}", "now for {m}", "no of {m}",
            "no i meant {p}", "sorry {p}", "sorry i meant {p}", "not that {p}", "no make it {p}", "and {p}", "or {p}", "what's {p} then", "and if i do {p}", "and if i give {p}", "and if i leave {p}", "let's do {p}", "do {p} instead",
            "go with {p}", "same with {p}", "the same with {p}", "same at {p}", "now {p}", "how much at {p}", "what's it at {p}", "what would {p} come to", "and what would {p} be", "what if it was {p}", "what if we tip {p}",
            "what if i do {p}", "bump it (up|down) to {p}", "okay {p} then", "hmm {p}", "and a {p} tip", "what about a {p} tip", "how about a {p} tip", "wait {p}", "better {p}", "i said {p}", "oh i meant {p}", "and {m}",
            "what about {m}", "how about {m}", "and if it's {m}", "no i meant {m}", "i meant {m}", "sorry {m}", "no {m}", "same with {m}", "now with {m}", "and with {m}", "the bill is {m} actually", "actually it's {m}",
            "actually the bill is {m}", "what if the bill is {m}", "what if it's {m}", "and what of {m}", "and on a bill of {m}", "make it {m}", "and now of {m}", "now of {m}", "of {m}", "on {m}", "or of {m}", "and out of {m}",
            "the same of {m}", "same thing for {m}", "same thing on {m}", "do it for {m}", "try it with {m}", "what would it be on {m}", "what would it be for {m}", "how much on {m}", "how much for {m}",
        ],
        held=["let's try {p}", "could you do {p} instead", "and what would it be for {m}", "now the same of {m}"],
        slots=EXPRESSION, call=other_percent, result=calculated, say=say_calculated),
    Intent(
        "math.next", follows=AFTER_MATH + UNIT_NAMES, weight=2.2,
        patterns=[line.replace("THAT", THAT) for line in [
            "times {k} => e=r*k", "times {k} => e=r*k", "[and] times {w} => e=r*w", "and (that|it) times {k} => e=r*k", "(that|this|the result) times {k} => e=r*k", "what's that times {k} => e=r*k", "how much is that times {k} => e=r*k",
            "multiply THAT by {k} => e=r*k", "multiply by {w} => e=r*w", "and multiplied by {k} => e=r*k", "now times {k} => e=r*k", "then times {k} => e=r*k", "* {w} => e=r*w", "x {k} => e=r*k",
            "plus {w} => e=r+w", "plus {a} => e=r+a", "and plus {w} => e=r+w", "that plus {w} => e=r+w", "add {w} => e=r+w", "add {w} to THAT => e=r+w", "and add {w} => e=r+w", "add another {w} => e=r+w", "and {w} more => e=r+w",
            "now add {a} => e=r+a", "then plus {w} => e=r+w", "what's that plus {a} => e=r+a", "+ {w} => e=r+w", "+{w} => e=r+w", "and what's that plus {w} => e=r+w",
            "minus {w} => e=r-w", "minus {w} => e=r-w", "minus {a} => e=r-a", "and minus {w} => e=r-w", "that minus {w} => e=r-w", "subtract {w} => e=r-w", "subtract {w} from THAT => e=r-w", "take away {w} => e=r-w", "take {w} (away|off) => e=r-w",
            "take {w} (from|off) THAT => e=r-w", "and take away {w} => e=r-w", "less {w} => e=r-w", "now minus {w} => e=r-w", "what's that minus {w} => e=r-w", "- {w} => e=r-w",
            "divided by {k} => e=r/k", "divided by {k} => e=r/k", "divide by {k} => e=r/k", "divide THAT by {k} => e=r/k", "and divided by {k} => e=r/k", "that divided by {k} => e=r/k", "what's that divided by {k} => e=r/k",
            "now divide by {k} => e=r/k", "split that {k} ways => e=r/k", "split THAT (between|by|among) {k} [people] => e=r/k", "and for {k} people how much each => e=r/k", "/ {k} => e=r/k", "over {k} => e=r/k", "then divide it by {k} => e=r/k",
            "and half of (that|it) => e=r/2", "half of (that|it) => e=r/2", "half that => e=r/2", "and half => e=r/2", "what's half of (that|it) => e=r/2", "halve it => e=r/2", "cut that in half => e=r/2", "and a third of (that|it) => e=r/3",
            "and a quarter of (that|it) => e=r/4", "what's a quarter of that => e=r/4", "what's a third of that => e=r/3", "a tenth of that => e=r/10",
            "double that => e=r*2", "double it => e=r*2", "and double => e=r*2", "and double that => e=r*2", "twice that => e=r*2", "and twice that => e=r*2", "what's twice that => e=r*2", "triple that => e=r*3", "triple it => e=r*3",
            "and doubled => e=r*2", "and ten times that => e=10*r", "what's double that => e=r*2",
            "add {p} => e=r*(1+p/100)", "plus {p} => e=r*(1+p/100)", "and add {p} => e=r*(1+p/100)", "add {p} to THAT => e=r*(1+p/100)", "and plus {p} => e=r*(1+p/100)", "and {p} on top => e=r*(1+p/100)", "with {p} tip => e=r*(1+p/100)",
            "and with a tip of {p} => e=r*(1+p/100)", "add a tip of {p} => e=r*(1+p/100)", "and {p} tax on top => e=r*(1+p/100)", "add {p} tax => e=r*(1+p/100)", "what's that plus {p} => e=r*(1+p/100)",
            "minus {p} => e=r*(1-p/100)", "take {p} off => e=r*(1-p/100)", "take {p} off THAT => e=r*(1-p/100)", "and minus {p} => e=r*(1-p/100)", "and {p} off => e=r*(1-p/100)", "with {p} off => e=r*(1-p/100)", "subtract {p} => e=r*(1-p/100)",
            "what's that minus {p} => e=r*(1-p/100)",
            "and {p} of (that|it) => e=p/100*r", "{p} of that => e=p/100*r", "what's {p} of that => e=p/100*r", "how much is {p} of that => e=p/100*r", "now {p} of that => e=p/100*r",
            "square (that|it) => e=r^2", "that squared => e=r^2", "and squared => e=r^2", "what's that squared => e=r^2", "cube it => e=r^3", "subtract (that|it) from {big} => e=big-r", "{big} minus that => e=big-r",
            "take (that|it) from {big} => e=big-r", "what's {big} minus that => e=big-r", "{big} divided by that => e=big/r", "add that to {big} => e=r+big",
            "times {k} plus {w} => e=r*k+w", "times {k} minus {w} => e=r*k-w", "plus {w} plus {a} => e=r+w+a", "plus {w} minus {k} => e=r+w-k",
            "and if i (multiply|times) it by {k} => e=r*k", "and if i add {w} => e=r+w", "and if i take away {w} => e=r-w", "and if i divide it by {k} => e=r/k", "what do i get if i multiply that by {k} => e=r*k", "now take that times {k} => e=r*k",
            "now subtract {w} => e=r-w", "now double it => e=r*2", "i want {k} times that => e=k*r", "{k} times that => e=k*r", "what's {k} times that => e=k*r",
            "times (that|it) by {k} => e=r*k", "now times (that|it) by {k} => e=r*k", "(multiply|times) the answer by {k} => e=r*k", "and by {k} => e=r*k", "by {k} => e=r*k", "what about times {k} => e=r*k",
            "and if it's times {k} => e=r*k", "okay times {k} => e=r*k", "then times {w} => e=r*w", "(chuck|stick|whack|put|tack|throw) [another] {w} on => e=r+w", "and another {w} => e=r+w", "plus another {w} => e=r+w",
            "add {w} more => e=r+w", "{w} more => e=r+w", "okay plus {w} => e=r+w", "okay add {w} => e=r+w", "add {w} to the answer => e=r+w", "and {w} on top => e=r+w", "what about plus {w} => e=r+w", "and if you add {w} => e=r+w",
            "bump it up by {w} => e=r+w", "knock {w} off => e=r-w", "knock off {w} => e=r-w", "and less {w} => e=r-w", "{w} less => e=r-w", "then minus {w} => e=r-w", "okay minus {w} => e=r-w", "take off {w} => e=r-w",
            "and take off {w} => e=r-w", "drop {w} => e=r-w", "minus another {w} => e=r-w", "lose {w} => e=r-w", "what about minus {w} => e=r-w", "take {w} off the answer => e=r-w", "subtract another {w} => e=r-w",
            "(and|now) split (it|that) {k} ways => e=r/k", "split {k} ways => e=r/k", "and split {k} ways => e=r/k", "between {k} [people|of us] => e=r/k", "and between {k} [people] => e=r/k", "and for {k} people each => e=r/k",
            "how much each for {k} [people] => e=r/k", "how much each if there are {k} of us => e=r/k", "there are {k} of us how much each => e=r/k", "(and|now|then) divide [that|it] by {k} => e=r/k",
            "what about divided by {k} => e=r/k", "shared by {k} => e=r/k", "share it between {k} people => e=r/k", "okay divided by {k} => e=r/k", "and if {k} people share it => e=r/k", "over {k} people => e=r/k",
            "divide the answer by {k} => e=r/k", "halve that => e=r/2", "now halve (it|that) => e=r/2", "and halved => e=r/2", "half it => e=r/2", "now half (it|that) => e=r/2", "cut it in half => e=r/2",
            "split (it|that) in half => e=r/2", "what about half => e=r/2", "half of it please => e=r/2", "a third of (that|it) => e=r/3", "a quarter of (that|it) => e=r/4", "and two thirds of (that|it) => e=2/3*r",
            "three quarters of that => e=3/4*r", "now double that => e=r*2", "what's it doubled => e=r*2", "twice (that|it) => e=r*2", "and triple (that|it) => e=r*3", "now triple it => e=r*3",
            "and tripled => e=r*3", "and times itself => e=r^2", "times itself => e=r^2", "now square it => e=r^2", "and square (that|it) => e=r^2", "that cubed => e=r^3", "and cubed => e=r^3", "cube that => e=r^3",
            "[and] the square root of (that|it) => e=sqrt(r)", "square root of (that|it) => e=sqrt(r)", "and its square root => e=sqrt(r)", "what's the square root of (that|it) => e=sqrt(r)", "now take the square root => e=sqrt(r)",
            "square root it => e=sqrt(r)", "(chuck|stick|whack|put|throw) {p} on [top] => e=r*(1+p/100)", "bump (it|that) up [by] {p} => e=r*(1+p/100)", "and {p} tip => e=r*(1+p/100)", "plus {p} (tip|tax|vat|gst) => e=r*(1+p/100)",
            "and add {p} (tip|tax|vat|gst) => e=r*(1+p/100)", "and with {p} tip => e=r*(1+p/100)", "with {p} tax => e=r*(1+p/100)", "now add {p} => e=r*(1+p/100)", "add {p} tip => e=r*(1+p/100)", "knock {p} off => e=r*(1-p/100)",
            "knock off {p} => e=r*(1-p/100)", "less {p} => e=r*(1-p/100)", "and less {p} => e=r*(1-p/100)", "now take {p} off => e=r*(1-p/100)", "take off {p} => e=r*(1-p/100)", "with a {p} discount => e=r*(1-p/100)",
            "{p} off that => e=r*(1-p/100)", "now minus {p} => e=r*(1-p/100)", "and with {p} off => e=r*(1-p/100)", "{p} less => e=r*(1-p/100)", "what is {p} of (that|it) => e=p/100*r", "and what's {p} of (that|it) => e=p/100*r",
            "{p} of it => e=p/100*r", "{p} of the result => e=p/100*r", "take {p} of that => e=p/100*r", "tell me {p} of that => e=p/100*r", "what's left from {big} => e=big-r", "how much is left of {big} => e=big-r",
            "from {big} => e=big-r", "{big} take away that => e=big-r", "{big} plus that => e=big+r", "that from {big} => e=big-r",
        ]],
        held=["how about that times {k} => e=r*k", "then multiply the answer by {k} => e=r*k", "put {w} on top of that => e=r+w", "and now {w} less => e=r-w", "what do i have if i take {w} away => e=r-w", "share it between {k} => e=r/k",
            "and what's half => e=r/2", "now twice as much => e=r*2", "increase it by {p} => e=r*(1+p/100)",
              "reduce it by {p} => e=r*(1-p/100)", "and how much is {p} of it => e=p/100*r", "the answer squared => e=r^2"],
        slots=EXPRESSION, call=on_result, result=calculated, say=say_calculated),
    # The sum of before with another last number.
    Intent(
        "math.fix", follows=SUMS, weight=0.9,
        patterns=["no i meant {a}", "no {a}", "i meant {a}", "sorry {a}", "sorry i meant {a}", "make that {a}", "no make that {a}", "make it {a}", "what about {a}", "how about {a}", "and {a}", "and with {a}",
            "what about with {a}", "and if it's {a}", "what if it's {a}",
                  "{a} instead", "no {a} sorry", "i said {a}", "not that {a}", "actually {a}", "change that to {a}", "and by {a}", "and what about {a}", "try {a}", "try it with {a}", "the same with {a}",
                  "same with {a}", "now with {a}", "or {a}", "oh i meant {a}"],
        held=["could you do it with {a} instead", "let's say {a} instead"],
        slots=EXPRESSION, call=other_number, result=calculated, say=say_calculated),
    # Another sum, with nothing from before.
    Intent(
        "math.again", follows=AFTER_MATH + UNIT_NAMES, weight=0.8,
        patterns=["and {x}", "what about {x}", "how about {x}", "now {x}", "and what's {x}", "and what is {x}", "okay and {x}", "next {x}", "and then {x}", "another one {x}", "then what's {x}", "and how much is {x}", "also {x}", "no {x}",
            "i meant {x}", "sorry {x}", "no i meant {x}", "so what's {x}", "one more {x}", "how about {x} then"],
        held=["and now what's {x}", "next question {x}", "okay what about {x}"],
        slots={**EXPRESSION, "x": slot(lambda g: g.pick([arithmetic, arithmetic, arithmetic, power, part])(g) if not g.held else arithmetic(g))}, **ANSWER),
]


# --- units: canonical name -> (factor to the base of its dimension, singular forms, plural forms, short forms)

TABLE = {
    "length": {
        "mile": (1609.344, "mile", "miles", "mi"), "kilometer": (1000, "kilometer, kilometre, k m", "kilometers, kilometers, kilometres", "km, km, kms"), "meter": (1, "meter, metre", "meters, meters, metres", "m"),
        "centimeter": (0.01, "centimeter, centimetre", "centimeters, centimeters, centimetres", "cm, cm, cms"), "millimeter": (0.001, "millimeter, millimetre", "millimeters, millimeters, millimetres", "mm"),
        "foot": (0.3048, "foot", "feet", "ft"), "inch": (0.0254, "inch", "inches", ""), "yard": (0.9144, "yard", "yards", "yd, yds"), "nautical mile": (1852, "nautical mile", "nautical miles", ""),
    },
    "weight": {
        "gram": (1, "gram, gramme", "grams, grams, grams, grammes", "g"), "kilogram": (1000, "kilogram, kilo", "kilograms, kilograms, kilos, kilos, kilogrammes", "kg, kg, kgs"), "milligram": (0.001, "milligram", "milligrams", "mg"),
        "ounce": (28.349523125, "ounce", "ounces", "oz"), "pound": (453.59237, "pound", "pounds", "lb, lbs, lbs"), "stone": (6350.29318, "stone", "stone, stones", "st"), "ton": (907184.74, "ton", "tons", ""), "metric ton": (1e6, "metric ton, tonne",
            "metric tons, tonnes", ""),
    },
    "volume": {
        "cup": (236.5882365, "cup", "cups", ""), "tablespoon": (14.78676478125, "tablespoon, table spoon", "tablespoons, tablespoons, table spoons", "tbsp, tbsp, tbsps"), "teaspoon": (4.92892159375, "teaspoon, tea spoon",
            "teaspoons, teaspoons, tea spoons", "tsp, tsp, tsps"),
        "fluid ounce": (29.5735295625, "fluid ounce", "fluid ounces", "fl oz, fl. oz"), "pint": (473.176473, "pint", "pints", "pt"), "quart": (946.352946, "quart", "quarts", "qt, qts"), "gallon": (3785.411784, "gallon", "gallons", "gal"),
        "milliliter": (1, "milliliter, millilitre", "milliliters, milliliters, millilitres, mils", "ml, ml, mls"), "centiliter": (10, "centiliter, centilitre", "centiliters, centilitres", "cl"), "deciliter": (100, "deciliter, decilitre",
            "deciliters, decilitres", "dl"),
        "liter": (1000, "liter, litre", "liters, liters, litres", "l"),
    },
    "speed": {
        "mile per hour": (0.44704, "mile per hour, mile an hour", "miles per hour, miles per hour, miles an hour", "mph"), "kilometer per hour": (1 / 3.6, "kilometer per hour, kilometer an hour",
        "kilometers per hour, kilometers per hour, kilometres per hour, kilometers an hour", "km/h, kph, kmh"),
        "knot": (1852 / 3600, "knot", "knots", "kn"), "meter per second": (1, "meter per second", "meters per second, meters a second, metres per second", "m/s"), "foot per second": (0.3048, "foot per second", "feet per second, feet a second", "ft/s"),
    },
    "area": {
        "square foot": (0.09290304, "square foot", "square feet", "sq ft, sqft"), "square meter": (1, "square meter, square metre", "square meters, square meters, square metres", "sq m, sqm, m2"), "acre": (4046.8564224, "acre", "acres", ""),
        "hectare": (10000, "hectare", "hectares", "ha"),
        "square mile": (2589988.110336, "square mile", "square miles", "sq mi"), "square kilometer": (1e6, "square kilometer, square kilometre", "square kilometers, square kilometres", "sq km, km2"), "square yard": (0.83612736, "square yard",
        "square yards", "sq yd"),
        "square inch": (0.00064516, "square inch", "square inches", "sq in"), "square centimeter": (0.0001, "square centimeter, square centimetre", "square centimeters, square centimetres", "cm2, sq cm"),
    },
    "data": {
        "bit": (0.125, "bit", "bits", ""), "byte": (1, "byte", "bytes", ""), "kilobyte": (1e3, "kilobyte", "kilobytes", "kb"), "megabyte": (1e6, "megabyte, meg", "megabytes, megabytes, megs", "mb"), "gigabyte": (1e9, "gigabyte, gig",
            "gigabytes, gigabytes, gigs", "gb"), "terabyte": (1e12, "terabyte", "terabytes", "tb"),
    },
    "time": {
        "millisecond": (0.001, "millisecond", "milliseconds", "ms"), "second": (1, "second", "seconds", "sec, secs"), "minute": (60, "minute", "minutes", "min, mins"), "hour": (3600, "hour", "hours", "hr, hrs"), "day": (86400, "day", "days", ""),
            "week": (604800, "week", "weeks", ""), "month": (2628000, "month", "months", ""), "year": (31536000, "year", "years", ""),
    },
    "temperature": {"fahrenheit": (0, "", "", ""), "celsius": (0, "", "", ""), "kelvin": (0, "", "", "")},
}
DIMENSION = {u: d for d, units in TABLE.items() for u in units}
FACTOR = {u: x[0] for units in TABLE.values() for u, x in units.items()}


def forms(text):
    return [w.strip() for w in text.split(",")] if text else []


FORMS = {u: tuple(forms(t) for t in x[1:]) for units in TABLE.values() for u, x in units.items()}

# What people really ask, both ways; the rest of a dimension comes up now and then.
PAIRS = {
    "length": ["mile kilometer", "mile kilometer", "mile kilometer", "foot meter", "foot meter", "inch centimeter", "inch centimeter", "yard meter", "foot inch", "foot inch", "mile foot", "meter centimeter", "kilometer meter", "mile yard",
        "yard foot", "centimeter foot", "inch millimeter", "millimeter centimeter", "mile meter", "nautical mile/kilometer", "nautical mile/mile"],
    "weight": ["pound kilogram", "pound kilogram", "pound kilogram", "ounce gram", "ounce gram", "ounce pound", "pound gram", "kilogram gram", "stone kilogram", "stone pound", "ton pound", "milligram gram", "metric ton/kilogram", "ton kilogram"],
    "volume": ["cup milliliter", "cup milliliter", "cup tablespoon", "cup tablespoon", "tablespoon teaspoon", "tablespoon teaspoon", "tablespoon milliliter", "teaspoon milliliter", "cup liter", "pint cup", "quart cup", "gallon cup", "gallon liter",
        "gallon liter", "pint milliliter", "liter milliliter", "quart liter", "gallon quart", "gallon pint",
               "cup fluid ounce", "fluid ounce/milliliter", "pint fluid ounce", "cup ounce", "cup ounce", "tablespoon ounce", "ounce milliliter", "pint ounce", "liter ounce", "gallon ounce", "deciliter milliliter", "deciliter cup",
               "centiliter milliliter", "quart pint", "pint liter", "cup teaspoon", "deciliter liter"],
    "speed": ["mile per hour/kilometer per hour"] * 6 + ["knot/mile per hour", "knot/kilometer per hour", "meter per second/kilometer per hour", "meter per second/mile per hour", "foot per second/mile per hour"],
    "area": ["square foot/square meter"] * 4 + ["acre/square foot", "acre/hectare", "hectare/square meter", "square mile/square kilometer", "square yard/square foot", "acre/square meter", "square meter/square centimeter", "square foot/square inch",
        "square mile/acre"],
    "data": ["megabyte gigabyte"] * 3 + ["gigabyte terabyte", "kilobyte megabyte", "byte kilobyte", "megabyte kilobyte", "byte bit"],
    "time": ["minute hour"] * 4 + ["minute second"] * 4 + ["second millisecond", "hour day", "hour day", "day week", "day week", "week year", "day year", "month year", "hour week", "second hour", "minute day", "hour year", "second day", "month week"],
    "temperature": ["fahrenheit celsius"] * 14 + ["celsius kelvin", "fahrenheit kelvin"],
    "far": ["mile kilometer"] * 5 + ["mile meter", "yard meter", "foot meter", "mile foot", "kilometer meter", "mile yard", "nautical mile/kilometer"], "tall": ["foot meter", "foot centimeter", "inch centimeter", "inch centimeter", "foot inch",
        "centimeter meter", "meter foot", "inch foot", "yard foot"],
    "body": ["pound kilogram"] * 5 + ["stone kilogram", "stone pound", "pound ounce", "kilogram gram", "pound gram"],
    "warmth": ["fahrenheit celsius"], "density": ["cup gram", "cup gram", "cup gram", "tablespoon gram", "teaspoon gram", "cup pound", "gram milliliter", "liter kilogram", "tablespoon ounce", "milliliter gram", "kilogram liter", "pound cup", "gallon pound"],
}


def two(text):
    if "/" in text:
        return text.split("/")
    a, b = text.split(" ", 1)
    return [a, b] if b in DIMENSION else text.rsplit(" ", 1)


PAIRS = {d: [two(p) for p in pairs] for d, pairs in PAIRS.items()}
assert all(u in DIMENSION for pairs in PAIRS.values() for p in pairs for u in p)


def converted(value, a, b):
    """`value` in another unit; None where that makes no sense. An ounce next to a volume is a fluid ounce."""
    if a == "ounce" and DIMENSION.get(b) == "volume":
        a = "fluid ounce"
    if b == "ounce" and DIMENSION.get(a) == "volume":
        b = "fluid ounce"
    if DIMENSION.get(a) != DIMENSION.get(b):
        return None
    if DIMENSION[a] == "temperature":
        kelvin = {"celsius": value + 273.15, "fahrenheit": (value - 32) / 1.8 + 273.15, "kelvin": value}[a]
        return {"celsius": kelvin - 273.15, "fahrenheit": (kelvin - 273.15) * 1.8 + 32, "kelvin": kelvin}[b]
    return value * FACTOR[a] / FACTOR[b]


def several(n, unit):
    """ "1 foot", "2.5 feet", "20 degrees Celsius"."""
    if unit in ("celsius", "fahrenheit"):
        return f"{n} degree{'' if n == 1 else 's'} {unit.capitalize()}"
    return f"{n} {unit}" if n == 1 else f"{n} {plural_of(unit)}"


def plural_of(unit):
    if DIMENSION[unit] == "temperature":
        return unit.capitalize() if unit != "kelvin" else unit
    return FORMS[unit][1][0]


def answer(g, v, args):
    x = converted(args["value"], args["from"], args["to"])
    return {"error": f"cannot convert {args['from']} to {args['to']}"} if x is None else {"result": tidy(x)}


def say_answer(g, v, args, result):
    if "error" in result:
        return f"I cannot convert {plural_of(args['from'])} to {plural_of(args['to'])}."
    return f"{several(args['value'], args['from'])} is {several(result['result'], args['to'])}."


# --- units as they are said

def choose(g, dimensions):
    """A pair of units."""
    d = g.pick(dimensions)
    if d in TABLE and d != "temperature" and g.chance(0.12):
        names = list(TABLE[d])
        for _ in range(60):
            a, b = g.pick(names), g.pick(names)
            if a != b and 1e-3 < FACTOR[a] / FACTOR[b] < 1e5:
                return [a, b]
    a, b = g.pick(PAIRS[d])
    return [a, b] if g.chance(0.5) else [b, a]


def pair(g, part, dimensions, big=False):
    """The pair of the wording that is being filled; `part` ("from" or "to") of it is said now. Whichever slot comes first chooses it; big: the first unit is the bigger one."""
    said = g.__dict__.setdefault("said", set())
    if not said or part in said:
        a, b = choose(g, dimensions)
        rate = 1 if DIMENSION[a] == "temperature" else converted(1, a, b) or FACTOR[a] / FACTOR[b]
        g.units = [b, a] if rate < 0.001 or big and rate < 1 and (rate < 0.02 or g.chance(0.85)) else [a, b]
        said.clear()
    said.add(part)
    if {"from", "to"} <= said:
        said.clear()
    return g.units


def target(g, unit):
    """The unit asked for, mostly as a plural."""
    if DIMENSION[unit] == "temperature":
        return g.pick({"celsius": ["celsius", "celsius", "celsius", "degrees celsius", "c", "centigrade", "degrees c"], "fahrenheit": ["fahrenheit", "fahrenheit", "fahrenheit", "degrees fahrenheit", "f", "degrees f"], "kelvin": ["kelvin", "kelvin",
            "degrees kelvin", "k"]}[unit])
    _, many, short = FORMS[unit]
    return g.pick(short) if short and g.chance(0.2) else g.pick(many)


FINE = ("milliliter", "gram", "millimeter", "milligram", "megabyte", "byte", "kilobyte", "centimeter", "square centimeter", "square inch", "kelvin")
HALVES = ("cup", "tablespoon", "teaspoon", "pint", "quart", "gallon", "liter", "pound", "kilogram", "mile", "inch", "ounce", "yard", "foot", "hour", "acre", "gigabyte", "meter", "kilometer", "terabyte", "minute", "day", "year", "deciliter", "ton",
    "stone", "centimeter")


def amount(g, unit):
    """How many of a unit people ask about."""
    if unit in ("fahrenheit", "celsius", "kelvin"):
        if unit == "kelvin":
            n = g.number(200, 600) if g.chance(0.5) else g.number(0, 1000, 50)
        elif unit == "fahrenheit":
            n = g.number(200, 500, 25) if g.chance(0.4) and not g.held else g.number(0, 120) if g.chance(0.6) else g.number(150, 475, 5)
        else:
            n = g.number(100, 250, 10) if g.chance(0.4) and not g.held else g.number(0, 45) if g.chance(0.6) else g.number(50, 260, 5)
        if g.chance(0.05):
            n = -g.number(1, 40)
        return n if not g.chance(0.04) else (n + 0.5 if n > 0 else n)
    r = g.rng.random()
    if unit in FINE:
        if r < 0.1:
            return 1
        n = g.number(50, 1000, 50) if r < 0.45 else g.number(10, 500, 5) if r < 0.75 else g.number(2, 999)
        return n
    if r < 0.22:
        return 1
    if r < 0.56:
        return g.number(2, 12 if not g.held else 99)
    if r < 0.83:
        return g.number(2, 100)
    if r < 0.93:
        return g.number(10, 1000, 10) if not g.held else g.number(100, 999)
    n = g.number(1, 20)
    return float(f"{n}.{g.pick(['5', '5', '5', '2', '8', '25', '75', '1', '3'])}")


def an(word):
    return ("an " if re.match(r"(ou|in|ac|hour|hr|oz)", word) else "a ") + word


def broken(g, unit):
    """A quantity with a fraction."""
    one, many, short = FORMS[unit]
    u, us = g.pick(one), g.pick(many)
    short = g.pick(short) if short and g.chance(0.5) else None
    kind = g.below(10)
    if kind < 3:
        return g.pick([f"half {an(u)}", f"half {an(u)}", f"a half {u}", f"1/2 {short or u}", f"½ {short or u}", f"one half {u}", f"half of {an(u)}", f"1/2 {an(u)}", f"0.5 {short or us}"]), 0.5
    if kind == 3:
        return g.pick([f"a quarter {u}", f"a quarter of {an(u)}", f"quarter {u}", f"1/4 {short or u}", f"¼ {short or u}", f"one quarter {u}", f"one fourth of {an(u)}", f"a fourth of {an(u)}"]), 0.25
    if kind == 4:
        return g.pick([f"three quarters of {an(u)}", f"3/4 {short or u}", f"three quarter {u}", f"¾ {short or u}", f"3/4 of {an(u)}", f"three fourths of {an(u)}"]), 0.75
    if kind == 5 and g.chance(0.5):
        return g.pick([(f"a third of {an(u)}", 0.33), (f"one third {u}", 0.33), (f"1/3 {short or u}", 0.33), (f"1/3 of {an(u)}", 0.33), (f"two thirds of {an(u)}", 0.67), (f"2/3 {short or u}", 0.67)])
    if kind < 8:
        return g.pick([f"one and a half {us}", f"one and a half {us}", f"{an(u)} and a half", f"1 and a half {us}", f"1 1/2 {short or us}", f"1½ {short or us}", f"1.5 {short or us}", f"one point five {us}"]), 1.5
    n = g.number(2, 9)
    if g.chance(0.2):
        return g.pick([(f"{g.words(n)} and a quarter {us}", n + 0.25), (f"{n} 1/4 {short or us}", n + 0.25), (f"{g.words(n)} and three quarters {us}", n + 0.75), (f"{n} 3/4 {short or us}", n + 0.75)])
    return g.pick([f"{g.words(n)} and a half {us}", f"{g.words(n)} and a half {us}", f"{n} and a half {us}", f"{n} 1/2 {short or us}", f"{n}.5 {short or us}", f"{g.words(n)} point five {us}"]), n + 0.5


def shown(g, n):
    if isinstance(n, float):
        return g.say_number(n)
    return digits_said(g, n) if n >= 0 else g.say_number(n)


def sensible(g, unit, other):
    """An amount of which the other unit has neither next to nothing nor millions."""
    for _ in range(30):
        n = amount(g, unit)
        x = converted(n, unit, other)
        if x is None or DIMENSION[unit] == "temperature" or 0.02 <= x <= 9999999:
            break
    return n


def quantity(g, unit, other):
    """ "5 miles", "half a cup", "350 degrees"; of a temperature the scale may be left out where the other one is named."""
    if unit in HALVES and g.chance(0.14) and (converted(0.25, unit, other) or 1) >= 0.02:
        text, n = broken(g, unit)
    else:
        n = sensible(g, unit, other)
        text = measured(g, unit, other, n)
    g.amount = n
    return text, n


def measured(g, unit, other, n):
    if DIMENSION[unit] == "temperature":
        said, c = shown(g, n), {"celsius": "c", "fahrenheit": "f", "kelvin": "k"}[unit]
        if unit == "kelvin":
            return g.pick([f"{said} kelvin", f"{said} kelvin", f"{said} degrees kelvin", f"{n} k", f"{n}k"])
        options = [f"{said} {unit}"] * 3 + [f"{said} degrees {unit}"] * 3 + [f"{said} {c}", f"{n}{c}", f"{said} degrees {c}", f"{n}°{c}", f"{n} °{c}"]
        if unit == "celsius":
            options += [f"{said} centigrade", f"{said} degrees centigrade"]
        if other in ("celsius", "fahrenheit"):
            options += [f"{said} degrees"] * 3 + [f"{n}°"]
        return g.pick(options)
    one, many, short = FORMS[unit]
    if n == 1:
        u = g.pick(one)
        return g.pick([an(u), an(u), an(u), f"one {u}", f"1 {g.pick(short) if short else u}", f"1 {u}"])
    if short and g.chance(0.22):
        d = f"{n:,}" if n >= 1000 and g.chance(0.3) else str(n)
        return d + g.pick([" ", " ", ""]) + g.pick(short)
    if unit in ("foot", "pound", "stone", "inch", "mile", "kilogram") and g.chance(0.06):
        return f"{shown(g, n)} {g.pick(one)}"
    if n == 2 and g.chance(0.15):
        return f"a couple of {g.pick(many)}"
    return f"{shown(g, n)} {g.pick(many)}"


def unit_slots(*dimensions):
    """q: a quantity, one: "a cup", from: its unit alone, n and last: the number alone, before and behind the units, t: the unit asked for."""
    def q(g):
        a, b = pair(g, "from", dimensions)
        text, n = quantity(g, a, b)
        return text, (n, a)

    def one(g):
        a, _ = pair(g, "from", dimensions, True)
        g.amount, u = 1, g.pick(FORMS[a][0])
        return g.pick([an(u), an(u), f"one {u}", f"1 {u}"]), (1, a)

    def bare(g):
        a, _ = pair(g, "from", dimensions, True)
        g.amount = 1
        return g.pick(FORMS[a][0]), (1, a)

    def source(g):
        a, _ = pair(g, "from", dimensions)
        return target(g, a), (None, a)

    def n(g):
        pair(g, "number", dimensions)
        return last(g)

    def last(g):
        x = sensible(g, *g.units)
        if x == 1:
            x = 3
        g.amount = x
        return shown(g, x), (x, None)

    def t(g):
        _, b = pair(g, "to", dimensions)
        return target(g, b), (b,)

    def small(g):
        _, b = pair(g, "to", dimensions, True)
        return target(g, b), (b,)

    return {"small": small, "q": q, "one": one, "bare": bare, "from": source, "n": n, "last": last, "t": t, "food": food}


def convert(v):
    value, unit = None, None
    for k in ("q", "one", "bare", "from"):
        if k in v:
            value, unit = v[k]
    for k in ("n", "last"):
        if k in v:
            value = v[k][0]
    return "convert_units", {"value": whole_or_not(value), "from": unit, "to": v["t" if "t" in v else "small"][0]}


def whole_or_not(x):
    return int(x) if x == int(x) else x


FOODS = Lexicon("""flour, sugar, butter, milk, water, rice, honey, brown sugar, powdered sugar, cocoa, oats, salt, oil, olive oil, cream, heavy cream, yogurt, cheese, chocolate chips, almonds, walnuts, peanut butter, maple syrup,
    baking powder, baking soda, yeast, cornstarch, breadcrumbs, raisins, lentils, beans, pasta, coffee, tea, broth, stock, vinegar, lemon juice, orange juice, tomato sauce, ketchup, mayonnaise, mustard, soy sauce, jam, molasses,
    coconut milk, coconut oil, vegetable oil, sour cream, buttermilk, cream cheese, ricotta, parmesan, mozzarella, cheddar, berries, blueberries, strawberries, spinach, carrots, onions, garlic, quinoa, couscous, barley, semolina,
    almond flour, whole wheat flour, bread flour, rye flour, vanilla, cinnamon, paprika, pepper, ginger, corn, corn syrup, pumpkin, mashed potatoes, peas, chickpeas, nuts, pecans, cashews, hazelnuts, sesame seeds, chia seeds,
    dry rice, cooked rice, melted butter, icing sugar, caster sugar, cocoa powder, espresso, wine, beer, whiskey, vodka, rum, juice, syrup, stevia, gelatin, tapioca, polenta, granola, muesli, cereal, dog food, soup, gravy, beef, chicken, pork""",
                """tahini, agave syrup, condensed milk, buckwheat, lard, pistachios, bulgur, sunflower seeds, apple sauce, cranberries, ghee, tomato paste""")


def food(g):
    w = g.word(FOODS)
    return w, [w]


# Time is only asked with "how many" and the like: "5 minutes" alone is a timer.
HOW_MANY = [
    "how many {t} (are|are there) in {q}", "how many {t} in {q}", "how many {t} in {q}", "how many {t} are in {one}", "how many {t} in {one}", "how many {t} is {q}", "how many {t} are {q}", "how many {t} is {one}",
    "how many {t} (make|make up|equal|go into) {q}", "how many {t} make {one}", "how many {t} (go into|fit in|fit into) {one}",
    "how many {t} (does|do) {q} (have|make|equal|contain|come to)", "how many {t} does {one} (have|make|equal|contain|hold)", "how many {t} (to|per|for|in each|in every) {one}", "how many {t} for {q}", "how many {t} would {q} be",
    "how many {t} would that be {q}", "how many {t} do i get (from|out of|for) {q}", "how many {t} do i need for {q}", "how many {t} to {q}",
    "{q} is how many {t}", "{q} (equals|makes|are|are equal to|is equal to|has|have) how many {t}", "{one} (is|has|equals|makes) how many {t}", "{q} how many {t}", "{q} how many {t} is that", "{q} in {t} is how many", "how many {t} is {q} exactly",
    "how many {t} is {q} about", "convert {q} (to|into|in) {t}", "convert {q} to {t}", "convert {q} to {t}", "convert {q} into {t}", "convert {n} {from} to {t}",
    "can you convert {q} (to|into) {t}", "do you know how many {t} are in {q}", "do you know how many {t} {q} (is|are)", "tell me how many {t} (are in|are there in) {q}", "tell me how many {t} {q} (is|are|makes)",
    "i need to know how many {t} {q} (is|are)", "i wonder how many {t} {q} (is|are)", "any idea how many {t} are in {q}", "what's {q} converted to {t}", "{q} converted (to|into) {t}", "i need {q} converted to {t}",
    "change {q} (to|into) {t}", "i want to convert {q} to {t}", "i'd like to convert {q} into {t}", "help me convert {q} to {t}", "calculate how many {t} are in {q}", "figure out how many {t} {q} is", "work out how many {t} are in {q}",
    "what number of {t} is {q}", "how many {t} does {q} come out to", "exactly how many {t} are in {one}", "count the {t} in {q}", "{q} contains how many {t}", "in {q} how many {t} are there", "in {one} how many {t}",
    "how many {t} are equal to {q}", "how many {t} have i got in {q}", "how many {t} do you get in {one}", "what is the number of {t} in {one}", "the number of {t} in {q}", "convert from {from} to {t} {last}", "convert {n} from {from} to {t}",
    "how many {t} is {n} {from}", "i forgot how many {t} are in {one}",
            "how many {t} {one}", "how many {t} {one} has", "how many {t} has {one}", "how many {t} {q}", "{one} how many {t}", "{one} is how many {t}", "how much {t} (is|in|are in) {q}", "how much {t} (is|in|are in) {one}",
            "how many {t} are there in {one}", "how many {t} are there to {one}", "how many {t} you get in {one}", "what's {q} equal to in {t}", "{q} equals to how many {t}", "{q} equal how many {t}", "how do i convert {q} to {t}",
            "how to convert {q} to {t}", "how do you convert {q} into {t}", "{q} would be how many {t}", "i've got {q} how many {t} is it", "if it's {q} how many {t} is that", "so how many {t} is {q}", "how many {t} does {q} equal",
            "how many {t} come to {q}", "how many {t} in total is {q}", "do you happen to know how many {t} are in {one}", "remind me how many {t} are in {one}", "what's {one} in {t}", "{q} convert to {t}", "{q} convert it to {t}",
            "{q} change that to {t}", "convert me {q} to {t}", "please convert {q} in {t}", "convert {q} {t}", "convert {n} {from} {t}", "convert {n} {from} into {t}", "number of {t} in {q}", "number of {t} in {one}",
            "amount of {t} in {q}", "how many {t} per {bare}", "how many {t} to the {bare}", "how many {t} fit in {one}",
        ]
# The units said twice or once, for everything else.
DIRECT = [
    "{q} in {t}", "{q} in {t}", "{q} to {t}", "{q} to {t}", "{q} into {t}", "{q} as {t}", "what's {q} in {t}", "what's {q} in {t}", "what is {q} in {t}", "whats {q} in {t}", "how much is {q} in {t}", "how much is {q} in {t}",
    "how much are {q} in {t}", "what are {q} in {t}", "what would {q} be in {t}", "how much would {q} be in {t}", "what is {q} to {t}", "what's {q} to {t}",
    "(turn|translate|switch|transform|put|express) {q} (into|in) {t}", "give me {q} in {t}", "tell me {q} in {t}", "show me {q} in {t}", "say {q} in {t}", "i need {q} in {t}", "i want {q} in {t}", "calculate {q} in {t}", "compute {q} in {t}",
    "figure out {q} in {t}", "work out {q} in {t}", "tell me what {q} is in {t}", "tell me how much {q} is in {t}", "do you know what {q} is in {t}", "what does {q} (make|equal|come to) in {t}",
    "{q} equals what in {t}", "{q} is what in {t}", "{q} is how much in {t}", "{q} how much in {t}", "{q} how much is that in {t}", "{q} what's that in {t}", "{q} what is that in {t}", "{t} in {q}", "{t} in {one}", "{t} per {bare}", "{t} for {q}",
    "{bare} to {t}", "{bare} in {t}", "{one} in {t}", "what's {one} in {t}", "how much is {one} in {t}", "{n} {from} in {t}", "{from} to {t} {last}", "from {q} to {t}",
    "i have {q} what is that in {t}", "i have {q} how many {t} is that", "it says {q} what's that in {t}", "it says {q} how much is that in {t}", "i only know {t} what's {q}", "i don't know {from} what's {n} in {t}",
    "if i have {q} how many {t} do i have", "conversion of {q} to {t}", "conversion {q} {t}", "unit conversion {q} to {t}", "{q} {t}", "{q} equals how many {t}", "what's the equivalent of {q} in {t}",
    "i need {q} but in {t}", "i've read {q} what is that in {t}", "how do you say {q} in {t}", "what's {q} when you convert it to {t}", "what do you get if you convert {q} to {t}", "can i get {q} in {t}", "can i have {q} in {t}", "{q} please in {t}",
    "in {t} how much is {q}", "in {t} what is {q}", "in {t} {q} is what",
            "gimme {q} in {t}", "{q} but in {t}", "{q} in {t} how much", "{q} in {t} what is it", "{q} what's it in {t}", "{q} what's the same in {t}", "do {q} in {t}", "make {q} into {t}", "{n} {from} into {t}",
            "{n} {from} to {t}", "from {from} to {t} {last}", "from {from} into {t} {last}", "{from} into {t} {last}", "{from} {t} {last}", "{n} {from} {t}", "{q} {t} conversion", "{q} to {t} conversion", "{q} converted to {t}",
            "{q} for me in {t}", "how do i say {q} in {t}", "whats {q} to {t}", "what is {q} into {t}", "what's {q} if you use {t}", "what {q} is in {t}", "how much {q} is in {t}", "how much it is {q} in {t}",
            "what would {q} come to in {t}", "what does {q} come out at in {t}", "what {t} is {q}", "could you put {q} in {t}", "can you do {q} in {t}", "can you say {q} in {t}", "let me know what {q} is in {t}",
            "i'd like to know {q} in {t}", "i'd like {q} in {t}", "i have to know {q} in {t}", "i wonder what {q} is in {t}", "i'm trying to work out {q} in {t}", "i can't work out {q} in {t}", "i don't know what {q} is in {t}",
            "i only understand {t} what's {q}", "i only think in {t} what's {q}", "what's that in {t} {q}", "how much is that in {t} {q}", "it's {q} what's that in {t}", "it's {q} how much is that in {t}",
            "the label says {q} what's that in {t}", "the label says {q} give me {t}", "they said {q} what's that in {t}", "{q} i need that in {t}", "{q} i want it in {t}", "{q} give it to me in {t}", "{q} tell me in {t}",
            "{q} turn (that|it) into {t}", "translate {q} to {t}", "swap {q} to {t}", "flip {q} to {t}", "switch {q} over to {t}", "about how much is {q} in {t}", "roughly what's {q} in {t}",
            "roughly how much is {q} in {t}", "{q} roughly in {t}", "exactly how much is {q} in {t}",
        ]
def ordered(lines):
    """ "how many grams in a kilogram" rather than the reverse."""
    return [p.replace("{t}", "{small}") if "{one}" in p or "{bare}" in p else p for p in lines]


HELD_MANY = ["what's the number of {t} in {q}", "{q} makes how many {t} exactly", "how many {t} will {q} make", "how many {t} can i get out of {q}", "could you find out how many {t} {q} is", "i'm trying to convert {q} to {t}",
    "into {t} please convert {q}", "how many {t} would i need for {one}", "i don't know how many {t} are in {one}"]
HELD_DIRECT = ["please express {q} as {t}", "what would you call {q} in {t}", "if it says {q} how much is it in {t}", "i've got {q} what does that make in {t}", "let me have {q} in {t}", "find {q} in {t}", "{q} what does that come to in {t}",
    "i'm looking for {q} in {t}"]

GENERAL = unit_slots("length", "length", "length", "length", "weight", "weight", "weight", "volume", "volume", "volume", "speed", "area", "data")
HOT = unit_slots("temperature")


def warmth(fahrenheit, celsius):
    """Temperatures of the weather or of people: (quantity, the scale asked for)."""
    def q(g):
        a, b = pair(g, "from", ["warmth"])
        n = g.amount = g.number(*(fahrenheit if a == "fahrenheit" else celsius))
        return measured(g, a, b, n), (n, a)

    def t(g):
        b = pair(g, "to", ["warmth"])[1]
        return target(g, b), (b,)
    return {"q": q, "t": t}


COOKING = unit_slots("volume", "volume", "volume", "density", "density")
CLOCK = unit_slots("time")
FAR, TALL, BODY, HEAVY, FAST, KITCHEN, WIDE = unit_slots("far"), unit_slots("tall"), unit_slots("body"), unit_slots("weight"), unit_slots("speed"), unit_slots("volume"), unit_slots("area")


def only(name, slots):
    """The slots under other names, for wordings that fit one dimension alone: {long_q} {long_t}."""
    def tagged(f, key):
        return lambda g: f(g)
    return {f"{name}_{k}": tagged(f, k) for k, f in slots.items()}


def convert_any(v):
    plain = {k.split("_")[-1]: x for k, x in v.items() if k != "prev"}
    return convert(plain)


TOLD = {"result": answer, "say": say_answer}


def other_pair(g, part):
    """Two units that have nothing to do with each other."""
    said = g.__dict__.setdefault("said", set())
    if not said or part in said:
        said.clear()
        while True:
            d, e = g.pick(["length", "weight", "volume", "time", "temperature", "area", "speed"]), g.pick(["length", "weight", "volume", "time", "temperature", "area", "data"])
            if d != e and {d, e} != {"weight", "volume"}:
                break
        g.units = [g.pick(PAIRS[d])[0], g.pick(PAIRS[e])[0]]
    said.add(part)
    units = g.units
    if len(said) == 2:
        said.clear()
    return units


def other_q(g):
    a, b = other_pair(g, "from")
    text, n = quantity(g, a, b)
    return text, (n, a)


def other_t(g):
    b = other_pair(g, "to")[1]
    return target(g, b), (b,)


# --- going on with a conversion; the pair of before is what the slots below build on

def new_target(g):
    a, b = g.units
    d = "volume" if "volume" in (DIMENSION[a], DIMENSION[b]) else DIMENSION[a]
    n = getattr(g, "amount", 1)
    names = [u for u in TABLE[d] if u not in (a, b) and (d == "temperature" or 0.02 <= converted(n, a, u) <= 9999999)]
    u = g.pick(names or sorted((u for u in TABLE[d] if u not in (a, b)), key=FACTOR.get)[:1])
    g.units = [a, u]
    return target(g, u), (u,)


def new_quantity(g):
    a, b = g.units
    text, n = quantity(g, a, b)
    return text, (n, a)


def new_number(g):
    n = sensible(g, *g.units)
    n = g.amount = 3 if n == 1 else n
    return shown(g, n), (n,)


def to_other(v):
    before = v["prev"]["args"]
    return "convert_units", {"value": before["value"], "from": before["from"], "to": v["nt"][0]}


def other_value(v):
    before = v["prev"]["args"]
    n = v["nq"][0] if "nq" in v else v["nn"][0]
    return "convert_units", {"value": whole_or_not(n), "from": before["from"], "to": before["to"]}


UNIT_INTENTS = [
    Intent("units.convert", weight=3.4, patterns=ordered(HOW_MANY + DIRECT), held=ordered(HELD_MANY + HELD_DIRECT), slots=GENERAL, call=convert, **TOLD),
    Intent(
        "units.temperature", weight=1.3,
        patterns=[p for p in DIRECT if not any(s in p for s in ("{one}", "{bare}", "how many", "{from}", "i only know"))] + [
            "convert {q} (to|into) {t}", "convert {q} to {t}", "convert {q} to {t}", "can you convert {q} to {t}", "change {q} to {t}", "how hot is {q} in {t}", "how hot is {q} in {t}", "how cold is {mild_q} in {mild_t}",
            "how warm is {mild_q} in {mild_t}", "what temperature is {q} in {t}", "what's {q} on the {t} scale", "the oven says {q} what's that in {t}",
            "the recipe says {q} what's that in {t}", "the recipe says {q} how hot is that in {t}", "my oven is in {t} what's {q}", "my oven only has {t} what is {q}", "my oven only does {t} and the recipe says {q}",
            "the recipe wants {q} what do i set in {t}", "bake at {q} what's that in {t}", "bake at {q} how much is it in {t}", "it's {mild_q} outside what's that in {mild_t}", "it's {mild_q} out there how hot is that in {mild_t}",
            "the forecast says {mild_q} what is that in {mild_t}", "how many {t} is {q}", "how many {t} are {q}", "{q} is how many {t}", "{q} equals how many {t}", "what would {q} be on a {t} thermometer",
            "the thermometer says {mild_q} what's that in {mild_t}", "he has a fever of {ill_q} how much is that in {ill_t}", "a fever of {ill_q} in {ill_t}", "body temperature {ill_q} in {ill_t}", "oven temperature {q} in {t}", "oven at {q} in {t}",
            "preheat to {q} what is that in {t}", "is {q} hot in {t}", "what's {q} in {t} for my oven", "i'm from europe what's {q} in {t}", "i don't understand {q} tell me in {t}", "what does {q} mean in {t}", "{q} oven in {t}",
            "i need to bake at {q} but my oven has {t}", "convert the temperature {q} to {t}", "temperature conversion {q} to {t}",
            "oven {q} in {t}", "set the oven to {q} what's that in {t}", "my oven's in {t} what's {q}", "my oven is {t} only what's {q}", "my oven's in {t} and the recipe says {q}",
            "recipe says {q} but my oven's in {t} [what do i set|what's that]", "the recipe says {q} but my oven is in {t} [what do i set|what's that]", 
            "it says {q} on the (packet|box) what's that in {t}", "the packet says {q} what's that in {t}", "cook at {q} what's that in {t}", "roast at {q} how much is that in {t}", "it's {mild_q} today what's that in {mild_t}",
            "it's {mild_q} here what is that in {mild_t}", "it's {mild_q} in (spain|london|texas|delhi|sydney) what's that in {mild_t}", "the weather says {mild_q} what's that in {mild_t}", "how hot's {mild_q} in {mild_t}",
            "how warm is {q} in {t}", "my temperature is {ill_q} what's that in {ill_t}", "my fever is {ill_q} what's that in {ill_t}", "the baby has {ill_q} what's that in {ill_t}",
            "the kid's temperature is {ill_q} tell me in {ill_t}", "she's got a temperature of {ill_q} what's that in {ill_t}", "the pool is {mild_q} what's that in {mild_t}", "{q} convert to {t}", "{q} {t} please",
            "how do i convert {q} to {t}", "how many degrees is {q} in {t}", "what is {q} as {t}", 
        ],
        held=HELD_DIRECT[:5] + ["how hot would {q} be in {t}", "the recipe has {q} and my oven is in {t}", "what should the {t} thermometer say for {q}", "{mild_q} outside is what in {mild_t}", "how many {t} do i set for {q}"],
        slots={**HOT, **only("mild", warmth((0, 105), (-20, 42))), **only("ill", warmth((97, 106), (36, 42)))}, call=convert_any, **TOLD),
    Intent(
        "units.kitchen", weight=1.1,
        patterns=ordered([
            "how many {t} (are in|in|are there in|is|make) {q} of {food}", "how many {t} in {q} of {food}", "how many {t} in {one} of {food}", "how many {t} of {food} (are in|in|is|make|go in|go into) {q}",
            "how many {t} of {food} (are in|in|make|is) {one}", "how many {t} does {q} of {food} weigh", "how many {t} does {one} of {food} have", "how many {t} of {food} do i need for {q}",
            "{q} of {food} in {t}", "{q} of {food} in {t}", "{q} {food} in {t}", "{q} of {food} to {t}", "what's {q} of {food} in {t}", "what is {q} of {food} in {t}", "how much is {q} of {food} in {t}", "how much does {q} of {food} weigh in {t}",
            "how heavy is {q} of {food} in {t}", "convert {q} of {food} (to|into) {t}", "convert {q} {food} to {t}", "{t} in {one} of {food}", "{t} in {q} of {food}",
            "the recipe (says|calls for|needs|wants) {q} of {food} (what's that in {t}|how many {t} is that|how much is that in {t})", "i need {q} of {food} how many {t} is that", "i have {q} of {food} how many {t} is that",
            "turn {q} of {food} into {t}", "tell me {q} of {food} in {t}", "give me {q} of {food} in {t}", "{q} of {food} is how many {t}", "{q} of {food} how many {t}", "{q} of {food} how many {t} is that",
            "{food} {q} in {t}", "for {food} how many {t} is {q}", "i only have a scale how many {t} is {q} of {food}", "i don't have a scale how many {t} is {q} of {food}", "i have no measuring cup what's {q} of {food} in {t}",
            "what would {q} of {food} be in {t}", "how do i measure {q} of {food} in {t}", "do you know how many {t} {q} of {food} is", "any idea how many {t} are in {q} of {food}",
            "{q} in {t}", "{q} to {t}", "convert {q} to {t}", "what's {q} in {t}", "how much is {q} in {t}", "how many {t} (are in|in) {one}", "how many {t} in {q}", "how many {t} (make|go into|fit in) {one}", "how many {t} per {bare}",
            "the recipe (says|calls for|needs) {q} what's that in {t}", "i've bought {q} of {food} how many {t} is that", "the recipe says {q} how many {t} is that", "i only have {t} and need {q}", "i only have a {t} measure how much is {q}",
            "i need to measure {q} in {t}", "how do i measure {q} with {t}", "my measuring cup is in {t} how much is {q}", "a recipe with {q} what is it in {t}",
            "what's {one} of {food} in {t}", "how much {food} is {q} in {t}", "how much is {one} of {food} in {t}", "i need {q} of {food} in {t}", "express {q} of {food} in {t}", "{t} of {food} in {one}", "{t} of {food} per {bare}",
            "what does {one} of {food} weigh in {t}", "calculate {q} of {food} in {t}", "change {q} of {food} to {t}",
            "{q} {food} {t}", "{q} of {food} {t}", "{q} {food} how many {t}", "{q} {food} into {t}", "{q} {food} in {t} please", "how many {t} {one} of {food}", "how many {t} is {q} {food}", "how many {t} in {q} {food}",
            "how many {t} for {q} of {food}", "how much {t} is {q} of {food}", "how much {t} in {one} of {food}", "{food} {q} to {t}",
            "the recipe says {q} of {food} but (my scale's|my scale is|my scales are|my cup is|my measuring cup is) in {t} [how much is it|how much is that|what's that]",
            "the recipe says {q} of {food} but i only (have|have got|use|know) {t} [how much is it|what's that]", "recipe says {q} of {food} [what's that|how much is that] in {t}", "it says {q} of {food} what's that in {t}",
            "it says {q} {food} how many {t}", "the recipe's {q} of {food} give me {t}", "my recipe wants {q} of {food} i need it in {t}", "i need {q} of {food} but only have {t}", "i've got {q} of {food} how much is that in {t}",
            "i have {q} of {food} what's that in {t}", "i'm baking how many {t} is {q} of {food}", "i'm baking and need {q} of {food} in {t}", "how do i weigh out {q} of {food} in {t}", "what does {q} of {food} weigh in {t}",
            "what's the weight of {q} of {food} in {t}", "weight of {q} of {food} in {t}", "how many {t} would {q} of {food} be", "how many {t} of {food} is that {q}", "can you do {q} of {food} in {t}", "change {q} {food} into {t}",
            "turn {q} {food} into {t}", "{q} of {food} converted to {t}", "{q} of {food} equals how many {t}", "{q} of {food} comes to how many {t}", "what's {q} {food} in {t}", "how much is {q} {food} in {t}",
            "gimme {q} of {food} in {t}", "if i have {q} of {food} how many {t} is that", "the recipe needs {q} but i only have {t}", "it says {q} and my cup is in {t}", "my scale only does {t} what's {q} of {food}",
            "my scales are in {t} what's {q} of {food}", "my jug's in {t} what's {q} of {food}", "my jug is in {t} how much is {q}",
        ]),
        held=ordered(["if the recipe says {q} of {food} how many {t} do i need", "{q} of {food} makes how many {t}", "what's the number of {t} in {one} of {food}", "for {q} of {food} how many {t} do i take",
            "i've got {q} of {food} what's that in {t}", "please measure {q} of {food} in {t}", "into {t} please {q} of {food}"]),
        slots=COOKING, call=convert, **TOLD),
    Intent(
        "units.everyday", weight=1.2,
        patterns=[
            "how far is {long_q} in {long_t}", "how far is {long_q} in {long_t}", "how long is {tall_q} in {tall_t}", "how tall is {tall_q} in {tall_t}", "how high is {tall_q} in {tall_t}", "how wide is {tall_q} in {tall_t}",
            "i ran {long_q} how many {long_t} is that", "i walked {long_q} how far is that in {long_t}", "it's {long_q} away what's that in {long_t}", "it's {long_q} away how many {long_t} is that",
            "the sign says {long_q} how far is that in {long_t}", "i'm {tall_q} tall what's that in {tall_t}", "my son is {tall_q} tall how much is that in {tall_t}", "a board of {tall_q} in {tall_t}",
            "the table is {tall_q} long how many {tall_t} is that", "we drove {long_q} how many {long_t} is that", "how deep is {tall_q} in {tall_t}", "a distance of {long_q} in {long_t}", "the screen is {tall_q} what's that in {tall_t}",
            "what height is {tall_q} in {tall_t}",
            "how heavy is {heavy_q} in {heavy_t}", "how much does {heavy_q} weigh in {heavy_t}", "i weigh {body_q} what's that in {body_t}", "i weigh {body_q} how many {body_t} is that", "the baby weighs {body_q} how much is that in {body_t}",
            "my suitcase is {body_q} how many {body_t} is that", "a weight of {heavy_q} in {heavy_t}", "the dog weighs {body_q} tell me in {body_t}", "i lost {body_q} how many {body_t} is that", "the package weighs {body_q} what's that in {body_t}",
            "how fast is {fast_q} in {fast_t}", "how fast is {fast_q} in {fast_t}", "the limit is {fast_q} how much is that in {fast_t}", "the speed limit is {fast_q} what's that in {fast_t}", "the sign says {fast_q} what's that in {fast_t}",
            "i'm driving {fast_q} what's that in {fast_t}", "i'm going {fast_q} how many {fast_t} is that", "what speed is {fast_q} in {fast_t}", "the wind is {fast_q} how fast is that in {fast_t}", "we drive at {fast_q} what is that in {fast_t}",
            "a speed of {fast_q} in {fast_t}",
            "how big is {wide_q} in {wide_t}", "how large is {wide_q} in {wide_t}", "the apartment is {wide_q} what's that in {wide_t}", "my garden is {wide_q} how many {wide_t} is that", "the house has {wide_q} how much is that in {wide_t}",
            "an area of {wide_q} in {wide_t}", "a room of {wide_q} in {wide_t}",
            "how much liquid is {cook_q} in {cook_t}", "the bottle holds {cook_q} how many {cook_t} is that", "a bottle of {cook_q} in {cook_t}", "the tank holds {cook_q} how many {cook_t} is that", "i drank {cook_q} of water how many {cook_t} is that",
            *[re.sub(r"\{(\w+)\}", r"{time_\1}", p) for p in ordered(HOW_MANY) if "would" not in p and "have i got" not in p and "need for" not in p], "how long is {time_q} in {time_t}", "how long is {time_q} in {time_t}",
            "what's {time_q} in {time_t}", "how much is {time_q} in {time_t}",
            "i'm {body_q} what's that in {body_t}", "my (cat|dog|baby|parcel|bag) is {body_q} what's that in {body_t}", "my (cat|dog|son|daughter) weighs {body_q} how many {body_t} is that",
            "i weigh {body_q} what's my weight in {body_t}", "my weight is {body_q} tell me in {body_t}", "the luggage limit is {body_q} what's that in {body_t}",
            "my bag can be {body_q} how many {body_t} is that", "i can lift {body_q} how many {body_t} is that", "i put on {body_q} what's that in {body_t}", "the turkey is {body_q} what's that in {body_t}",
            "the scale says {body_q} what's that in {body_t}", "the scales say {body_q} how many {body_t} is that", "(i ran|i cycled|i biked|i swam|i hiked|i jogged|i rode) {long_q} what's that in {long_t}",
            "(i ran|i cycled|i walked|i drove|we hiked) {long_q} how many {long_t} is that", "it's {long_q} to (town|the airport|the beach|work) how many {long_t} is that", "the sat nav says {long_q} what's that in {long_t}",
            "the map says {long_q} how many {long_t} is that", "my commute is {long_q} what's that in {long_t}", "{long_q} away how far is that in {long_t}", "how far's {long_q} in {long_t}",
            "the race is {long_q} how many {long_t} is that", "the next exit is in {long_q} what's that in {long_t}", "i'm {tall_q} how tall is that in {tall_t}",
            "i am {tall_q} tall how many {tall_t} is that", "my height is {tall_q} what's that in {tall_t}", "he's {tall_q} tall what's that in {tall_t}",
            "she is {tall_q} tall in {tall_t} please", "the shelf is {tall_q} wide what's that in {tall_t}", "the tv is {tall_q} what's that in {tall_t}", "the sofa is {tall_q} long what's that in {tall_t}",
            "the ceiling is {tall_q} high how much is that in {tall_t}", "the pool is {tall_q} long how many {tall_t} is that", "the plank is {tall_q} how many {tall_t} is that", "how thick is {tall_q} in {tall_t}",
            "i measured {tall_q} what's that in {tall_t}", "it measures {tall_q} give me {tall_t}", "(limit's|limit is|speed limit) {fast_q} what's that in {fast_t}",
            "i'm doing {fast_q} what's that in {fast_t}", "my car shows {fast_q} what's that in {fast_t}", "it's {fast_q} on this road what's that in {fast_t}", "winds of {fast_q} what's that in {fast_t}",
            "how quick is {fast_q} in {fast_t}", "the train does {fast_q} what's that in {fast_t}", "the flat is {wide_q} how many {wide_t} is that", "the flat's {wide_q} what's that in {wide_t}",
            "the land is {wide_q} how many {wide_t} is that", "our house is {wide_q} what's that in {wide_t}", "a plot of {wide_q} in {wide_t}", "the field is {wide_q} what's that in {wide_t}",
            "the (jug|pot|bottle|kettle) holds {cook_q} what's that in {cook_t}", "i need {cook_q} of water how many {cook_t} is that", "my tank takes {cook_q} how many {cook_t} is that", "i've drunk {cook_q} how many {cook_t} is that",
            "the (movie|film|flight|trip|drive|game) is {time_q} how many {time_t} is that", "it takes {time_q} how many {time_t} is that", "the (movie|film) is {time_q} long what's that in {time_t}",
            "what is {time_q} in {time_t}", "i've been here {time_q} how many {time_t} is that", "i slept {time_q} how many {time_t} is that",
            "the baby is {time_q} old how many {time_t} is that",
        ],
        held=["how many {time_t} will {time_q} be", "what's the number of {time_t} in {time_q}", "it says {long_q} on the sign what's that in {long_t}", "{long_q} away is how far in {long_t}", "my dog is {body_q} what does that make in {body_t}",
            "i drive {fast_q} tell me that in {fast_t}", "we have a garden of {wide_q} what is it in {wide_t}",
              "how long would {tall_q} be in {tall_t}", "could you find out how many {time_t} {time_q} is", "the tank has {cook_q} what's that in {cook_t}"],
        slots={**only("long", FAR), **only("tall", TALL), **only("body", BODY), **only("heavy", HEAVY), **only("fast", FAST), **only("wide", WIDE), **only("cook", KITCHEN), **only("time", CLOCK)}, call=convert_any, **TOLD),
    Intent(
        "units.wrong", weight=0.2,
        patterns=["convert {q} (to|into) {t}", "how many {t} (are in|in|is) {q}", "what's {q} in {t}", "how much is {q} in {t}", "how many {t} make {q}", "tell me {q} in {t}", "can you convert {q} to {t}", "{q} is how many {t}", "what is {q} in {t}",
            "turn {q} into {t}", "change {q} to {t}", "i need {q} converted to {t}"],
        held=["could you turn {q} into {t}", "find out how many {t} {q} is", "what would {q} be as {t}"],
        slots={"q": other_q, "t": other_t}, call=convert, **TOLD),
    Intent(
        "units.to", follows=UNIT_NAMES, weight=1.6,
        patterns=["and in {nt}", "and in {nt}", "in {nt}", "and {nt}", "and to {nt}", "what about {nt}", "what about in {nt}", "how about {nt}", "how about in {nt}", "and how many {nt}", "how many {nt} is that", "how many {nt} are that",
            "how many {nt}", "how many is that in {nt}", "how much is that in {nt}", "what's that in {nt}", "what is that in {nt}", "and what is it in {nt}", "what's it in {nt}", "and what's that in {nt}",
                  "convert (that|it) (to|into) {nt}", "now in {nt}", "now to {nt}", "to {nt} instead", "no in {nt}", "no {nt}", "i meant {nt}", "i meant in {nt}", "sorry in {nt}", "actually in {nt}", "make that {nt}", "can i have that in {nt}",
                  "give it to me in {nt}", "give me that in {nt}", "tell me in {nt}", "the same in {nt}", "same in {nt}", "and as {nt}", "or in {nt}", "{nt} instead", "{nt}", "also in {nt}", "{nt} please",
                  "and that in {nt}", "okay and in {nt}", "i need it in {nt}", "i need that in {nt}", "how many {nt} would that be", "what would that be in {nt}", "how much would it be in {nt}", "put (that|it) in {nt}", "change (that|it) to {nt}",
                  "and if i want it in {nt}", "not that i want {nt}", "what does that make in {nt}", "say that in {nt}", "how many {nt} does that make", "and how much is it in {nt}", "then in {nt}",
            "and the same in {nt}", "same thing in {nt}", "same thing but in {nt}", "but in {nt}", "{nt} now", "now {nt}", "gimme that in {nt}", "what's it in {nt} then", "what would it be in {nt}", "what'd that be in {nt}",
            "and how much in {nt}", "and what in {nt}", "what about as {nt}", "sorry {nt}", "sorry i meant {nt}", "no i meant {nt}", "no i meant in {nt}", "not that {nt} please", "i said {nt}", "oh in {nt} i mean", "in {nt} i meant",
            "in {nt} please", "in {nt} instead", "make it {nt}", "better in {nt}", "rather in {nt}", "can you do {nt}", "do {nt}", "do it in {nt}", "try {nt}", "convert to {nt}", "and convert that to {nt}", "turn that into {nt}",
            "into {nt}", "and into {nt}", "how many {nt} is it", "that's how many {nt}", "how many {nt} then", "so how many {nt} is that", "okay how many {nt}", "and in {nt} how much is it", "what does it come to in {nt}",
            "could you say it in {nt}", "tell me that in {nt}", "let me hear it in {nt}", "i don't understand that tell me in {nt}", "wait in {nt}", "hmm and in {nt}", "great and in {nt}", "or {nt}",
        ],
        held=["could i get it in {nt}", "let me have that as {nt}", "what would it come to in {nt}", "i want the same in {nt}", "show it in {nt} instead", "turn it into {nt}"],
        slots={"nt": new_target}, call=to_other, **TOLD),
    # The same number from the other unit.
    Intent(
        "units.back", follows=UNIT_NAMES, weight=0.5,
        patterns=["and the other way (around|round)", "the other way (around|round)", "now the other way (around|round)", "no the other way (around|round)", "i meant the other way (around|round)", "other way (around|round)", "and vice versa", "vice versa",
                  "and in the other direction", "and in reverse", "reverse (it|that)", "reverse", "swap them", "swap (it|that) (around|round)", "swap the units", "flip (it|that)", "flip (it|that) (around|round)", "no i meant the reverse", "and the reverse",
                  "turn it (around|round)", "and back the other way", "no other way round sorry", "what about the other way (around|round)", "how about the other way (around|round)", "switch them (around|round)",
                  "and the opposite", "do it the other way (around|round)"],
        held=["could you do that the other way (around|round)", "now the same in reverse"],
        slots={}, call=lambda v: ("convert_units", {"value": v["prev"]["args"]["value"], "from": v["prev"]["args"]["to"], "to": v["prev"]["args"]["from"]}), **TOLD),
    Intent(
        "units.value", follows=UNIT_NAMES, weight=1.6,
        patterns=["and {nq}", "and {nq}", "what about {nq}", "what about {nq}", "how about {nq}", "and for {nq}", "now {nq}", "{nq}", "and how much is {nq}", "and what's {nq}", "and what is {nq}", "same for {nq}", "the same for {nq}", "no {nq}",
            "i meant {nq}", "sorry {nq}", "make it {nq}", "make that {nq}", "what if it's {nq}", "then {nq}", "next {nq}", "and if i have {nq}", "or {nq}", "also {nq}", "okay and {nq}", "and how many in {nq}",
                  "and how many for {nq}", "what would {nq} be", "how much would {nq} be", "how much is {nq}", "what's {nq}", "and with {nq}", "and in {nq}", "do {nq}", "how many in {nq}", "no i meant {nq}", "now do {nq}", "now the same for {nq}",
                  "what about {nn}", "how about {nn}", "and {nn}", "and for {nn}", "what if it's {nn}", "and what about {nn}", "now {nn}", "no {nn}", "i meant {nn}", "make it {nn}", "and if it's {nn}", "same for {nn}", "try {nn}",
                  "and how much is {nn}", "what would {nn} be",
            "and what about {nq}", "what if i have {nq}", "and if it's {nq}", "okay {nq}", "okay what about {nq}", "how about for {nq}", "and then {nq}", "what is {nq}", "no {nq} i meant", "i said {nq}", "not that {nq}",
            "sorry i meant {nq}", "oh i meant {nq}", "let's do {nq}", "change it to {nq}", "try {nq}", "try it with {nq}", "now with {nq}", "same with {nq}", "the same with {nq}", "same but {nq}", "same thing with {nq}",
            "same thing for {nq}", "again with {nq}", "again for {nq}", "do the same for {nq}", "do the same with {nq}", "and how many is {nq}", "and {nq} how much", "{nq} please", "and {nq} please", "and {nq} too",
            "what does {nq} make", "what's {nq} then", "how much would {nq} make", "and just {nq}", "only {nq}", "and what about {nn} of them", "what about just {nn}", "how about {nn} then", "okay {nn}", "and what's {nn}",
            "and what is {nn}", "no i meant {nn}", "sorry {nn}", "sorry i meant {nn}", "i said {nn}", "not that {nn}", "change it to {nn}", "make that {nn}", "or {nn}", "same with {nn}", "the same for {nn}", "now with {nn}",
            "let's do {nn}", "and then {nn}", "do {nn}", "again with {nn}", "what's {nn} then", "and how many for {nn}", "how much would {nn} be", "and with {nn}", "try it with {nn}", "what if i have {nn}", "and if i have {nn}",
            "then {nn}",
        ],
        held=["how about if it's {nq}", "let's try {nq}", "could you do {nq} too", "and now the same with {nq}", "change it to {nn}", "okay what about {nn}"],
        slots={"nq": new_quantity, "nn": new_number}, call=other_value, **TOLD),
]

INTENTS = MATH_INTENTS + UNIT_INTENTS
