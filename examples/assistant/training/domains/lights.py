"""Lights: on and off, brightness, colours, and whether they are on. One call has one meaning: state, brightness, change or color, never two of them."""
from grammar import GLUE, ROOMS, Intent, Lexicon, joined

MORE_ROOMS = Lexicon("""boys room, girls room, twins room, baby's room, front hall, back room, sewing room, wine cellar, pool room, home office, home theater, breakfast nook, craft room, powder room, shower,
    staircase, front door, back door, front yard, backyard, bar, lobby, meeting room, conference room, ensuite, box room, sitting room, drawing room, main bedroom, small bedroom, big bedroom, first floor,
    second floor, ground floor, top floor, pool, barn, carport, walk-in closet, dressing room, hot tub, veranda, deck, winter garden, parlor, rec room, bonus room, man cave, washroom, restroom, bath, hobby room,
    kids bathroom, upstairs bathroom, downstairs bathroom, upstairs hallway, upstairs bedroom, small bathroom, second bedroom, guest bedroom, main hall, front porch, back porch, mezzanine, waiting room,
    stairwell, reception, shop, showroom, store room, camper, tent, chicken coop, stable, kitchenette, dining area, living area, entrance hall, gate, courtyard, roof, bunk room, movie room, cinema room, master bathroom, master bath,
    spare bedroom, main bathroom, back bedroom, front bedroom, upstairs hall, downstairs hall, downstairs toilet, wet room, front garden, back garden,
    granny flat, rumpus room, prayer room, pooja room, boot room, lanai, alcove, treehouse, playhouse, outhouse, garden shed, bike shed, back hall, front entrance, back entrance, wardrobe, crawl space,
    en suite, media room, exercise room, home gym, dorm, boys bathroom, girls bedroom, box bedroom, sleeping area, bar area, seating area, sun deck, bay window,
    upper hallway, long hallway, side yard, side entrance, front patio, basement stairs, cellar stairs, pool house, tool shed, potting shed, summer house, guest house, granny annexe, hayloft, carpentry shop, garden room,
    glasshouse, arbor, pavilion, bbq area, play corner, homework corner, reading nook, dining nook, coffee corner, home bar, cigar room, trophy room, music corner, drum room, recording room, photo room, lego room,
    toy room, games room, teen room, middle bedroom, corner bedroom, east bedroom, guest wing, nanny room, au pair room, shower room, steam room, hallway closet, shoe closet, broom closet, linen closet, walk in wardrobe,
    server closet, electrical room, furnace room, store cupboard, stair hall, lobby area, back office, break room, copy room, classroom, library corner, prayer corner, massage room, therapy room, treatment room, bakery,
    dairy, tack room, kennel, cat room, bird room, caravan, cabin, sleeping porch, screened porch, staff room, mail room, parking garage, dugout, bunker, panic room""",
                     """boat house, server room, snug, scullery, cloakroom, breakfast room, annex, billiard room, gazebo, linen room""")
PEOPLE = Lexicon("""jimmy, anna, tom, mia, ben, sarah, lucas, emma, oliver, sophie, max, lily, jack, chloe, daniel, grace, henry, ella, noah, ruby, leo, zoe, sam, kate, peter, julia, alex, maria, david, laura,
    mom, dad, mum, grandma, grandpa, granny, mommy, daddy, nana, papa, paul, nina, eric, hannah, robert, alice, michael, eva, thomas, lena, george, molly, ryan, amy, adam, olivia, jacob, isabel, felix, rosa,
    carlos, priya, ahmed, yuki, ivan, fatima, chen, omar, ingrid, pedro, aisha, sven, raj, elena, mateo, freya, liam, ava, ethan, harry, charlotte, william, james, lucy, nick, megan, tim, rachel, joe, claire, arjun, ananya, rohan, neha,
    vikram, deepa, sanjay, lakshmi, mohammed, yusuf, hana, kenji, mei, wei, jin, diego, lucia, sofia, camila, javier, miguel,
    andrei, olga, katya, pierre, amelie, hans, greta, luca, giulia, kwame, amara, siobhan, callum, isla, poppy, archie, alfie, jade, kayla, tyler, brandon, ashley, jessica, steve, karen, bob, bill, nancy, betty, rose, jean,
    aunt mary, aunt susan, aunt helen, uncle joe, uncle bob, uncle frank, auntie, nanny, nonna, nonno, oma, opa, my mum, my dad, my grandma, my grandpa, my granny, my uncle, my cousin, my girlfriend, my boyfriend,
    my partner, my fiance, my nephew, my niece, my granddaughter, my flatmate, my housemate, my stepmom, my stepdaughter, my mother in law, my father in law, my big brother, my little sister, my oldest, samira, paula,
    yasmine, beatriz, john, fernanda, pauline, sasha, aurelie, judy, elliot, mitchell, helen, noemi, nia, emily, malik, iqbal, carol, kara, graham, jake, katie, mansour, nabil, donna, jing, zdenek, fred, adanna, jenny,
    marshall, jonathan, guillaume, ivana, hayden, bjorn, paige, mathieu, santiago, neema, stacy, niels, mina, leah, concetta, kunal, folake, zachary, joseph, brenda, tobias, jiho, becky, gemma, valerie, catherine, mikael,
    mona, martin, fabiola, elias, femi, aubrey, logan, skye, heinz, tracy, brad, stefania, stewart, kavita, sidney, trang, renato, qiang, hazel, muriel, stuart, zane, otto, katarina, horst, xiao, sandeep, blanca, julio,
    samir, igor, susie, klaas, renate, dana, tara, calvin, tammy, takeshi, francis, consuelo, shane, keiko, esi, rahul, zodwa, ibrahim, ronald, thanh, margaret, octavio, maarten, penelope, xander, ayo, marilyn, noor,
    monika, rodrigo, cynthia, casey, fiona, rafael, enrico, hari, elizabeth, swati, suresh, valentina, darren, chidi, luisa, rory, svetlana, tuan, susan, antoine, elif, quinn, edith, elijah, kamil, haruki, rhonda,
    christian, levi, melissa, arne, karim, jackson, rosalind, glen, hao, ruben, beth, christopher, krishna""",
                 """barnaby, winona, theo, matilda, jerome, agnes, clyde, tabitha, ezra, petra""")
LAMPS = Lexicon("""desk, floor, bedside, reading, table, standing, night, ceiling, wall, corner, piano, sofa, couch, mirror, fish tank, aquarium, christmas, christmas tree, tree, lava, salt, star, fairy, string, strip,
    led strip, moon, window, shelf, bookshelf, tv, sink, counter, island, stove, vanity, picture, painting, big, little, small, tall, main, overhead, spot, hanging, pendant, chair, work, computer, makeup, globe,
    paper, dresser, nightstand, under cabinet, cabinet, path, flood, security, motion, street, pond, fence, rope, disco, mushroom, lantern, left, right, left bedside, right bedside, old, new, pink, green, glass, bunny,
    bedside table, dining table, kitchen table, coffee table, armchair, bench, workbench, tripod, gooseneck, halogen, neon, led, projector, galaxy, planet, unicorn, cat, owl, turtle, penguin, bear, cloud, rainbow,
    butterfly, reindeer, pumpkin, flamingo, santa, nativity, wreath, garland, mantel, fireplace, bar cart, wine rack, display case, china cabinet, trophy, record player, keyboard, gaming, photo, ring, accent, mood, track,
    rail, recessed, cove, stair, pool table, fountain, bird bath, planter, grow, plant, palm, orchid, bonsai, torch, post, mailbox, wooden, brass, crystal, marble, vintage, antique, retro, industrial, fancy, round, tiny,
    huge, middle, center, second, third, edison, bathroom mirror, makeup mirror, medicine cabinet, cooktop, breakfast bar, canopy, bunk bed, rocking chair, dollhouse, princess, football, basketball, guitar, turntable,
    amp, koi pond, lounge chair, jellyfish, volcano, dragon, robot""",
                """banker's, easel, sideboard, arc, tiffany, crib, chandelier, headboard, dinosaur, hutch""")
COLORS = Lexicon("""red, blue, green, yellow, orange, purple, pink, white, violet, magenta, cyan, gold, lavender, rose, peach, coral, salmon, amber, mint, olive, teal, aqua, indigo, lilac, plum, silver, brown, beige,
    ivory, cream, crimson, party red, light blue, dark blue, deep red, soft pink, bright green, hot pink, sky blue, lime green, forest green, ocean blue, royal blue, navy blue, baby blue, baby pink, blood red,
    ruby red, cherry red, mint green, sunset orange, neon green, neon pink, electric blue, emerald green, mustard yellow, lemon yellow, pale blue, pastel pink, ice blue, dark green, light green, dark red, deep purple,
    light purple, bright yellow, bright red, pale yellow, soft white, pure white, daylight, golden, red, blue, green, purple, pink, orange, white, yellow, christmas green, halloween orange, grass green, pumpkin orange,
    khaki, mustard, tan, bronze, ruby, emerald, jade, sapphire, aquamarine, periwinkle, lime, lemon, raspberry, strawberry, wine red, brick red, rust, terracotta, ochre, sand, champagne, cranberry, eggplant, aubergine,
    grape, midnight blue, steel blue, powder blue, cornflower blue, teal green, sea green, seafoam green, sage, sage green, moss green, olive green, jungle green, apple green, flamingo pink, bubblegum pink, rose pink,
    blush pink, dusty rose, rose gold, candy pink, barbie pink, coral pink, rose red, wine, blood orange, burnt orange, pumpkin, canary yellow, sunflower yellow, golden yellow, royal purple, pastel blue, pastel green,
    pastel purple, pastel yellow, neon blue, neon purple, neon yellow, neon orange, pale green, pale pink, light pink, light yellow, light orange, dark purple, dark orange, deep blue, deep pink, deep orange, bright blue,
    bright orange, bright purple, bright pink, off white, pearl, soft yellow, soft blue, soft green, christmas red, halloween purple, fire red, ultramarine, watermelon, spring green, peppermint, caribbean blue, sea blue,
    candy red, amethyst, opal, hot orange, electric purple, electric green""",
                 """turquoise, maroon, burgundy, fuchsia, mauve, apricot, tangerine, scarlet, cobalt blue, chartreuse, sapphire blue""")
PLAIN = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "white")

ADVERBS = ("upstairs", "downstairs", "outside")
ON = ("balcony", "porch", "patio", "terrace", "veranda", "deck", "stairs", "landing", "driveway", "first floor", "second floor", "ground floor", "top floor", "front porch", "back porch", "roof", "mezzanine")
UNCLEAR = ("car", "shower", "bath", "hot tub", "gate", "pool", "front door", "back door", "chicken coop", "tent", "fish tank")  # not rooms unless a light word says so
NEAR = ("front door", "back door", "entrance", "gate")


def safe(words):
    """Words to be copied into the call: the noise leaves them alone."""
    return words.replace(" ", GLUE) + GLUE


MINE = ["my room", "my room", "my room", "my room", "my son's room", "my daughter's room", "my brother's room", "my sister's room", "my wife's office", "my husband's office", "my mom's room", "my mother's room", "my dad's study", "my roommate's room",
        "my girl's room", "my boy's room", "his room", "her room", "their room"]


