"""Models from Python: opened, packed, planned; their tokenizer; vectors."""
import os
import pickle
import sys

import linnet
import pytest
from conftest import BUNDLED


def test_what_it_is(bundled):
    info = bundled.info
    assert info["architecture"] == "llama" and info["n_vocab"] == bundled.n_vocab == 2048 and info["weights"] == "i8g128" and info["isa"]
    assert bundled.n_context == 1024 and bundled.eos_id == info["eos_id"] and bundled.bos_id == -1 and bundled.is_end(bundled.eos_id) and not bundled.is_end(402)
    assert BUNDLED in repr(bundled) and linnet.__version__ == "0.2.0" and "0.2.0" in linnet.build_info
    with pytest.raises(AttributeError):
        linnet.nothing


def test_tokenizer(bundled, scripted):
    ids = bundled.tokenize("set a timer für 東京 \U0001f600")
    assert bundled.detokenize(ids) == "set a timer für 東京 \U0001f600" and b"".join(map(bundled.token_bytes, ids)).decode() == bundled.detokenize(ids)
    assert bundled.tokenize(b"set \xff") == bundled.tokenize("set \udcff") and bundled.tokenize("") == []
    assert bundled.detokenize([]) == "" and bundled.detokenize(iter(ids)) == bundled.detokenize(tuple(ids))
    hello = scripted["hello"]
    assert hello.tokenize("a", add_bos=True) == [hello.bos_id] + hello.tokenize("a")
    assert hello.tokenize("</s>", special=True) == [2] != hello.tokenize("</s>") and hello.detokenize([2]) == "</s>" and hello.detokenize([2], skip_special=True) == ""
    long_text = "a timer " * 50000
    assert bundled.detokenize(bundled.tokenize(long_text)) == long_text
    for wrong in ([10**6], [-1]):
        with pytest.raises(linnet.BadArgument):
            bundled.detokenize(wrong)
        with pytest.raises(linnet.BadArgument):
            bundled.token_bytes(wrong[0])
    for wrong in (["a"], [None], [1.5]):
        with pytest.raises(linnet.BadArgument):
            bundled.detokenize(wrong)


def test_packing(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    seen = []
    with linnet.Model(folder, weights="i4g64", progress=lambda done, total: seen.append((done, total))) as model:
        assert model.info["weights"] == "i4g64" and seen and seen[-1][0] == seen[-1][1]
        with model.session() as session:
            first = session.generate("hello", max_tokens=5).text()
    assert os.listdir(tmp_path) == ["linnet"]
    kept = {name: os.stat(tmp_path / "linnet" / name).st_ino for name in os.listdir(tmp_path / "linnet")}
    with linnet.Model(str(folder), weights="i4g64", load="copy", threads=1) as model, model.session() as session:
        assert session.generate("hello", max_tokens=5).text() == first
    assert kept == {name: os.stat(tmp_path / "linnet" / name).st_ino for name in kept}
    linnet.Model(folder, cache=str(tmp_path / "own")).close()
    assert os.listdir(tmp_path / "own")
    with linnet.Model(folder, cache=False, weights="f32") as model:
        assert model.info["weights"] == "f32"

    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        linnet.Model(folder, cache=False, progress=stop)
    with pytest.raises((linnet.BadFile, linnet.Unsupported)):
        (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
        linnet.Model(tmp_path / "broken.gguf")
    with pytest.raises(linnet.FileError) as why:
        linnet.Model(tmp_path / "absent.gguf")
    assert isinstance(why.value, OSError) and "absent.gguf" in str(why.value) and why.value.status == -8 and why.value.name == "LINNET_IO"
    again = pickle.loads(pickle.dumps(why.value))
    assert type(again) is linnet.FileError and str(again) == str(why.value) and again.status == -8
    for wrong in ({"weights": "i9"}, {"load": "nowhere"}):
        with pytest.raises(linnet.BadArgument):
            linnet.Model(folder, **wrong)


def test_profile(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text("isa: scalar\n")
    try:
        model = linnet.Model(BUNDLED, profile=path)
    except linnet.Unsupported as why:
        pytest.skip(str(why))
    with model:
        assert model.info["isa"] == "scalar"
    path.write_text("nonsense: 1\n")
    with pytest.raises(linnet.BadProfile) as why:
        linnet.Model(BUNDLED, profile=path)
    assert "nonsense" in str(why.value) and why.value.line == 1
    with linnet.Model(BUNDLED, profile="auto") as model, model.session() as session:
        assert session.prefill("set a timer") == 3


def test_plan(bundled):
    plan = bundled.plan(context=512, sequences=2, k_format="f16")
    assert plan["session: kv"] > 0 and plan["total"] < sum(plan.values())
    with bundled.session(context=512, sequences=2, k_format="f16") as session:
        assert sum(session.memory.values()) == sum(n for of, n in plan.items() if of.startswith("session: "))
        assert session.memory["kv"] == plan["session: kv"] and session.context == 512
    assert bundled.plan(context=1024)["session: kv"] > bundled.plan(context=512)["session: kv"]
    for wrong in ({"context": 1 << 40}, {"context": -1}, {"context": "5"}, {"context": 1 << 25}, {"sequences": 65}, {"k_format": "i3"}, {"when_full": "never"}, {"logits": 5000}):
        for make in (bundled.plan, bundled.session):
            with pytest.raises(linnet.BadArgument):
                make(**wrong)
    with pytest.raises(TypeError):
        bundled.session(nonsense=1)


def test_embed(bundled):
    one, texts = bundled.embed("set a timer"), ["set a timer", "turn on the lights", "x" * 500] * 8
    many = bundled.embed(texts)
    assert len(one) == 256 and many[0] == one == many[3] and many[1] != one and abs(sum(x * x for x in one) - 1) < 1e-5
    assert len(bundled.embed("a", dimensions=7)) == 7 and bundled.embed("a b", pooling="mean") != bundled.embed("a b", pooling="last")
    assert abs(sum(x * x for x in bundled.embed("a", normalise=False)) - 1) > 1e-3 and bundled.embed([]) == []
    for wrong in ({"pooling": "middle"}, {"dimensions": 0}, {"dimensions": 257}, {"prompt": "query"}):
        with pytest.raises(linnet.BadArgument):
            bundled.embed("a", **wrong)
    with pytest.raises(linnet.ContextFull):
        bundled.embed("x y " * 5000)


def test_serve():
    import json
    import urllib.request

    try:
        server = linnet.serve({"tiny": BUNDLED}, wait=60, parallel=2, api_key=["a", "b"], no_cache=True)
    except ImportError as why:
        pytest.skip(str(why))
    with server:
        asked = urllib.request.Request(server.url + "/v1/models", headers={"Authorization": "Bearer b"})
        assert json.load(urllib.request.urlopen(asked))["data"][0]["id"] == "tiny"
    assert server.process.returncode == 0
    with pytest.raises(linnet.Error) as why:
        linnet.serve("/nowhere.gguf", wait=30)
    assert "nowhere" in str(why.value)
    with pytest.raises(linnet.Error):
        linnet.serve(BUNDLED, wait=30, nonsense=1)


def test_imports_little():
    import subprocess

    code = "import sys; before = set(sys.modules); import linnet; print(sorted(m for m in set(sys.modules) - before if m in ('numpy', 'asyncio', 'subprocess', 'urllib', 'socket')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
