"""Heating, cooling and the temperature inside. A temperature alone is the target; change, degrees or mode say the rest, and never a target with a mode."""
from grammar import GLUE, ROOMS, Intent, Lexicon, arguments, plural

MORE_ROOMS = Lexicon("""boys room, girls room, twins room, baby's room, back room, sewing room, wine cellar, pool room, home office, home theater, craft room, ensuite, conference room, meeting room, sitting room,
    drawing room, main bedroom, small bedroom, big bedroom, first floor, second floor, ground floor, top floor, dressing room, winter garden, parlor, rec room, bonus room, man cave, washroom, restroom, hobby room,
    kids bathroom, upstairs bathroom, downstairs bathroom, upstairs bedroom, small bathroom, second bedroom, guest bedroom, guest house, mobile home, entrance hall, reception, shop, camper, movie room, classroom,
    waiting room, dining area, living area, kitchenette, summer house, apartment upstairs, car, car, car""",
                     """server room, snug, breakfast room, annex, linen room, billiard room, cloakroom""")
PEOPLE = Lexicon("""jimmy, anna, tom, mia, ben, sarah, lucas, emma, oliver, sophie, max, lily, jack, chloe, daniel, grace, henry, ella, noah, ruby, leo, zoe, sam, kate, peter, julia, alex, maria, david, laura,
    mom, dad, mum, grandma, grandpa, granny, mommy, daddy, paul, nina, eric, hannah, robert, alice, michael, eva, george, ryan, amy, adam, jacob, isabel, felix, rosa, carlos, priya, omar, ivan, liam, nick, lucy""",
                 """barnaby, winona, theo, matilda, jerome, agnes, clyde, tabitha, ezra, petra""")
OPEN_AIR = ("outside", "balcony", "porch", "patio", "garden", "terrace", "driveway", "back", "stairs", "entrance", "closet")  # no heating there: the weather's business
ADVERBS = ("upstairs", "downstairs")
ON = ("first floor", "second floor", "ground floor", "top floor", "landing")


def safe(words):
    """Words to be copied into the call: the noise leaves them alone."""
    return words.replace(" ", GLUE) + GLUE


def owned(r):
    """jimmy's room: it takes no article."""
    first = r.split("'s ")
    return len(first) > 1 and first[0] not in ("children", "baby", "kid")


def a_room(g):
    while True:
        x = g.rng.random()
        if x < 0.12:
            return g.word(PEOPLE) + "'s " + g.pick(["room", "room", "room", "bedroom", "bedroom", "office", "study", "bathroom"])
        r = g.word(MORE_ROOMS if x < 0.4 else ROOMS)
        if r == "back room" or r.split()[0] not in OPEN_AIR:
            return r


def inside(g, r):
    if r in ADVERBS:
        return safe(r)
    if owned(r):
        return "in " + safe(r)
    if r in ON:
        return "on the " + safe(r)
    return g.pick(["in the "] * 10 + ["in my ", "in our ", "in "]) + safe(r)


# --- slots; rooms are tuples of one, so that only the room itself is kept from the noise

def room(g):
    r = a_room(g)
    return safe(r), (r,)


def the(g):
    r = a_room(g)
    return safe(r) if r in ADVERBS or owned(r) else g.pick(["the "] * 8 + ["my ", "our "]) + safe(r), (r,)


def at(g):
    r = a_room(g)
    return inside(g, r), (r,)


def where(g):
    """Nothing, the whole home (which is the same), or a room."""
    x = g.rng.random()
    if x < 0.5:
        return g.pick(["", "", "", "", "in here", "here", "in the house", "at home", "in the whole house", "everywhere", "in the apartment"]), None
    return at(g)


def here(g):
    """For complaints and questions: a place is often said."""
    if g.chance(0.5):
        return g.pick(["in here", "in here", "in here", "in here", "here", "in this room", "inside", "in the house", "in this house", "at home"]), None
    return at(g)


def named(g, words):
    """"the heating", "the bedroom heating", "the heating in the bedroom" """
    w, x = g.pick(words), g.rng.random()
    if x < 0.45:
        return g.pick(["the ", "the ", "the ", "the ", "my ", "our ", ""]) + w, None
    r = a_room(g)
    if x < 0.7:
        return ("" if owned(r) else g.pick(["the ", "the ", "the ", "my ", ""])) + f"{safe(r)} {w}", (r,)
    return f"the {w} {inside(g, r)}", (r,)


def thermo(g):
    return named(g, ["thermostat", "thermostat", "temperature", "temperature", "heating", "heat", "heater"])


def control(g):
    return named(g, ["thermostat", "thermostat", "thermostat", "climate control", "temperature control"])


def heating(g):
    return named(g, ["heating", "heating", "heat", "heat", "heater", "radiator", "furnace", "central heating", "radiators"])


def cooling(g):
    return named(g, ["ac", "ac", "air conditioning", "air conditioner", "air con", "a c", "cooling", "aircon", "air conditioning unit"])


def number_of(g, a, b):
    return g.number(a, b)


def target(g):
    return g.number(15, 28) if g.chance(0.6) else g.number(60, 80) if g.chance(0.75) else g.number(5, 95)


def deg(g):
    """A temperature with its unit."""
    n = target(g)
    return f"{g.say_number(n)} {g.pick(['degrees'] * 8 + ['degrees celsius' if n < 40 else 'degrees fahrenheit', 'celsius' if n < 40 else 'fahrenheit'])}" if g.chance(0.93) else f"{n}°", n


def temp(g):
    """A temperature with or without its unit."""
    if g.chance(0.6):
        return deg(g)
    n = target(g)
    return g.say_number(n), n


def amount(g):
    if g.chance(0.25):
        return g.pick([("a degree", 1), ("one degree", 1), ("1 degree", 1), ("a couple of degrees", 2), ("a couple degrees", 2)])
    n = g.number(2, 10) if g.chance(0.85) else g.number(2, 20)
    return f"{g.say_number(n)} degrees", n


def more_amount(g):
    n = g.number(1, 8)
    return (g.pick(["one more degree", "another degree", "one degree more", "1 more degree"]), 1) if n == 1 else (g.pick([f"{g.say_number(n)} more degrees", f"another {g.say_number(n)} degrees", f"{g.say_number(n)} more"]), n)


def much(g):
    return g.pick(["a bit", "a bit", "a little", "a little bit", "slightly", "a touch", "a lot", "much", "a tad", "somewhat", "", "", ""]), None


def bit(g):
    return g.pick(["a bit", "a bit", "a little", "a little bit", "slightly", "a touch", "a lot", "a tad", "some", "a notch", "", "", ""]), None


