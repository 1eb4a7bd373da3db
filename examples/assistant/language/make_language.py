#!/usr/bin/env python3
"""Makes the recogniser's language model and dictionary: make_language.py [--conversations N] [--seed S] [--out FOLDER] [--text FILE]

Trigrams of what the training patterns say (../training; never the held-out set), and, for the words that no pattern has, the unigrams of PocketSphinx's
own English. Needs the packages pocketsphinx-en-us, sphinxbase-utils (sphinx_lm_convert) and flite (pronunciations that the dictionary lacks); the
same seed gives the same bytes. --text keeps the sentences, or takes them from there when the file is there.
"""
import argparse
import collections
import hashlib
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "training")]
import grammar  # noqa: E402
import make_data  # noqa: E402
from spoken import spoken  # noqa: E402

ENGLISH = Path("/usr/share/pocketsphinx/model/en-us")
NEW = "<new>"  # a word that the model's vocabulary lacks: what training made up
NEW_SHARE = 0.1  # probability of all unseen words together where nothing is known: found on words kept out of training sentences
NEW_POWER = 0.5  # unseen words differ less in frequency than in running English: they are names and things
LEAST2, LEAST3 = 14, 16  # an n-gram is kept when it saves this many nats over backing off, on the training sentences
UNSEEN = 19000
# As the assistant's model has them written.
SAID = {"am": ["EY EH M"], "pm": ["P IY EH M"]}
# flite's phones are the dictionary's but for these.
PHONES = {"ax": "AH", "axr": "ER", "ix": "IH", "em": "AH M", "en": "AH N", "el": "AH L", "dx": "T", "nx": "N"}


class Speaker(grammar.Gen):
    """Says what is meant: no slips, no digits where words can stand."""

    def mishear(self, text):
        return text

    def typo(self, text):
        return text

    def typed(self, text):
        return text

    def say_number(self, n):
        return self.words(n)


def requests(n, seed):
    """User turns of n training conversations."""
    world = make_data.World()
    for k in range(n):
        c = make_data.conversation(Speaker(random.Random(f"{seed}/language/{k}")), world)
        for m in c["messages"]:
            text = spoken(m["content"]) if m["role"] == "user" else ""
            if text:
                yield text


def dictionary():
    words = collections.defaultdict(list)
    for line in (ENGLISH / "cmudict-en-us.dict").read_text().splitlines():
        word, *phones = line.split()
        words[word.split("(")[0]].append(" ".join(phones))
    return words


