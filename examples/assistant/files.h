// Files, by the ways of linnet's own, and the texts of others on a terminal.
#pragma once
#include <linnet.h>

#include <string>
#include <string_view>

namespace assistant {

// A whole regular file. LINNET_BAD_FILE: it has more than max_bytes. *found (may be NULL) = false and LINNET_OK where there is none.
linnet_status read_file(const std::string& path, size_t max_bytes, std::string* out, bool* found, std::string* why);
// What may also be a character device or a FIFO, which is written to as it is; a regular file is replaced at once or not at all.
bool write_file(const std::string& path, const void* data, size_t bytes, std::string* why);
// What a terminal would obey or hide, and bytes that are no UTF-8, as linnet's error texts have them: "\x1b", "\u202e".
std::string printable(std::string_view text);

}  // namespace assistant