def state(g):
    s = g.pick(["on", "off"])
    return s, (s,)


SLOTS = {"room": room, "the": the, "at": at, "in": where, "here": here, "thermo": thermo, "control": control, "heating": heating, "cooling": cooling, "deg": deg, "temp": temp, "amt": amount, "more": more_amount, "much": much, "bit": bit, "state": state}


# --- calls and answers

def place(v):
    for k in ("thermo", "control", "heating", "cooling", "the", "at", "in", "here", "room"):
        if v.get(k):
            r = v[k] if isinstance(v[k], str) else v[k][0]
            return {"room": r}
    return {}


def same_place(v):
    return arguments(v["prev"].get("args", {}), "room")


def degrees(v):
    return {"temperature": v["deg"] if "deg" in v else v["temp"]}


def changed(v):
    n = v["amt"] if "amt" in v else v.get("more")
    return {"change": v["change"], **({"degrees": n} if n else {})}


def moded(v):
    return {"mode": v["mode"]} if "mode" in v else {"mode": v["state"][0]}


def opening(action):
    return lambda v: ("set_thermostat", {**place(v), **action(v)})


def continuing(action):
    return lambda v: ("set_thermostat", {**same_place(v), **action(v)})


def ask(v):
    return "get_temperature", place(v)


def again_at(v):
    """What the turn before did or asked, in another room."""
    return v["prev"].get("tool") or "set_thermostat", {**place(v), **{k: x for k, x in v["prev"].get("args", {}).items() if k != "room"}}


def again(v):
    return "set_thermostat", dict(v["prev"].get("args", {}))


def further(v):
    """The same direction again, by another amount or by none."""
    return "set_thermostat", {**same_place(v), **changed({**v, "change": v["prev"].get("args", {}).get("change", "up")})}


def back(v):
    return "set_thermostat", {**same_place(v), "change": "down" if v["prev"].get("args", {}).get("change") == "up" else "up"}


def located(r):
    """in the kitchen, upstairs, in jimmy's room"""
    return r if r in ADVERBS else ("in " if owned(r) else "on the " if r in ON else "in the ") + r


def capital(s):
    return s[:1].upper() + s[1:]


def done(g, v, args):
    if not g.chance(0.09):
        return {"ok": True}
    if "room" not in args:
        return {"error": g.pick(["the thermostat does not answer", "the heating does not answer", "the thermostat is not connected"])}
    return {"error": g.pick([f"there is no thermostat {located(args['room'])}", f"there is no heating {located(args['room'])}", f"the thermostat {located(args['room'])} does not answer"])}


def measured(g, v, args):
    if g.chance(0.09):
        return {"error": f"there is no thermometer {located(args['room'])}" if "room" in args else "the thermometer does not answer"}
    n = g.number(12, 29) if g.chance(0.7) else g.number(55, 85)
    return {"temperature": f"{n}.{g.between(1, 9)} degrees" if g.chance(0.15) else f"{n} degrees"}


def say(g, v, args, result):
    if "error" in result:
        return f"Sorry, {result['error']}."
    r = args.get("room")
    there = " " + located(r) if r else ""
    if "temperature" in result:
        return f"It is {result['temperature']}{there or ' inside'}."
    if "temperature" in args:
        return f"{capital(r if r in ADVERBS or owned(r) else 'the ' + r) if r else 'The thermostat'} is set to {args['temperature']} degrees."
    if "change" in args:
        return f"It will be {plural(args['degrees'], 'degree') + ' ' if 'degrees' in args else ''}{'warmer' if args['change'] == 'up' else 'cooler'}{there}."
    return {"heat": f"The heating is on{there}.", "cool": f"The air conditioning is on{there}.", "auto": f"The thermostat is on auto{there}."}.get(args["mode"], f"The thermostat is {args['mode']}{there}.")


def answer(g, v, args):
    return measured(g, v, args) if v["prev"].get("tool") == "get_temperature" else done(g, v, args)


SET = ("climate.set", "climate.change", "climate.mode", "climate.room.it", "climate.set.it", "climate.change.it", "climate.amount.it", "climate.updown.it", "climate.mode.it", "climate.all.it")
CHANGED = ("climate.change", "climate.change.it", "climate.amount.it", "climate.updown.it", "climate.more", "climate.again")
ASKED = ("climate.get", "climate.get.too", "climate.get.it")
UP, DOWN = "change=up", "change=down"


def each(meaning, patterns):
    return [p + (", " if "=>" in p else " => ") + meaning for p in patterns]


