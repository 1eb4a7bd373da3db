"""Lists: shopping, to-do and lists with other names. A list that is not named is the shopping list for goods and the to-do list for tasks."""
from grammar import Intent, Lexicon, joined

DRINKS = Lexicon("""milk, water, orange juice, apple juice, coffee, beer, red wine, white wine, wine, oat milk, almond milk, soy milk, coconut milk, sparkling water, mineral water, lemonade, cola, coke, diet coke, iced tea,
    ginger ale, tonic water, cranberry juice, tomato juice, grape juice, chocolate milk, skim milk, whole milk, cream, heavy cream, sour cream, buttermilk, cold brew, root beer, cider, champagne, whiskey, vodka, rum, gin,
    energy drinks, juice, soda, club soda, milkshake mix, sports drink, pineapple juice, still water, olive oil, vegetable oil, vinegar, soy sauce, maple syrup, ketchup, fish sauce""",
                 """kombucha, prosecco, kefir, oat cream, mango juice, tequila, goat milk""")
DRY = Lexicon("""bread, rice, pasta, flour, sugar, salt, cereal, oatmeal, spaghetti, coffee beans, tea, green tea, black tea, herbal tea, peanut butter, jam, honey, brown sugar, powdered sugar, baking powder, yeast, cinnamon,
    black pepper, pepper,
    paprika, cumin, oregano, basil, thyme, curry powder, vanilla extract, cocoa powder, chocolate, dark chocolate, milk chocolate, popcorn, granola, muesli, quinoa, couscous, breadcrumbs, corn starch, chicken stock, vegetable broth,
    tomato sauce, mustard, mayonnaise,
    mayo, hot sauce, barbecue sauce, salsa, pesto, hummus, white bread, rye bread, sourdough bread, pizza dough, puff pastry, brown rice, basmati rice, noodles, cake mix, pancake mix, chewing gum, gum, candy, trail mix,
    whole wheat bread, instant coffee,
    decaf coffee, dried fruit, dog food, cat food, bird seed, cat litter, fish food, rabbit food, garlic powder, chili powder, bay leaf, tuna, canned tuna, canned corn, tomato soup, chicken soup, gravy, stuffing, ice cream,
    vanilla ice cream, nutella""",
              """tahini, saffron, pancetta cubes, ramen, porridge, nutmeg, agave syrup, lentil soup, bulgur, matcha, marzipan, wasabi""")
FRESH = Lexicon("""butter, cheese, cream cheese, cottage cheese, cheddar, mozzarella, parmesan, feta, goat cheese, swiss cheese, grated cheese, yogurt, greek yogurt, chicken, chicken breast, ground beef, beef, pork, bacon, ham, turkey,
    salami, steak, salmon, cod, fish, minced meat,
    lamb, tofu, lettuce, spinach, broccoli, cauliflower, cabbage, celery, kale, garlic, ginger, parsley, cilantro, mint, rosemary, dill, asparagus, corn, zucchini, sweet corn, salad, fruit, vegetables, meat, margarine, sliced turkey,
    roast beef, smoked salmon, pizza, frozen pizza, eggplant,
    potato salad, coleslaw, watermelon, pineapple, cucumber, celery root, tomato salad, rhubarb, frozen spinach, fresh basil, lunch meat, cake, apple pie, guacamole""",
                """brie, arugula, tempeh, gouda, prosciutto, fennel, halloumi, quiche, pak choi""")
PLURALS = Lexicon("""eggs, apples, bananas, oranges, lemons, limes, onions, potatoes, tomatoes, carrots, peppers, red peppers, mushrooms, cucumbers, grapes, strawberries, blueberries, raspberries, cherries, pears, plums, mangoes,
    avocados, sweet potatoes, green beans, black beans,
    kidney beans, baked beans, chickpeas, lentils, peas, frozen peas, radishes, beets, olives, pickles, nuts, almonds, walnuts, cashews, peanuts, raisins, dates, crackers, chips, potato chips, tortilla chips, pretzels, cookies,
    muffins, rolls, buns, hamburger buns, hot dog buns, tortillas,
    wraps, donuts, brownies, granola bars, chocolate bars, chicken wings, chicken thighs, hot dogs, sausages, burgers, pork chops, shrimps, fish sticks, fish fingers, french fries, waffles, ice pops, chocolate chips, marshmallows,
    tea bags, coffee filters, coffee pods, canned tomatoes,
    cherry tomatoes, spring onions, red onions, leeks, melons, grapefruits, kiwis, apricots, pine nuts, batteries, double a batteries, light bulbs, candles, paper towels, napkins, tissues, trash bags, garbage bags, freezer bags,
    sandwich bags, sponges, dishwasher tablets, diapers, baby wipes,
    razors, razor blades, cotton balls, cotton swabs, band aids, vitamins, painkillers, toothbrushes, paper plates, plastic cups, straws, matches, envelopes, stamps, pens, pencils, notebooks, screws, nails, dog treats, cat treats,
    flowers, roses, tulips, wet wipes, rubber gloves, birthday candles, balloons,
    contact lenses, allergy pills, pads, tampons, lunch boxes, socks, coat hangers, clothes pins, picture hooks, poop bags, egg noodles, lasagna sheets, taco shells, bread rolls, frozen berries""",
                  """artichokes, turnips, parsnips, nectarines, papayas, pistachios, capers, meatballs, dumplings, anchovies, coasters, thumbtacks, eclairs, scallops, tea lights, figs, hinges, crumpets""")
HOUSE = Lexicon("""toilet paper, toothpaste, shampoo, conditioner, soap, hand soap, dish soap, laundry detergent, detergent, fabric softener, bleach, aluminum foil, tin foil, plastic wrap, cling film, parchment paper, baking paper,
    wrapping paper, printer paper, shaving cream, deodorant, sunscreen, lotion, body lotion,
    hand cream, face wash, mouthwash, dental floss, hair gel, hairspray, body wash, shower gel, aspirin, ibuprofen, cough syrup, nail polish, lip balm, mascara, window cleaner, glass cleaner, oven cleaner, floor cleaner, drain cleaner,
    washing powder, stain remover, air freshener, bug spray, duct tape, masking tape,
    scotch tape, glue, super glue, wood glue, paint, white paint, motor oil, windshield washer fluid, potting soil, plant food, weed killer, charcoal, lighter fluid, firewood, baby formula, baby powder, baby oil, kitchen roll,
    washing up liquid, bin liners, hair dye, hand sanitizer, cold medicine, eye drops, flea shampoo, furniture polish""",
                """turpentine, talcum powder, beard oil, antifreeze, micellar water, caulk, limescale remover, epsom salt, grout""")
THINGS = Lexicon("""toothbrush, hairbrush, comb, hammer, screwdriver, drill bit, tape measure, flashlight, extension cord, phone charger, light bulb, bucket, mop, broom, frying pan, can opener, cutting board, water bottle, lunch box,
    umbrella, dog leash, dog collar, cat toy, litter box, scratching post,
    birthday card, birthday cake, bunch of flowers, thermometer, first aid kit, pillow, blanket, towel, shower curtain, bath mat, door mat, ladder, paint brush, garden hose, shovel, rake, flower pot, watering can, padlock, lamp shade,
    power strip, smoke detector, notebook, calendar, lighter, corkscrew, bottle opener,
    cheese grater, measuring cup, baking tray, cake tin, roasting tin, saucepan, kettle, toaster, laundry bag, doormat, plunger, toilet brush, sewing kit, water filter, rotisserie chicken, baguette, whole chicken, pumpkin,
    head of lettuce, ripe avocado, christmas tree""",
                 """colander, spatula, wheelbarrow, chisel, thermos, aquarium pump, pickaxe, rolling pin, shoehorn""")

# What goes on lists of other names.
GEAR = Lexicon("""socks, shirts, underwear, passport, phone charger, sunglasses, swimsuit, swim trunks, toothbrush, raincoat, jacket, hiking boots, sneakers, sandals, hat, gloves, scarf, pajamas, laptop, headphones, camera, power bank,
    travel pillow, tent, sleeping bag, camping stove, flashlight, rope, map, compass, water bottle, first aid kit,
    sunscreen, beach towel, umbrella, jeans, t shirts, sweater, belt, dress, suit, tie, dress shoes, guitar, bicycle, bike helmet, skateboard, board game, chess set, lego set, puzzle, teddy bear, doll house, watch, necklace, earrings,
    perfume, wool socks, coffee machine, espresso machine, air fryer, blender, stand mixer, cookbook,
    novel, gift card, concert tickets, new phone, tablet, smart watch, keyboard, monitor, desk lamp, office chair, bookshelf, rug, mirror, plywood, screws, wood screws, nails, paint roller, drill, saw, wall plugs, wire, garden chairs,
    tomato seeds, fertilizer, lawn mower, napkins, balloons, paper plates,
    ice, chips, speakers, folding chairs, birthday cake, party hats, candles, snorkel, ski pants, goggles, travel adapter, snacks, diapers, stroller, baby bottles, the godfather, titanic, jaws, the matrix, star wars, casablanca,
    moby dick, the hobbit, paris, rome, japan, iceland, new york""",
               """binoculars, trekking poles, bathrobe, harmonica, hammock, cufflinks, tweezers, ice axe, dartboard, ukulele, money belt, bow tie, kayak, treadmill, zanzibar""")
PEOPLE = Lexicon("""mom, dad, grandma, grandpa, my mother, my sister, my brother, my boss, the dentist, the doctor, the plumber, the electrician, the landlord, the bank, the vet, the school, the insurance company, the neighbors,
    the babysitter, the hairdresser, aunt mary, uncle bob, emma, olivia, sophia, anna, maria, julia,
    laura, sarah, lisa, kate, lucy, jane, helen, susan, karen, linda, nora, eva, ella, mia, chloe, hannah, john, peter, paul, mark, tom, james, david, michael, daniel, robert, william, george, henry, jack, oliver, liam, noah, lucas,
    ben, sam, max, alex, chris, kevin, brian, steve, tim, andrew, simon, leo, adam, carlos,
    mr smith, mrs jones, doctor brown, the johnsons, my cousin, my wife, my husband, the accountant, the lawyer, the gardener, the coach, the teacher, the pharmacy, the garage, the office, the post office, rachel, priya, omar, ahmed,
    yuki, chen, fatima, ivan, olga, pierre, jose""",
                 """veronica, theodore, my stepson, the optician, harriet, mrs patel, the roofer, desmond, bianca, the caterer, aunt gertrude, rashid, gwen, the locksmith""", open=True)
OBJECTS = Lexicon("""fridge, freezer, oven, stove, sink, bathtub, shower, toilet, washing machine, dryer, dishwasher, car, bike, garage door, front door, back door, fence, gate, roof, gutters, window, windows, desk, closet, carpet,
    couch, sofa, table, kitchen table, bookshelf, lawn mower, printer, router, computer, laptop,
    phone, tv, vacuum, coffee maker, microwave, toaster, fish tank, cat litter box, bird cage, grill, pool, deck, porch, mailbox, doorbell, smoke alarm, air filter, water heater, furnace, thermostat, tires, brakes, headlights,
    wiper blades, kitchen drawer, leaky faucet, broken chair, squeaky door, bathroom mirror, bed frame, shoe rack, shed""",
                  """chandelier, pergola, terrarium, banister, chimney, dehumidifier, trampoline, shutters, tumble dryer""")
