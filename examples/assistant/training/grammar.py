"""Phrase patterns, numbers as words, and the noise of speech: what the domains in domains/ are written with.

A pattern is a line of text:
    (a|b|c)      one of them (an empty one is allowed; may be nested)
    [a]          a or nothing
    {slot}       what the function of that name in the intent's `slots` says; its value is kept under the name
    => k=v, k=v  at the end: further values that this wording stands for
Random choices use Random.random() alone, whose sequence Python promises to keep for a seed.
"""
import collections
import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Intent:
    """Requests of one kind. `patterns` are its wordings and `held` a few that are built quite differently; hold_out() makes them those of
    training and those that training never sees.

    call(v) gives (tool name, arguments) or None for an answer without a tool; v holds the slots' values that the chosen
    wording used, and v["prev"] the values of the turn before where this intent follows one.
    result(g, v, args) gives what the tool answers (a dict); say(g, v, args, result) gives the closing sentence.
    """
    name: str
    patterns: list[str]
    held: list[str]
    say: Callable
    slots: dict[str, Callable] = field(default_factory=dict)
    call: Callable = lambda v: None
    result: Callable = lambda g, v, args: {"ok": True}
    follows: tuple[str, ...] = ()  # names of intents after which this one makes sense; empty: it opens a topic
    weight: float = 1.0


GLUE = "\x01"  # instead of spaces in words to be copied, and behind them
AMBIGUOUS = f"{GLUE} light{GLUE}"  # "the kitchen light blue" is the kitchen's light: no colour "light blue" behind a room


def clean(text):
    return " ".join(text.replace(GLUE, " ").split()).replace(" ,", ",")


class Lexicon:
    """Words for an open slot: those of training, those held out, and (open=True) made-up ones, so that copying is learnt rather than a list."""

    every = []  # all lexicons, see keep_held_out()
    entries, held_out = set(), set()  # what all of them hold out, with a space on both sides; its single words

    def __init__(self, train: str, held: str, open: bool = True):
        self.train = [w.strip() for w in train.replace("\n", ",").split(",") if w.strip()]
        self.held = [w.strip() for w in held.replace("\n", ",").split(",") if w.strip()]
        both = set(self.train) & set(self.held)
        assert not both, f"held-out words appear in training: {both}"
        self.open = open
        Lexicon.every.append(self)

    @staticmethod
    def keep_held_out():
        """What one domain holds out no other domain trains on."""
        Lexicon.entries = {f" {w} " for x in Lexicon.every for w in x.held}
        Lexicon.held_out = {w for x in Lexicon.entries for w in x.split()}
        for x in Lexicon.every:
            x.train = [w for w in x.train if Lexicon.allows(w)]

    @staticmethod
    def allows(word):
        """Whether training may have it: no held-out entry is a part of it."""
        return not any(h in f" {word} " for h in Lexicon.entries)


ONSETS = "b c d f g h j k l m n p r s t v w y z bl br ch cl cr dr fl fr gl gr pl pr qu sc sh sk sl sm sn sp st str sw th tr tw wh".split()
NUCLEI = "a e i o u a e i o u ai ea ee oa oo ou ow ay ie".split()
CODAS = "b d g k l m n p r s t x ck ll ng nd nt rd rk rm rn rt sh ss st th ve se ne te".split() + [""] * 14
ENDINGS = ["y", "er", "ing", "ie", "a", "o", "el", "en", "ly", "ow", "et", "le", "ed"]

RUDE = re.compile("fuck|fuk|shit|cunt|kunt|dick|cock|tit|cum|slut|whor|rape|fag|nig|pis|poo|porn|puss|twat|wank|sex|bitch|jew|gook|spic|ass")

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()

NUMBER_WORDS = set(UNITS + TENS + ["hundred", "thousand", "half", "quarter", "quarters", "minus", "negative", "point", "noon", "midnight"])

