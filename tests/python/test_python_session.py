"""Sessions from Python: computing, logits, sampling, grammars, forks, state, cancelling, threads, asyncio."""
import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time

import linnet
import pytest
from conftest import BUNDLED

np = pytest.importorskip("numpy")


@pytest.fixture
def session(bundled):
    with bundled.session(context=512, sequences=3, logits=3) as made:
        yield made


def test_prefill(session, bundled):
    ids = bundled.tokenize("set a timer for ten minutes")
    assert session.prefill(ids[:2]) == 2 and session.prefill(np.array(ids[2:], dtype=np.int64)) == 4 and len(session) == session.length() == 6
    assert session.tokens() == ids and session.tokens(first=4) == ids[4:]
    session.prefill("set a timer for ten minutes", seq=1)
    assert session.tokens(1) == ids and session.logits(seq=1).tobytes() == session.logits().tobytes()
    session.truncate(0)
    session.truncate(0, seq=1)
    session.prefill_batch({0: "set a timer", 1: ids, 2: ids[:1]})
    assert [session.length(i) for i in range(3)] == [3, 6, 1]
    session.prefill_batch({0: [5]})
    assert session.length() == 4 and session.stats["prefill_tokens"] > 0
    before = session.tokens()
    for wrong in ([], [10**6], [-1], ["a"], [5] * 600):
        with pytest.raises((linnet.BadArgument, linnet.ContextFull)):
            session.prefill(wrong)
    for wrong in (lambda: session.prefill([5], seq=9), lambda: session.prefill_batch({}), lambda: session.tokens(first=99), lambda: session.length(9)):
        with pytest.raises(linnet.BadArgument):
            wrong()
    assert session.tokens() == before


def test_logits(session):
    with pytest.raises(linnet.BadState):
        session.logits()
    session.prefill("set a timer")
    row, kept = session.logits(), session.logits().copy()
    assert row.shape == (2048,) and row.dtype == np.float32 and not row.flags.writeable and type(kept) is np.ndarray
    assert int(row.argmax()) == int(np.argmax(kept)) == session.sample() and session.logits(back=1).tobytes() != row.tobytes()
    assert type(row + 1) is np.ndarray and type(np.exp(row)) is np.ndarray and isinstance(np.concatenate([row, kept]), np.ndarray) and row[3] == kept[3] and len(list(row)) == len(row)
    with pytest.raises(ValueError):
        row[0] = 1
    part = row[10:20]
    session.length()  # computes nothing
    assert float(row.sum()) == float(kept.sum())
    session.decode()
    for use in (lambda: row[0], lambda: row.argmax(), lambda: np.argmax(row), lambda: row + 1, lambda: part.sum(), lambda: list(row), lambda: repr(row), lambda: len(row), lambda: row.copy(),
                lambda: np.concatenate([row, kept]), lambda: row.tobytes()):
        with pytest.raises(linnet.BadState):
            use()
    assert kept.tobytes() != session.logits().tobytes()
    last = session.logits()
    session.close()
    with pytest.raises(linnet.BadState):
        last.sum()


def test_logits_hold_the_session(bundled):
    session = bundled.session(context=64)
    session.prefill("set a timer")
    row, expected = session.logits(), session.logits().copy()
    del session
    gc.collect()
    assert row.tobytes() == expected.tobytes()


def test_logprobs(session):
    session.prefill("set a timer")
    row = session.logits().astype(np.float64)
    exact = row - row.max() - np.log(np.exp(row - row.max()).sum())
    value, likeliest = session.logprobs(5, token=7)
    assert abs(value - exact[7]) < 1e-4 and [t for t, _ in likeliest] == list(np.argsort(-row)[:5]) and abs(likeliest[0][1] - exact.max()) < 1e-4
    assert session.logprobs() == (None, []) and session.logprobs(1)[0] is None
    with pytest.raises(linnet.BadArgument):
        session.logprobs(5000)


