/* linnet_convert.h: published models in, packed GGUF out; JSON schemas to grammars. The library linnet::convert (liblinnet_convert): it
 * uses the heap and the C++ library, and an app that brings packed files and compiled grammars along need not link it. A failed allocation
 * is LINNET_NO_MEMORY. Errors of a file's content begin with its path as it was given. Any thread. */
#ifndef LINNET_CONVERT_H
#define LINNET_CONVERT_H

#include "linnet_chat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ------------------------------------------------------------------------------------------------------------------- */

/* How tensors stand in the file. */
typedef enum linnet_layout LINNET_OF_UINT32 {
  LINNET_LAYOUT_DEFAULT = 0, /* as LINNET_LAYOUT_PACKED */
  LINNET_LAYOUT_PACKED = 1,  /* as the kernels read it: what linnet_model_init takes */
  LINNET_LAYOUT_PLAIN = 2    /* the source's tensors as a plain GGUF that other tools run */
} LINNET_32_BITS linnet_layout;

/* A sentence about what was left out or passed over: added tokens that the model has no row for, special tokens that are none.
 * NUL-terminated, for the time of the call. */
typedef void (*linnet_note_fn)(void* user, const char* text);

/* How to convert. */
typedef struct linnet_convert_params {
  uint32_t size;
  /* linnet_format of matrices; vectors stay f32. Default: floats as `floats` says; blocks of a GGUF file as they are (Q8_0 is i8g32, Q4_0
     i4g32, others have their own names), and codes that a quantiser left in a folder (GPTQ, AWQ, compressed-tensors, ...: docs/formats.md
     says what they become). With formats below 8 bits embedding and LM head are i8g32. Where blocks of any kind (q4_k, ...) are asked for,
     those of a file stay what each tensor has, and others are packed from floats; rows that are no whole blocks are refused by name, and so
     are floats for kinds that files alone have. LINNET_LAYOUT_PLAIN: must be said, one that GGUF files have: a float format, i8g32 (Q8_0),
     i4g32 (Q4_0), blocks. What the source holds so is copied; embedding and LM head keep 8 bits, or the blocks that they have; rows that
     are no whole blocks are Q8_0, or f16 */
  uint32_t weights;
  uint32_t layout;     /* linnet_layout */
  uint32_t vocab_only; /* 1: only the tokenizer: a packed file of 0 layers that linnet_tokenize works on. The source may then be a folder
                          that holds only tokenizer files, or any GGUF with a vocabulary */
  uint32_t shape_only; /* 1, to memory alone: metadata as ever, but the weights are zeros that take no memory until they are read: what a
                          plan is made from */
  uint32_t load;       /* linnet_load: how linnet_convert_open takes a file that is packed already */
  uint64_t seed;       /* of synthetic models; default 1 */
  double max_error; /* a matrix that rounding changes by more is refused by name (RMS of the differences over the RMS of the weights): f16
                       scales (i8g32, i4*, q*_k) and f16 itself lose small weights altogether. Default: 0.5 in 4 bits, of which 0.1 and more
                       are honest, and 0.1 in other formats; 1 and more refuses nothing */
  linnet_progress_fn progress; /* bytes written (or loaded) so far and in all; non-zero cancels (LINNET_CANCELLED, no file is left) */
  linnet_note_fn note;
  void* user;         /* first argument of both */
  const char* cache;  /* linnet_convert_open: a folder of this user's where what it packs of files is kept, so that the next call maps it;
                         made where it is missing. It holds 20 GiB, or a quarter of the disk's free space if that is less; what was not used
                         for longest goes first. Why something is not kept is a note. NULL: nothing is kept */
  uint32_t n_threads; /* that pack, the caller's included; default, and at most: one for each CPU of this process. No byte depends on it */
  uint32_t floats;    /* linnet_format of matrices that come as floats, where `weights` is the default; default i8g32 */
  /* Adapters (linnet_lora.h) that are merged into the weights, W + scale * B A in f32, in their order, before these are packed: paths of
     GGUF files or PEFT folders, NUL-terminated. Nothing is kept in `cache` then */
  const char* const* loras;
  const float* lora_scales; /* n_loras finite factors beside the files' own; NULL = all 1 */
  uint32_t n_loras;         /* at most 64 */
  uint32_t reserved;        /* 0 */
  const char* base; /* where the source is a PEFT folder: its model, in any form; NULL: what the folder names, where that is a path */
} linnet_convert_params;

/* What a conversion did. */
typedef struct linnet_converted {
  uint32_t size;         /* set by the caller */
  uint32_t packed;       /* 1: floats were packed here; else the next two are -1 and worst_tensor is "" */
  double mean_error;     /* of all matrices that were rounded, as max_error has it */
  double worst_error;    /* of the one it changed most */
  char worst_tensor[96]; /* the source's name of that one, NUL-terminated, cut where it is longer */
  uint64_t file_bytes;
} linnet_converted;