TASKS = Lexicon("""call the dentist, pay the rent, pick up the kids, water the plants, walk the dog, feed the cat, feed the fish, take out the trash, take out the garbage, take out the recycling, do the laundry, do the dishes,
    wash the dishes, mow the lawn, clean the bathroom, clean the kitchen, vacuum the living room, vacuum the stairs, mop the floor, make the bed,
    change the sheets, fold the laundry, iron the shirts, book a flight, book a hotel, book a table for dinner, book a doctor's appointment, make a dentist appointment, make an appointment with the vet, pay the bills,
    pay the electricity bill, pay the water bill, pay the phone bill, pay the credit card, pay my taxes, do my taxes, file the taxes, renew my passport,
    renew the car insurance, renew my driver's license, renew the library books, return the library books, return the package, return the shoes, mail the letter, mail the package, send the invoice, send the birthday card, send the thank you notes, write the report, finish the report, finish my homework, do my homework, study for the exam, study for the math test,
    prepare the presentation, print the tickets, print the boarding pass, sign the permission slip, sign the contract, check the mail, check the tire pressure, check my email, reply to the email from work, answer the emails,
    back up my computer, back up the photos, update my phone, update my resume, charge the car, charge my phone, wash the car, get the car washed,
    get gas, get a haircut, get the oil changed, take the car to the garage, take the car in for inspection, take the dog to the vet, take the cat to the vet, take my medicine, take my vitamins, take my pills,
    drop off the dry cleaning, pick up the dry cleaning, pick up the package, pick up the prescription, pick up my suit, pick up the cake from the bakery, plan the party,
    plan the trip, plan the vacation, pack for the trip, pack my gym bag, pack the suitcases, clean out the garage, clean out the fridge, clean the gutters, clean the windows, tidy my room, tidy the desk, organize the closet,
    sort the mail, sort the recycling, fix the leaky faucet, fix the bike, fix the fence, hang the picture, hang up the curtains, paint the fence,
    paint the bedroom, assemble the bookshelf, put the bins out, put away the dishes, put gas in the car, change the light bulb, change the air filter, change the oil, change my password, change the batteries in the smoke alarm,
    empty the dishwasher, load the dishwasher, empty the trash, bring in the packages, bring the bins in,
    rake the leaves, shovel the snow, trim the hedge, plant the tomatoes, weed the garden, water the tomatoes, water the lawn, bake a cake for the school, bake cookies for the party, cook dinner for the neighbors, marinate the chicken,
    thaw the chicken, defrost the turkey, set the table, clean the oven, clean the grill, clean the fish tank, clean the litter box, brush the dog, bathe the dog,
    groom the cat, order new checks, cancel the gym membership, cancel my subscription, cancel the newspaper, register for the class, sign up for yoga, sign the kids up for soccer, enroll in the course, apply for the job,
    call the bank, call the doctor's office, call the insurance company, call the school, call my grandmother, call mom back, text the babysitter, text my brother the address,
    email my boss, email the teacher, email the landlord about the heating, invite the neighbors, thank grandma for the gift, wrap the presents, visit grandpa, visit my aunt in the hospital, practice the piano, practice my speech,
    practice guitar, read the contract, read chapter five, read my book, stretch my back, go to the gym, go to the bank, go to the post office,
    go for a run, go running, meditate, exercise, do yoga, do push ups, drink more water, lock the shed, check the smoke alarm, test the smoke alarm, measure the windows, measure the kitchen wall, donate the old clothes,
    sell the old bike, sell the couch,
    recycle the bottles, throw out the old paint, shred the old papers, submit the expenses, transfer the money, ask about the warranty, ask for a raise, tell the kids about the trip, talk to the teacher,
    talk to my boss about vacation, meet with the accountant, schedule a haircut, schedule the car service, schedule the annual checkup, confirm the reservation,
    reschedule the meeting, return the drill to the neighbor, give back the ladder, write a thank you card, write to the landlord, learn my lines, learn spanish, pay the babysitter, pay for the school lunch, look for my keys, look up train times, search for a new apartment, move the car, park the car in the garage, replace the filter, replace the battery, repair the gate,
    sew the button on my coat, shave, take a shower, dust the shelves, scrub the tub, sweep the porch, sweep the kitchen floor, unpack the boxes, unclog the sink, upload the photos, delete the old emails, download the forms,
    fill out the form, fill in the application, fill up the tank, refill the prescription, feed the chickens, feed the rabbit, collect the eggs, walk the neighbor's dog""",
                """winterize the cabin, file a claim, notarize the deed, renew my gym pass, bleed the radiators, prune the rosebushes, oil the hinges, weatherproof the deck, sharpen the knives, book a massage, rotate the mattress, rehearse the toast, proofread my essay, tune the violin, return the tuxedo, pay the parking fine, polish the silverware, water the ferns,
                take the clarinet to practice, regrout the shower, deworm the puppy, wash the windshield, call the piano tuner, darn the socks, adopt a kitten, exfoliate, pick up the wedding rings, cancel the cable, mail the ballot""",
                open=False)
CHORES = Lexicon("""laundry, taxes, dishes, ironing, homework, vacuuming, dusting, dentist appointment, doctor's appointment, haircut, car insurance, oil change, passport renewal, electricity bill, rent, math homework, grocery run, gym, yoga, dog walk, spring cleaning, tax return, phone bill, birthday party, school trip, parent teacher meeting, piano lesson, library books, water bill,
    mom's birthday, anniversary, wedding gift, team meeting, job application, science project, thank you cards, holiday cards, car inspection, flu shot, garden work""", """eye exam, mortgage payment, book report, vaccination,
    chimney sweep""", open=False)
LISTS = Lexicon("""packing, christmas, wish, hardware store, birthday, camping, travel, vacation, holiday, party, guest, gift, reading, book, books to read, movie, movies to watch, watch, bucket, work, school, office, garden, cleaning,
    baby, wedding, moving, house, home improvement, project, costco, ikea, target, walmart, aldi, drugstore, pharmacy, hiking, beach, road trip, ski trip,
    weekend, summer, thanksgiving, easter, halloween, new year's, kids, dog, cat, pet, medicine, recipe, dinner, breakfast, meal, lunch box, menu, restaurant, places to visit, places, present, presents, gifts, toy, clothes, garage,
    tool, tools, repair, diy, home depot, paint, farmer's market, market, bakery, butcher, santa, suitcase, picnic, barbecue, cookout,
    game night, team, fitness, workout, goals, ideas, gift ideas, projects, back to school, invitation, favorites, song, wine, craft, study, exam, errands, honey do, in case of emergency, emergency, first aid, car, boat, cabin,
    house hunting, new house, interview""",
                """sailing, souvenir, hanukkah, prom, fishing trip, baby shower, thrift store, volunteer, chemistry, plants to buy, honeymoon, scavenger hunt""")

SINGULAR = "passport,swimsuit,raincoat,jacket,hat,scarf,laptop,camera,tent,sleeping bag,rope,map,compass,umbrella,sweater,belt,dress,suit,tie,guitar,bicycle,skateboard,puzzle,watch,necklace,drill,saw,mirror,rug,blender,stroller,tablet".split(",")

CONTAINERS = {  # with what a drink, a dry good ... is bought
    "drinks": ["bottle", "bottle", "bottle", "carton", "can", "gallon", "liter", "pack", "case", "six pack", "pint", "quart", "litre"],
    "dry": ["bag", "box", "pack", "packet", "jar", "can", "pound", "kilo", "tin", "package", "loaf", "sack", "bar"],
    "fresh": ["pound", "pack", "kilo", "package", "piece", "bag", "pack", "slice"],
    "plural": ["bag", "box", "pack", "pound", "kilo", "packet", "package", "bunch", "can", "dozen", "tin", "basket"],
    "house": ["bottle", "box", "pack", "tube", "package", "packet"],
}
KINDS = [("drinks", DRINKS), ("dry", DRY), ("dry", DRY), ("fresh", FRESH), ("fresh", FRESH), ("plural", PLURALS), ("plural", PLURALS), ("plural", PLURALS), ("house", HOUSE), ("thing", THINGS)]
STUFF = {w for kind, lexicon in KINDS if kind != "thing" for w in lexicon.train + lexicon.held}
LOAVES = {"box": "boxes", "loaf": "loaves", "bunch": "bunches"}
QUALITIES = {"plural": ["fresh", "organic", "frozen", "big", "small", "ripe", "cheap"], "fresh": ["fresh", "organic", "frozen", "sliced", "cheap"], "dry": ["organic", "gluten free", "cheap"], "drinks": ["organic", "cold", "cheap"]}
# Tasks that are also requests to an assistant: only where the wording says that they are to be kept.
COMMANDS = ["turn off the sprinkler", "turn off the oven", "turn off the lights", "turn off the heater", "turn down the heating", "turn off the tv", "turn on the dishwasher", "lock the front door", "lock the doors",
    "close the garage door", "close the windows", "set the alarm", "set an alarm", "check the thermostat",
            "play with the kids", "play my voicemail", "switch off the iron", "turn up the heating", "check the weather", "open the windows", "turn up the fridge", "make a list", "read the news", "listen to the album",
            "start the washing machine", "check the time of the train", "add up the receipts"]


def a(word):
    return ("an " if word[0] in "aeiou" else "a ") + word


def count(g):
    return g.say_number(g.number(2, 12) if g.chance(0.8) else g.number(13, 60))


def amount(g, kind, w):
    """A good with an amount: (as said, as kept)."""
    if kind == "thing":
        return (a(w), w)
    if kind == "plural" and g.chance(0.6):
        if g.chance(0.1):
            return g.pick([(f"a dozen {w}", f"dozen {w}"), (f"two dozen {w}",) * 2, (f"half a dozen {w}",) * 2, (f"a couple of {w}", f"couple of {w}")])
        t = f"{count(g)} {w}"
        return t, t
    if kind in ("dry", "fresh") and g.chance(0.12):
        t = g.pick([f"{g.say_number(g.number(100, 900, 50))} grams of {w}", f"half a pound of {w}", f"half a kilo of {w}", f"{g.say_number(g.number(2, 16))} ounces of {w}"])
        return t, t
    c = g.pick(CONTAINERS[kind])
    if g.chance(0.5):
        big = g.pick(["", "", "", "", "big ", "large ", "small "]) if c in ("bottle", "carton", "can", "pack", "bag", "box", "jar", "tube", "package") else ""
        return a(f"{big}{c} of {w}"), f"{big}{c} of {w}"
    n = g.number(2, 8)
    t = f"{g.say_number(n)} {c if c == 'dozen' else LOAVES.get(c, c + 's')} of {w}".replace("dozen of", "dozen")
    return t, t


