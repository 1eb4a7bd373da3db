#!/usr/bin/env python3
"""lm-evaluation-harness on linnet and on transformers, the same tiny model in f32: lm_eval_tasks.py

Needs lm_eval, torch and transformers. Two tasks of 200 items each out of a text of this repository: which of four sentences goes on (log likelihoods), and how likely paragraphs are
(rolling); and what is generated. Every item's log likelihoods differ by less than 1e-3, every choice and every text is the same."""
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "app"))

import linnet.lm_eval  # noqa: E402
import tiny_model  # noqa: E402
import torch  # noqa: E402
from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast  # noqa: E402

N, MOST = 200, 1e-3


def items():
    words = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split()
    draw = random.Random(7)

    def piece(n):
        at = draw.randrange(len(words) - n)
        return " ".join(words[at:at + n])

    choices = []
    for _ in range(N):
        at = draw.randrange(len(words) - 30)
        choices.append((" ".join(words[at:at + 12]), [" " + " ".join(words[at + 12:at + 16])] + [" " + piece(4) for _ in range(3)]))
    return choices, [piece(draw.randrange(5, 60)) for _ in range(N)], [piece(6) for _ in range(50)]


def run(model, choices, texts, prompts):
    def ask(kind, all_arguments):
        return getattr(model, kind)([Instance(request_type=kind, doc={}, arguments=a, idx=i) for i, a in enumerate(all_arguments)], disable_tqdm=True)

    return (ask("loglikelihood", [(context, one) for context, four in choices for one in four]), ask("loglikelihood_rolling", [(t,) for t in texts]),
            ask("generate_until", [(p, {"until": ["\n"], "max_gen_toks": 24, "do_sample": False}) for p in prompts]))


def main():
    with tempfile.TemporaryDirectory() as home:
        folder = tiny_model.make(Path(home) / "model", eos_token_id=2)
        (folder / "generation_config.json").write_text('{"eos_token_id": 2}')  # lm_eval looks at the tokenizer's alone
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), bos_token="<s>", eos_token="</s>")
        theirs = HFLM(pretrained=AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), tokenizer=tokenizer, max_length=256, batch_size=1, device="cpu", add_bos_token=False)
        ours = linnet.lm_eval.Linnet(str(folder), weights="f32", k_format="f32", context=256)
        data = items()
        a, b = run(theirs, *data), run(ours, *data)
    apart = max(abs(x[0] - y[0]) for x, y in zip(a[0], b[0]))
    rolling = max(abs(x - y) for x, y in zip(a[1], b[1]))

    def right(found):
        return sum(max(range(4), key=lambda k: found[4 * i + k][0]) == 0 for i in range(N)) / N

    print(f"{N} choices: accuracy {right(a[0]):.4f} by transformers, {right(b[0]):.4f} by linnet; log likelihoods at most {apart:.2g} apart")
    print(f"{N} texts, rolling: at most {rolling:.2g} apart, of {min(b[1]):.0f} to {max(b[1]):.0f}; {sum(x == y for x, y in zip(a[2], b[2]))} of {len(a[2])} generated texts are the same")
    good = apart < MOST and rolling < MOST and right(a[0]) == right(b[0]) and [x[1] for x in a[0]] == [y[1] for y in b[0]] and a[2] == b[2]
    return 0 if good else 1


sys.exit(main())
