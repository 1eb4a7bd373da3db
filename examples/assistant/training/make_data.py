#!/usr/bin/env python3
"""Writes the assistant's text: make_data.py [--train N] [--heldout N] [--out FOLDER] [--seed S]

Conversations as JSON lines, {"intents": [...], "messages": [{"role", "content"}, ...]}. The held-out set uses
patterns and words of domains/ that training does not (grammar.hold_out). Needs Python alone; the same seed gives the same bytes.
"""
import argparse
import hashlib
import importlib
import json
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from grammar import Gen, Lexicon, hold_out, tool_call  # noqa: E402

# How often a conversation opens in a domain.
DOMAINS = {"timers": 1.3, "clock": 1.6, "lights": 1.5, "climate": 1.1, "music": 1.4, "lists": 1.3, "math_units": 1.1, "talk": 0.7, "cannot": 1.5}
# How much more often than the held-out set training has what is hard to learn.
PRACTICE = {"music.known": 1.8, "music.by": 2.0, "music.artist": 1.4, "lists.remove": 1.9, "lists.remove.task": 2.2, "lists.add": 1.2, "lights.color": 1.7, "lights.color.it": 1.6, "math.words": 1.3, "math.cost": 1.3, "clock.set.named": 1.4,
            "clock.remind": 1.2, "clock.date.day": 1.4, "clock.cancel": 1.3, "timers.cancel": 1.3, "timers.pause": 1.5, "lists.undo": 1.5, "math.bill": 1.4, "math.percent": 1.4, "climate.change": 1.2,
            "lists.read.named": 1.3, "lights.too": 1.2}


def practice(intent, held):
    return 1 if held else PRACTICE.get(intent.name, 1)


class World:
    def __init__(self):
        self.intents = []  # (domain weight share, intent)
        openers = []
        for domain, weight in DOMAINS.items():
            intents = importlib.import_module(f"domains.{domain}").INTENTS
            self.intents += intents
            own = [i for i in intents if not i.follows]
            total = sum(i.weight for i in own)
            openers += [(weight * i.weight / total, i) for i in own]
        Lexicon.keep_held_out()
        self.openers = {held: self.cumulated([(w * practice(i, held), i) for w, i in openers]) for held in (False, True)}
        names = {i.name for i in self.intents}
        assert len(names) == len(self.intents), "intent names repeat"
        for i in self.intents:
            hold_out(i)
            assert set(i.follows) <= names | {"*"}, (i.name, set(i.follows) - names)

    @staticmethod
    def cumulated(options):
        total, at, out = sum(w for w, _ in options), 0.0, []
        for w, i in options:
            at += w / total
            out.append((at, i))
        return out

    def opener(self, g):
        x, openers = g.rng.random(), self.openers[g.held]
        return next((i for at, i in openers if x < at), openers[-1][1])

    def follower(self, g, previous):
        """An intent that may come after `previous`, or None."""
        options = [i for i in self.intents if previous.name in i.follows]
        if not options or g.chance(0.12):
            options = [i for i in self.intents if "*" in i.follows]
        weights = [i.weight * practice(i, g.held) for i in options]
        x = g.rng.random() * sum(weights)
        for w, i in zip(weights, options):
            x -= w
            if x < 0:
                return i
        return options[-1] if options else None


def exchange(g, intent, prev, messages, drop_result):
    """Appends one request and its answer; returns what the next turn may refer to."""
    v = {"prev": prev}
    # Of training, the wordings that a domain lists first (the plain ones) a little more often.
    wordings = intent.held if g.held else intent.patterns
    text = g.fill(g.pick(wordings) if g.held else wordings[int(len(wordings) * g.rng.random() ** 1.4)], intent.slots, v)
    messages.append({"role": "user", "content": g.utter(text, polite=not intent.name.startswith("talk."))})
    called = intent.call(v)
    if called is None:
        messages.append({"role": "assistant", "content": intent.say(g, v, None, None)})
        return {**v, "args": {}, "tool": None, "result": {}}
    name, args = called
    messages.append({"role": "assistant", "content": tool_call(name, args)})
    result = intent.result(g, v, args)
    if not drop_result:
        messages.append({"role": "tool", "content": json.dumps(result, separators=(",", ":"), ensure_ascii=False)})
        messages.append({"role": "assistant", "content": intent.say(g, v, args, result)})
    return {**v, "args": args, "tool": name, "result": result}


def conversation(g, world):
    """One to three turns about a topic; at times more topics follow, now and then very many (a long evening)."""
    topics = 1 if g.chance(0.78) else g.between(2, 3) if g.chance(0.95) else g.between(6, 16)
    messages, names = [], []
    for _ in range(topics):
        intent, prev = world.opener(g), {}
        for turn in range(3):
            more = turn < 2 and g.chance(0.3)
            # Requests are what has to be learnt: most calls of training stand without result and sentence, as in an app that shows them and asks
            # on. Sums, conversions and music may be asked on about with the result in mind.
            drop = not g.held and g.chance(0.85) and not (more and intent.name.split(".")[0] in ("math", "units", "music"))
            prev = exchange(g, intent, prev, messages, drop)
            names.append(intent.name)
            if "error" in prev["result"] or not more:
                break
            intent = world.follower(g, intent)
            if intent is None:
                break
    return {"intents": names, "messages": messages}


def write(path, n, seed, held, world):
    """n conversations; returns (exchanges, SHA-256 of the file)."""
    digest, exchanges, seen = hashlib.sha256(), 0, set()
    with open(path, "wb") as f:
        k = 0
        while k < n:
            g = Gen(random.Random(f"{seed}/{'held' if held else 'train'}/{k}"), held)
            c = conversation(g, world)
            k += 1
            if held:  # the same request twice would count twice
                key = json.dumps([m["content"] for m in c["messages"] if m["role"] == "user"]).lower()
                if key in seen:
                    n += 1
                    continue
                seen.add(key)
            line = (json.dumps(c, separators=(",", ":"), ensure_ascii=False) + "\n").encode()
            digest.update(line)
            f.write(line)
            exchanges += len(c["intents"])
    return exchanges, digest.hexdigest()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--train", type=int, default=2150000, help="training conversations")
    p.add_argument("--heldout", type=int, default=1600, help="held-out conversations")
    p.add_argument("--out", type=Path, default=Path("build/assistant"))
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    world = World()
    for name, n, held in (("heldout", a.heldout, True), ("train", a.train, False)):
        if n:
            exchanges, digest = write(a.out / f"{name}.jsonl", n, a.seed, held, world)
            print(f"{name}: {n} conversations, {exchanges} exchanges, sha256 {digest}")


if __name__ == "__main__":
    main()