# What a speech recogniser writes for what was said. Only words whose meaning the rest of a request still shows.
MISHEARD = {
    "timer": ["time er", "timor", "tamer", "time her"], "timers": ["time is", "tamers"], "alarm": ["a larm", "alarum", "alarmed"],
    "lights": ["lites", "light's", "lice", "likes"], "light": ["lite", "like"], "lamp": ["lamb", "lump"], "kitchen": ["kitchin", "chicken", "kitschen"],
    "thermostat": ["thermo stat", "thermostats", "thermal stat"], "bedroom": ["bed room", "bad room"], "bathroom": ["bath room"], "hallway": ["hall way"],
    "living": ["leaving", "livin"], "room": ["rome", "rum"], "volume": ["volumes", "valium"], "shopping": ["shoping", "chopping"], "list": ["lists", "lest"],
    "degrees": ["degree", "the grease"], "minutes": ["minute", "minuets", "minuits"], "seconds": ["second", "sec ends"], "hours": ["ours", "hour"], "hour": ["our"],
    "turn": ["tern", "tune"], "off": ["of"], "set": ["sit", "said", "sat"], "dim": ["deem", "dem"], "play": ["plate", "pray"], "pause": ["paws", "pours"],
    "song": ["sung"], "music": ["musics"], "add": ["at", "ad", "had"], "remove": ["removed"], "convert": ["convirt"], "plus": ["pulse"], "times": ["time's"],
    "wake": ["weak"], "cancel": ["counsel", "council"], "stop": ["stopped"], "please": ["peas", "pleas"], "heating": ["heeding", "eating"], "brightness": ["bright ness"],
    "two": ["too", "to"], "four": ["for", "fore"], "eight": ["ate"], "one": ["won"], "ten": ["tin"], "six": ["sicks"], "five": ["hive"], "seven": ["sven"], "nine": ["nein"],
    "thirty": ["dirty", "thurty"], "forty": ["fourty"], "what's": ["whats", "what is"], "how": ["who"], "remind": ["re mind"], "temperature": ["temprature"],
}

OPENERS = ["hey", "hi", "okay", "ok", "so", "um", "uh", "er", "well", "alright", "right", "hello", "hey there", "oh", "please", "now", "yo", "yeah", "hmm", "listen", "uhm", "like",
           "hey assistant", "ok computer", "hey linnet", "linnet", "computer", "assistant", "excuse me", "quick question", "quickly", "also", "and", "oh and", "one more thing", "wait", "actually",
           "let's see", "thanks", "good", "great", "perfect", "okay great", "alright then", "okay so", "um so", "uh hey", "hello there", "good morning", "good evening"]
POLITE = ["please", "can you", "could you", "would you", "can you please", "could you please", "would you please", "i'd like you to", "i want you to", "i need you to", "will you",
          "would you mind to", "you should", "go ahead and", "be so kind and", "kindly", "do me a favor and", "help me out and", "if you can", "can i get you to", "could you maybe",
          "please just", "just", "quickly", "can you quickly", "hey can you", "let's", "i'd love for you to", "i was hoping you could", "could you possibly", "why don't you",
          "i would like you to", "it would be great if you could", "can ya", "would you be able to", "are you able to", "may i ask you to"]
CLOSERS = ["please", "thanks", "thank you", "now", "right now", "for me", "would you", "will you", "if you can", "okay", "ok", "cheers", "quickly", "right away", "pretty please", "if you don't mind",
           "for me please", "thanks a lot", "when you can", "my friend", "real quick", "if possible", "immediately", "buddy", "dear", "mate", "man", "uh", "you know", "then", "already"]
ASIDES = ["i'm cooking", "my hands are full", "i'm in a hurry", "i'm driving", "we have guests", "it's late", "i'm tired", "the kids are asleep", "i'm in bed", "i can't see a thing", "i almost forgot",
          "i'm about to leave", "dinner is nearly ready", "i'm working", "i just got home", "we're watching a movie", "the baby is sleeping", "i have my hands wet", "i'm busy", "it's too early",
          "i'm on my way", "sorry", "sorry to bother you", "before i forget", "i'm baking", "my phone is dead", "i'm reading", "we are about to eat", "my wife is asleep", "i lost my glasses"]

# What people write who are in a hurry, and what they call whom they ask.
TEXTED = {"please": ["pls", "plz"], "you": ["u"], "your": ["ur"], "are": ["r"], "the": ["teh", "th"], "and": ["n", "&"], "thanks": ["thx", "ty"], "minutes": ["mins"], "what's": ["wats", "whats"], "what": ["wat"], "because": ["cuz"],
          "okay": ["k"], "want": ["wanna"], "with": ["w/"], "some": ["sum"], "about": ["abt"], "my": ["me"], "cancel": ["cancle"], "to": ["2"], "going": ["goin"], "something": ["smth"]}
