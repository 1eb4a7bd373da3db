#!/usr/bin/env python3
"""Adapts the recogniser to a voice: adapt.py OUT [--voice FLITE_VOICE | --recordings FOLDER] [--sentences N] [--seed S]

Writes OUT/means and OUT/variances, for `recognizer: {voice: OUT}` of the settings: PocketSphinx's English acoustic model after MAP adaptation (Gauvain and
Lee 1994). The voice is flite's, which speaks N sentences of the training patterns (never the held-out set); or somebody's, from FOLDER with NAME.wav
(16 kHz, mono, 16 bits) and NAME.txt (the words) of each recording: fifty sentences help. Needs the packages pocketsphinx-en-us, pocketsphinx, sphinxbase-utils and
sphinxtrain; the same seed gives the same bytes.
"""
import argparse
import array
import concurrent.futures
import hashlib
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import make_language  # noqa: E402
import measure  # noqa: E402

MODEL = make_language.ENGLISH / "en-us"
TRAIN = Path("/usr/lib/sphinxtrain")


def run(*command):
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", check=False)
    if r.returncode:
        sys.exit(f"{command[0]} failed:\n{r.stderr[-2000:]}")


def mixture_weights(path):
    """The package has them as bytes, weight 1.0001^(-1024 byte), [feature][density][senone]; the trainer wants floats, [senone][feature][density]."""
    data, at, features = (MODEL / "sendump").read_bytes(), 0, 3

    def count():
        nonlocal at
        at += 4
        return struct.unpack_from("<i", data, at - 4)[0]

    n = count()  # of the title
    at += n
    while n := count():
        at += n
    densities, senones = count(), count()
    weight = [1.0001 ** (-1024 * b) for b in range(256)]
    out = array.array("f", bytes(4 * senones * features * densities))
    for f in range(features):
        for d in range(densities):
            row = data[at:at + senones]
            at += senones
            out[f * densities + d::features * densities] = array.array("f", (weight[b] for b in row))
    with open(path, "wb") as file:
        file.write(b"s3\nversion 1.0\nendhdr\n" + struct.pack("<I4i", 0x11223344, senones, features, densities, len(out)))
        out.tofile(file)


def sentences(n, seed, words):
    pool = dict.fromkeys(s for s in make_language.requests(12 * n, f"adapt/{seed}") if 3 <= len(s.split()) <= 18 and words.issuperset(s.split()))
    return random.Random(seed).sample(list(pool), n)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out", type=Path)
    p.add_argument("--voice", default="kal16")
    p.add_argument("--recordings", type=Path)
    p.add_argument("--sentences", type=int, default=700)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    entries = [line.split() for line in (HERE / "assistant.dict").read_text().splitlines()]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        if a.recordings:
            wavs, said = a.recordings, {f.stem: " ".join(f.read_text().lower().split()) for f in sorted(a.recordings.glob("*.txt"))}
        else:
            wavs = work
            said = {f"s{k:04}": s for k, s in enumerate(sentences(a.sentences, a.seed, {e[0] for e in entries}))}

            def speak(k):
                subprocess.run(["flite", "-voice", a.voice, "-t", said[k], "-o", work / f"{k}.wav"], check=True)
                measure.quiet_room(work / f"{k}.wav", k)

            with concurrent.futures.ThreadPoolExecutor() as pool:
                list(pool.map(speak, said))
        (work / "dict").write_text("".join(" ".join(e) + "\n" for e in entries))
        (work / "filler").write_text("<s> SIL\n</s> SIL\n<sil> SIL\n")
        (work / "ctl").write_text("".join(f"{k}\n" for k in said))
        (work / "text").write_text("".join(f"<s> {s} </s> ({k})\n" for k, s in said.items()))
        mixture_weights(work / "mixture_weights")
        run("pocketsphinx_mdef_convert", "-text", MODEL / "mdef", work / "mdef")
        run("sphinx_fe", "-argfile", MODEL / "feat.params", "-samprate", 16000, "-c", work / "ctl", "-di", wavs, "-do", work, "-ei", "wav", "-eo", "mfc", "-mswav", "yes")
        model = ["-moddeffn", work / "mdef", "-ts2cbfn", ".ptm.", "-mixwfn", work / "mixture_weights", "-meanfn", MODEL / "means", "-varfn", MODEL / "variances", "-tmatfn", MODEL / "transition_matrices"]
        run(TRAIN / "bw", *model, "-hmmdir", MODEL, "-feat", "1s_c_d_dd", "-svspec", "0-12/13-25/26-38", "-cmn", "batch", "-agc", "none", "-varnorm", "no", "-dictfn", work / "dict",
            "-fdictfn", work / "filler", "-ctlfn", work / "ctl", "-cepdir", work, "-cepext", "mfc", "-lsnfn", work / "text", "-accumdir", work)
        a.out.mkdir(parents=True, exist_ok=True)
        run(TRAIN / "map_adapt", *model, "-accumdir", work, "-mapmeanfn", a.out / "means", "-mapvarfn", a.out / "variances", "-mapmixwfn", work / "mixw", "-maptmatfn", work / "tmat")
    for name in ("means", "variances"):
        print(f"{name}: sha256 {hashlib.sha256((a.out / name).read_bytes()).hexdigest()}, from {len(said)} sentences")


if __name__ == "__main__":
    main()
