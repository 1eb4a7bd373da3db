// Jinja templates of chats, compiled for the core (runtime/chat/program.h).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "../../platform/status.h"

namespace linnet::convert {

inline constexpr size_t kMaxTemplateBytes = size_t{1} << 20;

// LINNET_BAD_FILE: it is no template, or has a filter, test or statement that is not known. err->line says where.
Status template_compile(std::string_view source, const char* name, std::vector<uint8_t>* out, Error* err);

}  // namespace linnet::convert
