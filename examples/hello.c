/* linnet in an app: cc hello.c $(pkg-config --cflags --libs linnet) -o hello && ./hello model.gguf "Once upon a time"
 * model.gguf is a packed file, made by `linnet convert`. All memory is the app's own: two blocks whose exact size linnet names. */
#include <linnet.h>
#include <stdio.h>
#include <string.h>

static linnet_error err;

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, err.text);
  return 1;
}

/* Called for each token; the text arrives in whole UTF-8 characters. Anything but 0 would stop the generation. */
static int print_text(void* user, int32_t token, const char* utf8, size_t n_bytes) {
  (void)user, (void)token;
  fwrite(utf8, 1, n_bytes, stdout);
  return fflush(stdout);
}

static int talk(linnet_session* session, const linnet_model* model, const char* prompt) {
  static char scratch[1 << 20];
  static int32_t tokens[4096];
  const linnet_generate_params params = {.size = sizeof params, .max_tokens = 64};
  size_t n = 0;
  linnet_generated made = {.size = sizeof made};
  if (linnet_tokenize(model, prompt, strlen(prompt), LINNET_ADD_SPECIAL, scratch, sizeof scratch, tokens, 4096, &n, &err))
    return failed("tokenize");
  if (linnet_prefill(session, 0, tokens, n, &err)) return failed("prefill");
  if (linnet_generate(session, 0, &params, print_text, NULL, &made, &err)) return failed("generate");
  putchar('\n');
  return 0;
}

static int with_model(const linnet_model* model, const char* prompt) {
  const linnet_session_params params = {.size = sizeof params, .n_context = 512, .n_threads = 2};
  linnet_session* session;
  linnet_need need = {.size = sizeof need};
  if (linnet_session_need(model, &params, &need, &err)) return failed("session");
  void* memory = linnet_mem_alloc(need.bytes);
  if (!memory || linnet_session_init(&session, memory, need.bytes, model, &params, &err)) return failed("session");
  const int result = talk(session, model, prompt);
  linnet_session_fini(session);
  linnet_mem_free(memory, need.bytes);
  return result;
}

int main(int argc, char** argv) {
  linnet_view file;
  linnet_need need = {.size = sizeof need};
  linnet_model* model;
  if (argc != 3) return fprintf(stderr, "usage: hello MODEL.gguf PROMPT\n"), 2;
  if (linnet_file_map(argv[1], LINNET_LOAD_MAP, &file, &err)) return failed("map");
  if (linnet_model_need(&file, NULL, &need, &err)) return failed("model");
  void* memory = linnet_mem_alloc(need.bytes);
  if (!memory || linnet_model_init(&model, memory, need.bytes, &file, NULL, &err)) return failed("model");
  const int result = with_model(model, argv[2]);
  linnet_model_fini(model);
  linnet_mem_free(memory, need.bytes);
  linnet_file_unmap(&file);
  return result;
}