def good(g, plain=False, solo=False):
    """One good to buy: (as said, as kept). plain: nothing before it; solo: one real word, for enumerations without commas."""
    kind, lexicon = g.pick(KINDS[:-1] if solo else KINDS)
    if solo:
        options = [w for w in (lexicon.held if g.held else lexicon.train) if " " not in w]
        return (g.pick(options),) * 2
    w = g.word(lexicon)
    if plain:
        return w, w
    if kind != "thing" and g.chance(0.05):
        w = f"{g.pick(QUALITIES[kind])} {w}" if kind in QUALITIES else w
    p = g.rng.random()
    if p < 0.25:
        return amount(g, kind, w)
    if kind == "thing":
        return g.pick([(a(w), w), (a(w), w), (a("new " + w), "new " + w), (w, w), ("the " + w, w), ("another " + w, w)])
    if p < 0.38:
        return g.pick(["some", "some", "some", "more", "some more", "the", "a few" if kind == "plural" else "a bit of"]) + " " + w, w
    return w, w


def enumerate_(g, pairs, goods=False):
    """Several things in a row, as people say and write them: (as said, list as kept)."""
    said, kept = [p[0] for p in pairs], [p[1] for p in pairs]
    if len(pairs) == 1:
        return said[0], kept
    last = g.pick([" and "] * 8 + [", and ", " and also ", " plus ", " as well as ", " and some " if goods and said[-1] in STUFF else " and "])
    if len(pairs) == 2:
        return last.join(said), kept
    if g.chance(0.15):
        return " and ".join(said), kept
    return ", ".join(said[:-1]) + last + said[-1], kept


def distinct(g, n, make):
    pairs = []
    for _ in range(12):
        p = make()
        if len(pairs) < n and p[1] not in [q[1] for q in pairs]:
            pairs.append(p)
    return pairs


def items(g, most=4):
    n = min(most, g.pick([1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4]))
    if n > 2 and g.chance(0.5):  # "milk eggs and bread"
        pairs = distinct(g, n, lambda: good(g, solo=True))
        said = [p[1] for p in pairs]
        return (" ".join(said) if g.chance(0.25) else " ".join(said[:-1]) + " and " + said[-1]), said
    return enumerate_(g, distinct(g, n, lambda: good(g)), goods=True)


def stuff(g):
    """A good that is not a single thing, with nothing before it."""
    w = g.word(g.pick([DRINKS, DRY, DRY, FRESH, FRESH, PLURALS, PLURALS, PLURALS, HOUSE]))
    return w, w


def bare(g):
    return enumerate_(g, distinct(g, g.pick([1, 1, 1, 1, 2]), lambda: stuff(g)))


def asked(g):
    """One good that is asked after."""
    if g.chance(0.1):
        w = g.word(THINGS)
        return a(w), [w]
    w = stuff(g)[0]
    return w, [w]


def of_lexicon(*lexicons):
    def slot(g):
        w = g.word(g.pick(lexicons))
        return w, [w]
    return slot


def one_task(g):
    """One task in the infinitive."""
    if g.chance(0.6):
        return g.word(TASKS)
    if g.chance(0.3):
        return g.pick(["fix", "clean", "check", "repair", "replace", "move", "measure", "look at", "inspect", "clean up", "get rid of"]) + " the " + g.word(OBJECTS)
    p = g.word(PEOPLE)
    return g.pick([f"call {p}", f"call {p}", f"call {p} back", f"text {p}", f"email {p}", f"write to {p}", f"visit {p}", f"meet {p}", f"ask {p} about the {g.pick(['party', 'trip', 'car', 'key', 'recipe', 'money', 'tickets', 'weekend'])}",
                   f"send {p} the {g.pick(['photos', 'documents', 'invoice', 'address', 'recipe', 'key', 'form', 'money'])}", f"talk to {p} about the {g.pick(['party', 'trip', 'car', 'house', 'meeting', 'bill'])}",
                   f"pick up {p} from {g.pick(['school', 'the airport', 'the station', 'practice', 'work', 'daycare'])}", f"drive {p} to {g.pick(['school', 'the airport', 'the doctor', 'soccer practice', 'the station'])}",
                   f"thank {p} for the {g.pick(['gift', 'flowers', 'help', 'dinner'])}", f"return the {g.pick(['book', 'drill', 'ladder', 'key', 'cake tin'])} to {p}",
                       f"invite {p} to {g.pick(['dinner', 'the party', 'lunch', 'the wedding'])}",
                   f"pay {p} back", f"give {p} the spare key", f"wish {p} a happy birthday", f"find a present for {p}", f"answer {p}", f"check on {p}", f"help {p} with the {g.pick(['move', 'homework', 'computer', 'garden'])}",
                       f"remind {p} about the {g.pick(['bill', 'meeting', 'party'])}"])


def tasks(g):
    pairs = distinct(g, g.pick([1, 1, 1, 1, 2]), lambda: (one_task(g),) * 2)
    kept = [p[1] for p in pairs]
    return g.pick([" and ", " and ", " and ", " and also ", " and then ", ", ", ", and ", " and to "]).join(kept), kept


def listed_tasks(g):
    """What is put on a to-do list that is named as such: a task, a noun for one, something to buy."""
    p = g.rng.random()
    if p < 0.2:
        return enumerate_(g, distinct(g, g.pick([1, 1, 1, 2]), lambda: (g.word(CHORES),) * 2))
    if p < 0.3:
        w = f"{g.pick(['buy', 'get', 'pick up', 'order'])} {good(g, plain=True)[1]}"
        return w, [w]
    pairs = distinct(g, g.pick([1, 1, 1, 1, 2, 3]), lambda: (one_task(g),) * 2)
    return enumerate_(g, pairs)


def one_listed_task(g):
    w = one_task(g) if g.chance(0.8) else g.word(CHORES)
    return w, [w]


def topic(g):
    w = g.word(CHORES)
    owner = "" if "'s" in w.split()[0] else g.pick(["the ", "the ", "my "])
    return owner + w, ["my " + w if owner == "my " else w]  # an article is dropped, an owner is not


IRREGULAR = {  # past, participle, -ing
    "pay": ("paid", "paid", "paying"), "feed": ("fed", "fed", "feeding"), "take": ("took", "taken", "taking"), "do": ("did", "done", "doing"), "make": ("made", "made", "making"), "send": ("sent", "sent", "sending"), "write": ("wrote",
    "written", "writing"),
    "get": ("got", "got", "getting"), "put": ("put", "put", "putting"), "hang": ("hung", "hung", "hanging"), "bring": ("brought", "brought", "bringing"), "set": ("set", "set", "setting"), "read": ("read", "read", "reading"),
    "go": ("went", "gone", "going"), "drink": ("drank", "drunk", "drinking"),
    "sell": ("sold", "sold", "selling"), "throw": ("threw", "thrown", "throwing"), "tell": ("told", "told", "telling"), "meet": ("met", "met", "meeting"), "give": ("gave", "given", "giving"), "sew": ("sewed", "sewn", "sewing"),
    "sweep": ("swept", "swept", "sweeping"), "drive": ("drove", "driven", "driving"),
    "buy": ("bought", "bought", "buying"), "bleed": ("bled", "bled", "bleeding"), "back": ("backed", "backed", "backing"), "study": ("studied", "studied", "studying"), "tidy": ("tidied", "tidied", "tidying"), "reply": ("replied",
    "replied", "replying"), "apply": ("applied", "applied", "applying"),
    "find": ("found", "found", "finding"), "learn": ("learned", "learned", "learning"), "shovel": ("shoveled", "shoveled", "shoveling"), "cancel": ("canceled", "canceled", "canceling"), "water": ("watered", "watered", "watering"),
    "empty": ("emptied", "emptied", "emptying"), "defrost": ("defrosted", "defrosted", "defrosting"), "thaw": ("thawed", "thawed", "thawing"),
}
DOUBLED = {"mop", "drop", "plan", "scrub", "trim", "submit", "unclog", "scan", "wrap", "transfer"}


def inflect(task, form):
    """A task as done: form 0 past, 1 participle, 2 -ing."""
    verb, _, rest = task.partition(" ")
    if verb in IRREGULAR:
        w = IRREGULAR[verb][form]
    elif verb in DOUBLED:
        w = verb + verb[-1] + ("ed", "ed", "ing")[form]
    elif verb.endswith("e"):
        w = verb[:-1] + ("ed", "ed", "ing")[form]
    else:
        w = verb + ("ed", "ed", "ing")[form]
    return f"{w} {rest}".strip()


def inflected(form):
    def slot(g):
        w = one_task(g)
        return inflect(w, form), [w]
    return slot


def named_things(g):
    """What goes on a list with a name of its own: things of one kind."""
    p = g.rng.random()

    def make():
        if p < 0.62:
            w = g.word(GEAR)
            if w in SINGULAR and g.chance(0.5):
                return g.pick([a(w), "the " + w, "my " + w]), w
            return w, w
        if p < 0.8:
            return good(g)
        if p < 0.9:
            w = g.word(PEOPLE)
            return w, w[4:] if w.startswith("the ") else w
        return (one_task(g),) * 2
    said, kept = enumerate_(g, distinct(g, g.pick([1, 1, 1, 2, 2, 3]), make))
    return said, kept


def named_one(g):
    w = g.word(GEAR) if g.chance(0.75) else good(g, plain=True)[1]
    return w, [w]


def list_name(g):
    w = g.word(LISTS)
    return w, w


def some_list(g):
    """Any list by its name, for turns that change over to it."""
    p = g.rng.random()
    if p < 0.35:
        return g.pick(["shopping list", "grocery list", "groceries"]), "shopping"
    if p < 0.7:
        return g.pick(["to do list", "todo list", "to-do list", "task list", "tasks", "to dos"]), "to-do"
    w = g.word(LISTS)
    return w + " list", w


def removable(g):
    """Goods to take off: with "the" or nothing."""
    pairs = distinct(g, g.pick([1, 1, 1, 1, 2, 2, 3]), lambda: good(g, plain=True) if g.chance(0.9) else good(g))
    pairs = [("the " + p[1], p[1]) if p[0] == p[1] and (g.chance(0.4) or p[1] in THINGS.train + THINGS.held) else p for p in pairs]
    return enumerate_(g, pairs)


# What the lists hold in this conversation, so that later answers agree with earlier ones.

def sample(g, name, n):
    if name == "shopping":
        return [p[1] for p in distinct(g, n, lambda: good(g, plain=g.chance(0.8)))]
    if name == "to-do":
        return [p[1] for p in distinct(g, n, lambda: (one_task(g) if g.chance(0.85) else g.word(CHORES),) * 2)]
    return [p[1] for p in distinct(g, n, lambda: (g.word(PEOPLE if name in ("guest", "invitation") else GEAR),) * 2)]


def contents(g, name, most=5):
    known = g.__dict__.setdefault("lists", {})
    if name not in known:
        known[name] = sample(g, name, g.pick([0, 1, 1, 2, 2, 3, 3, 3, 4, 5][: most * 2]))
    g.last_list = name
    return known[name]