INTENTS = [
    Intent(
        "climate.set", weight=2.6,
        patterns=[
            "(set|put|turn|change|adjust|bring|get|move|keep|hold|fix) {thermo} (to|at) {temp}", "set {thermo} to {temp}", "set {thermo} to {deg}", "set {thermo} {deg}", "(set|put|turn) {thermo} on {temp}", "set the temperature to {temp} {in}",
            "set the temperature {in} to {temp}", "set temperature to {temp} {in}", "set the thermostat to {temp} {in}", "set thermostat {temp}", "thermostat {temp}", "thermostat to {temp} {in}", "thermostat at {temp}", "temperature {temp} {in}",
            "temperature to {temp} {in}",
            "heating to {temp} {in}", "heating {temp} {in}", "heat to {temp} {in}", "heat {deg} {in}", "{room} thermostat {temp}", "{room} temperature {temp}", "{room} heating {temp}", "{room} heating to {temp}", "{thermo} to {temp}",
            "{thermo} at {temp}", "{thermo} {deg}", "{room} {deg}", "{room} to {deg}", "{room} at {deg}", "{at} {deg}", "{deg} {in}", "{deg} {at}", "{deg} for {the}", "(set|put|bring|get) {the} to {deg}", "(set|put|bring) {the} to {temp}",
            "(set|put) {the} at {deg}", "(set|put) {the} on {deg}",
            "(turn|bring|put|push|crank) {heating} up to {temp}", "(turn up|raise|increase|bump up|crank up) {thermo} to {temp}", "(turn|bring|take|put) {heating} down to {temp}", "(turn down|lower|reduce|decrease|drop) {thermo} to {temp}",
            "turn {heating} on to {temp}", "turn on {heating} (to|at) {temp}", "turn on {heating} and set it to {temp}", "turn {heating} on and set it to {temp}", "turn on {cooling} (to|at) {temp}", "turn on {cooling} and set it to {temp}",
            "(set|put|turn) {cooling} (to|at|on) {temp}", "set {cooling} to {temp}", "{cooling} to {temp}", "{cooling} {deg}", "{cooling} at {temp}",
            "(heat|warm) {the} to {temp}", "(heat|warm) {the} up to {temp}", "(heat up|warm up) {the} to {temp}", "cool {the} to {temp}", "cool {the} down to {temp}", "cool down {the} to {temp}", "warm it up to {deg} {in}", "cool it down to {deg} {in}",
            "heat the house to {temp}", "heat the house up to {temp}", "cool the house to {temp}", "cool the house down to {temp}", "set the house to {deg}", "set the whole house to {deg}", "keep the house at {deg}", "make the house {deg}",
            "make it {deg} {in}", "make it {deg} {at}", "make {the} {deg}", "keep it at {deg} {in}", "keep {the} at {deg}", "keep it {deg} {at}", "hold the temperature at {temp} {in}", "hold it at {deg} {at}",
            "(i want|i'd like|i need|we want|we need) it (to be|at) {deg} {in}", "(i want|i'd like|i need) it {deg} {in}", "(i want|i'd like|i need|we want) {deg} {in}", "(i want|i'd like|we need) {the} (at|to be) {deg}",
            "(i want|i'd like) {thermo} (at|on|to be) {temp}", "(i want|i'd like) {the} {deg} warm", "(i'd prefer|i like|i prefer) {deg} {at}",
            "i want it {deg} warm {in}", "it should be {deg} {in}", "it should be {deg} warm {at}", "{the} should be {deg}", "{the} should be at {deg}", "{the} has to be {deg}", "{thermo} should be {temp}", "{thermo} should be at {temp}",
            "can {the} be {deg}", "can it be {deg} {at}", "can we have {deg} {in}", "could we have {deg} {at}", "can i have {deg} {at}", "could you make it {deg} {in}", "can you make it {deg} {in}", "can we get it to {deg} {in}",
            "is it possible to have {deg} {at}", "how about {deg} {in}", "how about {deg} for {the}", "let's make it {deg} {in}", "let's have {deg} {in}",
            "let's set {the} to {deg}", "let's go with {deg} {in}", "give me {deg} {in}", "we need {deg} for the baby {in}", "i'm cold make it {deg} {in}", "i'm hot make it {deg} {in}", "it's cold set {thermo} to {temp}",
            "it's hot set {thermo} to {temp}", "it's too cold make it {deg} {at}", "it's too warm make it {deg} {at}", "i'm going to bed set {thermo} to {temp}", "we're leaving set {thermo} to {temp}", "i'm coming home heat the house to {deg}",
            "have {the} at {deg}", "get {the} up to {deg}", "get {the} down to {deg}", "get the temperature up to {deg} {in}", "get the temperature down to {deg} {in}", "target temperature {temp} {in}",
            "set the target temperature to {temp} {in}", "change the target to {deg} {in}", "program {thermo} for {temp}", "dial {thermo} to {temp}", "dial {deg} {in}", "room temperature {temp}", "set the room temperature to {temp}",
            "set the room to {deg}", "set this room to {deg}", "bring this room to {deg}", "bring the room temperature to {temp}",
            "set the car to {temp} => room=car", "heat the car to {temp} => room=car", "warm the car up to {temp} => room=car", "warm up the car to {deg} => room=car", "cool the car to {temp} => room=car",
            "set the temperature in the car to {temp} => room=car", "set the car's temperature to {temp} => room=car", "make the car {deg} => room=car", "make it {deg} in the car => room=car", "{deg} in the car => room=car", "car {deg} => room=car",
            "preheat the car to {deg} => room=car", "set the climate in the car to {temp} => room=car", "get the car to {deg} => room=car",
        ],
        held=[
            "have {thermo} go to {temp}", "i'd love to have {deg} {in}", "let me have {deg} {in}", "let {the} get to {deg}", "let's bring {the} to {deg}", "{deg} would be nice {in}", "{deg} is what i want {at}", "take {thermo} to {temp}",
            "make sure it's {deg} {at}", "see that {the} is at {deg}", "would it be possible to get {deg} {at}", "i feel good at {deg} so set {thermo}", "get it {deg} warm {at}", "have {the} warmed up to {deg}", "preheat {the} to {deg}",
        ],
        slots=SLOTS, call=opening(degrees), result=done, say=say),
    Intent(
        "climate.change", weight=2.2,
        patterns=each(UP, [
            "(turn|bring|crank|put|push) {heating} up {bit}", "(turn up|raise|increase|crank up|bump up|boost|put up) {heating} {bit}", "turn up the heat {in}", "turn the heat up {in}", "turn the heating up {bit} {in}", "turn up the heating {in}",
            "(raise|increase|turn up|bump up) the temperature {bit} {in}", "turn the temperature up {bit} {in}", "turn up the thermostat {bit} {in}", "turn the thermostat up {bit} {in}", "(raise|increase|turn up) {thermo}",
            "(raise|increase|turn up|bump up) {thermo} by {amt}", "turn {thermo} up by {amt}", "turn {thermo} up {amt}", "{thermo} up {amt}", "{thermo} {amt} higher", "{thermo} up", "heating up {in}",
            "temperature up {in}", "temperature up {amt} {in}", "heat up {amt} {in}", "{amt} warmer {in}", "{amt} higher {in}", "{amt} hotter {in}", "make it {amt} warmer {in}", "make {the} {amt} warmer", "make it {much} warmer {in}",
            "make {the} {much} warmer", "make the house {much} warmer", "make it {much} hotter {in}", "{much} warmer {in}", "warmer {in}", "more heat {in}", "more heating {in}", "a bit more heat {in}", "a little more warmth {in}", "more warmth {in}",
            "warm up {the} {bit}", "warm {the} up {bit}", "warm {the}", "heat up {the}", "heat {the}", "heat {the} up {bit}", "warm it up {in}", "warm up the house", "warm the house up {bit}", "heat up the house", "heat the room",
            "warm up the room", "(i want|i'd like|i need|we want) it {much} warmer {in}", "(i want|i'd like|i need) it {amt} warmer {in}", "(i want|i'd like) {the} {much} warmer", "can it be {much} warmer {in}", "can you make it {much} warmer {in}",
            "could it be {much} warmer {in}", "can we have it {much} warmer {in}", "can we have more heat {in}", "could i get some heat {in}", "it should be {much} warmer {in}", "{the} should be {much} warmer", "add {amt} {in}", "add {amt} to {thermo}",
            "add {amt} to the temperature {in}", "put the temperature up by {amt} {in}", "crank the heat {in}", "blast the heat {in}",
            "i'm cold", "i'm cold {here}", "i'm (so|too|really|very|a bit|a little|pretty|always) cold {here}", "i'm freezing", "i'm freezing {here}", "i'm freezing to death {here}", "i feel cold {here}", "i feel chilly {here}", "i'm chilly",
            "i'm shivering", "i'm shivering {here}", "i'm getting cold {here}", "we're cold {here}", "we're freezing {here}", "the kids are cold {here}", "the baby is cold {here}", "my wife is cold",
            "my (feet|hands|toes|fingers) are (cold|freezing|like ice|ice cold) {here}", "i need a blanket it's so cold {here}", "i need a sweater {here}",
            "it's cold {here}", "it's (too|so|really|very|a bit|a little|pretty|rather|quite|awfully) cold {here}", "it's freezing {here}", "it's freezing cold {here}", "it's chilly {here}", "it's (a bit|a little|rather|too|so) chilly {here}",
            "it's ice cold {here}", "it's getting (cold|chilly) {here}", "it's like a (fridge|freezer|refrigerator|ice box) {here}", "it's not warm enough {here}", "it isn't warm enough {here}", "it's (a bit|too) (cool|fresh|nippy) {here}",
            "it's too cold for me {here}", "it's too cold for the baby {here}", "it feels cold {here}", "it's winter {here}", "it's the north pole {here}",
            "too cold {in}", "way too cold {in}", "so cold {here}", "not warm enough {here}", "freezing {here}", "{the} is (too|so|very|a bit|really|way too) cold", "{the} is freezing", "{the} is chilly", "{the} feels cold", "{the} isn't warm enough",
            "{the} is not warm enough", "{the} is like a (fridge|freezer)", "{the} has become cold", "{the} is {amt} too cold", "it's {amt} too cold {here}", "i can see my breath {here}", "why is it so cold {here}", "why is {the} so cold",
            "who turned the heat down i'm freezing", "why is it always so cold {here}", "my teeth are chattering", "i'm turning to ice {here}", "can't we have it warmer {here}", "i want to be warm {here}", "don't let me freeze {here}",
            "warm up the car => room=car", "warm the car up => room=car", "heat up the car => room=car", "preheat the car => room=car", "heat the car => room=car", "i'm leaving soon warm up the car => room=car", "make the car warmer => room=car",
            "it's cold in the car => room=car", "the car is freezing => room=car", "turn up the heat in the car => room=car",
        ]) + each(DOWN, [
            "(turn|bring|put|take|dial) {heating} down {bit}", "(turn down|lower|reduce|decrease|put down) {heating} {bit}", "turn down the heat {in}", "turn the heat down {in}", "turn the heating down {bit} {in}", "turn down the heating {in}",
            "(lower|reduce|decrease|turn down|drop) the temperature {bit} {in}", "turn the temperature down {bit} {in}", "turn down the thermostat {bit} {in}", "turn the thermostat down {bit} {in}", "(lower|reduce|turn down) {thermo}",
            "(lower|reduce|turn down|drop|decrease) {thermo} by {amt}", "turn {thermo} down by {amt}", "turn {thermo} down {amt}", "{thermo} down {amt}", "{thermo} {amt} lower", "{thermo} down", "heating down {in}",
            "temperature down {in}", "temperature down {amt} {in}", "heat down {amt} {in}", "{amt} (cooler|colder) {in}", "{amt} lower {in}", "make it {amt} (cooler|colder) {in}", "make {the} {amt} (cooler|colder)", "make it {much} (cooler|colder) {in}",
            "make {the} {much} (cooler|colder)", "make the house {much} cooler", "{much} (cooler|colder) {in}", "(cooler|colder) {in}", "less heat {in}", "less heating {in}", "a bit less heat {in}", "cool {the} down {bit}", "cool down {the} {bit}",
            "cool {the}", "cool it down {in}", "cool down the house", "cool the house down {bit}", "cool the room", "cool off {the}", "(i want|i'd like|i need|we want) it {much} (cooler|colder) {in}",
            "(i want|i'd like|i need) it {amt} cooler {in}", "(i want|i'd like) {the} {much} cooler", "can it be {much} cooler {in}", "can you make it {much} cooler {in}", "could it be {much} cooler {in}", "can we have it {much} cooler {in}",
            "can we have less heat {in}", "it should be {much} cooler {in}", "{the} should be {much} cooler", "take {amt} off {in}", "take {amt} off {thermo}", "take {amt} off the temperature {in}", "put the temperature down by {amt} {in}",
            "don't heat so much {in}", "not so much heat {in}",
            "i'm hot {here}", "i'm (too|so|really|very|a bit|a little|pretty) (hot|warm) {here}", "i'm sweating", "i'm sweating {here}", "i'm sweating like crazy {here}", "i'm boiling {here}", "i'm roasting {here}", "i'm melting {here}", "i'm melting",
            "i'm burning up {here}", "i'm baking {here} turn the heat down", "i feel hot {here}", "i'm overheating {here}", "i'm dying of heat {here}", "we're sweating {here}", "we're boiling {here}", "the kids are too hot {here}",
            "the baby is too warm {here}", "i can't sleep it's too hot {here}", "i can't sleep in this heat", "i can't stand the heat {here}", "everybody is sweating {here}", "my shirt is wet from sweat it's so hot {here}",
            "it's hot {here}", "it's (too|so|really|very|a bit|a little|pretty|rather|quite|awfully|way too) (hot|warm) {here}", "it's boiling {here}", "it's boiling hot {here}", "it's burning hot {here}", "it's roasting {here}",
            "it's sweltering {here}", "it's getting (hot|too warm|too hot) {here}", "it's like an oven {here}", "it's an oven {here}", "it's like the desert {here}", "it's tropical {here}", "it's not cool enough {here}", "it's too hot for me {here}",
            "it's too warm to sleep {here}", "it feels hot {here}", "it's too warm for the baby {here}", "it's too hot to (work|sleep|cook|think) {here}",
            "too (hot|warm) {in}", "way too hot {in}", "so hot {here}", "not cool enough {here}", "boiling {here}", "{the} is (too|so|very|a bit|really|way too) (hot|warm)", "{the} is boiling", "{the} feels too warm", "{the} isn't cool enough",
            "{the} is like an oven", "{the} is {amt} too (hot|warm)", "it's {amt} too (hot|warm) {here}", "why is it so (hot|warm) {here}", "why is {the} so (hot|warm)", "who turned the heat up it's so hot", "why is it always so hot {here}",
            "i need to cool off {here}", "i'd like to cool down {here}", "we're wasting heat {here} turn it down",
            "cool down the car => room=car", "cool the car down => room=car", "cool the car => room=car", "make the car cooler => room=car", "it's hot in the car => room=car", "the car is boiling => room=car", "the car is too hot => room=car",
            "turn down the heat in the car => room=car",
        ]),
        held=[
            "{the} needs more heat => change=up", "it could be warmer {here} => change=up", "get some warmth into {the} => change=up", "i could use a bit more heat {here} => change=up", "push {thermo} {amt} higher => change=up",
            "nobody can work {here} it's so cold => change=up", "i feel like ice {here} => change=up", "have it {amt} warmer {in} => change=up", "is there no way to get it warmer {here} => change=up", "let's get warm {here} => change=up",
            "{the} needs less heat => change=down", "it could be cooler {here} => change=down", "i'm dying {here} it's so hot => change=down", "get {the} cooled down => change=down", "take {thermo} {amt} lower => change=down",
            "have it {amt} cooler {in} => change=down", "nobody can work {here} it's so warm => change=down", "we're all sweating {here} => change=down", "i don't need so much heat {here} => change=down", "let's get it cooler {here} => change=down",
        ],
        slots=SLOTS, call=opening(changed), result=done, say=say),
    Intent(
        "climate.mode", weight=1.6,
        patterns=each("mode=heat", [
            "(turn|switch|put|get) {heating} on", "(turn|switch|put|fire|power) on {heating}", "turn on the heat {in}", "turn the heat on {in}", "turn on the heating {in}", "turn the heating on {in}", "heating on {in}", "heat on {in}", "heater on {in}",
            "{heating} on", "{room} heating on", "(start|activate|enable|run|fire up|start up) {heating}", "start heating {in}", "start heating {the}", "(i want|i need|i'd like|we need) {heating} on", "i need [the] heat on {in}", "we need heating {in}",
            "(set|switch|change|put|turn) {control} to heat", "(set|switch|change|put|turn) {control} to heating", "(set|switch|change|put) {control} to (heat|heating) mode", "(heat|heating) mode {in}", "thermostat to heat {in}", "thermostat on heat",
            "switch to heat {in}", "switch to heating {in}", "go to heating mode {in}", "it's cold turn on {heating}", "i'm cold turn {heating} on", "i'm freezing turn on {heating}", "it's freezing {here} turn the heat on", "can we have {heating} on",
            "could you put {heating} on", "let's have {heating} on", "time to turn {heating} on", "make sure {heating} is on", "{heating} should be on", "get {heating} going", "let {heating} run", "turn on the seat heating in the car => room=car",
            "turn on the heater in the car => room=car", "car heating on => room=car", "put the car heater on => room=car",
        ]) + each("mode=off", [
            "(turn|switch|shut|put) {heating} off", "(turn|switch|shut) off {heating}", "turn off the heat {in}", "turn the heat off {in}", "turn off the heating {in}", "turn the heating off {in}", "heating off {in}", "heat off {in}", "heater off {in}",
            "{heating} off", "{room} heating off", "(stop|deactivate|disable|kill|cut|shut down|end) {heating}", "stop heating {in}", "stop heating {the}", "don't heat {the}", "no heating {in}", "no heat {in}", "no more heating {in}",
            "i don't need {heating} [anymore|any more|now]", "we don't need {heating} [anymore|now]", "(i want|i'd like) {heating} off", "i forgot to turn off {heating}", "i left {heating} on turn it off", "i'm leaving turn {heating} off",
            "it's too warm turn off {heating}", "it's hot turn {heating} off", "i'm hot turn {heating} off", "make sure {heating} is off", "{heating} should be off", "save energy turn {heating} off", "summer is here turn off {heating}",
            "nobody is {at} turn off the heating",
            "(turn|switch|shut|put) {cooling} off", "(turn|switch|shut) off {cooling}", "ac off {in}", "air conditioning off {in}", "{cooling} off", "{room} ac off", "(stop|deactivate|disable|kill|cut|shut down|end) {cooling}", "stop cooling {in}",
            "stop cooling {the}", "i don't need {cooling} [anymore|any more|now]", "we don't need {cooling}", "no air conditioning {in}", "no ac {in}", "it's cold turn off {cooling}", "i'm freezing turn {cooling} off",
            "{cooling} is too cold turn it off", "(i want|i'd like) {cooling} off", "make sure {cooling} is off", "i left {cooling} on turn it off",
            "(turn|switch|shut) {control} off", "(turn|switch|shut) off {control}", "{control} off", "thermostat off {in}", "(set|switch|turn|change) {control} to off", "(stop|disable|deactivate) {control}", "no heating or cooling {in}",
            "heating and cooling off {in}", "turn off heating and cooling {in}", "turn the car heating off => room=car", "turn off the ac in the car => room=car", "car ac off => room=car",
        ]) + each("mode=cool", [
            "(turn|switch|put|get) {cooling} on", "(turn|switch|put|power) on {cooling}", "turn on the ac {in}", "turn the ac on {in}", "turn on the air conditioning {in}", "turn the air conditioning on {in}", "air conditioning on {in}", "ac on {in}",
            "{cooling} on", "{room} ac on", "(start|activate|enable|run|fire up|start up) {cooling}", "start cooling {in}", "start cooling {the}", "(i want|i need|i'd like|we need) {cooling} on", "i need the ac {in}", "we need air conditioning {in}",
            "give me some ac {in}", "some cool air {in}", "give me some cool air {in}", "i need cold air {in}", "(set|switch|change|put|turn) {control} to cool", "(set|switch|change|put|turn) {control} to cooling",
            "(set|switch|change|put) {control} to (cool|cooling) mode",
            "(cool|cooling) mode {in}", "thermostat to cool {in}", "switch to cooling {in}", "switch to cool {in}", "it's hot turn on {cooling}", "i'm hot turn {cooling} on", "i'm sweating turn on {cooling}", "it's boiling {here} turn the ac on",
            "can we have {cooling} on", "can i have the ac on {in}", "could you put {cooling} on", "let's have {cooling} on", "time to turn {cooling} on", "make sure {cooling} is on", "{cooling} should be on", "get {cooling} going", "let {cooling} run",
            "turn on the ac in the car => room=car", "start the air conditioning in the car => room=car", "car ac on => room=car",
        ]) + each("mode=auto", [
            "(set|switch|change|put|turn) {control} to auto", "(set|switch|change|put|turn) {control} to automatic", "(set|switch|change|put) {control} to auto mode", "(set|put) {control} on auto", "auto mode {in}", "thermostat auto {in}",
            "thermostat on auto {in}", "automatic mode {in}", "{control} on automatic", "{control} auto", "switch to auto {in}", "(set|switch|put|turn) {heating} to auto", "(set|put) {heating} on automatic", "{heating} on auto",
            "(set|switch|put|turn) {cooling} to auto", "{cooling} on auto", "let {control} decide", "let {control} do its thing", "let the thermostat run by itself {in}", "automatic heating and cooling {in}", "automatic temperature {in}",
            "let {control} run on auto",
        ]) + [
            "(turn|switch|put) {control} {state}", "(turn|switch) {state} {control}", "{control} {state}", "(i want|i'd like) {control} {state}", "set {control} to {state}", "make sure {control} is {state}", "(turn|switch) the climate {state} {in}",
            "(start|activate|enable|power up) {control} => mode=on", "get {control} running => mode=on", "i need {control} on => mode=on",
        ],
        held=[
            "bring on {heating} => mode=heat", "it's time for {heating} to go on => mode=heat", "i'd love some heating {in} => mode=heat", "have {heating} running => mode=heat", "let there be heat {in} => mode=heat",
            "get rid of the heat {in} turn {heating} off => mode=off", "let {heating} go off => mode=off", "we can do without {heating} => mode=off", "have {heating} stop => mode=off", "no need for {cooling} => mode=off",
            "{cooling} can go off => mode=off", "have {cooling} stop => mode=off",
            "have {cooling} running => mode=cool", "bring on {cooling} => mode=cool", "get cold air going {in} => mode=cool", "i'd love some cool air {in} => mode=cool", "have {control} go to auto => mode=auto", "let it run on automatic {at} => mode=auto",
        ],
        slots=SLOTS, call=opening(moded), result=done, say=say),
    Intent(
        "climate.get", weight=1.6,
        patterns=[
            "what's the temperature {here}", "what's the temperature inside", "what's the temperature", "what is the temperature {here}", "what's the temperature like {here}", "what's the temp {here}", "what's the room temperature",
            "what's the indoor temperature", "what's the inside temperature", "what's the temperature of {the}", "what's the current temperature {here}", "what temperature is it {here}", "what temperature do we have {here}", "what temperature is {the}",
            "which temperature is it {here}", "what temperature have we got {here}", "what's {the} at",
            "how (warm|cold|hot|cool) is it {here}", "how (warm|cold|hot|cool) is {the}", "how (warm|cold|hot) is the house", "how (warm|cold|hot) is this room", "how (warm|cold|hot) is it {here} right now", "how (warm|cold|hot) is it inside",
            "how (warm|cold|hot) is it at home", "how many degrees is it {here}", "how many degrees are there {here}", "how many degrees {here}", "how many degrees do we have {here}", "how many degrees has {the}", "how many degrees is {the}",
            "how's the temperature {here}", "how high is the temperature {here}", "how is the climate {here}", "how chilly is it {here}",
            "is it (cold|warm|hot|cool|chilly|freezing) {here}", "is {the} (cold|warm|hot|cool|chilly|freezing)", "is it (warm|cool) enough {here}", "is {the} (warm|cool) enough", "is it too (cold|warm|hot) {here}", "is {the} too (cold|warm|hot)",
            "is it warm enough for the baby {here}", "is it already warm {here}", "is it still (cold|warm|hot) {here}", "is the house warm", "is the house cold", "is it (warmer|colder) than {deg} {here}", "is it {deg} {here}", "has {the} warmed up",
            "has {the} cooled down", "has it warmed up {here}", "does it feel cold {here}",
            "(tell|give|read) me the temperature {here}", "(tell|give) me the temperature inside", "tell me how (warm|cold|hot) it is {here}", "tell me how (warm|cold|hot) {the} is", "tell me what temperature it is {here}",
            "i want to know the temperature {here}", "i want to know how warm it is {here}", "i'd like to know the temperature {here}", "i'd like to know how cold it is {here}", "do you know how warm it is {here}", "do you know the temperature {here}",
            "can you tell me the temperature {here}", "can you tell me how (warm|cold) it is {here}", "could you tell me how warm {the} is", "i wonder how (warm|cold) it is {here}", "let me know the temperature {here}",
            "(check|read|show|say|measure|get|look up) the temperature {here}", "(check|read) the temperature", "check how warm it is {here}", "check if {the} is (cold|warm)", "check the thermostat", "check the thermometer {here}",
            "read the thermometer {here}", "read the thermostat {here}", "what does the thermometer say {here}", "what does the thermostat say {here}", "what's the thermostat at", "what is the thermostat set to", "what's {the} thermostat at",
            "what's {the} temperature", "{room} temperature", "the {room} temperature please", "temperature {here}", "temperature inside", "current temperature {here}", "indoor temperature", "inside temperature", "room temperature", "degrees {here}",
            "temperature of {the}", "temperature check {here}", "what's the heating at {here}", "what's it like {here} warm or cold", "am i going to be cold {at}", "do i need a sweater {at}", "can the baby sleep {at} is it warm enough",
            "how warm or cold is it {here}", "what's the temperature in the car => room=car", "how warm is it in the car => room=car", "how hot is the car => room=car", "is the car warm => room=car", "is the car warm yet => room=car",
            "temperature in the car => room=car",
        ],
        held=[
            "what are we at {here} how many degrees", "would you know how warm it is {here}", "have a look at the temperature {here}", "how much does the thermometer show {here}", "let me have the temperature {here}", "tell me the degrees {here}",
            "find out how warm it is {here}", "where is the temperature at {here}", "say how many degrees it is {here}", "are we warm enough {here}", "how does {the} feel warm or cold", "i need the temperature {here}",
        ],
        slots=SLOTS, call=ask, result=measured, say=say),
    # --- second and third turns
    Intent(
        "climate.set.it", follows=SET + ASKED + ("climate.instead", "climate.more", "climate.again"), weight=1.5,
        patterns=["make it {temp}", "make it {deg}", "make that {temp}", "to {temp}", "to {deg}", "{deg}", "{deg} please", "{deg} instead", "set it to {temp}", "set it to {temp} instead", "no {temp}", "no {deg}", "no make it {temp}",
            "no set it to {temp}", "i meant {temp}", "no i meant {temp}", "i said {deg}", "no i said {deg}", "sorry {deg}", "sorry i meant {deg}", "actually {deg}", "actually make it {temp}", "put it (at|on|to) {temp}", "turn it to {temp}",
            "turn it up to {temp}", "turn it down to {temp}", "change it to {temp}", "change that to {temp}",
                  "bring it to {temp}", "then {deg}", "then make it {temp}", "then set it to {temp}", "and set it to {temp}", "and make it {temp}", "okay make it {temp}", "let's say {temp}", "let's make it {deg}", "better {deg}", "rather {deg}",
                  "try {deg}", "how about {deg}", "i want {deg}", "i want it at {temp}", "it should be {deg}", "{deg} is enough", "{deg} is better", "keep it at {temp}", "raise it to {temp}", "lower it to {temp}", "heat it to {temp}",
                  "cool it to {temp}", "now {deg}", "make it {deg} then"],
        held=["let's have it at {temp}", "have it at {temp}", "go to {deg}", "take it to {temp}", "would {deg} be possible", "i think {deg} is better", "get it to {temp}"],
        slots=SLOTS, call=continuing(degrees), result=done, say=say),
    Intent(
        "climate.change.it", follows=SET + ASKED + ("climate.instead", "climate.more", "climate.again", "climate.toomuch"), weight=1.5,
        patterns=each(UP, ["make it {much} warmer", "{much} warmer", "warmer", "and {much} warmer", "{amt} warmer", "{amt} higher", "up {amt}", "{amt} up", "make it {amt} warmer", "turn it up {amt}", "turn it up by {amt}", "raise it by {amt}",
            "and {amt} warmer", "still too cold", "it's still too cold", "i'm still cold", "still cold", "too cold", "too cold now", "now it's too cold", "now i'm cold", "that's too cold", "that's cold", "that's a bit cold", "warm it up",
            "warm it up a bit", "then warm it up", "heat it up", "then heat it up", "can it be {much} warmer", "i want it {much} warmer", "i want it warmer",
                          "it's not warm enough", "that's not warm enough", "not warm enough", "even warmer", "a little hotter", "more heat", "a bit more heat", "turn up the heat", "turn the heat up", "turn the heating up", "turn the heating up then",
                          "raise the temperature", "i'm freezing", "brr", "oh that's cold make it warmer", "warmer than that", "no warmer", "add {amt}"])
        + each(DOWN, ["make it {much} (cooler|colder)", "{much} (cooler|colder)", "(cooler|colder)", "and {much} cooler", "{amt} (cooler|colder)", "{amt} lower", "down {amt}", "{amt} down", "make it {amt} cooler", "turn it down {amt}",
            "turn it down by {amt}", "lower it by {amt}", "and {amt} cooler", "still too (hot|warm)", "it's still too (hot|warm)", "i'm still hot", "still hot", "too (hot|warm)", "too (hot|warm) now", "now it's too (hot|warm)", "now i'm hot",
            "that's too (hot|warm)", "that's a bit (hot|warm)", "that's hot", "cool it down", "cool it down a bit", "then cool it down", "can it be {much} cooler",
                      "i want it {much} cooler", "it's not cool enough", "not cool enough", "even (cooler|colder)", "less heat", "a bit less heat", "turn down the heat", "turn the heat down", "turn the heating down", "turn the heating down then",
                      "lower the temperature", "i'm sweating", "oh that's hot make it cooler", "cooler than that", "no cooler", "take {amt} off"]),
        held=["let's have it a bit warmer => change=up", "it could be a bit warmer => change=up", "it needs to be warmer => change=up", "have it {amt} warmer => change=up", "let's have it a bit cooler => change=down",
            "it could be a bit cooler => change=down", "it needs to be cooler => change=down", "have it {amt} cooler => change=down"],
        slots=SLOTS, call=continuing(changed), result=done, say=say),
    Intent(
        "climate.updown.it", follows=("climate.set", "climate.change", "climate.set.it", "climate.change.it", "climate.amount.it", "climate.updown.it") + ASKED, weight=1.2,
        patterns=each(UP, ["turn it up", "turn it up a bit", "turn it up a little", "turn it up a notch", "turn that up", "turn it up more", "up", "up a bit", "a bit up", "a little up", "up a little", "up a notch", "higher", "a bit higher",
            "a little higher", "make it higher", "raise it", "raise it a bit", "increase it", "increase it a bit", "bump it up", "crank it up", "then turn it up", "put it up a bit", "a notch higher", "okay turn it up"])
        + each(DOWN, ["turn it down", "turn it down a bit", "turn it down a little", "turn it down a notch", "turn that down", "turn it down more", "down", "down a bit", "a bit down", "a little down", "down a little", "down a notch", "lower",
            "a bit lower", "a little lower", "make it lower", "lower it", "lower it a bit", "reduce it", "reduce it a bit", "bring it down", "bring it down a bit", "then turn it down", "put it down a bit", "a notch lower", "okay turn it down"]),
        held=["push it up a bit => change=up", "boost it a bit => change=up", "let it go up a notch => change=up", "dial it down a bit => change=down", "take it down a notch => change=down", "let it go down a bit => change=down"],
        slots=SLOTS, call=continuing(changed), result=done, say=say),
    Intent(
        "climate.amount.it", follows=("climate.set", "climate.set.it") + ASKED, weight=0.9,
        patterns=each(UP, ["{amt} more", "{more}", "{more} please", "plus {amt}", "and {amt} more", "make it {amt} more", "give it {amt} more", "i want {amt} more", "a bit more", "a little more", "more", "some more",
            "higher by {amt}"]) + each(DOWN, ["{amt} less", "minus {amt}", "and {amt} less", "make it {amt} less", "give it {amt} less", "i want {amt} less", "a bit less", "a little less", "less", "less please", "lower by {amt}"]),
        held=["let's have {amt} more => change=up", "make that {amt} more => change=up", "let's have {amt} less => change=down", "make that {amt} less => change=down"],
        slots=SLOTS, call=continuing(changed), result=done, say=say),
    Intent(
        "climate.more", follows=CHANGED, weight=1.0,  # the same direction, by what is said now
        patterns=["more", "a bit more", "a little more", "some more", "even more", "more please", "a little bit more", "still more", "keep going", "further", "a bit further", "not enough", "still not enough", "that's not enough", "it's not enough",
            "a touch more", "a tad more", "a lot more", "much more", "more than that", "{more}", "{more}", "{more} please", "and {more}", "make it {more}", "{amt} more", "and {amt} more", "go on", "a notch more"],
        held=["do some more", "let's have {more}", "make it even more", "another little bit"],
        slots=SLOTS, call=further, result=done, say=say),
    Intent(
        "climate.again", follows=CHANGED, weight=0.4,  # the same change once more
        patterns=["again", "once more", "one more time", "do it again", "do that again", "and again", "the same again", "again please", "repeat that", "and once more", "do that once more", "another time"],
        held=["same thing again", "let's do that again"],
        slots=SLOTS, call=again, result=done, say=say),
    Intent(
        "climate.toomuch", follows=("climate.change", "climate.change.it", "climate.updown.it", "climate.more"), weight=0.4,  # the other direction
        patterns=["too much", "that's too much", "that was too much", "not so much", "not that much", "that's a bit too much", "a bit too much", "no too much", "oh that's too much", "not quite so much", "back a bit", "go back a bit", "a bit back",
            "no the other way", "the other way", "the opposite", "i meant the other way around", "no the opposite"],
        held=["much too much", "that's way too much", "no do the opposite"],
        slots=SLOTS, call=back, result=done, say=say),
    Intent(
        "climate.mode.it", follows=SET + ASKED + ("climate.instead",), weight=1.0,
        patterns=["(turn|switch) it {state}", "(turn|switch) it {state} again", "(turn|switch) it back {state}", "back {state}", "{state} again", "and {state} again", "{state}", "{state} now", "now {state}", "turn that {state}", "switch that {state}",
            "turn {state} again", "turn {state}", "turn it {state} then", "then turn it {state}", "just turn it {state}", "no turn it {state}", "{state} please", "no {state}", "i want it {state}", "okay turn it {state}", "actually turn it {state}",
            "never mind turn it {state}", "turn it {state} now", "turn it {state} there",
                  "shut it off => mode=off", "stop it => mode=off", "kill it => mode=off", "i don't need it anymore => mode=off", "forget it turn it off => mode=off", "turn it off completely => mode=off", "set it to auto => mode=auto",
                  "put it on auto => mode=auto", "on auto => mode=auto", "auto mode => mode=auto", "switch it to auto => mode=auto", "auto => mode=auto", "turn on the heating => mode=heat", "then turn on the heating => mode=heat",
                  "turn the heat on => mode=heat", "then turn the heat on => mode=heat", "turn on the ac => mode=cool", "then turn the ac on => mode=cool", "turn the ac on => mode=cool", "set it to heat => mode=heat", "set it to cool => mode=cool",
                  "switch it to heating => mode=heat", "switch it to cooling => mode=cool"],
        held=["have it {state} again", "let's have it back {state}", "i'd like it {state} after all", "get it {state} again", "it can go {state} now"],
        slots=SLOTS, call=continuing(moded), result=done, say=say),
    Intent(
        "climate.room.it", follows=SET + ("climate.instead",), weight=1.3,
        patterns=["and {at} too", "and {at}", "and {at} as well", "{at} too", "{at} as well", "also {at}", "and also {at}", "{the} too", "{the} as well", "and {the} too", "and {the}", "and {the} as well", "also {the}", "and also {the}", "now {the}",
            "now {at}", "then {the}", "the same {at}", "same {at}", "same for {the}", "same thing {at}", "the same for {the}", "do the same {at}", "do the same for {the}", "do {the} too", "do that {at} too", "do that {at} as well", "do it {at} too",
            "do it {at} as well", "how about {the} too", "{the} also", "{at} also", "plus {the}", "include {the}",
                  "repeat that {at}", "i want the same {at}", "i'd like that {at} too", "same temperature {at}", "and the heating {at} too", "and {the} please"],
        held=["have {the} the same", "let's do that {at} as well", "and then {the} too", "and the same thing for {the}"],
        slots=SLOTS, call=again_at, result=answer, say=say),
    Intent(
        "climate.instead", follows=SET + ASKED + ("climate.instead",), weight=0.7,
        patterns=["no i meant {the}", "no i meant {at}", "i meant {the}", "i meant {at}", "no {the}", "no {at}", "not there {at}", "no not there {at}", "not here {at}", "sorry i meant {the}", "sorry {the}", "sorry i mean {at}", "i mean {the}",
            "i mean {at}", "i said {the}", "i said {at}", "no i said {the}", "wrong room {the}", "wrong room i meant {the}", "that's the wrong room i meant {the}", "actually {the}", "actually {at}", "actually i meant {the}", "{the} instead",
            "{at} instead", "make that {the}", "oops {the}", "oops i meant {the}", "no no {the}", "no wait {the}", "rather {at}", "rather {the}", "i'm talking about {the}", "no i'm talking about {the}", "not that room {the}"],
        held=["that was the wrong room i want {the}", "no i was talking about {the}", "no it should be {the}", "you got it wrong {the}"],
        slots=SLOTS, call=again_at, result=answer, say=say),
    Intent(
        "climate.all.it", follows=SET + ("climate.instead",), weight=0.4,
        patterns=["everywhere", "in the whole house", "in all rooms", "in every room", "all rooms", "the whole house", "do it everywhere", "do that everywhere", "do that in the whole house", "do it in all rooms", "and everywhere else",
            "i meant everywhere", "i meant the whole house", "no the whole house", "the same for the whole house", "the same everywhere", "everywhere please", "same for all rooms", "not only there everywhere", "and the rest of the house",
            "all over the house", "make that the whole house", "for the whole house", "and in all the other rooms"],
        held=["have it the same in every room", "i want that in the whole house", "not just there but everywhere"],
        slots=SLOTS, call=again_at, result=answer, say=say),
    Intent(
        "climate.get.too", follows=ASKED, weight=1.8,
        patterns=["and {at}", "and {the}", "what about {the}", "what about {at}", "how about {the}", "how about {at}", "and what about {the}", "and how about {the}", "and how warm is it {at}", "and how (warm|cold) is {the}", "{at} too", "{the} too",
            "and {at} too", "also {at}", "and also {at}", "now {the}", "now {at}", "and now {the}", "same question for {the}", "the same for {the}", "the same {at}", "and the temperature {at}", "and the temperature of {the}", "check {the} too",
            "check {the} as well", "{the} as well", "and {the} as well", "is it (warmer|colder) {at}", "is {the} (warmer|colder)", "what's it {at}", "and is it cold {at}"],
        held=["then what about {at}", "and how is it {at}", "can you check {the} too", "what's with {the}"],
        slots=SLOTS, call=ask, result=measured, say=say),
    Intent(
        "climate.get.it", follows=SET + ("climate.instead", "climate.more", "climate.again", "climate.toomuch"), weight=0.7,
        patterns=["how warm is it now", "how cold is it now", "how warm is it", "how cold is it", "how hot is it now", "what's the temperature now", "what's the temperature there", "what's the temperature there now", "what is it now", "what's it at now",
            "what is it at now", "how many degrees is it now", "how warm is it there", "how warm is it there now", "and how warm is it now", "and what's the temperature now", "is it warm yet", "is it cold now", "is it warm enough now",
            "how much is it now", "where is it now", "what temperature is it now", "tell me the temperature now", "check the temperature", "and what is it now", "so how warm is it"],
        held=["are we there yet how warm is it", "tell me how warm it is there now", "what are we at now"],
        slots=SLOTS, call=lambda v: ("get_temperature", same_place(v)), result=measured, say=say),
]