def test_sampling(session):
    assert session.sampling()["temperature"] == 0
    given = session.sampling(temperature=0.5, top_k=3, seed=7, logit_bias={5: -1.5}, samplers=["top_k", "temperature"], dry_breakers=["\n", "x"])
    assert given == session.sampling() and given["top_k"] == 3 and given["logit_bias"] == {5: -1.5} and given["samplers"] == ["top_k", "temperature"] and given["dry_breakers"] == ["\n", "x"]
    texts = set()
    for seed in (1, 1, 2, 3):
        session.truncate(0)
        texts.add(session.generate("I", max_tokens=12, temperature=1.5, seed=seed, ignore_eos=True).text())
    assert len(texts) > 1
    for wrong in ({"temperature": -1}, {"temperature": "warm"}, {"top_p": 2}, {"samplers": ["best"]}, {"logit_bias": {1: 1000}}, {"logit_bias": {i: 0 for i in range(129)}}, {"samplers": ["top_k"] * 17},
                  {"dry_breakers": ["x" * 130]}):
        with pytest.raises(linnet.BadArgument):
            session.sampling(**wrong)
    for wrong in (session.sampling, session.generate):
        with pytest.raises(TypeError):
            wrong(nonsense=1)
    assert session.sampling()["seed"] == 3


