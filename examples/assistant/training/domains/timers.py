"""Timers: several at once, with names."""
from grammar import Intent, Lexicon, adjective_duration, arguments, duration, spoken_duration

NAMES = Lexicon("""pasta, eggs, egg, pizza, tea, laundry, bread, cake, rice, cookies, chicken, oven, potatoes, workout, nap, homework, soup, coffee, roast, steak, fish, dishes, washing, meeting, break,
    study, reading, meditation, plank, dough, sauce, turkey, vegetables, broccoli, beans, noodles, lasagna, muffins, pie, dryer, dishwasher, parking, shower, bath, screen time, game, piano practice,
    garden hose, barbecue, grill, ribs, spaghetti, french fries, burgers, salmon, popcorn, pancakes, waffles, yoga, stretching, run, walk, toast, tomato sauce, green tea, black tea, sourdough, casserole,
    corn, lentils, potatoes in the oven, brownies, hard boiled eggs, phone call, focus, cleaning, sprinkler, kids, dog, baby, medicine""",
                """quiche, ramen, meatballs, croissants, gnocchi, laundry basket, pomodoro, risotto, dumplings, face mask, porridge, gym class, bagels, chess clock""")


def name(g):
    w = g.word(NAMES)
    return w, w


SLOTS = {"dur": duration, "adj": adjective_duration, "name": name}
TIME = ("hours", "minutes", "seconds")


def time_of(v):
    return v.get("dur") or v.get("adj") or {}


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


def say_set(g, v, args, result):
    return f"{titled(args)} set for {spoken_duration(args)}."


