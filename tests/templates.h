// Chat templates for tests, over the public ABI alone.
#pragma once
#include <linnet_convert.h>

#include "tests/models.h"

namespace test {

// A chat template as a program by itself.
struct Program {
  std::vector<uint8_t> bytes;
  linnet_view view{};
  explicit Program(const std::string& jinja, const char* name = nullptr) {
    linnet_error err{};
    size_t n = 0;
    INFO(jinja);
    REQUIRE(linnet_template_compile(jinja.data(), jinja.size(), name, nullptr, 0, &n, &err) == LINNET_TOO_SMALL);
    bytes.resize(n);
    check(linnet_template_compile(jinja.data(), jinja.size(), name, bytes.data(), n, &n, &err), err);
    view = {bytes.data(), n};
  }
};
struct Template {
  std::unique_ptr<Memory> memory;
  size_t bytes = 0;
  linnet_template* t = nullptr;

  explicit Template(const linnet_view& from, const linnet_model* model = nullptr, const char* name = nullptr,
                    const linnet_template_params* params = nullptr) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_template_need(&from, name, params, &need, &err), err);
    bytes = need.bytes;
    memory = std::make_unique<Memory>(bytes);
    check(linnet_template_init(&t, memory->p, bytes, &from, name, model, params, &err), err);
  }
  linnet_status render(const std::string& conversation, linnet_rendered* out, linnet_error* err) const {
    *out = {};
    out->size = sizeof *out;
    return linnet_template_render(t, conversation.data(), conversation.size(), 0, out, err);
  }
  std::string render(const std::string& conversation) const {
    linnet_error err{};
    linnet_rendered out;
    check(render(conversation, &out, &err), err);
    return {out.text, out.text_bytes};
  }
  // Of what was rendered last.
  Tokens tokens(const linnet_model* model, size_t text_bytes, const Tokens& held = {}, size_t* keep = nullptr) const {
    linnet_error err{};
    size_t scratch_bytes = 0, n = 0, n_keep = 0;
    check(linnet_tokenize_need(model, text_bytes, &scratch_bytes, &err), err);
    std::vector<char> scratch(scratch_bytes + 1);
    Tokens out(3 * text_bytes + held.size() + 8);
    check(linnet_template_tokens(t, held.data(), held.size(), scratch.data(), scratch_bytes, out.data(), out.size(), &n, &n_keep, &err),
          err);
    out.resize(n);
    REQUIRE(n_keep <= n);
    if (keep) *keep = n_keep;
    return out;
  }
};

}  // namespace test
