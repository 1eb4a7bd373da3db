// libFuzzer: any bytes as a device profile. What is read fits a board; what is not says where and why.
#include <linnet_device.h>

#include <cstdlib>
#include <cstring>
#include <memory>

static void require(bool ok) {
  if (!ok) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  static const linnet_board* const board = [] {
    linnet_need need = {};
    need.size = sizeof need;
    linnet_board* b = nullptr;
    require(linnet_board_need(&need, nullptr) == LINNET_OK);
    require(linnet_board_init(&b, linnet_mem_alloc(need.bytes), need.bytes, nullptr, nullptr) == LINNET_OK);
    return b;
  }();
  linnet_board_desc desc = {};
  desc.size = sizeof desc;
  require(linnet_board_info(board, &desc, nullptr) == LINNET_OK);
  const std::unique_ptr<char[]> copy(new char[bytes]);  // one byte too far is seen
  if (bytes) std::memcpy(copy.get(), data, bytes);
  linnet_profile p = {};
  linnet_match match = {};
  linnet_error err = {};
  p.size = sizeof p;
  match.size = sizeof match;
  const linnet_status status = linnet_profile_parse(copy.get(), bytes, "p", board, &p, &match, &err);
  if (status != LINNET_OK) {
    require(status == LINNET_BAD_PROFILE && std::strncmp(err.text, "p:", 2) == 0);
    require(bytes > 64 << 10 || (err.line >= 1 && std::strchr(err.text + 2, ':')));
    return 0;
  }
  require(std::memchr(p.name, 0, sizeof p.name) && std::memchr(match.why, 0, sizeof match.why) && match.why[0]);
  require(p.n_threads <= 256 && p.n_context <= 1u << 24 && p.n_chunk <= 4096 && p.priority >= -20 && p.priority <= 19);
  if (linnet_profile_fit(&p, board, &err) == LINNET_OK) require(p.n_threads >= 1 && p.n_threads <= desc.n_cpus);
  return 0;
}
