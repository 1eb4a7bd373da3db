/* linnet_chat.h: conversations. What a model was trained to see around messages, as its template says it, what it answers, and grammars:
 * text that obeys a JSON schema, or calls one of an app's tools. */
#ifndef LINNET_CHAT_H
#define LINNET_CHAT_H

#include "linnet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- chat formats ----------------------------------------------------------------------------------------------------------- */

/* Who says a message. */
typedef enum linnet_role LINNET_OF_UINT32 {
  LINNET_ROLE_NONE = 0, /* no role */
  LINNET_ROLE_SYSTEM = 1,
  LINNET_ROLE_USER = 2,
  LINNET_ROLE_ASSISTANT = 3,
  LINNET_ROLE_TOOL = 4
} LINNET_32_BITS linnet_role;

/* Name of a role ("user") or NULL if there is no such role. */
LINNET_API const char* linnet_role_name(linnet_role role);
/* What the model was trained to see around a message of this role: a conversation is prefix + text + suffix of each message, an answer is
 * generated behind the assistant's prefix until an end-of-generation token (a suffix that begins with a special token makes it one; give
 * any other suffix as a stop string). Tokenize "" once with LINNET_ADD_SPECIAL for a BOS in front, then every prefix and suffix by itself
 * with LINNET_PARSE_SPECIAL, and the text of others without flags: the tokens that stand in prefixes and suffixes count as special, so that
 * no message can hold them. The strings live as long as the model; either may be "" but not both. LINNET_UNSUPPORTED: the file has no
 * format for this role (keys linnet.chat.<role>.prefix and .suffix), or only a Jinja template. */
LINNET_CALL linnet_status linnet_chat_format(const linnet_model* model, linnet_role role, const char** prefix, const char** suffix,
                                             linnet_error* err);

/* ---- templates -------------------------------------------------------------------------------------------------------------- */

/* Most models bring a chat template: Jinja text that makes of a conversation what the model was trained to read. It is compiled to a
 * program, ahead (linnet_template_compile, and linnet_convert_file for a model's own), which is run here, as Jinja2 runs it in Hugging
 * Face's transformers, without a heap and within caps.
 *
 * Of every byte that it writes a template knows whether it is the template's own or came out of the conversation: added tokens of the
 * tokenizer, special or not, are found in the template's own bytes alone, so that no message, tool result or variable can forge them.
 *
 *   linnet_template_need / linnet_template_init on the model's file, then for each turn
 *   linnet_template_render(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"add_generation_prompt\":true}", ...)
 *   linnet_template_tokens(t, held, n_held, ..., tokens, cap, &n, &keep, &err), linnet_truncate to keep, linnet_generate on the rest. */
typedef struct linnet_template linnet_template; /* lives inside the caller's memory; there is nothing to end */

/* Caps of a template, whatever it does; 0 = default. Beside them: macros, call blocks and recursive loops are 64 deep in one another at
 * most, values 96, a conversation's JSON 64; a call has 64 arguments, a range 100,000 items, an expression 1024 values that wait. */
typedef struct linnet_template_params {
  uint32_t size;
  uint32_t tokens_bytes; /* of `tokens` */
  size_t text_bytes;     /* of what it writes, and of texts while they are put together. Default 1 MiB; twice that is taken */
  size_t value_bytes;    /* of the conversation's values, and of those that the template makes. Default 8 MiB */
  uint64_t max_steps;    /* operations, and work on long texts by its length. Default 20 million, well below a second */
  const char* tokens;    /* JSON object of the model's own special tokens, {"bos_token":"<s>","eos_token":"</s>"}, at most 4096 bytes, which
                            count as the template's. NULL: those in the file */
  uint32_t text_tokens;  /* 1: added tokens that are not special stand for text, and are found in the conversation too, as linnet_tokenize
                            finds them. Default 0: nowhere but in the template's own bytes */
  uint32_t reserved;     /* 0 */
} linnet_template_params;

/* What linnet_template_init takes. from: a packed model's file, or a program of linnet_template_compile. name: of one of several templates
 * of a model ("tool_use"), else NULL. LINNET_UNSUPPORTED: there is no such template, or why it could not be compiled. Takes less than 64
 * KiB of stack. Any thread. */
LINNET_CALL linnet_status linnet_template_need(const linnet_view* from, const char* name, const linnet_template_params* params,
                                               linnet_need* out, linnet_error* err);
/* Makes a template inside mem[0, bytes). The program is copied, then checked. model (may be NULL): whose tokenizer linnet_template_tokens
 * uses; it must outlive the template, `from` need not. One thread at a time uses a template. */
LINNET_CALL linnet_status linnet_template_init(linnet_template** out, void* mem, size_t bytes, const linnet_view* from, const char* name,
                                               const linnet_model* model, const linnet_template_params* params, linnet_error* err);

