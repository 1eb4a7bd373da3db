#!/usr/bin/env python3
"""Writes the answers beside it (FAMILY.json): make_answers.py

Each family says by hand how its model writes a call, reasoning and content; from that come answers with what a parser must make of them.
A family's template is one of ../shared (by name), or a small one of our own that shows what the published one does. Families that begin
with "hidden" have marks that no model uses: only renderings of the template tell them."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def prop(kind, **more):
    return dict({"type": kind, "description": "d"}, **more)


def tool(name, **props):
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": {"type": "object", "properties": props}}}


TOOLS = [
    tool("weather", city=prop("string"), days=prop("integer"), wind=prop("boolean"), list=prop("array", items={"type": "string"}),
         zip=prop("string"), at=prop("object", properties={"lat": prop("number"), "lon": prop("number")}), note=prop("string")),
    tool("clock", zone=prop("string")),
    tool("ping"),
]
ROME = ("weather", {"city": "Rome", "days": 3})
OSLO = ("clock", {"zone": "Europe/Oslo"})
PING = ("ping", {})
FULL = ("weather", {"city": 'Rome, "Italy"', "days": 3, "wind": True, "list": ["a", "b"], "zip": "0042", "at": {"lat": 41.9, "lon": -12.5},
                    "note": "one\n two <b> & 'q' é ⟦"})


def js(x):
    return json.dumps(x, ensure_ascii=False)


def raw(x):
    return x if isinstance(x, str) else js(x)


class Family:
    """call(name, args, i) -> text of one call; before, between, after: the texts around calls; reason: marks of reasoning and the white
    space inside; content: marks of content"""

    def __init__(self, name, template, call, before="", between="", after="", reason=None, content=("", ""), prompt="", open_prompt=None,
                 begin=None, loose=None, bare=False, list_of=False, lone=False, full=FULL, text=True, tail=True):
        self.__dict__.update(locals())
        self.cases = []

    def calls(self, calls, call=None):
        return self.before + self.between.join((call or self.call)(n, a, i) for i, (n, a) in enumerate(calls)) + self.after

    def say(self, text):
        return self.content[0] + text + self.content[1]

    def add(self, what, answer, content="", reasoning="", calls=(), prompt=None):
        self.cases.append({"what": what, "prompt": self.prompt if prompt is None else prompt, "answer": answer, "content": content.strip(),
                           "reasoning_content": reasoning, "tool_calls": [{"name": n, "arguments": a} for n, a in calls]})

    def standard(self):
        f = self
        f.add("text", f.say("It is warm."), "It is warm.")
        prose = "If a < b, then <x> & [y] or {z} end: <|q, </, ``, >>, 5 % ⟦."
        f.add("prose with what could be marks", f.say(prose), prose)
        f.add("one call", f.calls([ROME]), calls=[ROME])
        if not f.lone:
            f.add("two calls", f.calls([ROME, OSLO]), calls=[ROME, OSLO])
        f.add("no arguments", f.calls([PING]), calls=[PING])
        f.add("all kinds of arguments", f.calls([f.full]), calls=[f.full])
        if f.text and not f.bare:
            f.add("text and a call", f.say("I look.") + "\n\n" + f.calls([ROME]), "I look.", calls=[ROME])
        if f.tail and not f.bare:
            f.add("a call and text", f.calls([ROME]) + "\nDone.", "Done.", calls=[ROME])
        if f.reason:
            o, c = f.reason
            f.add("reasoning and text", o + "\nWhy?\n\nSo.\n" + c + "\n\n" + f.say("It is warm."), "It is warm.", "Why?\n\nSo.")
            f.add("reasoning and a call", o + "Why?" + c + f.calls([ROME]), "", "Why?", [ROME])
            f.add("reasoning without an end", o + "\nWhy? a < b", "", "Why? a < b")
            open_prompt = f.prompt + o + "\n" if f.open_prompt is None else f.open_prompt
            f.add("reasoning that the prompt began", "Why?\n" + c + "\n" + f.say("Warm."), "Warm.", "Why?", prompt=open_prompt)
            f.add("reasoning that the prompt closed", f.say("Warm."), "Warm.", prompt=f.prompt + o + "\n\n" + c + "\n\n")
        one = f.calls([ROME])
        cut = one[:one.index("Rome") + 2]
        f.add("a call that was cut", cut, cut)
        if not f.lone:
            two = f.calls([ROME, OSLO])
            first = len(f.before + f.call(*ROME, 0))
            cut = two[:two.index("Oslo")]
            f.add("the second call was cut", cut, two[first:two.index("Oslo")], calls=[ROME])
        if f.begin:
            f.add("no call behind the mark", f.begin + "oops, none (at all).", f.begin + "oops, none (at all).")
            broken = f.begin + "oops, none.\n"
            f.add("a call behind a broken one", broken + one, broken, calls=[ROME])
        if f.loose:
            f.add("other white space", f.before + f.between.join(f.loose(n, a, i) for i, (n, a) in enumerate([ROME] if f.lone else [ROME, OSLO])) + f.after,
                  calls=[ROME] if f.lone else [ROME, OSLO])
        return self


FAMILIES = []


def family(*args, **kwargs):
    f = Family(*args, **kwargs).standard()
    FAMILIES.append(f)
    return f


# ---- templates

def chat(call="", before="", between="", after="", reason="", content="{{ m.content }}", start="<|im_start|>", head="\n", end="<|im_end|>\n", prompt="",
         cut="", guard="", lost=False, extra=""):
    """A template: `call` prints the call t, the others what stands around calls."""
    said = content if not cut else "{%% set c = m.content or '' %%}{%% if '%s' in c %%}{%% set c = c.split('%s')[-1] %%}{%% endif %%}{{ c }}" % (cut, cut)
    text = ("{% if not m.tool_calls %}" + said + "{% endif %}") if lost else "{% if m.content %}" + said + "{% endif %}"
    think = "{% if m.reasoning_content %}" + reason + "{% endif %}" if reason else ""
    calls = ""
    if call:
        calls = ("{% if m.tool_calls %}" + before + "{% for t in m.tool_calls %}{% set f = t.function %}" +
                 ("{% if not loop.first %}" + between + "{% endif %}" if between else "") + call + "{% endfor %}" + after + "{% endif %}")
    return (extra + "{% for m in messages %}" + guard + start + "{{ m.role }}" + head + "{% if m.role == 'assistant' %}" + think + text + calls +
            "{% else %}{{ m.content }}{% endif %}" + end + "{% endfor %}{% if add_generation_prompt %}" + start + "assistant" + head + prompt + "{% endif %}")


IM = "<|im_start|>assistant\n"
NL = "{{ '\\n' }}"  # a line end that no tag takes away
THINK = "<think>" + NL + "{{ m.reasoning_content }}" + NL + "</think>" + NL + NL
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}<think>" + NL + NL + "</think>" + NL + NL + "{% endif %}"
OBJECT = "{\"name\": \"{{ f.name }}\", \"arguments\": {{ f.arguments|tojson }}}"


def hermes(n, a, i):
    return '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>' % (n, js(a))


def hermes_loose(n, a, i):
    return '<tool_call>{"arguments":%s,\n "name":"%s"}\n\n</tool_call> ' % (js(a), n)


H = dict(between="\n", begin="<tool_call>", loose=hermes_loose)
TC = dict(call="<tool_call>" + NL + OBJECT + NL + "</tool_call>", between=NL)

f = family("hermes", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja", hermes, prompt=IM, **H)
f.add("arguments as a text", '<tool_call>\n{"name": "weather", "arguments": "{\\"city\\": \\"Rome\\", \\"days\\": 3}"}\n</tool_call>', calls=[ROME])
f.add("quotes of Python", "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Rome', 'days': 3, 'wind': True, 'note': None}}\n</tool_call>",
      calls=[("weather", {"city": "Rome", "days": 3, "wind": True, "note": None})])
f.add("the end is missing", '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome", "days": 3}}', calls=[ROME])
f.add("arguments before a text", '<tool_call>\n{"arguments": "{\\"city\\": \\"Rome\\", \\"days\\": 3}", "name": "weather"}\n</tool_call>', calls=[ROME])
f.add("a tool that nobody knows", '<tool_call>\n{"name": "dance", "arguments": {"with": "you"}}\n</tool_call>', calls=[("dance", {"with": "you"})])
f.add("without arguments", '<tool_call>\n{"name": "ping"}\n</tool_call>', calls=[PING])
f.add("no name", '<tool_call>\n{"arguments": {"a": 1}}\n</tool_call>', '<tool_call>\n{"arguments": {"a": 1}}\n</tool_call>')
f.add("no object", '<tool_call>\n{"name": "ping", "arguments": [1]}\n</tool_call>', '<tool_call>\n{"name": "ping", "arguments": [1]}\n</tool_call>')
f.add("an end mark", hermes(*ROME, 0) + "<|im_end|>\n", calls=[ROME])
f.add("text between calls", hermes(*ROME, 0) + "\nand\n" + hermes(*OSLO, 1), "and", calls=[ROME, OSLO])
f.add("a mark inside of a text", hermes("clock", {"zone": "</tool_call><tool_call>{}"}, 0), calls=[("clock", {"zone": "</tool_call><tool_call>{}"})])
f.add("surrogates", '<tool_call>{"name": "clock", "arguments": {"zone": "\\ud83d\\ude00 \\u00e9"}}</tool_call>', calls=[("clock", {"zone": "😀 é"})])
family("qwen2_5", "Qwen-Qwen2.5-7B-Instruct.jinja", hermes, prompt=IM, **H)
f = family("qwen3", "Qwen-Qwen3-0.6B.jinja", hermes, reason=("<think>", "</think>"), prompt=IM, **H)
f.add("a call in reasoning is none", "<think>" + hermes(*ROME, 0) + "</think>Hm.", "Hm.", hermes(*ROME, 0))
f.add("the mark of reasoning in text", "The mark <think> begins it.", "The mark <think> begins it.")
f.add("the end of reasoning alone", "</think>\nWarm.", "Warm.")
family("qwen3_small", chat(reason=THINK, prompt=SWITCH, **TC), hermes, reason=("<think>", "</think>"), prompt=IM, **H)
family("smollm3", "HuggingFaceTB-SmolLM3-3B.jinja", hermes, reason=("<think>", "</think>"), prompt=IM, **H)
family("granite4", chat(start="<|start_of_role|>", head="<|end_of_role|>", end="<|end_of_text|>\n", **TC), hermes, **H)
family("exaone4", chat(call="<tool_call>" + OBJECT + "</tool_call>", between=NL, start="[|", head="|]", end="[|endofturn|]\n", reason=THINK,
                       prompt="{% if enable_thinking is defined and enable_thinking %}<think>" + NL + "{% else %}<think>" + NL + NL + "</think>" + NL + NL + "{% endif %}"),
       lambda n, a, i: '<tool_call>{"name": "%s", "arguments": %s}</tool_call>' % (n, js(a)), reason=("<think>", "</think>"), between="\n", begin="<tool_call>")
f = family("ernie", chat(extra="{# after thinking: <response> #}{% if tools %}<tool_call>{{ tools|tojson }}</tool_call>{% endif %}", prompt="<think>" + NL), hermes,
           reason=("<think>", "</think>"), content=("<response>\n", "\n</response>"), **H)
family("tolerant", "google-gemma-2-2b-it.jinja", hermes, **H)
f = family("tolerant_phi", "microsoft-Phi-3.5-mini-instruct.jinja", hermes, **H)
whole = '{"name": "weather", "parameters": {"city": "Rome", "days": 3}}'
f.add("an object that is the whole answer", whole, calls=[ROME])
f.add("an object and more", whole + " is it", whole + " is it")
f.add("an object of no tool", '{"name": "Rome", "parameters": {}}', '{"name": "Rome", "parameters": {}}')

# ---- Llama

llama = lambda n, a, i: '{"name": "%s", "parameters": %s}' % (n, js(a))
for name in ("Llama-3.1-8B", "Llama-3.2-3B"):
    f = family(name.lower().replace("-", "_").replace(".", "_"), "meta-llama-%s-Instruct.jinja" % name, llama, between="; ", bare=True,
               loose=lambda n, a, i: ' {"type": "function",\n"name": "%s", "arguments": %s}\n' % (n, js(a)))
    f.add("behind its mark", "<|python_tag|>" + llama(*ROME, 0), calls=[ROME])
    f.add("a built-in tool", '<|python_tag|>brave_search.call(query="weather in Rome")<|eom_id|>', calls=[("brave_search", {"query": "weather in Rome"})])
    f.add("code", "<|python_tag|>print('hi')", "<|python_tag|>print('hi')")
    f.add("text first", "Here: " + llama(*ROME, 0), "Here: " + llama(*ROME, 0))
    f.add("text behind", llama(*ROME, 0) + " is it.", "is it.", calls=[ROME])
    f.add("no tool", '{"name": "Caesar", "parameters": {"born": -100}}', '{"name": "Caesar", "parameters": {"born": -100}}')
    f.add("other objects", '{"city": "Rome", "name": "weather"}', '{"city": "Rome", "name": "weather"}')
    f.add("no parameters", '{"name": "weather"}', '{"name": "weather"}')
    f.add("lines", llama(*ROME, 0) + ";\n" + llama(*OSLO, 1) + "<|eot_id|>", calls=[ROME, OSLO])

PY = "{{ f.name }}({% for k, v in f.arguments|items %}{{ k }}={{ v|tojson }}{% if not loop.last %}, {% endif %}{% endfor %})"


def python(n, a, i):
    return n + "(" + ", ".join("%s=%r" % x for x in a.items()) + ")"


f = family("pythonic_list", chat(call=PY, before="[", between=", ", after="]", start="<start_of_turn>", end="<end_of_turn>\n", lost=True), python, before="[", between=", ",
           after="]", bare=True)
f.add("other names", "[dance(a=1)]", "[dance(a=1)]")
f.add("a list", '["weather", 1]', '["weather", 1]')

# ---- Mistral

mistral = lambda n, a, i: '{"name": "%s", "arguments": %s, "id": "abcdefgh%d"}' % (n, js(a), i)
MT = dict(before="[TOOL_CALLS] [", between=", ", after="]", start="[INST]", end="</s>", lost=True,
          call="{\"name\": \"{{ f.name }}\", \"arguments\": {{ f.arguments|tojson }}, \"id\": \"{{ t.id }}\"}")
f = family("mistral_nemo", "mistralai-Mistral-Nemo-Instruct-2407.jinja", mistral, before="[TOOL_CALLS][", between=", ", after="]", begin="[TOOL_CALLS]",
           loose=lambda n, a, i: '\n{"name": "%s",\n "arguments": %s} ' % (n, js(a)))
f.add("an object alone", '[TOOL_CALLS]{"name": "ping", "arguments": {}}', calls=[PING])
family("mistral_7b", chat(**MT), mistral, before="[TOOL_CALLS] [", between=", ", after="]", begin="[TOOL_CALLS]")
family("mistral_small", chat(call="[TOOL_CALLS]{{ f.name }}[CALL_ID]{{ t.id }}[ARGS]{{ f.arguments|tojson }}", start="[INST]", end="</s>", lost=True),
       lambda n, a, i: "[TOOL_CALLS]%s[CALL_ID]abcdefgh%d[ARGS]%s" % (n, i, js(a)), begin="[TOOL_CALLS]",
       loose=lambda n, a, i: "[TOOL_CALLS]%s[ARGS]%s" % (n, js(a)))
BLOCKS = ("{% if m.content is string %}{{ m.content }}{% else %}{% for b in m.content %}{% if b.type == 'thinking' %}[THINK]{{ b.thinking }}[/THINK]"
          "{% else %}{{ b.text }}{% endif %}{% endfor %}{% endif %}")
family("devstral", chat(call="[TOOL_CALLS]{{ f.name }}[ARGS]{{ f.arguments|tojson }}", content=BLOCKS, start="[INST]", end="</s>"),
       lambda n, a, i: "[TOOL_CALLS]%s[ARGS]%s" % (n, js(a)), begin="[TOOL_CALLS]", reason=("[THINK]", "[/THINK]"),
       loose=lambda n, a, i: "[TOOL_CALLS]%s [ARGS] %s\n" % (n, js(a)))

# ---- XML


def coder(n, a, i):
    return "<tool_call>\n<function=%s>\n" % n + "".join("<parameter=%s>\n%s\n</parameter>\n" % (k, raw(v)) for k, v in a.items()) + "</function>\n</tool_call>"


def coder_loose(n, a, i):
    return "<tool_call><function=%s>" % n + "".join("<parameter=%s>%s</parameter>" % (k, raw(v)) for k, v in a.items()) + "</function></tool_call>"


PAIRS = "{% for k, v in f.arguments|items %}%s{{ k }}%s{{ v if v is string else v|tojson }}%s{% endfor %}"


def pairs(a, b, c):
    head, one, two, tail = PAIRS.split("%s")
    return head + a + one + b + two + c + tail


CODER = dict(call="<tool_call>" + NL + "<function={{ f.name }}>" + NL + pairs("<parameter=", ">" + NL, NL + "</parameter>" + NL) + "</function>" + NL + "</tool_call>", between=NL)
for name, more, reason in (("qwen3_coder", {}, None), ("qwen3_5", dict(reason=THINK, prompt="{% if enable_thinking is defined and not enable_thinking %}<think>" + NL + NL +
                                                                      "</think>" + NL + NL + "{% else %}<think>" + NL + "{% endif %}"), ("<think>", "</think>"))):
    f = family(name, chat(**CODER, **more), coder, between="\n", begin="<tool_call>\n<function=", loose=coder_loose, reason=reason)
    f.add("Python's True", "<tool_call>\n<function=weather>\n<parameter=wind>\nTrue\n</parameter>\n<parameter=list>\n['a', \"b\"]\n</parameter>\n</function>\n</tool_call>",
          calls=[("weather", {"wind": True, "list": ["a", "b"]})])
    f.add("JSON after all", hermes(*ROME, 0), calls=[ROME])
    f.add("the first mark is missing", coder(*ROME, 0)[len("<tool_call>\n"):], calls=[ROME])
    f.add("line ends of the value", "<tool_call>\n<function=clock>\n<parameter=zone>\n\n a\n\n</parameter>\n</function>\n</tool_call>", calls=[("clock", {"zone": "\n a\n"})])
    f.add("an empty value", "<tool_call>\n<function=clock>\n<parameter=zone>\n</parameter>\n</function>\n</tool_call>", calls=[("clock", {"zone": ""})])
    f.add("a value without its end", "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>", calls=[ROME])
    f.add("the last mark is missing", "<tool_call>\n<function=clock>\n<parameter=zone>\nX\n</parameter>\n</function>", calls=[("clock", {"zone": "X"})])
    f.add("the function's end is missing", "<tool_call>\n<function=clock>\n<parameter=zone>\nX\n</parameter>\n</tool_call>", calls=[("clock", {"zone": "X"})])
    f.add("no number", "<tool_call>\n<function=weather>\n<parameter=days>\nthree\n</parameter>\n</function>\n</tool_call>", calls=[("weather", {"days": "three"})])
    f.add("a long number", "<tool_call>\n<function=weather>\n<parameter=days>\n123456789012345678901234567890\n</parameter>\n</function>\n</tool_call>",
          calls=[("weather", {"days": 123456789012345678901234567890})])
    f.add("digits of a text", "<tool_call>\n<function=weather>\n<parameter=zip>\n0042\n</parameter>\n<parameter=city>\n{\"a\": 1}\n</parameter>\n</function>\n</tool_call>",
          calls=[("weather", {"zip": "0042", "city": '{"a": 1}'})])
    f.add("cut behind the values", "<tool_call>\n<function=clock>\n<parameter=zone>\nX\n</parameter>\n", "<tool_call>\n<function=clock>\n<parameter=zone>\nX\n</parameter>")
seed = lambda n, a, i: "<seed:tool_call>\n<function=%s>\n" % n + "".join("<parameter=%s>%s</parameter>\n" % (k, raw(v)) for k, v in a.items()) + "</function>\n</seed:tool_call>"
f = family("seed_oss", chat(call="<seed:tool_call>" + NL + "<function={{ f.name }}>" + NL + pairs("<parameter=", ">", "</parameter>" + NL) + "</function>" + NL + "</seed:tool_call>",
                            between=NL, reason="<seed:think>{{ m.reasoning_content }}</seed:think>" + NL, start="<seed:bos>", end="<seed:eos>",
                            prompt="{% if thinking_budget is defined and thinking_budget == 0 %}<seed:think>" + NL + "</seed:think>{% endif %}"),
           seed, between="\n", begin="<seed:tool_call>", reason=("<seed:think>", "</seed:think>"))
f.add("exact values", "<seed:tool_call><function=clock><parameter=zone>\n a\n</parameter></function></seed:tool_call>", calls=[("clock", {"zone": "\n a\n"})])

glm = lambda n, a, i: "<tool_call>%s\n" % n + "".join("<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>\n" % (k, raw(v)) for k, v in a.items()) + "</tool_call>"
glm_loose = lambda n, a, i: "<tool_call>%s" % n + "".join("<arg_key>%s</arg_key><arg_value>%s</arg_value>" % (k, raw(v)) for k, v in a.items()) + "</tool_call>"
GLM = dict(start="<|", head="|>", end="", reason=NL + "<think>{{ m.reasoning_content }}</think>" + NL, between=NL)
family("glm4_5", chat(call="<tool_call>{{ f.name }}" + NL + pairs("<arg_key>", "</arg_key>" + NL + "<arg_value>", "</arg_value>" + NL) + "</tool_call>",
                      prompt="{% if enable_thinking is defined and not enable_thinking %}" + NL + "<think></think>{% endif %}", **GLM),
       glm, between="\n", begin="<tool_call>", loose=glm_loose, reason=("<think>", "</think>"))
f = family("glm4_7", chat(call="<tool_call>{{ f.name }}" + pairs("<arg_key>", "</arg_key><arg_value>", "</arg_value>") + "</tool_call>",
                          prompt="{% if enable_thinking is defined and not enable_thinking %}</think>{% else %}<think>{% endif %}", **dict(GLM, between="")),
           glm_loose, begin="<tool_call>", loose=glm, reason=("<think>", "</think>"))
f.add("JSON after all", hermes(*ROME, 0), calls=[ROME])
f.add("closed by the prompt alone", "Warm.", "Warm.", prompt="<|assistant|></think>")
f = family("glm4", chat(start="<|", head="|>{{ m.metadata or '' }}" + NL, end="", extra="{# <|observation|> metadata #}"),
           lambda n, a, i: "%s\n%s" % (n, js(a)), bare=True, lone=True)
f.add("no tool", "dance\n{\"a\": 1}", "dance\n{\"a\": 1}")
f.add("no line", "weather {", "weather {")
f.add("a sentence", "weather\nis fine", "weather\nis fine")
f.add("an end mark", "ping\n{}\n", calls=[PING])
hy3 = lambda n, a, i: "<tool_call>%s<tool_sep>\n" % n + "".join("<arg_key>%s</arg_key>\n<arg_value>%s</arg_value>\n" % (k, raw(v)) for k, v in a.items()) + "</tool_call>"
family("hunyuan3", chat(extra="{# <tool_calls> <tool_call> <tool_sep> #}"), hy3, before="<tool_calls>\n", between="\n", after="\n</tool_calls>",
       reason=("<think>", "</think>"), content=("<answer>", "</answer>"), begin="<tool_call>")

# ---- DeepSeek

DS = dict(start="<｜", head="｜>", end="<｜end▁of▁sentence｜>")
B, E, CB, CE, SEP = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
v3 = lambda n, a, i: CB + "function" + SEP + n + "\n```json\n" + js(a) + "\n```" + CE
family("deepseek_v3", chat(call=CB + "function" + SEP + "{{ f.name }}" + NL + "```json" + NL + "{{ f.arguments if f.arguments is string else f.arguments|tojson }}" + NL + "```" + CE,
                           before=B, between=NL, after=E, **DS), v3, before=B, between="\n", after=E, begin=B)
f = family("deepseek_r1", chat(call=CB + "function" + SEP + "{{ f.name }}" + NL + "```json" + NL + "{{ f.arguments }}" + NL + "```" + CE, before=B, between=NL, after=E,
                               cut="</think>", guard="{% if m.role == 'assistant' and m.tool_calls and m.content is not none %}{{ raise_exception('null') }}{% endif %}",
                               prompt="<think>" + NL, **DS), v3, before=B, between="\n", after=E, begin=B, reason=("<think>", "</think>"))
v31 = lambda n, a, i: CB + n + SEP + js(a) + CE
f = family("deepseek_v3_1", "deepseek-ai-DeepSeek-V3.1.jinja", v31, before=B, after=E, begin=B, reason=("<think>", "</think>"), loose=lambda n, a, i: CB + n + SEP + " " + js(a) + "\n" + CE)
f.add("no section", v31(*ROME, 0), calls=[ROME])
dsml = lambda n, a, i: '<｜DSML｜invoke name="%s">\n' % n + "".join(
    '<｜DSML｜parameter name="%s" string="%s">%s</｜DSML｜parameter>\n' % (k, "true" if isinstance(v, str) else "false", raw(v)) for k, v in a.items()) + "</｜DSML｜invoke>"
f = family("deepseek_v3_2", chat(call='<｜DSML｜invoke name="{{ f.name }}">' + NL + '{% for k, v in f.arguments|items %}<｜DSML｜parameter name="{{ k }}" string="'
                                 '{{ "true" if v is string else "false" }}">{{ v if v is string else v|tojson }}</｜DSML｜parameter>' + NL + "{% endfor %}</｜DSML｜invoke>" + NL,
                                 before=NL + NL + "<｜DSML｜function_calls>" + NL, after="</｜DSML｜function_calls>",
                                 reason="<think>{{ m.reasoning_content }}</think>", **DS), dsml, before="\n\n<｜DSML｜function_calls>\n", between="\n", after="\n</｜DSML｜function_calls>",
           begin="<｜DSML｜function_calls>", reason=("<think>", "</think>"))
f.add("the mark says the type", '<｜DSML｜function_calls><｜DSML｜invoke name="weather"><｜DSML｜parameter name="days" string="true">3</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
      calls=[("weather", {"days": "3"})])

# ---- harmony

harmony = lambda n, a, i: "<|channel|>commentary to=functions.%s <|constrain|>json<|message|>%s<|call|>" % (n, js(a))
START = "<|start|>assistant"
f = Family("gpt_oss", "openai-gpt-oss-120b.jinja", harmony, prompt=START)
FAMILIES.append(f)
f.add("text", "<|channel|>final<|message|>It is warm.<|return|>", "It is warm.")
f.add("text without a header", "It is <|warm|>.", "It is <|warm|>.")
f.add("reasoning and text", "<|channel|>analysis<|message|>Why?<|end|><|start|>assistant<|channel|>final<|message|>It is warm.", "It is warm.", "Why?")
f.add("two pieces of reasoning", "<|channel|>analysis<|message|>Why?\n<|end|><|start|>assistant<|channel|>analysis<|message|> So.<|end|><|start|>assistant<|channel|>final<|message|>Warm.",
      "Warm.", "Why?\nSo.")
f.add("one call", harmony(*ROME, 0), calls=[ROME])
f.add("reasoning and a call", "<|channel|>analysis<|message|>Why?<|end|><|start|>assistant" + harmony(*ROME, 0), "", "Why?", [ROME])
f.add("two calls", harmony(*ROME, 0) + START + harmony(*OSLO, 1), calls=[ROME, OSLO])
f.add("the recipient in the role", " to=functions.weather<|channel|>commentary json<|message|>" + js(ROME[1]) + "<|call|>", calls=[ROME])
f.add("a call in analysis", "<|channel|>analysis to=functions.weather code<|message|>" + js(ROME[1]), calls=[ROME])
f.add("words before a call", "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant" + harmony(*FULL, 0), "I look.", calls=[FULL])
f.add("no arguments", harmony(*PING, 0), calls=[PING])
f.add("nothing for arguments", "<|channel|>commentary to=functions.ping<|message|><|call|>", calls=[PING])
f.add("a built-in tool", '<|channel|>commentary to=browser.search<|message|>{"q": "x"}<|call|>', calls=[("browser.search", {"q": "x"})])
f.add("a call that was cut", '<|channel|>commentary to=functions.weather<|message|>{"city": "Ro', '<|channel|>commentary to=functions.weather<|message|>{"city": "Ro')
f.add("no JSON", "<|channel|>commentary to=python<|message|>print(1)<|call|>", "<|channel|>commentary to=python<|message|>print(1)")
f.add("a header that was cut", "<|channel|>anal", "<|channel|>anal")
f.add("the prompt gave the start alone", "<|channel|>final<|message|>Warm.", "Warm.", prompt="")

# ---- Gemma


def gemma(q):
    def value(v):
        if isinstance(v, str):
            return q + v + q
        if isinstance(v, list):
            return "[" + ",".join(value(x) for x in v) + "]"
        if isinstance(v, dict):
            return "{" + ",".join("%s:%s" % (k, value(x)) for k, x in v.items()) + "}"
        return js(v)
    return lambda n, a, i: "call:" + n + value(a)


g4, fg = gemma('<|"|>'), gemma("<escape>")
GV = "{% macro val(v) %}{% if v is string %}Q{{ v }}Q{% elif v is mapping %}{ {%- for k, x in v|dictsort %}{{ k }}:{{ val(x) }}{% if not loop.last %},{% endif %}{% endfor %}}{% elif v is iterable %}[{% for x in v %}{{ val(x) }}{% if not loop.last %},{% endif %}{% endfor %}]{% else %}{{ v|tojson }}{% endif %}{% endmacro %}"
family("gemma4", chat(extra=GV.replace("Q", '<|"|>'), call="<|tool_call>call:{{ f.name }}{{ val(f.arguments) }}<tool_call|>", start="<|turn>", end="<turn|>\n",
                      reason="{% if m.tool_calls %}<|channel>thought" + NL + "{{ m.reasoning_content }}" + NL + "<channel|>{% endif %}",
                      prompt="{% if enable_thinking is not defined or not enable_thinking %}<|channel>thought" + NL + "<channel|>{% endif %}"),
       lambda n, a, i: "<|tool_call>" + g4(n, a, i) + "<tool_call|>", begin="<|tool_call>", reason=("<|channel>thought\n", "<channel|>"),
       loose=lambda n, a, i: "<|tool_call> " + g4(n, a, i).replace(":<", ": <") + "\n<tool_call|>\n")
family("function_gemma", chat(extra="{# <start_function_call> #}", start="<start_of_turn>", end="<end_of_turn>\n"),
       lambda n, a, i: "<start_function_call>" + fg(n, a, i) + "<end_function_call>", begin="<start_function_call>")

# ---- lists of JSON in marks

obj = lambda n, a, i: '{"name": "%s", "arguments": %s}' % (n, js(a))
LIST = dict(call=OBJECT, between=", ")
f = family("granite3", "ibm-granite-granite-3.3-2B-Instruct.jinja", obj, before="<|tool_call|>[", between=", ", after="]", reason=("<think>", "</think>"),
           content=("<response>", "</response>"), begin="<|tool_call|>")
f.add("its other mark", '<tool_call> [\n{"arguments": {"city": "Rome", "days": 3}, "name": "weather"}\n]', calls=[ROME])
f = family("phi4_mini", chat(start="<|", head="|>", end="<|end|>", extra="{% if tools %}<|tool|>{{ tools|tojson }}<|/tool|>{% endif %}"), obj, before="<|tool_call|>[", between=", ",
           after="]<|/tool_call|>", begin="<|tool_call|>")
f.add("functools", "functools[" + obj(*ROME, 0) + ",\n" + obj(*OSLO, 1) + "]", calls=[ROME, OSLO])
f.add("no list", "<|tool_call|>" + obj(*ROME, 0) + "<|/tool_call|>", calls=[ROME])
f.add("its type", '<|tool_call|>[{"type": "function", "function": {"name": "ping", "arguments": {}}}]<|/tool_call|>', calls=[PING])
family("firefunction", chat(extra="{# functools #}"), obj, before=" functools[", between=", ", after="]", begin="functools")
cohere = lambda n, a, i: '\n    {"tool_call_id": "%d", "tool_name": "%s", "parameters": %s}' % (i, n, js(a))
family("command_r7b", chat(call=NL + '    {"tool_call_id": "{{ loop.index0 }}", "tool_name": "{{ f.name }}", "parameters": {{ f.arguments|tojson }}}', between=",",
                           before="<|START_ACTION|>[", after=NL + "]<|END_ACTION|>", content="<|START_RESPONSE|>{{ m.content }}<|END_RESPONSE|>", lost=True,
                           reason="<|START_THINKING|>{{ m.reasoning_content }}<|END_THINKING|>", start="<|START_OF_TURN_TOKEN|>", head="<|x|>", end="<|END_OF_TURN_TOKEN|>"),
       cohere, before="<|START_ACTION|>[", between=",", after="\n]<|END_ACTION|>", reason=("<|START_THINKING|>", "<|END_THINKING|>"),
       content=("<|START_RESPONSE|>", "<|END_RESPONSE|>"), begin="<|START_ACTION|>")
f = family("hunyuan", chat(before="<tool_calls>[", after="]</tool_calls>", end="<|eos|>", extra="{# <|extra_0|> #}",
                           prompt="{% if enable_thinking is defined and not enable_thinking %}<think>" + NL + NL + "</think>" + NL + "{% endif %}", **LIST), obj, before="<tool_calls>[",
           between=", ", after="]</tool_calls>", reason=("<think>", "</think>"), content=("<answer>\n", "\n</answer>"), begin="<tool_calls>")
f.add("calls inside of the answer", "<think>\nWhy?\n</think>\n<answer>\n<tool_calls>[" + obj(*ROME, 0) + "]</tool_calls>\n</answer>", "", "Why?", [ROME])
f = family("nemotron_nano", chat(before="<TOOLCALL>[", after="]</TOOLCALL>", end="<SPECIAL_12>\n", cut="</think>", prompt="<think>" + NL, **LIST), obj, before="<TOOLCALL>[", between=", ",
           after="]</TOOLCALL>", reason=("<think>", "</think>"), begin="<TOOLCALL>")
family("jamba", chat(before="<tool_calls>[" + NL, after=NL + "]</tool_calls>", end="<|eom|>", call=OBJECT, between="," + NL), obj, before="<tool_calls>[\n", between=",\n",
       after="\n]</tool_calls>", begin="<tool_calls>")
STEPS = "Here are my reasoning steps:"
family("apriel", chat(before="<tool_calls>[", after="]</tool_calls>", end="<|end|>\n", content="[BEGIN FINAL RESPONSE]" + NL + "{{ m.content }}", lost=True,
                      reason=STEPS + NL + "{{ m.reasoning_content }}" + NL, prompt=STEPS + NL, **LIST), obj, before="<tool_calls>[", between=", ", after="]</tool_calls>",
       reason=(STEPS, "[BEGIN FINAL RESPONSE]"), begin="<tool_calls>")
apertus = lambda n, a, i: '{"%s": %s}' % (n, js(a))
f = family("apertus", chat(call='{"{{ f.name }}": {{ f.arguments|tojson }}}', before="<|tools_prefix|>[", between=", ", after="]<|tools_suffix|>",
                           content="{% if m.content is mapping %}{% for b in m.content.blocks %}{% if b.type == 'thoughts' %}<|inner_prefix|>{{ b.text }}<|inner_suffix|>{% else %}{{ b.text }}"
                           "{% endif %}{% endfor %}{% else %}{{ m.content }}{% endif %}", start="<|", head="_start|>", end="<|assistant_end|>"), apertus, before="<|tools_prefix|>[",
           between=", ", after="]<|tools_suffix|>", reason=("<|inner_prefix|>", "<|inner_suffix|>"), begin="<|tools_prefix|>")
f.add("the end is missing", "<|tools_prefix|>[" + apertus(*ROME, 0) + "]", calls=[ROME])

# ---- Python

PYTHON = PY.replace("{{ v|tojson }}", "{% if v is string %}'{{ v }}'{% else %}{{ v }}{% endif %}")
for name, template in (("lfm2", "LFM2-8B-A1B.jinja"), ("lfm2_5", chat(call=PYTHON, before="<|tool_call_start|>[", between=", ", after="]<|tool_call_end|>", reason=THINK))):
    f = family(name, template, python, before="<|tool_call_start|>[", between=", ", after="]<|tool_call_end|>", reason=("<think>", "</think>"), begin="<|tool_call_start|>",
               loose=lambda n, a, i: "\n" + n + "( " + " ,\n".join("%s = %s" % (k, js(v)) for k, v in a.items()) + " )\n")
    f.add("quotes inside of quotes", "<|tool_call_start|>[clock(zone='sed -n '360,450p' f')]<|tool_call_end|>", calls=[("clock", {"zone": "sed -n '360,450p' f"})])
    f.add("escapes", "<|tool_call_start|>[clock(zone='it\\'s \\x41 \\n \\q')]<|tool_call_end|>", calls=[("clock", {"zone": "it's A \n \\q"})])
    f.add("numbers and sets", "<|tool_call_start|>[weather(days=07, list={'a', 'b'}, at={'lat': 1., 'lon': -.5}, wind=None)]<|tool_call_end|>",
          calls=[("weather", {"days": 7, "list": ["a", "b"], "at": {"lat": 1.0, "lon": -0.5}, "wind": None})])
    f.add("JSON after all", "<|tool_call_start|>[" + obj(*ROME, 0) + "]<|tool_call_end|>", calls=[ROME])
    f.add("a name with a dot", "<|tool_call_start|>[a.b(c=1)]<|tool_call_end|>", calls=[("a.b", {"c": 1})])
    f.add("no list", "<|tool_call_start|>ping()<|tool_call_end|>", calls=[PING])
    f.add("no calls", "<|tool_call_start|>[]<|tool_call_end|>", "<|tool_call_start|>[]<|tool_call_end|>")
    f.add("arguments without names", "<|tool_call_start|>[clock('x')]<|tool_call_end|>", "<|tool_call_start|>[clock('x')]<|tool_call_end|>")

# ---- names as text

fn31 = lambda n, a, i: "<function=%s>%s</function>" % (n, js(a))
f = family("functionary_3_1", chat(call="<function={{ f.name }}>{{ f.arguments|tojson }}</function>", start="<|", head="|>", end="{% if m.tool_calls %}<|eom_id|>{% else %}<|eot_id|>{% endif %}"),
           fn31, begin="<function=", loose=lambda n, a, i: "<function=%s> %s </function>\n" % (n, js(a)))
f.add("an end mark", fn31(*ROME, 0) + "<|eom_id|>", calls=[ROME])
f = Family("functionary_3_2", chat(call=">>>{{ f.name }}" + NL + "{{ f.arguments if f.arguments is string else f.arguments|tojson }}", content=">>>all" + NL + "{{ m.content }}", start="<|", head="|>",
                                   end="<|eot_id|>", prompt=">>>"), lambda n, a, i: n + "\n" + js(a), prompt="<|assistant|>>>>")
FAMILIES.append(f)
f.add("text", "all\nIt is warm.", "It is warm.")
f.add("one call", "weather\n" + js(ROME[1]), calls=[ROME])
f.add("two calls", "weather\n" + js(ROME[1]) + ">>>clock\n" + js(OSLO[1]), calls=[ROME, OSLO])
f.add("text and a call", "all\nI look.>>>weather\n" + js(FULL[1]), "I look.", calls=[FULL])
f.add("no arguments", "ping\n{}<|eot_id|>", calls=[PING])
f.add("its mark inside of a text", 'clock\n{"zone": ">>>ping\\n{}"}', calls=[("clock", {"zone": ">>>ping\n{}"})])
f.add("its mark in the text", "all\nPython says >>> here.", "Python says >>> here.")
f.add("cut", 'weather\n{"city": "Ro', 'weather\n{"city": "Ro')
f.add("the second was cut", "ping\n{}>>>clock\n{\"zo", ">>>clock\n{\"zo", calls=[PING])
f.add("no name", "It is warm.", "It is warm.")
kimi = lambda n, a, i: "<|tool_call_begin|>functions.%s:%d<|tool_call_argument_begin|>%s<|tool_call_end|>" % (n, i, js(a))
f = family("kimi_k2", chat(call="<|tool_call_begin|>{{ t.id }}<|tool_call_argument_begin|>{{ f.arguments|tojson }}<|tool_call_end|>", before="<|tool_calls_section_begin|>",
                           after="<|tool_calls_section_end|>"), kimi, before="<|tool_calls_section_begin|>", after="<|tool_calls_section_end|>", reason=("<think>", "</think>"),
           begin="<|tool_calls_section_begin|>", loose=lambda n, a, i: "\n<|tool_call_begin|>%s:%d <|tool_call_argument_begin|> %s <|tool_call_end|>\n" % (n, i, js(a)))
f.add("calls end reasoning", "<think>Why?" + f.calls([ROME]), "", "Why?", [ROME])
m2 = lambda n, a, i: '<invoke name="%s">\n' % n + "".join('<parameter name="%s">%s</parameter>\n' % (k, raw(v)) for k, v in a.items()) + "</invoke>"
family("minimax_m2", chat(call='<invoke name="{{ f.name }}">' + NL + pairs('<parameter name="', '">', "</parameter>" + NL) + "</invoke>" + NL, before="<minimax:tool_call>" + NL,
                          after="</minimax:tool_call>", reason=THINK, start="]~b]", end="[e~[\n", prompt="<think>" + NL), m2, before="<minimax:tool_call>\n", between="\n",
       after="\n</minimax:tool_call>", reason=("<think>", "</think>"), begin="<minimax:tool_call>",
       loose=lambda n, a, i: '<invoke name="%s">' % n + "".join('<parameter name="%s">%s</parameter>' % (k, raw(v)) for k, v in a.items()) + "</invoke>")
P = "]<]minimax[>["


def tags(p):
    def value(k, v):
        inner = "".join(value("item", x) for x in v) if isinstance(v, list) else "".join(value(*x) for x in v.items()) if isinstance(v, dict) else raw(v)
        return "%s<%s>%s%s</%s>" % (p, k, inner, p, k)
    return lambda a: "".join(value(k, v) for k, v in a.items())


MV = "{% macro val(k, v) %}P<{{ k }}>{% if v is string %}{{ v }}{% elif v is mapping %}{% for a, b in v|items %}{{ val(a, b) }}{% endfor %}{% elif v is iterable %}{% for b in v %}{{ val('item', b) }}{% endfor %}{% else %}{{ v|tojson }}{% endif %}P</{{ k }}>{% endmacro %}"
family("minimax_m3", chat(extra=MV.replace("P", P), call=P + '<invoke name="{{ f.name }}">{% for k, v in f.arguments|items %}{{ val(k, v) }}{% endfor %}' + P + "</invoke>" + NL,
                          before=P + "<tool_call>" + NL, after=P + "</tool_call>", reason="<mm:think>{{ m.reasoning_content }}</mm:think>"),
       lambda n, a, i: P + '<invoke name="%s">' % n + tags(P)(a) + P + "</invoke>", before=P + "<tool_call>\n", between="\n", after="\n" + P + "</tool_call>",
       reason=("<mm:think>", "</mm:think>"), begin=P + "<tool_call>")
family("minicpm5", chat(call='<function name="{{ f.name }}">' + pairs('<param name="', '">', "</param>") + "</function>", between=NL, reason=THINK),
       lambda n, a, i: '<function name="%s">' % n + "".join('<param name="%s">%s</param>' % (k, raw(v)) for k, v in a.items()) + "</function>", between="\n",
       reason=("<think>", "</think>"), begin='<function name="')
solar = lambda n, a, i: "<|tool_call:begin|>id%d<|tool_call:name|>%s<|tool_call:args|>%s<|tool_call:end|>" % (i, n, js(a))
f = family("solar", chat(call="<|tool_call:begin|>{{ t.id }}<|tool_call:name|>{{ f.name }}<|tool_call:args|>{{ f.arguments|tojson }}<|tool_call:end|>", before="<|tool_calls|>",
                         after="<|calls|>", start="<|begin|>", head="", end="<|end|>", reason="<|think|>{{ m.reasoning_content }}<|end|><|begin|>assistant",
                         content="<|content|>{{ m.content }}", lost=True), solar, before="<|tool_calls|>", after="<|calls|>", reason=("<|think|>", "<|end|><|begin|>assistant"),
           content=("<|content|>", ""), begin="<|tool_calls|>")
family("gigachat", chat(call="<|message_sep|>" + NL + NL + "function call<|role_sep|>" + NL + OBJECT, start="", head="<|role_sep|>" + NL, end="<|message_sep|>" + NL + NL),
       lambda n, a, i: "<|message_sep|>\n\nfunction call<|role_sep|>\n" + obj(n, a, i), begin="<|message_sep|>\n\nfunction call<|role_sep|>")

# ---- marks that no model has

ME = dict(start="⟪", head="⟫", end="⟪/⟫")
f = family("hidden_keys", chat(call='⟦call⟧{"no": "{{ t.id }}", "input": {{ f.arguments|tojson }}, "tool": "{{ f.name }}"}⟦/call⟧', reason="⟦why⟧{{ m.reasoning_content }}⟦/why⟧", **ME),
           lambda n, a, i: '⟦call⟧{"tool": "%s", "input": %s, "no": "%d"}⟦/call⟧' % (n, js(a), i), begin="⟦call⟧", reason=("⟦why⟧", "⟦/why⟧"),
           loose=lambda n, a, i: '⟦call⟧ {"input": %s,\n"tool": "%s"}\n ⟦/call⟧' % (js(a), n))
f = family("hidden_list", chat(call='{"fn": "{{ f.name }}", "with": {{ f.arguments|tojson }}}', before="<<CALLS>> [", between="," + NL, after="] <<END>>", lost=True, **ME),
           lambda n, a, i: '{"fn": "%s", "with": %s}' % (n, js(a)), before="<<CALLS>> [", between=",\n", after="] <<END>>", begin="<<CALLS>>")
f.add("no list", '<<CALLS>>{"fn": "ping", "with": {}}<<END>>', calls=[PING])
f = family("hidden_prose", chat(call="@fn {{ f.name }} :: {{ f.arguments|tojson }} ;;" + NL, **ME), lambda n, a, i: "@fn %s :: %s ;;\n" % (n, js(a)), begin="@fn",
           loose=lambda n, a, i: "@fn %s::%s;;" % (n, js(a)))
f.add("the mark in prose", "Write @fn name to call it.", "Write @fn name to call it.")
family("hidden_id", chat(call="<c>{{ f.name }}<i>{{ t.id }}<a>{{ f.arguments|tojson }}</c>", **ME), lambda n, a, i: "<c>%s<i>x%d<a>%s</c>" % (n, i, js(a)), begin="<c>")
family("hidden_id_first", chat(call="<c>{{ t.id }}<n>{{ f.name }}<a>{{ f.arguments|tojson }}</c>", **ME), lambda n, a, i: "<c>x%d<n>%s<a>%s</c>" % (i, n, js(a)), begin="<c>")
family("hidden_count", chat(call="<go>ns.{{ f.name }}#{{ loop.index0 }}={{ f.arguments|tojson }}</go>", before="<all>", after="</all>", **ME),
       lambda n, a, i: "<go>ns.%s#%d=%s</go>" % (n, i, js(a)), before="<all>", after="</all>", begin="<all>")
do = lambda n, a, i: "<do %s>\n" % n + "".join("<p %s>\n%s\n</p>\n" % (k, raw(v)) for k, v in a.items()) + "</do>"
f = family("hidden_lines", chat(call="<do {{ f.name }}>" + NL + pairs("<p ", ">" + NL, NL + "</p>" + NL) + "</do>", between=NL, **ME), do, between="\n", begin="<do ")
f.add("the text of numbers", do("weather", {"zip": "0042", "days": 7}, 0), calls=[("weather", {"zip": "0042", "days": 7})])
f.add("no value", do("clock", {"zone": ""}, 0), calls=[("clock", {"zone": ""})])
f = family("hidden_pairs", chat(call="{do {{ f.name }}|" + pairs("{k}", "{v}", "{e}") + "|}", **ME),
           lambda n, a, i: "{do %s|" % n + "".join("{k}%s{v}%s{e}" % (k, raw(v)) for k, v in a.items()) + "|}", begin="{do ")
f.add("exact values", "{do clock|{k}zone{v}\n a {e}|}", calls=[("clock", {"zone": "\n a "})])
f = family("hidden_kinds", chat(call='<do {{ f.name }}>{% for k, v in f.arguments|items %}<p {{ k }} kind="{{ "str" if v is string else "json" }}">{{ v if v is string else v|tojson }}</p>{% endfor %}</do>', **ME),
           lambda n, a, i: "<do %s>" % n + "".join('<p %s kind="%s">%s</p>' % (k, "str" if isinstance(v, str) else "json", raw(v)) for k, v in a.items()) + "</do>", begin="<do ")
family("hidden_sorted", chat(call="<do {{ f.name }}>" + pairs("<p ", ">", "</p>").replace("|items", "|dictsort") + "</do>", **ME),
       lambda n, a, i: "<do %s>" % n + "".join("<p %s>%s</p>" % (k, raw(v)) for k, v in a.items()) + "</do>", begin="<do ")
family("hidden_tags", chat(extra=MV.replace("P", ""), call="<go:{{ f.name }}>{% for k, v in f.arguments|items %}{{ val(k, v) }}{% endfor %}</go>", **ME),
       lambda n, a, i: "<go:%s>" % n + tags("")(a) + "</go>", begin="<go:", full=("weather", {"city": "Rome", "days": 3, "list": ["a", "b"], "at": {"lat": 41.9, "lon": -12.5}, "zip": "0042"}))
family("hidden_python", chat(call=PYTHON, before="{{ '{{' }}[", between="; ", after="]{{ '}}' }}", **ME), python, before="{{[", between="; ", after="]}}", begin="{{")
family("hidden_gemma", chat(extra=GV.replace("Q", "~|"), call="<run>{{ f.name }}{{ val(f.arguments) }}</run>", **ME), lambda n, a, i: "<run>" + gemma("~|")(n, a, i)[5:] + "</run>", begin="<run>")
family("hidden_name_key", chat(call='{"{{ f.name }}": {{ f.arguments|tojson }}}', before="<t>[", between=", ", after="]</t>", **ME), apertus, before="<t>[", between=", ", after="]</t>", begin="<t>")
family("hidden_stems", chat(call="<t1>{{ f.name }}</x2>{{ f.arguments|tojson }}</x2>", before="<t>", after="</x>", reason="<t2>{{ m.reasoning_content }}</t2>", **ME),
       lambda n, a, i: "<t1>%s</x2>%s</x2>" % (n, js(a)), before="<t>", after="</x>", begin="<t>", reason=("<t2>", "</t2>"))
family("hidden_same", chat(call="|||" + OBJECT + "|||", between=NL, **ME), lambda n, a, i: "|||" + obj(n, a, i) + "|||", between="\n", begin="|||")
f = Family("hidden_prompt", chat(prompt="{% if reason_more is defined and not reason_more %}<hm></hm>{% else %}<hm>{% endif %}", cut="</hm>", **ME), None)
FAMILIES.append(f)
f.add("reasoning that the prompt began", "Why?</hm>Warm.", "Warm.", "Why?", prompt="⟪assistant⟫<hm>")
f.add("its mark again", "<hm>Why?</hm>Warm.", "Warm.", "Why?", prompt="⟪assistant⟫<hm>")
f.add("closed", "Warm.", "Warm.", prompt="⟪assistant⟫<hm></hm>")
f.add("by itself", "<hm>\nWhy?\n</hm>\nWarm.", "Warm.", "Why?")
f.add("without an end", "Why? </h", "", "Why? </h", prompt="⟪assistant⟫<hm>")
f.add("text", "Warm </hm> here.", "Warm </hm> here.")
f.add("two lines", "Why?\n\nSo.</hm>\n\nWarm.\n\nGood.", "Warm.\n\nGood.", "Why?\n\nSo.", prompt="⟪assistant⟫<hm>")
f.add("nothing", "", "", "", prompt="⟪assistant⟫<hm>")
f = family("hidden_content", chat(call='<act>' + OBJECT + '</act>', content="<out>{{ m.content }}</out>", reason="<in>{{ m.reasoning_content }}</in>", lost=True, **ME),
           lambda n, a, i: "<act>" + obj(n, a, i) + "</act>", content=("<out>", "</out>"), reason=("<in>", "</in>"), begin="<act>")
f.add("content without marks", "Warm.", "Warm.")
f = family("hidden_strict", chat(call="<act>{{ f.name }}|{{ f.arguments }}</act>", guard="{% if m.role == 'assistant' and m.tool_calls and (m.tool_calls|length > 1 or m.tool_calls[0].function.arguments is not string"
                                 " or m.content is not none or m.tool_calls[0].id|length != 9) %}{{ raise_exception('no') }}{% endif %}", **ME),
           lambda n, a, i: "<act>%s|%s</act>" % (n, js(a)), begin="<act>")
family("hidden_reversed", chat(call='<act>' + OBJECT + '</act>', **ME).replace("in m.tool_calls %}", "in m.tool_calls|reverse %}"), lambda n, a, i: "<act>" + obj(n, a, i) + "</act>", begin="<act>")
family("hidden_repr", chat(call="<act>{'name': '{{ f.name }}', 'arguments': {{ f.arguments }}}</act>", **ME), lambda n, a, i: "<act>{'name': '%s', 'arguments': %r}</act>" % (n, a), begin="<act>")
family("hidden_indent", chat(call='<act>{"name": "{{ f.name }}", "arguments": {{ f.arguments|tojson(indent=2, ensure_ascii=True) }}}</act>', **ME),
       lambda n, a, i: '<act>{"name": "%s", "arguments": %s}</act>' % (n, json.dumps(a, indent=2)), begin="<act>")
f = Family("hidden_names_only", chat(call="<act>{{ f.name }}</act>", **ME), None)
FAMILIES.append(f)
for text in ("Warm.", "<act>weather</act>", "<act>", "a < b", "<act>ping</act> and more", "{", "[]", "⟪x⟫"):
    f.add(text, text, text)


def main():
    for name in os.listdir(HERE):
        if name.endswith(".json"):
            os.remove(os.path.join(HERE, name))
    for f in FAMILIES:
        assert len(f.cases) >= 8, f.name
        with open(os.path.join(HERE, f.name + ".json"), "w", encoding="utf-8") as out:
            shared = f.template.endswith(".jinja")
            out.write('{"%s": %s,\n "cases": [\n' % ("shared" if shared else "template", js(f.template)))
            out.write(",\n".join("  " + js(c) for c in f.cases) + "\n]}\n")
    with open(os.path.join(HERE, "tools.json"), "w", encoding="utf-8") as out:
        out.write(json.dumps(TOOLS, ensure_ascii=False, indent=1) + "\n")
    print("%d families, %d answers" % (len(FAMILIES), sum(len(f.cases) for f in FAMILIES)))


if __name__ == "__main__":
    sys.exit(main())