/* src: a Hugging Face folder, a GGUF file (a packed one for LINNET_LAYOUT_PLAIN alone), or "synthetic:SHAPE" (a well-known model's shape
 * with random weights, linnet_convert_shape). Or the folder of an adapter as PEFT saves it, which becomes the GGUF that linnet_lora_init
 * takes (weights, layout and the like say nothing then). Writes out_path by way of OUT.tmp, at once or not at all, as
 * linnet_state_save_file does it: any failure leaves no new file, and what a kill leaves under that name the next run removes. out may
 * be NULL. */
LINNET_CALL linnet_status linnet_convert_file(const char* src, const char* out_path, const linnet_convert_params* params,
                                              linnet_converted* out, linnet_error* err);

typedef struct linnet_source linnet_source; /* a packed model's bytes; on the heap */

/* What `linnet run -m PATH` does: a packed GGUF is mapped or read as params->load says, anything else that linnet_convert_file takes is
 * packed in memory; with LINNET_LAYOUT_PLAIN both are made plain there. The bytes go to *file, for linnet_model_need and linnet_model_init;
 * they live until linnet_convert_close. */
LINNET_CALL linnet_status linnet_convert_open(linnet_source** out, const char* path, const linnet_convert_params* params, linnet_view* file,
                                              linnet_converted* converted, linnet_error* err);
LINNET_API void linnet_convert_close(linnet_source* source); /* NULL is fine */

/* Name of the i-th shape of synthetic models ("llama-3.2-1b"), NULL past the last one. Static storage. */
LINNET_API const char* linnet_convert_shape(uint32_t i);

/* ---- grammars ------------------------------------------------------------------------------------------------------------------- */

/* What the JSON of a grammar is. */
typedef enum linnet_grammar_kind LINNET_OF_UINT32 {
  LINNET_GRAMMAR_SCHEMA = 1, /* the JSON is a schema; the text is a value that obeys it */
  LINNET_GRAMMAR_CALL = 2,   /* the JSON is an array of tools, {"type":"function","function":{"name","description","parameters"}} or the
                                inner object alone; the text is a call of one of them, {"name":"...","arguments":{...}} with arguments
                                that obey its parameters */
  LINNET_GRAMMAR_TEXT_OR_CALL =
      3,                      /* such a call, or any UTF-8 text of one character and more that does not begin with '{' or white space */
  LINNET_GRAMMAR_GBNF = 4,    /* a grammar as llama.cpp writes them, of which the text is a `root` (below) */
  LINNET_GRAMMAR_REGEX = 5,   /* a regular expression, as of a schema's pattern; the whole text is what it says */
  LINNET_GRAMMAR_CHOICES = 6, /* a JSON array of texts that are not empty; the text is one of them */
  /* Added to one of the first three: */
  LINNET_GRAMMAR_SPACED = 256,    /* white space between tokens as models write JSON, on one line or indented; without it none */
  LINNET_GRAMMAR_ANY_FORMAT = 512 /* a `format` that is not known says nothing; without it it is LINNET_UNSUPPORTED */
} LINNET_32_BITS linnet_grammar_kind;

/* Memory that grammars are compiled in, for who must not use the heap, such as a server that compiles one for each request. max_states is
 * the cap on a grammar's states, 1 to 524288 (more is LINNET_UNSUPPORTED by name); what takes more to compile than need's bytes, which
 * follow from max_states alone, is LINNET_NO_MEMORY. The compiler lives inside mem[0, bytes), and there is nothing to end; one thread at a
 * time compiles in it, one grammar after another. No call uses the heap, but for the C++ library's exception behind LINNET_NO_MEMORY. */
typedef struct linnet_grammar_compiler linnet_grammar_compiler;
LINNET_CALL linnet_status linnet_grammar_compiler_need(uint32_t max_states, linnet_need* out, linnet_error* err);
LINNET_CALL linnet_status linnet_grammar_compiler_init(linnet_grammar_compiler** out, void* mem, size_t bytes, uint32_t max_states,
                                                       linnet_error* err);

