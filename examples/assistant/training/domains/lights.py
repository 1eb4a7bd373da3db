"""Lights: on and off, brightness, colours, and whether they are on. One call has one meaning: state, brightness, change or color, never two of them."""
from grammar import GLUE, ROOMS, Intent, Lexicon, joined

MORE_ROOMS = Lexicon("""boys room, girls room, twins room, baby's room, front hall, back room, sewing room, wine cellar, pool room, home office, home theater, breakfast nook, craft room, powder room, shower,
    staircase, front door, back door, front yard, backyard, bar, lobby, meeting room, conference room, ensuite, box room, sitting room, drawing room, main bedroom, small bedroom, big bedroom, first floor,
    second floor, ground floor, top floor, pool, barn, carport, walk-in closet, dressing room, hot tub, veranda, deck, winter garden, parlor, rec room, bonus room, man cave, washroom, restroom, bath, hobby room,
    kids bathroom, upstairs bathroom, downstairs bathroom, upstairs hallway, upstairs bedroom, small bathroom, second bedroom, guest bedroom, main hall, front porch, back porch, mezzanine, waiting room,
    stairwell, reception, shop, showroom, store room, camper, tent, chicken coop, stable, kitchenette, dining area, living area, entrance hall, gate, courtyard, roof, bunk room, movie room, cinema room""",
                     """boat house, server room, snug, scullery, cloakroom, breakfast room, annex, billiard room, gazebo, linen room""")
PEOPLE = Lexicon("""jimmy, anna, tom, mia, ben, sarah, lucas, emma, oliver, sophie, max, lily, jack, chloe, daniel, grace, henry, ella, noah, ruby, leo, zoe, sam, kate, peter, julia, alex, maria, david, laura,
    mom, dad, mum, grandma, grandpa, granny, mommy, daddy, nana, papa, paul, nina, eric, hannah, robert, alice, michael, eva, thomas, lena, george, molly, ryan, amy, adam, olivia, jacob, isabel, felix, rosa,
    carlos, priya, ahmed, yuki, ivan, fatima, chen, omar, ingrid, pedro, aisha, sven, raj, elena, mateo, freya, liam, ava, ethan, harry, charlotte, william, james, lucy, nick, megan, tim, rachel, joe, claire""",
                 """barnaby, winona, theo, matilda, jerome, agnes, clyde, tabitha, ezra, petra""")
LAMPS = Lexicon("""desk, floor, bedside, reading, table, standing, night, ceiling, wall, corner, piano, sofa, couch, mirror, fish tank, aquarium, christmas, christmas tree, tree, lava, salt, star, fairy, string, strip,
    led strip, moon, window, shelf, bookshelf, tv, sink, counter, island, stove, vanity, picture, painting, big, little, small, tall, main, overhead, spot, hanging, pendant, chair, work, computer, makeup, globe,
    paper, dresser, nightstand, under cabinet, cabinet, path, flood, security, motion, street, pond, fence, rope, disco, mushroom, lantern, left, right, left bedside, right bedside, old, new, pink, green, glass, bunny""",
                """banker's, easel, sideboard, arc, tiffany, crib, chandelier, headboard, dinosaur, hutch""")
COLORS = Lexicon("""red, blue, green, yellow, orange, purple, pink, white, violet, magenta, cyan, gold, lavender, rose, peach, coral, salmon, amber, mint, olive, teal, aqua, indigo, lilac, plum, silver, brown, beige,
    ivory, cream, crimson, party red, light blue, dark blue, deep red, soft pink, bright green, hot pink, sky blue, lime green, forest green, ocean blue, royal blue, navy blue, baby blue, baby pink, blood red,
    ruby red, cherry red, mint green, sunset orange, neon green, neon pink, electric blue, emerald green, mustard yellow, lemon yellow, pale blue, pastel pink, ice blue, dark green, light green, dark red, deep purple,
    light purple, bright yellow, bright red, pale yellow, soft white, pure white, daylight, golden, red, blue, green, purple, pink, orange, white, yellow, christmas green, halloween orange, grass green, pumpkin orange""",
                 """turquoise, maroon, burgundy, fuchsia, mauve, apricot, tangerine, scarlet, cobalt blue, chartreuse, sapphire blue""")

ADVERBS = ("upstairs", "downstairs", "outside")
ON = ("balcony", "porch", "patio", "terrace", "veranda", "deck", "stairs", "landing", "driveway", "first floor", "second floor", "ground floor", "top floor", "front porch", "back porch", "roof", "mezzanine")
UNCLEAR = ("car", "shower", "bath", "hot tub", "gate", "pool", "front door", "back door", "chicken coop", "tent", "fish tank")  # not rooms unless a light word says so
NEAR = ("front door", "back door", "entrance", "gate")


def safe(words):
    """Words to be copied into the call: the noise leaves them alone."""
    return words.replace(" ", GLUE) + GLUE


def owned(r):
    """jimmy's room: it takes no article."""
    first = r.split("'s ")
    return len(first) > 1 and first[0] not in ("children", "baby", "kid")


def a_room(g, bare=False):
    while True:
        x = g.rng.random()
        if x < 0.13:
            r = g.word(PEOPLE) + "'s " + g.pick(["room", "room", "room", "bedroom", "bedroom", "office", "study", "bathroom"])
        else:
            r = g.word(MORE_ROOMS if x < 0.4 else ROOMS)
        if not (bare and r.split()[0] in UNCLEAR or bare and r in UNCLEAR):
            return r


def some_rooms(g):
    """Two or three different rooms that take an article or a name."""
    n, out = (2 if g.chance(0.75) else 3), []
    while len(out) < n:
        r = a_room(g, bare=True)
        if r not in ADVERBS and r not in out:
            out.append(r)
    return out


def said_rooms(g, rooms, articles=True):
    style = g.below(3) if articles else 0
    if style == 1 and any(owned(r) for r in rooms):
        style = 0
    said = [("the " if style == 2 and not owned(r) or style == 1 and i == 0 else "") + safe(r) for i, r in enumerate(rooms)]
    if len(said) == 2:
        return said[0] + " and " + said[1]
    return g.pick([f"{said[0]} {said[1]} and {said[2]}", f"{said[0]}, {said[1]} and {said[2]}", f"{said[0]}, {said[1]}, and {said[2]}", f"{said[0]} and {said[1]} and {said[2]}"])


def familiar(r):
    """Known as a room: an unknown bare word ("in blue") could be a colour as well."""
    return r in ROOMS.train or r in MORE_ROOMS.train


def inside(g, r):
    if r in ADVERBS:
        return safe(r)
    if owned(r):
        return "in " + safe(r)
    if r in NEAR and g.chance(0.7):
        return g.pick(["at the ", "by the "]) + safe(r)
    if r in ON and g.chance(0.7):
        return "on the " + safe(r)
    return g.pick(["in the "] * 10 + ["in my ", "in our "] + (["in "] if familiar(r) else [])) + safe(r)


def with_article(g, r):
    if r in ADVERBS or owned(r):
        return safe(r)
    return g.pick(["the "] * 8 + ["my "] + ([""] if familiar(r) else [])) + safe(r)


# --- slots; rooms are tuples, which the call turns into lists

def room(g):
    r = a_room(g, bare=True)
    return safe(r), (r,)


def the(g):
    """A room, or several, as an object: "the kitchen"."""
    if g.chance(0.13):
        rooms = some_rooms(g)
        return said_rooms(g, rooms), tuple(rooms)
    r = a_room(g, bare=True)
    return with_article(g, r), (r,)


def at(g):
    if g.chance(0.13):
        rooms = some_rooms(g)
        return "in " + said_rooms(g, rooms), tuple(rooms)
    r = a_room(g)
    return inside(g, r), (r,)


def everywhere(g):
    return g.pick(["everywhere", "in the whole house", "in every room", "in all rooms", "in all the rooms", "all over the house", "throughout the house", "in the entire house", "in the whole apartment", "in the whole flat", "in the house"]), ("all",)


def where(g):
    """Nothing, a place, or everywhere."""
    x = g.rng.random()
    if x < 0.4:
        return g.pick(["", "", "", "in here", "here", "in this room"]), None
    return everywhere(g) if x > 0.93 else at(g)


def one_place(g):
    """Nothing or one place."""
    if g.chance(0.4):
        return g.pick(["", "in here", "in here", "here", "in this room"]), None
    r = a_room(g)
    return inside(g, r), (r,)