def english():
    """{word: probability} of the package's model. The converter breaks off behind the unigrams of this file, which are all that is wanted."""
    with tempfile.TemporaryDirectory() as folder:
        arpa = Path(folder) / "en.arpa"
        subprocess.run(["sphinx_lm_convert", "-i", ENGLISH / "en-us.lm.bin", "-o", arpa, "-ofmt", "arpa"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        words, inside = {}, False
        for line in arpa.read_text(errors="replace").splitlines():
            if line.startswith("\\"):
                inside = line == "\\1-grams:"
            elif inside and line.count("\t") == 2:
                p, word, _ = line.split("\t")
                words[word] = 10 ** float(p)
        return words


def pronounced(word):
    """By flite's rules."""
    out = subprocess.run(["flite", "-voice", "kal16", "-ps", "-t", word, "-o", "none"], capture_output=True, text=True, check=True).stdout.split()
    return " ".join(PHONES.get(x, x.upper()) for x in out if x != "pau")


class Model:
    """Interpolated Witten-Bell trigrams. Histories that many different words follow (names, things to buy) leave much to words never seen there."""

    def __init__(self, sentences, vocabulary, unseen):
        c1, c2, c3 = collections.Counter(), collections.Counter(), collections.Counter()
        for s in sentences:
            w = ["<s>"] + [x if x in vocabulary else NEW for x in s.split()] + ["</s>"]
            c1.update(w[1:])
            c2.update(zip(w, w[1:]))
            c3.update(zip(w, w[1:], w[2:]))
        known, total = sum(k for w, k in c1.items() if w != NEW), sum(unseen.values())
        self.p1 = {w: (1 - NEW_SHARE) * k / known for w, k in c1.items() if w != NEW}
        self.p1.update((w, NEW_SHARE * g / total) for w, g in unseen.items())
        n2, t2, n3, t3 = (collections.Counter() for _ in range(4))
        for (a, _), k in c2.items():
            n2[a] += k
            t2[a] += 1
        for (a, b, _), k in c3.items():
            n3[a, b] += k
            t3[a, b] += 1

        def p2(a, b):
            return (c2.get((a, b), 0) + t2[a] * self.p1[b]) / (n2[a] + t2[a])

        self.p2, self.p3 = {}, {}
        for (a, b), k in c2.items():
            if NEW not in (a, b) and k * math.log(p2(a, b) * (n2[a] + t2[a]) / (t2[a] * self.p1[b])) > LEAST2:
                self.p2[a, b] = p2(a, b)
        for (a, b, d), k in c3.items():
            if NEW in (a, b, d):
                continue
            share = t3[a, b] * p2(b, d)
            if k * math.log((k + share) / share) > LEAST3:
                self.p3[a, b, d] = (k + share) / (n3[a, b] + t3[a, b])
        for a, b, d in self.p3:  # the parts of what is kept
            self.p2.setdefault((a, b), p2(a, b))
            self.p2.setdefault((b, d), p2(b, d))
        # What is left for the others of a history, over what backing off would give them.
        kept, low = collections.defaultdict(float), collections.defaultdict(float)
        for (a, b), p in self.p2.items():
            kept[a] += p
            low[a] += self.p1[b]
        self.b1 = {a: (1 - kept[a]) / (1 - low[a]) for a in kept}
        kept, low = collections.defaultdict(float), collections.defaultdict(float)
        for (a, b, d), p in self.p3.items():
            kept[a, b] += p
            low[a, b] += self.p2[b, d]
        self.b2 = {h: max(1e-6, 1 - kept[h]) / max(1e-6, 1 - low[h]) for h in kept}

    def write(self, path):
        def log(x):
            return f"{math.log10(x):.3f}"

        with open(path, "w") as f:
            f.write(f"\\data\\\nngram 1={len(self.p1) + 1}\nngram 2={len(self.p2)}\nngram 3={len(self.p3)}\n\n\\1-grams:\n-99.000 <s> {log(self.b1['<s>'])}\n")
            f.writelines(f"{log(self.p1[w])} {w} {log(self.b1.get(w, 1))}\n" for w in sorted(self.p1))
            f.write("\n\\2-grams:\n")
            f.writelines(f"{log(self.p2[h])} {' '.join(h)} {log(self.b2.get(h, 1))}\n" for h in sorted(self.p2))
            f.write("\n\\3-grams:\n")
            f.writelines(f"{log(self.p3[h])} {' '.join(h)}\n" for h in sorted(self.p3))
            f.write("\n\\end\\\n")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--conversations", type=int, default=250000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--out", type=Path, default=HERE)
    p.add_argument("--text", type=Path)
    a = p.parse_args()
    if a.text and a.text.exists():
        sentences = a.text.read_text().splitlines()
        make_data.World()  # the lexicons without what is held out
    else:
        sentences = list(requests(a.conversations, a.seed))
        if a.text:
            a.text.write_text("".join(s + "\n" for s in sentences))
    words = dictionary()
    count = collections.Counter(w for s in sentences for w in s.split())
    real = {x for lexicon in grammar.Lexicon.every for w in lexicon.train for x in spoken(w).split()}
    vocabulary = {w for w, k in count.items() if w in real or k >= (3 if w in words else 60)}
    general = {w: g for w, g in english().items() if w in words and w not in vocabulary and len(w) > 2 and w[0].isalpha() and "." not in w}
    unseen = {w: general[w] ** NEW_POWER for w in sorted(general, key=lambda w: (-general[w], w))[:UNSEEN]}
    model = Model(sentences, vocabulary, unseen)
    with open(a.out / "assistant.dict", "w") as f:
        for w in sorted(set(model.p1) - {"</s>"}):
            ways = words.get(w, []) + [x for x in SAID.get(w, []) if x not in words.get(w, [])] or [pronounced(w)]
            f.writelines(f"{w}{f'({k})' if k > 1 else ''} {x}\n" for k, x in enumerate(ways, 1))
    with tempfile.TemporaryDirectory() as folder:
        arpa = Path(folder) / "assistant.arpa"
        model.write(arpa)
        subprocess.run(["sphinx_lm_convert", "-i", arpa, "-o", a.out / "assistant.lm.bin", "-ofmt", "bin"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    print(f"{len(sentences)} sentences, {len(model.p1)} words, {len(model.p2)} bigrams, {len(model.p3)} trigrams")
    for name in ("assistant.lm.bin", "assistant.dict"):
        data = (a.out / name).read_bytes()
        print(f"{name}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