BEFORE = ["pls", "plz", "can u", "could u", "pls can u", "can you pls", "would u", "hey u", "darling", "mate", "sweetheart", "yo bro", "dear", "ay"]
BEHIND = ["pls", "plz", "rn", "thx", "asap", "ty", "for me love", "for me darling", "lol", "ta", "for a mo", "if u can", "please and thank you", ", love", ", darling", ", sweetheart", ", hun", ", pal", ", bro", "pls pls", "pleeease", "plz thx", "right this second"]
CLAUSES = ["grandad's coming", "i can't read my book", "my eyes hurt", "i'm on holiday", "the cake is still wet", "nan is visiting", "the cat is hungry", "it's getting late", "my hands are wet", "the kids are home", "i'm nearly there",
           "we overslept", "the guests are early", "my boss is calling", "it's a long story", "you know the one", "i keep losing track", "mommy says so", "dad told me to", "it's my turn", "i said so before", "the dog is barking",
           "my back aches", "the bus is late", "it's raining", "i found my glasses", "nobody else will", "you're the best", "i nearly forgot", "the oven is hot", "my tea is getting cold", "granny is asleep", "the match is on",
           "we have all day", "i'm not well today", "it's a surprise", "she asked me to", "he wants it so"]


class Gen:
    """Makes one conversation. held=True: only held-out patterns and words."""

    def __init__(self, rng, held=False):
        self.rng, self.held = rng, held

    def chance(self, p):
        return self.rng.random() < p

    def below(self, n):
        return int(self.rng.random() * n)

    def between(self, a, b):
        return a + self.below(b - a + 1)

    def pick(self, options):
        return options[self.below(len(options))]

    # --- words

    def invented(self, lexicon=None):
        """A word that does not exist: syllables, the head of one word of the lexicon and the tail of another, or two words as one, since greenhouse is no green house."""
        if lexicon is not None and self.chance(0.15):
            w = self.pick(self.pick(self.pick([x for x in Lexicon.every if x.open]).train).split()) + self.pick(lexicon.train).split()[-1]
            return self.invented(lexicon) if len(w) > 16 else self.checked(w, lexicon)
        if lexicon is None or self.chance(0.5):
            w = "".join(self.pick(ONSETS) + self.pick(NUCLEI) + self.pick(CODAS) for _ in range(self.pick([1, 1, 2])))
            w += self.pick(ENDINGS) if self.chance(0.3) else ""
        else:
            a, b = (self.pick(self.pick(lexicon.train).split()) for _ in range(2))
            w = a[:self.between(1, max(1, len(a) - 1))] + b[self.between(1, max(1, len(b) - 2)):]
        return self.checked(w, lexicon)

    def checked(self, w, lexicon):
        """An invented word, or another one where it is rude, unreadable or held out."""
        return self.invented(lexicon) if RUDE.search(w) or not w.isalpha() or len(w) < 4 or not re.search("[aeiou]", w) or w in Lexicon.held_out else w

    def word(self, lexicon):
        """One entry of a lexicon; in training, a third of an open lexicon is made up (one or two words), so that where a name ends is learnt from
        the words around it."""
        if self.held:
            return self.pick(lexicon.held)
        if not lexicon.open or self.chance(2 / 3):
            return self.pick(lexicon.train)
        if self.chance(0.25) and (w := self.spliced(lexicon)):
            return w
        x = self.rng.random()
        if x < 0.3:
            w = self.borrowed(lexicon)
            return w if Lexicon.allows(w) else self.word(lexicon)
        if x < 0.45:
            return self.pick(lexicon.train).split()[0] + " " + self.invented(lexicon)
        return self.invented(lexicon) if x < 0.87 else self.invented(lexicon) + " " + self.invented(lexicon)

    def spliced(self, lexicon):
        """An entry of three words or more with another one in it: what stands around small words is a name as a whole. None where the entry drawn is shorter."""
        w, other = self.pick(lexicon.train).split(), self.pick(self.pick(self.pick([x for x in Lexicon.every if x.open]).train).split())
        spots = [i for i, x in enumerate(w) if len(x) > 3 and x not in NUMBER_WORDS]
        if len(w) < 3 or not spots or len(other) < 4 or not other.isalpha() or other in NUMBER_WORDS:
            return None
        w[self.pick(spots)] = other
        return " ".join(w) if Lexicon.allows(" ".join(w)) else None

    def borrowed(self, lexicon):
        """A real word out of its place: one of any lexicon before the last word of this one, or the other way round."""
        own, other = (self.pick(x.train).split() for x in (lexicon, self.pick([x for x in Lexicon.every if x.open])))
        w = [other[0], own[-1]] if self.chance(0.6) else [own[0], other[-1]]
        return self.borrowed(lexicon) if any(len(x) < 4 or x in NUMBER_WORDS for x in w) else " ".join(w)

    # --- numbers

    def number(self, a, b, step=1):
        """A number in a..b (a multiple of `step`). Those that held_number() names are only in the held-out set, where the range has any."""
        for _ in range(60):
            n = a + step * self.below((b - a) // step + 1)
            if held_number(n) == self.held:
                return n
        return n

    def say_number(self, n):
        """n in digits or as words, as people and recognisers write it."""
        return str(n) if self.chance(0.45) else self.words(n)

    def words(self, n):
        if isinstance(n, float) or isinstance(n, str):
            whole, _, part = str(n).partition(".")
            return self.words(int(whole)) + (" point " + " ".join(UNITS[int(d)] for d in part) if part else "")
        if n < 0:
            return self.pick(["minus ", "negative "]) + self.words(-n)
        if n < 20:
            return UNITS[n]
        if n < 100:
            return TENS[n // 10] + (self.pick([" ", " ", "-"]) + UNITS[n % 10] if n % 10 else "")
        if n < 1000:
            head = self.pick(["a", "one"]) if n < 200 else UNITS[n // 100]
            return f"{head} hundred" + (self.pick([" and ", " "]) + self.words(n % 100) if n % 100 else "")
        if n < 1000000:
            head = self.pick(["a", "one"]) if n < 2000 else self.words(n // 1000)
            rest = n % 1000
            return f"{head} thousand" + ((" and " if rest < 100 else " ") + self.words(rest) if rest else "")
        return str(n)

    # --- patterns

    def fill(self, pattern, slots, v):
        """The text of a pattern; the values of its slots go into v."""
        pattern, _, constants = pattern.partition("=>")
        for c in constants.split(","):
            if "=" in c:
                k, x = c.split("=", 1)
                x = x.strip()
                v[k.strip()] = int(x) if x.lstrip("-").isdigit() else {"true": True, "false": False}.get(x, x)
        before = dict(v)
        text, end = self._expand(pattern, 0, slots, v, "")
        while AMBIGUOUS in text:
            v.clear()
            v.update(before)
            text, end = self._expand(pattern, 0, slots, v, "")
        assert end == len(pattern), pattern
        return " ".join(text.replace(GLUE + "'", "'").split())

    def _expand(self, p, i, slots, v, stop):
        """Expands p[i:] up to one of `stop`. Alternatives are chosen first and only the chosen one is expanded."""
        out = []
        while i < len(p) and p[i] not in stop:
            c = p[i]
            if c in "([":
                parts, end = split_alternatives(p, i)
                chosen = self.pick(parts) if c == "(" else (self.pick(parts) if self.chance(0.5) else "")
                out.append(self._expand(chosen, 0, slots, v, "")[0])
                i = end
            elif c == "{":
                end = p.index("}", i)
                key = p[i + 1:end]
                text, value = slots[key](self)
                v[key] = value
                # What is to be copied must not be changed by the noise: its spaces are hidden until clean().
                out.append(text.replace(" ", GLUE) + GLUE if isinstance(value, (str, list)) else text)
                i = end + 1
            else:
                assert c not in ")]}", p
                out.append(c)
                i += 1
        return "".join(out), i

    # --- noise

    def dress(self, text, polite):
        """Politeness, fillers, asides, mishearing, typing: the same request as other people would utter it."""
        w = text.split()
        question = w[0] in ("what", "what's", "whats", "how", "is", "are", "when", "which", "who", "where", "do", "does", "why", "did", "can", "could", "will", "i", "i'm", "am", "there's", "it's", "my", "the", "and", "we", "we're", "we've", "our", "there", "let's", "every", "everything", "so", "too", "no", "not", "this", "that", "you", "they", "nobody", "he", "she", "would", "never", "a", "an", "must", "need", "got", "don't", "gotta", "forgot")
        if polite and not question and self.chance(0.3):
            text = self.pick(POLITE) + " " + text
        if self.chance(0.18):
            text = self.pick(OPENERS) + " " + text
        if self.chance(0.15):
            text = text + " " + self.pick(CLOSERS)
        if self.chance(0.04):
            aside = self.pick(ASIDES)
            text = self.pick([aside + " " + text, aside + " so " + text, text + " " + aside, text + " because " + aside])
        if self.chance(0.04):  # a filler somewhere inside
            w = text.split()
            w.insert(self.between(1, len(w)) if len(w) > 1 else 1, self.pick(["um", "uh", "er", "like", "uhm", "you know", "erm"]))
            text = " ".join(w)
        return text

    def mishear(self, text):
        """Now and then one word as a recogniser mishears it."""
        w = text.split()
        spots = [i for i, x in enumerate(w) if x in MISHEARD]
        if not spots:
            return text
        i = self.pick(spots)
        if w[i] in UNITS + TENS and (i > 0 and w[i - 1] in NUMBER_WORDS or i + 1 < len(w) and w[i + 1] in UNITS + TENS + ["hundred", "point", "thousand"]):
            return text  # inside a longer number the sound alone would not tell
        w[i] = self.pick(MISHEARD[w[i]])
        return " ".join(w)

    def typo(self, text):
        """One slip of the fingers in a word of the wording itself."""
        w = text.split()
        spots = [i for i, x in enumerate(w) if len(x) > 3 and x.isalpha() and x not in NUMBER_WORDS]
        if not spots:
            return text
        i = self.pick(spots)
        x, k = w[i], self.between(1, len(w[i]) - 2)
        w[i] = self.pick([x[:k] + x[k + 1:], x[:k] + x[k] + x[k:], x[:k] + x[k + 1] + x[k] + x[k + 2:], x[:k] + self.pick("abcdefghijklmnopqrstuvwxyz") + x[k + 1:]])
        return " ".join(w)

    def hurried(self, text):
        """What is written on a phone, or said around a request."""
        if self.chance(0.02):
            text = self.pick(BEFORE) + " " + text
        if self.chance(0.03):
            text = text + " " + self.pick(BEHIND)
        if self.chance(0.025):
            text = self.pick(["{1} , {0}", "{0} , {1}", "{0} {1}"]).format(text, self.pick(CLAUSES))
        if self.chance(0.03):
            text = " ".join(self.pick(TEXTED[w]) if w in TEXTED and self.chance(0.7) else w for w in text.split(" "))
        return text

    def utter(self, text, polite=True):
        """A filled pattern as somebody says or types it."""
        text = self.dress(text, polite)
        if not self.held:
            text = self.hurried(text)
        if self.chance(0.06):
            text = self.mishear(text)
        if self.chance(0.03):
            text = self.typo(text)
        if self.chance(0.55):
            if self.chance(0.03):  # apostrophes left out, but not of what is copied
                text = " ".join(w if GLUE in w else w.replace("'", "") for w in text.split(" "))
            return clean(text)
        if self.chance(0.3):  # names as they are written
            text = re.sub(f"[^ ]+{GLUE}", lambda m: re.sub(f"(^|{GLUE})([a-z])(?=[a-z]{{2}})", lambda x: x[1] + x[2].upper(), m[0]), text)
        return self.typed(clean(text))

    def typed(self, text):
        """Capitals and punctuation as people type them."""
        if self.chance(0.01 if self.held else 0.03):
            return text.upper()
        if self.chance(0.6):
            text = text[:1].upper() + text[1:]
        text = text.replace(" i ", " I ").replace("i'm ", "I'm ")
        if self.chance(0.5):
            text = re.sub(r"^(no|nope|nah|yes|yeah|hey|hi|hello|ok|okay|oh|so|well|sorry|actually|right|alright|wait|thanks|great|please|um|uh)(?= \S)", r"\1,", text, flags=re.I)
        if self.chance(0.4):
            text = re.sub(r"(?<=\w) (please|thanks|thank you|would you|will you|mate|dear|buddy)$", r", \1", text)
        question = text.lower().startswith(("what", "how", "is ", "are ", "when", "which", "who", "where", "can ", "could ", "would ", "do ", "does ", "will "))
        return text + (self.pick(["?", "?", ""]) if question else self.pick([".", ".", "", "!"]))


def held_number(n):
    """About one number in eight never occurs in training as a free number; round ones do, and those below twenty, whose words are no compounds of others."""
    if n < 20 or n % 10 == 0 or n % 25 == 0:
        return False
    return (n * 2654435761 >> 7) % 8 == 3


def split_alternatives(p, i):
    """The alternatives of the bracket at p[i], and the index after it."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth, start, parts, expected = 0, i + 1, [], []
    while True:
        c = p[i]
        if c in pairs:
            expected.append(pairs[c])
        elif c in pairs.values():
            assert expected and expected.pop() == c, p
            if not expected:
                parts.append(p[start:i])
                return parts, i + 1
        elif c == "|" and len(expected) == 1:
            parts.append(p[start:i])
            start = i + 1
        i += 1


def forms(pattern):
    """In how many ways a pattern can be worded, its slots not counted."""
    p, i, n = pattern.partition("=>")[0], 0, 1
    while i < len(p):
        if p[i] in "([":
            parts, end = split_alternatives(p, i)
            n *= sum(map(forms, parts)) + (p[i] == "[")
            i = end
        else:
            i += 1
    return n


def hold_out(intent, share=1 / 20, most=30):
    """Splits an intent's wordings: one in twenty is never seen by training, drawn by its hash from those with few forms. Wordings with many forms are
    the common ones and belong to training, as does a wording with a word that fewer than two others of the intent have: nothing else would teach it.
    A wording in both lists stays in both: a slot alone, whose words the held-out set draws differently."""
    both = set(intent.patterns) & set(intent.held)
    pool = [p for p in dict.fromkeys(intent.patterns + intent.held) if p not in both]
    words = {p: set(re.findall(r"[a-z']+", re.sub(r"{.*?}", " ", p.partition("=>")[0]))) for p in pool}
    count = collections.Counter(w for p in pool for w in words[p])
    ranked = sorted((p for p in pool if forms(p) <= most), key=lambda p: hashlib.sha256(f"{intent.name}/{p}".encode()).digest())
    held = set()
    for p in ranked:
        if len(held) >= share * len(pool):
            break
        if all(count[w] > 2 for w in words[p]):
            held.add(p)
            count.subtract(words[p])
    held = held or set(ranked[:1])
    intent.patterns = [p for p in pool if p not in held] + sorted(both)
    intent.held = [p for p in pool if p in held] + sorted(both)


def arguments(v, *keys):
    """The values of v under these keys, in this order, without those that were not said."""
    return {k: v[k] for k in keys if v.get(k) is not None}


def tool_call(name, args):
    return json.dumps({"name": name, "arguments": args}, separators=(",", ":"), ensure_ascii=False)


def plural(n, unit):
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


def spoken_duration(d):
    """{"hours": 1, "minutes": 30} as "1 hour and 30 minutes"."""
    return " and ".join(plural(d[k], k[:-1]) for k in ("hours", "minutes", "seconds") if k in d)


def joined(items):
    """["a", "b", "c"] as "a, b and c"."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


# --- slots that several domains use: each gives (text as said, value)

def duration(g):
    """ "ten minutes", "an hour and a half", "1 h 30"; the value keeps the units that were said."""
    if not g.held and g.chance(0.06):
        return g.pick([("half an hour", {"minutes": 30}), ("a half hour", {"minutes": 30}), ("a quarter of an hour", {"minutes": 15}), ("three quarters of an hour", {"minutes": 45}),
                       ("half a minute", {"seconds": 30}), ("an hour and a half", {"hours": 1, "minutes": 30}), ("one and a half hours", {"hours": 1, "minutes": 30}),
                       ("a minute and a half", {"minutes": 1, "seconds": 30}), ("a couple of minutes", {"minutes": 2}), ("a couple minutes", {"minutes": 2}), ("an hour", {"hours": 1}),
                       ("a minute", {"minutes": 1}), ("a couple of hours", {"hours": 2}), ("an hour and a quarter", {"hours": 1, "minutes": 15}), ("a quarter hour", {"minutes": 15}),
                       ("one minute thirty", {"minutes": 1, "seconds": 30}), ("an hour and ten minutes", {"hours": 1, "minutes": 10}), ("a dozen minutes", {"minutes": 12})])
    if g.chance(0.04):  # as typed: 1h 15m, 90s
        a, b = g.pick([("hours", "minutes"), ("hours", "minutes"), ("minutes", "seconds")])
        n, m = g.number(1, 12 if a == "hours" else 90), g.number(1, 59)
        if g.chance(0.5):
            return f"{n}{g.pick(['', '', ' '])}{g.pick([a[0], a[0], {'hours': 'hr', 'minutes': 'min'}[a]])}", {a: n}
        return f"{n}{a[0]}{g.pick(['', ' '])}{m:02d}{g.pick([b[0], b[0], ''])}", {a: n, b: m}
    kind = g.rng.random()
    if kind < 0.09:
        n = g.number(2, 12)
        unit = g.pick([("hours", "minutes", 30), ("minutes", "seconds", 30)])
        return f"{g.say_number(n)} and a half {unit[0]}", {unit[0]: n, unit[1]: unit[2]}
    if kind < 0.24:
        a, b = g.pick([("hours", "minutes"), ("hours", "minutes"), ("minutes", "seconds")])
        n, m = g.number(1, 12), g.number(1, 59)
        first = {1: g.pick(["an hour", "one hour", "1 hour"] if a == "hours" else ["a minute", "one minute", "1 minute"])}.get(n, f"{g.say_number(n)} {a}")
        return f"{first} {g.pick(['and ', ''])}{g.say_number(m)} {b if m != 1 else b[:-1]}", {a: n, b: m}
    unit = g.pick(["minutes"] * 7 + ["seconds"] * 2 + ["hours"] * 2)
    n = g.number(1, {"minutes": 60, "seconds": 60, "hours": 12}[unit]) if g.chance(0.9) else g.number(61, 180)
    if g.chance(0.3):
        n = g.number(5, 60, 5) if not g.held else n
    if n == 1:
        return g.pick([f"one {unit[:-1]}", f"1 {unit[:-1]}", ("an " if unit == "hours" else "a ") + unit[:-1]]), {unit: 1}
    short = {"minutes": ["min", "mins", "minute"], "seconds": ["sec", "secs", "second"], "hours": ["hour", "hrs"]}[unit]
    return f"{g.say_number(n)} {g.pick([unit] * 8 + short)}", {unit: n}


def adjective_duration(g):
    """ "ten minute" as in "a ten minute timer"."""
    unit = g.pick(["minutes"] * 7 + ["seconds"] * 2 + ["hours"] * 2)
    n = g.number(1, 60 if unit != "hours" else 12)
    return f"{g.say_number(n)}{g.pick([' ', ' ', '-'])}{unit[:-1]}", {unit: n}


ROOMS = Lexicon("""kitchen, bedroom, living room, bathroom, hallway, garage, office, dining room, kids room, nursery, guest room, basement, attic, garden, balcony, hall, study, lounge,
    master bedroom, front room, laundry room, porch, patio, closet, playroom, entrance, stairs, den, workshop, back yard, game room, toilet, cellar, corridor, guest bathroom, bed room,
    children's room, upstairs, downstairs, outside, driveway, shed, loft, entryway, family room, storage room, library, terrace, spare room, tv room, gym, mudroom, car,
    family bathroom, kids bedroom, children's bedroom, baby room, guest toilet, guest suite, utility, reading room, computer room, school room, yoga room, fitness room, theater room, larder, entry, entry hall,
    kitchen diner, great room, upstairs office, upstairs living room, downstairs office, basement bathroom, basement bedroom, attic bedroom, garage workshop, hall closet, second bathroom, third bedroom, main room,
    parents bedroom, in law suite, first bedroom""",
                """conservatory, pantry, sunroom, studio, foyer, utility room, landing, music room, boiler room, orangery, greenhouse, tool room""")


def room(g):
    w = g.word(ROOMS)
    return w, w