def earlier(g):
    """One or two things that are on the list of the turn before; now and then one that is not."""
    name = getattr(g, "last_list", "shopping")
    here = g.__dict__.get("lists", {}).get(name, [])
    new = getattr(g, "last_items", [])
    pool = [w for w in new if w in here] or here
    chosen = [g.pick(pool)] if pool and g.chance(0.93) else sample(g, name, 1)
    if len(pool) > 2 and g.chance(0.2):
        chosen = distinct(g, 2, lambda: (g.pick(pool),) * 2)
        chosen = [p[0] for p in chosen]
    the = "the " if name == "shopping" and g.chance(0.7) else ""
    return " and ".join((the + w).replace("the the", "the") for w in chosen), chosen


def added(g, v, args):
    c = contents(g, args["list"], 3)
    c.extend(w for w in args["items"] if w not in c)
    g.last_items = args["items"]
    return {"ok": True}


def removed(g, v, args):
    c = contents(g, args["list"], 3)
    if not v.get("prev"):
        if g.chance(0.1):
            return missing(g.pick(args["items"]), args["list"])
    else:
        for w in args["items"]:
            if w not in c:
                return missing(w, args["list"])
    g.lists[args["list"]] = [w for w in c if w not in args["items"]]
    return {"ok": True}


def missing(w, name):
    many = name != "to-do" and w.endswith("s") and not w.endswith("ss")
    return {"error": f"{w} {'are' if many else 'is'} not on the list"}


def read(g, v, args):
    """The list; what was asked after is on it half of the time."""
    name = args["list"]
    known = name in g.__dict__.get("lists", {})
    if name not in ("shopping", "to-do") and not known and g.chance(0.1):
        g.last_list, g.last_items = name, []
        return {"error": f"there is no {name} list"}
    c = contents(g, name)
    wanted = v.get("one") or v.get("onetask") or v.get("onething") or v.get("plural")
    if wanted and not known and g.chance(0.5) and len(c) < 5:
        c.extend(w for w in wanted if w not in c)
    g.last_items = list(c)
    return {"items": list(c)}


def cleared(g, v, args):
    name = args["list"]
    c = g.__dict__.setdefault("lists", {}).get(name)
    g.last_list, g.last_items = name, []
    if c == [] or (c is None and g.chance(0.08)):
        g.lists[name] = []
        return {"error": f"the {name} list is already empty"}
    g.lists[name] = []
    return {"ok": True}


def sentence(error):
    return error[:1].upper() + error[1:] + "."


def say_added(g, v, args, result):
    return f"Added {joined(args['items'])} to your {args['list']} list."


def say_removed(g, v, args, result):
    return sentence(result["error"]) if "error" in result else f"Removed {joined(args['items'])} from your {args['list']} list."


def say_read(g, v, args, result):
    if "error" in result:
        return sentence(result["error"])
    return f"Your {args['list']} list has {joined(result['items'])}." if result["items"] else f"Your {args['list']} list is empty."


def say_cleared(g, v, args, result):
    return sentence(result["error"]) if "error" in result else f"Cleared your {args['list']} list."


ITEM_SLOTS = ("items", "bare", "mass", "plural", "gone", "one", "tasks", "listed", "onetask", "topic", "command", "past", "done", "doing", "things", "onething", "earlier")


def to_list(tool, name=None):
    """The call: to the list of this name, else to the one that was said, else to that of the turn before."""
    def call(v):
        args = {"list": name or v.get("list") or v.get("alist") or v["prev"].get("args", {}).get("list", "shopping")}
        found = next((v[k] for k in ITEM_SLOTS if k in v), None)
        if tool in ("add_to_list", "remove_from_list"):
            args["items"] = list(found if found is not None else v["prev"].get("args", {}).get("items", []))
        return tool, args
    return call


SLOTS = {
    "items": items, "bare": bare, "mass": of_lexicon(DRINKS, DRY, FRESH, HOUSE), "plural": of_lexicon(PLURALS), "gone": removable, "one": asked,
    "tasks": tasks, "listed": listed_tasks, "onetask": one_listed_task, "topic": topic, "command": lambda g: (lambda w: (w, [w]))(g.pick(COMMANDS)), "past": inflected(0), "done": inflected(1), "doing": inflected(2),
    "things": named_things, "onething": named_one, "list": list_name, "alist": lambda g: (lambda w: (a(w), w))(g.word(LISTS)), "other": some_list, "earlier": earlier,
}

MACROS = {
    "SHOPS": "(the shopping list|my shopping list|our shopping list|the grocery list|my grocery list|our grocery list|the groceries list)",  # said by name
    "SHOP": "(the shopping list|my shopping list|the grocery list|my grocery list|our shopping list|our grocery list|the list|my list|our list|the groceries list)",  # or just "the list"
    "GROC": "(the groceries|my groceries|the shopping|our groceries|our shopping)",
    "TODO": "(my to do list|the to do list|my todo list|my to-do list|the todo list|my task list|the task list|our to do list|my tasks|my to dos|my list of tasks|my list of things to do)",
    "ANYTODO": "(my to do list|the to do list|my todo list|my to-do list|my task list|my list|the list|our list|my tasks)",
    "NAMED": "(my {list} list|the {list} list|our {list} list|my {list} list|the list called {list}|the list named {list}|my list called {list})",
    "OWN": "(my {list} list|the {list} list|our {list} list)",  # where the name must end before what follows it
    "STORE": "(the store|the supermarket|the shop|the grocery store|the shops|the market)",
}


def lines(patterns):
    out = []
    for p in patterns:
        for k in ("ANYTODO", "SHOPS", "SHOP", "GROC", "TODO", "NAMED", "OWN", "STORE"):
            p = p.replace(k, MACROS[k])
        out.append(p)
    return out


ADDS = ("lists.add", "lists.add.task", "lists.add.named", "lists.more", "lists.more.task", "lists.more.named")
READS = ("lists.read", "lists.read.task", "lists.read.named", "lists.read.other", "lists.read.again")
REMOVES = ("lists.remove", "lists.remove.task", "lists.remove.named", "lists.remove.that", "lists.undo")

