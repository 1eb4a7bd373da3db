// The chat format: the text that a model was trained to see around the messages of a conversation. A file holds it as
// linnet.chat.<role>.prefix and .suffix, packed or plain; other models have templates (chat/render.h).
#pragma once
#include "../platform/status.h"
#include "gguf.h"
#include "include/linnet_chat.h"

namespace linnet {

inline constexpr uint32_t kRoleEnd = LINNET_ROLE_TOOL + 1;
inline constexpr size_t kMaxChatText = 127;
inline constexpr char kChatTemplateKey[] = "tokenizer.chat_template";  // Jinja, under GGUF's own name

struct ChatFormat {
  struct Text {
    char prefix[kMaxChatText + 1], suffix[kMaxChatText + 1];
    bool present;
  } role[kRoleEnd];   // by linnet_role
  bool has_template;  // the file has a Jinja template
};

const char* chat_role_name(uint32_t role);  // nullptr where there is no such role
// One text of a role, checked: length, no NUL. `label` names where it comes from in error texts.
Status chat_set(ChatFormat* chat, uint32_t role, bool suffix, std::string_view text, PathName label, Error* err);
// Roles must have both texts (one may be empty), and there must be a user and an assistant where there is any role.
Status chat_check(const ChatFormat& chat, PathName label, Error* err);
// From the keys of a file; a file without them gives an empty format and LINNET_OK.
Status chat_read(const Gguf& file, ChatFormat* out, Error* err);

}  // namespace linnet