def owned(r):
    """jimmy's room, my room: it takes no article."""
    if r in MINE:
        return True
    first = r.split("'s ")
    return len(first) > 1 and first[0] not in ("children", "baby", "kid")


def a_room(g, bare=False):
    while True:
        x = g.rng.random()
        if x < 0.02:
            r = g.pick(MINE)
        elif x < 0.13:
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
        text = g.pick(["the lights in " + said_rooms(g, rooms), said_rooms(g, rooms, articles=plain) + " lights", "the " + said_rooms(g, rooms, articles=False) + " lights", " and ".join(f"{'' if owned(r) else 'the '}{safe(r)} light" for r in rooms)]
                      + ([" and ".join(f"both the {safe(r)}" if i == 0 else f"the {safe(r)}" for i, r in enumerate(rooms)) + " lights"] if len(rooms) == 2 and not any(map(owned, rooms)) else []))
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
    if not g.held and g.chance(0.12):  # an unknown word before one that is a colour
        c = g.invented(COLORS) + " " + g.pick(PLAIN)
    return safe(c), (c,)


def tone(g):
    return g.pick([("warm white", ("warm",)), ("warm white", ("warm",)), ("warm", ("warm",)), ("a warm white", ("warm",)), ("a warm tone", ("warm",)), ("a warm color", ("warm",)), ("cool white", ("cool",)), ("cool white", ("cool",)), ("cool", ("cool",)),
        ("cold white", ("cool",)), ("a cool tone", ("cool",)), ("a cool white", ("cool",))])


def warm_or_cool(g):
    return g.pick([("warm", ("warm",)), ("warm", ("warm",)), ("warm white", ("warm",)), ("cozy", ("warm",)), ("cosy", ("warm",)), ("cool", ("cool",)), ("cool white", ("cool",)), ("cold", ("cool",)), ("cold white", ("cool",))])


def warmer(g):
    return g.pick([("warmer", ("warm",)), ("a bit warmer", ("warm",)), ("cooler", ("cool",)), ("colder", ("cool",)), ("a bit cooler", ("cool",))])


def much(g):
    """How much brighter: said, but without a place in the call."""
    return g.pick(["a bit", "a bit", "a little", "a little bit", "slightly", "a touch", "a lot", "much", "way", "a tad", "somewhat", "a tiny bit", "just a bit", "a wee bit", "a smidge", "", "", "", ""]), None


def bit(g):
    return g.pick(["a bit", "a bit", "a little", "a little bit", "slightly", "a touch", "a lot", "a tad", "some", "a notch", "some more", "a tiny bit", "just a bit", "a wee bit", "a smidge", "a couple of notches", "", "", "", ""]), None


def num(g):
    """A number alone behind the lights meant: per cent."""
    n = number_of(g, 10, 100)
    return g.say_number(n), n


# What is said beside the request and has no place in the call: reasons, and what it shall not be.

def one_of(text):
    options = [x.strip() for x in text.replace("\n", " ").split(",")]
    return lambda g: (g.pick(options), None)


WHY = one_of("""i can't reach the switch, my hands are full, i can't find the switch, the switch is broken, i'm holding the baby, i'm too lazy to get up, i'm in bed already, i'm carrying the groceries, i'm on the sofa, i'm in the bath,
    i have paint on my hands""")
WHY_OFF = one_of("""i'm going to bed, we're going to bed, i'm off to bed, i'm going to sleep, i'm leaving, we're leaving, i'm heading out, we're heading out, i'm going out, i'm off to work, i'm off, we're off, he's asleep, she's asleep, he's sleeping,
    they're asleep, the baby's asleep, the baby is sleeping, the kids are asleep, the kids are in bed, it's bedtime, it's time for bed, time for bed, i'm trying to sleep, i want to sleep, i can't sleep, nobody's in there, no one's in there,
    nobody's there, there's no one there, it's daytime, it's light outside, the sun is up, it's bright outside, we're wasting electricity, it's wasting power, the movie is starting, i'm done for the night, i'm done in there,
    i'm finished in there, good night, night night, nighty night, i'm tired, my wife is sleeping, we're all done here, i'm turning in, i need some sleep, i'm hitting the sack""")
WHY_ON = one_of("""i'm home, we're home, i'm back, we're back, i just got in, i just got home, it's dark, it's getting dark, it's dark out, it's dark outside, i can't see, i can't see a thing, i can't see anything, i can't find my keys,
    i can't find my phone, i dropped something, i lost my glasses, the guests are here, somebody's at the door, someone's at the door, we've got visitors, i need to read, i want to read, i'm going to cook, i'm coming in, dinner's ready,
    i heard something, i'm scared, i'm getting up, good morning, i'm up, i'm awake, i have to pee, i'm going downstairs, i'm going in, the sun is down, i need to find something, i'm looking for my shoes""")
WHY_DIM = one_of("""it's movie night, it's film night, we're watching a movie, we're watching a film, the movie is starting, the movie's about to start, the film's on, the baby is asleep, the baby's sleeping, i've got a headache,
    i have a headache, i've got a migraine, my head hurts, my eyes hurt, my eyes are tired, we're having dinner, it's dinner time, it's date night, it's getting late, i'm trying to relax, i want to relax, i'm having a bath, we're winding down,
    the kids are falling asleep, it's story time, we're watching tv, i'm meditating""")
WHY_BRIGHT = one_of("""i'm reading, i'm trying to read, i'm cooking, i can't see, i can't see what i'm doing, i can't see properly, i can't read this, i can't see the board, i'm doing a puzzle, i'm doing my makeup, i'm shaving,
    i'm working, i'm painting, the kids are doing homework, i'm looking for something, i dropped a needle, my eyes aren't what they used to be, i need to see, i'm chopping onions, i'm cleaning""")
WHY_COLOR = one_of("""for the party, for halloween, for christmas, for valentine's day, for the game, for the kids, for date night, for the photos, for movie night, for my birthday, it's party time, it's halloween, we're having a party,
    it's christmas, the game is on, it's diwali, it's my birthday""")


def old(g):
    """The colour that it shall not be."""
    return g.pick([color, color, tone])(g)[0].replace(GLUE, " ").strip().removeprefix("a "), None


def old_the(g):
    return the(g)[0], None


def old_room(g):
    return "the " + g.pick(["kitchen", "bedroom", "bathroom", "hall", "hallway", "living room", "office", "garage", "study", "lounge", "basement", "dining room", "nursery"]), None


def old_level(g):
    return level(g)[0], None