def noun(g, plain=False):
    """The lights meant: (text, rooms, whether it is plural). plain: no "all", no bare "lights"."""
    x = g.rng.random()
    if x < 0.28:
        text, plural = g.pick([("the lights", True)] * 5 + [("the light", False)] * 5 + [("the lamp", False), ("the lamps", True), ("my lights", True), ("my lamp", False), ("this light", False), ("these lights", True), ("that light", False)]
                              + ([] if plain else [("lights", True)] * 3 + [("light", False), ("lamp", False)]))
        return text, None, plural
    if x < 0.68:
        r = a_room(g)
        word = g.pick(["light"] * 9 + ["lights"] * 9 + ["lamp"] * 3 + ["lamps"])
        plural = word.endswith("s")
        y = g.rng.random()
        if y < 0.5:
            return ("" if owned(r) else g.pick(["the "] * 8 + ["my ", "our "])) + f"{safe(r)} {word}", (r,), plural
        if y < 0.65 and not plain:
            return f"{safe(r)} {word}", (r,), plural
        if y < 0.9:
            return f"the {word} {inside(g, r)}", (r,), plural
        return g.pick([(f"all the lights {inside(g, r)}", (r,), True), (f"all lights {inside(g, r)}", (r,), True), (f"every light {inside(g, r)}", (r,), False), (f"all {'' if owned(r) else 'the '}{safe(r)} lights", (r,), True)])
    if x < 0.8:
        rooms = some_rooms(g)
        text = g.pick(["the lights in " + said_rooms(g, rooms), said_rooms(g, rooms, articles=plain) + " lights", "the " + said_rooms(g, rooms, articles=False) + " lights", " and ".join(f"{'' if owned(r) else 'the '}{safe(r)} light" for r in rooms)])
        return text, tuple(rooms), True
    if x < 0.9:
        text, plural = g.pick([("all the lights", True), ("all lights", True), ("every light", False), ("all of the lights", True), ("all the lights in the house", True), ("the lights in every room", True), ("every lamp", False), ("all my lights", True),
            ("the lights everywhere", True),
                               ("all the lamps", True), ("every single light", False), ("each light", False), ("all the lights in the apartment", True), ("every light in the house", False), ("the lights in the whole house", True),
                                   ("all of my lights", True), ("all the lights at home", True), ("the lights in all rooms", True)])
        return text, ("all",), plural
    n, word = g.word(LAMPS), g.pick(["lamp", "lamp", "light", "light", "lights"])
    return g.pick(["the "] * 6 + ["my "] + ([] if plain else [""])) + f"{safe(n)} {word}", (n,), word == "lights"


def lights(g):
    text, rooms, _ = noun(g)
    return text, rooms


def lights_are(g):
    text, rooms, plural = noun(g, plain=True)
    return text + (" are" if plural else " is"), rooms


def are_lights(g):
    text, rooms, plural = noun(g, plain=True)
    return ("are " if plural else "is ") + text, rooms


def which(g):
    """Lights of a named room or lamp, for a further turn."""
    while True:
        text, rooms, _ = noun(g, plain=True)
        if rooms and rooms != ("all",):
            return text, rooms


def state(g):
    s = g.pick(["on", "off"])
    return s, (s,)


def number_of(g, a, b):
    if g.held:
        return g.number(a, b)
    return g.number(a - a % 10 + (10 if a % 10 else 0), b, 10) if g.chance(0.45) else g.number(a - a % 5 + (5 if a % 5 else 0), b, 5) if g.chance(0.5) else g.number(a, b)


def as_percent(g, n):
    return f"{n}{g.pick(['%', ' %', ' percent', '%', ' per cent', ' percent'])}" if g.chance(0.45) else f"{g.words(n)} {g.pick(['percent', 'percent', 'percent', 'per cent'])}"


PARTS = [("half", 50), ("half", 50), ("half brightness", 50), ("half power", 50), ("medium", 50), ("medium brightness", 50), ("a quarter", 25), ("a quarter", 25), ("one quarter", 25),
         ("three quarters", 75), ("full", 100), ("full brightness", 100), ("full power", 100), ("maximum", 100), ("the maximum", 100), ("maximum brightness", 100), ("max", 100), ("the max", 100),
         ("the highest setting", 100), ("the brightest setting", 100), ("full strength", 100), ("minimum", 10), ("the minimum", 10), ("minimum brightness", 10), ("the lowest", 10),
         ("the lowest setting", 10), ("the lowest level", 10), ("the dimmest setting", 10), ("the lowest brightness", 10), ("lowest", 10)]


def pct(g):
    n = 0 if g.chance(0.02) else number_of(g, 1, 100)
    return as_percent(g, n), n


def part(g):
    return g.pick(PARTS)


def level(g):
    x = g.rng.random()
    if x < 0.7:
        return pct(g)
    if x < 0.84:
        n = number_of(g, 10, 100)
        return g.say_number(n), n
    return part(g)


def low(g):
    n = number_of(g, 1, 60)
    return g.pick([(as_percent(g, n), n)] * 4 + [(g.say_number(n), n), g.pick([p for p in PARTS if p[1] <= 50])])


def high(g):
    n = number_of(g, 40, 100)
    return g.pick([(as_percent(g, n), n)] * 4 + [(g.say_number(n), n), g.pick([p for p in PARTS if p[1] >= 50])])


def step(g):
    """How much to dim by: not in the call, which only knows the direction."""
    n = number_of(g, 5, 50)
    return as_percent(g, n), n


def color(g):
    c = g.word(COLORS)
    return safe(c), (c,)


def hue(g):
    """A colour where an unknown word would be taken for a room ("kitchen light")."""
    c = g.pick(COLORS.held if g.held else COLORS.train)
    return safe(c), (c,)


def tone(g):
    return g.pick([("warm white", ("warm",)), ("warm white", ("warm",)), ("warm", ("warm",)), ("a warm white", ("warm",)), ("a warm tone", ("warm",)), ("a warm color", ("warm",)), ("cool white", ("cool",)), ("cool white", ("cool",)), ("cool", ("cool",)),
        ("cold white", ("cool",)), ("a cool tone", ("cool",)), ("a cool white", ("cool",))])


def warm_or_cool(g):
    return g.pick([("warm", ("warm",)), ("warm", ("warm",)), ("warm white", ("warm",)), ("cozy", ("warm",)), ("cool", ("cool",)), ("cool white", ("cool",)), ("cold", ("cool",)), ("cold white", ("cool",))])


def warmer(g):
    return g.pick([("warmer", ("warm",)), ("a bit warmer", ("warm",)), ("cooler", ("cool",)), ("colder", ("cool",)), ("a bit cooler", ("cool",))])


def much(g):
    """How much brighter: said, but without a place in the call."""
    return g.pick(["a bit", "a bit", "a little", "a little bit", "slightly", "a touch", "a lot", "much", "way", "a tad", "somewhat", "", "", ""]), None


def bit(g):
    return g.pick(["a bit", "a bit", "a little", "a little bit", "slightly", "a touch", "a lot", "a tad", "some", "a notch", "some more", "", "", ""]), None


SLOTS = {"room": room, "the": the, "at": at, "everywhere": everywhere, "in": where, "place": one_place, "lights": lights, "lights_are": lights_are, "are_lights": are_lights, "which": which, "state": state, "pct": pct, "part": part, "level": level,
    "low": low, "high": high, "step": step,
         "color": color, "hue": hue, "tone": tone, "warm": warm_or_cool, "warmer": warmer, "much": much, "bit": bit}


# --- calls and answers

def rooms_of(v):
    if v.get("all"):
        return {"rooms": ["all"]}
    for k in ("lights", "lights_are", "are_lights", "which", "the", "at", "in", "place", "everywhere", "room"):
        if v.get(k):
            return {"rooms": list(v[k])}
    return {}


def text_of(x):
    return x[0] if isinstance(x, tuple) else x


def switched(v):
    return {"state": text_of(v["state"])}


def leveled(v):
    return {"brightness": next(v[k] for k in ("brightness", "level", "pct", "part", "low", "high") if k in v)}


def changed(v):
    return {"change": v["change"]}


def colored(v):
    return {"color": text_of(next(v[k] for k in ("color", "hue", "tone", "warm", "warmer", "col") if k in v))}


def opening(action):
    return lambda v: ("set_light", {**rooms_of(v), **action(v)})


def same_place(v):
    """The rooms of the turn before."""
    return {k: x for k, x in v["prev"].get("args", {}).items() if k == "rooms"}


def same_action(v):
    return {k: x for k, x in v["prev"].get("args", {}).items() if k != "rooms"}


def continuing(action):
    return lambda v: ("set_light", {**same_place(v), **action(v)})


def again_at(v):
    """What the turn before did, in other rooms."""
    return v["prev"].get("tool") or "set_light", {**rooms_of(v), **same_action(v)}


def named(r):
    return r if owned(r) else "the " + r