/* Compiles JSON, or the text of a grammar, to a grammar's bytes, out[0, *n_bytes), the same on every machine. *n_bytes is always the full
 * size; LINNET_TOO_SMALL if it passes cap (out may be NULL with cap 0). `name` is what errors call the text, and may be NULL. In the
 * library linnet::convert: an app that has the bytes already need not link it. compiler: where it works; NULL is the heap (LINNET_NO_MEMORY
 * where that gives none).
 *
 * A schema is JSON Schema 2020-12. What obeys is written in one way: without white space, or as LINNET_GRAMMAR_SPACED has it; members in
 * the order of `properties`, optional ones left out or not, then such as `required` names beside them, then those that patternProperties or
 * additionalProperties speak of; others only where `properties` says nothing at all. enum and const as written in the schema, numbers by
 * their own characters (1E2, -0, any number of digits); other integers of 18 digits at most, without -0; numbers with up to 17 digits
 * behind the point and two of an exponent, and with bounds without one (of 15 digits where a bound is not to be reached). Strings hold any
 * characters, in UTF-8 or escaped. Where no type is said it is that of the keywords beside it ({"maxLength":3} is a string), without
 * keywords any JSON ({} and true), 256 levels deep; in calls what holds itself is 60 levels deep, 16 as tags, as they are read.
 * Known: type, enum, const; properties, required, additionalProperties, patternProperties, propertyNames (without alternatives),
 * minProperties (up to 1 beyond what is required), maxProperties; items, prefixItems, minItems, maxItems, contains, minContains,
 * maxContains (elements that it asks for come first), uniqueItems (false); minLength, maxLength (in characters), pattern, format (date,
 * time, date-time, duration, uuid, email, hostname, ipv4, ipv6, uri; of numbers int32, int64, float, double); minimum, maximum,
 * exclusiveMinimum, exclusiveMaximum, multipleOf (whole, up to 3000); allOf, anyOf; oneOf, where the alternatives cannot hold at once: by
 * type, by enum or const, or by a required property that tells them apart so; not of a type, of one required name, true, false, or beside
 * enum; dependentRequired, dependentSchemas; unevaluatedProperties, unevaluatedItems; $ref to # and into the same schema, also to what it
 * stands in, $anchor. Remarks (title, description, default, examples, deprecated, readOnly, writeOnly, $schema, $id, $comment, $vocabulary,
 * content...) say nothing; nor does `if` without then and else. A pattern is of characters, . [...] [^...] \d \w \s and their opposites, (
 * ) (?: ) | * + ? {m} {m,n} {m,}, and ^ and $ at its ends; it goes by characters, of which " \ and control characters are then written with
 * their shortest escapes (with lengths or a format beside it they do not come). Every other keyword is LINNET_UNSUPPORTED by name and place
 * (a JSON pointer). LINNET_BAD_FILE: not JSON, or no schema, or one that nothing obeys. At most 1 MiB of JSON, 64 levels deep, and 65535
 * states, 524288 where rules are called; what is repeated more than 64 times is counted while a text is read.
 *
 * GBNF: rules `name ::= ...`, of which `root` is the text, made of "..." with the escapes \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH
 * \UHHHHHHHH, of [...] [^...] . ( ) | * + ? {m} {m,n} {m,} and names of rules, with comments behind #; a rule ends with its line, but
 * inside of ( ) and behind |. Rules may hold themselves, 256 deep in one another while a text is read (what would be deeper is not drawn),
 * but not begin with themselves, and tokens of a model (<...>) are not known: LINNET_UNSUPPORTED. Counts, up to 1,048,576, are counted
 * while a text is read where they would take many states. */
LINNET_CALL linnet_status linnet_grammar_compile(linnet_grammar_compiler* compiler, const char* json, size_t json_bytes, const char* name,
                                                 linnet_grammar_kind kind, void* out, size_t cap, size_t* n_bytes, linnet_error* err);

/* What an answer may hold beside reasoning, which is free. */
typedef enum linnet_call_choice LINNET_OF_UINT32 {
  LINNET_CALL_AUTO = 0,    /* text, until the model begins a call; a call ends the answer */
  LINNET_CALL_REQUIRED = 1 /* calls alone, behind the reasoning if the model begins some */
} LINNET_32_BITS linnet_call_choice;
typedef struct linnet_call_rules {
  uint32_t size;
  uint32_t choice;   /* linnet_call_choice */
  uint32_t parallel; /* 1: one call and more; 0: one */
  uint32_t flags;    /* LINNET_GRAMMAR_ANY_FORMAT, or 0 */
  const char* tool;  /* the name of the only tool that may be called; NULL: any */
} linnet_call_rules;
/* The same for calls as the model itself writes them, which its template tells (linnet_answer_begin). t: whose format it is. tools: an
 * array as the template takes it. What comes through calls these tools by name, with arguments that obey their schemas as above; white
 * space may stand between the tokens of JSON as models write it. Where values stand as text (XML-like formats), a value of several types is
 * one of those that the parser of answers takes it for. LINNET_UNSUPPORTED: no format of calls is known, or it has no way to write a name,
 * a key or a value (by place). At most 524288 states. rules may be NULL. Set the grammar by linnet_grammar_begin, and give the text to
 * linnet_answer_feed. */
LINNET_CALL linnet_status linnet_grammar_calls(linnet_grammar_compiler* compiler, const linnet_template* t, const char* tools,
                                               size_t tools_bytes, const char* name, const linnet_call_rules* rules, void* out, size_t cap,
                                               size_t* n_bytes, linnet_error* err);

/* ---- templates ------------------------------------------------------------------------------------------------------------------- */

/* Compiles a chat template, Jinja text in UTF-8 of at most 1 MiB, to the program that linnet_template_init takes, as
 * linnet_grammar_compile does it. Known is what Jinja2 3.1 offers to a template of transformers, but for what needs other templates
 * (include, import, extends: an error where it is reached) and what is drawn at random. LINNET_BAD_FILE: what is wrong, with its line. */
LINNET_CALL linnet_status linnet_template_compile(const char* text, size_t text_bytes, const char* name, void* out, size_t cap,
                                                  size_t* n_bytes, linnet_error* err);

#ifdef __cplusplus
}
#endif
#endif