SLOTS = {"num": num, "why": WHY, "whyoff": WHY_OFF, "whyon": WHY_ON, "whydim": WHY_DIM, "whybright": WHY_BRIGHT, "whycolor": WHY_COLOR, "old": old, "oldthe": old_the, "oldroom": old_room, "oldlvl": old_level,
    "room": room, "the": the, "at": at, "everywhere": everywhere, "in": where, "place": one_place, "lights": lights, "lights_are": lights_are, "are_lights": are_lights, "which": which, "state": state, "pct": pct, "part": part, "level": level,
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
    return {"brightness": next(v[k] for k in ("brightness", "level", "num", "pct", "part", "low", "high") if k in v)}


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
            "(turn|put|switch) out {lights} => state=off", "turn {lights} out => state=off", "(put|stick|pop|throw) {lights} on => state=on", "(put|stick|pop|throw) on {lights} => state=on", "put a light on {in} => state=on",
            "(turn|switch|put) (a|some) light on {in} => state=on", "(turn|switch) on (a|some) light {in} => state=on", "(turn|switch|shut) (the|that) light off {in} [please] => state=off", "knock {lights} off => state=off",
            "knock off {lights} => state=off", "(would|do) you mind (turning|switching|putting) {lights} {state}", "mind (turning|switching) {lights} {state}", "mind (turning|switching) {state} {lights}", "{lights} {state} {why}",
            "(turn|switch) {lights} {state} {why}", "(turn|switch) {state} {lights} {why}", "{why} (turn|switch) {lights} {state}", "{why} {lights} {state}", "{lights} off {whyoff} => state=off",
            "(turn|switch|shut|knock) {lights} off {whyoff} => state=off", "(turn|switch|shut) off {lights} {whyoff} => state=off", "{whyoff} (turn|switch|shut|knock) {lights} off => state=off",
            "{whyoff} (turn|switch|shut) off {lights} => state=off", "{whyoff} {lights} off => state=off", "kill {lights} {whyoff} => state=off", "get {lights} off {whyoff} => state=off", "{lights} on {whyon} => state=on",
            "(turn|switch|put) {lights} on {whyon} => state=on", "(turn|switch|put) on {lights} {whyon} => state=on", "{whyon} (turn|switch|put|stick) {lights} on => state=on", "{whyon} (turn|switch|put) on {lights} => state=on",
            "{whyon} {lights} on => state=on", "(who|somebody|someone) left {lights} on (turn|switch|shut) it off => state=off", "(who|somebody|someone|you) left the light on {at} (turn|switch|shut) it off => state=off",
            "who turned off {lights} turn it back on => state=on", "(turn|switch|put) {lights} back {state}", "(turn|switch) back {state} {lights}", "{lights} back {state}", "(turn|switch) {lights} {state} again",
            "{lights} {state} again",
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
            "any chance (you could|of you) turning {lights} {state}", "(is there any chance|any chance) you could turn {lights} {state}", "i'd (appreciate it|be grateful) if you turned {lights} {state}",
            "could i trouble you to turn {lights} {state}", "be a (dear|love|darling|good boy|sweetheart) and turn {lights} {state}", "(can|could) someone turn {lights} {state}", "somebody turn {lights} {state}",
            "i said (turn|switch) {lights} {state}", "i said {lights} {state}", "i told you to turn {lights} {state}", "for the last time turn {lights} {state}", "make {lights} {state}", "(just|only) {lights} {state}",
            "turn only {lights} {state}", "turn {state} just {lights}", "do {lights} {state}", "go {state} with {lights}", "do me {lights} {state}", "i wish {lights} to be {state}", "i am wanting {lights} {state}",
            "please to turn {lights} {state}", "{lights} you should turn {state}", "{lights} turn it {state}", "{lights} can you turn it {state}", "for {the} turn the lights {state}", "the one {at} turn it {state}",
            "let us have {lights} {state}", "(whack|bung|sling|chuck|bang|slap|flick|click|snap) {lights} on => state=on", "(whack|bung|sling|chuck|bang|slap) on {lights} => state=on", "get some lights on {in} => state=on",
            "can i get a light {in} => state=on", "can (i|we) get (some|a bit of|a little) light {in} => state=on", "i could do with some light {in} => state=on", "it's too dark {place} (turn|put|switch) the lights on => state=on",
            "it's (dark|pitch black) {place} (turn|put|switch) on the lights => state=on", "it's pitch black {place} lights on => state=on",
            "i can't see (a thing|anything|nothing|squat) {place} (turn|put|switch) (a|the) light on => state=on", "i can't see {place} turn on the lights => state=on", "i don't see anything {place} turn on the light => state=on",
            "we can't see {place} lights on => state=on", "leave {lights} on => state=on", "keep {lights} on => state=on", "leave the light on {at} => state=on", "leave the light on for me {in} => state=on",
            "keep {lights} off => state=off", "keep the lights off {in} => state=off", "don't turn {lights} off leave it on => state=on", "i want light {in} => state=on", "i need a light {in} => state=on", "need light {in} => state=on",
            "need some light {in} => state=on", "lights please {in} => state=on", "could you light up {the} for (me|us) => state=on", "light this place up => state=on", "light up this room => state=on", "light the place up => state=on",
            "lights camera action => state=on", "i'm scared of the dark turn on {lights} => state=on", "i'm afraid of the dark turn {lights} on => state=on", "i don't like the dark turn on {lights} => state=on",
            "mommy's coming turn on {lights} => state=on", "the (power|electricity) is back turn on {lights} => state=on", "don't leave me in the dark turn on {lights} => state=on", "switch {the} light to on => state=on",
            "change {lights} from off to on => state=on", "(nix|ditch|zap|axe|snuff out|cancel|end) {lights} => state=off", "off with {lights} => state=off", "{lights} out {whyoff} => state=off", "lights out {whyoff} => state=off",
            "{whyoff} lights out {in} => state=off", "{whyoff} (kill|cut|turn out) {lights} => state=off", "(switch|put|make) {lights} to off => state=off", "off the light {in} => state=off", "i don't want {lights} on => state=off",
            "i don't want the light on {in} => state=off", "i don't want any lights on {in} => state=off", "i don't want {lights} [anymore] => state=off", "{lights} (isn't|aren't) needed => state=off",
            "no need for {lights} => state=off", "no one's {at} lights off => state=off", "no one is {at} (turn|switch) off the lights => state=off", "there's nobody {at} turn the light off => state=off",
            "everybody's gone turn {lights} off => state=off", "stop wasting electricity turn {lights} off => state=off", "we're wasting electricity turn off {lights} => state=off", "{lights_are} wasting power turn it off => state=off",
            "the bill is huge turn {lights} off => state=off", "the light {at} is keeping me awake turn it off => state=off", "{lights_are} keeping (me|the baby|us) up turn it off => state=off", "the light is still on {at} => state=off",
            "you forgot {lights} turn it off => state=off", "if {lights_are} on turn it off => state=off", "if {lights_are} still on (switch|turn) it off => state=off", "if {lights_are} off turn it on => state=on",
            "i'm finished {at} lights off => state=off", "we're done {at} (switch|turn) off the lights => state=off", "change {lights} from on to off => state=off", "go dark {in} => state=off", "plunge {the} into darkness => state=off",
            "i like it dark turn off {lights} => state=off", "it's (broad|full) daylight turn {lights} off => state=off", "the sun is (up|out) turn off {lights} => state=off",
            "it's light (outside|out) already turn {lights} off => state=off", "(turn|switch|shut) (off everything|everything off) {whyoff} => state=off, all=true", "{whyoff} (turn|switch|shut) everything off => state=off, all=true",
            "{whyoff} (turn|switch|shut) off all the lights => state=off, all=true", "{whyoff} all lights off => state=off, all=true", "all (the|) lights off {whyoff} => state=off, all=true",
            "(kill|cut|shut off|knock off|turn out) all the lights => state=off, all=true", "(kill|shut off|turn out) every (light|lamp) => state=off, all=true", "kill everything => state=off, all=true",
            "everything dark => state=off, all=true", "lights off in every room => state=off, all=true", "shut the whole house down => state=off, all=true", "shut it all down => state=off, all=true",
            "black out the house => state=off, all=true", "i want every light in the house {state} => all=true", "i want all the lights {state} => all=true", "get all the lights {state} => all=true",
            "(put|flick|switch) all the lights {state} => all=true", "(put|flick|switch) every light {state} => all=true", "turn every (light|lamp|bulb) {state} => all=true",
            "turn {state} every (light|lamp|bulb) [in the house] => all=true", "every light {state} => all=true", "every light in the house {state} => all=true", "turn the whole house {state} => all=true",
            "(turn|switch) everything {state} all the lights in the (whole |)house => all=true", "whole house lights {state} => all=true", "house lights {state} => all=true", "lights {state} whole house => all=true",
            "lights {state} all rooms => all=true", "all rooms lights {state} => all=true", "entire house {state} => all=true", "all of them {state} => all=true", "all of the lights {state} => all=true", "{everywhere} lights {state}",
            "i want lights on {everywhere} => state=on", "put the lights on {everywhere} => state=on", "light the house up => state=on, all=true", "light up the house like a christmas tree => state=on, all=true",
            "i heard a noise turn on all the lights => state=on, all=true",
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
            "{lights} {num}", "{lights} down to {low}", "{lights} up to {high}", "lights {num} {in}", "(knock|drop|ease|fade|take|bring) {lights} down to {low}", "(bump|crank|whack|push|bring|boost|jack) {lights} up to {high}",
            "(bump|crank) up {lights} to {high}", "(bump|crank|boost|raise) {lights} to {high}", "(drop|cut|fade|knock) {lights} to {low}", "dim {lights} {low}", "dim {lights} to {low} {whydim}", "{whydim} dim {lights} to {low}",
            "{whydim} {lights} to {low}", "{whydim} set {lights} to {pct}", "set {lights} to {pct} {whydim}", "{lights} to {low} {whydim}", "{the} lights at {pct}", "(would|do) you mind (setting|putting|dimming) {lights} to {low}",
            "mind dimming {lights} to {low}",
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
            "could i have {lights} at {pct}", "i want {lights} {pct}", "can i get {pct} {at}", "give me {pct} {at}", "give {lights} {pct}", "give me {lights} at {pct}", "do {pct} {at}", "do {lights} at {pct}", "go {pct} {at}",
            "stick {lights} (on|at) {pct}", "pop {lights} (on|at|to) {pct}", "whack {lights} (on|to) {high}", "chuck {lights} (on|at) {pct}", "{lights} make it {pct}", "for {the} {pct} light", "{pct} for {lights}", "{pct} for {the}",
            "{at} lights {pct}", "{at} brightness {level}", "{at} set the brightness to {level}", "{the} brightness {level}", "{the} brightness to {pct}", "brightness of {lights} {level}", "brightness of {the} to {pct}",
            "brightness {level} for {the}", "brightness {in} should be {pct}", "i want the brightness at {level} {in}", "can we have the brightness at {level} {in}", "luminosity {level} {in}", "light intensity {level} {in}",
            "the intensity of {lights} to {pct}", "light strength {pct} {in}", "dimmer {pct} {in}", "dimmer at {pct} {in}", "reduce the light to {low} {in}", "reduce the lights {in} to {low}", "lower the lighting {in} to {low}",
            "increase the light {in} to {high}", "lighting at {pct} {in}", "lighting to {pct} {in}", "lighting {level} {in}", "not more than {low} light {in}", "no more than {low} {at}", "(about|around|roughly) {pct} {at}",
            "make {lights} (about|around) {pct}", "set {lights} (about|around) {pct}", "dim {lights} to (about|around) {low}", "i said {pct} {at}", "i said set {lights} to {pct}", "{lights_are} too bright (make|set) it {low}",
            "{lights_are} too bright (put|bring|take) it down to {low}", "it's too bright {place} (dim|set|turn) the lights to {low}", "it's too dark {place} (set|put|turn) the lights to {high}", "i can't see {place} lights to {high}",
            "{whydim} lights at {pct}", "movie night lights {pct}", "dinner time set {lights} to {low}", "turn {lights} on full blast => brightness=100", "(crank|whack|push|put) {lights} up full => brightness=100",
            "{lights} up full => brightness=100", "{lights} up to (full|the max|maximum) => brightness=100", "{lights} all the way => brightness=100",
            "(crank|whack|blast|bump|jack) {lights} to (full|the max|a hundred) => brightness=100", "blast {lights} => brightness=100", "give me (full|maximum|max) (brightness|lights) {in} => brightness=100",
            "give it full power {at} => brightness=100", "make {lights} full => brightness=100", "make {the} as bright as (possible|you can) => brightness=100", "{lights} as high as (possible|it goes|they go) => brightness=100",
            "i want full brightness {in} => brightness=100", "we want full lights {in} => brightness=100", "everything you've got {in} full brightness => brightness=100", "brightness all the way up {in} => brightness=100",
            "turn the brightness all the way up {in} => brightness=100", "brightness to the max {in} => brightness=100", "brightness (full|max|maximum) {in} => brightness=100", "brightness on full {in} => brightness=100",
            "full whack on {lights} => brightness=100", "{lights} at full whack => brightness=100", "lights on max {in} => brightness=100", "lights max {in} => brightness=100", "all the brightness {in} => brightness=100",
            "brightness all the way down {in} => brightness=10", "turn the brightness all the way down {in} => brightness=10", "brightness (minimum|lowest|to the minimum) {in} => brightness=10",
            "{lights} down to the lowest => brightness=10", "{lights} all the way down => brightness=10", "{lights} as dim as (possible|it gets|they go|you can) => brightness=10", "turn {lights} right down => brightness=10",
            "dim {lights} right down => brightness=10", "{lights} right down => brightness=10", "put {lights} (on|at) (low|the lowest|minimum) => brightness=10", "turn {lights} to low => brightness=10",
            "set {lights} (low|to low) => brightness=10", "lights (low|on low) {in} => brightness=10", "turn {lights} right up => brightness=100", "{lights} right up => brightness=100", "put {lights} on high => brightness=100",
            "{lights} on high => brightness=100", "set {lights} to high => brightness=100", "turn {lights} to half => brightness=50", "put {lights} on half => brightness=50", "{lights} on half => brightness=50",
            "{lights} half way => brightness=50", "{lights} at halfway => brightness=50", "dim {lights} (half way|in half|down to half) => brightness=50", "half lights {in} => brightness=50", "lights half {in} => brightness=50",
            "{lights} half power => brightness=50", "not full just half {in} => brightness=50", "brightness half {in} => brightness=50", "brightness to half {in} => brightness=50", "bring the brightness {in} to half => brightness=50",
            "quarter light {in} => brightness=25", "{lights} on a quarter => brightness=25",
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
            "(make|turn|get|have|put|bring) {lights} {much} lower => change=dimmer", "can (we|i) have {lights} {much} lower => change=dimmer",
            "(can we have|can we get|could we have|can i have) {lights} {much} (dimmer|darker) => change=dimmer", "(can we have|can we get|could we have|can i have) {lights} {much} brighter => change=brighter",
            "{lights} {much} lower => change=dimmer", "{lights} {much} higher => change=brighter", "{lights} lower {whydim} => change=dimmer", "dim {lights} {whydim} => change=dimmer", "{whydim} dim {lights} => change=dimmer",
            "{whydim} turn {lights} down [a bit|a little] => change=dimmer", "turn {lights} down {bit} {whydim} => change=dimmer", "lower {lights} {whydim} => change=dimmer",
            "{whybright} turn {lights} up [a bit|a little] => change=brighter", "{whybright} make {lights} brighter => change=brighter", "make {lights} brighter {whybright} => change=brighter",
            "turn {lights} up {bit} {whybright} => change=brighter", "brighten {lights} {whybright} => change=brighter", "{whybright} more light => change=brighter", "more light {in} {whybright} => change=brighter",
            "(bump|crank|jack|whack|boost) {lights} up {bit} => change=brighter", "bump up {lights} {bit} => change=brighter", "(knock|ease|fade|bump|drop) {lights} down {bit} => change=dimmer",
            "(would|do) you mind dimming {lights} {bit} => change=dimmer", "(would|do) you mind turning {lights} down {bit} => change=dimmer", "(would|do) you mind (brightening|turning up) {lights} {bit} => change=brighter",
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
            "it's pitch dark {place} => change=brighter", "too dark {in} => change=brighter", "too dim {in} => change=brighter", "so dark {in} => change=brighter", "(pretty|quite|very|awfully|rather|really) dark {in} => change=brighter", "(pretty|quite|very|awfully|rather|sort of) (dim|gloomy) {in} => change=brighter", "not bright enough {in} => change=brighter", "not enough light {in} => change=brighter",
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
            "mind dimming {lights} {bit} => change=dimmer", "mind turning {lights} up {bit} => change=brighter", "take {lights} down (a notch|a bit|a touch|a little|a peg) => change=dimmer",
            "take {lights} up (a notch|a bit|a touch|a little) => change=brighter", "bring {lights} up (a notch|a bit|a touch|a little) => change=brighter", "turn {lights} lower => change=dimmer",
            "turn {lights} higher => change=brighter", "{at} make it {much} brighter => change=brighter", "{at} make it {much} (dimmer|darker) => change=dimmer", "{at} more light => change=brighter", "{at} less light => change=dimmer",
            "{at} it's too dark => change=brighter", "{at} it's too bright => change=dimmer", "{the} brighter => change=brighter", "{the} {much} brighter => change=brighter", "{the} dimmer => change=dimmer",
            "{the} darker => change=dimmer", "{room} brighter => change=brighter", "{room} dimmer => change=dimmer", "{room} darker => change=dimmer", "{room} too dark => change=brighter", "{room} too bright => change=dimmer",
            "{room} dim => change=dimmer", "{room} light {much} brighter => change=brighter", "{room} lights {much} dimmer => change=dimmer", "brightness {much} higher {in} => change=brighter",
            "brightness {much} lower {in} => change=dimmer", "(bump|crank|push) the brightness up {bit} {in} => change=brighter", "(knock|bring|take) the brightness down {bit} {in} => change=dimmer",
            "up the brightness {in} => change=brighter", "brighter lights {in} => change=brighter", "brighter light {in} => change=brighter", "i want brighter light {in} => change=brighter", "i want softer light {in} => change=dimmer",
            "give me brighter lights {in} => change=brighter", "we need brighter lights {in} => change=brighter", "give {the} more light => change=brighter", "give {the} a bit more light => change=brighter",
            "give us a bit more light {in} => change=brighter", "give us less light {in} => change=dimmer", "a little brighter {in} please => change=brighter", "a little dimmer {in} please => change=dimmer",
            "a little more light {in} => change=brighter", "a little less light {in} => change=dimmer", "a bit too dark {in} => change=brighter", "a bit too bright {in} => change=dimmer", "kinda dark {in} => change=brighter",
            "kinda bright {in} => change=dimmer", "bit dark {in} => change=brighter", "bit bright {in} => change=dimmer", "bit dim {in} => change=brighter", "it's (kind of|kinda|sort of) dark {place} => change=brighter",
            "it's (kind of|kinda|sort of) bright {place} => change=dimmer", "it's (so|awfully|terribly|rather|quite) gloomy {place} => change=brighter", "it's gloomy {place} => change=brighter",
            "it's like a (cave|dungeon|tomb|crypt) {place} => change=brighter", "it's as dark as a cave {place} => change=brighter", "dark as a cave {in} => change=brighter", "{the} is like a cave => change=brighter",
            "it's like a (stadium|football stadium|supermarket|operating room) {place} => change=dimmer", "{lights_are} like the sun => change=dimmer", "it's (a little|a bit) (dark|dim) {place} don't you think => change=brighter",
            "isn't it (a bit|too|rather) dark {place} => change=brighter", "isn't it (a bit|too|rather) bright {place} => change=dimmer", "does it have to be so bright {place} => change=dimmer",
            "does it have to be so dark {place} => change=brighter", "could it be a bit (darker|dimmer) {place} => change=dimmer", "i'm (almost|practically|sitting) in the dark {place} => change=brighter",
            "we're sitting in the dark {place} => change=brighter", "i'm squinting {place} => change=brighter", "i'm straining my eyes {place} => change=brighter", "i keep bumping into things {place} it's so dark => change=brighter",
            "i need (better|stronger) light {in} => change=brighter", "better light {in} => change=brighter", "stronger light {in} => change=brighter", "the light {at} is too weak => change=brighter",
            "the light {place} is bad => change=brighter", "not light enough {in} => change=brighter", "i need more light {whybright} => change=brighter",
            "i need more light to (read|cook|work|see|sew|knit|study|shave) [by] => change=brighter", "lighten {the} up => change=brighter", "lighten up {the} => change=brighter", "lighten it up {place} => change=brighter",
            "bright up {the} => change=brighter", "make bright {the} => change=brighter", "make more bright {in} => change=brighter", "make less bright {in} => change=dimmer", "(crank|pump) up the brightness {in} => change=brighter",
            "{lights_are} giving me a headache => change=dimmer", "{lights_are} too bright {whydim} => change=dimmer", "it's too bright {place} {whydim} => change=dimmer",
            "the light {at} is (too bright|too strong|too harsh|hurting my eyes) => change=dimmer", "these lights are (killing|blinding|hurting) me => change=dimmer", "{lights_are} really bright => change=dimmer",
            "{lights_are} really dim => change=brighter",  "ouch it's bright {place} => change=dimmer", "ow my eyes too bright {in} => change=dimmer",
            "i'm being blinded {place} => change=dimmer", "easy on the lights => change=dimmer", "go easy on {lights} => change=dimmer", "a gentler light {in} => change=dimmer", "gentler light {in} => change=dimmer",
            "soften the light {in} => change=dimmer", "subdued lighting {in} => change=dimmer", "subtle lighting {in} => change=dimmer", "soft lighting {in} => change=dimmer", "soft light {in} => change=dimmer",
            "low lights {in} => change=dimmer", "dim lighting {in} => change=dimmer", "dimmed lights {in} => change=dimmer", "i want {lights} dimmed => change=dimmer", "i'd like {lights} dimmed {bit} => change=dimmer",
            "could you have {lights} dimmed => change=dimmer", "can {lights} be dimmed {bit} => change=dimmer", "can you dim {the} for me => change=dimmer", "time to dim {lights} => change=dimmer",
            "take the edge off {lights} => change=dimmer",
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
            "(turn|make|set|change) {lights} {color} {whycolor}", "{whycolor} (turn|make|set) {lights} {color}", "{whycolor} {hue} lights {in}", "{lights} {color} {whycolor}", "{hue} lights {in} {whycolor}", "{hue} please {at}",
            "{room} {hue}", "change the color of {lights} to {color}", "change the (light|lights) {at} from {old} to {color}", "change {lights} to {color} instead of {old}", "not {old} {color} {at}",
            "(can i get|could i get|can you get me|can you give me|could we get) [a|some] {hue} light {in}", "(can i get|could i get|can you get me|could we get) a {warm} light {in}", "can (we|i) (get|have) {warm} lighting {in}",
            "put {warm} light {at}", "put {warm} lights on {in}", "put (some|the) {hue} lights on {in}", "turn on some {hue} lights {in}", "put on some {hue} lights {in}",
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
            "{old} is too (cozy|dark|cold|harsh|boring|strong|bright) (switch|change|turn) {lights} to {color}", "{old} is too (cozy|yellow|dark) (switch|change|turn) {the} to {warm} light",
            "i'm (tired|sick|bored) of {old} (make|turn) {lights} {color}", "i don't like {old} make {lights} {color}", "enough {old} (make|turn) {lights} {color}", "swap {old} for {color} {at}",
            "(colour|tint|wash|flood) {lights} {color}", "(tint|wash|flood) {the} {hue}", "flood {the} with {color} [light]", "(colour|color) {color} {in}", "change the colour {in} to {color}", "set the colour of {lights} to {color}",
            "the colour of {lights} should be {color}", "colour of {lights} {color}", "can you turn {the} {hue}", "could we have {the} in {color}", "can we have {lights} {color}", "can we have {lights} in {color} tonight",
            "can {lights} go {color}", "do {lights} {color}", "do {the} {hue}", "do {the} in {color}", "do {hue} {at}", "make {the} all {hue}", "make all the lights {color} => all=true", "turn all the lights {color} => all=true",
            "turn all the lights {color} {whycolor} => all=true", "all lights {color} => all=true", "all the lights {color} => all=true", "all {hue} lights => all=true", "everything {color} => all=true",
            "turn everything {color} => all=true", "make everything {color} => all=true", "the whole house {color} => all=true", "turn the whole house {color} => all=true", "make the whole house {color} => all=true",
            "whole house in {color} => all=true", "every light {color} => all=true", "make every light {color} => all=true", "{everywhere} {hue} light", "i want {lights} in a {color} (tone|shade|hue)", "a (touch|hint) of {hue} {at}",
            "a bit of {hue} light {in}", "some {hue} light {in}", "some {hue} lighting {in}", "get me some {hue} light {in}", "give me {hue} {at}", "give {the} a {hue} mood", "give us {hue} lights {in}", "{hue} mood lighting {in}",
            "{hue} vibes {in}", "{hue} light show {in}", "pick {hue} for {lights}", "choose {hue} for {lights}", "go for {hue} {at}", "i'd prefer {hue} light {in}", "i prefer {lights} {color}", "i fancy {hue} lights {in}",
            "i fancy {lights} in {color}", "it would be nice with {hue} light {in}", "wouldn't {lights} look nice in {color} try it", "my daughter wants {lights} {color}", "(my|the) (son|daughter|boy|girl|kid) wants {hue} lights {in}",
            "i want {the} {hue}", "we want {the} {hue}", "i want my lights {color}", "the light {at} should be {color}", "the lights {at} {color} please", "light {at} {color}", "lights {at} {color}", "with {hue} light {at}",
            "in {color} {lights}", "{color} is what i want for {lights}", "{color} on {lights}", "(stick|pop|whack|chuck) {lights} on {color}", "(stick|put|pop) {lights} (on|to) {tone}", "(switch|flip|flick) {lights} over to {color}",
            "from {old} to {color} {at}", "{lights} from {old} to {color}", "less {old} more {hue} {at}", "more {hue} {at}", "more {hue} light {in}", "{lights} a (warmer|cozier|softer) color => col=warm",
            "a warmer (light|color|tone) {in} => col=warm", "a cooler (light|color|tone) {in} => col=cool", "a colder light {in} => col=cool", "warmer lights {in} => col=warm", "cooler lights {in} => col=cool",
            "warm up the light {in} => col=warm", "warm up the color of {lights} => col=warm", "make the light {place} more cozy => col=warm", "i want it cozy {place} warm light => col=warm", "(cosy|homely|homey) light {in} => col=warm",
            "(cosy|homely|homey) lighting {in} => col=warm", "less blue light {in} => col=warm", "the light {place} is too white => col=warm", "{lights_are} too white => col=warm", "{lights_are} too orange => col=cool",
            "the light {place} is too harsh make it warmer => col=warm", "like candlelight {in} => col=warm", "make {lights} like candlelight => col=warm", "candle light color {in} => col=warm",
            "evening light {in} make it warm => col=warm", "cold light {in} to stay awake => col=cool", "i need cool light {in} to (work|concentrate|focus) => col=cool", "{warm} light for {the}", "{warm} white for {the}",
            "{warm} white {in}", "{room} {warm} light", "{room} lights {tone}", "{the} in {warm} light", "give {the} {warm} light", "lights {tone} {in}", "lights to {tone} {in}", "light {tone} {in}", "turn the lights {tone} {in}",
            "white light {in} => col=white", "plain white {in} => col=white", "normal white {in} => col=white", "back to white {in} => col=white", "just white {in} => col=white", "(make|turn|set|put) {lights} back to white => col=white",
            "just plain white for {lights} => col=white",
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
            "{lights} still on", "{are_lights} still on {in}", "have i (turned off|switched off|left on|turned on) {lights}", "did i (turn|switch) {lights} (on|off)", "did i (turn|switch) (on|off) {lights}",
            "did (we|you|anyone|somebody|the kids) (turn|switch) off {lights}", "did (we|you|anyone|somebody|the kids) leave {lights} on", "did i leave the light on {at}", "did i leave a light on {at}", "did i forget the light {at}",
            "{are_lights} on or off", "do you know (if|whether) i (left|turned off) {lights}", "(tell me|check|see) (if|whether) i (left {lights} on|turned {lights} off|turned off {lights})", "{lights_are} off right",
            "{lights_are} on right", "can you check {lights}", "can you check (if|whether) {lights_are} (on|off)", "can you see (if|whether) the lights are on {at}",
            "(double check|go check|please check|make sure and tell me) if {lights_are} off", "check for lights {at}", "check {at} for lights left on",
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
            "{lights} on yes or no", "{lights} off yes or no", "{lights_are} off yes or no", "{lights_are} off isn't it", "{lights_are} still on isn't it", "{lights_are} on or not", "is {the} light on", "is {the} light off",
            "{are_lights} shining", "{are_lights} lit", "{are_lights} active", "{are_lights} currently (on|off)", "{are_lights} on at the moment", "{are_lights} out", "{are_lights} actually off", "{are_lights} really off",
            "{are_lights} really on", "{are_lights} on yet", "{are_lights} on again", "who left {lights} on did i", "i wonder if {lights_are} on", "i wonder whether i left {lights} on", "i wonder if i turned {lights} off",
            "i forgot if i turned {lights} off", "i can't remember if i turned {lights} off", "i can't remember if i (left {lights} on|switched off {lights})", "i don't remember turning {lights} off did i",
            "i hope i turned {lights} off did i", "i may have left {lights} on check please", "i might have left {lights} on", "i might have left the light on {at}", "i think {lights_are} still on", "i think i forgot {lights} is it on",
            "not sure if i turned off {lights}", "remember if i turned {lights} off", "was it me who left {lights} on", "what's {lights} doing", "what's the light doing {at}", "light on {at} or off", "(lights still on {at}|(is there|is) still a light on {at}|still (any|some) (light|lights|lamp) on {at}|a light still on {at}|still a (lamp|bulb) on {at})",
            "light still on {at}", "still a light on {at}", "anything still on {at}", "anything lit {at}", "any lamps on {at}", "any lamp still on {at}", "any light still on {at}", "is a lamp on {at}",
            "is it dark {at} or is the light on", "is someone's light on {at}", "is there light {at}", "is there still (a|some) light {at}", "is there still a light on {at}", "are there still lights on {at}",
            "are all the lights off {at}", "are all lights out {at}", "did all the lights go off {at}", "did {lights} go off", "did {lights} go on", "did {lights} come on", "did {lights} turn off", "has {the} still got the light on",
            "has {the} got its lights on", "has anybody left {lights} on", "has someone left {lights} on", "have we got {lights} on", "have you got {lights} on", "have the kids left {lights} on", "have i forgotten {lights}",
            "tell me about {lights}", "tell me the state of {lights}", "report on {lights}", "info on {lights}", "current state of {lights}", "state of {lights}", "state of the lights {in}", "status {lights}",
            "status of the lights {in}", "which of the lights are on {at}", "which lamps are on {at}", "which lamps are on => all=true", "which light is on => all=true", "which light is still on => all=true",
            "what lights have i left on => all=true", "what lights are burning => all=true", "what's lit => all=true", "what lights do i have on => all=true", "which rooms are the lights on in => all=true",
            "which room has a light on => all=true", "what rooms have lights on => all=true", "where's there a light on => all=true", "where have i left a light on => all=true", "did i leave any light on => all=true",
            "did i leave any lights burning => all=true", "did we leave any lights on => all=true", "did anyone leave a light on => all=true", "did the kids leave any lights on => all=true", "did i turn all the lights off => all=true",
            "did i turn off every light => all=true", "did we turn all the lights off => all=true", "have i turned all the lights off => all=true", "have we turned off all the lights => all=true", "any light still on => all=true",
            "any lights still on => all=true", "any lights on anywhere => all=true", "is any light still on in the house => all=true", "is any light on in the house => all=true", "is there any light on in the house => all=true",
            "is there a light on somewhere => all=true", "is the whole house dark => all=true", "is the house all dark => all=true", "is every light out => all=true", "are all lights out => all=true",
            "are all of the lights off => all=true", "are all the lights out => all=true", "are all the lights on => all=true", "are we all dark => all=true", "check all the lights => all=true", "check all lights are off => all=true",
            "check the lights in the whole house => all=true", "check if all the lights are off => all=true", "check if everything is off => all=true", "check whether any lights are on => all=true",
            "see if any lights are on => all=true", "see if all the lights are off => all=true", "tell me which lights are on => all=true", "tell me if all the lights are off => all=true", "tell me if any lights are on => all=true",
            "lights overview => all=true", "status of all the lights => all=true", "status of the lights in the house => all=true", "are we wasting power on lights somewhere => all=true", "how many lights do i have on => all=true",
        ],
        held=["would you know if {lights_are} on", "are we sure {lights_are} off", "can i be sure {lights_are} off", "what are the lights doing {at}", "have a look if {lights_are} on", "is somebody using the light {at}", "have you turned {lights} off",
            "how is the light {at} is it on", "any room with the light on => all=true", "is there a room with the lights on => all=true", "which rooms are lit => all=true", "have we left something on => all=true"],
        slots=SLOTS, call=lambda v: ("get_light", rooms_of(v)), result=found, say=say_light),
    # --- second and third turns
    Intent(
        "lights.too", follows=SET + ("lights.instead",), weight=1.6,
        patterns=[
            "and {at} too", "and {at}", "and {at} as well", "{at} too", "{at} as well", "also {at}", "and also {at}", "{the} too", "{the} as well", "and {the} too", "and {the}", "and {the} as well", "also {the}", "and also {the}", "now {the}",
            "and the one {at}", "the one {at} too", "the ones {at} too", "and that one {at}", "and those {at}",
            "now {at}", "and now {the}", "then {the}", "{which} too", "and {which}", "and {which} too", "also {which}", "{which} as well", "and {which} as well", "now {which}", "the same {at}", "same {at}", "same for {the}", "same thing {at}",
            "the same for {the}", "the same for {which}", "do the same {at}", "do the same for {the}", "do the same with {which}", "do {the} too", "do {which} too", "do that {at} too", "do that {at} as well", "do it {at} too", "do it {at} as well",
            "and do {the}", "how about {the} too", "{the} also", "{which} also", "{at} also", "{the} same thing", "include {the}", "plus {the}", "{the} likewise", "and {the} please", "repeat that {at}", "repeat it for {the}", "i'd like that {at} too",
            "i want the same {at}", "not only there {at} too", "add {the}",
            "and while you're at it {the}", "and while you're at it {at} too", "and {the} while you're at it", "{the} and that's it", "next {the}", "next {at}", "then {at}", "now do {the}", "now do {which}", "now the one {at}",
            "do {the} next", "do {the} as well", "do {which} as well", "do {at} as well", "do {at}", "do the same thing {at}", "do the same thing for {which}", "do the same to {the}", "do likewise {at}", "ditto {at}", "ditto for {the}",
            "ditto {the}", "{the} ditto", "likewise {at}", "same with {the}", "same with {which}", "same deal {at}", "same deal for {the}", "same again {at}", "same again for {the}", "same story {at}", "same goes for {the}",
            "that goes for {the} too", "that goes for {which} too", "the same thing {at}", "repeat {at}", "repeat for {the}", "repeat the same {at}", "you forgot {the}", "you forgot {which}", "you forgot the one {at}",
            "you missed {the}", "you missed {which}", "don't forget {the}", "don't forget {which}", "don't forget the one {at}", "and not to forget {the}", "i also want that {at}", "i also meant {the}", "i also meant {which}",
            "i want that {at} too", "i want it {at} too", "what about {the} do that too", "how about {which} too", "how about {the} as well", "and what about {the} same there", "plus {which}", "with {the} too", "along with {the}",
            "and lastly {the}", "and finally {the}", "last one {the}", "one more {the}", "and the light {at}", "and the lights {at}", "the light {at} too", "the lights {at} as well", "and the other one {at}",
        ],
        held=["have {the} the same", "let's do that {at} as well", "and then {the} too", "could you repeat that for {which}", "{at} i want the same", "and the same thing for {which}"],
        slots=SLOTS, call=again_at, result=answer, say=say_light),
    Intent(
        "lights.instead", follows=SET + ASKED + ("lights.instead",), weight=0.9,
        patterns=[
            "no i meant {the}", "no i meant {which}", "i meant {the}", "i meant {at}", "i meant {which}", "no {the}", "no {at}", "no {which}", "no not there {at}", "not there {at}", "not that one {which}", "no not that one {which}",
            "not {oldthe} {the}", "no not {oldthe} {the}", "{the} not {oldthe}", "no {the} not {oldthe}", "not {oldthe} i meant {the}", "i meant {the} not {oldthe}", "i said {the} not {oldthe}", "no i said {which}", "no i mean {the}",
            "no i mean {which}", "not that {which}",
            "sorry i meant {the}", "sorry {the}", "sorry {which}", "sorry i mean {the}", "i mean {the}", "i mean {at}", "i said {the}", "no i said {the}", "i said {which}", "no i want that {at}", "wrong room {the}", "wrong room i meant {the}",
            "wrong light {which}", "wrong one i meant {which}",
            "actually {the}", "actually {at}", "actually i meant {which}", "{the} instead", "{which} instead", "{at} instead", "make that {the}", "make that {which}", "oops {the}", "oops i meant {which}", "no no {the}", "no wait {the}", "not here {at}",
            "not that room {the}", "no that's wrong {the}", "that's the wrong one i meant {which}", "no do it {at}", "i'm talking about {the}", "no i'm talking about {which}", "rather {the}", "rather {at}",
            "not {oldthe} but {the}", "no not {oldthe} but {the}", "i didn't mean {oldthe} i meant {the}", "i didn't say {oldthe} i said {the}", "i didn't say {oldthe} {the}", "no i didn't mean {oldthe} {the}", "{which} not {oldthe}",
            "no {which} not {oldthe}", "i want {the} not {oldthe}", "i want {which} instead", "{the} instead of {oldthe}", "not in {oldroom} {at}", "no not in {oldroom} {at}", "{at} not in {oldroom}", "i said {at} not in {oldroom}",
            "i said {at}", "no i said {at}", "no i meant {at}", "i meant the one {at}", "no the one {at}", "no the ones {at}", "the one {at}", "the one {at} instead", "the ones {at} instead", "no no the one {at}",
            "wrong room i said {the}", "wrong room i want {the}", "wrong room do {the}", "wrong one {the}", "wrong one {which}", "wrong light i meant {the}", "that's the wrong room {the}", "that's the wrong light {which}",
            "that's the wrong one {the}", "that's not {the}", "that's not {which}", "sorry not {oldthe} {the}", "sorry i meant {at}", "sorry i meant {which}", "sorry {at}", "sorry make that {the}", "my mistake {the}",
            "my mistake i meant {the}", "my bad {the}", "my bad i meant {which}", "oops not {oldthe} {the}", "oops sorry {the}", "oops {which}", "whoops {the}", "i mean {which}", "i mean the one {at}", "hang on i meant {the}",
            "make it {the}", "make it {which} instead", "change that to {the}", "correction {the}", "correction i meant {which}", "let me rephrase {the}", "do {the} instead", "do {which} instead", "do it {at} instead",
            "do that {at} instead", "try {the} instead", "you did the wrong one i want {the}", "you got the wrong room i said {the}", "you misheard me {the}", "you misheard i said {the}", "actually {which}", "actually do {the}",
            "rather {which}", "better {the}", "better {which}", "only {the}", "only {which}", "only {at}", "just {the}", "just {which}", "just {at}", "i only meant {the}", "i just meant {which}",
        ],
        held=["that was the wrong room i want {the}", "no i was talking about {the}", "no it should be {which}", "you got it wrong {the}", "i was talking about {which}"],
        slots=SLOTS, call=again_at, result=answer, say=say_light),
    Intent(
        "lights.all.it", follows=SET + ("lights.instead",), weight=0.6,
        patterns=["all of them", "all lights", "all the lights", "no all of them", "no all lights", "everywhere", "and everywhere else", "{everywhere}", "{everywhere} please", "do it {everywhere}", "do that {everywhere}", "i meant all of them",
            "i meant everywhere", "i mean all of them", "all of them please", "every one of them", "every light", "do all of them", "all rooms", "every room", "do it for all rooms", "do that for every room", "the whole house", "and the rest",
            "the other ones too",
                  "and all the others", "all the others too", "and the other lights", "the others too", "make that all of them", "the same for all lights", "the same {everywhere}", "and all the other rooms", "and the rest of the house",
            "no everywhere", "no i meant everywhere", "no the whole house", "all of it", "all of them too", "all of the lights", "all the rooms", "all over the house", "in all of them", "in all the other rooms too",
            "and all the other lights", "and all the rest", "and everything else", "and the others", "and the other rooms too", "do the same everywhere", "do the same in every room", "do the whole house", "do every room",
            "do all the rooms", "do them all", "do all of the lights", "the entire house", "the lot", "the whole lot", "the rest too", "the rest of them too", "the rest of the house too", "every single one", "every last one",
            "each and every one", "not just there everywhere", "not only there all of them", "not just that one all of them", "make it the whole house", "make it all of them", "i said all of them", "i said everywhere",
            "i said all the lights", "i said the whole house", "i want all of them", "same everywhere", "same in the whole house", "same for all the others", "same for the rest", "same with the others",
        ],
        held=["i want that for all of them", "have it the same in every room", "each one of them please", "not just this one all of them"],
        slots=SLOTS, call=lambda v: (lambda tool, args: (tool, {"rooms": ["all"], **args}))(v["prev"].get("tool") or "set_light", same_action(v)), result=answer, say=say_light),
    Intent(
        "lights.switch.it", follows=SET + ASKED + ("lights.instead",), weight=1.5,
        patterns=["(turn|switch|put) (it|them) {state}", "(turn|switch|put) (it|them) {state} again", "(turn|switch|put) (it|them) back {state}", "back {state}", "{state} again", "and {state} again", "and {state}", "{state}", "{state} now",
            "turn (it|them) {state} again please", "(ok|okay) now turn (it|them) {state} again", "now turn (it|them) {state} [again]", "now (turn|switch) (it|them) back {state}", "can you turn (it|them) {state} again",
            "can you turn (it|them) back {state}", "turn (it|them) back {state} again", "put (it|them) back {state}", "turn the light {state}", "turn the lights {state}", "turn that light {state}", "turn that one {state} again",
            "now {state}", "okay {state}", "(turn|switch) (that|that one|those|this) {state}", "(turn|switch) {state} again", "turn {state}", "switch {state}", "just turn (it|them) {state}", "no turn (it|them) {state}", "no {state}", "{state} please",
            "and now {state} again", "i want (it|them) {state}",
                  "i meant {state}", "no i meant {state}", "(it|they) should be {state}", "turn (it|them) {state} then", "then turn (it|them) {state}", "okay turn (it|them) {state} now", "lights {state} again", "the light {state} again",
                  "turn the light back {state}", "turn the lights {state} again", "change my mind turn (it|them) {state}", "actually turn (it|them) {state}", "never mind turn (it|them) {state}", "on second thought {state}", "light {state}",
                  "lights back {state}", "light back {state}",
                  "shut (it|them) off => state=off", "kill (it|them) => state=off", "shut off again => state=off", "put (it|them) out => state=off", "i don't need (it|them) anymore => state=off", "enough light turn (it|them) off => state=off",
                  "okay that's it lights out => state=off", "forget it turn (it|them) off => state=off", "bring (it|them) back => state=on",
            "no turn (it|them) {state} again", "no turn (it|them) back {state}", "no wait turn (it|them) {state}", "no leave (it|them) {state}", "no keep (it|them) {state}", "leave (it|them) {state}", "keep (it|them) {state}",
            "i said {state}", "no i said {state}", "i said turn (it|them) {state}", "i told you {state}", "not that {state}", "it's supposed to be {state}", "they're supposed to be {state}", "i wanted (it|them) {state}",
            "i'd rather have (it|them) {state}", "i want that one {state}", "i need (it|them) {state} again", "make (it|them) {state}", "make that {state}", "have (it|them) turned {state}", "get (it|them) {state}",
            "flip (it|them) {state}", "flip (it|them) back {state}", "flick (it|them) {state}", "flick (it|them) back {state}", "switch (it|them) {state} for me", "switch back {state}", "switch {state} again", "turn back {state}",
            "turn {state} the light", "turn {state} that light", "and turn (it|them) {state} again", "and switch (it|them) {state} please", "and back {state} again", "then {state}", "then {state} again", "well turn (it|them) {state}",
            "so turn (it|them) {state}", "yes turn (it|them) {state}", "yeah turn (it|them) {state}", "if so turn (it|them) off => state=off", "in that case turn (it|them) {state}", "oh no {state} again", "wait turn (it|them) {state}",
            "hang on turn (it|them) {state} again", "hold on turn (it|them) back {state}", "oops turn (it|them) {state} again", "oops {state} again", "all of them {state}", "both {state}", "{state} with (it|them)",
            "{state} with (it|them) again", "shut that off => state=off", "shut it => state=off", "shut (it|them) down => state=off", "kill that => state=off", "kill that one => state=off", "kill (it|them) again => state=off",
            "cut (it|them) => state=off", "knock (it|them) off => state=off", "turn (it|them) out => state=off", "turn that out => state=off", "put (it|them) out again => state=off", "out => state=off", "(out again|out please|and out|now out|okay out|out now) => state=off",
            "lights out => state=off", "make it dark again => state=off", "dark again => state=off", "no light => state=off", "no more light => state=off", "i'm done turn (it|them) off => state=off",
            "i'm done with (it|them) => state=off", "done turn (it|them) off => state=off", "i don't need (it|them) => state=off", "i don't want (it|them) on => state=off", "i didn't want (it|them) on => state=off",
            "{whyoff} turn (it|them) off => state=off", "turn (it|them) off {whyoff} => state=off", "i need (it|them) back on => state=on", "i still need (it|them) => state=on", "i still need (it|them) turn (it|them) on => state=on",
            "i still need the light => state=on", "no i need the light => state=on", "put (it|them) on => state=on", "stick (it|them) back on => state=on", "pop (it|them) back on => state=on", "bring (it|them) back on => state=on",
            "light again => state=on", "light back => state=on", "i didn't mean off turn (it|them) on => state=on", "i was still using (it|them) turn (it|them) back on => state=on", "i'm still in here turn (it|them) back on => state=on",
            "i'm still here turn the light on => state=on",
        ],
        held=["have (it|them) {state} again", "let's have (it|them) back {state}", "i'd like (it|them) {state} after all", "get (it|them) {state} again", "(it|they) can go {state} now"],
        slots=SLOTS, call=continuing(switched), result=done, say=say_light),
    Intent(
        "lights.change.it", follows=SET + ("lights.instead", "lights.more", "lights.less", "lights.toomuch"), weight=1.5,
        patterns=["make (it|them|that) {much} brighter => change=brighter", "{much} brighter => change=brighter", "brighter => change=brighter", "and {much} brighter => change=brighter", "(brighten|brighten up) (it|them) {bit} => change=brighter",
            "dimmer please => change=dimmer", "darker please => change=dimmer", "turn (it|them) up {bit} => change=brighter", "turn (it|them) down {bit} => change=dimmer", "up {bit} => change=brighter", "down {bit} => change=dimmer",
            "{much} lower => change=dimmer", "{much} higher => change=brighter",
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
                  "softer => change=dimmer", "a little softer => change=dimmer", "that's blinding => change=dimmer",
            "now make (it|them) {much} brighter => change=brighter", "now make (it|them) {much} (dimmer|darker) => change=dimmer", "now dim (it|them) {bit} => change=dimmer", "then dim (it|them) {bit} => change=dimmer",
            "but {much} brighter => change=brighter", "but {much} (dimmer|darker) => change=dimmer", "but not so bright => change=dimmer", "but dim => change=dimmer", "but dimmed => change=dimmer", "just {much} dimmer => change=dimmer",
            "just dim (it|them) {bit} => change=dimmer", "only {much} dimmer => change=dimmer", "only dim (it|them) don't turn (it|them) off => change=dimmer", "actually {much} dimmer => change=dimmer",
            "actually make (it|them) {much} brighter => change=brighter", "actually dim (it|them) => change=dimmer", "no make (it|them) brighter => change=brighter", "no make (it|them) {much} brighter => change=brighter",
            "no make (it|them) (dimmer|darker) => change=dimmer", "no dimmer => change=dimmer", "no dim (it|them) => change=dimmer", "no i meant brighter => change=brighter", "no i meant (dimmer|darker) => change=dimmer",
            "i meant brighter => change=brighter", "i meant dimmer => change=dimmer", "i said brighter => change=brighter", "i said dimmer => change=dimmer", "(bump|crank|bring|put|push) (it|them) up {bit} => change=brighter",
            "bump (it|them) up {bit} please => change=brighter", "crank (it|them) up => change=brighter", "(knock|bring|take|put|tone|ease) (it|them) down {bit} => change=dimmer", "take (it|them) down a notch => change=dimmer",
            "up a notch => change=brighter", "down a notch => change=dimmer", "soften (it|them) {bit} => change=dimmer", "lower (it|them) {bit} => change=dimmer", "raise (it|them) {bit} => change=brighter",
            "lighten (it|them) up => change=brighter", "lighten it up {bit} => change=brighter", "still dark => change=brighter", "still too dim => change=brighter", "still can't see => change=brighter",
            "still too dark {place} => change=brighter", "i can't see => change=brighter", "i can't see anything => change=brighter", "now i can't see a thing => change=brighter", "it's too dark now => change=brighter",
            "it's too dim => change=brighter", "it's a bit dark now => change=brighter", "that's a bit dark => change=brighter", "that's a bit dim => change=brighter", "that's too low => change=brighter", "bit dark => change=brighter",
            "bit too dark => change=brighter", "a bit too dark => change=brighter", "way too dark => change=brighter", "it could be a little brighter => change=brighter", "needs to be brighter => change=brighter",
            "not enough light => change=brighter", "that's not enough light => change=brighter", "i need more light => change=brighter", "i want more light => change=brighter", "give me more light => change=brighter",
            "give me a bit more => change=brighter", "still very bright => change=dimmer", "still blinding => change=dimmer", "it's blinding => change=dimmer", "that's blinding me => change=dimmer", "oh that's bright => change=dimmer",
            "ow that's bright => change=dimmer", "whoa that's bright => change=dimmer", "wow too bright => change=dimmer", "whoa too bright => change=dimmer", "it's too bright => change=dimmer", "it's a bit bright now => change=dimmer",
            "that's a bit bright => change=dimmer", "that's way too bright => change=dimmer", "bit bright => change=dimmer", "bit too bright => change=dimmer", "a bit too bright => change=dimmer", "way too bright => change=dimmer",
            "too harsh => change=dimmer", "that's too harsh => change=dimmer", "too strong => change=dimmer", "my eyes => change=dimmer", "ouch my eyes => change=dimmer", "not quite so bright => change=dimmer",
            "a bit softer => change=dimmer", "needs to be dimmer => change=dimmer", "i want less light => change=dimmer", "give me less light => change=dimmer", "that's too much light => change=dimmer",
        ],
        held=["let's have it a bit brighter => change=brighter", "it could be a bit brighter => change=brighter", "i need to see more => change=brighter", "it needs to be brighter => change=brighter", "let's have it a bit darker => change=dimmer",
            "it could be a bit dimmer => change=dimmer", "it needs to be dimmer => change=dimmer", "that's way too bright for me => change=dimmer"],
        slots=SLOTS, call=continuing(changed), result=done, say=say_light),
    Intent(
        "lights.level.it", follows=SET + ("lights.instead", "lights.more", "lights.less", "lights.toomuch"), weight=1.3,
        patterns=["to {pct}", "at {pct}", "to {level}", "{pct}", "{pct}", "{part}", "make (it|them|that) {level}", "make (it|that) {pct}", "set (it|them) to {level}", "put (it|them) (at|to|on) {level}", "turn (it|them) to {level}",
            "no i meant {level}", "no i meant {pct}", "no {pct}", "make (it|them) {pct}", "make that {pct}", "turn (it|them) to {pct}", "set (it|them) to {pct}", "{level} instead", "down to {low}", "up to {high}",
            "(turn|bring|put|bump|crank) (it|them) up to {pct}", "(turn|bring|take|knock|drop) (it|them) down to {pct}",
            "bring (it|them) to {level}", "dim (it|them) to {low}", "(turn|bring) (it|them) down to {low}", "(turn|bring) (it|them) up to {high}", "no {level}", "no make it {level}", "no i said {pct}", "i said {pct}", "i meant {level}", "and to {pct}",
            "and {pct}", "and set (it|them) to {pct}", "now {pct}",
                  "now to {level}", "change (it|that) to {level}", "brightness {level}", "brightness to {level}", "set the brightness to {level}", "{pct} brightness", "only {level}", "just {pct}", "let's say {level}", "let's try {level}", "try {level}",
                  "how about {pct}", "{pct} instead", "rather {pct}", "better {pct}", "sorry {pct}", "actually {pct}", "{pct} is enough", "i want (it|them) at {pct}", "all the way up => brightness=100", "turn (it|them) all the way up => brightness=100",
                  "full => brightness=100", "full brightness => brightness=100", "as bright as possible => brightness=100",
                  "maximum => brightness=100", "all the way down => brightness=10", "as low as possible => brightness=10", "lowest => brightness=10", "the minimum => brightness=10", "half => brightness=50", "half of that => brightness=50",
                  "dim (it|them) by half => brightness=50",
            "not {oldlvl} {level}", "no not {oldlvl} {level}", "{level} not {oldlvl}", "no {level} not {oldlvl}", "i said {level} not {oldlvl}", "i meant {level} not {oldlvl}", "no i said {level}", "no no {pct}", "no wait {pct}",
            "sorry i meant {level}", "sorry i mean {pct}", "sorry make (it|that) {pct}", "oops {pct}", "oops i meant {pct}", "i mean {level}", "actually make (it|that) {level}", "actually put (it|them) at {pct}", "maybe {pct}",
            "maybe {pct} is better", "or {pct}", "or maybe {pct}", "more like {pct}", "more like {level}", "rather make it {pct}", "better make it {pct}", "make it more like {pct}", "make it about {pct}", "hmm make it {pct}",
            "okay make it {pct}", "now make it {pct}", "and make it {pct}", "and make (it|them) {level}", "and bring (it|them) to {pct}", "and put (it|them) at {level}", "then {pct}", "then make it {pct}", "but at {pct}",
            "but only {low}", "but only at {low}", "{pct} is better", "{pct} would do", "{pct} will do", "i want {pct}", "i want it at {pct}", "i'd like {pct}", "i'd prefer {pct}", "give me {pct}", "give it {pct}", "let's make it {pct}",
            "do {pct}", "go with {pct}", "go down to {low}", "go up to {high}", "take it to {pct}", "try it at {pct}", "put it back to {pct}", "back to {pct}", "back up to {high}", "back down to {low}", "too dark make it {high}",
            "too bright make it {low}", "that's too bright make it {low}", "that's too dark make it {high}", "still too bright {low}", "no full => brightness=100", "no full brightness => brightness=100",
            "no all the way up => brightness=100", "make (it|them) full => brightness=100", "turn (it|them) up full => brightness=100", "turn (it|them) up all the way => brightness=100",
            "crank (it|them) all the way up => brightness=100", "crank (it|them) to the max => brightness=100", "max (it|them) out => brightness=100", "max => brightness=100", "to the max => brightness=100", "on full => brightness=100",
            "full blast => brightness=100", "full power => brightness=100", "full on => brightness=100", "all the way => brightness=100", "back to full => brightness=100", "back to full brightness => brightness=100",
            "as bright as it gets => brightness=100", "as bright as you can => brightness=100", "make (it|them) as bright as possible => brightness=100", "the brightest you can => brightness=100", "the brightest => brightness=100",
            "turn (it|them) all the way down => brightness=10", "turn (it|them) right down => brightness=10", "dim (it|them) all the way => brightness=10", "dim (it|them) as low as possible => brightness=10",
            "as dim as possible => brightness=10", "as dim as it gets => brightness=10", "right down => brightness=10", "the lowest => brightness=10", "lowest setting => brightness=10", "the dimmest => brightness=10",
            "minimum => brightness=10", "no lower the lowest => brightness=10", "make (it|them) half => brightness=50", "make it half => brightness=50", "no half => brightness=50", "to half => brightness=50", "at half => brightness=50",
            "half brightness => brightness=50", "half of it => brightness=50", "half way => brightness=50", "halfway => brightness=50", "down to half => brightness=50", "only half => brightness=50",
            "cut (it|that) in half => brightness=50", "a quarter => brightness=25", "three quarters => brightness=75",
        ],
        held=["let's have (it|them) at {pct}", "have (it|them) on {level}", "i think {pct} is enough", "go to {pct}", "take (it|them) to {level}", "would {pct} be possible"],
        slots=SLOTS, call=continuing(leveled), result=done, say=say_light),
    Intent(
        "lights.color.it", follows=SET + ("lights.instead",), weight=1.3,
        patterns=["make (it|them|that) {color}", "turn (it|them) {color}", "change (it|them) to {color}", "set (it|them) to {color}", "switch (it|them) to {color}", "now {color}", "now make (it|them) {color}", "now in {color}", "in {color}",
            "{color} not {old}", "not {old} {color}", "no not {old} {color}", "no {color} not {old}", "make it {color} instead", "make (it|them) {color} please", "make that {color}", "and {color}",
            "and in {color}", "and make (it|them) {color}", "and now {color}", "no {color}", "no make (it|them) {color}", "no i meant {color}", "i meant {color}", "i said {color}", "try {color}", "try it in {color}", "let's try {color}",
            "{color} instead", "{color} please", "how about {color}", "maybe {color}", "rather {color}",
                  "{color} is better", "i want (it|them) {color}", "i'd like (it|them) in {color}", "i prefer {color}", "can (it|they) be {color}", "can you make (it|them) {color}", "color {color}", "set the color to {color}",
                  "change the color to {color}", "make the color {color}", "{hue} light", "{hue} light instead", "actually {color}", "sorry {color}", "not that color {color}", "(it|they) should be {color}", "then {color}", "make (it|them) {tone}",
                  "set (it|them) to {tone}", "{tone}", "{warm} light", "{warm} light instead", "make (it|them) {warmer}", "change (it|them) to {tone}", "now {tone}",
            "i said {color} not {old}", "i meant {color} not {old}", "i want {color} not {old}", "i don't want {old} i want {color}", "i don't like {old} make it {color}", "i don't like {old} {color} please",
            "i don't like {old} try {color}", "no i said {color}", "no i want {color}", "no i'd like {color}", "no {old} is ugly {color}", "{color} instead of {old}", "from {old} to {color}", "nah {color}", "nope {color}",
            "nah make (it|them) {color}", "or {color}", "or maybe {color}", "or try {color}", "maybe try {color}", "maybe in {color}", "hmm {color}", "okay {color}", "ok make (it|them) {color}", "oh make it {color}",
            "oops i meant {color}", "oops {color}", "wait {color}", "wait make it {color}", "sorry i meant {color}", "sorry i mean {color}", "i mean {color}", "actually make (it|them) {color}", "rather in {color}", "better {color}",
            "better in {color}", "i'd rather have {color}", "i like {color} better", "i like {color} more", "i'd like {color}", "i'd prefer {color}", "i want {color}", "i want {color} instead", "i want it in {color}", "give me {color}",
            "give it {color}", "let's have {color}", "let's make it {color}", "do {color}", "do it in {color}", "do (it|them) {color}", "go {color}", "show me {color}", "can i have {color}", "can i have it in {color}",
            "can i see {color}", "can we have {color}", "could you make it {color}", "could it be {color}", "how about in {color}", "how about {color} instead", "how would {color} look", "what about in {color}", "and the color {color}",
            "then make (it|them) {color}", "then turn (it|them) {color}", "but {color}", "but in {color}", "but make it {color}", "only in {color}", "color it {color}", "colour it {color}", "paint it {color}", "turn that {color}",
            "turn that one {color}", "a different color {color}", "another color {color}", "different color {color} please", "something else {color}", "more {hue}", "warmer => col=warm", "a bit warmer => col=warm",
            "a little warmer => col=warm", "warmer light => col=warm", "a warmer color => col=warm", "too cold make it warmer => col=warm", "too blue => col=warm", "too white => col=warm", "that's too cold => col=warm",
            "that's too white => col=warm", "make (it|them) cozy => col=warm", "cozier => col=warm", "cooler light => col=cool", "a cooler color => col=cool", "colder light => col=cool", "too yellow => col=cool",
            "too orange => col=cool", "that's too yellow => col=cool", "that's too warm make it {color}", "back to white => col=white", "back to plain white => col=white", "plain white => col=white", "normal white => col=white",
            "just white => col=white", "make (it|them) white again => col=white", "white again => col=white", "turn (it|them) back to white => col=white", "no just white => col=white", "no {tone}", "no make (it|them) {tone}",
            "make that {tone}", "{tone} instead", "rather {tone}", "how about {tone}",
        ],
        held=["let me see (it|them) in {color}", "have (it|them) {color}", "what about {color}", "would {color} be possible", "{color} would be better", "go with {color}"],
        slots=SLOTS, call=continuing(colored), result=done, say=say_light),
    Intent(
        "lights.more", follows=("lights.change", "lights.change.it", "lights.more"), weight=1.2,  # the same direction once more
        patterns=["more", "a bit more", "a little more", "some more", "even more", "more please", "a little bit more", "again", "once more", "one more time", "still more", "keep going", "go on", "further", "a bit further", "not enough",
            "more more", "a tiny bit more", "a wee bit more", "a smidge more", "another notch", "a couple more notches", "two notches more",
            "still not enough", "that's not enough", "it's not enough", "do that again", "do it again", "and again", "and a bit more", "and once more", "a touch more", "a tad more", "a lot more", "much more", "continue", "another bit", "a notch more",
            "one more notch", "more than that", "the same again",
            "one more", "one more step", "one more bit", "another step", "bit more", "little more", "a little bit further", "more than this", "more still", "still a bit more", "i want more", "i need more", "i need a bit more",
            "give me more", "give me a bit more", "make it more", "do more", "do it some more", "do it once more", "do a bit more", "even a bit more", "way more", "lots more", "come on more", "yes more", "keep at it", "carry on",
            "carry on a bit", "don't stop", "don't stop yet", "the same once more", "that's still not enough", "hardly any difference", "i see no difference", "it's hardly changed", "no difference",
        ],
        held=["another little bit", "do some more", "make it even more", "let's have a bit more of that"],
        slots=SLOTS, call=lambda v: ("set_light", dict(v["prev"].get("args", {}))), result=done, say=say_light),
    Intent(
        "lights.toomuch", follows=("lights.change", "lights.change.it", "lights.more"), weight=0.5,  # the other direction
        patterns=["too much", "that's too much", "that was too much", "not so much", "not that much", "that's a bit too much", "a bit too much", "whoa too much", "no too much", "oh that's too much", "not quite so much", "back a bit", "go back a bit",
            "a bit back", "undo that a little", "no the other way", "the other way", "the opposite", "i meant the other way around", "no the opposite",
            "wow too much", "no that's too much", "it's too much", "way too much", "a little too much", "bit too much", "a touch too much", "far too much", "you overdid it", "that's overdoing it", "too far", "that's too far",
            "you went too far", "a little back", "a little bit back", "back a little", "back it off a bit", "go back", "go back a little", "back a notch", "one notch back", "a notch back", "undo that", "undo it", "undo", "no undo that",
            "wrong way", "wrong direction", "no wrong way", "that's the wrong way", "that's the wrong direction", "no the other direction", "the other direction", "in the other direction", "other way", "other way around", "opposite",
            "reverse that", "not in that direction", "not that way", "it was better before", "that was better before", "no it was better before", "i liked it better before", "put it back", "change it back",
        ],
        held=["much too much", "that's way too much", "no do the opposite", "take some of that back"],
        slots=SLOTS, call=lambda v: ("set_light", {**same_place(v), "change": "dimmer" if v["prev"].get("args", {}).get("change") == "brighter" else "brighter"}), result=done, say=say_light),
    Intent(
        "lights.less", follows=("lights.level", "lights.level.it"), weight=0.8,
        patterns=["more => change=brighter", "a bit more => change=brighter", "a little more => change=brighter", "some more => change=brighter", "more please => change=brighter", "a little bit more => change=brighter", "not enough => change=brighter",
            "that's not enough => change=brighter", "up a bit => change=brighter", "turn it up a bit => change=brighter", "a bit up => change=brighter", "a touch more => change=brighter", "higher => change=brighter", "a bit higher => change=brighter",
            "a notch higher => change=brighter", "too low => change=brighter", "that's too low => change=brighter",
                  "less => change=dimmer", "a bit less => change=dimmer", "a little less => change=dimmer", "less please => change=dimmer", "a little bit less => change=dimmer", "too much => change=dimmer", "that's too much => change=dimmer",
                  "not so much => change=dimmer", "not that much => change=dimmer", "down a bit => change=dimmer", "turn it down a bit => change=dimmer", "a bit down => change=dimmer", "a touch less => change=dimmer", "lower => change=dimmer",
                  "a bit lower => change=dimmer", "a notch lower => change=dimmer", "too high => change=dimmer", "that's too high => change=dimmer",
            "even more => change=brighter", "up => change=brighter", "up a little => change=brighter", "up a notch => change=brighter", "go up a bit => change=brighter", "go higher => change=brighter", "even higher => change=brighter",
            "much higher => change=brighter", "still too low => change=brighter", "still not enough => change=brighter", "bit more => change=brighter", "bump it up a bit => change=brighter", "it's not enough => change=brighter",
            "it's too low => change=brighter", "that's a bit low => change=brighter", "that's a little low => change=brighter", "i need more => change=brighter", "even less => change=dimmer", "bit less => change=dimmer",
            "down => change=dimmer", "down a little => change=dimmer", "down a notch => change=dimmer", "go down a bit => change=dimmer", "go lower => change=dimmer", "even lower => change=dimmer", "much lower => change=dimmer",
            "still too high => change=dimmer", "still too much => change=dimmer", "knock it down a bit => change=dimmer", "it's too much => change=dimmer", "it's too high => change=dimmer", "that's a bit high => change=dimmer",
            "that's a bit much => change=dimmer", "a smidge less => change=dimmer",
        ],
        held=["give me a bit more => change=brighter", "that's way too low => change=brighter", "let's have a bit less => change=dimmer", "that's way too high => change=dimmer"],
        slots=SLOTS, call=continuing(changed), result=done, say=say_light),
    Intent(
        "lights.get.too", follows=ASKED, weight=1.8,
        patterns=["and {at}", "and {the}", "what about {the}", "what about {at}", "what about {which}", "how about {the}", "how about {at}", "how about {which}", "and {which}", "and {which} too", "{the} too", "and {at} too", "also {at}",
            "is {the} on too", "and is {the} light on", "and {are_lights} on", "are they on {at} too",
            "is it on {at} too", "is it also on {at}", "and is it on {at}", "and is the light on {at}", "are they on {at}", "and what about {the}", "and how about {which}", "same question for {the}", "and {the} as well", "check {the} too",
            "check {the} as well", "and also {the}", "now {the}", "and now {the}", "the same {at}", "the same for {the}", "{the} as well",
            "and {are_lights} off", "{are_lights} on too", "{are_lights} off too", "{are_lights} off as well", "{are_lights} also on", "and {the} what about that", "how's {the}", "how is it {at}", "what is it like {at}",
            "is it the same {at}", "the one {at}", "the light {at}", "the lights {at}", "{which}", "{at}", "{the}", "then {the}", "next {the}", "now check {which}", "then check {the}", "check {which} too", "check {at} too", "check {at}",
            "check {the}", "also check {which}", "plus {the}", "same question {at}", "the same question for {the}", "tell me about {the} too", "tell me about {which}", "do you see light {at} too", "did i leave it on {at} too",
            "did i leave it on {at}", "did i turn it off {at} too", "did i turn off {which} too", "did i also leave {which} on", "and did i turn off {which}",
        ],
        held=["then what about {at}", "and how is it {at}", "can you check {the} too", "what's with {the}"],
        slots=SLOTS, call=lambda v: ("get_light", rooms_of(v)), result=found, say=say_light),
    Intent(
        "lights.get.it", follows=SET + ("lights.instead",), weight=0.5,
        patterns=["is it on", "is it on now", "is it off", "is it off now", "are they on", "are they off now", "is it really off", "is it really on", "are they really off", "did it go on", "did it go off", "did they go off", "did it work is it on",
            "check if it's on", "check if they're off", "is it still on", "are they still on", "is it on yet", "and is it on now", "are you sure it's off", "so is it on or off", "is the light on now", "are the lights off now", "tell me if it's on",
            "did they turn off",
            "did that work", "did it work", "did it turn on", "did it turn off", "did they go on", "did they turn on", "did they all go off", "did you turn it off", "did you turn it on", "did you turn them off", "did you switch it off",
            "have you turned it off", "have you turned them off", "is it really turned off", "is it actually off", "is it actually on", "is the light off", "is the light on", "is that one on", "is that off now", "are they actually off",
            "are they all off", "are they all on", "are they off", "are they off yet", "are they on yet", "are they really on", "are the lights on", "are the lights really off", "are you sure it's on", "are you sure they're off",
            "are you sure the light is off", "so it's off now", "so they're off now", "it's off now right", "it's off right", "it's on right", "they're off right", "they're all off right", "they're on now right", "check that it's off",
            "check if it's off", "check if it's really off", "check if they're on", "check that they're off", "can you check if it worked", "see if it's off", "see if it's on now", "see if they're off", "tell me if it's off",
            "tell me if they're off", "what state is it in now", "what's the light doing now", "on or off", "is it on or off", "is it still off", "are they still off",
        ],
        held=["can you see if it's on", "are we sure it's off", "do you know if it's on now"],
        slots=SLOTS, call=lambda v: ("get_light", same_place(v)), result=found, say=say_light),
]