/* What a template wrote. */
typedef struct linnet_rendered {
  uint32_t size;       /* set by the caller */
  uint32_t reserved;   /* 0 */
  const char* text;    /* (text_bytes) UTF-8, inside the template until its next render */
  const uint8_t* data; /* (text_bytes) 1 where a byte came out of the conversation, 0 where it is the template's own */
  size_t text_bytes;
  size_t value_bytes; /* that the values took */
  uint64_t steps;
} linnet_rendered;

/* Renders a conversation, a JSON object: "messages", an array of objects, and what else the template asks for, such as "tools" and
 * "add_generation_prompt". Names of the model's special tokens in it count for nothing. now: seconds since 1970 in the time zone that the
 * template shall see, for strftime_now. out may be NULL. LINNET_BAD_ARG: no such JSON (with a JSON pointer to the place), or the template
 * refuses the conversation: its own message, or what in it failed and in which line (err->line). LINNET_TOO_SMALL: a cap was reached. */
LINNET_CALL linnet_status linnet_template_render(linnet_template* t, const char* conversation, size_t conversation_bytes, int64_t now,
                                                 linnet_rendered* out, linnet_error* err);
/* What was rendered last as tokens, out[0, *n_tokens), without adding BOS or EOS. held[0, n_held): what a sequence of a session holds (or
 * NULL with 0); its first *n_keep tokens are the first of out, so that the sequence goes back to them and takes the rest. An answer that
 * was generated keeps the tokens that it has where the text is the same. scratch as for linnet_tokenize, of linnet_tokenize_need bytes for
 * text_bytes. LINNET_TOO_SMALL: *n_tokens is how many there are, or more than that. */
LINNET_CALL linnet_status linnet_template_tokens(const linnet_template* t, const int32_t* held, size_t n_held, void* scratch,
                                                 size_t scratch_bytes, int32_t* out, size_t cap, size_t* n_tokens, size_t* n_keep,
                                                 linnet_error* err);

/* What a template says of the model, learned when it was compiled by rendering conversations. */
typedef struct linnet_template_desc {
  uint32_t size;      /* set by the caller */
  uint32_t calls;     /* 1: the format of tool calls is known */
  uint32_t reasoning; /* 1: that of reasoning is */
  uint32_t reserved;  /* 0 */
  const char*
      switch_name;       /* variable of the conversation that switches reasoning ("enable_thinking"), "" = none; as long as the template */
  const char* switch_on; /* its values, JSON: "true" */
  const char* switch_off;
} linnet_template_desc;
LINNET_CALL linnet_status linnet_template_describe(const linnet_template* t, linnet_template_desc* out, linnet_error* err);

/* ---- answers ---------------------------------------------------------------------------------------------------------------- */

/* What a model answers, taken apart while it comes: reasoning, content, calls of tools. How it marks them was learned from its template
 * (linnet_template_compile, or a family of formats). No character is lost: text that breaks its format comes as content, its marks too.
 * Left out are the marks of what was understood and white space around content and around reasoning. Events come from inside
 * linnet_answer_feed and linnet_answer_end. */
typedef enum linnet_answer_kind LINNET_OF_UINT32 {
  LINNET_ANSWER_REASONING = 1, /* text: more of it */
  LINNET_ANSWER_CONTENT = 2,   /* text: more of it */
  LINNET_ANSWER_CALL = 3,      /* a call begins; text: the tool's name */
  LINNET_ANSWER_ARGUMENTS = 4, /* text: more of the call's arguments, one JSON object in all, whatever the model's own format is; where that
                                  has no types they are those of the tool's schema */
  LINNET_ANSWER_CALL_END = 5,  /* the call is whole */
  LINNET_ANSWER_CALL_LOST = 6, /* it was none, or was cut: forget it; its text comes as content */
  LINNET_ANSWER_REASONED = 7   /* a mark has ended the reasoning: from here on a grammar (linnet_grammar_set) holds the content alone */
} LINNET_32_BITS linnet_answer_kind;

typedef struct linnet_answer_event {
  uint32_t size;
  uint32_t kind;    /* linnet_answer_kind */
  const char* text; /* (text_bytes) UTF-8, until the callback returns */
  size_t text_bytes;
  const char* id; /* (id_bytes) of LINNET_ANSWER_CALL and LINNET_ANSWER_CALL_END, where the model gives one */
  size_t id_bytes;
} linnet_answer_event;
typedef void (*linnet_answer_fn)(void* user, const linnet_answer_event* event);

typedef struct linnet_answer linnet_answer; /* lives inside the caller's memory; there is nothing to end */

/* What linnet_answer_init takes for calls of up to call_bytes bytes as the model writes them (0 = 64 KiB; at least 1 KiB); a longer one
 * comes as content. */
LINNET_CALL linnet_status linnet_answer_need(size_t call_bytes, linnet_need* out, linnet_error* err);
/* t, a template whose format it takes, must outlive it. */
LINNET_CALL linnet_status linnet_answer_init(linnet_answer** out, void* mem, size_t bytes, const linnet_template* t, size_t call_bytes,
                                             linnet_error* err);
