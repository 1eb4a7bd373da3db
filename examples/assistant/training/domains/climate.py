"""Heating, cooling and the temperature inside. A temperature alone is the target; change, degrees or mode say the rest, and never a target with a mode."""
from grammar import GLUE, ROOMS, Intent, Lexicon, arguments, plural

MORE_ROOMS = Lexicon("""boys room, girls room, twins room, baby's room, back room, sewing room, wine cellar, pool room, home office, home theater, craft room, ensuite, conference room, meeting room, sitting room,
    drawing room, main bedroom, small bedroom, big bedroom, first floor, second floor, ground floor, top floor, dressing room, winter garden, parlor, rec room, bonus room, man cave, washroom, restroom, hobby room,
    kids bathroom, upstairs bathroom, downstairs bathroom, upstairs bedroom, small bathroom, second bedroom, guest bedroom, guest house, mobile home, entrance hall, reception, shop, camper, movie room, classroom,
    waiting room, dining area, living area, kitchenette, summer house, apartment upstairs, car, car, car,
    pool house, summer kitchen, orangery, piano room, wine room, games room, toy room, big bathroom, middle bedroom, corner bedroom, guest wing, west wing, nanny room, changing room, steam room, bedroom closet,
    walk in closet, store room, front hall, main hall, upstairs hall, downstairs hall, downstairs toilet, spare bedroom, main bathroom, master bath, front bedroom, media room, exercise room, home gym, cinema room, dorm,
    boys bathroom, girls bedroom, box room, sleeping area, bar area, seating area, breakfast nook, powder room, granny flat, rumpus room, prayer room, boot room, alcove, camper van, caravan, rv, cabin, barn, stable,
    kennel, chicken coop, lobby, back office, break room, board room, copy room, staff room, salon, meditation room, massage room, therapy room, treatment room, recording room, lego room, mezzanine, upper hallway,
    bunk room, old nursery, reading nook, reading corner, homework corner, beach house, vacation home, ski lodge, tiny house, basement apartment, upstairs apartment, east wing""",
                     """server room, snug, breakfast room, annex, linen room, billiard room, cloakroom""")