INTENTS = [
    Intent(
        "lists.add", weight=3,
        patterns=lines([
            "add {items} to SHOP", "add {items} to SHOP", "add {items} to GROC", "(put|write|get|place|stick|pop) {items} (on|onto) SHOP", "(throw|chuck|toss|jot|note|enter) {items} (on|onto|down on) SHOP", "put {items} down on SHOP",
            "include {items} (in|on) SHOP", "put {items} in with GROC",
            "add {items}", "add {items} [to buy]", "add {items} for me to buy", "add to SHOP {items}", "put on SHOP {items}", "on SHOP put {items}", "on SHOP add {items}", "to SHOP add {items}", "SHOPS add {items}",
            "(shopping list|grocery list) {items}", "(shopping list|grocery list|groceries) add {items}",
            "{items} (to|on|onto) SHOP", "{items} for SHOPS", "for SHOPS {items}", "{items} go on SHOP", "{items} on the list please", "{items} should (be|go) on SHOP", "{items} (must|has to|have to|needs to|need to) go on SHOP",
            "can {items} go on SHOP", "i want {items} on SHOP", "i'd like {items} on SHOP", "i need {items} on SHOP",
            "buy {items}", "(get|grab|pick up|fetch) {items}", "(get|grab|pick up|buy|fetch) {items} (at|from) STORE", "i need {items}", "we need {items}", "need {items}", "i need {items} from STORE", "we need {items} from STORE",
            "i need to (buy|get|pick up|grab) {items}", "we need to (buy|get|pick up|grab) {items}",
            "(i have|we have|i've got|we've got|i gotta|we gotta) to (buy|get|pick up) {items}", "i (must|should|want to) (buy|get) {items} at STORE", "we (must|should|ought to) (buy|get|pick up) {items}",
            "we could (use|do with) {items}", "i could use {items}", "let's (buy|get|add) {items}", "i want to buy {items}", "i'd like to buy {items}",
            "(we're|we are|i'm|i am) out of {bare}", "(we're|i'm) (all|almost|nearly|completely|totally|just about) out of {bare}", "out of {bare}", "we (ran|run|have run|just ran) out of {bare}", "we've run out of {bare}",
            "i ran out of {bare}", "i've run out of {bare}", "(we're|i'm|we are) (running|getting) (low|short) on {bare}",
            "(we're|i'm) (low|short) on {bare}", "low on {bare}", "running out of {bare}", "we're running out of {bare}", "we will soon be out of {bare}", "the {mass} is running out", "the {plural} are running out",
            "there's no {mass} left", "there is no more {mass}", "there's no more {mass} in the (fridge|house|kitchen|cupboard)", "there are no {plural} left",
            "no more {bare} (left|in the house|in the fridge)", "we have no {bare} [left|anymore]", "we don't have any {bare} [left|anymore]", "we haven't got any {bare} [left]", "i don't have any {bare} left",
            "there isn't any {mass} left", "there aren't any {plural} left", "there's hardly any {mass} left", "there are hardly any {plural} left", "we have hardly any {bare} left",
            "the {mass} is (gone|empty|finished|all gone|used up|almost empty|running low|nearly gone)", "the {plural} are (gone|finished|all gone|used up|almost gone|running low)", "our {mass} is almost gone",
            "we used up [all] the {bare}", "i (just used|used|just finished|took) the last of the {mass}", "i just finished the {mass}", "i (ate|used|took) the last of the {plural}",
            "(someone|somebody|my husband|my wife|he|she) (finished|used up) [all] the {mass}", "(the kids|someone|they) (ate|finished) all the {plural}", "that was the last of the {bare}", "the last {plural} are gone",
            "we need more {bare}", "i need [some] more {bare}", "(get|buy) [some] more {bare}", "more {bare} [please]", "we need new {plural}", "time to buy {items}", "it's time to buy more {bare}",
            "don't let me forget to (buy|get|pick up) {items}", "don't let me forget {items} at STORE", "don't forget to (buy|get) {items}", "don't forget {items} (at|from) STORE", "remember to (buy|get|pick up) {items}",
            "remind me to (buy|get|pick up|grab) {items}", "remind me to (get|buy|pick up) {items} (from|at) STORE", "remind me that we need {items}", "remind me we're out of {bare}",
            "make sure (we|i) (get|buy) {items}", "help me remember to buy {items}", "i mustn't forget to buy {items}", "i can't forget to (buy|get) {items}", "next time i'm at STORE i need {items}",
            "when i go to STORE i need {items}", "while i'm at STORE i need {items}", "while we're at STORE we need {items}", "when i'm at STORE i want to get {items}", "at STORE i need {items}", "from STORE i need {items}",
            "at STORE {items}",
            "(note|write|jot|put|take) down {items}", "(put|write|note) {items} down", "put {items} down for STORE", "note {items} for GROC", "make a note that we need {items}", "make a note to buy {items}", "new item {items}",
            "new on SHOP {items}", "another thing for SHOP {items}", "one thing for SHOP {items}", "some things for SHOP {items}", "something else for SHOP {items}",
            "we're missing {bare}", "i'm missing {bare}", "{mass} is missing on SHOP", "{plural} are missing on SHOP", "i forgot {items} put (it|them|that) on SHOP", "we forgot {items} add (it|them|that) to SHOP",
            "the fridge is empty we need {items}", "for (dinner|breakfast|lunch|the cake|the party|the soup|tonight|the weekend) we need {items}", "i'm (cooking|baking) and i need {items}", "the recipe needs {items}",
            "(mom|dad|my wife|my husband|the baby|the cat|the dog) needs {items}", "(the kids|they) need {items}", "(the kids|they) want {items} from STORE", "{items} to buy", "to buy {items}", "things to buy {items}",
            "shopping {items}", "groceries {items}", "{mass} is needed", "{plural} are needed", "{items} needed", "(start|make|create|begin) a (shopping|grocery) list with {items}", "we need {items} put (it|them|that) on SHOP",
            "we need {items} so add (it|them|that) to SHOP", "we're out of {bare} add (it|them|some) to SHOP", "we're out of {bare} put (it|some|more) on SHOP", "i need {items} add (it|them) to SHOP",
            "add {items} to the things (we|i) need to buy", "add {items} to what we need from STORE", "could we get {items}", "can we get {items} (at|from) STORE", "can we buy {items}", "save {items} to SHOP",
            "update SHOP with {items}", "log {items} on SHOP",
            "oh we need {items}", "oh and we need {items}", "yeah we need {items}", "you know what we need {items}", "tell SHOP we need {items}", "SHOP needs {items}", "let me have {items} on SHOP", "i think we need {items}",
            "i think we're out of {bare}", "looks like we're out of {bare}", "looks like we need {items}", "i want some {bare} from STORE", "i should get {items}", "stock up on {bare}", "we should stock up on {bare}",
        ]),
        held=lines([
            "have {items} added to SHOP", "SHOP should have {items} on it", "SHOP is missing {bare}", "make {items} part of SHOP", "there should be {items} on SHOP", "all of the {mass} is gone", "nobody bought {bare}",
            "how about {items} for SHOP", "when we go to STORE we must get {items}", "keep {bare} in mind for STORE",
            "let {items} be on SHOP", "i'd like you to remember {items} for STORE", "the house has no {bare} left", "we will need {items} soon", "what we still need is {items}", "get {items} next time we're at STORE",
        ]),
        slots=SLOTS, call=to_list("add_to_list", "shopping"), result=added, say=say_added),
    Intent(
        "lists.add.task", weight=2.2,
        patterns=lines([
            "add {listed} to TODO", "add {listed} to TODO", "(put|write|get|place|stick|pop|note) {listed} (on|onto) TODO", "add to TODO {listed}", "put on TODO {listed}", "on TODO put {listed}", "to TODO add {listed}",
            "(to do list|todo list|task list) {listed}", "(to do list|todo list|task list|tasks) add {listed}", "{listed} (on|to|onto) TODO", "{listed} goes on TODO",
            "{listed} should be on TODO", "{listed} has to go on TODO", "i want {listed} on TODO", "i'd like {listed} on TODO", "i need {listed} on TODO", "can {listed} go on TODO", "throw {listed} on TODO", "include {listed} in TODO",
            "save {listed} to TODO", "TODO needs {listed}", "update TODO with {listed}", "for TODO {listed}", "log {listed} in TODO",
            "add {tasks} to (my list|the list)", "put {tasks} on (my list|the list|our list)", "write {tasks} on (my list|the list)", "add {tasks}", "add [a|the] task {tasks}", "add a task to {tasks}",
            "(add|create|make|set up) a (new task|task|to do|todo|to do item) {tasks}", "new task {tasks}", "new to do {tasks}", "(create|make|set up) a task to {tasks}", "task {tasks}", "to do {tasks}", "one more task {tasks}",
            "a task for me {tasks}",
            "add (a|another) (to do|todo) to {tasks}", "add to my tasks to {tasks}", "add that i (need|have) to {tasks}", "add that i (need|have) to {tasks} to TODO", "put that i have to {tasks} on ANYTODO",
            "put down that i need to {tasks}", "write down that i (have|need) to {tasks}", "write down {tasks}", "note down {tasks}", "note {tasks}", "jot down {tasks}", "take down {tasks}", "note to self {tasks}",
            "take a note {tasks}", "make a note {tasks}", "make a note to {tasks}", "make a note that i (need|have) to {tasks}", "note that i (need|have) to {tasks}", "a note for me {tasks}", "leave me a note to {tasks}",
            "remind me to {tasks}", "remind me to {tasks}", "remind me i have to {tasks}", "remind me that i (need|have) to {tasks}", "remind me i need to {tasks}", "remind me i should {tasks}", "please remind me to {tasks}",
            "remind us to {tasks}", "(add|set|create|make|put in|give me) a reminder to {tasks}", "(add|set|create) a reminder that i have to {tasks}", "(add|set|create|make) a reminder {tasks}", "reminder to {tasks}",
            "reminder {tasks}", "a reminder to {tasks}", "i need a reminder to {tasks}", "i want a reminder to {tasks}", "i'd like a reminder to {tasks}", "i need to be reminded to {tasks}", "remind me about {topic}",
            "remind me of {topic}",
            "set a reminder about {topic}", "set a reminder for {topic}", "don't let me forget {topic}", "don't let me forget about {topic}", "add {topic} to TODO", "put {topic} on TODO", "don't let me forget to {tasks}",
            "don't let me forget that i have to {tasks}", "don't forget to {tasks}", "don't let us forget to {tasks}", "remember to {tasks}", "remember that i (need|have) to {tasks}", "remember i have to {tasks}",
            "remember that i must {tasks}",
            "help me remember to {tasks}", "help me to remember to {tasks}", "help me not to forget to {tasks}", "i have to remember to {tasks}", "i need to remember to {tasks}", "i must remember to {tasks}",
            "i must not forget to {tasks}", "i mustn't forget to {tasks}", "i can't forget to {tasks}", "i shouldn't forget to {tasks}", "i don't want to forget to {tasks}", "i always forget to {tasks} remind me",
            "i keep forgetting to {tasks}", "i keep forgetting to {tasks} put it on my list",
            "i might forget to {tasks}", "i (have|need) to {tasks} put (it|that) on ANYTODO", "i (have|need) to {tasks} add (it|that) to ANYTODO", "i (have|need) to {tasks} write that down", "i (have|need) to {tasks} remind me",
            "i (must|should|gotta) {tasks} put (it|that) on ANYTODO", "i still (have|need) to {tasks} put it on ANYTODO", "i still have to {tasks} note it down", "i (need|have) to {tasks} so add it to TODO",
            "i (need|have) to {tasks} so remind me", "i have to {tasks} don't let me forget", "i (need|have) to {tasks} make a note", "we (have|need) to {tasks} put (it|that) on ANYTODO", "we should {tasks} add that to ANYTODO",
            "someone has to {tasks} put it on ANYTODO", "i promised to {tasks} put it on ANYTODO", "i promised to {tasks} remind me", "tell me to {tasks} later", "make sure (i|we) {tasks}", "make sure i remember to {tasks}",
            "remind me to {command}", "remind me to {command}", "don't let me forget to {command}", "i have to remember to {command}", "add {command} to TODO", "put {command} on TODO", "make a note to {command}",
            "i need to {command} put that on ANYTODO", "write down that i have to {command}", "make sure i don't forget to {tasks}", "be sure to remind me to {tasks}",
            "keep in mind that i have to {tasks}", "keep in mind to {tasks}", "can you remember that i need to {tasks}", "would you remind me to {tasks}", "i want to {tasks} put it on my list",
            "it's time to {tasks} put that on my list", "tasks {tasks}", "my next task is to {tasks}", "another task is to {tasks}", "my list needs {tasks}", "things to do {tasks}", "put {tasks} down as a task",
            "add {tasks} as a task", "add {tasks} as a to do", "save a reminder to {tasks}",
            "{tasks} remind me", "{tasks} don't let me forget", "{tasks} put (it|that) on my to do list", "{tasks} add that to my tasks", "{tasks} is something i have to do put it on my list", "one thing i have to do is {tasks}",
            "add {doing} to TODO", "remind me about {doing}", "don't let me forget about {doing}",
        ]),
        held=lines([
            "have {listed} added to TODO", "make {listed} part of TODO", "TODO should have {listed} on it", "there should be {listed} on TODO", "see that i don't forget to {tasks}", "let me not forget to {tasks}",
            "keep reminding me to {tasks}", "i'd forget to {tasks} so note it down", "what i still have to do is {tasks} write it down", "my tasks should have {listed}",
            "it would be bad to forget to {tasks} so remind me", "help me so i remember to {tasks}", "put in my tasks that i should {tasks}", "something i must not forget is to {tasks}",
        ]),
        slots=SLOTS, call=to_list("add_to_list", "to-do"), result=added, say=say_added),
    Intent(
        "lists.add.named", weight=1.5,
        patterns=lines([
            "add {things} to NAMED", "add {things} to NAMED", "add {things} to NAMED", "(put|write|get|place|stick|pop|jot|note) {things} (on|onto) NAMED", "add to OWN {things}", "put on OWN {things}", "on NAMED put {things}",
            "to NAMED add {things}", "NAMED add {things}", "{list} list {things}", "{list} list add {things}", "{things} to NAMED", "{things} on NAMED", "{things} should go on NAMED", "{things} for the {list} list",
            "{things} should (be|go) on NAMED", "{things} must go on NAMED", "can {things} go on NAMED", "i want {things} on NAMED", "i'd like {things} on NAMED", "i need {things} on NAMED", "we need {things} on NAMED",
            "include {things} in NAMED", "throw {things} on NAMED", "save {things} to NAMED", "NAMED needs {things}", "update NAMED with {things}", "log {things} in NAMED", "for OWN {things}", "new on OWN {things}",
            "(make|start|create|begin|open) (a new {list}|{alist}) list with {things}", "(make|start|create) a [new] list called {list} with {things}", "(make|start|create) a list named {list} and (add|put) {things} [on it]",
            "make me {alist} list with {things} on it", "don't forget {things} on NAMED", "don't let me forget {things} put (it|that) on NAMED", "i forgot {things} add (it|that) to NAMED", "we forgot {things} on NAMED",
            "another thing for OWN {things}",
            "one thing for OWN {things}", "something for OWN {things}", "write down {things} on NAMED", "write {things} down on NAMED", "note down {things} on NAMED", "OWN {things}", "i need {things} put that on NAMED",
            "i want {things} put that on NAMED", "put {things} in NAMED", "add {things} into NAMED", "in NAMED add {things}", "my {list} list is missing {things}", "let's add {things} to NAMED", "let's put {things} on NAMED",
            "remember {things} for NAMED",
            "make a note of {things} on NAMED", "add {things} to NAMED too", "also put {things} on NAMED", "also add {things} to NAMED", "i'd also like {things} on NAMED", "on the {list} list i need {things}",
            "on my {list} list i want {things}", "extend NAMED by {things}", "enter {things} on NAMED", "enter {things} in NAMED",
        ]),
        held=lines([
            "have {things} added to NAMED", "NAMED should have {things} on it", "make {things} part of NAMED", "there should be {things} on NAMED", "let {things} be on NAMED", "how about {things} for NAMED",
            "get NAMED and add {things}", "with {things} on it start {alist} list",
        ]),
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.remove", weight=1.6,
        patterns=lines([
            "(remove|delete|take|cross|strike|scratch|erase|drop|clear|check|tick|get) {gone} (off|off of) SHOP", "(remove|delete|take|erase|drop) {gone} from SHOP", "(take|cross|check|tick|strike|scratch|wipe) {gone} off SHOP",
            "take {gone} off", "(cross|check|tick|strike|scratch) {gone} off", "cross off {gone}", "check off {gone}", "tick off {gone}", "take off {gone}", "cross out {gone}",
            "(remove|delete|erase) {gone}", "(remove|delete) {gone} from GROC", "get rid of {gone} on SHOP", "off SHOP {gone}", "{gone} off SHOP", "{gone} can (come|go) off SHOP", "{gone} can be removed from SHOP",
            "SHOP remove {gone}", "shopping list remove {gone}", "from SHOP remove {gone}", "from SHOP take {gone}", "{gone} off the list", "no {bare} on SHOP please", "no need for {gone} [anymore|any more]",
            "i got {gone}", "we got {gone}", "i've got {gone} [already|now]", "we've got {gone} [already|now]", "i (already|just) (got|bought) {gone}", "i bought {gone}", "we bought {gone}", "i've bought {gone}", "i picked up {gone}",
            "we (already|just) (got|bought|picked up) {gone}", "(mom|dad|my wife|my husband|he|she|somebody) [already|just] (got|bought|picked up|brought) {gone}", "i have {gone} in the cart", "the {plural} are in the cart",
            "the {mass} is in the cart", "i put {gone} in the cart",
            "we have enough {bare}", "we've got enough {bare}", "there's enough {mass}", "there are enough {plural}", "i have enough {bare}", "we have plenty of {bare}", "we've got plenty of {bare}", "we still have {bare}",
            "we still have enough {bare}", "we still have some {bare} left", "we already have {bare}", "we have {bare} at home", "i already have {bare}", "i found some {bare} in the (cupboard|fridge|kitchen)",
            "there's still some {mass} left",
            "(we|i) don't need {gone} [anymore|any more|any longer|after all]", "(we|i) no longer need {gone}", "(we|i) don't need any {bare}", "(we|i) don't need to buy {gone} [anymore]", "you can (take|cross) {gone} off [SHOP]",
            "you can (delete|remove) {gone}", "you can (delete|remove) {gone} from SHOP", "forget [about] {gone}", "forget {gone} on SHOP", "never mind {gone}", "never mind about {gone}", "skip {gone}", "leave out {gone}",
            "leave {gone} off SHOP",
            "don't buy {gone}", "i don't want {gone} [anymore|any more|on SHOP]", "i changed my mind about {gone}", "i bought {gone} (take|cross) (it|them|that) off", "i got {gone} (take|cross) (it|them|that) off SHOP",
            "we have {bare} remove (it|them) from SHOP", "we don't need {gone} (remove|delete) that", "mark {gone} as (bought|done)", "mark {gone} off", "mark off {gone}", "{gone} (bought|done)", "got {gone}", "bought {gone}",
            "already got {gone}", "already have {bare}",
            "cancel {gone} on SHOP", "take {gone} back off SHOP", "{gone} must come off SHOP", "{gone} should not be on SHOP", "{gone} shouldn't be on SHOP", "the {mass} doesn't belong on SHOP", "the {plural} don't belong on SHOP",
            "i want {gone} off SHOP", "i'd like {gone} off SHOP", "i want you to take {gone} off SHOP", "no more {bare} on SHOP", "there should be no {bare} on SHOP", "wipe {gone} from SHOP", "strike off {gone}",
        ]),
        held=lines([
            "have {gone} removed from SHOP", "let {gone} go from SHOP", "the {mass} is no longer needed", "we won't need {gone} anymore", "SHOP can do without {bare}", "somebody has already bought {gone}", "enough {bare} at home",
            "i see we still have {bare}", "i want {gone} gone from SHOP", "make sure {bare} is not on SHOP", "please let SHOP be without {bare}",
        ]),
        slots=SLOTS, call=to_list("remove_from_list", "shopping"), result=removed, say=say_removed),
    Intent(
        "lists.remove.task", weight=1.1,
        patterns=lines([
            "(remove|delete|take|cross|strike|scratch|erase|drop|clear|check|tick) {onetask} (off|off of) TODO", "(remove|delete|erase|drop) {onetask} from TODO", "(take|cross|check|tick|strike|scratch) {onetask} off ANYTODO",
            "(cross|check|tick) off {onetask}", "mark {onetask} as (done|finished|complete|completed)", "mark {onetask} done", "mark {onetask} off TODO", "mark {onetask} as done on TODO", "check {onetask} off", "cross {onetask} off",
            "tick {onetask} off",
            "{onetask} is done", "{onetask} is finished", "{onetask} done", "the task {onetask} is done", "the task to {onetask} is done", "task done {onetask}", "{onetask} off TODO", "{onetask} can come off TODO",
            "TODO remove {onetask}", "from TODO remove {onetask}", "delete the task {onetask}", "remove the task {onetask}", "(delete|remove|cancel) the task to {onetask}",
            "i {past} cross it off", "i {past} (cross|take|check|tick) (it|that) off [ANYTODO]", "i've {done} (cross|take|check|tick) (it|that) off [ANYTODO]", "i already {past} take it off ANYTODO", "i already {past}",
            "i've already {done}", "i just {past} cross that off", "i've just {done} take it off the list", "i have {done} so cross it off", "i {past} so you can take it off", "we {past} cross it off",
            "we've {done} cross it off ANYTODO", "i {past} remove it from TODO", "i {past} delete the task",
            "i {past} you can delete it from TODO", "i'm done {doing}", "i'm finished {doing}", "i finished {doing}", "i've finished {doing}", "done {doing}", "finished {doing}", "i'm done {doing} cross it off", "cross off {doing}",
            "i managed to {onetask} cross it off", "i don't (have|need) to {onetask} [anymore|any more|any longer]", "we don't (have|need) to {onetask} [anymore|any more]", "i no longer (have|need) to {onetask}",
            "no need to {onetask} [anymore|any more]",
            "get rid of {onetask} on TODO", "i took care of it {onetask} is done", "my husband {past} so cross it off", "my wife {past} so take it off ANYTODO", "{doing} is done", "{onetask} take it off ANYTODO", "{onetask} cross it off",
        ]),
        held=lines([
            "have {onetask} removed from TODO", "i have managed to {onetask} so mark it as done", "let {onetask} go from TODO", "{onetask} is no longer something i have to do", "see {onetask} as done",
            "i was able to {onetask} check it off", "i want {onetask} gone from TODO", "i'm through with {doing} so take it off",
        ]),
        slots=SLOTS, call=to_list("remove_from_list", "to-do"), result=removed, say=say_removed),
    Intent(
        "lists.remove.named", weight=0.7,
        patterns=lines([
            "(remove|delete|take|cross|strike|scratch|erase|drop|check|tick) {onething} (off|off of) NAMED", "(remove|delete) {onething} from NAMED", "(remove|delete|take) the {onething} from NAMED",
            "(take|cross|check|tick) {onething} off NAMED", "take the {onething} off NAMED", "cross off {onething} on NAMED", "{onething} off NAMED", "{onething} can come off NAMED", "NAMED remove {onething}",
            "{list} list remove {onething}", "from NAMED remove {onething}",
            "get rid of {onething} on NAMED", "i don't need {onething} on NAMED", "i don't want {onething} on NAMED [anymore]", "i packed the {onething} take it off NAMED", "i got {onething} cross it off NAMED",
            "i've got {onething} take it off NAMED", "i have {onething} remove it from NAMED", "i bought {onething} cross it off NAMED", "mark {onething} as done on NAMED", "{onething} shouldn't be on NAMED", "no {onething} on NAMED",
            "you can take {onething} off NAMED",
            "off OWN {onething}", "forget {onething} on NAMED", "wipe {onething} off NAMED", "i want {onething} off NAMED", "we don't need {onething} on NAMED", "{onething} must come off NAMED", "leave {onething} off NAMED",
        ]),
        held=lines(["have {onething} removed from NAMED", "let {onething} go from NAMED", "i want {onething} gone from NAMED", "make sure {onething} is not on NAMED"]),
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.read", weight=1.7,
        patterns=lines([
            "what's on SHOP", "what is on SHOP", "what's on SHOP [right now|at the moment|so far]", "what do (i|we) have on SHOP", "what have (i|we) got on SHOP", "what does SHOP say", "what did (i|we) put on SHOP", "what's in SHOP",
            "(read|show|tell|give) me SHOP", "(read|show|check|list|open|pull up|bring up|display) SHOP", "read (out|back) SHOP", "read SHOP (out|aloud|to me|back to me|out loud)", "read me what's on SHOP", "tell me what's on SHOP",
            "let me hear SHOP", "let me see SHOP", "i want to (hear|see) SHOP", "i need SHOP", "i'd like to hear SHOP", "go over SHOP [with me]", "go through SHOP [with me]", "list everything on SHOP", "list the items on SHOP",
            "name the things on SHOP", "say SHOP", "shopping list", "grocery list", "shopping list please", "the shopping list please", "(shopping|grocery) list read", "read groceries", "my groceries please", "groceries list please",
            "what do (i|we) need [to buy|to get|to pick up]", "what do (i|we) need (from|at) STORE", "what do (i|we) have to (buy|get|pick up)", "what should i (buy|get|pick up) [at STORE]", "what should i get from STORE",
            "what am i supposed to (buy|get|pick up)", "what are we out of", "what did we run out of", "what are we missing", "what groceries do (we|i) need", "what groceries are on the list", "what shopping do we need",
            "which things do we need from STORE", "what items are on SHOP", "which items are on SHOP",
            "what things are on SHOP", "what's left on SHOP", "what is still on SHOP", "what's missing from the kitchen", "do (i|we) need to (buy|get) anything", "do (i|we) need anything (from|at) STORE", "do we need anything",
            "do we need any groceries", "is there anything (to buy|i need to buy|we need)", "is there anything on SHOP", "is there something on SHOP", "anything on SHOP", "anything to buy", "anything we need from STORE",
            "are we out of anything",
            "is SHOP empty", "is there a shopping list", "how many (things|items) are on SHOP", "how long is SHOP", "how much is on SHOP", "is {one} on SHOP", "is {one} already on SHOP", "are {plural} on SHOP",
            "are {plural} already on SHOP", "is there [any] {one} on SHOP", "do we have {one} on SHOP", "do i have {one} on SHOP", "did (i|we) (put|write) {one} on SHOP", "did (i|we) add {one} [to SHOP]", "did you add {one} [to SHOP]",
            "did you put {one} on SHOP", "have i put {one} on SHOP",
            "have (i|we) added {one} to SHOP", "do (we|i) need {one}", "do (we|i) need [any] {one} from STORE", "do (we|i) need to (buy|get) {one}", "do we still need {one}", "do i have to (buy|get) {one}", "are we out of {one}",
            "is {one} missing on SHOP", "check if {one} is on SHOP", "check whether {one} is on SHOP", "look if {one} is on SHOP", "tell me if {one} is on SHOP", "check SHOP for {one}", "i'm at STORE what do i need",
            "i'm at STORE what's on the list", "i'm going to STORE what do we need",
            "i'm going to STORE do we need anything", "i'm going shopping what do we need", "i'm about to go shopping read me the list", "i'm in STORE read me the list", "i forgot what i need to buy", "i forgot what's on SHOP",
            "i can't remember what's on SHOP", "remind me what's on SHOP", "remind me what i need to buy", "remind me what we need from STORE", "what was on SHOP again", "what was i going to buy", "what else do we need [from STORE]",
            "what else is on SHOP", "SHOP contents", "contents of SHOP", "items on SHOP", "status of SHOP",
        ]),
        held=lines([
            "what have i put down to buy", "give me the things on SHOP one by one", "how does SHOP look", "what would you say is on SHOP", "which groceries are missing", "i need to know what's on SHOP",
            "can i hear what we need to buy", "SHOP what does it say", "see if {one} is on SHOP", "have we got {one} on SHOP already", "is it {one} that we need", "tell me everything we need to buy",
        ]),
        slots=SLOTS, call=to_list("read_list", "shopping"), result=read, say=say_read),
    Intent(
        "lists.read.task", weight=1.2,
        patterns=lines([
            "what's on TODO", "what is on TODO", "what's on TODO (right now|today|at the moment)", "what do i have on TODO", "what have i got on TODO", "what does TODO say", "what did i put on TODO", "what's in TODO",
            "(read|show|tell|give) me TODO", "(read|show|check|list|open|pull up|bring up|display) TODO", "read (out|back) TODO", "read TODO (out|aloud|to me|back to me|out loud)", "tell me what's on TODO", "let me hear TODO",
            "let me see TODO", "i want to hear TODO",
            "go over TODO [with me]", "go through TODO [with me]", "list everything on TODO", "list my tasks", "what are my tasks", "what are my to dos", "to do list", "to do list please", "todo list", "tasks please", "my tasks",
            "my to dos", "task list",
            "what do i (have|need) to do", "what do i have to do today", "what do i still have to do", "what do we (have|need) to do", "what should i do today", "what am i supposed to do", "what tasks do i have", "what tasks are left",
            "which tasks are left", "what's left to do", "what is there to do", "what is still to do", "what's my next task", "what jobs do i have to do", "what do i need to get done", "what must i do today", "what did i want to do",
            "what did i have to do again", "what was i supposed to do", "what was i going to do",
            "do i have (anything|something) to do", "do i have any tasks [left]", "do i have to do anything [today]", "do i need to do anything [today]", "is there anything (left to do|i have to do|on TODO)",
            "is there something i have to do", "anything to do", "anything on TODO", "any tasks", "any tasks left", "any to dos", "am i done with my tasks", "is TODO empty", "how many tasks do i have", "how many things are on TODO",
            "how many tasks are left", "how long is TODO", "how much is left on TODO",
            "is {onetask} on TODO", "is {onetask} already on TODO", "do i have {onetask} on TODO", "did i put {onetask} on TODO", "did i add {onetask} to TODO", "do i [still] have to {onetask}", "do i still need to {onetask}",
            "was i supposed to {onetask}", "did i want to {onetask}", "did i have to {onetask}", "check if {onetask} is on TODO", "what have i not done yet", "what haven't i done yet",
            "i forgot what i have to do", "i can't remember what i have to do", "remind me what i have to do", "remind me what's on TODO", "remind me of my tasks", "what else do i have to do", "what else is on TODO",
            "what did i forget to do", "am i forgetting (something|anything)", "did i forget (something|anything)", "status of my tasks", "tell me my tasks", "tell me what i have to do", "tell me what i need to do today",
        ]),
        held=lines([
            "how does TODO look", "what have i put down to do", "give me my tasks one by one", "i need to know what's on TODO", "which jobs are still left for me", "can i hear what i have to do", "what would you say is on TODO",
            "tell me everything i have to do", "see if {onetask} is on TODO", "is there work left for me on TODO",
        ]),
        slots={**SLOTS, "onetask": lambda g: (lambda w: (w, [w]))(one_task(g))}, call=to_list("read_list", "to-do"), result=read, say=say_read),
    Intent(
        "lists.read.named", weight=1.0,
        patterns=lines([
            "what's on NAMED", "what is on NAMED", "what's on NAMED (right now|so far|at the moment)", "what do i have on NAMED", "what do we have on NAMED", "what have (i|we) got on NAMED", "what does NAMED say",
            "what did (i|we) put on NAMED", "what's in NAMED", "(read|show|tell|give) me NAMED", "(read|show|check|list|open|pull up|bring up|display) NAMED", "read (out|back) NAMED", "read NAMED (out|aloud|to me|back to me|out loud)",
            "tell me what's on NAMED",
            "let me hear NAMED", "let me see NAMED", "i want to (hear|see) NAMED", "go over NAMED [with me]", "go through NAMED [with me]", "list everything on NAMED", "list the items on NAMED", "{list} list please", "{list} list",
            "the {list} list please", "my {list} list", "is there anything on NAMED", "anything on NAMED", "is NAMED empty", "how many things are on NAMED", "how long is NAMED", "what's left on NAMED", "what is still on NAMED",
            "which things are on NAMED", "who is on the guest list => list=guest", "who's on my guest list => list=guest",
            "is {onething} on NAMED", "are {plural} on NAMED", "is the {onething} on NAMED", "did i put {onething} on NAMED", "did i add {onething} to NAMED", "do i have {onething} on NAMED", "check if {onething} is on NAMED",
            "check NAMED for {onething}", "what else is on NAMED", "what items are on NAMED", "remind me what's on NAMED", "i forgot what's on NAMED", "what was on NAMED again", "do we have {alist} list", "do i have {alist} list",
            "is there {alist} list", "contents of NAMED", "items on NAMED",
        ]),
        held=lines(["how does NAMED look", "what have i put down on NAMED", "i need to know what's on NAMED", "give me the things on NAMED one by one", "see if {onething} is on NAMED", "NAMED what does it say"]),
        slots=SLOTS, call=to_list("read_list"), result=read, say=say_read),
    Intent(
        "lists.clear", weight=0.8,
        patterns=lines([
            "(clear|empty|delete|erase|wipe|reset|clean|purge|clear out|clear off|empty out|wipe out|clean out|throw away|get rid of|scrap|trash|toss) SHOP", "(delete|remove|clear|erase|wipe) everything (on|from|off) SHOP",
            "(delete|remove|clear|take) all [the] (items|things|groceries) (on|from|off) SHOP", "remove (all|all of it|everything|all items) from SHOP", "take everything off SHOP", "cross everything off SHOP",
            "cross off everything on SHOP", "check everything off SHOP",
            "(start|make|begin|create) a new (shopping|grocery) list", "start SHOP (over|fresh|again|from scratch)", "start over with SHOP", "start fresh with SHOP", "let's start a new (shopping|grocery) list",
            "i need a new (shopping|grocery) list", "i want (a new|an empty|a fresh) (shopping|grocery) list", "new shopping list", "new grocery list", "a fresh shopping list please", "make SHOP empty", "wipe SHOP clean",
            "empty (shopping|grocery) list", "clear (shopping|grocery) list", "delete the whole (shopping|grocery) list",
            "delete all of SHOP", "clear all of SHOP", "i (bought|got) everything [on SHOP]", "we (bought|got) everything [on SHOP]", "i've (bought|got) everything on SHOP", "i got all the groceries",
            "i bought all the groceries clear the list", "i'm done shopping", "i'm done with the shopping", "i did the shopping clear the list", "shopping is done", "the shopping is done", "all groceries are bought",
            "i have everything on SHOP", "everything on SHOP is bought", "we don't need anything on SHOP anymore", "i don't need SHOP anymore", "forget SHOP", "forget everything on SHOP", "SHOP can be deleted", "SHOP can go",
            "SHOP should be empty", "nothing should be on SHOP",
        ]),
        held=lines(["let's have SHOP empty", "have SHOP cleared", "i want SHOP gone", "take it all off SHOP", "i want nothing on SHOP", "make it a new (shopping|grocery) list"]),
        slots=SLOTS, call=to_list("clear_list", "shopping"), result=cleared, say=say_cleared),
    Intent(
        "lists.clear.task", weight=0.6,
        patterns=lines([
            "(clear|empty|delete|erase|wipe|reset|clean|clear out|empty out|clean out|get rid of|scrap) TODO", "(delete|remove|clear|erase|wipe) everything (on|from|off) TODO", "(delete|remove|clear|cancel) all [my|the] tasks",
            "(delete|remove|clear) all [of] my to dos", "remove all tasks from TODO", "take everything off TODO", "cross everything off TODO", "cross off everything on TODO", "check everything off TODO",
            "(start|make|begin|create) a new (to do|todo|task) list", "start TODO (over|fresh|again|from scratch)",
            "start fresh with TODO", "i need a new (to do|todo|task) list", "new to do list", "new task list", "make TODO empty", "wipe TODO clean", "empty to do list", "clear task list", "delete the whole (to do|task) list",
            "delete all of TODO", "i (did|finished) everything on TODO", "i've done everything on TODO", "i'm done with all my tasks", "i finished all my tasks", "i did all my tasks", "all my tasks are done", "all tasks are done",
            "all tasks done", "everything on TODO is done", "mark all [my] tasks as done", "mark everything on TODO as done",
            "forget everything on TODO", "forget all my tasks", "i don't need TODO anymore", "TODO can go", "TODO should be empty", "delete every task", "get rid of all my tasks",
        ]),
        held=lines(["have TODO cleared", "i want TODO gone", "take it all off TODO", "i want nothing on TODO", "every task of mine is done"]),
        slots=SLOTS, call=to_list("clear_list", "to-do"), result=cleared, say=say_cleared),
    Intent(
        "lists.clear.named", weight=0.6,
        patterns=lines([
            "(clear|empty|delete|erase|wipe|reset|clean|clear out|empty out|clean out|get rid of|scrap|throw away) NAMED", "(delete|remove|clear|erase|wipe) everything (on|from|off) NAMED",
            "(delete|remove|clear) all the (items|things) (on|from|off) NAMED", "remove everything from NAMED", "take everything off NAMED", "cross everything off NAMED", "cross off everything on NAMED", "check everything off NAMED",
            "(start|make|begin|create) a new {list} list", "start NAMED (over|fresh|again|from scratch)",
            "start fresh with NAMED", "i need a new {list} list", "i want an empty {list} list", "new {list} list", "make NAMED empty", "wipe NAMED clean", "clear {list} list", "empty {list} list", "delete the whole {list} list",
            "delete all of NAMED", "i have everything on NAMED", "i'm done with NAMED", "we're done with NAMED", "everything on NAMED is done", "forget NAMED", "forget everything on NAMED", "i don't need NAMED anymore", "NAMED can go",
            "NAMED can be deleted", "NAMED should be empty",
        ]),
        held=lines(["have NAMED cleared", "i want NAMED gone", "take it all off NAMED", "i want nothing on NAMED"]),
        slots=SLOTS, call=to_list("clear_list"), result=cleared, say=say_cleared),
    # follow-ups
    Intent(
        "lists.more", weight=1.6, follows=("lists.add", "lists.more", "lists.read", "lists.remove", "lists.clear"),
        patterns=["and {items}", "also {items}", "and also {items}", "{items} too", "{items} as well", "and {items} too", "and {items} as well", "add {items}", "add {items} too", "add {items} as well", "also add {items}",
                  "and add {items}", "oh and {items}", "oh and add {items}", "plus {items}", "then {items}", "and then {items}", "add {items} to it", "add {items} to the list", "put {items} on it", "put {items} on it too",
                  "put {items} on there", "put {items} on there too", "also put {items} on it", "add {items} to that", "add {items} to that list", "add one more thing {items}", "one more thing {items}", "another thing {items}",
                  "and one more item {items}", "and we need {items}", "we also need {items}", "i also need {items}", "and i need {items}", "we need {items} too", "we need {items} as well",
                  "oh we need {items} too", "and we're out of {bare}", "we're also out of {bare}", "and more {bare}", "and some more {bare}", "and get {items}", "and buy {items}", "also get {items}", "now add {items}",
                  "okay add {items}", "then add {items}", "don't forget {items}", "and don't forget {items}", "and don't forget to buy {items}", "and remind me to buy {items}", "make that {items} too", "i forgot {items}",
                  "oh i forgot {items}", "wait also {items}", "oh yes and {items}", "yes and {items}",
                  "{items} also", "can you add {items} too", "and maybe {items}", "maybe also {items}", "actually add {items} too", "let's add {items} too", "we could use {items} too", "next item {items}", "another item {items}"],
        held=["{items} should go on there too", "and on top of that {items}", "i'd like {items} with that", "while you are at it {items} too", "and it also needs {items}", "make it have {items} too", "have {items} on it as well"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.more.task", weight=1.1, follows=("lists.add.task", "lists.more.task", "lists.read.task", "lists.remove.task", "lists.clear.task"),
        patterns=["and {tasks}", "also {tasks}", "and also {tasks}", "and to {tasks}", "and also to {tasks}", "and i have to {tasks}", "and i need to {tasks}", "i also have to {tasks}", "i also need to {tasks}", "and then {tasks}",
                  "add {tasks}", "add {tasks} too", "add {tasks} as well", "also add {tasks}", "and add {tasks}", "now add {tasks}", "oh and {tasks}", "plus {tasks}", "add {tasks} to it", "put {tasks} on it", "put {tasks} on it too",
                  "put {tasks} on there too", "add {tasks} to that list",
                  "one more thing {tasks}", "another one {tasks}", "another task {tasks}", "one more task {tasks}", "and remind me to {tasks}", "also remind me to {tasks}", "and remind me to {tasks} too",
                  "and don't let me forget to {tasks}", "and don't forget to {tasks}", "oh and remind me to {tasks}", "and another one {tasks}", "{tasks} too", "{tasks} as well", "{tasks} also", "next task {tasks}", "then {tasks}",
                  "i should also {tasks}", "i must also {tasks}", "oh i also have to {tasks}", "and that i have to {tasks}", "and i should {tasks}", "wait also {tasks}", "i forgot i have to {tasks} too", "and a reminder to {tasks}",
                  "another reminder to {tasks}"],
        held=["and on top of that {tasks}", "{tasks} should go on there too", "while you are at it remind me to {tasks} too", "and it also needs {tasks}", "the next thing i have to do is {tasks}"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.more.named", weight=0.9, follows=("lists.add.named", "lists.more.named", "lists.read.named", "lists.remove.named", "lists.clear.named"),
        patterns=["and {things}", "also {things}", "and also {things}", "{things} too", "{things} as well", "and {things} too", "add {things}", "add {things} too", "add {things} as well", "also add {things}", "and add {things}",
                  "oh and {things}", "plus {things}", "add {things} to it", "add {things} to that list", "add {things} to the list", "put {things} on it", "put {things} on it too", "put {things} on there", "put {things} on there too",
                  "now add {things}", "then add {things}", "one more thing {things}",
                  "another thing {things}", "don't forget {things}", "and don't forget {things}", "i also need {things}", "and i need {things}", "i forgot {things}", "{things} also", "oh yes and {things}", "wait also {things}",
                  "and then {things}", "let's add {things} too", "also put {things} on it"],
        held=["and on top of that {things}", "{things} should go on there too", "and it also needs {things}", "while you are at it {things} too"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.undo", weight=0.9, follows=ADDS,
        patterns=["take it off again", "take that off again", "take them off again", "take it off", "take that off", "take that back off", "remove it again", "remove it", "remove that", "remove them again", "remove that again",
                  "delete it again", "delete that again", "delete that", "undo that", "undo", "undo it", "no take that off", "no remove that", "actually take it off", "actually remove that", "actually remove it again",
                  "never mind", "never mind take it off", "never mind remove it", "no don't add that", "no don't", "don't add that", "don't add it", "i don't need it after all", "i don't need that after all",
                  "we don't need it after all", "we don't need that", "we already have that", "oh we have that already", "i changed my mind", "i changed my mind remove it", "cancel that", "no cancel that", "cancel it", "forget it",
                  "forget that", "scratch that",
                  "no wait take it off", "oh no remove that", "take that back", "wrong take it off", "that was wrong remove it", "that's wrong take it off again", "that's not right remove it", "sorry take that off",
                  "that was a mistake", "no that was a mistake", "cross it off again", "not that", "no not that"],
        held=["let's not have that after all", "i didn't want that on it", "better take it away again", "get it off again"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.remove.that", weight=1.2, follows=ADDS + READS,
        patterns=["no not {earlier}", "not {earlier}", "no not {earlier} please", "but not {earlier}", "(remove|delete|take off|cross off|drop|erase|check off|tick off) {earlier}", "(remove|delete) {earlier} again",
                  "take {earlier} off", "take {earlier} off again", "cross {earlier} off", "cross out {earlier}", "take {earlier} off it", "remove {earlier} from it", "take {earlier} off the list", "remove {earlier} from the list",
                  "remove {earlier} from that list", "delete {earlier} from it", "and remove {earlier}", "and take off {earlier}", "okay remove {earlier}", "okay take {earlier} off",
                  "actually not {earlier}", "actually remove {earlier}", "actually take {earlier} off", "no {earlier} can go", "{earlier} can go", "{earlier} can come off", "without {earlier}", "leave out {earlier}",
                  "leave {earlier} off", "skip {earlier}", "forget {earlier}", "never mind {earlier}", "you can take {earlier} off", "you can delete {earlier}", "get rid of {earlier}", "don't add {earlier}",
                  "i don't want {earlier} on it", "{earlier} done", "mark {earlier} as done", "wait not {earlier}", "oh not {earlier}", "no remove {earlier}", "no take {earlier} off", "{earlier} off"],
        held=["let {earlier} go", "i want {earlier} gone", "better without {earlier}", "no i didn't mean {earlier}", "have {earlier} removed"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.read.again", weight=1.3, follows=ADDS + REMOVES + READS + ("lists.clear", "lists.clear.task", "lists.clear.named"),
        patterns=["what else is on it", "what else is on the list", "what else is on there", "what's on it", "what's on it now", "what is on it now", "what's on the list now", "what's on there now", "what's on that list",
                  "what is on the list now", "what do i have on it now", "what do we have on it", "what do we have now", "so what's on it now", "and what's on it now", "and now what's on it", "read it", "read it to me", "read it back",
                  "read it back to me", "read it out", "read it again", "read the list", "read me the list",
                  "read the whole list", "read me the whole list", "read that list", "show me the list", "show it to me", "tell me what's on it", "let me hear it", "let me hear the list", "how does it look now",
                  "how many things are on it", "how many items are on it now", "is that everything on it", "is there anything else on it", "anything else on it", "anything else on the list", "anything else", "what else", "what's left",
                  "what's left on it", "what's still on it", "is it empty now", "is it empty", "is anything left on it", "what does it say now", "the whole list please", "give me the list", "list everything", "and what else",
                  "repeat the list", "go over it again"],
        held=["how is the list looking", "i'd like to hear all of it", "tell me everything that's on there", "so what have we got now", "and what does the list have now"],
        slots=SLOTS, call=to_list("read_list"), result=read, say=say_read),
    Intent(
        "lists.read.other", weight=0.9, follows=("lists.read", "lists.read.task", "lists.read.named", "lists.read.other"),
        patterns=["and (the|my) {other}", "and on (the|my) {other}", "what about (the|my) {other}", "and what about (the|my) {other}", "how about (the|my) {other}", "and what's on (the|my) {other}", "and (the|my) {other} too",
                  "now (the|my) {other}", "the same for (the|my) {other}", "also (the|my) {other}", "no (the|my) {other}", "no i meant (the|my) {other}", "i meant (the|my) {other}", "not that one (the|my) {other}",
                  "okay and (the|my) {other}", "and read (the|my) {other}", "now read (the|my) {other}", "and for (the|my) {other}", "then (the|my) {other}",
                  "and is there anything on (the|my) {other}", "anything on (the|my) {other}", "and show me (the|my) {other}"],
        held=["next tell me about (the|my) {other}", "let's go to (the|my) {other}", "and how does (the|my) {other} look"],
        slots=SLOTS, call=lambda v: ("read_list", {"list": v["other"]}), result=read, say=say_read),
    Intent(
        "lists.clear.it", weight=0.7, follows=ADDS + READS + ("lists.remove", "lists.remove.task", "lists.remove.named"),
        patterns=["clear it", "clear the list", "clear that list", "clear all of it", "clear it all", "empty it", "empty the list", "empty that list", "empty it out", "wipe it", "wipe it clean", "wipe the list", "erase it all",
                  "erase the list", "erase all of it", "delete everything", "delete everything on it", "delete it all", "delete all of it", "delete the list", "delete the whole list", "delete that list", "remove everything",
                  "remove everything on it", "remove everything from it",
                  "remove all of it", "remove all of them", "take everything off", "take everything off it", "take it all off", "cross everything off", "get rid of everything on it", "get rid of the list", "get rid of it all",
                  "start a new one", "start over", "start it over", "start from scratch", "clear the whole list", "okay clear it", "now clear it", "and now clear it", "i have everything clear it", "it's all done clear it",
                  "all done clear the list", "all of that is done", "i'm done with all of it", "forget the whole list", "reset it", "reset the list", "make it empty"],
        held=["i want it all gone", "have it cleared", "nothing on it should stay", "let's have it empty"],
        slots=SLOTS, call=to_list("clear_list"), result=cleared, say=say_cleared),
]
