/* linnet_chat.h: conversations. What a model was trained to see around messages, and grammars: text that obeys a JSON schema, or calls one
 * of an app's tools. */
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

/* ---- grammars --------------------------------------------------------------------------------------------------------------- */

/* A grammar holds what is drawn for a sequence to an automaton over bytes: tokens that do not go on in it get no probability (a mask over
 * the vocabulary, applied after penalties and before top-k), so that what comes out parses and obeys, whatever the model would say.
 * End-of-generation tokens are allowed where a text may end, special tokens nowhere. Drawing obeys in linnet_generate,
 * linnet_generate_next, linnet_decode and linnet_sample, with all kinds of sampling; with a GPU the host draws then. (Method: Willard and
 * Louf 2023, "Efficient Guided Generation".)
 *
 *   linnet_grammar_compile(json, n_json, "tools.json", LINNET_GRAMMAR_TEXT_OR_CALL, blob, sizeof blob, &n, &err);
 *   (linnet_convert.h; here, or ahead elsewhere)
 *   linnet_grammar_need / linnet_grammar_init on that blob, then before each answer linnet_grammar_set and linnet_generate. */
typedef struct linnet_grammar linnet_grammar; /* lives inside the caller's memory; there is nothing to end */

/* What linnet_grammar_init takes for a grammar on this model: the automaton, the vocabulary in the order of its texts (5 bytes a token),
 * and up to 4 MiB of masks of states, at least 16 of them. LINNET_UNSUPPORTED: the model has no tokenizer, or a newer linnet made the
 * bytes. LINNET_BAD_FILE: they are none of linnet_grammar_compile. Any thread. */
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

#ifdef __cplusplus
}
#endif
#endif
