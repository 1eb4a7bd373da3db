"""linnet as a model of lm-evaluation-harness (EleutherAI), pip install lm_eval:

    python -m linnet.lm_eval --model linnet --model_args path=model.gguf,context=4096 --tasks hellaswag

or, from Python, lm_eval.simple_evaluate(model=linnet.lm_eval.Linnet("model.gguf"), tasks=[...]). Log likelihoods are the model's own, before samplers."""
from __future__ import annotations

import linnet

try:
    from lm_eval import utils
    from lm_eval.api.model import TemplateLM
    from lm_eval.api.registry import register_model
except ImportError as why:
    raise ImportError(f"linnet: lm_eval cannot be had: pip install lm_eval ({why})") from None

ROWS = 256  # of logits that a pass keeps: tokens of a continuation that are scored at a time


@register_model("linnet")
class Linnet(TemplateLM):
    """path: as linnet.Model takes it. context: positions; None: the model's, at most 4096. weights, threads, k_format, v_format: as linnet.Model and its session() take them.
    max_gen_toks: of generate_until where a task says none."""

    def __init__(self, path: str, context: int | None = None, weights: str | None = None, threads: int | None = None, k_format: str | None = None, v_format: str | None = None,
                 max_gen_toks: int = 256, **_ignored):
        super().__init__()
        self.model = linnet.Model(path, weights=weights)
        self.max_gen_toks = int(max_gen_toks)
        self.session = self.model.session(context=int(context) if context else None, threads=int(threads) if threads else None, k_format=k_format, v_format=v_format, logits=ROWS)
        self.max_length = self.session.context

    @property
    def eot_token_id(self) -> int:
        return self.model.eos_id

    @property
    def prefix_token_id(self) -> int:
        return self.model.bos_id if self.model.bos_id >= 0 else self.model.eos_id

    @property
    def tokenizer_name(self) -> str:
        return self.model.path

    def tok_encode(self, string: str, add_special_tokens: bool | None = None, **_ignored) -> list[int]:
        return self.model.tokenize(string, add_bos=bool(add_special_tokens))

    def tok_decode(self, tokens: list[int]) -> str:
        return self.model.detokenize(tokens)

    def _score(self, context: list[int], continuation: list[int]) -> tuple[float, bool]:
        tokens = (context + continuation)[-(self.max_length + 1):]
        n = min(len(continuation), len(tokens) - 1)
        given, wanted = tokens[:-1], tokens[-n:]
        at = self.session._keep(given, anew=n)
        total, greedy, done = 0.0, True, 0
        first = len(given) - n  # the row that speaks of wanted[0]
        while at < len(given):
            # rows that are not scored go by themselves, those that are in pieces whose logits are kept
            end = first if at < first else min(at + ROWS, len(given))
            self.session.prefill(given[at:end])
            if at >= first:
                for i in range(end - at):
                    value, best = self.session.logprobs(1, token=wanted[done], back=end - at - 1 - i)
                    total += value
                    greedy = greedy and best[0][0] == wanted[done]
                    done += 1
            at = end
        return total, greedy

    def _loglikelihood_tokens(self, requests, disable_tqdm: bool = False, **_ignored) -> list[tuple[float, bool]]:
        found: list = [None] * len(requests)
        for i in sorted(range(len(requests)), key=lambda i: requests[i][1]):  # those of one context behind one another
            key, context, continuation = requests[i]
            found[i] = self._score(context, continuation) if continuation else (0.0, True)
            self.cache_hook.add_partial("loglikelihood", key, found[i])
        return found

    def loglikelihood_rolling(self, requests, disable_tqdm: bool = False) -> list[float]:
        found = []
        for (text,) in [r.args for r in requests]:
            windows = utils.get_rolling_token_windows(token_list=self.tok_encode(text), prefix_token=self.prefix_token_id, max_seq_len=self.max_length, context_len=1)
            found.append(sum(self._score(*utils.make_disjoint_window(window))[0] for window in windows))
            self.cache_hook.add_partial("loglikelihood_rolling", (text,), found[-1])
        return found

    def generate_until(self, requests, disable_tqdm: bool = False) -> list[str]:
        found = []
        for context, kwargs in [r.args for r in requests]:
            kwargs = dict(kwargs)
            until, n = kwargs.pop("until", None) or [], kwargs.pop("max_gen_toks", self.max_gen_toks)
            sampling = {"temperature": float(kwargs["temperature"])} if kwargs.get("do_sample") and "temperature" in kwargs else {"temperature": 0.0}
            sampling.update({name: kwargs[name] for name in ("top_p", "top_k", "seed") if name in kwargs})
            tokens = self.tok_encode(context)[-max(self.max_length - n, 1):] or [self.prefix_token_id]
            self.session.prefill(tokens[self.session._keep(tokens):])
            stops = [until] if isinstance(until, str) else [s for s in until if s]
            generation = self.session.generate(max_tokens=n, stop=stops[:16], **sampling)
            generation.text()
            text = self.model.detokenize(generation.tokens, skip_special=True)  # as transformers' models are read here
            found.append(text[:min([text.find(s) for s in stops if s in text], default=len(text))])
            self.cache_hook.add_partial("generate_until", (context, kwargs), found[-1])
        return found


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()