/* An answer to what t rendered last: what that opened (<think>) is open. tools: JSON array of tools as the template takes it, which names
 * and types them (NULL with 0: not known); it must stay until the end. */
LINNET_CALL linnet_status linnet_answer_begin(linnet_answer* answer, const char* tools, size_t tools_bytes, linnet_answer_fn fn, void* user,
                                              linnet_error* err);
/* *out = 1: this text is a mark of the format, a part of one or holds one. An app that hides special tokens hands these to
 * linnet_answer_feed all the same, and leaves others out. Any time. */
LINNET_CALL linnet_status linnet_answer_is_mark(const linnet_answer* answer, const char* text, size_t text_bytes, uint32_t* out,
                                                linnet_error* err);
/* More of the text, with special tokens as they are written; pieces may end anywhere. */
LINNET_CALL linnet_status linnet_answer_feed(linnet_answer* answer, const char* text, size_t text_bytes, linnet_error* err);
LINNET_CALL linnet_status linnet_answer_end(linnet_answer* answer, linnet_error* err);

/* ---- grammars --------------------------------------------------------------------------------------------------------------- */

/* A grammar holds what is drawn for a sequence to an automaton over bytes: tokens that do not go on in it get no probability (a mask over
 * the vocabulary, applied after penalties and before top-k), so that what comes out parses and obeys, whatever the model would say.
 * End-of-generation tokens are allowed where a text may end, special tokens nowhere but for the
 * marks of calls and reasoning (linnet_grammar_calls). Drawing obeys in linnet_generate,
 * linnet_generate_next, linnet_decode and linnet_sample, with all kinds of sampling; with a GPU the host draws then. (Method: Willard and
 * Louf 2023, "Efficient Guided Generation".)
 * What alone may follow, linnet_generate computes in one pass with the token before it, as the tokenizer spells it, up to n_logits - 1
 * tokens at once (jump-forward: Zheng et al. 2024, SGLang). Each is drawn all the same, from its own logits, and a model that spells
 * otherwise has its way: no token changes. Not with banned strings, or where when_full drops tokens.
 *
 *   linnet_grammar_compile(NULL, json, n_json, "tools.json", LINNET_GRAMMAR_TEXT_OR_CALL, blob, sizeof blob, &n, &err);
 *   (linnet_convert.h; here, or ahead elsewhere)
 *   linnet_grammar_need / linnet_grammar_init on that blob, then before each answer linnet_grammar_set and linnet_generate. */
typedef struct linnet_grammar linnet_grammar; /* lives inside the caller's memory; there is nothing to end */

/* What linnet_grammar_init takes for a grammar on this model: the automaton, the vocabulary in the order of its texts (5 bytes a token),
 * up to 4 MiB of masks of states, at least 16 of them, and 0.5 MiB of stacks where rules hold themselves or long counts are counted.
 * LINNET_UNSUPPORTED: the model has no tokenizer, or a newer linnet made the bytes. LINNET_BAD_FILE: they are none of
 * linnet_grammar_compile or linnet_grammar_calls. Any thread. */
LINNET_CALL linnet_status linnet_grammar_need(const linnet_model* model, const void* grammar, size_t grammar_bytes, linnet_need* out,
                                              linnet_error* err);
/* Makes a grammar inside mem[0, bytes). The grammar's bytes are copied, then checked, and free afterwards; the model must outlive it. Takes
 * milliseconds: the vocabulary is sorted. */
LINNET_CALL linnet_status linnet_grammar_init(linnet_grammar** out, void* mem, size_t bytes, const linnet_model* model, const void* grammar,
                                              size_t grammar_bytes, linnet_error* err);
/* From here on what is appended to the sequence is a text of the grammar, from its beginning; NULL ends that. Tokens of linnet_prefill
 * count too: prefill the prompt first. What a prefill brings is not refused, but after tokens that do not obey drawing is LINNET_BAD_STATE.
 * linnet_truncate goes back in the text (to before its beginning: it begins anew there), linnet_fork takes grammar and place along,
 * linnet_state_load begins anew behind the loaded tokens. One grammar may serve several sequences, of one session; it keeps masks, so it
 * belongs to the thread of that session, and must outlive its use. LINNET_BAD_ARG: made for another model. */
LINNET_CALL linnet_status linnet_grammar_set(linnet_session* session, uint32_t seq, linnet_grammar* grammar, linnet_error* err);
/* The same for a grammar of linnet_grammar_calls, behind a prompt that t rendered last: what it opened (<think>) is open. */
LINNET_CALL linnet_status linnet_grammar_begin(linnet_session* session, uint32_t seq, linnet_grammar* grammar, const linnet_template* t,
                                               linnet_error* err);

#ifdef __cplusplus
}
#endif
#endif
