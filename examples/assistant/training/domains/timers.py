"""Timers: several at once, with names."""
from grammar import Intent, Lexicon, adjective_duration, arguments, duration, spoken_duration

NAMES = Lexicon("""shot clock, play clock, wall clock, music lesson, song practice, light workout, list making, alarm test, candle light, pasta, eggs, egg, pizza, tea, laundry, bread, cake, rice, cookies, chicken, oven, potatoes, workout, nap, homework, soup, coffee, roast, steak, fish, dishes, washing, meeting, break,
    study, reading, meditation, plank, dough, sauce, turkey, vegetables, broccoli, beans, noodles, lasagna, muffins, pie, dryer, dishwasher, parking, shower, bath, screen time, game, piano practice,
    garden hose, barbecue, grill, ribs, spaghetti, french fries, burgers, salmon, popcorn, pancakes, waffles, yoga, stretching, run, walk, toast, tomato sauce, green tea, black tea, sourdough, casserole,
    corn, lentils, potatoes in the oven, brownies, hard boiled eggs, phone call, focus, cleaning, sprinkler, kids, dog, baby, medicine,
    lasagne, brisket, curry, stew, scones, naan, dal, biryani, sausages, bacon, fish fingers, nuggets, chips, wings, meatloaf, jam, custard, roast potatoes, sunday roast, garlic bread, cupcakes, carrots, stock, chili, tofu,
    tv, gaming, exercise, push ups, hair dye, hair mask, ironing, practice, class, quiz, soft boiled eggs, banana bread, veggies, spuds, ham, lamb, tray bake, washing machine,
    beef, pork, pork chops, pork belly, pulled pork, duck, goose, roast beef, roast chicken, pot roast, leg of lamb, lamb chops, chicken wings, drumsticks, chicken breast, schnitzel, hot dogs, bratwurst, meat, kebab, tuna,
    cod, trout, shrimp, prawns, mussels, crab, lobster, crab cakes, fish pie, calamari, seafood, cottage pie, shepherd's pie, pot pie, apple pie, pumpkin pie, pecan pie, crumble, apple crumble, cheesecake, sponge, sponge cake,
    carrot cake, fruit cake, birthday cake, pound cake, tart, lemon tart, shortbread, gingerbread, biscuits, rolls, buns, cinnamon rolls, focaccia, ciabatta, baguette, pita, brioche, challah, rye bread, corn bread,
    bread dough, pizza dough, pie crust, first rise, proofing, starter, pudding, rice pudding, mousse, meringue, fudge, caramel, toffee, jelly, marmalade, compote, gravy, bolognese, ragu, pesto pasta, macaroni, ravioli,
    tortellini, penne, linguine, couscous, quinoa, barley, oats, brown rice, sushi rice, fried rice, paella, pilaf, stir fry, wok, fajitas, tacos, burritos, enchiladas, tamales, nachos, empanadas, pierogi, pelmeni, dim sum,
    spring rolls, pho, miso soup, chowder, gumbo, broth, bone broth, chicken soup, tomato soup, pumpkin soup, minestrone, goulash, chickpeas, black beans, kidney beans, green beans, peas, asparagus, cauliflower, cabbage,
    brussels sprouts, spinach, kale, zucchini, eggplant, peppers, squash, pumpkin, beets, artichoke hearts, sweet potatoes, baked potatoes, mashed potatoes, wedges, hash browns, tater tots, fries, onion rings, sweet corn,
    corn on the cob, onions, garlic, mulled wine, cold brew, french press, hot chocolate, herbal tea, mint tea, iced tea, chai, milk, baby bottle, formula, bottles, steriliser, wine, beer, ice cream, ice, freezer, fridge,
    air fryer, slow cooker, pressure cooker, rice cooker, instant pot, dutch oven, steamer, smoker, microwave, toaster, kettle, stove, hob, bread machine, dehydrator, omelette, poached eggs, quail eggs, scrambled eggs,
    french toast, crepes, fried eggs, hollandaise, marinade, brine, pickles, sauerkraut, yogurt, jam jars, canning, candle, glue, paint, varnish, primer, plaster, cement, resin, clay, kiln, bleach, stain remover, soak,
    hand wash, delicates, towels, bedding, sheets, whites, spin cycle, rinse, iron, robot vacuum, hoover, vacuuming, mopping, dusting, tidy up, clean up, bins, weeding, sprinklers, hose, lawn, pool, pool pump, hot tub,
    steam room, ice bath, cold plunge, foot bath, nails, nail polish, toner, sheet mask, conditioner, perm, curlers, teeth whitening, brushing teeth, mouthwash, ice pack, heat pack, hot water bottle, eye drops, inhaler, pills,
    antibiotic, insulin, contractions, feeding, nursing, tummy time, diaper change, naughty step, quiet time, story time, bath time, nap time, bedtime, puppy, potty, crate training, dog training, dog walk, cat, parrot,
    tablet time, ipad, xbox, nintendo, minecraft, youtube, phone time, violin, violin practice, guitar, guitar practice, drums, flute, singing, scales, choir, dance, ballet, spelling, maths, math test, french, spanish,
    flashcards, essay, exam, revision, lab, lecture, presentation, speech, pitch, standup, stand up, interview, zoom call, sprint, deep work, writing, coding, typing, painting, drawing, sketching, pottery, knit, puzzle,
    crossword, sudoku, chess, poker, monopoly, scrabble, debate, round, sparring, boxing, hiit, tabata, squats, wall sit, burpees, sit ups, jumping jacks, kettlebell, elliptical, bike, cycling, swimming, laps, jogging,
    sprints, warm up, cool down, pilates, foam roller, breathing, savasana, prayer, power nap, siesta, lunch, lunch break, coffee break, tea break, snack, breakfast, dinner, supper, recess, bus, train, taxi, ride, pickup,
    school run, meter, parking meter, car wash, charging, charger, phone charge, battery, download, backup, render, delivery, pizza delivery, takeout, meatballs, croissants, porridge, bagels""",
                """quiche, ramen, gnocchi, laundry basket, pomodoro, risotto, dumplings, face mask, gym class, chess clock""")


FOODS = Lexicon("""pasta, eggs, egg, pizza, bread, cake, rice, cookies, chicken, potatoes, soup, roast, steak, steaks, fish, sauce, turkey, vegetables, broccoli, beans, noodles, lasagna, lasagne, muffins, pie, ribs, spaghetti, french fries,
    burgers, salmon, pancakes, waffles, tomato sauce, sourdough, casserole, corn, lentils, brownies, brisket, curry, stew, scones, naan, dal, biryani, sausages, bacon, fish fingers, nuggets, chips, wings, meatloaf, roast potatoes,
    garlic bread, cupcakes, carrots, chili, ham, lamb, apple pie, banana bread, sweet potatoes, biscuits, pork chops, veggies, leg of lamb, beef,
    apple crumble, asparagus, baked beans, baked potatoes, barley, beets, black beans, boiled eggs, bolognese, bone broth, bratwurst, bread rolls, breadsticks, brown rice, brussels sprouts, buns, burritos, butternut squash,
    cabbage, calzone, cannelloni, carrot cake, cauliflower, cheesecake, chicken breasts, chicken legs, chicken nuggets, chicken pie, chicken soup, chicken thighs, chicken wings, chickpeas, chocolate cake, chowder,
    christmas cake, cinnamon rolls, cod, corn bread, corn on the cob, cottage pie, couscous, crab cakes, crumble, custard, dinner, dinner rolls, drumsticks, duck, eggplant, enchiladas, english muffins, falafel, fish cakes,
    fish pie, flan, focaccia, fries, fruit cake, fudge, gammon, gingerbread, goulash, granola, gratin, gravy, green beans, gumbo, hamburgers, hash browns, hot dogs, hot pot, jacket potatoes, jambalaya, kidney beans,
    lamb chops, lamb shanks, lobster, macaroni, macarons, mashed potatoes, meat, meringues, mince, mince pies, moussaka, mussels, mutton, oatcakes, oats, onion rings, onions, oven chips, paella, pastries, pasties, peas,
    pecan pie, penne, peppers, pizza rolls, popcorn, pork belly, pork loin, pork ribs, pork roast, pot pie, pot roast, prawns, pretzels, profiteroles, pudding, pulled pork, pumpkin, pumpkin pie, quinoa, ravioli, rice pudding,
    roast beef, roast chicken, roast vegetables, rolls, salmon fillets, sausage rolls, schnitzel, seafood, shepherd's pie, shortbread, short ribs, shrimp, soda bread, spare ribs, spinach, sponge cake, spring rolls, squash,
    stir fry, stuffed peppers, stuffing, sweet corn, taco shells, tacos, tamales, tart, tater tots, toast, toasties, tofu, trout, tuna steaks, turkey breast, veggie burgers, vegetable lasagna, wedges, wraps,
    yorkshire puddings, zucchini, meatballs, croissants, bagels""",
                """gnocchi, samosas, parsnips, frittata, flapjacks""")


