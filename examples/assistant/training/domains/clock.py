"""Alarms, reminders at a time of day, the time and the date."""
from grammar import TENS, UNITS, Intent, Lexicon, arguments, duration, joined, spoken_duration

TASKS = Lexicon("""call mom, call dad, call the doctor, call the bank, call the plumber, call my sister, call my brother, call the landlord, call the vet, call the school, call the office, call back, call grandma, call the insurance,
    take the pills, take my pills, take my medicine, take my medication, take my vitamins, take the antibiotics, take my insulin, take out the trash, take the trash out, take out the garbage, take out the recycling, take the bins out,
    take the dog for a walk, take a break, take a shower, take a nap, take the cake out, take the chicken out of the freezer, take the meat out of the fridge, take the laundry out, take a picture, take the kids to school, take the car to the garage,
    put the bins out, put the trash out, put the kids to bed, put the chicken in the oven, put the clothes in the dryer, put gas in the car, put the roast in, put on sunscreen, put up the shelf, put the car in the garage,
    water the plants, water the garden, water the flowers, water the tomatoes, water the lawn, feed the cat, feed the dog, feed the fish, feed the baby, feed the chickens, feed the birds, walk the dog, let the dog out, let the cat in, brush the dog, bathe the dog,
    wash the car, wash the dishes, wash my hair, wash the windows, wash the sheets, do the dishes, do the laundry, do my homework, do the taxes, do my exercises, do the shopping, do yoga, do the ironing, do my stretches, do the vacuuming,
    pick up the kids, pick up the dry cleaning, pick up a package, pick up milk, pick up the prescription, pick up the car, pick up the groceries, pick the kids up from school, pick up flowers, pick up dinner, pick up the dog from the groomer,
    pay the rent, pay the bills, pay the electricity bill, pay the phone bill, pay the babysitter, pay the credit card, pay the gas bill, pay my taxes, pay the parking ticket, buy milk, buy bread, buy eggs, buy flowers, buy a gift, buy stamps, buy cat food,
    buy a birthday card, buy tickets, buy groceries, buy diapers, buy a new charger, get gas, get milk, get groceries, get cash, get a haircut, get the mail, get ready, get the car washed, get dressed, get off the couch, get some sleep, get the kids,
    send the email, send the report, send the invoice, send the package, send a birthday card, send flowers, email my boss, email the teacher, email the report, text my wife, text my husband, text my boss, answer the email, reply to the email,
    check the oven, check the mail, check my email, check the tires, check the mousetraps, check my blood pressure, check my blood sugar, check on the baby, check the weather, check in for my flight, check the door, check the stove,
    turn off the oven, turn off the heater, turn off the sprinkler, turn on the dishwasher, turn off the lights, turn off the iron, turn the roast, lock the door, lock the doors, lock the back door, lock the gate, lock up, close the windows, close the garage,
    shut the window, open the windows, open the shop, start dinner, start cooking, start the washing machine, start the dishwasher, start the slow cooker, start the rice, start the car, make dinner, make lunch, make the bed, make coffee, make breakfast,
    make a dentist appointment, make an appointment, make a reservation, make the salad, make a list, cook dinner, cook rice, defrost the chicken, thaw the meat, preheat the oven, bake the cake, bake a pie, marinate the steak, peel the potatoes, stir the soup,
    clean the kitchen, clean the bathroom, clean my room, clean the fridge, clean the litter box, clean the oven, clean the gutters, change the sheets, change the filter, change the diaper, change the litter, change the bandage, charge my phone, charge the car,
    charge the battery, charge my watch, plug in the phone, plug in the car, drink water, drink more water, drink a glass of water, eat something, eat lunch, eat dinner, go to bed, go to the gym, go to sleep, go shopping, go to the store, go home, go for a run,
    go to the post office, go to the bank, go to church, go to work, go to the dentist, leave for work, leave for the airport, leave the house, leave, stretch, breathe, meditate, exercise, work out, study, practice piano, practice the guitar, practice my speech,
    read a book, read to the kids, return the books, return the library books, return the shoes, renew my passport, renew the insurance, renew the license, book a table, book the flight, book a hotel, order pizza, order food, order the cake, order more coffee,
    cancel the subscription, cancel the gym membership, cancel the hotel, print the tickets, print the form, sign the papers, sign the permission slip, fill out the form, fill up the car, fill the birdbath, finish the report, finish my essay, finish the presentation,
    join the call, join the meeting, mow the lawn, rake the leaves, shovel the snow, cut the grass, trim the hedge, plant the tulips, fix the sink, fix the bike, fix the fence, fold the laundry, hang up the laundry, hang the picture, iron my shirt, iron the shirts,
    pack my bag, pack lunch, pack the suitcase, pack the car, move the car, move the laundry, move the sprinkler, park on the other side, bring the umbrella, bring my laptop, bring the cake, bring in the mail, wake the kids, wake up the kids, wake my husband,
    watch the game, watch the news, watch the show, watch the match, record the game, tape the show, visit grandma, visit my parents, meet the client, see the doctor, talk to my boss, tell the kids to go to bed, say happy birthday, wish mom a happy birthday,
    write the report, write a thank you note, write my diary, write to grandpa, sweep the porch, vacuum the living room, mop the floor, empty the dishwasher, empty the trash, unload the dishwasher, load the dishwasher, dust the shelves, look for my keys,
    brush my teeth, floss, shave, put in my contacts, use the eye drops, rub in the cream, apply the cream, refill my prescription, weigh myself, measure my blood pressure, bring the kids to soccer, drop off the package, drop the kids off, drop off the car""",
                """rotate the mattress, defrost the freezer, call the roofer, take the cast off, milk the goats, brew the beer, submit the timesheet, sharpen the knives, descale the kettle, ring the nurse, groom the horse, tune the violin, bleed the radiators,
    back up the computer, approve the invoice, pump up the tires, oil the hinges, polish my shoes, repot the orchid, score the bread, knead the dough, soak the chickpeas, unplug the heater, deposit the check, visit the museum, return the drill, salt the driveway,
    rehearse the play, weed the flower bed, collect the mail, swap the laundry, frost the cupcakes, drain the pool, flip the mattress, scan the receipts""")

PEOPLE = Lexicon("""mom, dad, mum, grandma, grandpa, my wife, my husband, my sister, my brother, my boss, my mother, my father, my son, my daughter, my aunt, my uncle, my cousin, my friend, the boss, the kids, the neighbors, the teacher, the doctor, the lawyer,
    the accountant, the babysitter, the landlord, anna, ben, carlos, daniel, emma, frank, george, hannah, ivan, jack, julia, kevin, laura, maria, nick, olivia, paul, peter, rachel, sam, sarah, tom, victor, wendy, john, mary, david, lisa, mike, steve, susan,
    karen, linda, robert, james, kate, emily, alex, chris, jessica, ashley, amy, andrew, aunt mary, uncle bob, bob, joe, jane, max, leo, mia, noah, lucas, sophie, ella, grace, lily, priya, ahmed, yuki, wei, fatima, omar, diego, lucia, pierre, hans, olga,
    mrs brown, mr smith, mr jones, mrs miller, doctor lee, dr patel, the garcias, my mother in law, my roommate, my girlfriend, my boyfriend, my partner, my nephew, my niece, my teacher, my coach, my client, the client, the team, the plumber, the electrician""",
                  """charlotte, felix, beatrice, oscar, ingrid, mateo, naomi, theo, mr rossi, mrs kowalski, my stepdad, my godmother, the janitor, the mechanic, aunt sylvia, my tutor, dmitri""")

THINGS = Lexicon("""milk, bread, eggs, flowers, a birthday card, cat food, dog food, coffee, diapers, stamps, batteries, a present, cheese, butter, toilet paper, the cake, the tickets, a bottle of wine, some fruit, ice, charcoal, paint, light bulbs, printer ink, new shoes,
    chocolates, a pizza, sushi, the medicine, the prescription, a newspaper, tomatoes, onions, rice, beer, water, a new phone case, the groceries, candles, balloons, wrapping paper, soap, shampoo, toothpaste, laundry detergent, a train ticket, potting soil""",
                  """birdseed, a corkscrew, sandpaper, cough drops, a lottery ticket, baking soda, a garden gnome""")

EVENTS = Lexicon("""work, school, gym, meeting, dentist appointment, doctor's appointment, yoga class, workout, breakfast, lunch, dinner, medicine, pills, medication, vitamins, flight, train, bus, bedtime, homework, church, class, piano lesson, soccer practice, football practice,
    team meeting, conference call, phone call, job interview, haircut, party, birthday party, concert, movie, game, tv show, parking meter, dance class, swimming lesson, school bus, school run, morning run, run, nap, study, break, coffee break, lunch break, date night,
    parents evening, book club, choir practice, band practice, rehearsal, prayer, baby, feeding, dog walk, garbage truck, delivery, vet appointment, car service, bill, rent, wedding, barbecue, game night, family dinner, shift, night shift,
    weekend, power nap, math test, driving lesson, guitar lesson, webinar, staff meeting, stand up, daily stand up, zoom call, video call, physiotherapy, blood test, checkup, fishing, hike, skiing, golf, tennis""",
                 """tango class, parole meeting, board meeting, pottery class, chess club, town hall, ferry, deadline, sunrise, karate, therapy session, poker night""")

PLACES = Lexicon("""tokyo, london, paris, new york, berlin, los angeles, chicago, sydney, moscow, beijing, rome, madrid, dubai, singapore, toronto, hong kong, seattle, boston, san francisco, miami, denver, dallas, houston, phoenix, las vegas, honolulu, anchorage, vancouver,
    montreal, mexico city, havana, bogota, lima, santiago, buenos aires, sao paulo, rio de janeiro, lisbon, barcelona, seville, dublin, edinburgh, glasgow, manchester, liverpool, cardiff, amsterdam, brussels, copenhagen, oslo, stockholm, helsinki, warsaw, krakow, prague,
    vienna, zurich, geneva, munich, hamburg, frankfurt, cologne, milan, venice, naples, athens, istanbul, ankara, cairo, casablanca, nairobi, lagos, accra, johannesburg, cape town, addis ababa, tel aviv, jerusalem, baghdad, tehran, riyadh, doha, karachi, lahore, delhi,
    new delhi, mumbai, bangalore, kolkata, chennai, dhaka, kathmandu, bangkok, hanoi, ho chi minh city, jakarta, bali, manila, kuala lumpur, seoul, busan, taipei, shanghai, shenzhen, osaka, kyoto, melbourne, brisbane, perth, adelaide, auckland, wellington, fiji, hawaii,
    alaska, california, texas, florida, ohio, washington, washington dc, philadelphia, atlanta, detroit, minneapolis, portland, austin, san diego, new orleans, nashville, salt lake city, quebec, ottawa, calgary, winnipeg, nova scotia, germany, france, spain, italy, portugal,
    england, scotland, ireland, wales, norway, sweden, finland, denmark, poland, ukraine, romania, hungary, bulgaria, greece, turkey, egypt, morocco, kenya, nigeria, ghana, south africa, ethiopia, israel, iran, iraq, saudi arabia, qatar, pakistan, india, bangladesh, nepal,
    sri lanka, thailand, vietnam, cambodia, malaysia, indonesia, the philippines, china, japan, south korea, north korea, taiwan, mongolia, australia, new zealand, canada, mexico, cuba, jamaica, brazil, argentina, chile, peru, colombia, ecuador, venezuela, bolivia, iceland,
    the netherlands, belgium, switzerland, austria, russia, serbia, croatia, the uk, the us, the usa, puerto rico, siberia, kansas, utah, iowa, arizona, colorado, michigan, georgia, saint petersburg, bucharest, budapest, belgrade, sofia, kiev, riga, vilnius, tallinn""",
                  """reykjavik, montevideo, marrakesh, tbilisi, samarkand, nagoya, valencia, bordeaux, tulsa, san antonio, port moresby, kigali, antwerp, leeds, baltimore, hobart, panama city, zagreb, uzbekistan, madagascar, laos, paraguay, the maldives, oregon, montana, malta,
    luxembourg, guadalajara, tampa, dakar""")

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
# Name, month and day (0: it moves).
HOLIDAYS = [("christmas", 12, 25), ("christmas", 12, 25), ("christmas eve", 12, 24), ("christmas day", 12, 25), ("new year's eve", 12, 31), ("new year's day", 1, 1), ("new year", 1, 1), ("halloween", 10, 31), ("valentine's day", 2, 14),
    ("easter", 4, 0), ("easter sunday", 4, 0),
            ("good friday", 4, 0), ("easter monday", 4, 0), ("thanksgiving", 11, 0), ("mother's day", 5, 0), ("father's day", 6, 0), ("labor day", 9, 0), ("memorial day", 5, 0), ("independence day", 7, 4), ("the fourth of july", 7, 4),
            ("st patrick's day", 3, 17), ("boxing day", 12, 26),
            ("april fools day", 4, 1), ("martin luther king day", 1, 0), ("black friday", 11, 0), ("hanukkah", 12, 0), ("diwali", 11, 0), ("ramadan", 3, 0), ("passover", 4, 0), ("columbus day", 10, 0), ("veterans day", 11, 11), ("pancake day", 2, 0),
            ("the first day of spring", 3, 20),
            ("the first day of summer", 6, 21), ("chinese new year", 2, 0), ("mardi gras", 2, 0), ("groundhog day", 2, 2), ("earth day", 4, 22), ("the super bowl", 2, 0), ("cinco de mayo", 5, 5), ("may day", 5, 1), ("pentecost", 5, 0), ("eid", 4, 0)]
