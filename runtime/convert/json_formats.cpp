// Formats of texts as patterns: what is written obeys the format, though not all that does is written.
#include <iterator>

#include "json_schema.h"

namespace linnet::convert {
namespace {

#define LINNET_DATE                                                                                                                    \
  "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|" \
  "02-(0[1-9]|1[0-9]|2[0-8]))"
#define LINNET_TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])"
#define LINNET_LABEL "[a-z0-9]{1,19}(-[a-z0-9]{1,19}){0,2}"  // without "--", which stands for names in Unicode
#define LINNET_HOST LINNET_LABEL "(\\." LINNET_LABEL "){0,3}"
#define LINNET_BYTE "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define LINNET_HEX "[0-9a-f]{1,4}"

struct Format {
  std::string_view name;
  const char* pattern;
};
constexpr Format kFormats[] = {
    {"date", LINNET_DATE},
    {"time", LINNET_TIME},
    {"date-time", LINNET_DATE "T" LINNET_TIME},
    {"duration",
     "P(([1-9][0-9]{0,3}Y)([1-9][0-9]?M([1-9][0-9]?D)?)?|[1-9][0-9]?M([1-9][0-9]?D)?|[1-9][0-9]{0,3}[DW])|PT([1-9][0-9]?H([1-9][0-9]?M)?|["
     "1-9][0-9]?M|[1-9][0-9]{0,4}S)"},
    {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
    {"email", "[A-Za-z0-9]([-A-Za-z0-9_+]{0,30}[A-Za-z0-9])?(\\.[A-Za-z0-9_+]{1,15}){0,2}@" LINNET_HOST "\\.[a-z]{2,12}"},
    {"hostname", LINNET_HOST},
    {"ipv4", LINNET_BYTE "(\\." LINNET_BYTE "){3}"},
    {"ipv6", LINNET_HEX "(:" LINNET_HEX "){7}|(" LINNET_HEX "(:" LINNET_HEX "){0,2})?::(" LINNET_HEX "(:" LINNET_HEX "){0,3})?"},
    {"uri", "[a-z][a-z0-9+.-]{0,10}://" LINNET_HOST
            "(:[1-9][0-9]{0,3})?(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*(\\?[A-Za-z0-9._~/&=+-]*)?(#[A-Za-z0-9._~/-]*)?"},
};

}  // namespace

const char* format_pattern(std::string_view format) {
  for (const Format& f : kFormats)
    if (f.name == format) return f.pattern;
  return nullptr;
}

}  // namespace linnet::convert