def capital(s):
    return s[:1].upper() + s[1:]


def subject(rooms):
    """("The kitchen light", "is")"""
    if not rooms:
        return "The light", "is"
    if rooms == ["all"]:
        return "All lights", "are"
    return f"{capital(named(rooms[0]))}{'' if len(rooms) == 1 else joined([''] + rooms[1:])} light{'s' if len(rooms) > 1 else ''}", "is" if len(rooms) == 1 else "are"


def trouble(g, args):
    rooms = args.get("rooms", [])
    if not rooms:
        return g.pick(["the light does not answer", "there is no light in this room", "the light is not connected"])
    if rooms == ["all"]:
        return g.pick(["some lights do not answer", "the lights do not answer", "no lights are connected"])
    r = g.pick(rooms)
    light = named(r) + " light"
    options = [f"there is no {r} light", f"{light} does not answer", f"{light} is not connected"] + ([] if owned(r) or r in ADVERBS or r in LAMPS.train + LAMPS.held else [f"there is no light in the {r}"] * 3)
    if "color" in args:
        options += [f"{light} has no colors"] * 3
    if "brightness" in args or "change" in args:
        options += [f"{light} cannot be dimmed"] * 3
    return g.pick(options)


def done(g, v, args):
    return {"error": trouble(g, args)} if g.chance(0.09) else {"ok": True}


def found(g, v, args):
    if g.chance(0.08):
        return {"error": trouble(g, args)}
    rooms = args.get("rooms", [])
    if rooms == ["all"]:
        return {"on": some_rooms(g)[:g.pick([0, 1, 2, 2, 3])]}
    if not rooms:
        return {"on": [a_room(g)] if g.chance(0.5) else []}
    return {"on": [r for r in rooms if g.chance(0.5)]}


def say_light(g, v, args, result):
    if "error" in result:
        return f"Sorry, {result['error']}."
    rooms = args.get("rooms", [])
    if "on" in result:
        if not result["on"]:
            return "No lights are on." if rooms == ["all"] else "{} {} off.".format(*subject(rooms))
        return "{} {} on.".format(*subject(result["on"]))
    if "brightness" in args:
        what = f"at {args['brightness']} percent"
    elif "color" in args:
        what = {"warm": "warm white", "cool": "cool white"}.get(args["color"], args["color"])
    else:
        what = args.get("change") or args.get("state")
    return "{} {} {}.".format(*subject(rooms), what)


def answer(g, v, args):
    return found(g, v, args) if v["prev"].get("tool") == "get_light" else done(g, v, args)


SET = ("lights.switch", "lights.level", "lights.change", "lights.color", "lights.too", "lights.all.it", "lights.switch.it", "lights.level.it", "lights.change.it", "lights.color.it")
ASKED = ("lights.get", "lights.get.too", "lights.get.it")