HELD_HOLIDAYS = [("bastille day", 7, 14), ("canada day", 7, 1), ("ash wednesday", 2, 0), ("palm sunday", 4, 0), ("australia day", 1, 26), ("yom kippur", 10, 0)]
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()


class Asked(str):
    """A day as said, which the noise leaves alone because it is copied, with what is known of its date."""

    def __new__(cls, text, month=0, date=0, weekday=None):
        self = super().__new__(cls, text)
        self.month, self.date, self.weekday = month, date, weekday
        return self


# --- times of day

def two(n, oh):
    """Minutes as words: 5 as "oh five"."""
    return f"{oh} {UNITS[n]}" if n < 10 else UNITS[n] if n < 20 else TENS[n // 10] + (" " + UNITS[n % 10] if n % 10 else "")


def minute(g):
    k = g.rng.random()
    if k < (0.35 if g.held else 0.44):
        return 0
    if k < (0.5 if g.held else 0.66):
        return 30
    if k < (0.65 if g.held else 0.8):
        return g.pick([15, 45])
    if k < (0.7 if g.held else 0.9):
        return g.pick([5, 10, 20, 25, 35, 40, 50, 55])
    return g.number(1, 59)


def hands(g, h, m):
    """An hour of 1..12 and minutes in one of the ways people say or write them (h is the hour that the minutes belong to)."""
    num = UNITS[h]
    if m == 0:
        k = g.rng.random()
        if k < 0.36:
            return num, "words"
        if k < 0.68:
            return str(h), "digits"
        if k < 0.86:
            return g.pick([str(h), num]) + g.pick([" o'clock", " o'clock", " o clock", " oclock"]), "clock"
        return f"{h}:00", "digits"
    k = g.rng.random()
    after = UNITS[h % 12 + 1]
    pick_hour = lambda word, n: word if g.chance(0.75) else str(n)
    if k < 0.36 and (m % 5 == 0 or g.chance(0.25)):
        if m == 30:
            return ("half " + num if g.chance(0.08) else "half past " + pick_hour(num, h)), "clock"
        near = m if m < 30 else 60 - m
        amount = g.pick(["quarter", "quarter", "a quarter"]) if near == 15 else g.pick([str(near), two(near, "")]).strip() + ("" if near % 5 == 0 and g.chance(0.85) else " minutes" if near > 1 else " minute")
        return (f"{amount} {g.pick(['past', 'past', 'after'])} {pick_hour(num, h)}" if m < 30 else f"{amount} {g.pick(['to', 'to', 'to', 'till', 'before'])} {pick_hour(after, h % 12 + 1)}"), "clock"
    if k < 0.68:
        return f"{h}{g.pick([':', ':', ':', ':', '.', '', ' '])}{m:02d}", "digits"
    return f"{num} {two(m, g.pick(['oh', 'oh', 'o', 'zero']))}", "words"


def with_half(g, h, m, half):
    """With am or pm."""
    text, kind = hands(g, h, m)
    forms = [half, half, half, f"{half[0]}.m.", f"{half[0]} m"]
    return text + ("" if kind == "digits" and g.chance(0.5) else " ") + (g.pick(forms) if kind != "digits" else g.pick([half, half, half, f"{half[0]}.m."]))


PARTS = {"morning": (3, 11), "afternoon": (1, 5), "evening": (5, 11), "night": (6, 11)}


def hour_in(g, part):
    a, b = PARTS[part]
    return g.between(a, b) if g.chance(0.4) else g.between(*{"morning": (5, 9), "afternoon": (2, 4), "evening": (6, 9), "night": (8, 11)}[part])


def of24(h, m):
    return f"{h:02d}:{m:02d}"


def in_part(h, part):
    return h if part == "morning" else h + 12


def clock(g):
    """A time without a day: (text, value, whether the half of the day was said)."""
    k = g.rng.random()
    if k < 0.05:
        return g.pick([("noon", "12:00", True), ("noon", "12:00", True), ("midnight", "00:00", True), ("midnight", "00:00", True), ("midday", "12:00", True), ("twelve noon", "12:00", True), ("12 noon", "12:00", True)])
    h, m = (g.between(1, 12) if g.chance(0.55) else g.between(5, 10)), minute(g)
    if k < 0.12:  # the 24-hour clock
        h = g.between(13, 23)
        text = g.pick([f"{h}:{m:02d}", f"{h}:{m:02d}", f"{h}:{m:02d}", f"{h} {m:02d}", f"{h}{m:02d}"]) if g.chance(0.75) or m == 0 else f"{two(h, '')} {two(m, 'oh')}"
        return text, of24(h, m), True
    if k < 0.14:
        h = g.between(5, 9)
        return f"0{h}{g.pick([':', ':', ''])}{m:02d}", of24(h, m), False
    if k < 0.42:
        half = g.pick(["am", "pm"])
        return with_half(g, h, m, half), of24(h % 12 + (12 if half == "pm" else 0), m), True
    if k < 0.58:
        part = g.pick(["morning", "morning", "afternoon", "evening", "evening", "night"])
        h = hour_in(g, part)
        text = hands(g, h, m)[0] if g.chance(0.92) else with_half(g, h, m, "am" if part == "morning" else "pm")
        return text + (" at night" if part == "night" else f" in the {part}"), of24(in_part(h, part), m), True
    return hands(g, h, m)[0], of24(h, m), False


def time(g):
    text, value, fixed = clock(g)
    return text, {"time": value, "fixed": fixed}


def short_time(g):
    """A time that can stand before "alarm": "7 am", "seven thirty", "8 o'clock"."""
    k = g.rng.random()
    if k < 0.06:
        return g.pick([("noon", {"time": "12:00", "fixed": True}), ("midnight", {"time": "00:00", "fixed": True})])
    h, m = g.between(1, 12), minute(g)
    if k < 0.12:
        h = g.between(13, 23)
        return f"{h}:{m:02d}", {"time": of24(h, m), "fixed": True}
    num = g.pick([UNITS[h], str(h)])
    if m:
        text = g.pick([f"{h}:{m:02d}", f"{h}:{m:02d}", f"{h} {m:02d}", f"{h}{m:02d}", f"{UNITS[h]} {two(m, 'oh')}", f"{UNITS[h]} {two(m, 'oh')}"])
        text = g.pick(["half past " + UNITS[h], text, text]) if m == 30 else text
    else:
        text = num
    if m == 0 and k > 0.6:
        return text + g.pick([" o'clock", " o clock"]), {"time": of24(h, 0), "fixed": False}
    if m and k > 0.5:
        return text, {"time": of24(h, m), "fixed": False}
    half = g.pick(["am", "pm"])
    return text + g.pick([" ", " ", "" if text[-1].isdigit() else " "]) + g.pick([half, half, f"{half[0]}.m."]), {"time": of24(h % 12 + (12 if half == "pm" else 0), m), "fixed": True}


def an_hour(g):
    text, value = short_time(g)
    return ("an " if text.startswith(("eight", "eleven", "8", "11", "18")) else "a ") + text, value


# --- days

def ordinal(g, n):
    if g.chance(0.5):
        return f"{n}{'th' if 10 < n < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"
    return ORDINALS[n - 1] if n < 20 else {20: "twentieth", 30: "thirtieth"}.get(n) or TENS[n // 10] + g.pick([" ", "-"]) + ORDINALS[n % 10 - 1]


def calendar_day(g):
    """ "the 5th of may", "may 5", "the 12th": (text, month or 0, day)."""
    m, d = g.between(1, 12), g.number(1, 28)
    name = MONTHS[m - 1]
    k = g.rng.random()
    if k < 0.25:
        return f"the {ordinal(g, d)}", 0, d
    if k < 0.55:
        return f"the {ordinal(g, d)} of {name}", m, d
    if k < 0.8:
        return f"{name} {g.pick(['', '', 'the '])}{ordinal(g, d)}", m, d
    return (f"{name} {g.say_number(d)}" if g.chance(0.75) else f"{d} {name}"), m, d


EVERY = [("every day", "daily"), ("every day", "daily"), ("daily", "daily"), ("each day", "daily"), ("every single day", "daily"), ("on weekdays", "weekdays"), ("every weekday", "weekdays"), ("weekdays", "weekdays"), ("monday to friday", "weekdays"),
    ("monday through friday", "weekdays"),
         ("from monday to friday", "weekdays"), ("on workdays", "weekdays"), ("on weekends", "weekends"), ("every weekend", "weekends"), ("on the weekend", "weekends"), ("weekends", "weekends"), ("on saturdays and sundays", "weekends")]


def on_day(g):
    """An adverb: "tomorrow", "on friday", "every day"."""
    k = g.rng.random()
    d = g.pick(WEEKDAYS)
    if k < 0.38:
        return "tomorrow", "tomorrow"
    if k < 0.45:
        return "today", "today"
    if k < 0.62:
        return g.pick([f"on {d}", f"on {d}", f"on {d}", f"{d}", f"this {d}", f"this coming {d}"]), d
    if k < 0.67:
        return f"next {d}", d
    if k < 0.74:
        return g.pick([f"every {d}", f"on {d}s", f"each {d}", f"every {d}"]), d
    if k < 0.92:
        return g.pick(EVERY)
    text = calendar_day(g)[0]
    return f"on {text}", text


def bare_day(g):
    """A noun, after "for": "tomorrow", "monday", "weekdays"."""
    k = g.rng.random()
    d = g.pick(WEEKDAYS)
    if k < 0.4:
        return "tomorrow", "tomorrow"
    if k < 0.46:
        return "today", "today"
    if k < 0.72:
        return g.pick([d, d, d, f"this {d}", f"next {d}"]), d
    if k < 0.76:
        return f"every {d}", d
    if k < 0.92:
        return g.pick([("every day", "daily"), ("weekdays", "weekdays"), ("every weekday", "weekdays"), ("weekends", "weekends"), ("the weekend", "weekends"), ("monday to friday", "weekdays")])
    text = calendar_day(g)[0]
    return text, text


def daypart(g):
    """(text, day or None, part of the day)"""
    d, part = g.pick(WEEKDAYS), g.pick(["morning", "morning", "morning", "afternoon", "evening", "evening", "night"])
    k = g.rng.random()
    if k < 0.34:
        return "tonight", "tonight", "night"
    if k < 0.46:
        return "this evening", "tonight", "evening"
    if k < 0.51:
        return "this afternoon", "today", "afternoon"
    if k < 0.76:
        return f"tomorrow {part}", "tomorrow", part
    if k < 0.86:
        return f"{d} {part}", d, part
    return f"{g.pick(['every', 'every', 'each'])} {part}", "daily", part


def when(at):
    """Time and, mostly, day. at=True: an adverb ("at seven tomorrow", "on friday at 7 pm"); else what follows "for"."""
    def slot(g):
        sign = "at " if at else ""
        k = g.rng.random()
        if k < 0.5:
            text, value, fixed = clock(g)
            return sign + text, {"time": value, "fixed": fixed}
        if k < 0.66:
            text, value, fixed = clock(g)
            day, name = on_day(g)
            return f"{sign}{text} {day}", {"time": value, "day": name, "fixed": fixed}
        if k < 0.8:
            text, value, fixed = clock(g)
            day, name = (on_day if at else bare_day)(g)
            return f"{day} {g.pick(['at ', 'at ', 'at ', 'at ', 'at ', ''] if at or day[-1].isalpha() else ['at '])}{text}", {"time": value, "day": name, "fixed": fixed}
        text, day, part = daypart(g)
        if at and g.chance(0.06):
            part = g.pick(["morning", "morning", "afternoon", "evening"])
            h, m = hour_in(g, part), minute(g)
            return f"in the {part} at {hands(g, h, m)[0]}", {"time": of24(in_part(h, part), m), "fixed": True}
        if g.chance(0.05) and day in ("tonight",):
            return g.pick([f"{sign}midnight tonight", "tonight at midnight"]), {"time": "00:00", "day": "tonight", "fixed": True}
        h, m = hour_in(g, part), minute(g)
        said = hands(g, h, m)[0] if g.chance(0.88) else with_half(g, h, m, "am" if part == "morning" else "pm")
        value = {"time": of24(in_part(h, part), m), "day": day, "fixed": True}
        prefix = "on " if at and day in WEEKDAYS and g.chance(0.6) else ""
        return (f"{prefix}{text} at {said}" if g.chance(0.5) else f"{sign}{said} {prefix}{text}"), value
    return slot


def asked_day(g):
    """The day of a question about the date."""
    k = g.rng.random()
    if k < 0.36:
        name, m, d = g.pick(HELD_HOLIDAYS if g.held else HOLIDAYS)
        text = name + (g.pick([" this year", " next year"]) if g.chance(0.12) else "")
        return text, Asked(text, m, d)
    if k < 0.6:
        return a_date(g)
    return relative_day(g)


def a_date(g):
    text, m, d = calendar_day(g)
    return text, Asked(text, m, d)


def holiday(g):
    name, m, d = g.pick(HELD_HOLIDAYS if g.held else HOLIDAYS)
    return name, Asked(name, m, d)


def named_day(g):
    """A holiday or a date."""
    return holiday(g) if g.chance(0.6) else a_date(g)


def relative_day(g):
    return near_day(g) if g.chance(0.6) else weekday_asked(g)


def near_day(g):
    text = g.pick(["tomorrow", "tomorrow", "tomorrow", "yesterday", "yesterday", "the day after tomorrow", "the day before yesterday"])
    return text, Asked(text)


def weekday_asked(g):
    d = g.pick(WEEKDAYS)
    text = g.pick([d, d, f"next {d}", f"this {d}", f"last {d}"])
    return text, Asked(text, weekday=d)


def last_weekday(g):
    d = g.pick(WEEKDAYS)
    return f"last {d}", Asked(f"last {d}", weekday=d)


# --- what for

def task(g):
    """A thing to do: one in two is put together from people and things."""
    if g.chance(0.55):
        w = g.word(TASKS)
    else:
        p = g.word(PEOPLE) if g.chance(0.7) else None
        if p:
            w = g.pick(["call {}", "call {}", "call {}", "text {}", "email {}", "ring {}", "phone {}", "message {}", "call {} back", "write to {}", "pick up {}", "pick {} up", "meet {}", "talk to {}", "visit {}", "wish {} a happy birthday", "pay {} back",
                        "send {} the photos", "send {} an email", "ask {} about the trip", "buy {} a present", "reply to {}", "thank {}", "drive {} to the airport", "help {} with the homework", "wake {}", "wake {} up", "take {} to the doctor",
                        "get a card for {}",
                        "pick up {} from work", "pick up {} from the station", "see {}", "bring {} some soup", "give {} the keys", "tell {} about the party", "facetime {}", "invite {} for dinner", "remind {} about the meeting",
                        "give {} a call"]).format(p)
        else:
            w = g.pick(["buy {}", "get {}", "pick up {}", "order {}", "bring {}", "look for {}", "ask for {}", "pay for {}"]).format(g.word(THINGS))
    return w, w


def timer_task(g):
    """As task, without "check the oven", which the timers call by the thing alone."""
    for _ in range(20):
        w, v = task(g)
        if not w.startswith(("check the", "check on the", "look at the", "check my")):
            break
    else:
        w = v = "call mom"
    return w, v


def event(g):
    w = g.word(EVENTS)
    return w, w


def place(g):
    w = g.word(PLACES)
    return w, w


def person(g):
    w = g.word(PEOPLE)
    return w, w


def snooze(g):
    k = g.rng.random()
    if k < 0.08 and not g.held:
        return g.pick([("half an hour", 30), ("an hour", 60), ("a quarter of an hour", 15), ("a couple of minutes", 2), ("a minute", 1), ("one hour", 60), ("a half hour", 30)])
    n = g.number(1, 60) if g.chance(0.5) or g.held else g.number(5, 30, 5)
    if n == 1:
        return g.pick([("one minute", 1), ("1 minute", 1)])
    return f"{g.say_number(n)} {g.pick(['minutes'] * 6 + ['mins', 'min'])}", n


def count(g):
    n = g.number(2, 45) if g.chance(0.5) or g.held else g.number(5, 30, 5)
    return g.say_number(n), n


SLOTS = {"at": when(True), "when": when(False), "time": time, "onday": lambda g: on_day(g), "day": lambda g: bare_day(g), "task": task, "event": event, "place": place, "dur": duration, "ttask": timer_task,
         "snooze": snooze, "count": count, "asked": asked_day, "rel": relative_day, "tom": near_day, "wday": weekday_asked, "named": named_day, "holiday": holiday, "calendar": a_date, "lastday": last_weekday, "clk": short_time, "aclk": an_hour, "who": person}


# --- calls

def moment(v):
    """Time and day, wherever the wording put them."""
    m = {}
    for key in ("at", "when", "time", "clk", "aclk"):
        m.update(v.get(key) or {})
    for key in ("onday", "day", "dayname"):
        if v.get(key):
            m["day"] = v[key]
    return m


def alarm(v, *name_keys):
    name = next((v[k] for k in name_keys if v.get(k)), None)
    return arguments({**moment(v), "name": name}, "time", "day", "name")


def moved(v, keep_name, name=None):
    """The alarm of the turn before with a new time, or a new day, or both."""
    old, new = v["prev"].get("args", {}), moment(v)
    t, day = new.get("time"), new.get("day")
    if t is None:
        t = old.get("time", "07:00")
    elif day is None:
        day = old.get("day")
        if day == "tonight":  # the hour as said, except that tonight's eight is in the evening
            h, m = int(t[:2]), t[3:]
            if not new["fixed"] and 5 <= h <= 12:
                t = f"{(h + 12) % 24:02d}:{m}"
            elif new["fixed"] and 4 <= h < 17:
                day = None
    return "set_alarm", arguments({"time": t, "day": day, "name": name or (old.get("name") if keep_name else None)}, "time", "day", "name")


# --- answers

def twelve(t):
    h = int(t[:2])
    return f"{(h + 11) % 12 + 1}:{t[3:]} {'AM' if h < 12 else 'PM'}"


def capital(day):
    return " ".join(w.capitalize() if w in WEEKDAYS or w in MONTHS else w for w in day.split())


def on(day):
    if day in ("today", "tonight", "tomorrow"):
        return day
    return "every day" if day == "daily" else "on " + capital(day)


def upper(text):
    return text[:1].upper() + text[1:]


SMALL = ("of", "the", "de", "and")
BIG = ("us", "usa", "uk", "dc")


def proper(p):
    return " ".join(w if w in SMALL else w.upper() if w in BIG else upper(w) for w in p.split())


def say_set(g, v, args, result):
    return ("Reminder" if "name" in args else "Alarm") + f" set for {twelve(args['time'])}" + (" " + on(args["day"]) if "day" in args else "") + (f": {args['name']}." if "name" in args else ".")


def maybe(p, error):
    return lambda g, v, args: {"error": error} if g.chance(p) else {"ok": True}


def cancelled(g, v, args):
    return {"error": "no alarm set" if not args or args.get("all") else "no such alarm"} if g.chance(0.1) else {"ok": True}


def say_cancel(g, v, args, result):
    if "error" in result:
        return f"There is {result['error']}."
    day = args.get("day")
    if args.get("all"):
        return "All alarms" + (f" {on(day)}" if day else "") + " canceled."
    text = ("Reminder" if "name" in args else "Alarm") + (f" for {twelve(args['time'])}" if "time" in args else "") + (f" {on(day)}" if day else "") + " canceled"
    return text + (f": {args['name']}." if "name" in args else ".")


def some_alarms(g, v, args):
    n = g.pick([0, 1, 1, 1, 2, 2, 3])
    out, seen = [], set()
    for _ in range(n):
        a = {"time": of24(g.between(0, 23) if g.chance(0.3) else g.between(5, 9), g.pick([0, 0, 30, 15, 45, g.between(0, 59)]))}
        if a["time"] in seen:
            continue
        seen.add(a["time"])
        if "day" in args:
            a["day"] = args["day"]
        elif g.chance(0.7):
            a["day"] = g.pick(["today", "tonight", "tomorrow", "tomorrow", "weekdays", "weekends", "daily"] + WEEKDAYS)
            if a["day"] == "tonight":
                a["time"] = of24(g.between(19, 23), g.pick([0, 15, 30, 45]))
        if g.chance(0.25):
            a["name"] = task(g)[0] if g.chance(0.5) else g.word(EVENTS)
        out.append(a)
    return {"alarms": out}


def say_alarms(g, v, args, result):
    if not result["alarms"]:
        return "You have no alarms" + (f" {on(args['day'])}" if "day" in args else "") + "."
    each = [twelve(a["time"]) + (" " + on(a["day"]) if "day" in a else "") + (f" ({a['name']})" if "name" in a else "") for a in result["alarms"]]
    return ("You have an alarm at " if len(each) == 1 else "You have alarms at ") + joined(each) + "."


def the_time(g, v, args):
    if "place" in args and g.chance(0.08):
        return {"error": "unknown place"}
    return {"time": f"{g.between(1, 12)}:{g.between(0, 59):02d} {g.pick(['AM', 'PM'])}"}


def say_time(g, v, args, result):
    where = f" in {proper(args['place'])}" if "place" in args else ""
    return f"I don't know the time{where}." if "error" in result else f"It's {result['time']}{where}."


ASKED = ("asked", "rel", "tom", "wday", "named", "holiday", "calendar", "lastday")


def the_date(g, v, args):
    a = next((v[k] for k in ASKED if v.get(k)), Asked("")) if "day" in args else Asked("")
    return {"date": f"{(a.weekday or weekday_in(a) or g.pick(WEEKDAYS)).capitalize()}, {MONTHS[(a.month or g.between(1, 12)) - 1].capitalize()} {a.date or g.between(1, 28)}"}


def weekday_in(day):
    """Holidays that fix the weekday."""
    return {"good": "friday", "black": "friday", "thanksgiving": "thursday", "mother's": "sunday", "father's": "sunday", "labor": "monday", "memorial": "monday", "columbus": "monday", "martin": "monday", "ash": "wednesday", "palm": "sunday",
        "pancake": "tuesday", "mardi": "tuesday"}.get(
        day.split(" ")[0]) or ("monday" if day.startswith("easter m") else "sunday" if day.startswith(("easter", "pentecost", "the super")) else None)


def say_date(g, v, args, result):
    return f"{'That' if 'day' in args else 'It'}'s {result['date']}."


def date_call(v):
    return "get_date", {"day": "tomorrow" if v.get("tomorrow") else str(next(v[k] for k in ASKED if v.get(k)))}


def alarm_call(v):
    return "set_alarm", alarm(v)


def again_cancel(v):
    return "cancel_alarm", arguments(v["prev"].get("args", {}), "time", "day")


SETS = ("clock.set", "clock.set.named", "clock.remind", "clock.set.change", "clock.set.another")

INTENTS = [
    Intent(
        "clock.set", weight=3,
        patterns=[
            "(set|make|create|add|put on|schedule|program|start|turn on|give me|i need|i want|i'd like|activate|get me) (an|the|another|a new|my|one) alarm for {when}", "(set|make|create|add|put|schedule|start) (an|the|another|a new|my) alarm {at}",
            "set alarm [for|to] {when}", "set alarm {at}", "alarm {when}", "alarm for {when}", "alarm {at}",
            "an alarm for {when}", "an alarm {at}", "{when} alarm", "new alarm [for] {when}", "new alarm {at}", "set (an|the|my) alarm to {when}", "set (an|my|the) alarm clock (for|to) {when}", "set the alarm clock {at}", "alarm clock {when}",
            "alarm set for {when}", "alarm on {at}", "alarm on for {when}",
            "(set|make|create|add) (an|my|another) alarm for {day} at {time}", "(set|make|create|add) (an|my|another) alarm for {day} for {time}", "(set|make|create|add) an alarm for {time} for {day}", "(set|add|make) an alarm {onday} for {time}",
            "{onday} set an alarm for {time}", "for {day} set an alarm {at}",
            "set {aclk} alarm", "set {aclk} alarm for {day}", "set {aclk} alarm {onday}", "make {aclk} alarm", "i need {aclk} alarm", "i need {aclk} alarm {onday}", "put in {aclk} alarm", "add {aclk} alarm {onday}", "give me {aclk} alarm",
            "{clk} alarm for {day}", "{clk} alarm {onday}",
            "set the {clk} alarm", "turn on the {clk} alarm", "enable the {clk} alarm", "activate my {clk} alarm", "turn my {clk} alarm on", "switch on the alarm for {when}", "turn the alarm on for {when}", "put the alarm on for {when}",
            "put an alarm on {at}", "put an alarm in for {when}", "stick an alarm on for {when}",
            "wake me up {at}", "wake me {at}", "wake me up (by|before|around|about) {time}", "wake me up by {time} {onday}", "wake me up {onday} at {time}", "{onday} wake me [up] at {time}", "wake up {at}", "wake up {when}", "wake me {when}",
            "wake us [up] {at}", "wake us {onday} at {time}", "{at} wake me [up]", "wake up call {at}", "wake up call for {when}", "a wake up call {at}",
            "give me a wake up call {at}", "i want to (wake up|get up|be up|rise|be awake|be woken|be woken up) {at}", "i need to (wake up|get up|be up|be awake|be out of bed|be woken up) {at}",
            "i have to (wake up|get up|be up|be awake|be out of bed) {at}", "i must (get up|wake up|be up) {at}", "i've got to (get up|wake up|be up) {at}", "i gotta (get up|be up|wake up) {at}", "i should (get up|be up|wake up) {at}",
            "i'm supposed to (get up|be up|wake up) {at}",
            "i need to be up by {time}", "i have to be up by {time} {onday}", "we need to (get up|be up|wake up) {at}", "we have to (get up|be up) {at} set an alarm", "i'm getting up {at}", "i'm getting up {at} set an alarm",
            "i get up {at} set the alarm", "i have to get up {at} so set an alarm",
            "get me up {at}", "get me up by {time}", "get me out of bed {at}", "drag me out of bed {at}", "kick me out of bed {at}", "make sure i'm (up|awake) {at}", "make sure i'm up by {time}", "make sure i (wake up|get up|am awake|am up) {at}",
            "don't let me sleep past {time}", "don't let me sleep past {time} {onday}", "don't let me sleep longer than {time}", "don't let me oversleep wake me {at}",
            "let me sleep until {time}", "let me sleep till {time}", "let me sleep until {time} {onday}", "i want to sleep until {time}", "i can sleep until {time}", "let us sleep until {time}", "i'd like to be woken {at}",
            "i would like to be woken up {at}", "i'd like to wake up {at}", "can i get a wake up call {at}", "can i have an alarm {at}", "can i get an alarm for {when}", "could i have an alarm for {when}", "may i have an alarm {at}",
            "ring {at}", "ring me {at}", "ring the alarm {at}", "ring the bell {at}", "buzz me {at}", "beep {at}", "go off {at}", "sound the alarm {at}", "let the alarm ring {at}", "let the alarm go off {at}", "make the alarm ring {at}",
            "make the alarm go off {at}", "have the alarm go off {at}", "have an alarm {at}", "have an alarm ready for {when}", "play an alarm {at}",
            "(alert|notify|warn|ping) me {at}", "let me know when it's {time}", "tell me when it's {time}", "let me know when it is {time}", "remind me when it's {time}", "tell me when it gets to {time}", "warn me when it's {time}",
            "give me a shout {at}", "give me a heads up {at}", "remind me {at}", "set a reminder for {when}", "set a reminder {at}", "reminder {at}",
            "i need an alarm {at}", "i need to set an alarm for {when}", "i want to set an alarm for {when}", "i'd like to set an alarm {at}", "we need an alarm for {when}", "we want an alarm {at}", "there should be an alarm {at}",
            "how about an alarm {at}", "how about an alarm for {when}", "what about an alarm for {when}", "is it possible to set an alarm for {when}", "can we have an alarm {at}", "an alarm please for {when}", "an alarm is needed {at}",
            "alarm every day at {time} => dayname=daily", "set a daily alarm for {time} => dayname=daily", "set a daily alarm at {time} => dayname=daily", "daily alarm at {time} => dayname=daily",
            "set a recurring alarm for {time} every day => dayname=daily", "set a weekday alarm for {time} => dayname=weekdays", "weekday alarm {time} => dayname=weekdays", "set my weekday alarm to {time} => dayname=weekdays",
            "set a weekend alarm for {time} => dayname=weekends", "weekend alarm {time} => dayname=weekends", "wake me up every day at {time} => dayname=daily", "wake me daily at {time} => dayname=daily",
            "set tomorrow's alarm for {time} => dayname=tomorrow", "set tomorrow's alarm to {time} => dayname=tomorrow", "tomorrow's alarm is {time} => dayname=tomorrow", "alarm tomorrow {time} => dayname=tomorrow",
            "set a repeating alarm for {time} {onday}", "set a recurring alarm {at}", "i need to leave the bed {at}", "time to get up is {time}", "get up time is {time}", "my alarm should be {at}", "my alarm should ring {at}",
            "my alarm should go off {at}", "the alarm should ring {at}", "i need the alarm {at}", "i need my alarm to go off {at}", "i want my alarm to ring {at}", "i want the alarm to go off {at}",
        ],
        held=["get an alarm going for {when}", "have me up {at}", "would an alarm {at} be possible", "i'd like the alarm to wake me {at}", "have the alarm on {at}", "fix me an alarm {at}", "i don't want to sleep past {time}",
            "see that i'm awake {at}", "i want to be out of bed {at}", "kick off {aclk} alarm",
              "have the alarm sound {at}", "my wake up time is {time}", "i should be woken {at}", "ring me out of bed {at}"],
        slots=SLOTS, call=alarm_call, say=say_set),
    Intent(
        "clock.set.named", weight=1.2,
        patterns=[
            "set (a|my|the) {event} alarm (for|to) {when}", "set (a|my|the) {event} alarm {at}", "(set|make|create|add) (an|another) alarm (called|named|labeled|with the name|with the label) {event} (for|at) {time}",
            "(set|make|create|add) an alarm (called|named|labeled) {event} {at}",
            "(set|make|create|add|i need|i want|give me) an alarm for (my|the) {event} {at}", "(set|make|create|add|i need|i want) an alarm for {event} {at}",
            "(set|make|create|add) an alarm {at} (called|named|labeled|for my|for the|and call it|and name it) {event}", "set an alarm for {when} (called|named|labeled|and call it|and name it) {event}", "set an alarm for {when} for (my|the) {event}",
            "{event} alarm {when}", "{event} alarm for {when}", "{event} alarm {at}", "alarm for {event} {at}", "alarm for my {event} {at}", "alarm {when} for (my|the) {event}", "alarm called {event} {at}", "an alarm that says {event} for {when}",
            "a {event} alarm {at}", "my {event} alarm should be {at}", "put an alarm on for {event} {at}", "i need a {event} alarm {at}", "i want a {event} alarm {at}", "give me a {event} alarm {at}",
            "wake me [up] for (my|the) {event} {at}", "wake me [up] {at} for (my|the) {event}", "wake me [up] {at} for {event}", "get me up for {event} {at}", "i have to get up for {event} {at}", "set an alarm to {task} {at}",
            "set an alarm {at} to {task}", "set an alarm for {when} to {task}", "alarm to {task} {at}", "alarm {at} to {task}", "make an alarm to {task} {at}",
            "i need an alarm to {task} {at}", "i need an alarm {at} to {task}", "set an alarm so i can {task} {at}", "set an alarm so that i {task} {at}", "add an alarm to {task} {at}", "create an alarm {at} to {task}", "ring {at} so i can {task}",
            "wake me up {at} to {task}", "wake me {at} so i can {task}", "get me up {at} to {task}", "wake me up {at} because i have to {task}",
            "set my {event} alarm for {day} at {time}", "set a daily {event} alarm for {time} => dayname=daily", "daily alarm for {event} at {time} => dayname=daily", "set an alarm every day at {time} for {event} => dayname=daily",
            "set a weekday {event} alarm for {time} => dayname=weekdays", "name an alarm {event} and set it for {when}", "alarm {event} {when}", "alarm for {time} named {event}",
        ],
        held=["have a {event} alarm go off {at}", "the {event} alarm has to ring {at}", "get an alarm going {at} so i can {task}", "make me an alarm that says {event} for {when}", "i'd like an alarm {at} with the name {event}"],
        slots=SLOTS, call=lambda v: ("set_alarm", alarm(v, "event", "task")), say=say_set),
    Intent(
        "clock.remind", weight=3.2,
        patterns=[
            "remind me to {task} {at}", "remind me to {task} {at}", "remind me to {task} {at}", "remind me {at} to {task}", "remind me {at} to {task}", "remind me {onday} to {task} at {time}", "remind me {onday} at {time} to {task}",
            "remind me to {task} {onday} at {time}", "{at} remind me to {task}", "remind me to {task} (by|before|around|about) {time}",
            "remind me that i (have|need) to {task} {at}", "remind me {at} that i (have|need) to {task}", "remind me i (have|need) to {task} {at}", "remind me {at} i need to {task}", "remind me that i must {task} {at}",
            "remind me that i should {task} {at}", "remind me that we have to {task} {at}", "remind us to {task} {at}", "remind us {at} to {task}",
            "(set|make|create|add|put in|schedule|i need|i want|give me|i'd like|leave me|write) a reminder to {task} {at}", "(set|make|create|add|put in|schedule|i need|i want|give me) a reminder {at} to {task}",
            "(set|make|create|add|schedule) a reminder for {when} to {task}", "set reminder to {task} {at}", "set reminder {at} to {task}", "reminder to {task} {at}", "reminder {at} to {task}", "reminder {task} {at}",
            "reminder {when} {task}", "reminder for {when} {task}", "{task} reminder {at}", "{task} reminder for {when}", "{task} {at} reminder", "{task} {at} remind me", "new reminder {task} {at}", "new reminder to {task} {at}",
            "a reminder to {task} {at}", "set {aclk} reminder to {task}", "{aclk} reminder to {task}",
            "don't let me forget to {task} {at}", "don't let me forget {at} to {task}", "don't forget to remind me to {task} {at}", "do not let me forget to {task} {at}", "make sure i {task} {at}", "make sure i don't forget to {task} {at}",
            "make sure that i {task} {at}", "make sure to remind me {at} to {task}", "see that i {task} {at}", "help me remember to {task} {at}", "help me to remember to {task} {at}", "i want to remember to {task} {at}",
            "i must not forget to {task} {at}", "i can't forget to {task} {at}", "i don't want to forget to {task} {at}", "i shouldn't forget to {task} {at}", "i always forget to {task} remind me {at}", "i keep forgetting to {task} remind me {at}",
            "i'll forget to {task} so remind me {at}", "i need to remember to {task} {at}", "i have to remember to {task} {at}", "i've got to remember to {task} {at}",
            "i need to {task} {at} remind me", "i have to {task} {at} remind me", "i have to {task} {at} so remind me", "i need to be reminded to {task} {at}", "i want to be reminded to {task} {at}", "i'd like to be reminded {at} to {task}",
            "i should {task} {at} please remind me", "we have to {task} {at} remind me", "i gotta {task} {at} remind me", "i wanted to {task} {at} remind me",
            "(tell|ask|alert|ping|nudge|notify|buzz|warn|prompt|poke|order) me to {task} {at}", "(tell|alert|ping|nudge|notify|poke) me {at} to {task}", "{at} tell me to {task}", "{at} i need to {task} remind me",
            "let me know {at} that i have to {task}", "let me know when it's {time} so i can {task}", "let me know {at} to {task}", "tell me when it's {time} so i can {task}", "give me a reminder {at} to {task}", "give me a nudge {at} to {task}",
            "give me a shout {at} to {task}",
            "when it's {time} remind me to {task}", "when it's {time} tell me to {task}", "once it's {time} remind me to {task}", "as soon as it's {time} remind me to {task}", "put {task} in my reminders for {when}", "put {task} down for {when}",
            "add {task} to my reminders for {when}", "note for {when} {task}", "remind {task} {at}", "remind me {task} {at}", "remind me {at} {task}", "remind me {when} {task}", "remember {at} to {task}", "remember to {task} {at}",
            "please remember that i have to {task} {at}", "schedule {task} for {when}", "schedule {task} {at}", "set {task} for {when}", "can i get a reminder {at} to {task}", "could i have a reminder to {task} {at}",
            "can i have a reminder to {task} {at}", "how about a reminder to {task} {at}", "is it possible to be reminded to {task} {at}", "will you remember to tell me to {task} {at}", "do you think you could remind me to {task} {at}",
            "remind me every day at {time} to {task} => dayname=daily", "remind me daily at {time} to {task} => dayname=daily", "daily reminder at {time} to {task} => dayname=daily", "set a daily reminder to {task} at {time} => dayname=daily",
            "every day at {time} remind me to {task} => dayname=daily", "every day at {time} tell me to {task} => dayname=daily", "i have to {task} every day at {time} remind me => dayname=daily",
            # things rather than deeds
            "remind me (about|of) (my|the) {event} {at}", "remind me {at} (about|of) (my|the) {event}", "remind me about {event} {at}", "set a reminder for (my|the) {event} {at}", "set a {event} reminder (for|at) {time}",
            "set a {event} reminder {at}", "(make|create|add) a reminder for (my|the) {event} {at}", "(make|create|add) a {event} reminder for {when}", "{event} reminder {at}", "{event} reminder for {when}",
            "reminder (about|for|of) (my|the) {event} {at}", "reminder for {when} {event}", "remind me {at} about {event}", "remind me (i have|that i have|i've got) (a|my|the) {event} {at}", "remind me that (my|the) {event} is {at}",
            "remind me that (my|the) {event} starts {at}", "i have (a|my|the) {event} {at} remind me", "i've got (a|my|the) {event} {at} remind me [of it]", "my {event} is {at} remind me", "the {event} is {at} remind me",
            "the {event} starts {at} remind me", "there's a {event} {at} remind me", "don't let me forget (my|the) {event} {at}", "don't let me miss (my|the) {event} {at}", "i can't miss my {event} {at}", "i keep missing my {event} remind me {at}",
            "i don't want to miss (my|the) {event} {at}", "make sure i don't miss (my|the) {event} {at}", "make sure i don't forget (my|the) {event} {at}", "tell me about (my|the) {event} {at}", "alert me (to|about) (my|the) {event} {at}",
            "notify me {at} about (my|the) {event}",
            "warn me about (my|the) {event} {at}", "nudge me about the {event} {at}", "i need a reminder for (my|the) {event} {at}", "i need a {event} reminder {at}", "remind me of the {event} {onday} at {time}",
            "{onday} at {time} remind me about (my|the) {event}", "remind us about the {event} {at}", "we have a {event} {at} remind us", "put a reminder in for (my|the) {event} {at}",
        ],
        held=["call on me {at} to {task}", "keep me from forgetting to {task} {at}", "have a reminder come {at} to {task}", "i could use a reminder {at} to {task}", "{at} it's time to {task} so remind me",
            "would you let me know that it's time to {task} {at}", "please have me {task} {at} with a reminder", "get me to {task} {at}",
              "give me a heads up {at} to {task}", "i'm supposed to {task} {at} don't let me forget", "so that i don't forget to {task} remind me {at}", "i'm supposed to be at the {event} {at} remind me", "keep me from missing my {event} {at}",
              "get a reminder going for the {event} {at}"],
        slots=SLOTS, call=lambda v: ("set_alarm", alarm(v, "task", "event")), say=say_set),
    Intent(
        "clock.remind.timer", weight=1.2,
        patterns=[
            "remind me to {ttask} in {dur}", "remind me to {ttask} in {dur}", "remind me in {dur} to {ttask}", "remind me in {dur} to {ttask}", "in {dur} remind me to {ttask}", "after {dur} remind me to {ttask}", "remind me after {dur} to {ttask}",
            "remind me {dur} from now to {ttask}", "remind me to {ttask} {dur} from now", "remind us to {ttask} in {dur}", "remind us in {dur} to {ttask}",
            "remind me that i (have|need) to {ttask} in {dur}", "remind me in {dur} that i (have|need) to {ttask}", "remind me in {dur} i need to {ttask}", "(set|make|create|add|i need|give me|i want) a reminder to {ttask} in {dur}",
            "(set|make|create|add|i need|give me) a reminder in {dur} to {ttask}", "set a reminder for {dur} from now to {ttask}", "reminder in {dur} {ttask}", "reminder in {dur} to {ttask}", "reminder to {ttask} in {dur}", "reminder {ttask} in {dur}",
            "(tell|alert|nudge|ping|notify|buzz) me to {ttask} in {dur}", "(tell|alert|nudge|ping) me in {dur} to {ttask}", "in {dur} tell me to {ttask}", "in {dur} i need to {ttask} remind me", "in {dur} i have to {ttask}",
            "i have to {ttask} in {dur} remind me", "i need to {ttask} in {dur} remind me", "i need to {ttask} in {dur}", "i should {ttask} in {dur} remind me", "i must {ttask} in {dur} set a timer",
            "don't let me forget to {ttask} in {dur}", "make sure i {ttask} in {dur}", "let me know in {dur} that i have to {ttask}", "let me know in {dur} to {ttask}", "set a timer to {ttask} in {dur}", "set a timer for {dur} to {ttask}",
            "set a timer for {dur} to remind me to {ttask}", "timer for {dur} to {ttask}", "set a {dur} timer to {ttask}", "start a timer for {dur} so i can {ttask}",
            "i want to {ttask} in {dur} remind me", "remind me {ttask} in {dur}", "remind me in {dur} {ttask}", "{ttask} in {dur} remind me", "could i have a reminder in {dur} to {ttask}", "give me a shout in {dur} to {ttask}",
            "give me {dur} and then tell me to {ttask}", "wake me in {dur} to {ttask}", "wake me up in {dur} so i can {ttask}", "help me remember to {ttask} in {dur}",
        ],
        held=["call on me in {dur} to {ttask}", "once {dur} have passed remind me to {ttask}", "it's time to {ttask} in {dur} let me know", "get me to {ttask} in {dur}", "keep me from forgetting to {ttask} in {dur}"],
        slots=SLOTS, call=lambda v: ("set_timer", {**{k: v["dur"][k] for k in ("hours", "minutes", "seconds") if k in v["dur"]}, "name": v["ttask"]}), say=lambda g, v, args, result: f"Reminder set for {spoken_duration(args)} from now: {args['name']}."),
    Intent(
        "clock.alarm.timer", weight=0.35,  # an alarm after a while is a timer
        patterns=["set an alarm (in|for|to ring in) {dur} from now", "set an alarm in {dur}", "set an alarm for {dur}", "alarm in {dur}", "alarm {dur} from now", "ring the alarm in {dur}", "sound an alarm in {dur}", "an alarm in {dur}",
            "make an alarm go off in {dur}", "i need an alarm in {dur}", "let the alarm ring in {dur}", "set my alarm for {dur} from now", "give me an alarm in {dur}",
                  "in {dur} sound the alarm", "i'm taking a nap wake me in {dur}", "i'll sleep for {dur} wake me then", "get me up in {dur}", "let me sleep for {dur}", "let me nap for {dur}", "let me sleep {dur}",
                  "don't let me sleep longer than {dur}", "set alarm in {dur}", "wake me {dur} from now", "wake us in {dur}"],
        held=["get an alarm going in {dur}", "have the alarm ring in {dur}", "i want to be up again in {dur}"],
        slots=SLOTS, call=lambda v: ("set_timer", {k: v["dur"][k] for k in ("hours", "minutes", "seconds") if k in v["dur"]}), say=lambda g, v, args, result: f"Timer set for {spoken_duration(args)}."),
    Intent(
        "clock.cancel", weight=1.8,
        patterns=[
            "(cancel|delete|stop|remove|turn off|kill|clear|end|drop|disable|switch off|shut off|deactivate|get rid of|forget|dismiss|erase) (the|my|that|this) alarm", "(cancel|delete|stop|remove|turn off|end) alarm", "alarm off", "scrap my alarm",
            "take the alarm away", "i won't be needing an alarm", "i'm sleeping without an alarm {onday}", "stop the alarm i'm up", "i'm awake turn off the alarm", "turn the alarm off", "turn my alarm off", "switch the alarm off",
            "shut the alarm up", "shut up the alarm", "make the alarm stop",
            "silence the alarm", "stop ringing", "stop the ringing", "i'm up stop the alarm", "i'm already up", "i'm awake stop ringing", "i'm already awake cancel the alarm", "no alarm please", "no alarm", "take the alarm off",
            "never mind the alarm", "forget about the alarm", "i don't need the alarm [anymore|any more|any longer]", "i don't need an alarm [anymore|any more]", "i won't need the alarm", "i don't want the alarm [anymore|any more]",
            "i don't want an alarm",
            "(cancel|delete|stop|remove|turn off|kill|clear|drop|disable|switch off|shut off|deactivate|get rid of|forget|erase) (the|my|that) {clk} alarm", "(cancel|delete|remove|turn off|stop|disable) {clk} alarm",
            "(cancel|delete|remove|turn off|kill|clear|drop|disable|switch off|forget|get rid of) (the|my) alarm (for|set for) {when}", "(cancel|delete|remove|turn off|disable|stop) (the|my) alarm {at}",
            "(cancel|delete|remove|turn off|disable) alarm (for|at) {time}", "alarm off for {when}", "no alarm {at}", "no {clk} alarm please", "i don't need the {clk} alarm [anymore|any more]", "i don't need the alarm {at} [anymore|any more]",
            "i don't need to (get up|wake up) {at} [anymore|any more] cancel the alarm", "turn the {clk} alarm off", "switch my {clk} alarm off", "never mind the {clk} alarm", "forget about the {clk} alarm", "take the {clk} alarm off",
            "don't wake me up {at}", "don't wake me {at}", "don't wake me up {onday}", "don't wake me {onday}", "don't ring {at}", "do not wake me {onday}", "(cancel|delete|remove|turn off|disable|drop) (the|my) {clk} alarm for {day}",
            "(cancel|delete|remove|turn off) (the|my) {clk} alarm {onday}",
            "(cancel|delete|remove|turn off|clear|disable|drop|kill) (the|my) alarm for {day}", "(cancel|delete|remove|turn off|clear|disable|drop) (the|my) alarm {onday}", "(cancel|delete|turn off|remove) tomorrow's alarm => dayname=tomorrow",
            "(cancel|delete|turn off|remove) tonight's alarm => dayname=tonight", "(cancel|delete|turn off|remove) today's alarm => dayname=today", "turn off my weekday alarm => dayname=weekdays", "cancel the weekend alarm => dayname=weekends",
            "(cancel|delete|turn off) my daily alarm => dayname=daily",
            "no alarm {onday}", "no alarm for {day}", "i don't need an alarm for {day}", "i don't need an alarm {onday}", "i'm sleeping in {onday} cancel the alarm", "i can sleep in {onday} cancel my alarm", "i'm off {onday} turn off the alarm",
            "let me sleep in {onday} no alarm", "i have the day off {onday} cancel the alarm", "i don't have to work {onday} turn the alarm off",
            "(cancel|delete|stop|remove|turn off|kill|clear|disable|switch off|drop|erase|wipe|get rid of) (all|all the|all my|every|all of my|all of the) (alarms|alarm) => all=true",
            "(cancel|delete|clear|turn off|remove|stop|disable) (my alarms|the alarms|all alarms|every alarm|every single alarm|every alarm i have) => all=true", "no more alarms => all=true", "no alarms please => all=true",
            "turn all alarms off => all=true", "turn my alarms off => all=true", "all alarms off => all=true", "alarms off => all=true", "reset my alarms => all=true", "i don't need any alarms => all=true",
            "i don't want any alarms [anymore] => all=true", "forget all my alarms => all=true", "clear all reminders => all=true", "(cancel|delete|remove|clear) all my reminders => all=true",
            "(cancel|delete|remove) (all|all the|all my) (alarms|reminders) for {day} => all=true", "(cancel|delete|clear|turn off) all (my|the) alarms {onday} => all=true", "no alarms {onday} => all=true", "no alarms at all {onday} => all=true",
            # by name
            "(cancel|delete|remove|turn off|stop|kill|disable|drop|switch off|get rid of|forget) (the|my) {event} alarm", "(cancel|delete|remove|turn off|stop) {event} alarm",
            "(cancel|delete|remove|turn off) the alarm (called|named|labeled|for my|for the) {event}", "(cancel|delete|remove|drop|forget) (the|my) {event} reminder", "(cancel|delete|remove) the reminder (about|for|of) (my|the) {event}",
            "no {event} alarm please", "{event} alarm off", "never mind the {event} alarm", "never mind the {event} reminder",
            "i don't need the {event} alarm [anymore]", "i don't need the {event} reminder [anymore]", "turn the {event} alarm off", "forget about the {event} alarm", "the {event} is cancelled delete the reminder",
            "(cancel|delete|remove|drop|forget) (the|my) reminder to {task}", "(cancel|delete|remove) (the|my) alarm to {task}", "(cancel|delete|remove) (the|my) {clk} reminder to {task}", "(cancel|delete|remove) (the|my) reminder to {task} {at}",
            "never mind the reminder to {task}",
            "i don't need the reminder to {task} [anymore]", "you don't need to remind me to {task} [anymore]", "you don't have to remind me to {task}", "no need to remind me to {task}", "don't remind me to {task}", "stop reminding me to {task}",
            "i don't need to be reminded to {task}", "(cancel|delete|remove) (the|my) {clk} reminder", "(cancel|delete|remove) (the|my) reminder (for|at) {time}", "(cancel|delete|remove) (the|my|that) reminder",
        ],
        held=["scrap the {clk} alarm", "call off the alarm for {day}", "i want the {clk} alarm gone", "scrap all alarms => all=true", "take away all my alarms => all=true", "i no longer need the {event} alarm", "i no longer need to be woken {at}",
            "i want to sleep {onday} without an alarm", "let go of the {event} alarm", "the alarm won't be needed {onday}", "call off the reminder to {task}", "have the alarm shut up"],
        slots=SLOTS, call=lambda v: ("cancel_alarm", {**alarm(v, "event", "task"), **arguments(v, "all")}), result=cancelled, say=say_cancel),
    Intent(
        "clock.alarms", weight=1.4,
        patterns=[
            "what alarms do i have [set]", "what alarms (are|have i) (set|got)", "which alarms (are on|are set|are active|do i have)", "(show|list|read|tell|check|give) me (my|the|all|all my) alarms",
            "(show|list|check|read|read out|read back) (my|the|all|all my|all the) alarms", "list alarms", "show alarms", "let me hear my alarms", "let me hear the alarms for {day}", "is anything set for {day}",
            "do i have anything set to wake me {onday}", "my alarms", "all alarms", "any alarms", "alarms", "what are my alarms", "do i have (any alarms|an alarm|alarms) [set|on]", "have i (set|got) (an alarm|any alarms)",
            "is (there an alarm|my alarm|the alarm|an alarm) (set|on)", "are (there any alarms|any alarms|my alarms) (set|on)", "is my alarm on", "did i set (an|my|the) alarm", "did i set any alarms", "did you set my alarm",
            "what time is my alarm [set for]", "what time is the alarm set for", "what's my alarm set (for|to)", "when is my alarm", "when is my next alarm", "what's my next alarm", "what is the next alarm", "next alarm",
            "when does (my|the) alarm (ring|go off)", "when will (my|the|the next) alarm (ring|go off)",
            "when will you wake me [up]", "when are you waking me [up]", "what time will you wake me", "what time are you going to wake me", "when do i have to get up", "when do i need to wake up", "when am i getting up", "what time do i get up",
            "at what time does my alarm ring", "how many alarms do i have [set]", "how many alarms are on", "tell me about my alarms", "alarm status", "status of my alarms", "check if my alarm is set", "check if there is an alarm",
            "check whether i set an alarm", "make sure my alarm is on",
            "what reminders do i have", "what are my reminders", "list my reminders", "read my reminders", "show me my reminders", "do i have any reminders", "any reminders", "what are you going to remind me of", "what should you remind me of",
            "is there an alarm for {time}", "do i have an alarm (for|at) {time}", "did i set an alarm for {time}", "did i set the {clk} alarm",
            "what alarms do i have for {day}", "what alarms do i have {onday}", "what alarms are set for {day}", "which alarms are set for {day}", "what alarms are on for {day}", "which alarms do i have for {day}",
            "(show|list|read|check) [me] (my|the|all) alarms for {day}", "(show|list|read|check) my alarms {onday}", "alarms for {day}", "alarms {onday}", "any alarms {onday}", "any alarms for {day}", "what are my alarms for {day}",
            "do i have (any alarms|an alarm|alarms) (set for|for) {day}", "do i have an alarm {onday}",
            "have i set an alarm for {day}", "have i got an alarm {onday}", "is (there an alarm|my alarm|the alarm|an alarm) set for {day}", "is there an alarm {onday}", "is my alarm on for {day}", "are there any alarms {onday}",
            "did i set (an|my|the) alarm for {day}", "what time is my alarm {onday}", "what time is my alarm set for {onday}", "what's my alarm for {day}", "when is my alarm {onday}", "when does my alarm (ring|go off) {onday}",
            "when will the alarm go off {onday}",
            "when will you wake me {onday}", "what time are you waking me {onday}", "when do i have to get up {onday}", "when am i getting up {onday}", "what time do i have to get up {onday}", "how many alarms do i have {onday}",
            "how many alarms are there for {day}", "check if i have an alarm for {day}", "check my alarm for {day}", "what's my first alarm {onday}", "what reminders do i have {onday}", "what reminders do i have for {day}",
            "do i have any reminders {onday}", "any reminders for {day}", "read my reminders for {day}",
            "what are tomorrow's alarms => dayname=tomorrow", "read tomorrow's alarms => dayname=tomorrow", "when is tomorrow's alarm => dayname=tomorrow", "what time is tomorrow's alarm => dayname=tomorrow", "any alarms tonight => dayname=tonight",
            "do i have an alarm tonight => dayname=tonight", "what's left of today's alarms => dayname=today", "what is my weekday alarm => dayname=weekdays", "what's my weekend alarm => dayname=weekends",
        ],
        held=["at what time do you wake me {onday}", "which alarms have i got", "please look at my alarms", "is anything set to ring {onday}", "go over my alarms for {day}", "what have i set the alarm to", "how early does the alarm ring {onday}",
            "look up my alarm for {day}", "how early are you waking me"],
        slots=SLOTS, call=lambda v: ("get_alarms", arguments({"day": moment({k: x for k, x in v.items() if k not in ("time", "clk", "aclk")}).get("day")}, "day")), result=some_alarms, say=say_alarms),
    Intent(
        "clock.snooze", weight=0.9,
        patterns=["snooze", "snooze (it|that|this|the alarm|my alarm)", "snooze alarm", "hit snooze", "hit the snooze", "press snooze", "hit the snooze button", "let me snooze", "let me sleep (a bit|a little|some) (longer|more)", "let me sleep more",
            "i want to sleep (a bit|a little) (longer|more)", "wake me again later", "ring again later", "not yet let me sleep", "not yet snooze", "i don't want to get up yet", "just a little longer in bed", "i'm still tired snooze",
            "i'm too tired snooze it",
                  "put the alarm on snooze", "alarm snooze", "do a snooze", "a little more sleep", "a bit more sleep please", "give me a little more time in bed", "give me a bit more time to sleep", "leave me in bed a bit longer",
                  "later i'm sleeping", "too early snooze", "it's too early snooze",
                  "snooze (for|it for|the alarm for|alarm for|that for|my alarm for) {snooze}", "snooze {snooze}", "snooze the alarm {snooze}", "{snooze} snooze", "snooze for another {snooze}", "hit snooze for {snooze}",
                  "let me sleep another {snooze}", "let me sleep for another {snooze}", "let me sleep {snooze} more", "let me sleep {snooze} longer", "let me lie in for {snooze}", "let me lie here another {snooze}",
                  "let me stay in bed another {snooze}", "i want to sleep another {snooze}", "i want {snooze} more of sleep", "i need another {snooze} of sleep",
                  "another {snooze} of sleep", "{snooze} more sleep", "{snooze} more in bed", "wake me again in {snooze}", "ring again in {snooze}", "wake me up again in {snooze}", "alarm again in {snooze}", "ring the alarm again in {snooze}",
                  "come back in {snooze}", "try again in {snooze}", "put the alarm on snooze for {snooze}", "postpone the alarm [by|for] {snooze}", "delay the alarm (by|for) {snooze}", "hold the alarm for {snooze}", "silence the alarm for {snooze}",
                  "quiet for {snooze}",
                  "{count} more minutes", "{count} more minutes please", "just {count} more minutes", "give me {count} more minutes", "i need {count} more minutes", "i want {count} more minutes of sleep", "let me sleep {count} more minutes",
                  "let me have {count} more minutes", "mom {count} more minutes", "only {count} more minutes", "{count} minute snooze", "a {count} minute snooze", "snooze {count} more minutes", "oh just {count} more minutes in bed",
                  "stop it for {snooze}", "remind me again in {snooze}"],
        held=["{count} extra minutes of sleep", "may i have {count} more minutes", "have it ring again in {snooze}", "let the alarm come back in {snooze}", "hold off the alarm for {snooze}", "keep the alarm quiet for {snooze}",
            "i could use a bit more sleep", "not now i'm still sleeping"],
        slots=SLOTS, call=lambda v: ("snooze_alarm", {"minutes": v["snooze"] if v.get("snooze") is not None else v["count"]} if v.get("snooze") or v.get("count") else {}), result=maybe(0.1, "no alarm ringing"),
        say=lambda g, v, args, result: f"There is {result['error']}." if "error" in result else f"Snoozed for {args['minutes']} minute{'' if args['minutes'] == 1 else 's'}." if "minutes" in args else "Alarm snoozed."),
    Intent(
        "clock.time", weight=1.5,
        patterns=["what time is it", "what time is it", "what time is it now", "what time is it (right now|at the moment|here|currently|already|today|please)", "what's the time [now|here|right now|please]", "what is the time [now|right now|here]",
            "the time [please|now]", "time", "time please", "time now", "time check", "current time", "the current time", "what's the current time", "what is the current time",
            "tell me (the time|what time it is|the current time|the hour|how late it is|the exact time)",
                  "give me (the time|the current time|a time check|the exact time|the hour)", "do you (know|have) (the time|what time it is)", "do you know how late it is", "have you got the time", "you got the time", "got the time",
                  "got the time on you", "can i have the time", "may i have the time", "could i get the time", "can i get a time check", "i need the time", "i need to know (the time|what time it is)", "i want to know (the time|what time it is)",
                  "i'd like to know (the time|what time it is)", "i'd like the time",
                  "how late is it [now|already]", "how early is it", "is it late [already|yet]", "what hour is it", "what's the hour", "what does the clock say", "what's the clock say", "what does the clock read", "check the (time|clock)",
                  "check what time it is", "read me the time", "read the clock", "say the time", "speak the time", "announce the time", "show me the time", "show the time", "look at the clock", "look what time it is", "time of day",
                  "what's the time of day", "what time of day is it", "what time is it exactly", "what is the exact time", "exact time",
                  "what time do we have", "what time have we got", "what time would it be", "what time might it be", "any idea what time it is", "any idea of the time", "i lost track of time what time is it", "i have no idea what time it is",
                  "i don't know what time it is", "i can't see the clock", "i can't see the clock what time is it", "my watch stopped what time is it", "my watch is broken what's the time", "where's my watch what time is it",
                  "am i late what time is it", "what time do you make it", "what time you got",
                  "is it {time} yet", "is it already {time}", "is it past {time}", "is it after {time}", "is it {time} already", "wonder what time it is", "i wonder what time it is", "so what's the time", "local time", "what's the local time",
                  "time right now", "is it noon yet", "is it midnight yet", "is it morning yet", "is it time for bed what time is it"],
        held=["how late do we have it", "let me hear the time", "what would the clock say now", "please look up the time", "i forgot my watch what's the hour", "get me the time", "have we got past {time}", "i'm not sure what time it is"],
        slots=SLOTS, call=lambda v: ("get_time", {}), result=the_time, say=say_time),
    Intent(
        "clock.time.place", weight=1.6,
        patterns=["what time is it in {place}", "what time is it in {place}", "what time is it (now|right now|currently|at the moment) in {place}", "what time is it in {place} (now|right now|currently|at the moment)",
            "what's the time in {place} [now|right now]", "what is the time in {place} [now|right now]", "what's the (current|local|exact) time in {place}", "what is the (current|local|exact) time in {place}", "the time in {place}",
            "time in {place}", "{place} time", "{place} time please", "{place} what time",
                  "{place} time now", "time in {place} now", "time {place}", "current time in {place}", "current time {place}", "local time in {place}", "local time {place}",
                  "tell me (the time|what time it is|the current time|the local time) in {place}", "tell me {place} time", "give me (the time|the current time|the local time) in {place}", "give me {place} time",
                  "do you know (the time|what time it is) in {place}", "how late is it in {place} [now|already|right now]", "how early is it in {place}", "is it late in {place}", "is it (night|day|morning|evening) in {place}",
                  "is it still (night|dark|morning) in {place}",
                  "is it (night|day|morning|evening) in {place} (now|right now|already)", "in {place} what time is it [now]", "over in {place} what time is it", "what time is it over in {place}", "what time is it over there in {place}",
                  "what time do they have in {place}", "what time have they got in {place}", "what time would it be in {place} now", "what hour is it in {place}", "what does the clock say in {place}", "what does the clock in {place} say",
                  "check the time in {place}", "show me the time in {place}", "show the time in {place}",
                  "look up the time in {place}", "find the time in {place}", "find out what time it is in {place}", "i need the time in {place}", "i need to know the time in {place}", "i need to know what time it is in {place}",
                  "i want to know what time it is in {place}", "i'd like to know the time in {place}", "i wonder what time it is in {place}", "can i have the time in {place}", "any idea what time it is in {place}", "what's {place} time",
                  "what is {place} time", "what's the time for {place}", "what's the time at the moment in {place}", "what time zone is it and what time is it in {place}",
                  "i have to call {place} what time is it there", "i want to call someone in {place} what time is it there", "i'm calling {place} what time is it there", "my {who} lives in {place} what time is it there",
                  "my friend is in {place} what time is it there", "what time is it there in {place}", "what time is it for people in {place}", "what time is it where my friend lives in {place}", "are they awake in {place}",
                  "are people asleep in {place} now", "can i call {place} now or is it too late there", "is it too late to call {place}", "is it too early to call {place}", "clock in {place}", "the clock in {place}"],
        held=["get me the time in {place}", "let me hear the time in {place}", "how far along is the day in {place}", "please look what time people in {place} have", "if i call {place} now what time is it there", "what would a clock in {place} say",
            "people in {place} what time do they have", "the hour in {place}"],
        slots={**SLOTS, "who": lambda g: (g.pick(["sister", "brother", "mother", "son", "daughter", "aunt", "boss", "cousin", "girlfriend", "uncle"]),) * 2}, call=lambda v: ("get_time", {"place": v["place"]}), result=the_time, say=say_time),
    Intent(
        "clock.date", weight=1.3,
        patterns=["what's the date", "what is the date", "what's the date today", "what is today's date", "what's today's date", "what is the date today", "today's date", "today's date please", "the date", "the date today", "date", "date today",
            "date please", "current date", "the current date", "what's the current date", "what day is it", "what day is it today", "what day is today", "what day of the week is it", "what day of the week is it today",
            "what day of the week is today", "what weekday is it", "what weekday is it today", "which day is it",
                  "which day is today", "which day of the week is it", "which date is it", "which date is it today", "what date is it", "what date is it today", "what date is today", "what date do we have", "what date do we have today",
                  "what day do we have today", "what day of the month is it", "what day of the month is it today", "what's the day", "what's the day today", "what is the day today", "what month is it", "what month are we in", "which month is it",
                  "what day are we on", "what are we today", "what's today", "what is today", "today is what day",
                  "tell me (the date|today's date|what day it is|what day it is today|what the date is|what date it is|the day|what today is|what day of the week it is)", "give me (the date|today's date|the current date|the day and the date)",
                  "do you know (what day it is|the date|today's date|what day today is)", "do you know what date it is", "i need (the date|today's date)", "i need to know (the date|what day it is|today's date)", "i forgot what day it is",
                  "i don't know what day it is", "i've lost track what day is it", "i want to know what day it is", "i'd like to know the date",
                  "any idea what day it is", "any idea what the date is", "remind me what day it is", "remind me what the date is", "can i have the date", "can i have today's date", "may i have the date", "say the date", "read me the date",
                  "show me the date", "check the date", "check the calendar for today's date", "what does the calendar say", "what's written on the calendar", "what does the calendar say today", "day of the week", "day of the week today",
                  "weekday today", "day today", "today's day", "i wonder what day it is",
                  "is (it|today) {wday}", "is it {wday} today", "is today {wday} or not", "is it {wday} already", "is today the weekend", "is it the weekend yet", "is it a weekday today", "what's the date right now", "what day and date is it",
                  "what is the full date", "i have to sign this what's the date", "i'm writing a check what's the date", "date and day please", "is it the {nth} today", "is today the {nth}", "is it {month}", "is it still {month}",
                  "is it {month} already"],
        held=["let me hear the date", "get me the date", "what day would today be", "please look up today's date", "which day have we got", "on what date are we", "i'm not sure what day it is", "what have they written on the calendar today"],
        slots={**SLOTS, "wday": lambda g: (g.pick(WEEKDAYS), None), "nth": lambda g: (ordinal(g, g.number(1, 31)), None), "month": lambda g: (g.pick(MONTHS), None)}, call=lambda v: ("get_date", {}), result=the_date, say=say_date),
    Intent(
        "clock.date.day", weight=1.7,
        patterns=["what day is {asked}", "what day is {asked}", "what's the date {rel}", "what is the date {rel}", "what's the date on {wday}", "what is the date on {wday}", "what's the date of {named}", "what is the date of {named}",
            "what date is {asked}", "what date is {wday}", "what date is it on {wday}", "what date will it be {rel}", "what day of the week is {asked}", "what day of the week is {named}", "what weekday is {named}", "what weekday is {asked}",
            "which day is {asked}", "which day of the week is {named}", "which weekday is {named}",
                  "which date is {asked}", "which date is {wday}", "what day does {named} fall on", "what day of the week does {named} fall on", "what day does {holiday} fall on this year", "what weekday does {named} fall on",
                  "which day does {named} fall on", "on what day is {named}", "on which day is {named}", "on what day does {named} fall", "on what date is {holiday}", "when is {holiday}", "when is {holiday}", "when's {holiday}",
                  "when does {holiday} fall", "when will {holiday} be", "when do we celebrate {holiday}", "when do we have {holiday}", "when is it {holiday}",
                  "what day will it be on {named}", "what day will {named} be", "what day will {asked} be", "what day is it on {named}", "what day is it {tom}", "what date is it {tom}", "what date was it {tom}", "what day was {tom}",
                  "what day was it {tom}", "what was the date {tom}", "what was the date {lastday}", "what day is {tom}", "what's {tom}'s date", "what is {tom}'s date", "{tom}'s date", "date of {named}", "date {tom}", "date for {wday}",
                  "date of {wday}", "date on {wday}", "day of the week for {named}", "weekday of {named}", "{holiday} date", "the date of {holiday}", "the date {tom}", "the date on {wday}",
                  "tell me (the date|what day it is) {tom}", "tell me the date (of|for) {asked}", "tell me what day {asked} is", "tell me what day {named} falls on", "tell me when {holiday} is", "tell me what date {asked} is",
                  "give me the date (of|for) {asked}", "give me the date {tom}", "do you know when {holiday} is", "do you know what day {named} is", "do you know what date {wday} is", "i need the date (of|for) {asked}",
                  "i need to know what day {named} is", "i need to know when {holiday} is", "i forgot when {holiday} is", "i wonder when {holiday} is", "i want to know what day {asked} is", "i'd like to know when {holiday} is",
                  "any idea when {holiday} is", "any idea what day {named} is", "is {named} on a weekend", "is {named} a weekday", "is {named} a {weekdayname}", "is {named} on a {weekdayname}", "is {holiday} on a weekend this year",
                  "does {named} fall on a weekend", "does {named} fall on a {weekdayname}", "is tomorrow {weekdayname} => tomorrow=true", "is it {weekdayname} tomorrow => tomorrow=true", "will it be {weekdayname} tomorrow => tomorrow=true",
                  "check the date of {asked}", "check what day {named} is", "check when {holiday} is", "look up the date of {holiday}", "look up when {holiday} is", "find out when {holiday} is", "{named} is what day",
                  "{named} what day is that", "{asked} is which day", "which day will {named} be", "what would the date be {tom}", "the weekday of {named}", "how does {named} fall", "when exactly is {holiday}", "what's the exact date of {holiday}",
                  "what is the day of {holiday}", "when's {wday}", "when is {wday}", "my birthday is {calendar} what day is that", "i was born on {calendar} what day is that", "the party is on {calendar} what day of the week is that",
                  "we leave on {calendar} what weekday is that"],
        held=["what date have we got {tom}", "can you look up which day {named} is on", "get me the date of {holiday}", "how late in the year is {holiday}", "let me hear what day {named} is", "{named} is that a weekday",
            "what does the calendar say for {named}", "what day of the week would {named} be", "and when would {holiday} be", "on which weekday will we have {named}"],
        slots={**SLOTS, "weekdayname": lambda g: (g.pick(WEEKDAYS), None)}, call=date_call, result=the_date, say=say_date),
    # follow-ups
    Intent(
        "clock.set.change", follows=SETS, weight=1.4,
        patterns=["make it {time}", "make it {time} instead", "no make it {time}", "actually make it {time}", "no {time}", "change it to {time}", "change that to {time}", "change the time to {time}", "change the alarm to {time}", "move it to {time}",
            "move that to {time}", "set it to {time} instead", "set it for {time} instead", "{time} instead", "rather {time}", "better {time}", "better make it {time}", "{time} is better", "{time} would be better", "i meant {time}",
            "no i meant {time}", "i said {time}", "no i said {time}", "sorry {time}",
                  "sorry i meant {time}", "oh no {time}", "not that {time}", "let's say {time}", "let's do {time}", "let's make it {time}", "let's make that {time}", "on second thought {time}", "wait make it {time}", "wait {time}",
                  "hmm {time} instead", "i'd prefer {time}", "i prefer {time}", "could we do {time}", "could it be {time}", "can we do {time} instead", "can you change that to {time}", "how about {time} instead", "it should be {time}",
                  "that should be {time}", "it has to be {time}", "do {time} instead", "go with {time}", "say {time}", "reschedule it to {time}", "push it to {time}", "change it to {when}",
                  "make it {when}", "make it {day} instead", "no {day}", "change it to {day}", "move it to {day}", "i meant {day}", "no i meant {day}", "{day} instead", "not that day {day}", "on {weekday} i mean", "make that {day}",
                  "for {day} i mean", "i mean {day}", "better {day}", "do it {onday} instead", "change the day to {day}", "set it for {day} instead", "it should be {day}", "sorry {day}", "wrong day {day}"],
        held=["switch it to {time}", "i like {time} better", "i'd rather have {time}", "let it be {time}", "please have it at {time}", "switch it to {day}", "i like {day} better", "let's go for {time}"],
        slots={**SLOTS, "weekday": lambda g: (lambda d: (d, d))(g.pick(WEEKDAYS))}, call=lambda v: moved({**v, "dayname": v.get("weekday")}, True), say=say_set),
    Intent(
        "clock.set.another", follows=SETS, weight=1.2,
        patterns=["and one for {time}", "and another one for {time}", "and another for {time}", "and another one at {time}", "and one more for {time}", "and one at {time}", "another one at {time}", "another one for {time}", "another for {time}",
            "one more for {time}", "one more at {time}", "also one for {time}", "also one at {time}", "also at {time}", "and also at {time}", "and at {time} too", "and at {time}", "plus one at {time}", "plus one for {time}",
            "and a second one for {time}", "a second one at {time}", "and one more alarm for {time}",
                  "and a backup for {time}", "and a backup alarm at {time}", "also an alarm for {time}", "and an alarm for {time}", "add one for {time}", "add another one at {time}", "then another one at {time}", "and then one at {time}",
                  "now one for {time}", "and set one for {time} too", "do one for {time} as well", "same thing at {time}", "and again at {time}", "wake me again at {time}",
                  "and one for {when}", "another one for {when}", "and also {at}", "and {at} as well", "one for {event} at {time} too", "and one for the {event} at {time}", "and one called {event} at {time}", "also one for {event} at {time}",
                  "and a {event} alarm at {time}"],
        held=["and then one more at {time}", "plus a second alarm at {time}", "let me have one for {time} too", "and for the {event} one at {time}"],
        slots=SLOTS, call=lambda v: moved(v, False, v.get("event")), say=say_set),
    Intent(
        "clock.set.day", follows=SETS, weight=0.8,
        patterns=["and {onday} too", "and {onday} as well", "and also {onday}", "also {onday}", "also for {day}", "and for {day}", "and for {day} too", "the same for {day}", "the same {onday}", "same for {day}", "same time {onday}",
            "the same time {onday}", "and the same for {day}", "and the same {onday}", "same thing {onday}", "and one for {day}", "another one for {day}", "do the same for {day}", "do the same {onday}", "and do that {onday} too", "repeat it {onday}",
            "repeat that for {day}", "set it for {day} too", "one for {day} as well", "and again {onday}"],
        held=["have the same {onday} too", "plus one for {day}", "and {onday} again please"],
        slots=SLOTS, call=lambda v: moved(v, True), say=say_set),
    Intent(
        "clock.set.name", follows=("clock.set", "clock.set.change", "clock.set.another"), weight=0.4,
        patterns=["call it {event}", "name it {event}", "label it {event}", "and call it {event}", "call that {event}", "call that one {event}", "give it the name {event}", "it's for {event}", "that's for {event}", "the name is {event}",
            "name that alarm {event}", "it's to {task}", "so that i {task}", "that's so i can {task}", "put {event} as the name"],
        held=["let's call it {event}", "have it say {event}"],
        slots=SLOTS, call=lambda v: moved({"prev": v["prev"]}, False, v.get("event") or v.get("task"))
        if not v["prev"].get("args", {}).get("day") else ("set_alarm", arguments({**v["prev"]["args"], "name": v.get("event") or v.get("task")}, "time", "day", "name")), say=say_set),
    Intent(
        "clock.cancel.it", follows=SETS + ("clock.set.day", "clock.set.name"), weight=1.2,
        patterns=["cancel it", "cancel that", "delete it", "delete that", "never mind", "never mind cancel it", "never mind cancel that", "forget it", "forget that", "remove it", "stop it", "turn it off", "turn that off", "no cancel that",
            "no cancel it", "cancel that one", "delete that one", "actually cancel it", "actually never mind", "on second thought cancel it", "get rid of it", "kill it", "cancel the alarm", "delete the alarm", "cancel that alarm",
            "delete that alarm", "undo that", "undo it", "take it off", "oh forget it", "i changed my mind cancel it",
                  "i changed my mind", "i don't need it [anymore|after all]", "i don't need that [anymore|after all]", "no don't", "wait cancel that", "drop it", "switch it off", "disable it", "clear it", "remove that one", "cancel that again",
                  "no forget it", "don't set it"],
        held=["call it off", "scrap that", "please scrap it", "take that away again"],
        slots=SLOTS, call=again_cancel, say=say_cancel),
    Intent(
        "clock.cancel.listed", follows=("clock.alarms", "clock.alarms.day"), weight=0.9,
        patterns=["cancel them [all] => all=true", "cancel all of them => all=true", "delete them [all] => all=true", "delete all of them => all=true", "turn them [all] off => all=true", "remove them [all] => all=true",
            "clear them [all] => all=true", "get rid of them => all=true", "get rid of all of them => all=true", "cancel every one => all=true", "cancel all => all=true", "okay cancel them => all=true", "then cancel them all => all=true",
                  "cancel the {clk} one", "delete the {clk} one", "remove the {clk} one", "turn off the {clk} one", "cancel the one at {time}", "delete the one at {time}", "remove the one for {time}", "turn the {clk} one off", "drop the {clk} one",
                  "get rid of the {clk} one", "the {clk} one can go", "i don't need the {clk} one", "i don't need the one at {time}", "cancel {time}", "kill the {clk} one", "turn off the one for {time}"],
        held=["scrap them all => all=true", "scrap the {clk} one", "call off the one at {time}"],
        slots=SLOTS, call=lambda v: ("cancel_alarm", arguments({"time": moment(v).get("time"), "day": v["prev"].get("args", {}).get("day"), "all": v.get("all")}, "time", "day", "all")), result=cancelled, say=say_cancel),
    Intent(
        "clock.alarms.day", follows=("clock.alarms", "clock.alarms.day"), weight=1.0,
        patterns=["and {onday}", "what about {day}", "what about {onday}", "how about {day}", "and for {day}", "and what about {day}", "and on {weekday}", "and {weekday}", "{onday}", "and what about {onday}", "any {onday}", "any for {day}",
            "are there any {onday}", "and for {day} too", "do i have any {onday}", "is there one {onday}", "is there one for {day}", "what is there for {day}", "how about {onday}", "and the ones for {day}", "also {onday}"],
        held=["and how is it {onday}", "have i got any {onday}"],
        slots={**SLOTS, "weekday": lambda g: (lambda d: (d, d))(g.pick(WEEKDAYS))}, call=lambda v: ("get_alarms", {"day": v.get("onday") or v.get("day") or v.get("weekday")}), result=some_alarms, say=say_alarms),
    Intent(
        "clock.alarms.add", follows=("clock.alarms", "clock.alarms.day"), weight=0.7,
        patterns=["add one for {when}", "add one {at}", "add another one for {when}", "set one for {when}", "set one {at}", "then set one {at}", "okay set one for {when}", "set another one {at}", "make one for {when}", "i need one {at}",
            "put one on for {when}", "create one for {when}", "another one {at}", "one more {at}", "and add one for {when}", "then wake me {at}", "give me one {at}", "i want one for {when} too"],
        held=["let me have one {at}", "have one {at} too"],
        slots=SLOTS, call=alarm_call, say=say_set),
    Intent(
        "clock.snooze.again", follows=("clock.snooze", "clock.snooze.again"), weight=0.6,
        patterns=["again", "once more", "snooze again", "again please", "one more time", "snooze it again", "another {snooze}", "another {snooze} please", "{snooze} more", "and another {snooze}", "make it {snooze}", "make that {snooze}",
            "no {snooze}", "for {snooze}", "{snooze}", "only {snooze}", "{snooze} instead", "snooze for {snooze} again", "once more for {snooze}", "again for {snooze}"],
        held=["do it once more", "again but {snooze}"],
        slots=SLOTS, call=lambda v: ("snooze_alarm", {"minutes": v["snooze"]} if v.get("snooze") else {}),
            say=lambda g, v, args, result: f"Snoozed for {args['minutes']} minute{'' if args['minutes'] == 1 else 's'}." if "minutes" in args else "Alarm snoozed."),
    Intent(
        "clock.time.also", follows=("clock.time", "clock.time.place", "clock.time.also", "clock.time.here"), weight=1.4,
        patterns=["and in {place}", "and in {place}", "what about {place}", "what about in {place}", "how about {place}", "how about in {place}", "and {place}", "in {place}", "and what about {place}", "and what about in {place}",
            "and what time is it in {place}", "and in {place} now", "and over in {place}", "same for {place}", "the same for {place}", "and for {place}", "also in {place}", "also {place}", "now {place}", "now in {place}", "{place}",
            "and for people in {place}", "and the time in {place}", "what is it in {place}", "what is it in {place} then", "and how late is it in {place}", "no in {place}", "no i meant {place}", "i meant {place}",
                  "i mean in {place}", "not there in {place}", "and then {place}", "and how about {place}", "next {place}", "and if i'm in {place}"],
        held=["and how is it in {place}", "then what would it be in {place}", "let's hear {place}"],
        slots=SLOTS, call=lambda v: ("get_time", {"place": v["place"]}), result=the_time, say=say_time),
    Intent(
        "clock.time.here", follows=("clock.time.place", "clock.time.also", "clock.date", "clock.date.day", "clock.date.also", "clock.date.today"), weight=0.5,
        patterns=["and the time", "and what time is it", "and what's the time", "what time is it here", "and here", "and the time here", "what about here", "and at home", "the time too", "and the time please", "and what time is it here",
            "and the time now", "and how late is it", "also the time", "and our time", "here too", "and what's the time here"],
        held=["let me hear the time too", "how is it here"],
        slots=SLOTS, call=lambda v: ("get_time", {}), result=the_time, say=say_time),
    Intent(
        "clock.date.also", follows=("clock.date", "clock.date.day", "clock.date.also", "clock.date.today"), weight=1.2,
        patterns=["and {asked}", "and {rel}", "and {tom}", "and {holiday}", "what about {asked}", "what about {rel}", "what about {holiday}", "how about {asked}", "how about {rel}", "and what about {asked}", "and when is {holiday}",
            "and what day is {asked}", "and what day is {tom}", "and on {wday}", "what about on {wday}", "{asked}", "also {asked}", "and the date {tom}", "and for {asked}", "same for {asked}", "and {named}", "now {named}", "and how about {named}",
            "no i meant {asked}", "i meant {asked}", "and what date is {asked}", "and {wday}"],
        held=["and then {asked}", "let's hear {named}"],
        slots=SLOTS, call=date_call, result=the_date, say=say_date),
    Intent(
        "clock.date.today", follows=("clock.time", "clock.time.here", "clock.time.also", "clock.date.day", "clock.date.also"), weight=0.5,
        patterns=["and the date", "and what day is it", "and what's the date", "and today's date", "and what day is it today", "what about the date", "and the day", "what day is it", "the date too", "and the date please", "and today",
            "also the date", "and which day is it", "and what is today's date", "and the day of the week", "what about today"],
        held=["let me hear the date too", "and which date is it today"],
        slots=SLOTS, call=lambda v: ("get_date", {}), result=the_date, say=say_date),
]