def name(g):
    w = g.word(NAMES)
    return w, w


def food(g):
    w = g.word(FOODS)
    return w, w


def activity(g):
    w = g.pick(["reading", "homework", "screen time", "piano practice", "yoga", "meditation", "study", "studying", "cleaning", "stretching", "exercise", "practice", "tv", "gaming", "walking", "quiet time", "revision", "violin practice"])
    return w, w


def count(g):
    """A bare number: the unit is that of the turn before."""
    n = g.number(2, 60) if g.chance(0.6) or g.held else g.number(5, 60, 5)
    return g.say_number(n), n


def more_time(g):
    """ "30 more seconds", "another 30 seconds" """
    unit = g.pick(["minutes"] * 7 + ["seconds"] * 2 + ["hours"])
    n = g.number(2, 60 if unit != "hours" else 6)
    if unit != "hours" and g.chance(0.3) and not g.held:
        n = g.number(5, 60, 5)
    return g.pick(["{} more {}", "{} more {}", "another {} {}", "{} extra {}"]).format(g.say_number(n), unit), {unit: n}


def other_count(g):
    """The number that was not meant."""
    return g.say_number(g.number(2, 60)), None


def other_name(g):
    return g.word(NAMES), None


SLOTS = {"dur": duration, "adj": adjective_duration, "name": name, "food": food, "act": activity, "more": more_time, "n": count, "othern": other_count, "othername": other_name}
TIME = ("hours", "minutes", "seconds")


def time_of(v):
    if "n" in v:  # "no, 20" after a timer of 10 minutes
        said = [k for k in TIME if k in v["prev"].get("args", {})]
        return {said[0] if len(said) == 1 else "minutes": v["n"]}
    return v.get("dur") or v.get("adj") or v.get("more") or {}


def named(v):
    n = v.get("name") or v.get("food") or v.get("act")
    return {"name": n} if n else {}


def timed(v):
    return {k: time_of(v)[k] for k in TIME if k in time_of(v)}


def same_name(v):
    return arguments(v["prev"].get("args", {}), "name")


def titled(v):
    return f"{v['name'][:1].upper()}{v['name'][1:]} timer" if v.get("name") else "Timer"


def left(g, v, args):
    def some():
        return spoken_duration({"minutes": g.between(1, 59), "seconds": g.between(1, 59)} if g.chance(0.6) else {"minutes": g.between(1, 45)} if g.chance(0.5) else {"seconds": g.between(1, 59)})
    if g.chance(0.12):
        return {"error": f"no {args['name']} timer" if "name" in args else "no timer running"}
    if "name" in args or g.chance(0.6):
        return {"left": some()}
    a = g.word(NAMES)
    b = g.word(NAMES)
    return {"timers": [{"name": a, "left": some()}, {"name": b, "left": some()}]}


def say_left(g, v, args, result):
    if "error" in result:
        return f"There is {result['error']}."
    if "timers" in result:
        return " and ".join(f"{t['name']} has {t['left']} left" for t in result["timers"]).capitalize() + "."
    return f"{titled(args)} has {result['left']} left." if "name" in args else f"You have {result['left']} left."


def done_or_error(g, v, args):
    if g.chance(0.1):
        return {"error": f"no {args['name']} timer" if "name" in args else "no timer running"}
    return {"ok": True}


def say_done(what):
    def say(g, v, args, result):
        if "error" in result:
            return f"There is {result['error']}."
        if args.get("all"):
            return f"All timers {what}."
        chosen = spoken_duration({k: args[k] for k in TIME if k in args})
        if chosen:
            first = chosen.split(" and ")[0]
            return f"The {first[:-1] if first.endswith('s') else first} timer is {what}."
        return f"{titled(args)} {what}."
    return say


def say_added(g, v, args, result):
    return f"There is {result['error']}." if "error" in result else f"Added {spoken_duration(args)}" + (f" to the {args['name']} timer." if "name" in args else " to the timer.")


def say_other(g, v, args, result):
    how = {"get_timer": say_left, "cancel_timer": say_done("canceled"), "pause_timer": say_done("paused"), "resume_timer": say_done("resumed"), "add_to_timer": say_added}
    return how[v["prev"].get("tool") or "get_timer"](g, v, args, result)


def say_set(g, v, args, result):
    return f"{titled(args)} set for {spoken_duration(args)}."


