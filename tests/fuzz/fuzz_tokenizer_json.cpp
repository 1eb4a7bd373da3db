// libFuzzer: the bytes are a tokenizer.json, a vocab.txt (first byte v), a tekken.json (t), a tiktoken.model (k) or (first byte odd) a
// tokenizer.model. What is accepted has to encode and decode.
#include <linnet.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/convert/tokenizer_parts.h"
#include "runtime/tokenizer/tokenizer.h"

using namespace linnet;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

void use(const convert::TokenizerBlob& blob) {
  std::vector<uint64_t> memory(blob.bytes.size() / 8 + 1);
  std::memcpy(memory.data(), blob.bytes.data(), blob.bytes.size());
  Tokenizer t;
  require(tokenizer_open(memory.data(), blob.bytes.size(), 1u << 22, &t, nullptr) == LINNET_OK);
  const std::string_view text =
      "ab abc  the\n\xC3\xA9\xFF<s> </s><unk>'ll 123 \xE2\x96\x81x \xEF\xB7\xBA e\xCC\x81 Don't [UNK] \xE4\xB8\xAD";
  std::vector<uint8_t> scratch(tokenize_scratch_bytes(t, text.size()));
  for (const uint32_t flags : {0u, uint32_t{LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL}}) {
    size_t n = 0, bytes = 0;
    char out[256];
    Status status = tokenize(t, text, flags, scratch.data(), scratch.size(), nullptr, 0, &n, nullptr);
    if (status == LINNET_UNSUPPORTED) continue;  // there is no unknown token
    require(status == (n ? LINNET_TOO_SMALL : LINNET_OK));
    std::vector<int32_t> ids(n);
    require(tokenize(t, text, flags, scratch.data(), scratch.size(), ids.data(), n, &n, nullptr) == LINNET_OK);
    for (const uint32_t skip : {0u, uint32_t{LINNET_SKIP_SPECIAL}}) {
      status = detokenize(t, ids.data(), n, skip, out, sizeof out, &bytes, nullptr);
      require(status == (bytes > sizeof out ? LINNET_TOO_SMALL : LINNET_OK));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  convert::TokenizerBlob blob;
  Error err = {};
  const convert::SideTexts kimi = {R"({"tokenizer_class": "TikTokenTokenizer"})", "", "", ""};
  const Status status = data[0] == 'v'   ? convert::tokenizer_from_pieces(input, {}, &blob, &err)
                        : data[0] == 't' ? convert::tokenizer_from_tekken(input, {}, &blob, &err)
                        : data[0] == 'k' ? convert::tokenizer_from_tiktoken(input, kimi, &blob, &err)
                        : data[0] % 2    ? convert::tokenizer_from_spm(input, {}, &blob, &err)
                                         : convert::tokenizer_from_json(input, {}, &blob, &err);
  if (status == LINNET_OK)
    use(blob);
  else
    require(err.text[0] != '\0');
  return 0;
}