PEOPLE = Lexicon("""jimmy, anna, tom, mia, ben, sarah, lucas, emma, oliver, sophie, max, lily, jack, chloe, daniel, grace, henry, ella, noah, ruby, leo, zoe, sam, kate, peter, julia, alex, maria, david, laura,
    mom, dad, mum, grandma, grandpa, granny, mommy, daddy, paul, nina, eric, hannah, robert, alice, michael, eva, george, ryan, amy, adam, jacob, isabel, felix, rosa, carlos, priya, omar, ivan, liam, nick, lucy,
    abuela, abuelo, grandad, gran, nan, gramps, mama, papi, cousin amy, baby leo, little sam, big john, quan, sylvia, jeremy, thuy, dean, federico, seth, wesley, asif, alejandro, malin, emiliano, benita, daphne, lindsay,
    dagmar, nikhil, nadia, axel, robin, courtney, femke, dominic, joel, wolfgang, jaya, julian, leonard, mason, tomoko, taylor, chika, maggie, jamie, whitney, laila, penny, natalie, ronnie, randy, bernice, laurent,
    dennis, zach, rishi, jill, joshua, ismail, ganesh, shabnam, herbert, miroslav, milo, cheryl, nathaniel, janice, jonah, melanie, silvia, angela, vijay, dorota, lewis, sachin, jeff, malcolm, helmut, raul, zeynep, isha,
    danny, ling, heike, ted, manoj, tess, ngozi, carmen, jenna, odile, thelma, zara, dilip, reggie, esther, manfred, mabel, karin, sonia, lionel, alexandra, trevor, gunther, devi, akio, efe, nicole, leslie, esperanza,
    brooke, sally, marjorie, maryam, haruka, hassan, jens, rafiq, usha, minh, carter, gilbert, mattias, yvonne, kamal, phyllis, andrea, nicola, ernesto, adrian, edmund, guillermo, tina, uwe, claudio, johan, kumar,
    aleksander, jacek, bilal, vivek, wilfred, marie, kathleen, philip, wanjiru, akira, zuzana, ivy, temi, prem, rita, goran, benoit, sita, farid, alicia, amanda, garrett, lucinda, roberta, harold, habib, vasily, tomas,
    benjamin""",
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
    return named(g, ["thermostat", "thermostat", "temperature", "temperature", "heating", "heat", "heater", "temp"])


def control(g):
    return named(g, ["thermostat", "thermostat", "thermostat", "climate control", "temperature control"])


def heating(g):
    return named(g, ["heating", "heating", "heat", "heat", "heater", "radiator", "furnace", "central heating", "radiators", "heaters", "boiler"])


def cooling(g):
    return named(g, ["ac", "ac", "air conditioning", "air conditioner", "air con", "a c", "cooling", "aircon", "air conditioning unit", "a/c"])


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


def other_temp(g):
    """A temperature that is not the one wanted."""
    return temp(g)[0], None


def shift(g):
    """ "22 is too warm, go to 20" """
    n, m = target(g), g.number(1, 5)
    up = g.chance(0.5)
    return f"{g.say_number(n - m if up else n + m)}{g.pick([' degrees', '', ''])} is too {g.pick(['cold', 'cool', 'low', 'chilly'] if up else ['warm', 'hot', 'much', 'high'])} {g.pick(['go to', 'make it', 'set it to', 'put it on', 'try'])} {g.say_number(n)}", n


def other_the(g):
    """A room that is not the one wanted; its words are left to the noise."""
    return the(g)[0].replace(GLUE, " ").strip(), None


def state(g):
    s = g.pick(["on", "off"])
    return s, (s,)


SLOTS = {"room": room, "the": the, "at": at, "in": where, "here": here, "thermo": thermo, "control": control, "heating": heating, "cooling": cooling, "deg": deg, "temp": temp, "amt": amount, "more": more_amount, "much": much, "bit": bit, "state": state, "othertemp": other_temp, "shift": shift, "otherthe": other_the}


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
    return {"temperature": next(v[k] for k in ("deg", "temp", "shift") if k in v)}


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
            "{the} to {deg}", "{the} {deg}", "temp {temp} {in}", "temp to {temp} {in}", "set temp [to] {temp} {in}", "set the temp to {temp} {in}", "set heat to {temp} {in}", "set heating to {temp} {in}", "{deg} please {in}",
            "make it {deg}", "set it to {deg} {in}", "put it on {deg} {in}", "turn it (up|down) to {deg} {in}", "drop it to {deg} {in}", "bump it (up|down) to {deg} {in}", "go to {deg} {in}",
            "(whack|stick|pop|bung|chuck|knock|bump|nudge|crank|jack) {heating} (up|down) to {temp}", "(whack|stick|pop|bung|put) {heating} on (at|to) {temp}", "(crank|bump|jack|push|nudge|hike) {thermo} up to {temp}",
            "(drop|knock|bring|dial|bump|nudge) {thermo} (down|) to {temp}", "{shift}", "{shift} {in}",
            "{the} is too (hot|warm|cold) (set it to|make it|put it on|drop it to|go to) {temp}", "it's too (hot|warm|cold) {here} (set it to|make it|put it on|go to) {deg}",
            "i'm (hot|cold|freezing|boiling) (set it to|put it on|make it) {deg}", "i would like it {deg} {in}", "i would like {deg} {in}", "ac {deg} {in}", "ac to {temp} {in}", "ac on {deg} {in}", "set ac to {temp} {in}",
            "put ac on {temp}", "put the ac on {temp} {in}",
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
            "put heating on {temp}", "put heater on {temp}", "keep ac at {temp}", "keep the ac at {temp} {in}", "keep {cooling} at {temp}", "keep {heating} at {temp}", "keep temperature {temp} {in}", "keep temperature at {temp} {in}",
            "keep it {deg} {in}", "keep it at {deg} overnight {in}", "leave it at {deg} {in}", "leave {the} at {deg}", "stay at {deg} {in}", "hold {the} at {deg}", "make temperature {temp} {in}", "make the temperature {temp} {in}",
            "make the temperature {deg} {in}", "change temperature to {temp} {in}", "change temp to {temp} {in}", "change the temp to {temp} {in}", "adjust the temp to {temp} {in}", "temperature please {temp}",
            "temperature {deg} please", "heat on {deg} {in}", "heat at {temp} {in}", "heater {temp}", "heater to {temp} {in}", "heater on {deg} {in}", "heating on {deg} {in}", "heating at {temp} {in}", "thermostat on {temp} {in}",
            "cooling to {temp} {in}", "cooling at {temp} {in}", "air con {deg} {in}", "air con to {temp} {in}", "air conditioning to {temp} {in}", "{cooling} on {deg}", "{heating} on {deg}", "{heating} {deg}", "{heating} at {temp}",
            "{room} temp {temp}", "{room} temp to {temp}", "{room} heat {temp}", "{room} heat to {temp}", "{room} ac {temp}", "{room} ac to {temp}", "{room} on {deg}", "{room} up to {deg}", "{room} down to {deg}", "{the} at {deg}",
            "{the} on {deg}", "{the} up to {deg}", "{the} down to {deg}", "{the} needs to be {deg}", "{the} needs to be at {deg}", "{the} needs {deg}", "{the} should be around {deg}", "{the} must be {deg}", "{the} ought to be {deg}",
            "i want at least {deg} {at}", "i want exactly {deg} {in}", "i want about {deg} {at}", "i want {the} to be {deg}", "i want the temperature to be {temp} {in}", "i want the temperature at {temp} {in}",
            "i want the heating at {temp} {in}", "i need {the} at {deg}", "i need it {deg} for the baby {in}", "i need the temperature at {temp} {in}", "i'd like the temperature at {temp} {in}", "i'd like {the} set to {temp}",
            "i would like {the} at {deg}", "i would like the temperature at {temp}", "i am cold make it {deg} {in}", "i am hot make it {deg} {in}", "i like it {deg} {in}", "we like it {deg} {in}", "grandma likes it {deg} {at}",
            "the baby needs {deg} {at}", "guests are coming make it {deg} {in}", "bedtime set it to {deg}", "bedtime temperature {temp}", "i'm off to bed put {thermo} on {temp}", "i'm off out put {thermo} down to {temp}",
            "we're going out drop {thermo} to {temp}", "we're home put {thermo} up to {temp}", "i'm home set {thermo} to {temp}", "it's freezing {here} set it to {deg}", "it's freezing {here} put {heating} up to {temp}",
            "it's boiling {here} set it to {deg}", "it's boiling {here} put {cooling} on {deg}", "it is too cold {here} make it {deg}", "it is too hot {here} make it {deg}", "bit cold {here} make it {deg}",
            "bit warm {here} make it {deg}", "up to {deg} {in}", "down to {deg} {in}", "up to {deg} please", "down to {deg} please", "get it up to {deg} {in}", "get it down to {deg} {in}",
            "get it to {deg} {in}", "get {the} warmed up to {deg}", "bring it up to {deg} {in}", "bring it down to {deg} {in}", "bring {the} up to {deg}", "bring {the} down to {deg}", "bring the temp to {temp} {in}",
            "take it down to {deg} {in}", "take it up to {deg} {in}", "turn {the} to {deg}", "turn {the} up to {deg}", "turn {the} down to {deg}", "turn the temp to {temp} {in}", "turn the dial to {temp}", "turn heat to {temp}",
            "turn heating to {temp} {in}", "warm {the} to {deg} please", "warm it to {deg} {in}", "heat it to {deg} {in}", "heat it up to {deg} {in}", "cool it to {deg} {in}", "chill {the} to {deg}", "try {deg} {in}",
            "let's try {deg} {in}", "let's do {deg} {in}", "let's say {deg} {in}", "could you set it to {deg} {in}", "could you put it on {deg} {in}", "can you do {deg} {in}", "can you set it to {deg} {in}", "can we do {deg} {in}",
            "could we make it {deg} {in}", "could i get {deg} {in}", "can i get {deg} {in}", "may i have {deg} {in}", "would you make it {deg} {in}"],
        held=[
            "have {thermo} go to {temp}", "i'd love to have {deg} {in}", "let me have {deg} {in}", "let {the} get to {deg}", "let's bring {the} to {deg}", "{deg} would be nice {in}", "{deg} is what i want {at}", "take {thermo} to {temp}",
            "make sure it's {deg} {at}", "see that {the} is at {deg}", "would it be possible to get {deg} {at}", "i feel good at {deg} so set {thermo}", "get it {deg} warm {at}", "have {the} warmed up to {deg}", "preheat {the} to {deg}",
        ],
        slots=SLOTS, call=opening(degrees), result=done, say=say),
    Intent(
        "climate.change", weight=2.2,
        patterns=each(UP, [
            "(turn|bring|crank|put|push) {heating} up {bit}", "(turn up|raise|increase|crank up|bump up|boost|put up) {heating} {bit}", "turn up the heat {in}", "turn the heat up {in}", "turn the heating up {bit} {in}", "turn up the heating {in}",
            "raise the temp {amt} {in}", "(raise|increase|up|bump up|put up) the temp [by] {amt} {in}", "(raise|increase|up) the temp {in}", "turn it up {amt} {in}", "turn it up by {amt} {in}", "put it up {amt} {in}",
            "bump it up {amt} {in}", "bump it up by {amt} {in}", "up it by {amt} {in}", "temp up {in}", "temp up {amt} {in}", "up the heat {in}", "up the heating {in}", "i'm cold turn {heating} up", "i'm cold turn up {heating}",
            "i'm (freezing|frozen) turn {heating} up {bit}", "it's (cold|freezing|chilly) {here} turn {heating} up {bit}", "it's (cold|freezing|chilly|nippy) {here} turn it up {bit}",
            "it's (cold|freezing|chilly|nippy) {here} (bump|put|turn) it up {amt}", "it's a bit (chilly|cold|nippy|parky|fresh) {here} isn't it", "it's (cold|chilly|nippy) {here} isn't it",
            "it's a bit (chilly|cold|nippy) {here} (can|could) you do something [about it|about that]", "it's a bit (chilly|cold|nippy) isn't it can you do something about (that|it)", "can you do something about the cold {here}",
            "{the} is (too cold|cold|freezing|chilly) (turn it up|warm it up|bump it up|heat it up)", "{the} is (too cold|cold|freezing|chilly) (turn it up|put it up|bump it up|raise it) [by] {amt}",
            "(whack|crank|stick|bump|jack|knock|push|nudge) {heating} up {bit}", "bit (chilly|cold|nippy|brisk|fresh) {here}", "(chilly|nippy|freezing|cold) {here}", "cold {at}", "freezing {at}",
            "{room} is (cold|freezing|too cold|chilly)", "{room} too cold", "{room} warmer", "{the} warmer", "brrr it's cold {here}", "brr it's (cold|freezing|chilly) {here}", "i am cold",
            "i am (cold|freezing|so cold|very cold) {here}", "i am feeling cold {here}", "i'm feeling (cold|chilly) {here}", "feeling cold {here}", "it is (cold|too cold|so cold|very cold|freezing|chilly) {here}",
            "i'm freezing my (butt|bum|backside|toes|socks|ears|nose) off {here}",
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
            "it's (baltic|arctic|perishing|bitter|parky|nippy|frosty) {here}", "it's flipping freezing {here}", "it's bloody freezing {here}", "it's freaking cold {here}", "it's cold as ice {here}",
            "it's like (an igloo|the arctic|siberia|antarctica|a meat locker|a cold store) {here}", "it feels like a (fridge|freezer) {here}", "it's not very warm {here}", "it's not exactly warm {here}", "it's not warm {here}",
            "it isn't warm {here}", "it's gone cold {here}", "it's got cold {here}", "it got cold {here}", "it's turned cold {here}", "it could do with being (warmer|a bit warmer) {here}", "could do with a bit of heat {here}",
            "could do with being warmer {here}", "i could do with (some|a bit of|a bit more) heat {here}", "i could do with it (warmer|a bit warmer) {here}", "i could use some heat {here}", "i want it hotter {here}",
            "i want warmer {in}", "i want more warm {in}", "i want more heat {in}", "i need more heat {in}", "i need it warmer {in}", "i need some warmth {in}", "i need to warm up {here}",
            "i can't feel my (toes|fingers|feet|hands|nose) {here}", "i can't get warm {here}", "i can't sleep it's too cold {here}", "i'm an icicle {here}", "i'm a block of ice {here}", "i'm blue with cold {here}",
            "i'm catching a cold {here} make it warmer", "i'm frozen {here}", "i'm frozen solid {here}", "i'm wearing my coat {here} it's so cold", "i'm wearing a hat {here} make it warmer", "i've got goosebumps {here}",
            "i've got cold feet {here} turn the heating up", "i've got three sweaters on {here} it's so cold", "grandma is cold {here}", "grandpa is freezing {here}", "my husband is cold", "the dog is shivering",
            "the guests are cold {here}", "everyone is cold {here}", "everybody is freezing {here}", "nobody is warm {here}", "we are cold {here}", "we are freezing {here}", "we could do with more heat {here}",
            "we need more heat {in}", "we need it warmer {in}", "the house is (cold|freezing|chilly)", "the house is too cold", "our house is freezing", "this room is (cold|freezing|too cold|so cold)", "this place is freezing",
            "this house is so cold", "why is this room so cold", "why's it so cold {here}", "why is it freezing {here}", "what's with the cold {here}", "can't feel my toes {here}", "get {the} warmer", "get it warmer {in}",
            "get it warmed up {in}", "get some heat (going|on) {in}", "get some heat into {the}", "give us some heat {in}", "give {the} a bit more heat", "give {the} some heat", "bring some heat into {the}",
            "bring the temperature up {bit} {in}", "bring the temperature up {amt} {in}", "bring {the} up {amt}", "turn {the} up {amt}", "turn {the} up a bit", "put {the} up {amt}", "bump {the} up {amt}", "raise {the} by {amt}",
            "raise {the} {amt}", "raise it {amt} {in}", "raise it by {amt} {in}", "increase it by {amt} {in}", "increase temperature by {amt} {in}", "increase temperature {in}", "increase heat {in}", "increase the heat {bit} {in}",
            "higher temperature {in}", "more heat please {in}", "more warm {in}", "more warmth please {in}", "make more warm {in}", "make it more warm {in}", "make it hot {in}",
            "make it (nice and warm|toasty|nice and toasty|cosy and warm) {in}", "make {the} (nice and warm|toasty)", "make my room warmer", "make this room warmer", "make us warm {here}", "warm me up", "warm us up {here}",
            "warm up {the} {bit} before (bed|we go to bed|dinner|the guests come|the kids get up)", "warm {the} up {bit} before (bed|we go to bed|dinner|the guests come)", "warm up this room", "warm this room up", "warm up the place",
            "warm the place up a bit", "take the chill off {in}", "take the chill off {the}", "heat up this room", "heat this room up", "heat the place up", "{amt} up {in}", "{amt} more heat {in}", "{heating} up {amt}",
            "{heating} up a bit", "{heating} a bit higher", "{heating} higher", "{thermo} higher", "{thermo} up a notch", "{thermo} up a bit", "{room} up {amt}", "{room} {amt} warmer", "{room} heating up", "{room} heating up {amt}",
            "{room} a bit warmer", "{the} a bit warmer", "{the} {amt} warmer", "a bit warmer {in} please", "a tad warmer {in}", "a smidge warmer {in}", "slightly warmer {in}", "way warmer {in}", "warmer please {in}", "hotter {in}",
            "nudge the heat up {in}", "nudge {thermo} up {bit}", "nudge {thermo} up {amt}", "notch {heating} up", "crank {heating}", "crank it up it's freezing {here}", "hike up the heat {in}", "kick up the heat {in}",
            "boost the heat {in}", "could you up the heating {bit}", "would you turn the heat up it's cold {here}", "could we have a bit more heat {in}", "could we have it warmer {in}", "could we get it warmer {in}",
            "is it possible to make it warmer {in}", "any chance of some heat {here}", "any chance of more heat {here}", "it would be nice if it was warmer {here}", "it would be nice to be warmer {here}",
            "it needs to be warmer {here}", "it must be warmer {here}", "{the} needs to be warmer", "{the} has to be warmer", "{the} needs warming up", "{the} is not warm", "{the} is a bit chilly",
            "{the} is (freezing cold|ice cold|baltic)", "{the} is not warm enough for the baby",
        ]) + each(DOWN, [
            "(turn|bring|put|take|dial) {heating} down {bit}", "(turn down|lower|reduce|decrease|put down) {heating} {bit}", "turn down the heat {in}", "turn the heat down {in}", "turn the heating down {bit} {in}", "turn down the heating {in}",
            "(lower|decrease|drop|reduce|put down) the temp [by] {amt} {in}", "(lower|decrease|drop|reduce) the temp {in}", "turn it down {amt} {in}", "turn it down by {amt} {in}", "put it down {amt} {in}", "drop it {amt} {in}",
            "drop it by {amt} {in}", "knock it down {amt} {in}", "take it down {amt} {in}", "temp down {in}", "temp down {amt} {in}", "lower the heat {in}", "lower the heating {in}", "lower it {amt} {in}",
            "i'm hot turn {heating} down", "i'm hot turn down {heating}", "it's (hot|boiling|too warm|roasting) {here} turn {heating} down {bit}", "it's (hot|boiling|too warm|roasting) {here} turn it down {bit}",
            "it's (hot|too hot|boiling|too warm) {here} (drop|turn|knock|take|bring) it down {amt}", "it's a bit (warm|hot|toasty) {here} isn't it", "it's (hot|warm) {here} isn't it",
            "it's a bit (warm|hot|stuffy) {here} (can|could) you do something [about it|about that]", "can you do something about the heat {here}",
            "{the} is (too hot|too warm|boiling|hot|roasting) (turn it down|cool it down|lower it|bring it down)", "{the} is (too hot|too warm|boiling|hot) (drop it|turn it down|lower it|bring it down|take it down) [by] {amt}",
            "(knock|bump|take|push|nudge|drop|ease) {heating} down {bit}", "(knock|take|shave) {amt} off {thermo}", "(knock|take|shave) {amt} off {in}", "bit (warm|hot|toasty) {here}", "(boiling|roasting|sweltering) {here}",
            "hot {at}", "boiling {at}", "{room} is (hot|boiling|too hot|too warm)", "{room} too (hot|warm)", "{room} (cooler|colder)", "{the} (cooler|colder)", "phew it's (hot|warm) {here}", "phew it's so hot {here}", "i am hot",
            "i am (hot|boiling|so hot|too hot|very hot|sweating) {here}", "i am feeling hot {here}", "i'm feeling (hot|too warm) {here}", "feeling hot {here}", "it is (hot|too hot|too warm|so hot|very hot|boiling) {here}",
            "i'm sweating my (butt|bum|backside) off {here}",
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
            "it's (stifling|scorching|baking|broiling|steaming|blistering) {here}", "it's bloody boiling {here}", "it's freaking hot {here}", "it's flipping hot {here}",
            "it's like a (sauna|furnace|greenhouse|oven|steam room|hot house) {here}", "it's like (the sahara|the tropics|hell) {here}", "it feels like a sauna {here}", "it's not cool {here}", "it isn't cool enough {here}",
            "it's gone hot {here}", "it's got really warm {here}", "it got hot {here}", "it's way too toasty {here}", "it could do with being (cooler|a bit cooler) {here}", "could do with being cooler {here}",
            "i could do with it (cooler|a bit cooler) {here}", "i want it colder {here}", "i want cooler {in}", "i want less heat {in}", "i want to cool down {here}", "i need it cooler {in}", "i need to cool down {here}",
            "i'm cooking {here} it's so hot", "i'm dripping with sweat {here}", "i'm drenched in sweat {here}", "i'm sweating buckets {here}", "i'm sweating like a pig {here}", "i'm way too hot {here}", "i'm sweltering {here}",
            "i'm dying {here} it's boiling", "i'm melting away {here}", "i'm getting hot {here}", "i'm getting too warm {here}", "i can't breathe it's so hot {here}", "i can't think it's so hot {here}", "i'm too hot to sleep {here}",
            "grandma is too hot {here}", "my husband is too warm", "the dog is panting {here} it's too hot", "the guests are sweating {here}", "everyone is too hot {here}", "everybody is boiling {here}", "we are hot {here}",
            "we are boiling {here}", "we are too warm {here}", "we need it cooler {in}", "the house is (too hot|boiling|too warm)", "the house is like an oven", "our house is boiling", "this room is (too hot|boiling|too warm|so hot)",
            "this place is boiling", "this house is so hot", "why is this room so hot", "why's it so hot {here}", "why is it boiling {here}", "too much heat {in}", "too much heating {in}", "the heat is too much {here}",
            "the heat is killing me {here}", "the heating is too high {in}", "the heating is too hot {in}", "the heat's too high {in}", "get {the} cooler", "get it cooler {in}", "get it cooled down {in}", "give {the} less heat",
            "bring the temperature down {bit} {in}", "bring the temperature down {amt} {in}", "bring {the} down {amt}", "turn {the} down {amt}", "turn {the} down a bit", "take {the} down {amt}", "put {the} down {amt}",
            "drop {the} {amt}", "drop {the} by {amt}", "lower {the} by {amt}", "lower it by {amt} {in}", "reduce it by {amt} {in}", "decrease it by {amt} {in}", "decrease temperature by {amt} {in}", "decrease temperature {in}",
            "decrease the heat {in}", "reduce heat {in}", "reduce temperature {in}", "reduce temperature by {amt} {in}", "lower temperature {in}", "less heat please {in}", "less hot {in}", "less warm {in}", "make it less hot {in}",
            "make it less warm {in}", "make it cool {in}", "make it (nice and cool|cool and fresh) {in}", "make {the} nice and cool", "make my room cooler", "make this room cooler", "cool me down", "cool us down {here}",
            "cool down {the} {bit} before (bed|we go to bed|the guests come)", "cool {the} down {bit} before (bed|we go to bed|the guests come)", "cool down this room", "cool this room down", "cool this place down",
            "cool the place down a bit", "chill {the} {bit}", "chill the room", "ease off the heating {in}", "ease off the heat {in}", "ease up on the heating {in}", "go easy on the heating {in}", "take the heat down {bit} {in}",
            "{amt} down {in}", "{amt} less heat {in}", "{heating} down {amt}", "{heating} down a bit", "{heating} a bit lower", "{heating} lower", "{thermo} lower", "{thermo} down a notch", "{thermo} down a bit", "{room} down {amt}",
            "{room} {amt} cooler", "{room} heating down", "{room} heating down {amt}", "{room} a bit cooler", "{the} a bit cooler", "{the} {amt} cooler", "a tad cooler {in}", "a smidge cooler {in}", "slightly cooler {in}",
            "way cooler {in}", "cooler please {in}", "nudge the heat down {in}", "nudge {thermo} down {bit}", "nudge {thermo} down {amt}", "notch {heating} down", "could you lower the heating {bit}",
            "would you turn the heat down it's hot {here}", "could we have it cooler {in}", "could we get it cooler {in}", "is it possible to make it cooler {in}", "any chance of it being cooler {here}",
            "it would be nice if it was cooler {here}", "it needs to be cooler {here}", "it must be cooler {here}", "{the} needs to be cooler", "{the} has to be cooler", "{the} needs cooling down",
            "{the} is (boiling hot|sweltering|stifling|roasting|like a sauna|an oven)", "{the} is too warm for the baby",
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
            "heating on it's (freezing|cold|chilly)", "heating on i'm (freezing|cold)", "heat on it's (freezing|cold)", "{heating} on it's (freezing|cold|chilly) {here}", "heating please {in}",
            "(whack|stick|pop|bung|bang|chuck|throw|flick|get|click) {heating} on", "(whack|stick|pop|bung|bang|throw|get) the heating on {in}", "(pop|stick|put) the heating on for a bit {in}", "switch on heating {in}",
            "put on the heating {in}", "put heating on {in}", "put on heater {in}", "put the heat on {in}", "put the heating on {in}", "switch the heating on {in}", "turn heating on {in}", "turn on heating {in}", "turn on heat {in}",
            "turn heater on {in}", "(put|set|turn|switch) {control} (in|into|on) (heat|heating) [mode]", "{control} (to|on) (heat|heating)", "heat mode on {in}", "it's (cold|freezing) {here} put {heating} on",
            "i'm cold put {heating} on",
            "{heating} on", "{room} heating on", "(start|activate|enable|run|fire up|start up) {heating}", "start heating {in}", "start heating {the}", "(i want|i need|i'd like|we need) {heating} on", "i need [the] heat on {in}", "we need heating {in}",
            "(set|switch|change|put|turn) {control} to heat", "(set|switch|change|put|turn) {control} to heating", "(set|switch|change|put) {control} to (heat|heating) mode", "(heat|heating) mode {in}", "thermostat to heat {in}", "thermostat on heat",
            "switch to heat {in}", "switch to heating {in}", "go to heating mode {in}", "it's cold turn on {heating}", "i'm cold turn {heating} on", "i'm freezing turn on {heating}", "it's freezing {here} turn the heat on", "can we have {heating} on",
            "could you put {heating} on", "let's have {heating} on", "time to turn {heating} on", "make sure {heating} is on", "{heating} should be on", "get {heating} going", "let {heating} run", "turn on the seat heating in the car => room=car",
            "turn on the heater in the car => room=car", "car heating on => room=car", "put the car heater on => room=car",
            "let's get {heating} on", "let's get the heating on {in}", "it's winter turn {heating} on", "winter is here turn {heating} on", "we're home put {heating} on", "i'm home put {heating} on",
            "the kids are cold put {heating} on", "it's cold enough for {heating} turn it on", "can i have {heating} on", "can we get {heating} on", "can we put the heating on {in}", "could we have the heating on {in}",
            "i would like {heating} on", "i want heat {in}", "i want heating {in}", "i want the heating on {in}", "i want the heat on {in}", "i need heating {in}", "we want heating on {in}", "heating on please {in}",
            "heat on please {in}", "heat please {in}", "heaters on {in}", "heater on please", "radiator on {in}", "boiler on", "central heating on", "on the heating {in}", "on the heater {in}", "open the heating {in}",
            "open {heating}", "heating mode on {in}", "heating start {in}", "start heating please {in}", "begin heating {in}", "set it to heat {in}", "set it to heating {in}", "set heat mode {in}", "set heating mode {in}",
            "set to heat {in}", "change to heating {in}", "change to heat mode {in}", "go to heat {in}", "switch from cool to heat {in}", "switch from cooling to heating {in}", "change from cooling to heating {in}",
            "switch over to heating {in}", "switch {control} over to heat", "turn {heating} back on", "switch {heating} back on", "put {heating} back on", "{heating} back on", "{heating} on again", "kick {heating} on",
            "get {heating} started", "get {heating} running", "have {heating} on", "is it possible to have {heating} on", "would you mind putting {heating} on", "mind putting {heating} on",
        ]) + each("mode=off", [
            "(turn|switch|shut|put) {heating} off", "(turn|switch|shut) off {heating}", "turn off the heat {in}", "turn the heat off {in}", "turn off the heating {in}", "turn the heating off {in}", "heating off {in}", "heat off {in}", "heater off {in}",
            "heating off please {in}", "{heating} off please", "it's warm enough turn {heating} off", "it's warm enough (now|) heating off", "that's warm enough turn {heating} off", "i'm warm enough now turn {heating} off",
            "we're (leaving|going out|going away|off) (turn|switch) {heating} off", "nobody's home turn {heating} off", "the (window's|windows are) open turn {heating} off", "turn heating off {in}", "turn off heating {in}",
            "turn off heat {in}", "turn off ac {in}", "turn ac off {in}", "switch off the heating {in}", "switch off the ac {in}", "switch off ac {in}", "switch the heating off {in}", "put the heating off {in}",
            "(kill|cut|ditch|lose|nix|scrap|stop) {heating}", "(kill|cut|ditch|lose|nix|scrap|stop) {cooling}", "it's (cold|freezing|chilly) {here} (turn|switch) {cooling} off", "it's cold kill {cooling}",
            "it's (hot|boiling|too warm) {here} (turn|switch) {heating} off", "ac off please {in}", "ac off it's (cold|freezing|chilly) {in}", "{cooling} off it's (cold|freezing|chilly)", "{heating} off it's (hot|boiling|roasting)",
            "heating off it's (hot|boiling|roasting|warm enough)",
            "{heating} off", "{room} heating off", "(stop|deactivate|disable|kill|cut|shut down|end) {heating}", "stop heating {in}", "stop heating {the}", "don't heat {the}", "no heating {in}", "no heat {in}", "no more heating {in}",
            "i don't need {heating} [anymore|any more|now]", "we don't need {heating} [anymore|now]", "(i want|i'd like) {heating} off", "i forgot to turn off {heating}", "i left {heating} on turn it off", "i'm leaving turn {heating} off",
            "it's too warm turn off {heating}", "it's hot turn {heating} off", "i'm hot turn {heating} off", "make sure {heating} is off", "{heating} should be off", "save energy turn {heating} off", "summer is here turn off {heating}",
            "nobody is {at} turn off the heating",
            "(turn|switch|shut|put) {cooling} off", "(turn|switch|shut) off {cooling}", "ac off {in}", "air conditioning off {in}", "{cooling} off", "{room} ac off", "(stop|deactivate|disable|kill|cut|shut down|end) {cooling}", "stop cooling {in}",
            "stop cooling {the}", "i don't need {cooling} [anymore|any more|now]", "we don't need {cooling}", "no air conditioning {in}", "no ac {in}", "it's cold turn off {cooling}", "i'm freezing turn {cooling} off",
            "{cooling} is too cold turn it off", "(i want|i'd like) {cooling} off", "make sure {cooling} is off", "i left {cooling} on turn it off",
            "(turn|switch|shut) {control} off", "(turn|switch|shut) off {control}", "{control} off", "thermostat off {in}", "(set|switch|turn|change) {control} to off", "(stop|disable|deactivate) {control}", "no heating or cooling {in}",
            "heating and cooling off {in}", "turn off heating and cooling {in}", "turn the car heating off => room=car", "turn off the ac in the car => room=car", "car ac off => room=car",
            "heat off please {in}", "heat off it's hot {in}", "heaters off {in}", "radiator off {in}", "boiler off", "central heating off", "off the heating {in}", "off the heater {in}", "off the ac {in}", "off {cooling}",
            "off {heating}", "put off the ac {in}", "put off the heater {in}", "close the ac {in}", "close {cooling}", "close {heating}", "shut off the heat {in}", "shut off the ac {in}", "shut the heating off {in}",
            "shut down the ac {in}", "shut {control} down", "shut down {control}", "power off {heating}", "power off {cooling}", "power down {cooling}", "flick {heating} off", "pop {heating} off", "knock {heating} off",
            "knock {cooling} off", "knock the heating off {in}", "i want {heating} off now", "i want no heating {in}", "i would like {heating} off", "i would like {cooling} off", "i want {cooling} off now", "i want the ac off {in}",
            "we don't need the heating on {in}", "we don't need the heat on {in}", "we don't need the ac on {in}", "i don't need the heating on {in}", "i don't need the ac on {in}", "i don't want {heating} on",
            "i don't want {cooling} on", "i don't want the ac {in}", "don't need {heating} [anymore]", "don't need {cooling} [anymore]", "no need for {heating} [anymore|now]", "enough heating {in}", "enough heat turn it off {in}",
            "enough ac {in}", "that's enough heating {in}", "that's enough ac {in}", "cool enough now turn {cooling} off", "it's cool enough turn {cooling} off", "it's cool enough now ac off", "i'm cold turn {cooling} off",
            "i'm cold turn off {cooling}", "i'm cold ac off", "it's spring turn {heating} off", "it's summer turn {heating} off", "we're going on holiday turn {heating} off", "i'm going out turn {heating} off",
            "i'm going out turn off {cooling}", "i'm off out {heating} off", "i left {heating} on switch it off", "i forgot {heating} turn it off", "i forgot to switch off {cooling}", "did i leave {heating} on turn it off",
            "{heating} is still on turn it off", "{cooling} is still on turn it off", "{heating} is on turn it off", "{heating} can go off", "{heating} can go off now", "{heating} can stop", "{cooling} can stop", "stop {heating} now",
            "stop blowing cold air {in}", "stop the cold air {in}", "stop heating please {in}", "stop cooling please {in}", "make {heating} stop", "make {cooling} stop", "quit heating {the}", "quit cooling {the}",
            "save some energy turn off {heating}", "save money turn {heating} off", "we're wasting energy turn {heating} off", "no more ac {in}", "no more cooling {in}", "no more heat {in}",
        ]) + each("mode=cool", [
            "(turn|switch|put|get) {cooling} on", "(turn|switch|put|power) on {cooling}", "turn on the ac {in}", "turn the ac on {in}", "turn on the air conditioning {in}", "turn the air conditioning on {in}", "air conditioning on {in}", "ac on {in}",
            "ac on it's (sweltering|boiling|hot|roasting) {in}", "air conditioning on it's (sweltering|boiling|hot|roasting)", "{cooling} on it's (sweltering|boiling|hot|roasting)", "{cooling} on i'm (boiling|melting|sweating|hot)",
            "ac please {in}", "(whack|stick|pop|bung|bang|chuck|throw|flick|get|click|blast) {cooling} on", "blast the ac {in}", "turn on ac {in}", "turn ac on {in}", "switch on ac {in}", "switch on the ac {in}",
            "switch the ac on {in}", "put the ac on {in}", "put ac on {in}", "put on ac {in}", "put on the air con {in}", "ac on please {in}", "(put|set|turn|switch) {control} (in|into|on) (cool|cooling) [mode]",
            "{control} (to|on) (cool|cooling)", "cool mode on {in}", "it's (hot|boiling|sweltering|roasting) {here} put {cooling} on", "it's (hot|boiling|sweltering) {here} turn {cooling} on",
            "i'm (hot|boiling|melting) put {cooling} on", "i'm (hot|boiling|sweating) turn on {cooling}",
            "{cooling} on", "{room} ac on", "(start|activate|enable|run|fire up|start up) {cooling}", "start cooling {in}", "start cooling {the}", "(i want|i need|i'd like|we need) {cooling} on", "i need the ac {in}", "we need air conditioning {in}",
            "give me some ac {in}", "some cool air {in}", "give me some cool air {in}", "i need cold air {in}", "(set|switch|change|put|turn) {control} to cool", "(set|switch|change|put|turn) {control} to cooling",
            "(set|switch|change|put) {control} to (cool|cooling) mode",
            "(cool|cooling) mode {in}", "thermostat to cool {in}", "switch to cooling {in}", "switch to cool {in}", "it's hot turn on {cooling}", "i'm hot turn {cooling} on", "i'm sweating turn on {cooling}", "it's boiling {here} turn the ac on",
            "can we have {cooling} on", "can i have the ac on {in}", "could you put {cooling} on", "let's have {cooling} on", "time to turn {cooling} on", "make sure {cooling} is on", "{cooling} should be on", "get {cooling} going", "let {cooling} run",
            "turn on the ac in the car => room=car", "start the air conditioning in the car => room=car", "car ac on => room=car",
            "air con on {in}", "aircon on {in}", "air conditioner on {in}", "cooling on {in}", "let's get {cooling} on", "let's get the ac on {in}", "let's have some ac {in}", "get some ac going {in}",
            "get some cool air (going|in here)", "get some cold air (going|in here)", "it's summer turn {cooling} on", "we're home put {cooling} on", "the kids are hot put {cooling} on", "can i have {cooling} on",
            "can we get {cooling} on", "can we put the ac on {in}", "could we have the ac on {in}", "could i have {cooling} on", "i would like {cooling} on", "i want ac {in}", "i want the ac on {in}", "i want the ac {in}",
            "i want cold air {in}", "i want some cool air {in}", "i need ac {in}", "i need cooling {in}", "we need ac {in}", "we need the ac on {in}", "we want the ac on {in}", "on the ac {in}", "on {cooling}", "open the ac {in}",
            "open {cooling}", "start ac {in}", "start cooling please {in}", "begin cooling {in}", "cooling mode on {in}", "cooling please {in}", "set it to cool {in}", "set it to cooling {in}", "set cool mode {in}",
            "set cooling mode {in}", "set to cool {in}", "change to cooling {in}", "change to cool mode {in}", "go to cool {in}", "go to cooling {in}", "switch from heat to cool {in}", "switch from heating to cooling {in}",
            "change from heating to cooling {in}", "switch over to cooling {in}", "switch {control} over to cool", "turn {cooling} back on", "switch {cooling} back on", "put {cooling} back on", "{cooling} back on",
            "{cooling} on again", "kick {cooling} on", "get {cooling} started", "get {cooling} running", "have {cooling} on", "blow some cold air {in}", "some cold air please {in}", "cold air please {in}", "cold air {in}",
            "would you mind putting {cooling} on", "is it possible to have {cooling} on",
        ]) + each("mode=auto", [
            "(set|switch|change|put|turn) {control} to auto", "(set|switch|change|put|turn) {control} to automatic", "(set|switch|change|put) {control} to auto mode", "(set|put) {control} on auto", "auto mode {in}", "thermostat auto {in}",
            "(put|set|turn|switch) {control} (in|into|on) (auto|automatic) [mode]", "{control} to auto", "{control} (to|in) (auto|automatic) [mode]", "thermostat to auto {in}",
            "thermostat on auto {in}", "automatic mode {in}", "{control} on automatic", "{control} auto", "switch to auto {in}", "(set|switch|put|turn) {heating} to auto", "(set|put) {heating} on automatic", "{heating} on auto",
            "(set|switch|put|turn) {cooling} to auto", "{cooling} on auto", "let {control} decide", "let {control} do its thing", "let the thermostat run by itself {in}", "automatic heating and cooling {in}", "automatic temperature {in}",
            "let {control} run on auto",
            "set to auto {in}", "set it to auto {in}", "put it on auto {in}", "go to auto {in}", "go back to auto {in}", "go back to automatic {in}", "back to auto {in}", "{control} back to auto", "put {control} back on auto",
            "set {control} back to auto", "auto temperature {in}", "auto climate {in}", "auto mode on {in}", "auto mode please {in}", "automatic please {in}", "heating on auto {in}", "heating to auto {in}", "ac on auto {in}",
            "ac to auto {in}", "heat on auto {in}", "thermostat in auto {in}", "let {control} run itself", "let {control} choose", "let {control} handle it", "let {control} do it by itself", "let {control} manage it",
            "let {control} look after itself", "leave {control} on auto", "leave it on auto {in}", "keep {control} on auto", "change to auto {in}", "change to automatic {in}", "switch over to auto {in}", "switch to automatic {in}",
            "regulate the temperature automatically {in}", "control the temperature automatically {in}",
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
            "temp {here}", "temp {at}", "{room} temp", "temp in here", "what's the temp [in here|inside|now|right now]", "what temp is it {here}", "what temp is {the}",
            "is it (cold|warm|hot|chilly) {at} (right now|now|at the moment)", "is it (cold|warm|hot|chilly|freezing) {here} (right now|now)", "how (warm|cold|hot) {at}", "how (warm|cold|hot) is it {at} (now|right now|at the moment)",
            "how (warm|cold|hot) is it (now|right now)", "what's the temperature {here} (now|right now)", "what's the temperature right now", "what temperature is it", "what temperature is it now", "what temperature {at}",
            "temperature now", "temperature please", "temperature {at} please", "how many degrees {at}", "how many degrees now", "what's {the} (at|sitting at|like temperature wise)",
            "what does the thermostat (say|read|show|have) [{at}]", "what's the thermostat (saying|reading|showing) [{at}]", "what is it at {here}", "what's it at {here}",
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
            "what are we at {here}", "what's the reading {at}", "what's the reading on the thermostat {in}", "what's the thermometer reading {here}", "what's the thermometer at", "what does it say on the thermostat",
            "what does it say on the thermometer {here}", "what is the thermostat at", "what is the temp {here}", "what is the temperature of {the}", "what is {the} temperature", "what is temperature {here}",
            "what is temperature of {the}", "what is the room temperature {here}", "what temperature has {the} got", "what temperature does {the} have", "what temperature are we at {here}", "what temperature have you got {at}",
            "what temperature is it set to", "what temperature is the heating at {here}", "what temperature is the house", "what's the house at", "what's the temperature of the house", "what's the temp of {the}",
            "what's the temp like {here}", "what's the temperature doing {here}", "what's the heat like {here}", "how's the temp {here}", "how's the heat {here}", "how is the temperature {here}", "how warm are we {here}",
            "how warm have we got it {here}", "how warm has {the} got", "how warm does it feel {here}", "how warm exactly is it {here}", "how hot is it {here} exactly", "how hot has it got {here}", "how cold has it got {here}",
            "how cold did {the} get", "how cold is it getting {here}", "how toasty is it {here}", "how cool is {the}", "how freezing is it {here}", "how chilly is {the}", "how much is the temperature {here}",
            "how much degrees {here}", "how much degree is it {here}", "how is {the} warm or cold", "is it (freezing|boiling|roasting) {at}", "is it comfortable {here}", "is it nice and warm {here}", "is it nice and cool {here}",
            "is it warm {here} yet", "is it warm yet {here}", "is it cool yet {here}", "is it below {deg} {here}", "is it above {deg} {here}", "is it over {deg} {here}", "is it under {deg} {here}", "is it more than {deg} {here}",
            "is it less than {deg} {here}", "is it hotter than {deg} {here}", "is {the} above {deg}", "is {the} below {deg}", "is {the} over {deg}", "is {the} at {deg}", "is {the} at {deg} yet", "is {the} warm yet",
            "is {the} cool yet", "is {the} still (cold|warm|hot)", "is {the} warm enough for the baby", "is {the} comfortable", "is {the} freezing", "is {the} (warm|cold|hot) right now", "is the house warm enough",
            "is the house freezing", "is the baby warm enough {at}", "is my room (warm|cold|hot)", "has {the} reached {deg} [yet]", "has it reached {deg} {at} [yet]", "has it got any warmer {here}", "has it got warmer {here}",
            "has it cooled down {here}", "did {the} warm up", "did it warm up {here}", "did it get warmer {here}", "does {the} feel (warm|cold|hot)", "are we at {deg} {here} [yet]", "will i be cold {at}", "will i freeze {at}",
            "do i need a jumper {at}", "do i need a blanket {at}", "check temp {here}", "check temperature {here}", "check the temp {here}", "check how cold it is {here}", "check how cold {the} is", "check how warm {the} is",
            "check on the temperature {here}", "check {the} temperature", "read the temp {here}", "read temperature {here}", "show temperature {here}", "show me the temperature {here}", "show me the temp {here}",
            "say the temp {here}", "get temperature {here}", "get me the temperature {here}", "tell me the temp {here}", "tell me {the} temperature", "tell me temperature {here}", "tell me if it's (warm|cold|hot) {here}",
            "tell me if {the} is (warm|cold|hot)", "tell me if it's warm enough {here}", "give me the temp {here}", "give me the room temperature {here}", "give me the reading for {the}", "can i get the temperature {here}",
            "can i have the temperature {here}", "could i have the temp {here}", "can i know the temperature {here}", "may i know the temperature {here}", "could you check the temperature {here}",
            "could you check how warm it is {here}", "i need to know the temperature {here}", "i need to know how (warm|cold) it is {here}", "i would like to know the temperature {here}", "i want to know the temp {here}",
            "i wonder what the temperature is {here}", "any idea how warm it is {here}", "any idea of the temperature {here}", "do you know the temp {here}", "do you know how cold {the} is", "have you got the temperature {here}",
            "got the temp {here}", "thermometer {here}", "thermometer please", "thermostat reading {in}", "thermometer reading {here}", "thermostat status", "temperature check", "temperature status {here}", "temp check {here}",
            "temp check", "temp inside", "temp inside please", "temp now", "temp of {the}", "{the} temperature", "{the} temp", "{the} how warm is it", "{the} how cold is it", "{the} what's the temperature", "{room} how warm",
            "{room} how many degrees", "{room} degrees", "house temperature", "house temp", "indoor temp", "inside temp", "current temp {here}", "current temperature", "current room temperature", "our temperature {here}"],
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
                  "cool it to {temp}", "now {deg}", "make it {deg} then",
            "{temp} then", "{temp} instead", "{temp} please", "no sorry {temp}", "no wait {temp}", "wait {temp}", "oops {temp}", "oops i meant {temp}", "sorry {temp}", "actually {temp}", "actually make that {temp}", "i said {temp}",
            "i mean {temp}", "no no {temp}", "not {othertemp} {temp}", "no not {othertemp} {temp}", "{temp} not {othertemp}", "i said {temp} not {othertemp}", "i meant {temp} not {othertemp}", "let's try {temp}", "let's do {temp}",
            "let's go with {temp}", "let's make it {temp}", "let's make that {temp}", "go {temp}", "go for {temp}", "go with {temp}", "go to {temp}", "try {temp}", "rather {temp}", "better {temp}", "better make it {temp}",
            "drop it to {temp}", "drop it down to {temp}", "bump it to {temp}", "bump it up to {temp}", "bump it down to {temp}", "knock it down to {temp}", "crank it up to {temp}", "take it down to {temp}", "take it up to {temp}",
            "bring it up to {temp}", "bring it down to {temp}", "get it up to {temp}", "get it down to {temp}", "warm it up to {temp}", "cool it down to {temp}", "back to {temp}", "go back to {temp}", "put it back to {temp}",
            "set it back to {temp}", "turn it back to {temp}", "turn it back down to {temp}", "that's too much make it {temp}", "that's too high make it {temp}", "that's too low make it {temp}", "that's too warm make it {temp}",
            "that's too cold make it {temp}", "that's too cold set it to {temp}", "that's too hot set it to {temp}", "too warm make it {temp}", "too cold make it {temp}", "too high {temp}", "too low {temp}",
            "a bit high make it {temp}", "still too cold make it {temp}", "still too warm make it {temp}", "make it {temp} instead", "make it {temp} then", "set it at {temp}", "set that to {temp}", "set it to {temp} then",
            "put it on {temp} then", "put it on {temp} instead", "turn it up to {temp} then", "turn it down to {temp} then", "okay set it to {temp}", "okay {temp}", "okay {deg} then", "then {temp}", "and then {temp}", "hmm {temp}",
            "hmm make it {temp}", "can you make it {temp}", "can you set it to {temp}", "could you make that {temp}", "can we do {temp}", "how about {temp}", "what about {deg}", "that should be {temp}", "it was supposed to be {temp}",
            "leave it at {temp}", "stay at {temp}", "{temp} would be better", "{temp} is better", "{temp} should do", "switch it to {temp}", "switch to {temp}", "change to {temp}"],
        held=["let's have it at {temp}", "have it at {temp}", "go to {deg}", "take it to {temp}", "would {deg} be possible", "i think {deg} is better", "get it to {temp}"],
        slots=SLOTS, call=continuing(degrees), result=done, say=say),
    Intent(
        "climate.change.it", follows=SET + ASKED + ("climate.instead", "climate.more", "climate.again", "climate.toomuch"), weight=1.5,
        patterns=each(UP, ["make it {much} warmer", "{much} warmer", "warmer", "and {much} warmer", "{amt} warmer", "{amt} higher", "up {amt}", "{amt} up", "make it {amt} warmer", "turn it up {amt}", "turn it up by {amt}", "raise it by {amt}",
            "and {amt} warmer", "still too cold", "it's still too cold", "i'm still cold", "still cold", "too cold", "too cold now", "now it's too cold", "now i'm cold", "that's too cold", "that's cold", "that's a bit cold", "warm it up",
            "warm it up a bit", "then warm it up", "heat it up", "then heat it up", "can it be {much} warmer", "i want it {much} warmer", "i want it warmer",
                          "it's not warm enough", "that's not warm enough", "not warm enough", "even warmer", "a little hotter", "more heat", "a bit more heat", "turn up the heat", "turn the heat up", "turn the heating up", "turn the heating up then",
                          "raise the temperature", "i'm freezing", "brr", "oh that's cold make it warmer", "warmer than that", "no warmer", "add {amt}",
            "warmer please", "still freezing", "still chilly", "still a bit cold", "still a bit chilly", "it's still cold", "it's still freezing", "it's still not warm enough", "that's still cold", "that's still too cold",
            "that's freezing", "that's chilly", "oh that's cold", "brr that's cold", "not warm enough yet", "a bit cold", "bit cold", "bit chilly", "a smidge warmer", "a tad warmer", "a touch warmer", "way warmer", "make it warmer",
            "make it a bit warmer", "make it a lot warmer", "make it warmer then", "can you make it warmer", "could it be warmer", "bump it up {amt}", "bump it up by {amt}", "nudge it up {amt}", "put it up {amt}",
            "put it up by {amt}", "bring it up {amt}", "take it up {amt}", "raise it {amt}", "increase it by {amt}", "and up {amt}", "up by {amt}", "another {amt} up", "warm it up then", "warm it up please", "warm it up some more",
            "heat it up a bit", "heat it up please", "too cold turn it up", "that's too cold turn it up", "it's cold then turn it up", "turn the heat up then", "crank the heat", "crank up the heat", "then turn the heating up",
            "then make it warmer", "we're still cold", "i am still cold", "i'm still freezing", "i'm still chilly", "now i'm freezing", "oh no warmer", "actually warmer", "no i meant warmer", "i meant warmer",
            "i want it a bit warmer"])
        + each(DOWN, ["make it {much} (cooler|colder)", "{much} (cooler|colder)", "(cooler|colder)", "and {much} cooler", "{amt} (cooler|colder)", "{amt} lower", "down {amt}", "{amt} down", "make it {amt} cooler", "turn it down {amt}",
            "turn it down by {amt}", "lower it by {amt}", "and {amt} cooler", "still too (hot|warm)", "it's still too (hot|warm)", "i'm still hot", "still hot", "too (hot|warm)", "too (hot|warm) now", "now it's too (hot|warm)", "now i'm hot",
            "that's too (hot|warm)", "that's a bit (hot|warm)", "that's hot", "cool it down", "cool it down a bit", "then cool it down", "can it be {much} cooler",
                      "i want it {much} cooler", "it's not cool enough", "not cool enough", "even (cooler|colder)", "less heat", "a bit less heat", "turn down the heat", "turn the heat down", "turn the heating down", "turn the heating down then",
                      "lower the temperature", "i'm sweating", "oh that's hot make it cooler", "cooler than that", "no cooler", "take {amt} off",
            "cooler please", "colder please", "still boiling", "still roasting", "still a bit warm", "still a bit hot", "it's still hot", "it's still boiling", "it's still not cool enough", "that's still too hot", "that's still hot",
            "that's boiling", "that's warm", "oh that's warm", "phew that's hot", "not cool enough yet", "a bit warm", "bit warm", "bit hot", "bit toasty", "a smidge cooler", "a tad cooler", "a touch cooler", "way cooler",
            "make it cooler", "make it colder", "make it a bit cooler", "make it a lot cooler", "make it cooler then", "can you make it cooler", "could it be cooler", "drop it {amt}", "drop it by {amt}", "drop it a bit",
            "knock it down {amt}", "knock {amt} off", "knock {amt} off it", "take it down {amt}", "take it down by {amt}", "take {amt} off it", "bring it down {amt}", "nudge it down {amt}", "put it down {amt}", "put it down by {amt}",
            "lower it {amt}", "reduce it by {amt}", "decrease it by {amt}", "and down {amt}", "down by {amt}", "cool it down then", "cool it down please", "cool it down some more", "cool it off a bit", "too hot turn it down",
            "too warm turn it down", "that's too hot turn it down", "that's too warm turn it down", "it's hot then turn it down", "turn the heat down then", "then turn the heating down", "then make it cooler", "we're still hot",
            "i am still hot", "i'm still boiling", "i'm still sweating", "now i'm boiling", "oh no cooler", "actually cooler", "no i meant cooler", "i meant cooler", "i want it a bit cooler"]),
        held=["let's have it a bit warmer => change=up", "it could be a bit warmer => change=up", "it needs to be warmer => change=up", "have it {amt} warmer => change=up", "let's have it a bit cooler => change=down",
            "it could be a bit cooler => change=down", "it needs to be cooler => change=down", "have it {amt} cooler => change=down"],
        slots=SLOTS, call=continuing(changed), result=done, say=say),
    Intent(
        "climate.updown.it", follows=("climate.set", "climate.change", "climate.set.it", "climate.change.it", "climate.amount.it", "climate.updown.it") + ASKED, weight=1.2,
        patterns=each(UP, ["turn it up", "turn it up a bit", "turn it up a little", "turn it up a notch", "turn that up", "turn it up more", "up", "up a bit", "a bit up", "a little up", "up a little", "up a notch", "higher", "a bit higher",
            "a little higher", "make it higher", "raise it", "raise it a bit", "increase it", "increase it a bit", "bump it up", "crank it up", "then turn it up", "put it up a bit", "a notch higher", "okay turn it up",
            "bump it", "bump it up a bit", "bump it up a notch", "crank it", "crank it up a bit", "jack it up", "nudge it up", "nudge it up a bit", "notch it up", "take it up a notch", "bring it up a bit", "bring it up", "put it up",
            "put it up please", "up please", "up a little bit", "up a tad", "up some more", "turn it up please", "turn it up then", "turn it up again", "turn it up some", "turn it up a tad", "turn it up a lot", "turn up",
            "turn it higher", "put it higher", "higher please", "higher then", "a notch up", "one notch up", "can you turn it up", "could you turn it up a bit", "now turn it up", "and turn it up a bit", "no turn it up", "no up",
            "no higher", "actually turn it up", "i said up", "i meant up", "no i meant up", "increase that", "raise that", "raise that a bit"])
        + each(DOWN, ["turn it down", "turn it down a bit", "turn it down a little", "turn it down a notch", "turn that down", "turn it down more", "down", "down a bit", "a bit down", "a little down", "down a little", "down a notch", "lower",
            "a bit lower", "a little lower", "make it lower", "lower it", "lower it a bit", "reduce it", "reduce it a bit", "bring it down", "bring it down a bit", "then turn it down", "put it down a bit", "a notch lower", "okay turn it down",
            "drop it", "drop it a notch", "drop it a bit", "knock it down a bit", "knock it down a notch", "knock it back a bit", "dial it down", "dial it back a bit", "nudge it down", "nudge it down a bit", "notch it down",
            "take it down", "take it down a bit", "bring it down a notch", "put it down", "put it down please", "down please", "down a little bit", "down a tad", "down some more", "turn it down please", "turn it down then",
            "turn it down again", "turn it down some", "turn it down a tad", "turn it down a lot", "turn down", "turn it lower", "put it lower", "lower please", "lower then", "a notch down", "one notch down", "can you turn it down",
            "could you turn it down a bit", "now turn it down", "and turn it down a bit", "no turn it down", "no down", "no lower", "actually turn it down", "i said down", "i meant down", "no i meant down", "decrease it",
            "decrease it a bit", "reduce that", "lower that", "lower that a bit"]),
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
            "a touch more", "a tad more", "a lot more", "much more", "more than that", "{more}", "{more}", "{more} please", "and {more}", "make it {more}", "{amt} more", "and {amt} more", "go on", "a notch more",
            "a smidge more", "a bit more please", "a little more please", "bit more", "just a bit more", "just a little more", "and a bit more", "and more", "and some more", "more again", "go further", "go a bit further",
            "keep it going", "keep at it", "much further", "way more", "loads more", "quite a bit more", "{amt} more please", "still a bit more", "not quite enough", "not enough yet", "that's still not enough",
            "it's still not enough", "one more notch", "another notch", "another {amt}", "give me {more}"],
        held=["do some more", "let's have {more}", "make it even more", "another little bit"],
        slots=SLOTS, call=further, result=done, say=say),
    Intent(
        "climate.again", follows=CHANGED, weight=0.4,  # the same change once more
        patterns=["again", "once more", "one more time", "do it again", "do that again", "and again", "the same again", "again please", "repeat that", "and once more", "do that once more", "another time",
            "same again", "the same again please", "do the same again", "again the same", "once again", "one more", "repeat", "repeat it", "and one more time", "do it once more"],
        held=["same thing again", "let's do that again"],
        slots=SLOTS, call=again, result=done, say=say),
    Intent(
        "climate.toomuch", follows=("climate.change", "climate.change.it", "climate.updown.it", "climate.more"), weight=0.4,  # the other direction
        patterns=["too much", "that's too much", "that was too much", "not so much", "not that much", "that's a bit too much", "a bit too much", "no too much", "oh that's too much", "not quite so much", "back a bit", "go back a bit", "a bit back",
            "no the other way", "the other way", "the opposite", "i meant the other way around", "no the opposite",
            "whoa too much", "whoa that's too much", "way too much", "a little too much", "bit much", "that's a bit much", "that's a little too much", "too far", "that's too far", "you went too far", "overdid it",
            "that's overdoing it", "go back", "back a little", "a little back", "put it back a bit", "undo that a bit", "no that's the wrong way", "wrong way", "wrong direction", "that's the wrong direction", "other way",
            "no the other direction", "the other direction", "i meant the other way", "no i meant the other way", "no not that way", "not that way"],
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
                  "switch it to heating => mode=heat", "switch it to cooling => mode=cool",
            "enough turn it off => mode=off", "that's enough turn it off => mode=off", "okay that's enough off => mode=off", "okay that's enough turn it off => mode=off", "that's enough off now => mode=off",
            "that'll do turn it off => mode=off", "that's warm enough turn it off => mode=off", "that's warm enough off => mode=off", "it's warm enough now turn it off => mode=off", "warm enough off => mode=off",
            "it's fine now turn it off => mode=off", "i'm fine now turn it off => mode=off", "scrap it => mode=off", "ditch it => mode=off", "cut it => mode=off", "kill that => mode=off", "cancel it turn it off => mode=off",
            "shut it down => mode=off", "shut it off again => mode=off", "shut that off => mode=off", "off please => mode=off", "off then => mode=off", "off with it => mode=off", "off completely => mode=off", "all off => mode=off",
            "just off => mode=off", "just turn the thing off => mode=off", "no just off => mode=off", "stop that => mode=off", "stop heating => mode=off", "stop the heating => mode=off", "stop cooling => mode=off",
            "turn the heating off => mode=off", "turn the heating off then => mode=off", "turn the heat off => mode=off", "turn the heat off again => mode=off", "turn the heating off again => mode=off", "turn off the ac => mode=off",
            "turn the ac off again => mode=off", "heating off => mode=off", "heat off => mode=off", "ac off => mode=off", "then turn the heating off => mode=off", "then turn it off again => mode=off", "i don't need it => mode=off",
            "i don't need it any more => mode=off", "we don't need it anymore => mode=off", "we don't need it now => mode=off", "we're leaving turn it off => mode=off", "i'm leaving turn it off => mode=off",
            "on again please => mode=on", "back on please => mode=on", "put it back on => mode=on", "put it on again => mode=on", "switch that {state} again", "switch it {state} now", "switch it {state} then",
            "turn it {state} please", "okay {state}", "okay switch it {state}", "and turn it {state}", "actually switch it {state}", "wait turn it {state}", "put it {state}", "put it {state} again", "no i meant {state}",
            "i meant {state}", "i said {state}", "then heat => mode=heat", "then put the heating on => mode=heat", "put the heating on => mode=heat", "put the heating on then => mode=heat", "heating on => mode=heat",
            "heat on => mode=heat", "switch it to heat => mode=heat", "set it to heating => mode=heat", "no i meant heating => mode=heat", "put the ac on => mode=cool", "put the ac on then => mode=cool",
            "then put the ac on => mode=cool", "ac on => mode=cool", "switch it to cool => mode=cool", "set it to cooling => mode=cool", "no i meant cooling => mode=cool", "change it to auto => mode=auto",
            "leave it on auto => mode=auto", "back to auto => mode=auto", "no auto => mode=auto", "put it back on auto => mode=auto", "set it back to auto => mode=auto", "on automatic => mode=auto", "make it automatic => mode=auto"],
        held=["have it {state} again", "let's have it back {state}", "i'd like it {state} after all", "get it {state} again", "it can go {state} now"],
        slots=SLOTS, call=continuing(moded), result=done, say=say),
    Intent(
        "climate.room.it", follows=SET + ("climate.instead",), weight=1.3,
        patterns=["and {at} too", "and {at}", "and {at} as well", "{at} too", "{at} as well", "also {at}", "and also {at}", "{the} too", "{the} as well", "and {the} too", "and {the}", "and {the} as well", "also {the}", "and also {the}", "now {the}",
            "now {at}", "then {the}", "the same {at}", "same {at}", "same for {the}", "same thing {at}", "the same for {the}", "do the same {at}", "do the same for {the}", "do {the} too", "do that {at} too", "do that {at} as well", "do it {at} too",
            "do it {at} as well", "how about {the} too", "{the} also", "{at} also", "plus {the}", "include {the}",
                  "repeat that {at}", "i want the same {at}", "i'd like that {at} too", "same temperature {at}", "and the heating {at} too", "and {the} please",
            "same for {the} please", "same {at} please", "same in {room}", "same temperature for {the}", "same temp {at}", "same thing for {the}", "same again {at}", "same again for {the}", "the same thing {at}",
            "the same thing for {the}", "the same in {room}", "{room} too", "{room} as well", "and {room}", "and {room} too", "and {room} as well", "also {room}", "and for {the}", "and for {the} too", "and do {the}",
            "and do {the} too", "and do {the} as well", "and do it {at}", "and set {the} too", "set {the} too", "set {the} as well", "set {the} the same", "set {the} to the same", "set it {at} too", "make {the} the same",
            "make it the same {at}", "match it {at}", "do {the} as well", "do {the} next", "next {the}", "now do {the}", "now the same {at}", "then {at}", "then do {the}", "can you do {the} too", "can you do {the} as well",
            "i want that {at} too", "i want {the} the same", "and the same {at}", "and the same for {the}"],
        held=["have {the} the same", "let's do that {at} as well", "and then {the} too", "and the same thing for {the}"],
        slots=SLOTS, call=again_at, result=answer, say=say),
    Intent(
        "climate.instead", follows=SET + ASKED + ("climate.instead",), weight=0.7,
        patterns=["no i meant {the}", "no i meant {at}", "i meant {the}", "i meant {at}", "no {the}", "no {at}", "not there {at}", "no not there {at}", "not here {at}", "sorry i meant {the}", "sorry {the}", "sorry i mean {at}", "i mean {the}",
            "i mean {at}", "i said {the}", "i said {at}", "no i said {the}", "wrong room {the}", "wrong room i meant {the}", "that's the wrong room i meant {the}", "actually {the}", "actually {at}", "actually i meant {the}", "{the} instead",
            "{at} instead", "make that {the}", "oops {the}", "oops i meant {the}", "no no {the}", "no wait {the}", "rather {at}", "rather {the}", "i'm talking about {the}", "no i'm talking about {the}", "not that room {the}",
            "not {otherthe} {the}", "no not {otherthe} {the}", "not in {otherthe} {at}", "not {otherthe} i meant {the}", "not {otherthe} i said {the}", "{the} not {otherthe}", "{at} not in {otherthe}", "i meant {the} not {otherthe}",
            "i said {the} not {otherthe}", "no sorry {the}", "no sorry {at}", "sorry not {otherthe} {the}", "sorry {at}", "wait {the}", "wait no {the}", "wait i meant {the}", "no wait i meant {the}", "hang on i meant {the}",
            "i mean {the} not {otherthe}", "make that {at}", "make it {the} instead", "do {the} instead", "do it {at} instead", "do that {at} instead", "the other room {the}", "that's the wrong room {the}", "wrong room {at}",
            "wrong one {the}", "wrong one i meant {the}", "no in fact {the}", "no {room}", "i meant {room}", "not that one {the}", "not this room {the}"],
        held=["that was the wrong room i want {the}", "no i was talking about {the}", "no it should be {the}", "you got it wrong {the}"],
        slots=SLOTS, call=again_at, result=answer, say=say),
    Intent(
        "climate.all.it", follows=SET + ("climate.instead",), weight=0.4,
        patterns=["everywhere", "in the whole house", "in all rooms", "in every room", "all rooms", "the whole house", "do it everywhere", "do that everywhere", "do that in the whole house", "do it in all rooms", "and everywhere else",
            "i meant everywhere", "i meant the whole house", "no the whole house", "the same for the whole house", "the same everywhere", "everywhere please", "same for all rooms", "not only there everywhere", "and the rest of the house",
            "all over the house", "make that the whole house", "for the whole house", "and in all the other rooms",
            "everywhere else too", "everywhere else as well", "and everywhere", "and everywhere else too", "and all the other rooms", "and all the rooms", "all the rooms", "all the other rooms too", "the other rooms too",
            "and the other rooms", "in the other rooms too", "same everywhere", "same in every room", "same in all the rooms", "same for the whole house", "same throughout", "throughout the house", "for all rooms", "for every room",
            "in every room please", "in all the rooms", "no everywhere", "no all rooms", "no i meant everywhere", "no i meant the whole house", "no in the whole house", "actually everywhere", "actually the whole house",
            "the entire house", "in the entire house", "and the whole house", "and the rest of the house too", "the rest of the house too", "the whole place", "do the whole house", "do all the rooms", "do every room",
            "do that in every room", "make it the whole house", "make that everywhere"],
        held=["have it the same in every room", "i want that in the whole house", "not just there but everywhere"],
        slots=SLOTS, call=again_at, result=answer, say=say),
    Intent(
        "climate.get.too", follows=ASKED, weight=1.8,
        patterns=["and {at}", "and {the}", "what about {the}", "what about {at}", "how about {the}", "how about {at}", "and what about {the}", "and how about {the}", "and how warm is it {at}", "and how (warm|cold) is {the}", "{at} too", "{the} too",
            "and {at} too", "also {at}", "and also {at}", "now {the}", "now {at}", "and now {the}", "same question for {the}", "the same for {the}", "the same {at}", "and the temperature {at}", "and the temperature of {the}", "check {the} too",
            "check {the} as well", "{the} as well", "and {the} as well", "is it (warmer|colder) {at}", "is {the} (warmer|colder)", "what's it {at}", "and is it cold {at}",
            "{room}", "{the}", "and {room}", "and {room} too", "{room} too", "what about {room}", "how about {room}", "what about {the} then", "and how about {at}", "and what about {at}", "and how is {the}", "and is {the} warm",
            "and is {the} cold", "and is it warm {at}", "and is it warmer {at}", "and is {the} any warmer", "and is {the} colder", "and what is it {at}", "and what's it {at}", "and what's the temperature {at}",
            "and what's the temp {at}", "and what temperature is {the}", "and the temp {at}", "and how many degrees {at}", "and how many degrees is {the}", "and how warm is {the}", "and how hot is {the}", "and check {the}",
            "okay and {the}", "okay and {at}", "okay what about {the}", "same {at}", "same for {the}", "how warm is {the} then", "how cold is {the} then", "how's {the}", "how's it {at}", "how is it {at}", "what's {the} at",
            "what's it like {at}", "tell me {the} too", "tell me about {the}", "then {the}", "then {at}", "next {the}", "no in {room}", "also {room}"],
        held=["then what about {at}", "and how is it {at}", "can you check {the} too", "what's with {the}"],
        slots=SLOTS, call=ask, result=measured, say=say),
    Intent(
        "climate.get.it", follows=SET + ("climate.instead", "climate.more", "climate.again", "climate.toomuch"), weight=0.7,
        patterns=["how warm is it now", "how cold is it now", "how warm is it", "how cold is it", "how hot is it now", "what's the temperature now", "what's the temperature there", "what's the temperature there now", "what is it now", "what's it at now",
            "what is it at now", "how many degrees is it now", "how warm is it there", "how warm is it there now", "and how warm is it now", "and what's the temperature now", "is it warm yet", "is it cold now", "is it warm enough now",
            "how much is it now", "where is it now", "what temperature is it now", "tell me the temperature now", "check the temperature", "and what is it now", "so how warm is it",
            "what's it at", "what's it on", "what's it on now", "what's it now", "what's it set to", "what is it set to", "what is it set to now", "what's the temp", "what's the temp now", "what's the temperature",
            "what's the temperature like now", "what temp is it", "what temp is it now", "what temp is it there", "how warm is it currently", "how hot is it", "how hot is it there", "how warm now", "how cold now",
            "how many degrees now", "how many degrees is it", "how many degrees is it there", "so what's the temperature", "so what is it now", "and what's it now", "and now", "and now how warm is it", "and the temperature",
            "and the temperature now", "temperature now", "is it warm", "is it warm now", "is it warm there", "is it warm there now", "is it warm there yet", "is it still cold", "is it still cold there", "is it still warm",
            "is it still hot there", "is it cool yet", "is it cooler now", "is it warmer now", "is it any warmer", "is it any warmer now", "is it getting warmer", "is it getting warm", "has it warmed up", "has it warmed up yet",
            "has it cooled down", "has it cooled down yet", "did it get warmer", "check the temperature now", "check how warm it is", "tell me how warm it is", "tell me how warm it is now", "how warm has it got",
            "what have we got now", "what are we at"],
        held=["are we there yet how warm is it", "tell me how warm it is there now", "what are we at now"],
        slots=SLOTS, call=lambda v: ("get_temperature", same_place(v)), result=measured, say=say),
]