INTENTS = [
    Intent(
        "timers.set", weight=3,
        patterns=[
            "(set|start|make|create|begin|run|put|give me|add|launch|open|i need|i want|i'd like|get me) (a|the|another|a new|one) timer (for|of|at|to|with) {dur}",
            "{dur} timer [for] {name}", "{dur} go", "{dur} starting now", "{name} {dur}", "{dur} {food}", "{name} timer {dur} (go|please)", "set timer for [the|my] {name} {dur}", "set timer for [the|my] {name} for {dur}",
            "set [a] {name} timer {dur}", "start [a] {name} timer {dur}", "set a {dur} timer", "need a timer for {dur}", "need a {adj} timer", "want a timer for {dur}", "i want a timer {dur}", "put (a|the) timer on {dur}",
            "put timer {dur}", "put timer for {dur}", "make timer {dur}", "give me (a|an) {adj} countdown", "give me a countdown of {dur}", "i would like a timer for {dur}", "i would like a {adj} timer",
            "let me know when {dur} (has passed|is over|has gone by|is done|are over|is finished)", "let me know once {dur} (has passed|have passed|is up|are up)", "(tell|warn) me when {dur} (is|are) up",
            "(shout|call me|give me a shout|ping me|buzz me|beep) when {dur} (is|are) up", "when {dur} (is|are) up (tell me|let me know|beep|give me a shout)", "(poke|nudge|prod|shout at|holler at|remind) me (in|after) {dur}",
            "give (me|us) a (shout|nudge|poke|buzz|ping|holler|ring) in {dur}", "(stick|pop|chuck|bung|throw|whack|sling|slap|get) (a|the) timer on for {dur}", "(stick|pop|chuck|bung|whack) {dur} on the (timer|clock)",
            "(stick|pop|bung|throw) on a timer for {dur}", "(stick|pop|throw) on a {adj} timer", "start another timer this one for {dur}", "another timer this time for {dur}", "and a separate timer for {dur}",
            "a separate timer for {dur}", "i'm putting the {food} in [now] give me {dur} [on the clock]", "i'm putting the {food} in [now] set a timer for {dur}",
            "i've (just|) put (the|some) {food} (in|on) (set|start) a timer for {dur}", "i just put (the|some) {food} (in|on) (set|start) a timer for {dur}", "i just put the {food} in the oven {dur} please",
            "i've got {food} in the oven (set|start) a timer for {dur}", "i've put some {food} on could i have (a timer for {dur}|a {adj} timer)", "i've put the {food} in give me {dur}", "putting the {food} in now {dur}",
            "the {food} just went in {dur} [please]", "the {food} (is|are) in give me {dur}", "the {food} (is|are) in the oven set a timer for {dur}", "{food} (in|is in|are in) the oven {dur}", "{food} just went in {dur} [timer]",
            "{food} in {dur} timer", "{food} on the stove {dur} timer", "i'm cooking {food} (give me|i need|set) {dur}", "i'm making {food} (give me|i need) {dur}", "my {name} (needs|need) {dur}",
            "(set|start|make|create|put on|begin) (a|another|a new) {adj} timer",
            "(i need|i want|give me|i'd like|get me|we need|let me have) (a|another) {adj} timer",
            "timer {dur}", "timer for {dur}", "{dur} timer", "{adj} timer", "timer on for {dur}", "new timer {dur}", "new timer for {dur}", "{dur} on the timer", "{dur} on the clock",
            "set timer [for|to] {dur}", "start timer [for] {dur}", "start the timer for {dur}", "timer set [for|to] {dur}", "a timer for {dur}", "a {adj} timer",
            "set (a|the) timer to go off in {dur}", "set (a|the) timer to ring in {dur}", "(tell|warn|alert|ping|beep|buzz|notify|call) me (in|after) {dur}", "let me know (in|after|when) {dur} [have passed|are up|are over|is up|have gone by]",
            "count down {dur}", "count down from {dur}", "start a countdown (of|for|from) {dur}", "countdown {dur}", "begin a {adj} countdown", "do a {adj} countdown",
            "time {dur}", "time me for {dur}", "start counting {dur}", "(ring|go off|make a sound|beep) in {dur}", "give me {dur}", "give me a heads up in {dur}", "remind me in {dur}", "set {dur}", "set a reminder (in|for) {dur}",
            "can you time {dur} for me", "how about a timer for {dur}", "i have to leave in {dur} set a timer", "wake me in {dur}", "wake me up in {dur}", "wake me up after {dur}", "i want to nap for {dur}",
            "set the kitchen timer (for|to) {dur}", "set the oven timer (for|to) {dur}", "set a cooking timer for {dur}", "keep track of {dur}", "measure {dur}", "set a clock for {dur}", "set the clock for {dur}",
            "set a time for {dur}", "timer please {dur}", "put {dur} on the timer", "put {dur} on the clock", "put a timer on for {dur}", "put the timer on for {dur}", "let the timer run for {dur}", "run the timer for {dur}",
            "set it to {dur}", "can i have a timer for {dur}", "can i get a {adj} timer", "may i have a timer of {dur}", "could i have {dur} on the timer", "do {dur}", "make it {dur} on the timer",
            "in {dur} (tell me|let me know|ring|beep|remind me)", "after {dur} (tell me|let me know|ring|beep)", "let a timer run {dur}", "turn on a timer for {dur}", "turn on a {adj} timer", "use a timer for {dur}", "activate a timer for {dur}",
            # named
            "(set|start|make|create|add) (a|the|another|a new) {name} timer (for|of|to) {dur}", "(set|start|make|create) (a|another) {adj} timer for [the|my|some] {name}",
            "(set|start|make|create|add) (a|another|a new) timer (called|named|labeled|with the name|for [the|my|some]) {name} (for|of|at) {dur}", "(set|start|make) a timer for {dur} (called|named|labeled|for [the|my|some]|and call it|and name it|with the name) {name}",
            "{name} timer {dur}", "{name} timer for {dur}", "{dur} for [the|my] {name}", "timer for [the|my] {name} {dur}", "timer for [the|my] {name} for {dur}", "{dur} timer for [the|my] {name}", "a {name} timer for {dur} please",
            "(time|watch) (the|my) {name} for {dur}", "the {name} (needs|need|takes|take|must cook|should cook|has to cook|have to cook|wants) {dur}", "remind me about the {name} in {dur}", "in {dur} remind me about the {name}", "remind me in {dur} about the {name}",
            "(tell|warn|alert) me (about|when) the {name} in {dur}", "i need a timer for (the|my|some) {name} [of|for] {dur}", "i need {dur} for the {name}", "the {name} will be ready in {dur}", "the {name} is in the oven for {dur}",
            "i put the {name} in the oven set a timer for {dur}", "i'm making {name} set a timer for {dur}", "i'm boiling {name} for {dur}", "put {dur} on the {name} timer", "set {dur} for the {name}", "give the {name} {dur}", "start {dur} for {name}",
            "start the {name} timer for {dur}", "let me know when the {name} (is|are) done in {dur}", "boil the {name} for {dur}", "cook the {name} for {dur}", "bake the {name} for {dur}", "set the {name} timer to {dur}", "set a {adj} {name} timer", "start a {adj} {name} timer",
            "another timer for the {name} {dur}", "also a timer for {name} {dur}", "and {dur} for the {name}", "and a {name} timer for {dur}", "a second timer for {dur}", "another {adj} timer", "another timer {dur}", "one more timer for {dur}",
            "time my {name} for {dur}", "time the {name} {dur}", "(start|set) timing {dur}", "count {dur} [for me]", "count down {dur} for [the|my] {name}", "start counting down [from] {dur}", "countdown for {dur}", "{adj} countdown",
            "{dur} countdown", "countdown timer {dur}", "run a {adj} timer", "run a timer for {dur}", "start {dur}", "start {dur} now", "begin {dur}", "go for {dur}", "{dur} please", "{dur} on the {name} timer",
            "{dur} on the clock for [the|my] {name}", "{dur} till the {food} (is|are) (done|ready)", "{dur} until the {food} (is|are) (done|ready)", "{dur} before i (check|turn) it", "{dur} of {act}", "set a timer for {dur} of {act}",
            "timer for {dur} of {act}", "i'm doing {dur} of {act}", "i want to do {dur} of {act}", "{act} for {dur} set a timer", "the kids (get|have|are allowed) {dur} of {act} set a timer",
            "we're (allowed|having) {dur} of {act} start a timer", "the {food} (comes|come) out in {dur}", "the {food} should come out in {dur} set a timer", "the {food} (is|are) done in {dur} set a timer",
            "don't let me burn the {food} [set a timer for] {dur}", "don't let the {food} burn {dur} timer", "i always burn the {food} [so] set a timer for {dur}", "i keep forgetting the {food} [so] set a timer for {dur}",
            "make sure i don't forget the {food} in {dur}", "don't let me forget the {name} in {dur}", "let me know about the {name} in {dur}", "let me know in {dur} about the {name}", "check back with me in {dur}",
            "check back in {dur}", "get back to me in {dur}", "say when {dur} is up", "say something (in|after) {dur}", "i need to know when {dur} (is|are) up",
            "can you tell me when {dur} (has passed|is up|have passed)", "i only have {dur} set a timer", "i've only got {dur} put a timer on", "i've got {dur} set a timer", "we've got {dur} start the (clock|timer)",
            "i have to go in {dur} set a timer", "we have to leave in {dur} set a timer", "we need to be out of here in {dur} set a timer", "the meter runs out in {dur} set a timer", "you've got {dur} starting now",
            "start the (clock|countdown) {dur}", "start the clock for {dur}", "ready set go {dur}", "make me a timer for {dur}", "make me a {adj} timer", "do (me|us) a timer for {dur}", "do a {adj} timer", "do a timer for {dur}",
            "get a timer on for {dur}", "could i get a timer for {dur}", "could you do a timer for {dur}", "could you do me a {adj} timer", "could we have a {adj} timer", "may i have a {adj} timer", "it's timer time {dur}",
            "timer {dur} (starting now|go|now|please)", "timer {dur} for [the|my] {name}", "timer {name} {dur}", "timer for {name} {dur}", "timer called {name} {dur}", "timer called {name} for {dur}",
            "a timer called {name} for {dur}", "a timer of {dur}", "timer of {dur}", "keep a timer for {dur}", "keep a timer of {dur}", "keep {dur} timer", "give timer for {dur}", "start one timer for {dur}",
            "put one timer for {dur}", "put {dur} timer", "make a {dur} timer", "make it ring in {dur}", "have it beep in {dur}", "start a {name} timer for {dur}", "create a timer {dur} {name}", "new {name} timer {dur}",
            "new {name} timer for {dur}", "new timer {dur} for [the|my] {name}", "new {adj} timer", "one {adj} timer", "one {adj} timer for [the|my] {name}", "a {adj} timer for [the|my] {name}", "{adj} timer for [the|my] {name}",
            "{adj} {name} timer", "i'd like a {name} timer for {dur}", "i need a {name} timer for {dur}", "i want a {adj} {name} timer", "can i have {dur} for [the|my] {name}", "give me {dur} for [the|my] {name}",
            "give the {name} timer {dur}", "{name} needs {dur}", "{name} for {dur}", "{name} takes {dur}", "{name} timer at {dur}", "{name} timer to {dur}"],
        held=[
            "get a timer going for {dur}", "have a timer ready for {dur}", "fire up a {adj} timer", "i could use a timer for {dur}", "let's have a {adj} timer", "kick off a timer for {dur}", "would a timer for {dur} be possible",
            "give me a timer that runs {dur}", "get a {adj} timer started", "timer of {dur} starting now", "have the timer ring in {dur}", "throw a timer on for {dur}", "please time me {dur}",
            "kick off a {name} timer for {dur}", "the {name} should be done in {dur} set a timer", "timer called {name} of {dur}", "start timing the {name} for {dur}", "get the {name} timer going with {dur}", "i need to take the {name} out in {dur}",
        ],
        slots=SLOTS, call=lambda v: ("set_timer", {**timed(v), **named(v)}), say=say_set),
    Intent(
        "timers.cancel", weight=1.3,
        patterns=[
            "(cancel|stop|delete|kill|end|clear|remove|turn off|shut off|drop|switch off|quit|abort|erase|dismiss|get rid of|forget|silence) (the|my|that|this) timer", "(cancel|stop|end|delete) timer", "timer off", "stop the timer it's done",
            "(cancel|stop|kill|scrap|end) that timer", "timer (stop|cancel|done|over|finished)", "{name} timer (off|stop|cancel|done)", "{adj} timer (off|stop|cancel)", "shut (that|the|my) timer (off|up)",
            "turn (that|this|my) timer off", "(scrap|ditch|nix|bin|axe|lose|can|dump|wipe|chuck|quit) (the|my|that) timer", "(scrap|ditch|nix|bin|axe|lose|dump|wipe|kill) (the|my) {name} timer",
            "(scrap|ditch|nix|bin|axe|dump|kill) (the|my) {adj} timer", "(cancel|stop|delete|kill|scrap) (the|my|that) {dur} timer", "forget the timer the {name} (is|are) (done|ready) [already]",
            "(cancel|stop|kill) the timer the {name} (is|are) (done|ready|finished) [already]", "(cancel|stop|scrap) the {name} timer (it's|they're) (done|ready) [already]", "stop the timer i'm (done|finished)", "stop beeping",
            "stop (that|the) beeping", "(get rid of|cancel|stop|kill|delete) every timer (that's running|that's going|i have|i've got|i set) => all=true", "(cancel|stop|kill|scrap) all timers [at once] => all=true",
            "(cancel|stop|kill|end|delete) both timers => all=true", "(cancel|stop|kill|end) (both|both of) (my|the) timers => all=true", "all timers (off|stop|gone|cancel) => all=true", "timers off => all=true",
            "cancel timers => all=true", "stop timers => all=true",
            "(cancel|stop|delete|kill|end|clear|remove|turn off|drop|abort|dismiss|get rid of|forget) (the|my) {name} timer", "(cancel|stop|end|delete|remove) {name} timer", "(cancel|stop|delete|end|remove|forget) the timer (for|called|named) [the|my] {name}",
            "(cancel|stop|delete|kill|end|clear|remove|turn off|drop) (the|my) {adj} timer", "(cancel|stop|delete) {adj} timer", "(cancel|stop|delete|remove) the timer for {dur}", "(kill|end|clear|drop|erase|scrap|cancel|remove|delete) my timer for {dur}", "(cancel|stop|end|remove|delete|drop) the timer (of|that runs|that's set for|that was for|with) {dur}", "i don't need the {name} timer [anymore|any more|any longer]", "i don't need the timer [anymore|any more]",
            "(cancel|stop|delete|kill|end|clear|remove|turn off|drop|erase|get rid of) (all|all the|all my|every|all of my|all of the) (timers|timer) => all=true", "(cancel|stop|clear|delete|remove) (every timer|all timers|everything on the timer|the timers|my timers) => all=true",
            "no more timers => all=true", "i'm done with the timer", "i'm done with the {name} timer", "the {name} is done stop the timer", "the {name} is ready cancel the timer", "never mind the timer", "never mind the {name} timer", "forget about the {name} timer", "forget about the timer",
            "take the {name} timer off", "make the timer stop", "make the timer shut up", "shut up the timer", "turn the timer off", "turn the {name} timer off", "switch the timer off", "the timer can stop", "the {name} timer can go", "no timer please", "please no {name} timer",
            "reset the timers => all=true", "wipe all timers => all=true", "turn all timers off => all=true", "stop the countdown", "cancel the countdown", "end the countdown", "you can stop the {name} timer now", "you can delete the timer",
            "(ditch|nix|bin|scrap|wipe|axe) (all|all the|all my|every) (timers|timer) => all=true", "all the timers can (go|stop) => all=true", "(switch|shut) all (the|my) timers off => all=true",
            "get rid of all (the|my) timers => all=true", "get rid of the whole lot of timers => all=true", "i don't need any timers [anymore|any more] => all=true", "i don't need any of (the|my|those) timers [anymore] => all=true",
            "no timers please => all=true", "enough with the timers => all=true", "silence every timer => all=true", "i don't need the {adj} timer [anymore|any more|any longer]", "i don't need the {dur} timer [anymore|any more]",
            "i don't need that timer [anymore|any more|now]", "i don't need a timer [anymore|any more|after all|now]", "i don't want the timer [anymore|any more|after all]", "i no longer need (the|that) timer",
            "i no longer need the {name} timer", "don't need the timer [anymore]", "don't need the {name} timer [anymore]", "no need for the timer [anymore|now]", "no need for the {name} timer [anymore|now]", "the timer's done",
            "the timer is ringing (turn it off|make it stop|stop it)", "the timer is going off (turn it off|make it stop|stop it)", "the {name} timer is (ringing|going off) (turn it off|stop it)", "make that beeping stop",
            "make the beeping stop", "turn that beeping off", "turn off the beeping", "okay okay timer off", "that's enough timer", "enough timer stop", "shush timer", "quiet timer", "make the {name} timer stop",
            "shut the {name} timer up", "shut off the {name} timer", "take off the timer", "take the timer off", "stop timing", "stop timing the {name}", "stop timing me", "stop counting", "stop counting down",
            "stop the {name} countdown", "cancel my countdown", "abort the countdown", "dismiss timer", "dismiss the {name} timer", "undo the timer", "undo the {name} timer", "you can cancel the timer [now]",
            "you can stop the timer [now]", "you can cancel the {name} timer [now]", "the {name} (is|are) (done|ready|out) [you can] (stop|cancel|kill) the timer", "i took the {food} out (stop|cancel) the timer",
            "the {food} (is|are) burnt (cancel|stop|forget) the timer", "we're not having {food} [anymore] cancel the timer", "i'm not making {food} [anymore|after all] cancel the timer",
            "i changed my mind about the {name} cancel the timer", "(i set|that was) the wrong timer cancel it", "wrong timer cancel it", "(remove|delete|drop|cancel) the one for [the|my] {name} the timer i mean",
            "the {name} timer isn't needed [anymore]", "the timer isn't needed [anymore]", "we don't need the {name} timer [anymore]", "we don't need the timer [anymore]", "close the timer", "close the {name} timer", "off the timer",
            "please to stop the timer", "finish the timer", "finish the {name} timer"],
        held=["please scrap the {name} timer", "call off the timer", "call off the {name} timer", "take away all my timers => all=true", "i no longer need the {adj} timer", "let go of the {name} timer", "scrap all timers => all=true", "i want the {name} timer gone"],
        slots=SLOTS, call=lambda v: ("cancel_timer", {**timed(v), **named(v), **arguments(v, "all")}), result=done_or_error, say=say_done("canceled")),
    Intent(
        "timers.left", weight=1.3,
        patterns=[
            "how (much time|long) (is|'s|do i have|have i got|do we have|remains|is there) left [on the timer|on my timer|on it|on the clock]", "how (much time is|long is) left on the {name} timer", "how (much longer|much more time|long) (for|until|till|on) the {name} [timer] [is done|is ready|goes off]",
            "how (long|much time|much longer) [is] left", "how long's left [on the timer|on my timer|on it]", "how long left on [the|my] {name} [timer]",
            "how (long|much time) [is|have i got|do i have] left (on|for) [the|my] {name} [timer]", "how long on [the|my] {name} [timer]", "how much longer for [the|my] {name}", "{name} timer how (long|much) [left|longer]",
            "{name} how (long|much) (left|longer)", "{name} time left", "{name} timer (left|remaining|time left|check)", "time (left|remaining) on [the|my] {name} [timer]",
            "(is|are) the {name} (nearly|almost|about) (done|ready|finished)", "is the {name} timer (nearly|almost|about) (done|finished|up|over|there)", "is the timer (nearly|almost) (done|finished|up|over)",
            "is the {name} timer (done|up|over|finished) [yet]", "has the timer (finished|gone off|run out|ended|stopped) [yet]", "has the {name} timer (finished|gone off|run out|ended) [yet]",
            "did (the|my) timer (go off|finish|end|run out)", "did (the|my) {name} timer (go off|finish|end)", "what timers do i have (running|on|going|set)", "what timers have i got [on|running|going]",
            "which timers have i got (on|running|going)", "are any timers (on|running|going)", "any timers (running|on|going|set)", "(what's|what is) running on the timer", "timer how long", "timer left", "timer check", "check timer",
            "check timers", "how long to go [on the timer]", "how long to go (on|for|with) the {name}",
            "how (much longer|long) (for|on) the timer", "how (much longer|long) until the timer (goes off|rings|ends|is done)", "(check|show|read|tell me|give me) (the|my) timer", "(check|show|read|tell me) (the|my) {name} timer", "(check|show|list|read|tell me|what are) (my|the|all my|all the) timers", "what timers do i have", "what timers are (running|on|set|active)", "which timers are (running|on|set|active)",
            "what's left on the {name} timer", "what's left on the timer", "what's on the timer", "time left", "time left on {name}", "time remaining", "time remaining on the {name} timer", "remaining time", "how many minutes (are left|left|do i have|remain)", "how many minutes (are left|left) (on|for) the {name} [timer]",
            "how many seconds are left", "when (does|will|is) the timer (go off|end|ring|done|finish)", "when (does|will) the {name} timer (go off|end|ring|finish)", "when (is|are|will) the {name} (done|ready|finished|be ready|be done)", "(is|are) the {name} (done|ready) yet",
            "(is|are) there (a timer|any timers|a {name} timer|timers) (running|on|set)", "do i have (a timer|any timers|timers) (running|on|set)", "do i have a {name} timer", "is my timer still (running|going|on)", "is the {name} timer still (running|going|on)", "is the timer (done|up|over) [yet]", "timer status", "status of the {name} timer", "{name} timer status",
            "how's the timer doing", "how's the {name} timer", "how's my {name} timer doing", "how long has the {name} got", "how far is the {name} timer", "how far along is the timer", "what about the {name} timer", "how are my timers doing", "did i set a timer", "did i set a timer for the {name}", "how long does the {name} still need", "how long does the {name} have",
            "how long till the {name} is done", "how long until the timer goes off", "what does the timer say", "what's the timer at", "where is the timer at", "where is the {name} timer at", "list timers", "show timers", "show me the timers", "all timers", "any timers", "give me the time left", "give me the time left on the {name}",
            "how (many|many more) minutes to go", "how (many|many more) minutes (on|for) the {name}", "how many more minutes [are left|left]", "how many minutes have i got [left]", "how much time has the {name} (got|still got) left",
            "how much time has the {name} timer got", "how much time does the {name} (have left|still need|still have)", "how much time do i have until the {name} (is|are) done", "how much time till the {name} (is|are) (done|ready)",
            "how long before the {name} (is|are) (done|ready)", "how long before the timer (rings|goes off|ends)", "how long till the timer (goes off|rings|is done|ends)", "how long until my {name} timer (goes off|ends|is done)",
            "how long till (the|my) {name} timer goes off", "how long (has|have) the {food} (still got|got left)", "how much more time", "how much more time (on|for) the {name}", "how far along (is|are) the {name}",
            "how's the time on the {name}", "how are we doing on the {name} timer", "how are we doing for time on the {name}", "how is the {name} timer (doing|going|looking)", "how's the {name} coming along on the timer",
            "where are we (on|with) the {name} timer", "where's the timer at", "where's my timer at", "where's the countdown at", "what's the countdown at", "what's the countdown", "what's on the clock", "what's left on the clock",
            "what's my timer at", "what's my {name} timer (at|on|saying|showing)", "what does the {name} timer (say|show)", "what is left on the {name} timer", "what is left on my timer", "when do the {food} come out",
            "when does the {food} come out", "when can i take the {food} out", "when do i take the {food} out", "when (is|are) my {food} (done|ready)", "when is my timer up", "when is the {name} timer up",
            "when's the timer (done|up|going off)", "when's the {name} timer (done|up|going off)", "when is the timer (up|going to ring|over)", "do i still have time on the {name}", "do i still have a timer running",
            "do i have a timer on", "do i have time left on the timer", "have i got a timer (on|running|going)", "have i got a {name} timer (on|running|going)", "have i set a timer", "did i start a timer",
            "did i start the {name} timer", "did i set a {name} timer", "did you start the timer", "did you set the {name} timer", "is there any time left", "is there time left on the {name}",
            "is there still time on the {name} timer", "is a timer running", "is the timer (still|) (on|running|going)", "is the {name} timer running", "(are|is) the {food} done yet check the timer", "can the {food} come out yet",
            "tell me how long (is|i've got|i have) left", "tell me how long the {name} (has|have) left", "tell me how much time is left [on the {name}|on the {name} timer]", "tell me my timers", "tell me the timers",
            "let me know how long is left", "i want to know how long is left [on the {name}]", "i need to know how much time is left", "i forgot how long (is left|the {name} needs)", "remaining", "remaining time (on|for) the {name}",
            "time to go", "minutes left", "minutes left on {name}", "minutes left on the {name}", "timer time", "timers", "my timers", "list all timers", "show all timers", "how many timers (are on|are running|do i have|have i got)",
            "what have i got on the timer", "read me my timers"],
        held=["how close is the {name} timer to being done", "how close is the timer to ringing", "what's remaining on my {name} timer", "tell me the time that is left on the timer", "how is the {name} timer coming along", "how long must the {name} still wait", "please look at the {name} timer", "which timers have i got"],
        slots=SLOTS, call=lambda v: ("get_timer", named(v)), result=left, say=say_left),
    Intent(
        "timers.pause", weight=0.7,
        patterns=["(pause|hold|freeze|suspend|halt) (the|my) timer", "(pause|hold|freeze|suspend|halt) (the|my) {name} timer", "(pause|hold) timer", "pause {name} timer", "put the timer on hold", "put the {name} timer on hold", "put the timer on pause", "(hold the {name} timer for a (moment|minute|second)|stop my {name} timer for (a|one) (second|minute|bit|sec)|stop {name} timer for a (sec|second|minute|bit|while|moment)|(stop|halt) the {name} timer for (now|a sec|a second|a minute|a bit|a while|one minute)|for a moment (stop|halt|pause) the {name} timer|for a (second|minute) (stop|halt) (the|my) {name} timer|just stop the {name} timer a (second|minute|moment))",
            "pause (that|this) timer", "(hold|pause|stop|freeze) the timer (a|for a) (sec|second|moment|minute|bit)", "(hold|pause|freeze) the {name} timer (a|for a) (sec|second|moment|minute|bit)",
            "{name} timer (pause|on hold|hold|wait)", "timer (hold|wait)", "pause my {name} timer", "hold my timer", "(hang on|hold on|wait) (pause|stop|hold) the timer",
                  "pause the countdown", "pause the timer for {name}", "pause the timer for a (moment|bit|second)", "hold on with the {name} timer", "stop the {name} timer for a moment", "wait with the {name} timer", "let the {name} timer wait", "timer on hold", "timer pause", "pause my timer called {name}",
            "(hang on|wait) pause the {name} timer", "hold that timer", "hold the timer right there", "hold the timer there",
            "(someone's at the door|the phone's ringing|i have to take a call|i need a minute|one second) (pause|hold) the timer", "(someone's at the door|the phone's ringing|i need a minute) (pause|hold) the {name} timer",
            "the {food} can wait pause the timer", "put that timer on hold", "put my timer on pause", "put my {name} timer on hold", "put a hold on the timer", "interrupt the timer", "interrupt the {name} timer",
            "stop the clock for a (moment|second|minute)", "stop the timer but don't cancel it", "stop the {name} timer but keep it", "don't count for a moment", "pause timing", "pause the timing", "pause counting",
            "pause the {name} countdown", "hold the countdown", "freeze my timer", "make the timer wait", "give the timer a pause", "let the timer wait [a bit]", "please hold the timer till i'm back", "pause the timer till i'm back",
            "pause the timer i'll be right back", "pause everything on the timer"],
        held=["make the {name} timer wait", "have the timer paused", "i need the {name} timer paused"],
        slots=SLOTS, call=lambda v: ("pause_timer", arguments(v, "name")), result=done_or_error, say=say_done("paused")),
    Intent(
        "timers.resume", weight=0.7,
        patterns=["(resume|continue|unpause|restart|start again|carry on with) (the|my) timer", "(resume|continue|unpause|restart) (the|my) {name} timer", "(resume|continue|unpause) timer", "resume {name} timer", "let the timer (continue|run again|go on|keep going)", "let the {name} timer (continue|run again|go on|keep going)",
            "(un-pause|un pause|unfreeze|release|restart) the [{name}] timer", "(restart|resume|continue|start) the timer (i paused|i put on hold|that's paused|that is paused|we paused)", "start the timer (back up|up again|back)",
            "start the {name} timer (back up|up again)", "timer (resume|restart|back on|running again|go)", "{name} timer (resume|continue|restart|back on|go on)", "carry on (timing|with my timer|with the countdown)",
            "i'm back (resume|restart|continue|start) the timer",
                  "keep the {name} timer going", "keep the timer going", "go on with the timer", "go on with the {name} timer", "start the {name} timer again", "start the timer again", "timer continue", "timer go on", "un pause the timer", "carry on with the {name} timer", "resume the countdown", "take the timer off hold", "take the {name} timer off hold",
            "i'm back (resume|continue) the {name} timer", "(continue|carry on|pick up) where the timer (left off|stopped)", "pick up the timer where it left off", "get the timer (going|running) again",
            "get the {name} timer (going|running) again", "set the timer going again", "set the timer running again", "put the timer back on", "put the {name} timer back on", "turn the timer back on", "turn the {name} timer back on",
            "switch the timer back on", "let the timer run", "let the timer run on", "let the {name} timer run on", "let the timer carry on", "let the clock run again", "stop pausing the timer",
            "the timer can (continue|go on|carry on|run again)", "the {name} timer can (continue|go on|carry on|run again)", "okay the timer can start again", "keep timing", "keep timing the {name}", "keep counting",
            "keep counting down", "continue counting", "continue the countdown", "continue timing", "restart the countdown", "unpause my timer", "unpause my {name} timer", "resume my timer", "resume my {name} timer",
            "resume timing", "proceed with the timer"],
        held=["make the {name} timer run again", "have the timer resume", "bring the {name} timer back from pause"],
        slots=SLOTS, call=lambda v: ("resume_timer", arguments(v, "name")), result=done_or_error, say=say_done("resumed")),
    Intent(
        "timers.add", weight=1.0,
        patterns=["add {dur} (to|on|onto) (the|my) timer", "add {dur} (to|on|onto) (the|my) {name} timer", "(stick|chuck|bung|whack|pop|put|throw|add) {more} (on|onto) (the|my) timer", "(stick|chuck|bung|whack|pop|put|throw|add) {more} (on|onto|to) (the|my) {name} [timer]", "{more} (on|for) the {name} [timer]", "{more} on the timer", "give the {name} [timer] {more}", "give the timer {more}", "(add|put) {dur} more (to|on) the [{name}] timer", "(extend|prolong|lengthen|increase) the timer by {dur}", "(extend|prolong|lengthen|increase) the {name} timer by {dur}", "{dur} more on the timer", "{dur} more on the {name} timer", "{dur} more for the {name}",
            "(stick|chuck|bung|whack|pop|throw|slap|tack|put) (another|an extra) {dur} (on|onto) (the|my) [{name}] timer", "(stick|chuck|bung|whack|pop|throw) {dur} more (on|onto) (the|my) [{name}] timer", "add {dur}",
            "add {dur} more", "add another {dur}", "add {dur} to [my|the] {name} [timer]", "add {dur} more (to|for) [my|the] {name}", "add {dur} (to|on) timer", "timer plus {dur}", "{name} timer plus {dur}", "{name} {dur} more",
            "{name} {dur} longer", "{name} timer {dur} (more|longer)", "{dur} (longer|extra) (for|on) the {name}", "(extend|lengthen|increase) (my|that) timer by {dur}", "(extend|lengthen|increase) my {name} timer by {dur}",
            "extend the timer {dur}", "extend the {name} timer {dur}", "(bump|up) the timer (by|up by) {dur}", "(bump|up) the {name} timer (by|up by) {dur}", "give (it|me) another {dur} on the timer",
            "give me {dur} more on the timer", "give me another {dur} on the {name} [timer]", "give me {dur} more on the {name}", "give me {dur} more for the {name}", "give the {name} another {dur}", "give the {name} {dur} more",
            "give my {name} timer another {dur}", "another {dur} for the {name}",
                  "give the {name} timer {dur} more", "give the timer {dur} more", "give the timer another {dur}", "give the {name} timer another {dur}", "another {dur} on the {name} timer", "another {dur} on the timer", "make the timer {dur} longer", "make the {name} timer {dur} longer", "add another {dur} to the timer", "add another {dur} to the {name} timer", "extend timer by {dur}",
                  "the {name} needs {dur} more", "the {name} needs another {dur}", "i need {dur} more on the timer", "i need {dur} more for the {name}", "add an extra {dur} to the timer", "add an extra {dur} to the {name} timer", "plus {dur} on the timer", "let the {name} timer run {dur} longer", "let the timer run {dur} longer", "add {dur} to {name}",
            "the {food} (isn't|is not|aren't|are not) (done|ready) [yet] (give it|give them|add|it needs|they need) another {dur}", "the {food} (isn't|aren't) quite (done|there) add {dur}",
            "not (done|ready|quite done) yet add {dur} [to the timer]", "the {food} (needs|need) a bit longer add {dur}", "the {food} (needs|need) {dur} longer", "the {food} (needs|need) an extra {dur}",
            "the {food} could do with {dur} more", "the {food} could do with another {dur}", "let the {food} (cook|bake|boil|go|simmer) [for] another {dur}", "let the {food} (cook|bake|boil|simmer) {dur} longer",
            "leave the {food} (in|on) [for] another {dur}", "leave the {food} (in|on) {dur} longer", "leave the {food} in {dur} more", "keep the timer (going|running) [for] another {dur}",
            "keep the {name} timer going [for] another {dur}", "keep it going another {dur}", "an extra {dur} (on|for) the {name}", "an extra {dur} on the timer", "an extra {dur} on the {name} timer", "{dur} extra on the timer",
            "{dur} on top of the timer", "put {dur} on top of the timer", "put {dur} extra on the timer", "put another {dur} on", "put another {dur} on the {name}", "put {dur} more on it", "tack on {dur} to the timer",
            "tack {dur} onto the {name}", "stretch the timer [by] {dur}", "stretch the {name} timer [by] {dur}", "set the timer {dur} longer", "make my timer {dur} longer", "make the timer longer by {dur}",
            "make the {name} timer longer by {dur}", "make the timer go {dur} longer", "have the timer run another {dur}", "have the {name} timer run another {dur}", "let the timer run another {dur}", "push the timer out by {dur}",
            "push the {name} timer back {dur}", "i need another {dur} on the timer", "i need another {dur} for the {name}", "i need another {dur} on the {name}", "i want {dur} more on the timer", "i'd like {dur} more on the {name}",
            "we need {dur} more on the timer", "we need another {dur} for the {name}", "can i have {dur} more on the timer", "can i have another {dur} on the timer", "can the {name} have another {dur}",
            "could the timer run {dur} longer", "more time on the timer {dur}", "more time for the {name} {dur}", "increase timer {dur}", "increase {name} timer by {dur}", "increase the time by {dur}", "plus {dur} on the {name}",
            "plus {dur} for the {name}", "plus {dur} on the {name} timer"],
        held=["stretch the {name} timer by {dur}", "stretch the timer by {dur}", "the {name} timer should run {dur} longer", "please put an extra {dur} on the {name} timer"],
        slots=SLOTS, call=lambda v: ("add_to_timer", {**timed(v), **named(v)}), result=done_or_error,
        say=say_added),
    # follow-ups
    Intent(
        "timers.set.another", follows=("timers.set", "timers.set.another", "timers.set.change"), weight=1.0,
        patterns=["and (another|one more|one) for {dur}", "and one for the {name} for {dur}", "another one for {dur}", "another for {dur}", "and {dur} for the {name}", "and a second one for {dur}", "one more for {dur}", "also one for {dur}", "also {dur} for the {name}", "and another one called {name} for {dur}", "and {dur} too", "and also {dur}", "and a {name} one for {dur}",
            "and another one for {n}", "and one for {n}", "and another for {n}", "another one for {n}", "another for {n}", "and one for the {name} {dur}", "and one for [the|my] {name} for {dur}", "one for the {name} too {dur}",
            "and a {name} timer {dur}", "and {dur} for the {name} [too|as well]", "and also one for {dur}", "and {dur}",
                  "a second one for the {name} {dur}", "one more for the {name} {dur}", "now one for {dur}", "plus one for the {name} for {dur}", "the same for the {name} but {dur}", "then another {dur}", "and {dur} for {name} as well",
            "also one for {n}", "one more for {n}", "now one for {n}", "and one more {dur}", "and a {adj} one", "and a {adj} one too", "another {adj} one", "and a {adj} one for the {name}", "a {adj} one as well",
            "also a {adj} one for the {name}", "also the {name} {dur}", "and the {name} {dur}", "and the {name} for {dur}", "then one for the {name} {dur}", "and a second one for the {name} {dur}", "now the {name} {dur}",
            "and one called {name} {dur}", "set one for {dur} too", "set another for {dur}", "set another one for {dur}", "set one for the {name} too {dur}", "start another one for {dur}", "start one for the {name} for {dur}",
            "do another one for {dur}", "do one for {dur} as well", "and i need one for {dur}", "i need another one for {dur}", "i need one for the {name} too {dur}", "make another one for {dur}", "plus {dur} for the {name}",
            "plus one for {dur}", "one for {dur} as well", "one for the {name} as well {dur}", "give me another for {dur}", "and can i get one for {dur}", "and then {dur} for the {name}"],
        held=["and then one more of {dur}", "plus another one for {dur}", "and for the {name} {dur}"],
        slots=SLOTS, call=lambda v: ("set_timer", {**timed(v), **named(v)}), say=say_set),
    Intent(
        "timers.set.change", follows=("timers.set", "timers.set.another", "timers.set.change"), weight=0.9,  # a correction: the timer anew
        patterns=["no i meant {dur}", "no i meant {n}", "no {dur}", "no {n}", "i meant {dur}", "i meant {n}", "make it {dur}", "make it {n}", "make that {dur}", "make that {n}", "no make it {dur}", "no make it {n}", "sorry {n}",
            "sorry i meant {dur}", "sorry i meant {n}", "actually {dur}", "actually {n}", "actually make it {dur}", "actually make that {n}", "{dur} instead", "{n} instead", "i said {dur}", "i said {n}", "no i said {dur}", "no i said {n}", "change it to {dur}",
            "change it to {n}", "change that to {dur}", "change that to {n}", "set it to {dur} instead", "set it to {n}", "set it for {dur} instead", "no wait {n}", "wait make it {dur}", "wait make that {n}", "oops {dur}",
            "oops i meant {dur}", "oops make that {n}", "not {othern} {n}", "no not {othern} {n}", "{n} not {othern}", "i said {n} not {othern}", "not {othern} i meant {n}", "i mean {dur}", "i mean {n}", "rather {dur}", "better {dur}", "better make it {dur}",
            "better make it {n}", "let's make it {dur}", "let's make it {n}", "let's make that {dur}", "let's say {dur}", "let's say {n}", "on second thought {dur}", "on second thought make it {dur}", "hmm make it {dur}", "hmm {dur} instead", "{dur} is better",
            "{dur} should do", "{dur} would be better", "it should be {dur}", "it should be {n}", "that should be {dur}", "that should be {n}", "that should have been {dur}", "that was supposed to be {dur}", "it was supposed to be {n}", "i need {dur} not {othern}",
            "how about {dur} instead", "do {dur} instead", "can you make it {dur}", "can you make it {n}", "can you change it to {dur}", "could you make that {dur}", "make it {dur} instead", "make it {n} instead", "no no {dur}", "no no {n}",
            "wrong time {dur}", "that's wrong {dur}", "that's wrong i said {dur}", "restart it with {dur}", "switch it to {dur}", "switch that to {n}"],
        held=["i'd rather have {dur}", "let it be {n} instead"],
        slots=SLOTS, call=lambda v: ("set_timer", {**timed(v), **same_name(v)}), say=say_set),
    Intent(
        "timers.set.same", follows=("timers.set", "timers.set.another", "timers.set.change", "timers.set.same"), weight=0.5,  # the same time for something else
        patterns=["and the same for the {name}", "same for the {name}", "the same for the {name}", "same for {name}", "and the same for {name}", "the same for the {name} please", "same again for the {name}", "the same again for the {name}",
            "and one for the {name} too", "and one for the {name} as well", "another one for the {name}", "another one for the {name} same time", "one for the {name} too", "also one for the {name}", "also for the {name}", "same time for the {name}",
            "the same time for the {name}", "same thing for the {name}", "same thing for {name}", "do the same for the {name}", "do the same for {name}", "and do the same for the {name}", "do one for the {name} as well", "and the {name} too",
            "and the {name} as well", "and for the {name} too", "the {name} too", "the {name} as well", "the {name} needs the same", "and the same one for {name}", "set the same for the {name}", "set one for the {name} too",
            "start the same one for the {name}", "a second one the same for the {name}", "and {name} the same", "{name} the same"],
        held=["have the same for the {name}", "the {name} should get the same"],
        slots=SLOTS, call=lambda v: ("set_timer", {**arguments(v["prev"].get("args", {}), *TIME), **named(v)}), say=say_set),
    Intent(
        "timers.set.again", follows=("timers.set", "timers.set.another", "timers.set.change", "timers.set.again"), weight=0.4,  # the same timer once more
        patterns=["same again", "the same again", "again", "once more", "again please", "one more time", "set it again", "do that again", "start it again", "another one", "another one please", "another one the same", "and another one", "one more like that",
            "one more of those", "and the same again", "start that again", "start the same one again", "set the same timer again", "the same timer again", "repeat that", "and again", "same timer again", "another of the same", "and another the same",
            "from the top", "start over", "start it over", "restart it from the beginning", "do it again", "same thing again"],
        held=["have it once more", "let's do that again"],
        slots=SLOTS, call=lambda v: ("set_timer", arguments(v["prev"].get("args", {}), *TIME, "name")), say=say_set),
    Intent(
        "timers.add.it", follows=("timers.set", "timers.left", "timers.add", "timers.add.it", "timers.left.it", "timers.set.change"), weight=0.8,
        patterns=["add {dur}", "add {dur} more", "add another {dur}", "{dur} more", "another {dur}", "give it {dur} more", "give it another {dur}", "make it {dur} longer", "extend it by {dur}", "add {dur} to it", "add {dur} to that", "put {dur} more on it", "and {dur} more", "let it run {dur} longer", "it needs {dur} more",
            "{more}", "give it {more}", "{more} please", "and {more}", "add {more}", "put {more} on", "they need {more}", "it needs {more}", "make it {dur} more", "add {dur} on", "add {dur} more to it", "add {dur} extra", "an extra {dur}",
            "{dur} extra", "{dur} longer", "plus {dur}", "and another {dur}", "stick {dur} more on it", "stick another {dur} on it", "chuck another {dur} on", "chuck {dur} more on it", "whack another {dur} on",
            "bung another {dur} on", "pop another {dur} on", "put another {dur} on it", "put {dur} more on", "put {dur} on it", "give it an extra {dur}", "extend that by {dur}", "extend it {dur}", "bump it up by {dur}",
            "bump it by {dur}", "keep it going another {dur}", "let it go another {dur}", "leave it another {dur}", "it needs another {dur}", "they need another {dur}", "they need {dur} more", "not done yet another {dur}",
            "not ready yet {dur} more", "still not done another {dur}", "still not done give it {dur}", "i need {dur} more", "i need another {dur}", "a bit longer {dur} more", "actually add {dur}", "and add {dur}",
            "can it run {dur} longer", "let's add {dur}", "tack on {dur}", "tack on another {dur}", "lengthen it by {dur}", "increase it by {dur}"],
        held=["stretch it by {dur}", "it should run {dur} longer"],
        slots=SLOTS, call=lambda v: ("add_to_timer", {**timed(v), **same_name(v)}), say=say_added),
    Intent(
        "timers.cancel.it", follows=("timers.set", "timers.left", "timers.add", "timers.pause", "timers.resume", "timers.set.another", "timers.set.change", "timers.set.same", "timers.left.it", "timers.add.it", "timers.pause.it", "timers.resume.it"), weight=1.0,
        patterns=["cancel it", "cancel that", "stop it", "delete it", "stop that", "cancel that one", "never mind cancel it", "forget it", "delete that one", "no cancel that", "kill it", "turn it off", "get rid of it", "actually cancel it", "cancel it again", "never mind cancel that", "on second thought cancel it", "oh stop it", "remove it",
            "stop that one", "kill that", "kill that one", "scrap it", "scrap that", "scrap that one", "ditch it", "ditch that one", "nix it", "nix that", "bin it", "drop it", "end it", "end that", "wipe it", "never mind",
            "never mind stop it", "nevermind", "actually never mind", "forget that", "forget it cancel it", "turn that off", "turn it off again", "turn that one off", "switch it off", "shut it off", "take it off", "stop it again",
            "stop it now", "okay stop it", "okay cancel it", "okay turn it off", "no stop", "no stop it", "no cancel it", "no don't", "wait cancel that", "wait stop", "i don't need it [anymore|after all]",
            "i don't need that [anymore|after all]", "it's done stop it", "it's done turn it off", "it's done you can stop", "i'm done stop it", "they're done stop it", "i changed my mind", "i changed my mind cancel it",
            "on second thought never mind", "undo that", "undo it", "remove that", "clear it", "lose it", "get rid of that", "get rid of that one", "delete it again", "cancel the timer", "stop the timer", "cancel that timer",
            "stop that timer", "kill that timer", "abort it", "abort", "cancel", "dismiss it"],
        held=["call it off", "scrap that", "please scrap it"],
        slots=SLOTS, call=lambda v: ("cancel_timer", arguments(v["prev"].get("args", {}), "name")), say=say_done("canceled")),
    Intent(
        "timers.left.it", follows=("timers.set", "timers.add", "timers.resume", "timers.pause", "timers.set.another", "timers.set.change", "timers.set.same", "timers.add.it", "timers.left", "timers.left.it", "timers.pause.it", "timers.resume.it"), weight=1.0,
        patterns=["how long is left", "how much time is left", "how much is left", "how long now", "how much longer", "and how long is left", "what's left on it", "how long is left on it", "how long has it got", "when does it go off", "how many minutes are left", "is it done yet", "time left", "how much time left on that", "check it",
            "how long", "how long left", "how long's left", "how long's left on it", "how long is left now", "how long to go", "how long's it got", "how long has it got left", "how long does it still have",
            "how long till it goes off", "how long until it rings", "how long until it's done", "how long on that", "how long on it", "how much longer now", "how much time is left on it", "how much time is left on that",
            "how much time left", "how much is left on it", "how much is left on that", "how much is left now", "how much time now", "how many minutes left", "how many minutes now", "how many more minutes", "how many seconds left",
            "and now", "and how long now", "and how much is left now", "so how long is left", "what's left", "what's left now", "what's left on that", "what's it at", "what's it at now", "what is it at now", "where's it at",
            "where is it at now", "time left on it", "time left now", "time remaining", "when is it done", "when will it go off", "when does it ring", "when does it end", "when's it done", "is it done", "is it almost done",
            "is it nearly done", "is it finished", "is it finished yet", "is it over", "is it up yet", "is it still running", "is it still going", "is it running", "is it nearly there", "are they done yet", "has it gone off",
            "has it gone off yet", "has it finished", "did it go off", "still running", "tell me how long is left", "tell me the time left", "check it again", "check again", "check that one"],
        held=["how close is it", "what's remaining on it"],
        slots=SLOTS, call=lambda v: ("get_timer", arguments(v["prev"].get("args", {}), "name")), result=left, say=say_left),
    Intent(
        "timers.pause.it", follows=("timers.set", "timers.left", "timers.add", "timers.resume", "timers.set.another", "timers.set.change", "timers.left.it", "timers.add.it", "timers.resume.it"), weight=0.6,
        patterns=["pause it", "hold it", "pause that", "freeze it", "put it on hold", "pause that one", "hold that", "pause it for a moment", "hold it for a minute",
            "pause", "pause it a sec", "pause it a second", "pause it for a sec", "pause it for a bit", "pause it for now", "pause that timer", "pause the timer", "pause again", "pause it again", "now pause it", "okay pause it",
            "wait pause it", "hang on pause it", "hold on", "hold it there", "hold it a sec", "hold that one", "hold that for a moment", "freeze that", "freeze it there", "stop it for a moment", "stop it for a second",
            "stop it for a bit", "suspend it", "put that on hold", "put it on pause", "put that one on pause", "let it wait", "make it wait", "halt it", "wait hold it"], held=["suspend that one"],
        slots=SLOTS, call=lambda v: ("pause_timer", arguments(v["prev"].get("args", {}), "name")), say=say_done("paused")),
    Intent(
        "timers.resume.it", follows=("timers.pause", "timers.pause.it"), weight=1.2,
        patterns=["resume it", "continue", "continue it", "go on", "let it run", "unpause it", "resume", "resume that", "start it again", "okay continue", "carry on", "keep going", "let it continue", "and resume it",
            "ok go on", "go on then", "okay go", "okay go again", "okay start it again", "okay carry on", "okay resume", "carry on with it", "carry on then", "continue that", "continue now", "start again", "start it up again",
            "start it back up", "start that again", "restart it", "restart that", "unpause", "unpause that", "un-pause it", "unpause it now", "unfreeze it", "let it go on", "let it run again", "let it run on", "let it carry on",
            "let it keep going", "get it going again", "get it running again", "keep it going", "keep it running", "set it going again", "turn it back on", "put it back on", "switch it back on", "i'm back", "i'm back carry on",
            "i'm back go on", "i'm ready go on", "now continue", "now resume it", "and now continue", "resume now", "run it again", "back on"], held=["have it run again", "make it go on"],
        slots=SLOTS, call=lambda v: ("resume_timer", arguments(v["prev"].get("args", {}), "name")), say=say_done("resumed")),
    Intent(
        "timers.other", follows=("timers.left", "timers.cancel", "timers.pause", "timers.resume", "timers.add", "timers.other"), weight=1.0,  # the same for another timer
        patterns=["and the {name} timer", "and the {name} one", "and the {name}", "what about the {name}", "what about the {name} timer", "what about the {name} one", "how about the {name}", "how about the {name} timer", "and what about the {name}",
            "the {name} timer too", "the {name} one too", "the {name} too", "and the {name} too", "and the {name} one too", "and the {name} timer too", "and the {name} as well", "the {name} one as well", "the {name} timer as well", "also the {name} timer",
            "also the {name} one", "also the {name}", "same for the {name}", "same for the {name} timer", "the same for the {name}", "the same with the {name} timer", "do the same for the {name} timer", "no the {name} one", "no the {name} timer",
            "no i meant the {name} one", "no i meant the {name} timer", "i meant the {name} one", "i meant the {name} timer", "i meant the {name}", "i mean the {name} one", "i mean the {name} timer", "sorry the {name} one", "sorry i meant the {name} timer",
            "the {name} one i mean", "not that one the {name} one", "not that one the {name} timer", "not the {othername} the {name}", "not the {othername} one the {name} one", "wrong timer the {name} one", "wrong one i meant the {name}",
            "actually the {name} one", "actually the {name} timer", "and for the {name}", "now the {name} one", "now the {name} timer", "and then the {name} one", "the {name} one", "the {name} timer"],
        held=["that goes for the {name} timer too", "then the {name} one too"],
        slots=SLOTS, call=lambda v: (v["prev"].get("tool") or "get_timer", {**(arguments(v["prev"]["args"], *TIME) if v["prev"].get("tool") == "add_to_timer" else {}), **named(v)}),
        result=lambda g, v, args: (left if v["prev"].get("tool") == "get_timer" else done_or_error)(g, v, args), say=lambda g, v, args, result: say_other(g, v, args, result)),
    Intent(
        "timers.cancel.one", follows=("timers.set", "timers.set.another", "timers.set.same", "timers.left", "timers.add", "timers.pause", "timers.resume", "timers.left.it"), weight=0.6,
        patterns=["cancel the {name} one", "stop the {name} one", "delete the {name} one", "actually cancel the {name} one", "kill the {name} one", "scrap the {name} one", "ditch the {name} one", "drop the {name} one", "remove the {name} one", "end the {name} one",
            "get rid of the {name} one", "turn off the {name} one", "turn the {name} one off", "no cancel the {name} one", "then cancel the {name} one", "okay cancel the {name} one", "cancel the one for the {name}", "stop the one for the {name}",
            "the {name} one can go", "i don't need the {name} one [anymore]", "never mind the {name} one", "forget the {name} one", "cancel the {adj} one", "stop the {adj} one", "delete the {adj} one", "kill the {adj} one", "drop the {adj} one",
            "the {adj} one can go", "i don't need the {adj} one [anymore]", "turn the {adj} one off", "actually cancel the {adj} one", "forget the {adj} one", "cancel the {name}"],
        held=["let go of the {name} one", "call off the {name} one"],
        slots=SLOTS, call=lambda v: ("cancel_timer", {**timed(v), **named(v)}), result=done_or_error, say=say_done("canceled")),
    Intent(
        "timers.cancel.all.it", follows=("timers.cancel", "timers.left", "timers.set.another", "timers.set.same", "timers.cancel.it", "timers.cancel.one"), weight=0.6,
        patterns=["all of them", "cancel them all", "cancel all of them", "stop them all", "stop all of them", "kill them all", "delete them all", "cancel both", "stop both", "cancel both of them", "stop both of them", "turn them all off", "turn them off",
            "cancel them", "stop them", "scrap them all", "scrap the lot", "get rid of them all", "get rid of all of them", "clear them all", "wipe them all", "no all of them", "i meant all of them", "actually cancel them all", "cancel everything",
            "the others too", "and the others", "and the other ones too", "and all the others", "cancel all the others too", "and the rest", "cancel the rest too", "cancel the lot", "drop them all", "end them all", "remove them all", "all the timers",
            "no i meant all the timers", "every one of them", "okay cancel them all", "then cancel them all"],
        held=["let go of them all", "take them all away"],
        slots=SLOTS, call=lambda v: ("cancel_timer", {"all": True}), result=done_or_error, say=say_done("canceled")),
]