INTENTS = [
    Intent(
        "lights.switch", weight=3.2,
        patterns=[
            "(turn|switch) {lights} {state}", "(turn|switch) {state} {lights}", "(turn|switch) {lights} {state}", "(turn|switch) {state} {lights}", "(put|flip|flick|get|click|set|have) {lights} {state}", "(flip|flick|click|power|put) {state} {lights}",
            "{lights} {state}", "{lights} {state}", "{state} with {lights}",
            "lights {state} {in}", "light {state} {in}", "lights {in} {state}", "lights {room} {state}", "light {room} {state}", "{room} lights {state}", "{room} light {state}", "{room} {state}", "{state} {room} lights", "{state} {lights}",
            "turn the lights {state} {in}", "turn the light {state} {in}", "turn {state} the lights {in}",
            "turn {state} the light {in}", "switch the light {state} {in}", "turn lights {state} {in}", "turn {state} light {in}", "(turn|switch) {the} {state}", "(turn|switch) {state} {the}", "(i want|i need|i'd like|we want|we need) {lights} {state}",
            "(i want|i'd like) {lights} turned {state}", "(i want|i'd like) {lights} to be {state}",
            "{lights} should be {state}", "{lights} should go {state}", "{lights} (go|goes) {state}", "{lights} to {state}", "set {lights} to {state}", "make {lights} go {state}", "make sure {lights_are} {state}", "see that {lights_are} {state}",
            "change {lights} to {state}", "{at} turn the lights {state}", "{at} turn {state} the light", "{at} lights {state}",
            "{at} the light {state}", "can i have {lights} {state}", "can we have {lights} {state}", "could we get {lights} {state}", "would you get {lights} {state} for me", "is it possible to turn {lights} {state}",
            "how about turning {lights} {state}", "i forgot to turn {lights} {state}", "time to turn {lights} {state}",
            "you can turn {lights} {state}", "you can turn {lights} {state} now", "you may turn {lights} {state}", "go turn {lights} {state}", "let's turn {lights} {state}", "let's get {lights} {state}", "hit {lights} {state}", "lamp {state} {in}",
            "bulb {state} {in}", "(turn|switch) {state} the bulb {in}", "(turn|switch) {state} the lighting {in}", "lighting {in} {state}",
            "toggle {lights} {state}", "i need to have {lights} {state}", "{lights} need to be {state}", "{lights} {state} at once", "get {the} lights {state}", "everything {state} {at}",
            # on
            "{lights} => state=on", "{room} lights => state=on", "{room} light => state=on", "light {in} => state=on", "light up {the} => state=on", "light {the} up => state=on", "light {the} => state=on", "illuminate {the} => state=on",
            "(activate|enable|start|power up|fire up|bring on|light|put on) {lights} => state=on", "bring {lights} on => state=on", "bring up {lights} => state=on",
            "hit the lights => state=on", "let there be light {in} => state=on", "(give me|i need|i want|we need|make|get me|bring me) [some] light {in} => state=on", "(give me|i need|i want) the light {in} => state=on",
            "(give me|i need|i want|can i have) {lights} => state=on", "i need [some] light to (read|cook|see|work|eat|sew|write) => state=on", "i'd like some light {in} => state=on",
            "could i have some light {in} => state=on", "can i get some light {in} => state=on", "can we have some light {in} => state=on", "i'm going into {the} turn on the light => state=on", "i'm in {the} turn the light on => state=on",
            "we're going to {the} turn the lights on => state=on", "open the lights {in} => state=on", "it's (getting|going) dark turn {lights} on => state=on", "it's dark {place} turn on the light => state=on",
            "i'm home turn on {lights} => state=on", "i'm home lights on => state=on", "somebody's at the door turn on {lights} => state=on", "wake up {lights} => state=on", "good morning turn on {lights} => state=on",
            "good morning lights on {in} => state=on", "there's no light {at} turn it on => state=on", "why is there no light {at} turn it on => state=on", "{lights_are} off turn it on => state=on", "{lights_are} still off turn it on => state=on",
            # off
            "(shut off|shut|kill|cut|put out|extinguish|deactivate|disable|close|shut down|power down|douse|blow out|lose|stop) {lights} => state=off", "shut {lights} off => state=off", "cut {lights} off => state=off", "put {lights} out => state=off",
            "lights out => state=off", "lights out {in} => state=off", "{room} lights out => state=off", "light out {in} => state=off", "{lights} out => state=off",
            "no lights {in} => state=off", "no more light {in} => state=off", "make {the} dark => state=off", "make it dark {place} => state=off", "make it completely dark {place} => state=off", "i want it dark {place} => state=off",
            "i want it pitch black {place} => state=off", "total darkness {in} => state=off", "darkness {in} => state=off", "black out {the} => state=off",
            "i'm leaving turn off {lights} => state=off", "i'm leaving {the} turn the light off => state=off", "i'm going to bed turn off {lights} => state=off", "i'm going to sleep lights off {in} => state=off",
            "we're going out turn off {lights} => state=off", "good night turn off {lights} => state=off", "good night lights off {in} => state=off", "good night lights out => state=off", "bedtime turn off {lights} => state=off",
            "bedtime lights out {in} => state=off", "time for bed turn {lights} off => state=off", "sleep time lights off {in} => state=off", "i don't need {lights} [anymore|any more|any longer|now] => state=off",
            "i don't need the light {in} anymore => state=off", "we don't need {lights} => state=off", "nobody is {at} turn off the light => state=off", "nobody's {at} turn the lights off => state=off", "i left {lights} on turn it off => state=off",
            "i forgot the light {at} => state=off", "i forgot to turn off the light {in} => state=off", "i left the light on {at} => state=off", "we left the lights on {at} => state=off", "{lights_are} still on turn it off => state=off",
            "{lights_are} on turn it off => state=off", "why {are_lights} still on turn it off => state=off", "save power turn off {lights} => state=off", "save energy and turn {lights} off => state=off", "done with {lights} => state=off",
            "don't leave {lights} on => state=off", "i want to sleep turn off {lights} => state=off", "let me sleep turn off {lights} => state=off", "i'm done {at} turn off the light => state=off", "movie time lights off {in} => state=off",
            "i'm going away turn off {lights} => state=off", "i'm not using {the} turn off the light => state=off", "i sleep better without light turn off {lights} => state=off", "i need to find something {at} turn on the light => state=on",
            "i'm looking for something {at} turn the light on => state=on",
            # the whole home
            "(turn|switch|shut) everything off => state=off, all=true", "(turn|switch|shut) off everything => state=off, all=true", "everything off => state=off, all=true", "good night turn everything off => state=off, all=true",
            "good night everything off => state=off, all=true", "all off => state=off, all=true", "turn it all off => state=off, all=true", "turn off the whole house => state=off, all=true",
            "the whole house dark => state=off, all=true", "make the whole house dark => state=off, all=true", "i'm leaving turn everything off => state=off, all=true", "i'm leaving the house lights off everywhere => state=off, all=true",
            "we're leaving all lights off => state=off, all=true", "turn (off every light|every light off) before (i go|we go|we leave|bed) => state=off, all=true", "(turn|switch) everything on => state=on, all=true", "everything on => state=on, all=true",
            "turn on everything => state=on, all=true", "light up the whole house => state=on, all=true", "light up every room => state=on, all=true", "all on => state=on, all=true", "lights {state} {everywhere}", "light {state} {everywhere}",
            "turn the lights {state} {everywhere}", "turn {state} the lights {everywhere}", "all lights {state} => all=true", "all the lights {state} => all=true", "all {state} {everywhere}", "no lights on anywhere => state=off, all=true",
            "everything off {at} => state=off", "turn off everything {at} => state=off", "turn everything off {at} => state=off",
        ],
        held=[
            "i'd love {lights} {state}", "have the lights go {state} {in}", "{lights} can go {state}", "let me have {lights} {state}", "it's time for {lights} to go {state}", "would be nice with {lights} {state}",
            "kindly see to it that {lights_are} {state}", "{the} needs light => state=on", "bring some light into {the} => state=on", "i want to see something {at} turn on the light => state=on",
            "nobody needs {lights} now => state=off", "leave {the} dark => state=off", "get rid of the light {in} => state=off", "no need for light {in} => state=off", "let {the} go dark => state=off", "i'm out of {the} so lights off => state=off",
            "get some light going {in} => state=on", "we can do without {lights} => state=off", "before we leave turn it all off => state=off, all=true", "let the house go dark => state=off, all=true",
        ],
        slots=SLOTS, call=opening(switched), result=done, say=say_light),
    Intent(
        "lights.level", weight=1.5,
        patterns=[
            "(set|put|turn|bring|change|adjust|get|move|have|take) {lights} (to|at) {level}", "(set|put|turn|change|adjust) {lights} to {level}", "set {lights} to {pct}", "set {lights} {pct}", "turn on {lights} (to|at|with) {pct}",
            "turn on {lights} at {level}", "turn {lights} on (to|at) {level}", "switch {lights} to {level}", "{lights} on at {pct}", "{lights} on {pct}",
            "(dim|lower|reduce|turn down|bring down|take down|drop|darken|decrease) {lights} to {low}", "(dim|turn|bring|take|tone) {lights} down to {low}", "dim {low}", "dim to {low}", "dim the lights to {low} {in}", "dim the light to {low} {in}",
            "dim {the} to {low}", "dim lights {low}", "(brighten|raise|turn up|bring up|increase|boost) {lights} to {high}", "(turn|bring|push|crank) {lights} up to {high}", "brighten to {high}", "brighten {the} to {high}",
            "{lights} (to|at) {level}", "{lights} {pct}", "{pct} {lights}", "{lights} {part}", "lights {in} to {level}", "lights to {level} {in}", "lights at {pct} {in}", "light {pct} {in}", "lights {pct} {in}", "{room} lights {pct}",
            "{room} light {level}", "{room} lights to {level}", "{room} {pct}", "{room} to {pct}", "{room} at {pct}", "{at} {pct}", "{pct} {at}",
            "{pct} brightness {in}", "{pct} light {in}", "brightness {pct} {in}", "brightness (to|at) {level} {in}", "brightness {level}", "{in} brightness {pct}", "light level {pct} {in}", "light level to {level} {in}",
            "set [the] brightness (of|for|on) {lights} to {level}", "set the brightness {in} to {level}", "set brightness to {level}", "(change|adjust|put|turn|bring|move) the brightness to {level} {in}",
            "(change|adjust) the brightness of {lights} to {level}",
            "set {the} brightness to {level}", "set the light level {in} to {level}", "(lower|reduce|decrease|bring down) the brightness {in} to {low}", "(raise|increase|turn up|bring up) the brightness {in} to {high}", "make {lights} {pct}",
            "make {lights} {pct} bright", "make it {pct} bright {place}", "make {the} {pct} bright", "(i want|i'd like|i need|we want) {lights} (at|on|to) {level}", "(i want|i'd like) {pct} brightness {in}",
            "(give me|let me have) {pct} light {in}", "(give me|i want) {pct} brightness {in}", "(set|put|turn) {the} (to|at) {pct}", "set {the} to {pct} brightness", "{lights} should be at {level}", "let {lights} be at {pct}", "{lights} only at {low}",
            "just {low} for {lights}", "only {pct} light {in}", "put {lights} on {pct}", "run {lights} at {pct}", "keep {lights} at {pct}", "can {lights} be at {pct}", "could we have {lights} at {level}",
            "how about {pct} {at}", "i think {pct} is enough light {place}", "it's enough to have {lights} at {pct}", "dimmer to {level} {in}", "set the dimmer to {level} {in}", "set the dimmer {in} to {pct}", "turn the dimmer to {level}",
            "light {the} at {pct}", "light up {the} to {high}", "{lights} brightness {level}", "{lights} brightness to {pct}", "set {lights} brightness {level}", "movie time {lights} to {low}", "{lights} at {part}", "set {lights} to {part}",
            "put {lights} at {part}", "{lights} to {part}", "turn {lights} to {part}",
            # full
            "(turn|put|bring|push) {lights} all the way up => brightness=100", "turn {lights} up all the way => brightness=100", "turn up {lights} all the way => brightness=100", "{lights} all the way up => brightness=100",
            "full (light|brightness|power) {in} => brightness=100", "maximum (light|brightness) {in} => brightness=100", "max brightness {in} => brightness=100", "{lights} full on => brightness=100", "{lights} full blast => brightness=100",
            "{lights} full => brightness=100", "{lights} to the max => brightness=100",
            "{lights} as bright as (possible|it gets|they go|you can) => brightness=100", "make {lights} as bright as (possible|it gets|they go|you can|can be) => brightness=100", "make it as bright as possible {place} => brightness=100",
            "max out {lights} => brightness=100", "crank {lights} all the way up => brightness=100", "i need all the light i can get {place} => brightness=100", "i need full light {in} => brightness=100",
            "i want it as bright as possible {place} => brightness=100", "give me all the light you have => brightness=100",
            "the brightest you can {in} => brightness=100", "brightest setting {in} => brightness=100", "{lights} at their brightest => brightness=100", "{lights} on full => brightness=100", "turn {lights} on full => brightness=100",
            # lowest
            "(turn|bring|put) {lights} all the way down => brightness=10", "dim {lights} all the way [down] => brightness=10", "dim {lights} as (much|low|far) as possible => brightness=10",
            "make {lights} as (dim|low|dark) as (possible|it gets|they go) => brightness=10", "{lights} as low as (possible|it goes|they go) => brightness=10", "{lights} on low => brightness=10", "{lights} on the lowest => brightness=10",
            "lowest (light|brightness|setting) {in} => brightness=10", "minimum (light|brightness) {in} => brightness=10", "{lights} low => brightness=10", "the least brightness {in} => brightness=10",
            "dimmest setting {in} => brightness=10", "i want the lowest light {in} => brightness=10", "turn {lights} down to the lowest => brightness=10", "the dimmest you can {in} => brightness=10", "{lights} at their lowest => brightness=10",
            "turn {lights} down low => brightness=10", "just a tiny bit of light {in} => brightness=10",
            # parts
            "half (light|brightness|power) {in} => brightness=50", "half the light {in} => brightness=50", "{lights} half => brightness=50", "{lights} halfway => brightness=50", "turn {lights} halfway (up|down) => brightness=50",
            "dim {lights} halfway => brightness=50", "dim {lights} (by|to) half => brightness=50", "cut {lights} in half => brightness=50", "half as bright {place} => brightness=50", "halve the brightness {in} => brightness=50",
            "half of the light is enough {place} => brightness=50", "a quarter of the light {in} => brightness=25", "{lights} a quarter => brightness=25", "{lights} three quarters => brightness=75",
            "three quarters brightness {in} => brightness=75", "medium light {in} => brightness=50", "{lights} on medium => brightness=50", "quarter brightness {in} => brightness=25",
        ],
        held=[
            "take {the} to {pct} light", "have the brightness at {pct} {in}", "{pct} is enough for {lights}", "i think {lights} should be {pct} bright", "let's have {pct} brightness {in}", "let me have {lights} at {level}",
            "get the light level {in} down to {low}", "move the dimmer {in} to {pct}", "see that {lights_are} at {pct}", "i only need {pct} light {in}",
            "{pct} would be good for {lights}", "push {lights} all the way => brightness=100", "all the light there is {in} => brightness=100", "let {the} have half the light => brightness=50", "the least light possible {in} => brightness=10",
        ],
        slots=SLOTS, call=opening(leveled), result=done, say=say_light),
    Intent(
        "lights.change", weight=1.6,
        patterns=[
            # brighter
            "(make|turn|get) {lights} {much} brighter => change=brighter", "{lights} {much} brighter => change=brighter", "{much} brighter {in} => change=brighter", "brighter {in} => change=brighter", "make it {much} brighter {place} => change=brighter",
            "make {the} {much} brighter => change=brighter", "(turn up|brighten|brighten up|raise|increase|boost|bring up|crank up) {lights} {bit} => change=brighter", "(turn|bring|crank|push|put) {lights} up {bit} => change=brighter",
            "brighten {the} {bit} => change=brighter", "brighten {the} up {bit} => change=brighter", "brighten it up {place} => change=brighter", "brighten up {in} => change=brighter",
            "(increase|raise|turn up|boost|bring up) the brightness {in} => change=brighter", "(increase|raise|turn up) the brightness of {lights} {bit} => change=brighter", "(increase|raise) {the} brightness => change=brighter",
            "brightness up {in} => change=brighter", "more brightness {in} => change=brighter",
            "more light {in} => change=brighter", "(give me|i need|i want|we need|i'd like|i could use|let me have) [a bit|a little|some] more light {in} => change=brighter", "(i need|i want|i'd like) {lights} {much} brighter => change=brighter",
            "(i want|i need|i'd like) it {much} brighter {place} => change=brighter", "{lights} up {bit} => change=brighter", "{lights} up => change=brighter", "{lights} should be {much} brighter => change=brighter",
            "can {lights} be {much} brighter => change=brighter", "can it be {much} brighter {place} => change=brighter", "could it be {much} brighter {place} => change=brighter",
            "can you see anything {place} it's so dark => change=brighter", "it's (too|so|very|pretty|really|a bit|a little|quite|rather|awfully) dark {place} => change=brighter", "it's dark {place} => change=brighter",
            "it's way too dark {place} => change=brighter", "it's getting dark {place} => change=brighter", "it's not bright enough {place} => change=brighter", "it's (too|so|a bit) (dim|gloomy) {place} => change=brighter",
            "it's pitch dark {place} => change=brighter", "too dark {in} => change=brighter", "too dim {in} => change=brighter", "so dark {in} => change=brighter", "not bright enough {in} => change=brighter", "not enough light {in} => change=brighter",
            "there's not enough light {place} => change=brighter", "there isn't enough light {place} => change=brighter", "there's too little light {place} => change=brighter", "{the} is (too|so|very|a bit|way too) (dark|dim|gloomy) => change=brighter",
            "{lights_are} (too|so|a bit|way too|very) (dim|dark|weak|low) => change=brighter", "{lights_are} not bright enough => change=brighter", "{lights_are} too dim for me => change=brighter", "i can't see {place} => change=brighter",
            "i can't see (anything|a thing|much|well|enough|my hands|where i'm going|what i'm doing) {place} => change=brighter", "i cannot see anything {place} => change=brighter",
            "i can (barely|hardly) see {place} => change=brighter", "i can barely see (anything|what i'm doing|my book) {place} => change=brighter", "we can't see anything {place} => change=brighter",
            "i can't (read|work|cook|find anything) in this light => change=brighter", "i can't read {place} it's too dark => change=brighter", "i need it brighter to (read|work|cook|write|sew) => change=brighter",
            "my eyes need more light => change=brighter", "i don't see enough {place} => change=brighter", "it's hard to (read|work|cook) {place} it's too dark => change=brighter", "why is it so dark {place} => change=brighter",
            "why {are_lights} so dim => change=brighter", "is it always this dark {place} => change=brighter",
            "who turned the lights down make it brighter => change=brighter", "let's have more light {in} => change=brighter", "can i get more light {in} => change=brighter", "could we have a bit more light {in} => change=brighter",
            "a bit more light {in} => change=brighter", "some more light {in} => change=brighter", "add some light {in} => change=brighter", "turn up {lights} by {step} => change=brighter",
            "(raise|increase|brighten) {lights} by {step} => change=brighter", "{step} brighter {in} => change=brighter", "turn the brightness up {bit} {in} => change=brighter", "undim {lights} => change=brighter",
            "i'm scared it's too dark {place} => change=brighter",
            # dimmer
            "dim {lights} {bit} => change=dimmer", "dim {lights} => change=dimmer", "dim {the} => change=dimmer", "dim the lights {in} => change=dimmer", "dim the light {bit} {in} => change=dimmer", "dim it down {place} => change=dimmer",
            "dim {in} => change=dimmer", "(make|turn|get) {lights} {much} (dimmer|darker|less bright) => change=dimmer", "{lights} {much} (dimmer|darker) => change=dimmer", "{much} (dimmer|darker) {in} => change=dimmer",
            "(dimmer|darker) {in} => change=dimmer", "make it {much} (dimmer|darker) {place} => change=dimmer", "make {the} {much} (dimmer|darker) => change=dimmer",
            "(turn down|lower|reduce|decrease|soften|tone down|bring down|darken) {lights} {bit} => change=dimmer", "(turn|bring|tone|take|dial|put) {lights} down {bit} => change=dimmer",
            "(lower|reduce|decrease|turn down|bring down) the brightness {in} => change=dimmer", "(lower|reduce|turn down) the brightness of {lights} {bit} => change=dimmer", "brightness down {in} => change=dimmer",
            "less brightness {in} => change=dimmer", "less light {in} => change=dimmer", "less bright {in} => change=dimmer", "(i need|i want|i'd like|we want) [a bit|a little] less light {in} => change=dimmer",
            "(i want|i'd like|i need) {lights} {much} (dimmer|darker) => change=dimmer", "(i want|i'd like) it {much} (dimmer|darker) {place} => change=dimmer", "{lights} down {bit} => change=dimmer", "{lights} down => change=dimmer",
            "{lights} should be {much} (dimmer|darker) => change=dimmer", "can {lights} be {much} (dimmer|darker) => change=dimmer", "can it be {much} darker {place} => change=dimmer",
            "it's (too|so|very|pretty|really|a bit|a little|quite|rather|way too) bright {place} => change=dimmer", "too bright {in} => change=dimmer", "way too bright {in} => change=dimmer", "too much light {in} => change=dimmer",
            "there's too much light {place} => change=dimmer", "there is way too much light {place} => change=dimmer", "that's too bright {place} => change=dimmer", "{the} is (too|so|very|a bit|way too) bright => change=dimmer",
            "{lights_are} (too|so|a bit|way too|very|much too) (bright|strong|harsh) => change=dimmer", "{lights_are} (hurting|blinding|killing) my eyes => change=dimmer", "{lights_are} blinding me => change=dimmer",
            "{lights_are} too strong for my eyes => change=dimmer", "my eyes hurt it's too bright {place} => change=dimmer", "my eyes hurt from {lights} => change=dimmer", "i'm blinded by {lights} => change=dimmer",
            "it's blinding {place} => change=dimmer", "it's so bright {place} my eyes hurt => change=dimmer", "i can't sleep it's too bright {place} => change=dimmer", "why is it so bright {place} => change=dimmer",
            "why {are_lights} so bright => change=dimmer", "it doesn't need to be so bright {place} => change=dimmer", "don't make it so bright {place} => change=dimmer", "not so bright {in} => change=dimmer", "softer light {in} => change=dimmer",
            "softer lights {in} => change=dimmer", "lower light {in} => change=dimmer", "a bit less light {in} => change=dimmer", "can we have less light {in} => change=dimmer", "dim {lights} by {step} => change=dimmer",
            "(reduce|lower|turn down) {lights} by {step} => change=dimmer", "{step} (dimmer|darker) {in} => change=dimmer", "turn the brightness down {bit} {in} => change=dimmer", "the baby is sleeping dim {lights} => change=dimmer",
            "movie time dim {lights} => change=dimmer", "we're watching a movie dim {lights} => change=dimmer", "dinner time dim {lights} => change=dimmer", "i have a headache dim {lights} => change=dimmer",
            "a romantic dinner so dim {lights} => change=dimmer", "low light {in} => change=dimmer", "dim light {in} => change=dimmer",
        ],
        held=[
            "i could use a bit more brightness {in} => change=brighter", "nobody can see anything {place} => change=brighter", "it could be brighter {place} => change=brighter", "push the brightness {in} up => change=brighter",
            "{the} needs more light => change=brighter", "how can anybody read {place} it's dark => change=brighter", "it's hard to see anything {place} => change=brighter", "add a bit of brightness {in} => change=brighter",
            "it could be darker {place} => change=dimmer", "{the} needs less light => change=dimmer", "take the brightness down {in} => change=dimmer", "i don't need so much light {place} => change=dimmer", "take some light away {in} => change=dimmer",
            "that's way too much light for me => change=dimmer", "have {lights} not so bright => change=dimmer",
        ],
        slots=SLOTS, call=opening(changed), result=done, say=say_light),
    Intent(
        "lights.color", weight=1.2,
        patterns=[
            "(make|turn|set|change|switch|color|paint|put) {lights} {color}", "(make|turn|paint|color|light) {the} {color}", "(set|change|switch|turn|put) {lights} to {color}", "(set|change|switch|turn) {the} to {color}", "turn {lights} on {color}",
            "turn {lights} on in {color}", "turn on {lights} in {color}", "{lights} {color}", "{lights} in {color}", "{lights} to {color}", "{room} lights {color}", "{room} light {color}", "{room} in {color}", "lights {color} {in}", "light {color} {in}",
            "{hue} light {in}", "{hue} lights {in}", "{hue} lighting {in}", "(i want|i'd like|we want|give me|let's have|make|put|show me|can i have|can we have|could i get) {hue} light {in}",
            "(i want|i'd like|we want|give me|let's have) {hue} lights {in}", "(i want|i'd like|i need) {lights} (in|to be|to turn) {color}", "(i want|i'd like) {the} (in|to be) {color}", "(i want|i'd like) {lights} {color}",
            "(set|change|switch|turn|put|adjust) the color of {lights} to {color}", "(set|change|switch|turn) the color {in} to {color}", "(set|change|switch|turn) the light color {in} to {color}",
            "(set|change|switch) the lights {in} to the color {color}", "set {lights} to a {color} color", "set {lights} to a nice {color}", "color {color} {in}", "light color {color} {in}", "color of {lights} {color}", "make it {color} {at}",
            "turn it {color} {at}",
            "use {color} for {lights}", "use {color} light {in}", "go {color} {at}", "go {color} with {lights}", "{color} for {lights}", "{color} for {the}", "light up {the} in {color}", "light {the} in {color}", "bathe {the} in {color}",
            "bathe {the} in {color} light", "can {lights} be {color}", "could {lights} be {color}", "could you do {color} {at}", "can you do {lights} in {color}", "can you make {lights} {color}", "{lights} should be {color}",
            "let {lights} (be|shine|glow) {color}", "let {the} glow {color}", "make {lights} (glow|shine) {color}", "make {the} glow {color}",
            "party time make {lights} {color}", "it's party time {color} lights {in}", "we're having a party turn {lights} {color}", "romantic mood {color} light {in}", "set the mood {in} with {color} light", "set the mood to {color} {in}",
            "mood light {color} {in}", "my favorite color is {color} make {lights} {color}", "the kids want {color} light {in}", "{at} {hue} light", "{at} make the lights {color}", "{at} turn the light {color}", "change {lights} from white to {color}",
            "color {lights} {color}", "color {the} in {color}", "how about {hue} light {in}", "how about {lights} in {color}", "give {the} a {color} color", "give {the} a {color} glow", "give {the} some {color} light",
            "a {color} glow {in}", "try {color} {at}", "try {lights} in {color}", "i feel like {color} light", "i'm in the mood for {color} light {in}", "dye {the} {color}", "turn the bulbs {color} {in}",
            # warm and cool white
            "(make|turn|set|change|switch|put) {lights} [to] {tone}", "(set|change|switch|turn) {lights} to {tone}", "{lights} {tone}", "{lights} to {tone}", "{warm} light {in}", "{warm} lights {in}", "{warm} lighting {in}",
            "(i want|i'd like|give me|let's have|make|we need|i need) {warm} light {in}", "(i want|i'd like) {lights} {tone}", "make {lights} {warmer}", "turn {lights} {warmer}", "{warmer} light {in}", "i want {warmer} light {in}",
            "i'd like the light {warmer} {place}", "{lights} {warmer}",
            "make the color of {lights} {warmer}", "set the color {in} to {tone}", "change the color temperature of {lights} to {tone}", "{lights_are} too (blue|cold) => col=warm", "the light {place} is too (blue|cold) => col=warm",
            "{lights_are} too (yellow|warm) => col=cool", "the light {place} is too (yellow|warm) => col=cool", "i don't like this cold light {place} => col=warm", "use {warm} light {in}", "can we have {warm} light {in}", "a {warm} light {in}",
            "switch to {warm} light {in}", "make the light {place} look {warmer}",
        ],
        held=[
            "have {lights} go {color}", "let's see {the} in {color}", "i'd love some {color} light {in}", "have {the} shine in {color}", "get {lights} to look {color}", "could it be {color} {at}", "{color} would be nice for {lights}",
            "{color} is the color i want {at}", "put some {color} into {the} lights", "do {lights} in {color}", "it's time for {color} light {in}", "have {the} in {warm} light", "have the light {place} in {tone}", "let me have the lights {color} {at}",
        ],
        slots=SLOTS, call=opening(colored), result=done, say=say_light),
    Intent(
        "lights.get", weight=1.2,
        patterns=[
            "{are_lights} (on|off)", "{are_lights} on", "{are_lights} still (on|off)", "{are_lights} (on|off) right now", "{are_lights} turned (on|off)", "{are_lights} switched (on|off)", "{are_lights} burning", "is the light (on|off) {in}",
            "are the lights (on|off) {in}", "is the light still on {in}", "are the lights still on {in}", "is there [a|any] light on {at}", "is there [a|any] light {at}", "are there any lights on {at}", "are any lights on {at}",
            "is any light on {at}", "is anything on {at}", "any lights on {at}", "any light on {at}", "lights on {at} or not", "{lights} on or off", "did i leave {lights} on", "did we leave {lights} on", "have i left {lights} on",
            "have i turned {lights} off", "did i turn {lights} off", "did i turn off {lights}", "did i switch {lights} off", "did i forget {lights}", "did i forget to turn off {lights}", "did somebody leave {lights} on", "did anyone leave the light on {in}",
            "did anybody turn off {lights}", "did the kids leave the light on {in}", "i think i left {lights} on is that so", "i'm not sure if {lights_are} off", "i don't know if {lights_are} on", "i don't know whether {lights_are} off",
            "(tell me|check|find out|see|can you see|can you tell|do you know|let me know|look) (if|whether) {lights_are} (on|off)", "(tell me|check|see) if the light is on {at}", "(check|check on) {lights}", "check the lights {in}",
            "(tell me|give me|show me|what's|what is) the (status|state) of {lights}",
            "status of {lights}", "{lights} status", "light status {in}", "what state {are_lights} in", "how {are_lights} set", "what's with {lights}", "is it lit {at}", "is {the} lit", "is {the} dark", "does {the} have the light on",
            "do i have {lights} on", "do we have {lights} on", "do the lights still burn {at}", "what about {lights} {place} on or off", "which lights are on {at}", "what lights are on {at}",
            "(which|what) lights are (on|still on|turned on|burning|on right now) => all=true", "(which|what) lights (did i|did we|have i) (leave|left) on => all=true", "(which|what) rooms have (the|their) lights on => all=true",
            "in which rooms is the light on => all=true", "in what rooms are the lights on => all=true", "where (is the light|are the lights|are lights|is a light) [still] on => all=true", "where did i leave the lights on => all=true",
            "where is there still light => all=true", "(are|is) any (lights|light) [still] on => all=true",
            "(are|is) there (any lights|a light|any light) [still] on => all=true", "are all the lights off => all=true", "are all lights off => all=true", "is every light off => all=true", "is everything off => all=true",
            "is everything turned off => all=true", "did i turn everything off => all=true", "did i turn off all the lights => all=true", "any lights on => all=true", "any lights left on => all=true", "any lights on in the house => all=true",
            "(list|tell me|show me|name|say) (the|all|all the) lights that are on => all=true", "show me which lights are on => all=true",
            "do i have any lights on => all=true", "did i leave any lights on => all=true", "did i leave a light on somewhere => all=true", "are there lights on anywhere => all=true", "is the light on anywhere => all=true",
            "give me the status of all lights => all=true", "are the lights on {everywhere}", "is the house dark => all=true", "how many lights are on => all=true",
        ],
        held=["would you know if {lights_are} on", "are we sure {lights_are} off", "can i be sure {lights_are} off", "what are the lights doing {at}", "have a look if {lights_are} on", "is somebody using the light {at}", "have you turned {lights} off",
            "how is the light {at} is it on", "any room with the light on => all=true", "is there a room with the lights on => all=true", "which rooms are lit => all=true", "have we left something on => all=true"],
        slots=SLOTS, call=lambda v: ("get_light", rooms_of(v)), result=found, say=say_light),
    # --- second and third turns
    Intent(
        "lights.too", follows=SET + ("lights.instead",), weight=1.6,
        patterns=[
            "and {at} too", "and {at}", "and {at} as well", "{at} too", "{at} as well", "also {at}", "and also {at}", "{the} too", "{the} as well", "and {the} too", "and {the}", "and {the} as well", "also {the}", "and also {the}", "now {the}",
            "now {at}", "and now {the}", "then {the}", "{which} too", "and {which}", "and {which} too", "also {which}", "{which} as well", "and {which} as well", "now {which}", "the same {at}", "same {at}", "same for {the}", "same thing {at}",
            "the same for {the}", "the same for {which}", "do the same {at}", "do the same for {the}", "do the same with {which}", "do {the} too", "do {which} too", "do that {at} too", "do that {at} as well", "do it {at} too", "do it {at} as well",
            "and do {the}", "how about {the} too", "{the} also", "{which} also", "{at} also", "{the} same thing", "include {the}", "plus {the}", "{the} likewise", "and {the} please", "repeat that {at}", "repeat it for {the}", "i'd like that {at} too",
            "i want the same {at}", "not only there {at} too", "add {the}",
        ],
        held=["have {the} the same", "let's do that {at} as well", "and then {the} too", "could you repeat that for {which}", "{at} i want the same", "and the same thing for {which}"],
        slots=SLOTS, call=again_at, result=answer, say=say_light),
    Intent(
        "lights.instead", follows=SET + ASKED + ("lights.instead",), weight=0.9,
        patterns=[
            "no i meant {the}", "no i meant {which}", "i meant {the}", "i meant {at}", "i meant {which}", "no {the}", "no {at}", "no {which}", "no not there {at}", "not there {at}", "not that one {which}", "no not that one {which}",
            "sorry i meant {the}", "sorry {the}", "sorry {which}", "sorry i mean {the}", "i mean {the}", "i mean {at}", "i said {the}", "no i said {the}", "i said {which}", "no i want that {at}", "wrong room {the}", "wrong room i meant {the}",
            "wrong light {which}", "wrong one i meant {which}",
            "actually {the}", "actually {at}", "actually i meant {which}", "{the} instead", "{which} instead", "{at} instead", "make that {the}", "make that {which}", "oops {the}", "oops i meant {which}", "no no {the}", "no wait {the}", "not here {at}",
            "not that room {the}", "no that's wrong {the}", "that's the wrong one i meant {which}", "no do it {at}", "i'm talking about {the}", "no i'm talking about {which}", "rather {the}", "rather {at}",
        ],
        held=["that was the wrong room i want {the}", "no i was talking about {the}", "no it should be {which}", "you got it wrong {the}", "i was talking about {which}"],
        slots=SLOTS, call=again_at, result=answer, say=say_light),
    Intent(
        "lights.all.it", follows=SET + ("lights.instead",), weight=0.6,
        patterns=["all of them", "all lights", "all the lights", "no all of them", "no all lights", "everywhere", "and everywhere else", "{everywhere}", "{everywhere} please", "do it {everywhere}", "do that {everywhere}", "i meant all of them",
            "i meant everywhere", "i mean all of them", "all of them please", "every one of them", "every light", "do all of them", "all rooms", "every room", "do it for all rooms", "do that for every room", "the whole house", "and the rest",
            "the other ones too",
                  "and all the others", "all the others too", "and the other lights", "the others too", "make that all of them", "the same for all lights", "the same {everywhere}", "and all the other rooms", "and the rest of the house"],
        held=["i want that for all of them", "have it the same in every room", "each one of them please", "not just this one all of them"],
        slots=SLOTS, call=lambda v: (lambda tool, args: (tool, {"rooms": ["all"], **args}))(v["prev"].get("tool") or "set_light", same_action(v)), result=answer, say=say_light),
    Intent(
        "lights.switch.it", follows=SET + ASKED + ("lights.instead",), weight=1.5,
        patterns=["(turn|switch|put) (it|them) {state}", "(turn|switch|put) (it|them) {state} again", "(turn|switch|put) (it|them) back {state}", "back {state}", "{state} again", "and {state} again", "and {state}", "{state}", "{state} now",
            "now {state}", "okay {state}", "(turn|switch) (that|that one|those|this) {state}", "(turn|switch) {state} again", "turn {state}", "switch {state}", "just turn (it|them) {state}", "no turn (it|them) {state}", "no {state}", "{state} please",
            "and now {state} again", "i want (it|them) {state}",
                  "i meant {state}", "no i meant {state}", "(it|they) should be {state}", "turn (it|them) {state} then", "then turn (it|them) {state}", "okay turn (it|them) {state} now", "lights {state} again", "the light {state} again",
                  "turn the light back {state}", "turn the lights {state} again", "change my mind turn (it|them) {state}", "actually turn (it|them) {state}", "never mind turn (it|them) {state}", "on second thought {state}", "light {state}",
                  "lights back {state}", "light back {state}",
                  "shut (it|them) off => state=off", "kill (it|them) => state=off", "shut off again => state=off", "put (it|them) out => state=off", "i don't need (it|them) anymore => state=off", "enough light turn (it|them) off => state=off",
                  "okay that's it lights out => state=off", "forget it turn (it|them) off => state=off", "bring (it|them) back => state=on"],
        held=["have (it|them) {state} again", "let's have (it|them) back {state}", "i'd like (it|them) {state} after all", "get (it|them) {state} again", "(it|they) can go {state} now"],
        slots=SLOTS, call=continuing(switched), result=done, say=say_light),
    Intent(
        "lights.change.it", follows=SET + ("lights.instead", "lights.more", "lights.less", "lights.toomuch"), weight=1.5,
        patterns=["make (it|them|that) {much} brighter => change=brighter", "{much} brighter => change=brighter", "brighter => change=brighter", "and {much} brighter => change=brighter", "(brighten|brighten up) (it|them) {bit} => change=brighter",
            "brighten (it|them) up {bit} => change=brighter", "still too dark => change=brighter", "it's still too dark => change=brighter", "too dark => change=brighter", "now it's too dark => change=brighter", "that's too dark => change=brighter",
            "that's too dim => change=brighter", "not bright enough => change=brighter",
                  "it's not bright enough => change=brighter", "can it be {much} brighter => change=brighter", "could it be brighter => change=brighter", "i still can't see => change=brighter", "i still can't see anything => change=brighter",
                  "more light => change=brighter", "a bit more light => change=brighter", "even brighter => change=brighter", "no brighter => change=brighter", "i want (it|them) {much} brighter => change=brighter",
                  "raise the brightness => change=brighter", "more brightness => change=brighter", "lighter => change=brighter", "not that dark => change=brighter",
                  "make (it|them|that) {much} (dimmer|darker) => change=dimmer", "{much} (dimmer|darker) => change=dimmer", "(dimmer|darker) => change=dimmer", "and {much} (dimmer|darker) => change=dimmer", "dim (it|them|that) {bit} => change=dimmer",
                  "dim (it|them) down {bit} => change=dimmer", "and dim (it|them) {bit} => change=dimmer", "still too bright => change=dimmer", "it's still too bright => change=dimmer", "too bright => change=dimmer", "too bright now => change=dimmer",
                  "now it's too bright => change=dimmer", "that's too bright => change=dimmer", "that's a bit too bright => change=dimmer",
                  "can it be {much} (dimmer|darker) => change=dimmer", "my eyes hurt => change=dimmer", "it hurts my eyes => change=dimmer", "less light => change=dimmer", "a bit less light => change=dimmer", "even (dimmer|darker) => change=dimmer",
                  "no darker => change=dimmer", "i want (it|them) {much} (dimmer|darker) => change=dimmer", "lower the brightness => change=dimmer", "not so bright => change=dimmer", "not that bright => change=dimmer", "less bright => change=dimmer",
                  "softer => change=dimmer", "a little softer => change=dimmer", "that's blinding => change=dimmer"],
        held=["let's have it a bit brighter => change=brighter", "it could be a bit brighter => change=brighter", "i need to see more => change=brighter", "it needs to be brighter => change=brighter", "let's have it a bit darker => change=dimmer",
            "it could be a bit dimmer => change=dimmer", "it needs to be dimmer => change=dimmer", "that's way too bright for me => change=dimmer"],
        slots=SLOTS, call=continuing(changed), result=done, say=say_light),
    Intent(
        "lights.level.it", follows=SET + ("lights.instead", "lights.more", "lights.less", "lights.toomuch"), weight=1.3,
        patterns=["to {pct}", "at {pct}", "to {level}", "{pct}", "{pct}", "{part}", "make (it|them|that) {level}", "make (it|that) {pct}", "set (it|them) to {level}", "put (it|them) (at|to|on) {level}", "turn (it|them) to {level}",
            "bring (it|them) to {level}", "dim (it|them) to {low}", "(turn|bring) (it|them) down to {low}", "(turn|bring) (it|them) up to {high}", "no {level}", "no make it {level}", "no i said {pct}", "i said {pct}", "i meant {level}", "and to {pct}",
            "and {pct}", "and set (it|them) to {pct}", "now {pct}",
                  "now to {level}", "change (it|that) to {level}", "brightness {level}", "brightness to {level}", "set the brightness to {level}", "{pct} brightness", "only {level}", "just {pct}", "let's say {level}", "let's try {level}", "try {level}",
                  "how about {pct}", "{pct} instead", "rather {pct}", "better {pct}", "sorry {pct}", "actually {pct}", "{pct} is enough", "i want (it|them) at {pct}", "all the way up => brightness=100", "turn (it|them) all the way up => brightness=100",
                  "full => brightness=100", "full brightness => brightness=100", "as bright as possible => brightness=100",
                  "maximum => brightness=100", "all the way down => brightness=10", "as low as possible => brightness=10", "lowest => brightness=10", "the minimum => brightness=10", "half => brightness=50", "half of that => brightness=50",
                  "dim (it|them) by half => brightness=50"],
        held=["let's have (it|them) at {pct}", "have (it|them) on {level}", "i think {pct} is enough", "go to {pct}", "take (it|them) to {level}", "would {pct} be possible"],
        slots=SLOTS, call=continuing(leveled), result=done, say=say_light),
    Intent(
        "lights.color.it", follows=SET + ("lights.instead",), weight=1.3,
        patterns=["make (it|them|that) {color}", "turn (it|them) {color}", "change (it|them) to {color}", "set (it|them) to {color}", "switch (it|them) to {color}", "now {color}", "now make (it|them) {color}", "now in {color}", "in {color}",
            "and in {color}", "and make (it|them) {color}", "and now {color}", "no {color}", "no make (it|them) {color}", "no i meant {color}", "i meant {color}", "i said {color}", "try {color}", "try it in {color}", "let's try {color}",
            "{color} instead", "{color} please", "how about {color}", "maybe {color}", "rather {color}",
                  "{color} is better", "i want (it|them) {color}", "i'd like (it|them) in {color}", "i prefer {color}", "can (it|they) be {color}", "can you make (it|them) {color}", "color {color}", "set the color to {color}",
                  "change the color to {color}", "make the color {color}", "{hue} light", "{hue} light instead", "actually {color}", "sorry {color}", "not that color {color}", "(it|they) should be {color}", "then {color}", "make (it|them) {tone}",
                  "set (it|them) to {tone}", "{tone}", "{warm} light", "{warm} light instead", "make (it|them) {warmer}", "change (it|them) to {tone}", "now {tone}"],
        held=["let me see (it|them) in {color}", "have (it|them) {color}", "what about {color}", "would {color} be possible", "{color} would be better", "go with {color}"],
        slots=SLOTS, call=continuing(colored), result=done, say=say_light),
    Intent(
        "lights.more", follows=("lights.change", "lights.change.it", "lights.more"), weight=1.2,  # the same direction once more
        patterns=["more", "a bit more", "a little more", "some more", "even more", "more please", "a little bit more", "again", "once more", "one more time", "still more", "keep going", "go on", "further", "a bit further", "not enough",
            "still not enough", "that's not enough", "it's not enough", "do that again", "do it again", "and again", "and a bit more", "and once more", "a touch more", "a tad more", "a lot more", "much more", "continue", "another bit", "a notch more",
            "one more notch", "more than that", "the same again"],
        held=["another little bit", "do some more", "make it even more", "let's have a bit more of that"],
        slots=SLOTS, call=lambda v: ("set_light", dict(v["prev"].get("args", {}))), result=done, say=say_light),
    Intent(
        "lights.toomuch", follows=("lights.change", "lights.change.it", "lights.more"), weight=0.5,  # the other direction
        patterns=["too much", "that's too much", "that was too much", "not so much", "not that much", "that's a bit too much", "a bit too much", "whoa too much", "no too much", "oh that's too much", "not quite so much", "back a bit", "go back a bit",
            "a bit back", "undo that a little", "no the other way", "the other way", "the opposite", "i meant the other way around", "no the opposite"],
        held=["much too much", "that's way too much", "no do the opposite", "take some of that back"],
        slots=SLOTS, call=lambda v: ("set_light", {**same_place(v), "change": "dimmer" if v["prev"].get("args", {}).get("change") == "brighter" else "brighter"}), result=done, say=say_light),
    Intent(
        "lights.less", follows=("lights.level", "lights.level.it"), weight=0.8,
        patterns=["more => change=brighter", "a bit more => change=brighter", "a little more => change=brighter", "some more => change=brighter", "more please => change=brighter", "a little bit more => change=brighter", "not enough => change=brighter",
            "that's not enough => change=brighter", "up a bit => change=brighter", "turn it up a bit => change=brighter", "a bit up => change=brighter", "a touch more => change=brighter", "higher => change=brighter", "a bit higher => change=brighter",
            "a notch higher => change=brighter", "too low => change=brighter", "that's too low => change=brighter",
                  "less => change=dimmer", "a bit less => change=dimmer", "a little less => change=dimmer", "less please => change=dimmer", "a little bit less => change=dimmer", "too much => change=dimmer", "that's too much => change=dimmer",
                  "not so much => change=dimmer", "not that much => change=dimmer", "down a bit => change=dimmer", "turn it down a bit => change=dimmer", "a bit down => change=dimmer", "a touch less => change=dimmer", "lower => change=dimmer",
                  "a bit lower => change=dimmer", "a notch lower => change=dimmer", "too high => change=dimmer", "that's too high => change=dimmer"],
        held=["give me a bit more => change=brighter", "that's way too low => change=brighter", "let's have a bit less => change=dimmer", "that's way too high => change=dimmer"],
        slots=SLOTS, call=continuing(changed), result=done, say=say_light),
    Intent(
        "lights.get.too", follows=ASKED, weight=1.8,
        patterns=["and {at}", "and {the}", "what about {the}", "what about {at}", "what about {which}", "how about {the}", "how about {at}", "how about {which}", "and {which}", "and {which} too", "{the} too", "and {at} too", "also {at}",
            "is it on {at} too", "is it also on {at}", "and is it on {at}", "and is the light on {at}", "are they on {at}", "and what about {the}", "and how about {which}", "same question for {the}", "and {the} as well", "check {the} too",
            "check {the} as well", "and also {the}", "now {the}", "and now {the}", "the same {at}", "the same for {the}", "{the} as well"],
        held=["then what about {at}", "and how is it {at}", "can you check {the} too", "what's with {the}"],
        slots=SLOTS, call=lambda v: ("get_light", rooms_of(v)), result=found, say=say_light),
    Intent(
        "lights.get.it", follows=SET + ("lights.instead",), weight=0.5,
        patterns=["is it on", "is it on now", "is it off", "is it off now", "are they on", "are they off now", "is it really off", "is it really on", "are they really off", "did it go on", "did it go off", "did they go off", "did it work is it on",
            "check if it's on", "check if they're off", "is it still on", "are they still on", "is it on yet", "and is it on now", "are you sure it's off", "so is it on or off", "is the light on now", "are the lights off now", "tell me if it's on",
            "did they turn off"],
        held=["can you see if it's on", "are we sure it's off", "do you know if it's on now"],
        slots=SLOTS, call=lambda v: ("get_light", same_place(v)), result=found, say=say_light),
]
