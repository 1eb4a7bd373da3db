// linnet inspect: what is in a model file or folder.
#include <algorithm>
#include <cstdio>

#include "cli.h"

namespace linnet::cli {
namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t d : shape) text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text;
}

void print_json(const std::string& path, const convert::Description& d) {
  Json json;
  json.object().field("path", path).field("kind", d.kind).field("name", d.name).field("architecture", d.architecture);
  json.field("tokenizer", d.tokenizer).field("vocabulary", d.n_tokens).field("tensor_bytes", d.tensor_bytes);
  json.field("chat", d.chat).field("chat_template", d.chat_template);
  if (!d.unsupported.empty()) json.field("unsupported", d.unsupported);
  json.key("spec").object();
  for (const convert::SpecInfo& s : d.spec) {
    double number = 0;
    if (!s.is_text && parse_real(s.value, &number)) json.field(s.name, number);
    else json.field(s.name, s.value);
  }
  json.end().key("tensors").array();
  for (const convert::TensorInfo& t : d.tensors)
    json.object().field("name", t.name).field("format", t.format).field("shape", t.shape).field("bytes", t.bytes).end();
  json.end().end().print();
}

void print_text(const std::string& path, const convert::Description& d) {
  std::printf("%s: %s", path.c_str(), d.kind.c_str());
  if (!d.architecture.empty()) std::printf(", architecture %s", d.architecture.c_str());
  if (!d.name.empty()) std::printf(", \"%s\"", d.name.c_str());
  std::printf("\n%zu tensors, %s; ", d.tensors.size(), human_bytes(d.tensor_bytes).c_str());
  if (d.n_tokens > 0) std::printf("tokenizer %s, %llu tokens\n", d.tokenizer.c_str(), static_cast<unsigned long long>(d.n_tokens));
  else std::printf("no tokenizer\n");
  std::string roles;
  for (const std::string& role : d.chat) roles += " " + role;
  if (!roles.empty()) std::printf("chat format:%s\n", roles.c_str());
  else if (d.chat_template) std::printf("chat format: only a Jinja template, which linnet does not run yet\n");
  if (!d.unsupported.empty()) std::printf("linnet cannot run it: %s\n", d.unsupported.c_str());
  for (const convert::SpecInfo& s : d.spec) std::printf("  %-16s %s\n", s.name.c_str(), s.value.c_str());
  size_t width = 20;
  for (const convert::TensorInfo& t : d.tensors) width = std::max(width, t.name.size());
  for (const convert::TensorInfo& t : d.tensors)
    std::printf("%-*s  %-7s %-16s %12llu bytes\n", static_cast<int>(width), t.name.c_str(), t.format.c_str(), shape_text(t.shape).c_str(),
                static_cast<unsigned long long>(t.bytes));
}

int run(const Args& args) {
  convert::Description description;
  linnet_error err = {};
  const std::string& path = args.positional()[0];
  if (convert::describe(path, &description, &err) != LINNET_OK) return failed(args, err);
  (args.json() ? print_json : print_text)(path, description);
  return kExitOk;
}

}  // namespace

Command inspect_command() {
  return {"inspect", "what a model file or folder holds: kind, spec, tensors", "M", 1, 1,
          "M is a packed or plain GGUF file, a Hugging Face folder, or synthetic:SHAPE.\n\nexample: linnet inspect model.gguf", {}, run};
}

}  // namespace linnet::cli