INTENTS = [
    Intent(
        "timers.set", weight=3,
        patterns=[
            "(set|start|make|create|begin|run|put|give me|add|launch|open|i need|i want|i'd like|get me) (a|the|another|a new|one) timer (for|of|at|to|with) {dur}",
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
            "(time|watch) (the|my) {name} for {dur}", "the {name} (needs|need|takes|take|must cook|should cook|has to cook|have to cook|wants) {dur}", "remind me (to check|about|to look at|to check on) the {name} in {dur}", "in {dur} remind me (about|to check) the {name}",
            "(tell|warn|alert) me (about|when) the {name} in {dur}", "i need a timer for (the|my|some) {name} [of|for] {dur}", "i need {dur} for the {name}", "the {name} will be ready in {dur}", "the {name} is in the oven for {dur}",
            "i put the {name} in the oven set a timer for {dur}", "i'm making {name} set a timer for {dur}", "i'm boiling {name} for {dur}", "put {dur} on the {name} timer", "set {dur} for the {name}", "give the {name} {dur}", "start {dur} for {name}",
            "start the {name} timer for {dur}", "let me know when the {name} (is|are) done in {dur}", "boil the {name} for {dur}", "cook the {name} for {dur}", "bake the {name} for {dur}", "set the {name} timer to {dur}", "set a {adj} {name} timer", "start a {adj} {name} timer",
            "another timer for the {name} {dur}", "also a timer for {name} {dur}", "and {dur} for the {name}", "and a {name} timer for {dur}", "a second timer for {dur}", "another {adj} timer", "another timer {dur}", "one more timer for {dur}",
        ],
        held=[
            "get a timer going for {dur}", "have a timer ready for {dur}", "fire up a {adj} timer", "i could use a timer for {dur}", "let's have a {adj} timer", "kick off a timer for {dur}", "would a timer for {dur} be possible",
            "give me a timer that runs {dur}", "get a {adj} timer started", "timer of {dur} starting now", "have the timer ring in {dur}", "throw a timer on for {dur}", "please time me {dur}",
            "kick off a {name} timer for {dur}", "the {name} should be done in {dur} set a timer", "timer called {name} of {dur}", "start timing the {name} for {dur}", "get the {name} timer going with {dur}", "i need to take the {name} out in {dur}",
        ],
        slots=SLOTS, call=lambda v: ("set_timer", {**{k: time_of(v)[k] for k in TIME if k in time_of(v)}, **arguments(v, "name")}), say=say_set),
    Intent(
        "timers.cancel", weight=1.3,
        patterns=[
            "(cancel|stop|delete|kill|end|clear|remove|turn off|shut off|drop|switch off|quit|abort|erase|dismiss|get rid of|forget|silence) (the|my|that|this) timer", "(cancel|stop|end|delete) timer", "timer off", "stop the timer it's done",
            "(cancel|stop|delete|kill|end|clear|remove|turn off|drop|abort|dismiss|get rid of|forget) (the|my) {name} timer", "(cancel|stop|end|delete|remove) {name} timer", "(cancel|stop|delete|end|remove|forget) the timer (for|called|named) [the|my] {name}",
            "(cancel|stop|delete|kill|end|clear|remove|turn off|drop) (the|my) {adj} timer", "(cancel|stop|delete) {adj} timer", "(cancel|stop|delete|remove) the timer for {dur}", "i don't need the {name} timer [anymore|any more|any longer]", "i don't need the timer [anymore|any more]",
            "(cancel|stop|delete|kill|end|clear|remove|turn off|drop|erase|get rid of) (all|all the|all my|every|all of my|all of the) (timers|timer) => all=true", "(cancel|stop|clear|delete|remove) (every timer|all timers|everything on the timer|the timers|my timers) => all=true",
            "no more timers => all=true", "i'm done with the timer", "i'm done with the {name} timer", "the {name} is done stop the timer", "the {name} is ready cancel the timer", "never mind the timer", "never mind the {name} timer", "forget about the {name} timer", "forget about the timer",
            "take the {name} timer off", "make the timer stop", "make the timer shut up", "shut up the timer", "turn the timer off", "turn the {name} timer off", "switch the timer off", "the timer can stop", "the {name} timer can go", "no timer please", "please no {name} timer",
            "reset the timers => all=true", "wipe all timers => all=true", "turn all timers off => all=true", "stop the countdown", "cancel the countdown", "end the countdown", "you can stop the {name} timer now", "you can delete the timer",
        ],
        held=["please scrap the {name} timer", "call off the timer", "call off the {name} timer", "take away all my timers => all=true", "i no longer need the {adj} timer", "let go of the {name} timer", "scrap all timers => all=true", "i want the {name} timer gone"],
        slots=SLOTS, call=lambda v: ("cancel_timer", {**{k: time_of(v)[k] for k in TIME if k in time_of(v)}, **arguments(v, "name", "all")}), result=done_or_error, say=say_done("canceled")),
    Intent(
        "timers.left", weight=1.3,
        patterns=[
            "how (much time|long) (is|'s|do i have|have i got|do we have|remains|is there) left [on the timer|on my timer|on it|on the clock]", "how (much time is|long is) left on the {name} timer", "how (much longer|much more time|long) (for|until|till|on) the {name} [timer] [is done|is ready|goes off]",
            "how (much longer|long) [for|on|until] the timer [goes off|rings|ends|is done]", "(check|show|read|tell me|give me) (the|my) timer", "(check|show|read|tell me) (the|my) {name} timer", "(check|show|list|read|tell me|what are) (my|the|all my|all the) timers", "what timers do i have", "what timers are (running|on|set|active)", "which timers are (running|on|set|active)",
            "what's left on the {name} timer", "what's left on the timer", "what's on the timer", "time left", "time left on {name}", "time remaining", "time remaining on the {name} timer", "remaining time", "how many minutes (are left|left|do i have|remain)", "how many minutes (are left|left) (on|for) the {name} [timer]",
            "how many seconds are left", "when (does|will|is) the timer (go off|end|ring|done|finish)", "when (does|will) the {name} timer (go off|end|ring|finish)", "when (is|are|will) the {name} (done|ready|finished|be ready|be done)", "(is|are) the {name} (done|ready) yet",
            "(is|are) there (a timer|any timers|a {name} timer|timers) (running|on|set)", "do i have (a timer|any timers|timers) (running|on|set)", "do i have a {name} timer", "is my timer still (running|going|on)", "is the {name} timer still (running|going|on)", "is the timer (done|up|over) [yet]", "timer status", "status of the {name} timer", "{name} timer status",
            "how's the timer doing", "how's the {name} timer", "how's my {name} timer doing", "how long has the {name} got", "how far is the {name} timer", "how far along is the timer", "what about the {name} timer", "how are my timers doing", "did i set a timer", "did i set a timer for the {name}", "how long does the {name} still need", "how long does the {name} have",
            "how long till the {name} is done", "how long until the timer goes off", "what does the timer say", "what's the timer at", "where is the timer at", "where is the {name} timer at", "list timers", "show timers", "show me the timers", "all timers", "any timers", "give me the time left", "give me the time left on the {name}",
        ],
        held=["how close is the {name} timer to being done", "how close is the timer to ringing", "what's remaining on my {name} timer", "tell me the time that is left on the timer", "how is the {name} timer coming along", "how long must the {name} still wait", "please look at the {name} timer", "which timers have i got"],
        slots=SLOTS, call=lambda v: ("get_timer", arguments(v, "name")), result=left, say=say_left),
    Intent(
        "timers.pause", weight=0.7,
        patterns=["(pause|hold|freeze|suspend|halt) (the|my) timer", "(pause|hold|freeze|suspend|halt) (the|my) {name} timer", "(pause|hold) timer", "pause {name} timer", "put the timer on hold", "put the {name} timer on hold", "put the timer on pause", "hold the {name} timer for a (moment|minute|second)",
                  "pause the countdown", "pause the timer for {name}", "pause the timer for a (moment|bit|second)", "hold on with the {name} timer", "stop the {name} timer for a moment", "wait with the {name} timer", "let the {name} timer wait", "timer on hold", "timer pause", "pause my timer called {name}"],
        held=["make the {name} timer wait", "have the timer paused", "i need the {name} timer paused"],
        slots=SLOTS, call=lambda v: ("pause_timer", arguments(v, "name")), result=done_or_error, say=say_done("paused")),
    Intent(
        "timers.resume", weight=0.7,
        patterns=["(resume|continue|unpause|restart|start again|carry on with) (the|my) timer", "(resume|continue|unpause|restart) (the|my) {name} timer", "(resume|continue|unpause) timer", "resume {name} timer", "let the timer (continue|run again|go on|keep going)", "let the {name} timer (continue|run again|go on|keep going)",
                  "keep the {name} timer going", "keep the timer going", "go on with the timer", "go on with the {name} timer", "start the {name} timer again", "start the timer again", "timer continue", "timer go on", "un pause the timer", "carry on with the {name} timer", "resume the countdown", "take the timer off hold", "take the {name} timer off hold"],
        held=["make the {name} timer run again", "have the timer resume", "bring the {name} timer back from pause"],
        slots=SLOTS, call=lambda v: ("resume_timer", arguments(v, "name")), result=done_or_error, say=say_done("resumed")),
    Intent(
        "timers.add", weight=1.0,
        patterns=["(add|put) {dur} (to|on|onto) (the|my) timer", "(add|put) {dur} (to|on|onto) (the|my) {name} timer", "(add|put) {dur} more (to|on) the [{name}] timer", "(extend|prolong|lengthen|increase) the timer by {dur}", "(extend|prolong|lengthen|increase) the {name} timer by {dur}", "{dur} more on the timer", "{dur} more on the {name} timer", "{dur} more for the {name}",
                  "give the {name} timer {dur} more", "give the timer {dur} more", "give the timer another {dur}", "give the {name} timer another {dur}", "another {dur} on the {name} timer", "another {dur} on the timer", "make the timer {dur} longer", "make the {name} timer {dur} longer", "add another {dur} to the timer", "add another {dur} to the {name} timer", "extend timer by {dur}",
                  "the {name} needs {dur} more", "the {name} needs another {dur}", "i need {dur} more on the timer", "i need {dur} more for the {name}", "add an extra {dur} to the timer", "add an extra {dur} to the {name} timer", "plus {dur} on the timer", "let the {name} timer run {dur} longer", "let the timer run {dur} longer", "add {dur} to {name}"],
        held=["stretch the {name} timer by {dur}", "stretch the timer by {dur}", "the {name} timer should run {dur} longer", "please put an extra {dur} on the {name} timer"],
        slots=SLOTS, call=lambda v: ("add_to_timer", {**{k: time_of(v)[k] for k in TIME if k in time_of(v)}, **arguments(v, "name")}), result=done_or_error,
        say=lambda g, v, args, result: f"There is {result['error']}." if "error" in result else f"Added {spoken_duration(args)}" + (f" to the {args['name']} timer." if "name" in args else " to the timer.")),
    # follow-ups
    Intent(
        "timers.set.another", follows=("timers.set", "timers.set.another"), weight=1.0,
        patterns=["and (another|one more|one) for {dur}", "and one for the {name} for {dur}", "another one for {dur}", "another for {dur}", "and {dur} for the {name}", "and a second one for {dur}", "one more for {dur}", "also one for {dur}", "also {dur} for the {name}", "and another one called {name} for {dur}", "and {dur} too", "and also {dur}", "and a {name} one for {dur}",
                  "a second one for the {name} {dur}", "one more for the {name} {dur}", "now one for {dur}", "plus one for the {name} for {dur}", "the same for the {name} but {dur}", "then another {dur}", "and {dur} for {name} as well"],
        held=["and then one more of {dur}", "plus another one for {dur}", "and for the {name} {dur}"],
        slots=SLOTS, call=lambda v: ("set_timer", {**time_of(v), **arguments(v, "name")}), say=say_set),
    Intent(
        "timers.add.it", follows=("timers.set", "timers.left", "timers.add"), weight=0.8,
        patterns=["add {dur}", "add {dur} more", "add another {dur}", "{dur} more", "another {dur}", "give it {dur} more", "give it another {dur}", "make it {dur} longer", "extend it by {dur}", "add {dur} to it", "add {dur} to that", "put {dur} more on it", "and {dur} more", "let it run {dur} longer", "it needs {dur} more"],
        held=["stretch it by {dur}", "it should run {dur} longer"],
        slots=SLOTS, call=lambda v: ("add_to_timer", {**time_of(v), **arguments(v["prev"].get("args", {}), "name")}), say=lambda g, v, args, result: f"Added {spoken_duration(args)}" + (f" to the {args['name']} timer." if "name" in args else " to the timer.")),
    Intent(
        "timers.cancel.it", follows=("timers.set", "timers.left", "timers.add", "timers.pause", "timers.resume"), weight=1.0,
        patterns=["cancel it", "cancel that", "stop it", "delete it", "stop that", "cancel that one", "never mind cancel it", "forget it", "delete that one", "no cancel that", "kill it", "turn it off", "get rid of it", "actually cancel it", "cancel it again", "never mind cancel that", "on second thought cancel it", "oh stop it", "remove it"],
        held=["call it off", "scrap that", "please scrap it"],
        slots=SLOTS, call=lambda v: ("cancel_timer", arguments(v["prev"].get("args", {}), "name")), say=say_done("canceled")),
    Intent(
        "timers.left.it", follows=("timers.set", "timers.add", "timers.resume", "timers.pause"), weight=1.0,
        patterns=["how long is left", "how much time is left", "how much is left", "how long now", "how much longer", "and how long is left", "what's left on it", "how long is left on it", "how long has it got", "when does it go off", "how many minutes are left", "is it done yet", "time left", "how much time left on that", "check it"],
        held=["how close is it", "what's remaining on it"],
        slots=SLOTS, call=lambda v: ("get_timer", arguments(v["prev"].get("args", {}), "name")), result=left, say=say_left),
    Intent(
        "timers.pause.it", follows=("timers.set", "timers.left", "timers.add", "timers.resume"), weight=0.6,
        patterns=["pause it", "hold it", "pause that", "freeze it", "put it on hold", "pause that one", "hold that", "pause it for a moment", "hold it for a minute"], held=["suspend that one"],
        slots=SLOTS, call=lambda v: ("pause_timer", arguments(v["prev"].get("args", {}), "name")), say=say_done("paused")),
    Intent(
        "timers.resume.it", follows=("timers.pause", "timers.pause.it"), weight=1.0,
        patterns=["resume it", "continue", "continue it", "go on", "let it run", "unpause it", "resume", "resume that", "start it again", "okay continue", "carry on", "keep going", "let it continue", "and resume it"], held=["have it run again", "make it go on"],
        slots=SLOTS, call=lambda v: ("resume_timer", arguments(v["prev"].get("args", {}), "name")), say=say_done("resumed")),
]
