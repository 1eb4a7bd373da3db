#include "chat.h"

#include <cstring>

namespace linnet {
namespace {

// "linnet.chat.user.prefix" into key; returns its length.
size_t key_name(uint32_t role, bool suffix, char (&key)[64]) {
  size_t n = 0;
  for (const std::string_view part :
       {std::string_view("linnet.chat."), std::string_view(chat_role_name(role)), std::string_view(suffix ? ".suffix" : ".prefix")}) {
    std::memcpy(key + n, part.data(), part.size());
    n += part.size();
  }
  key[n] = '\0';
  return n;
}

}  // namespace

const char* chat_role_name(uint32_t role) {
  static constexpr const char* kNames[kRoleEnd] = {nullptr, "system", "user", "assistant", "tool"};
  return role < kRoleEnd ? kNames[role] : nullptr;
}

Status chat_set(ChatFormat* chat, uint32_t role, bool suffix, std::string_view text, PathName label, Error* err) {
  const char* what = suffix ? "suffix" : "prefix";
  if (text.size() > kMaxChatText)
    return fail(err, LINNET_BAD_FILE, label, ": the ", what, " of role '", chat_role_name(role), "' has ", text.size(),
                " bytes, more than ", kMaxChatText);
  if (text.find('\0') != std::string_view::npos)
    return fail(err, LINNET_BAD_FILE, label, ": the ", what, " of role '", chat_role_name(role), "' has a NUL byte");
  ChatFormat::Text& t = chat->role[role];
  char* to = suffix ? t.suffix : t.prefix;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  t.present = true;
  return LINNET_OK;
}

Status chat_check(const ChatFormat& chat, PathName label, Error* err) {
  bool any = false;
  for (uint32_t r = LINNET_ROLE_SYSTEM; r < kRoleEnd; ++r) {
    const ChatFormat::Text& t = chat.role[r];
    any |= t.present;
    if (t.present && !t.prefix[0] && !t.suffix[0])
      return fail(err, LINNET_BAD_FILE, label, ": prefix and suffix of role '", chat_role_name(r), "' are both empty");
  }
  if (any && !(chat.role[LINNET_ROLE_USER].present && chat.role[LINNET_ROLE_ASSISTANT].present))
    return fail(err, LINNET_BAD_FILE, label, ": a chat format needs the roles 'user' and 'assistant'");
  return LINNET_OK;
}

Status chat_read(const Gguf& file, ChatFormat* out, Error* err) {
  *out = {};
  GgufValue v;
  out->has_template = file.key(kChatTemplateKey, &v) && v.type == kGgufString;
  for (uint32_t r = LINNET_ROLE_SYSTEM; r < kRoleEnd; ++r) {
    char key[64];
    GgufValue text[2];
    bool found[2];
    for (const bool suffix : {false, true}) {
      const size_t n = key_name(r, suffix, key);
      found[suffix] = file.key(std::string_view(key, n), &text[suffix]);
      if (found[suffix] && text[suffix].type != kGgufString)
        return fail(err, LINNET_BAD_FILE, file.label, ": key '", key, "' is no string");
    }
    if (found[0] != found[1])
      return fail(err, LINNET_BAD_FILE, file.label, ": role '", chat_role_name(r), "' of linnet.chat has only one of prefix and suffix");
    if (!found[0]) continue;
    LINNET_TRY(chat_set(out, r, false, text[0].text, file.label, err));
    LINNET_TRY(chat_set(out, r, true, text[1].text, file.label, err));
  }
  return chat_check(*out, file.label, err);
}

}  // namespace linnet