def test_generate(session, bundled):
    with pytest.raises(linnet.BadState):
        session.generate(max_tokens=3).text()
    session.prefill("set a timer for ten minutes")
    expected = []
    session.fork(1)
    for _ in range(20):
        expected.append(session.decode(1))
    pieces, generation = [], session.generate(max_tokens=20, ignore_eos=True)
    for text, tokens in generation:
        pieces.append(text)
        assert text or tokens
    assert generation.tokens == expected and generation.finish_reason == "length" and session.length() == 26 and session.tokens()[6:] == expected
    assert "".join(pieces) == bundled.detokenize(expected)
    with pytest.raises(StopIteration):
        next(generation)
    session.truncate(0)
    whole = session.generate("turn on the lights", max_tokens=40).text()
    session.truncate(0)
    word = whole[len(whole) // 2:][:3]
    stopped = session.generate("turn on the lights", max_tokens=40, stop=["\x01", word])
    assert stopped.text() == whole[:whole.index(word)] and stopped.finish_reason == "stop" and stopped.stop_string == word
    session.truncate(0)
    ended = session.generate("set a timer for ten minutes")
    ended.text()
    assert ended.finish_reason == "stop" and bundled.is_end(ended.end_token) and session.tokens()[-1] != ended.end_token
    for wrong in ({"max_tokens": 0}, {"stop": [""]}, {"stop": ["x"] * 17}, {"stop": "x" * 256}, {"banned": [""]}):
        with pytest.raises(linnet.BadArgument):
            session.generate("a", **wrong).text()


def test_generate_over_and_over(session):
    """Two generations of two sequences in turn; a call that changes a sequence ends its generation by name."""
    session.prefill("set a timer")
    session.fork(1)
    alone = session.generate(max_tokens=30, ignore_eos=True)
    expected = alone.text()
    session.truncate(3)
    first = session.generate(seq=1, max_tokens=30, ignore_eos=True)
    got = "".join(p.text for p in first)
    assert got == expected
    session.truncate(0)
    going = session.generate("set a timer", max_tokens=400, ignore_eos=True)
    next(going)
    session.truncate(1)
    with pytest.raises(linnet.BadState):
        next(going)


def test_banned(session):
    plain = session.generate("what is the weather", max_tokens=30).text()
    word = max(plain.split(), key=len)
    session.truncate(0)
    generation = session.generate("what is the weather", max_tokens=30, banned=[word])
    text = generation.text()
    assert word not in text and session.tokens()[-len(generation.tokens):] == generation.tokens


def test_grammars(session):
    class Likeness:  # what pydantic's models have
        @staticmethod
        def model_json_schema():
            return {"type": "object", "properties": {"city": {"enum": ["Bern", "Rom"]}}, "required": ["city"], "additionalProperties": False}

    def answer(**held):
        session.truncate(0)
        return session.generate("weather", max_tokens=200, **held).text()

    for schema in (Likeness, Likeness.model_json_schema(), json.dumps(Likeness.model_json_schema())):
        assert json.loads(answer(schema=schema))["city"] in ("Bern", "Rom")
    assert answer(choices=["yes", "nö"]) in ("yes", "nö") and set(answer(regex="[ab]{4}")) <= {"a", "b"} and answer(grammar='root ::= "x" [0-9]{2}')[0] == "x"
    held = linnet.Grammar(session.model, '{"enum":["k"]}')
    assert answer(grammar=held) == '"k"' and answer(schema={"enum": [1]}, temperature=2.0, seed=3) == "1" and not answer().startswith('"')
    session.truncate(0)
    session.prefill("weather")
    session.hold_to(held)
    assert session.model.token_bytes(session.decode())[:1] == b'"'
    session.hold_to(None)
    for _ in range(40):  # more than are remembered
        answer(choices=[f"c{_}"])
    pydantic = pytest.importorskip("pydantic")

    class Weather(pydantic.BaseModel):
        days: int = pydantic.Field(ge=1, le=9)

    assert 1 <= Weather.model_validate_json(answer(schema=Weather)).days <= 9
    for wrong, error in (({"schema": "{"}, linnet.BadFile), ({"schema": {"type": "nothing"}}, linnet.BadFile), ({"schema": {"format": "color", "type": "string"}}, linnet.Unsupported),
                         ({"regex": "("}, linnet.Unsupported), ({"grammar": "root"}, linnet.BadFile), ({"choices": []}, linnet.BadFile), ({"schema": {}, "regex": "a"}, linnet.BadArgument)):
        with pytest.raises(error):
            answer(**wrong)
    with pytest.raises(linnet.BadArgument):
        linnet.Grammar(session.model, "x", kind="poem")


def test_fork_and_truncate(session):
    session.prefill("set a timer for ten minutes")
    session.fork(1)
    session.fork(2, keep=3)
    assert session.tokens(1) == session.tokens() and session.tokens(2) == session.tokens()[:3]
    session.truncate(2)
    assert session.length() == 2 and session.length(1) == 6
    with pytest.raises(linnet.BadState):
        session.logits()
    session.checkpoint()
    for wrong in (lambda: session.truncate(3), lambda: session.truncate(-1), lambda: session.fork(7), lambda: session.fork(1, keep=99)):
        with pytest.raises(linnet.BadArgument):
            wrong()


def test_lora(tmp_path):
    golden = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
    cases = os.path.join(golden, "lora")
    with linnet.Model(os.path.join(golden, "llama"), weights="f32", cache=False) as model, model.session(context=64, sequences=3, lora_rank=48, k_format="f32") as session:
        every, some = model.lora(os.path.join(cases, "llama-all")), model.lora(os.path.join(cases, "llama-some"))
        assert every.info["n_matrices"] > some.info["n_matrices"] > 0 and every.info["rank"] > 0 and every.info["hash"] != some.info["hash"]
        session.adapt([every], seq=1)
        session.adapt([(every, 0.5), some], seq=2)
        session.prefill_batch({i: [5, 9, 17, 3] for i in range(3)})
        rows = [session.logits(seq=i).copy() for i in range(3)]
        assert len({row.tobytes() for row in rows}) == 3
        session.truncate(0, seq=1)
        session.prefill([5, 9, 17, 3], seq=1)  # its adapter stays; alone the same bytes
        assert session.logits(seq=1).tobytes() == rows[1].tobytes()
        state = session.save(seq=1)
        session.truncate(0)
        with pytest.raises(linnet.Unsupported):
            session.load(state)
        session.adapt([every])
        session.load(state)
        assert session.logits().tobytes() == rows[1].tobytes()
        with pytest.raises(linnet.BadState):
            session.adapt([some])
        session.truncate(0)
        session.adapt([])
        session.prefill([5, 9, 17, 3])
        assert session.logits().tobytes() == rows[0].tobytes()
        del every, some
        gc.collect()
        assert session.prefill([7], seq=1) == 1
        with pytest.raises(linnet.Error):
            model.lora(tmp_path / "absent")
        with pytest.raises(linnet.Error):
            model.lora(os.path.join(golden, "llama"))
    with linnet.Model(os.path.join(golden, "llama"), cache=False) as model, model.session(context=64) as session:
        with pytest.raises(linnet.BadArgument):  # it has no room for any
            session.adapt([model.lora(os.path.join(cases, "llama-all"))])


def test_state(session, bundled, tmp_path):
    session.prefill("set a timer for")
    state, path = session.save(), tmp_path / "a.state"
    assert session.save(path) is None and path.read_bytes() == state
    expected = session.generate(max_tokens=10, ignore_eos=True).text()
    with bundled.session(context=256) as other:
        for source in (state, bytearray(state), memoryview(state), path, str(path)):
            other.load(source)
            assert other.generate(max_tokens=10, ignore_eos=True).text() == expected
        held = other.tokens()
        for wrong in (b"", state[:-1], bytes(len(state)), state[:50] + b"x" + state[51:]):
            with pytest.raises((linnet.BadFile, linnet.Unsupported)):
                other.load(wrong)
        with pytest.raises(linnet.FileError):
            other.load(tmp_path / "absent")
        with pytest.raises(linnet.FileError):
            other.save(tmp_path / "absent" / "x")
        assert other.tokens() == held


def test_cancel(long_one):
    with long_one.session(context=8000) as session:
        session.prefill([5] * 10)
        for wait in (0.05, 0.2):
            threading.Timer(wait, session.cancel).start()
            with pytest.raises(linnet.Cancelled):
                session.prefill([5] * 7000)
            assert len(session) == 10
        threading.Timer(0.1, session.cancel).start()
        generation = session.generate(ignore_eos=True)
        generation.text()
        assert generation.finish_reason == "cancel" and generation.tokens == session.tokens()[10:]
        session.cancel()  # meets no call: the next one stops
        with pytest.raises(linnet.Cancelled):
            session.prefill([5])
        assert session.prefill([5]) == 1


def test_ctrl_c(long_one):
    """KeyboardInterrupt comes within 100 ms inside a long prefill, and leaves nothing behind."""
    took, inherited = [], signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs behind them without one
    with long_one.session(context=8000) as session:
        def interrupt():
            nonlocal at
            at = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

        for wait in (0.05, 0.15, 0.3, 0.1, 0.2):
            at = 0.0
            threading.Timer(wait, interrupt).start()
            with pytest.raises(KeyboardInterrupt):
                session.prefill([5] * 7500)
            took.append(time.monotonic() - at)
            assert len(session) == 0 and session.prefill([5] * 3) == 3
            session.truncate(0)
        session.prefill([5])
        threading.Timer(0.1, interrupt).start()
        generation = session.generate(ignore_eos=True)
        with pytest.raises(KeyboardInterrupt):
            generation.text()
        assert session.tokens()[1:] == generation.tokens
        handled = []
        before = signal.signal(signal.SIGINT, lambda *_: handled.append(1))
        try:  # another handler's: nothing is cancelled
            threading.Timer(0.05, interrupt).start()
            session.prefill([5] * 2000)
        finally:
            signal.signal(signal.SIGINT, before)
        assert handled == [1]
    signal.signal(signal.SIGINT, inherited)
    print("KeyboardInterrupt after", [f"{1e3 * t:.0f} ms" for t in took])
    assert sorted(took)[2] < 0.1, took


def test_threads(bundled):
    """Sessions of their own run side by side, a shared one takes one call at a time; the interpreter's lock is free meanwhile."""
    expected, errors = {}, []
    for text in ("set a timer", "turn on", "what is", "play"):
        with bundled.session(context=128, threads=1) as session:
            expected[text] = session.generate(text, max_tokens=40, ignore_eos=True).text()

    def run(text):
        try:
            for _ in range(10):
                with bundled.session(context=128, threads=1) as session:
                    assert session.generate(text, max_tokens=40, ignore_eos=True).text() == expected[text]
        except BaseException as why:
            errors.append(why)

    threads = [threading.Thread(target=run, args=(text,)) for text in expected]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors, errors
    with bundled.session(context=512, sequences=4) as shared:
        def share(seq):
            try:
                for _ in range(30):
                    shared.truncate(0, seq=seq)
                    shared.prefill([5 + seq] * 20, seq=seq)
                    assert shared.tokens(seq) == [5 + seq] * 20
            except BaseException as why:
                errors.append(why)

        threads = [threading.Thread(target=share, args=(seq,)) for seq in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert not errors, errors


def test_lock_is_free(long_one):
    with long_one.session(context=4000, threads=1) as session:
        ticks, done = [], threading.Event()

        def tick():
            while not done.wait(0.002):
                ticks.append(time.monotonic())

        clock = threading.Thread(target=tick)
        clock.start()
        session.prefill([5] * 3000)
        done.set()
        clock.join()
    assert len(ticks) > 20, len(ticks)


def test_asyncio(bundled):
    async def one(text):
        with bundled.session(context=128) as session:
            return [piece async for piece in session.agenerate(text, max_tokens=10, ignore_eos=True)]

    async def all_of_them():
        return await asyncio.gather(*(one("set a timer") for _ in range(5)))

    texts = ["".join(p.text for p in pieces) for pieces in asyncio.run(all_of_them())]
    with bundled.session(context=128) as session:
        assert set(texts) == {session.generate("set a timer", max_tokens=10, ignore_eos=True).text()}


def memory_kb():
    with open("/proc/self/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def test_create_and_destroy(bundled):
    """A thousand sessions, models and grammars, closed or dropped, leave nothing."""
    def one(i):
        model = linnet.Model(BUNDLED) if i % 10 == 0 else bundled
        session = model.session(context=64)
        generation = session.generate("a", max_tokens=2, regex="[ab]+")
        next(generation)
        if i % 3 == 0:
            session.close()
        if i % 10 == 0 and i % 20:
            model.close()

    for i in range(100):
        one(i)
    gc.collect()
    before, tasks = memory_kb(), len(os.listdir("/proc/self/task"))
    for i in range(1000):
        one(i)
    gc.collect()
    assert memory_kb() - before < 4096 and len(os.listdir("/proc/self/task")) <= tasks, (before, memory_kb())


def test_order_of_ends(bundled):
    """Objects may be dropped and closed in any order."""
    model = linnet.Model(BUNDLED)
    session = model.session(context=64)
    generation = session.generate("set a timer", max_tokens=5, ignore_eos=True)
    model.close()
    with pytest.raises(linnet.BadState):
        model.session()
    with pytest.raises(linnet.BadState):
        model.tokenize("a")
    assert "closed" in repr(model)
    assert len(generation.tokens) + len(generation.text()) > 0  # the session goes on
    session.close()
    session.close()
    assert "closed" in repr(session)
    for use in (lambda: session.prefill([5]), lambda: session.logits(), lambda: session.length(), lambda: session.save(), lambda: next(generation.__class__(session, 0, generation._params, None, []))):
        with pytest.raises(linnet.BadState):
            use()
    session.cancel()
    model.close()
    model, held = linnet.Model(BUNDLED), None
    held = model.session(context=64)
    del model
    gc.collect()
    assert held.prefill("set a timer") == 3


@pytest.mark.parametrize("code", [
    "s.prefill('set a timer')",
    "g = s.generate('set a timer', ignore_eos=True); next(g)",
    "import threading, time; t = threading.Thread(target=lambda: [s.truncate(0) or s.prefill([5] * 400) for _ in range(100000)], daemon=True); t.start(); time.sleep(0.2)",
    "import atexit; atexit.register(lambda: s.prefill([5]))",
    "raise SystemExit(0)",
])
def test_exit_with_sessions_open(code):
    done = subprocess.run([sys.executable, "-c", f"import linnet; m = linnet.Model({BUNDLED!r}); s = m.session(context=512)\n{code}"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done


def test_fork_of_the_process(bundled):
    """A child may make sessions of its own; those of before refuse."""
    with bundled.session(context=64) as session:
        session.prefill("set a timer")
        pid = os.fork()
        if not pid:
            status = 1
            try:
                try:
                    session.prefill([5])
                except linnet.BadState:
                    with bundled.session(context=64, threads=1) as own:
                        status = 0 if own.prefill("set a timer") == 3 else 2
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0
        assert session.prefill([5]) == 1


def test_generate_logprobs(bundled):
    """Logarithms of the row that each token was drawn from, as sample() and logprobs() give them; also where a grammar forces tokens, which are computed several at once."""
    for held in ({}, {"choices": ["set a timer for ten minutes", "a timer"]}):
        for kept in (1, 16):
            with bundled.session(context=128, logits=kept) as session, bundled.session(context=128) as other:
                generation = session.generate("set a timer", max_tokens=12, logprobs=3, ignore_eos=True, temperature=1.0, seed=4, **held)
                pieces = list(generation)
                assert all(len(p.tokens) <= 1 for p in pieces) and len(generation.logprobs) == len(generation.tokens) > 2 and "".join(p.text for p in pieces)
                other.prefill("set a timer")
                for token, seen in zip(generation.tokens, generation.logprobs):
                    assert seen == other.logprobs(3, token=token)
                    other.prefill([token])
    with bundled.session(context=64) as session:
        assert session.generate("a", max_tokens=1).logprobs is None
        for wrong in (-1, 1025, bundled.n_vocab + 1):
            with pytest.raises(linnet.BadArgument):
                session.generate("a", logprobs=wrong)


def test_generations_take_turns(bundled):
    """Sequences of a session may generate beside each other; a call that changes one ends that one's alone."""
    def drawing(session, seq):
        return session.generate(max_tokens=20 + seq, seq=seq, ignore_eos=True, temperature=1.0, seed=seq, logprobs=0)

    with bundled.session(context=128, sequences=3) as session:
        session.prefill("set a timer")
        for seq in (1, 2):
            session.fork(seq)
        going = {seq: drawing(session, seq) for seq in range(3)}
        expected = []
        for seq in range(3):
            with bundled.session(context=128, sequences=3) as alone:
                alone.prefill("set a timer", seq=seq)
                one = drawing(alone, seq)
                one.text()
                expected.append(one.tokens)
        for _ in range(5):
            for generation in going.values():
                next(generation)
        session.truncate(4, seq=1)
        with pytest.raises(linnet.BadState):
            next(going[1])
        while not (going[0].finish_reason and going[2].finish_reason):
            for seq in (0, 2):
                next(going[seq], None)
        assert [going[0].tokens, going[2].tokens] == [expected[0], expected[2]] and going[1].tokens == expected[1][:5]


def test_wrong_types(bundled):
    """Numbers that C would cut, and what is no number, raise, and change nothing."""
    lora = linnet.Lora.__new__(linnet.Lora)
    with bundled.session(context=64, sequences=2) as session:
        session.prefill("set a timer")
        before = session.tokens()
        for wrong in (lambda: session.fork(-1), lambda: session.fork("x"), lambda: session.fork(1 << 32 | 1), lambda: session.fork(1, keep=1.5), lambda: session.truncate("x"), lambda: session.truncate(1.0), lambda: session.prefill([1 << 40]), lambda: session.prefill(5),
                      lambda: session.prefill(["a"]), lambda: session.prefill([1.5]), lambda: session.prefill_batch(["a"]), lambda: session.adapt([5]), lambda: session.adapt([(lora,)]), lambda: session.hold_to("a"),
                      lambda: session.generate(stop=5), lambda: session.generate(stop=["a", 5]), lambda: session.generate(stop="a\0b"), lambda: session.generate(max_tokens=0), lambda: session.generate(max_tokens=1 << 32),
                      lambda: session.generate(logprobs="a"), lambda: session.generate(choices="yes"), lambda: session.sampling(top_k=-5), lambda: session.sampling(seed=1.5), lambda: linnet.Grammar(bundled, 5),
                      lambda: bundled.detokenize("abc"), lambda: bundled.detokenize(5), lambda: bundled.detokenize([1 << 32]), lambda: bundled.embed(5), lambda: bundled.embed([5]), lambda: bundled.embed("a", dimensions="a"),
                      lambda: bundled.session(context=1.5), lambda: linnet.Model(BUNDLED, threads=-1)):
            with pytest.raises(linnet.BadArgument):
                wrong()
        for wrong in (lambda: session.length("x"), lambda: session.prefill_batch({"x": "a"}), lambda: bundled.token_bytes("a"), lambda: bundled.tokenize(5), lambda: bundled.tokenize(None), lambda: linnet.Model(5)):
            with pytest.raises(TypeError):
                wrong()
        assert session.tokens() == before and session.length(1) == 0
        assert session.generate("a", max_tokens=-1, banned="b").text() is not None
    with linnet.Model(BUNDLED.encode()) as model:
        assert model.path == BUNDLED
