// The time in other places, from the system's time zone files (tzdata): the cities that it names itself, countries, and the cities and
// states of the table below.
#include <cstdlib>
#include <string>
#include <vector>

#include "calendar.h"
#include "files.h"

namespace assistant {
namespace {

constexpr size_t kMaxFile = size_t{1} << 20;

// What people ask for and tzdata does not name: "zone: place, place, ...".
constexpr const char* kPlaces[][2] = {
    {"America/New_York",
     "boston, miami, atlanta, philadelphia, washington, orlando, baltimore, pittsburgh, buffalo, rochester, charlotte, raleigh, cleveland, "
     "columbus, cincinnati, tampa, jacksonville, charleston, "
     "florida, georgia, ohio, virginia, maryland, maine, vermont, massachusetts, connecticut, delaware, new jersey, new hampshire, north "
     "carolina, south carolina, pennsylvania, rhode island, "
     "west virginia, america, the united states, the states, the us, the usa, new york city, the east coast, michigan, kentucky, indiana"},
    {"America/Chicago",
     "dallas, houston, austin, san antonio, nashville, memphis, new orleans, milwaukee, minneapolis, saint louis, st louis, kansas city, "
     "oklahoma city, tulsa, omaha, little rock, fort worth, texas, illinois, "
     "alabama, arkansas, iowa, kansas, louisiana, minnesota, mississippi, missouri, nebraska, oklahoma, tennessee, wisconsin, north "
     "dakota, south dakota, des moines, birmingham alabama"},
    {"America/Denver", "colorado, utah, montana, wyoming, new mexico, idaho, salt lake city, albuquerque, santa fe, boise, el paso"},
    {"America/Phoenix", "arizona, tucson"},
    {"America/Los_Angeles",
     "san francisco, seattle, portland, san diego, las vegas, sacramento, san jose, oakland, tacoma, reno, california, oregon, nevada, the "
     "west coast, hollywood, la, l a"},
    {"Pacific/Honolulu", "hawaii"},
    {"America/Anchorage", "alaska"},
    {"America/Toronto", "ottawa, montreal, ontario, quebec, canada"},
    {"America/Vancouver", "british columbia, victoria"},
    {"America/Edmonton", "calgary, alberta"},
    {"America/Halifax", "nova scotia"},
    {"America/Mexico_City", "mexico, guadalajara, acapulco, puebla"},
    {"America/Sao_Paulo", "rio, rio de janeiro, brasilia, brazil"},
    {"America/Argentina/Buenos_Aires", "argentina, mendoza"},
    {"America/Santiago", "chile"},
    {"America/Guayaquil", "quito"},
    {"America/Lima", "cusco"},
    {"America/Bogota", "medellin"},
    {"Europe/London",
     "england, scotland, wales, great britain, britain, the uk, the united kingdom, northern ireland, edinburgh, glasgow, manchester, "
     "liverpool, birmingham, leeds, bristol, oxford, cambridge, cardiff, "
     "sheffield, brighton, aberdeen, belfast"},
    {"Europe/Dublin", "ireland, galway, cork, limerick"},
    {"Europe/Berlin", "munich, hamburg, cologne, frankfurt, stuttgart, dresden, leipzig, bavaria, germany"},
    {"Europe/Paris", "marseille, lyon, nice, toulouse, lille, bordeaux, strasbourg, france"},
    {"Europe/Madrid", "barcelona, valencia, seville, malaga, granada, spain"},
    {"Europe/Rome", "milan, venice, florence, naples, turin, bologna, sicily, italy"},
    {"Europe/Zurich", "geneva, basel, bern, switzerland"},
    {"Europe/Vienna", "salzburg, graz, austria"},
    {"Europe/Amsterdam", "rotterdam, utrecht, the hague, holland, the netherlands"},
    {"Europe/Brussels", "ghent, antwerp, belgium"},
    {"Europe/Lisbon", "porto, portugal"},
    {"Europe/Warsaw", "krakow, wroclaw, gdansk, poland"},
    {"Europe/Kiev", "kyiv, lviv, odessa, ukraine"},
    {"Europe/Moscow", "saint petersburg, st petersburg, russia"},
    {"Europe/Istanbul", "ankara, turkey"},
    {"Europe/Stockholm", "gothenburg, sweden"},
    {"Europe/Oslo", "bergen, norway"},
    {"Europe/Athens", "greece, crete"},
    {"Atlantic/Reykjavik", "iceland"},
    {"Africa/Cairo", "alexandria, egypt"},
    {"Africa/Johannesburg", "cape town, durban, pretoria, south africa"},
    {"Africa/Nairobi", "kenya"},
    {"Africa/Casablanca", "rabat, marrakesh, morocco"},
    {"Asia/Tokyo", "osaka, kyoto, kobe, sapporo, nagoya, japan"},
    {"Asia/Shanghai", "beijing, shenzhen, guangzhou, chengdu, nanjing, china"},
    {"Asia/Seoul", "busan, incheon, korea, south korea"},
    {"Asia/Kolkata", "delhi, new delhi, mumbai, bangalore, chennai, hyderabad, pune, india"},
    {"Asia/Ho_Chi_Minh", "saigon, hanoi, vietnam"},
    {"Asia/Jakarta", "indonesia"},
    {"Asia/Makassar", "bali"},
    {"Asia/Dubai", "abu dhabi, the united arab emirates"},
    {"Asia/Riyadh", "jeddah, mecca, saudi arabia"},
    {"Asia/Karachi", "islamabad, lahore, pakistan"},
    {"Asia/Jerusalem", "tel aviv, haifa, israel"},
    {"Australia/Sydney", "canberra, australia, new south wales"},
    {"Australia/Brisbane", "cairns, queensland"},
    {"Pacific/Auckland", "wellington, christchurch, new zealand"},
};

std::string folder() {
  const char* named = std::getenv("TZDIR");
  return named && named[0] ? named : "/usr/share/zoneinfo";
}

bool read(const std::string& path, std::string* out) {
  std::string why;
  return read_file(path, kMaxFile, out, nullptr, &why) == LINNET_OK;
}

std::string plain(std::string_view s) {
  std::string out;
  for (const char c : s) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' || c == '-' ? ' ' : c;
  return out;
}

// Calls fn with each line's fields until it returns true.
template <typename Fn>
bool lines(const std::string& text, Fn fn) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::vector<std::string> fields(1);
    if (text[at] != '#') {
      for (size_t i = at; i < end; ++i)
        if (text[i] == '\t')
          fields.emplace_back();
        else
          fields.back() += text[i];
      if (fn(fields)) return true;
    }
    at = end + 1;
  }
  return false;
}

std::string zone_of(const std::string& place) {
  for (const auto& [zone, names] : kPlaces) {
    const std::string all = std::string(", ") + names + ", ";
    if (all.find(", " + place + ", ") != std::string::npos) return zone;
  }
  std::string table, countries, found, code;
  if (!read(folder() + "/zone.tab", &table)) return "";
  const std::string bare = place.starts_with("the ") ? place.substr(4) : place;
  lines(table, [&](const std::vector<std::string>& f) {
    if (f.size() < 3 || plain(f[2].substr(f[2].rfind('/') + 1)) != bare) return false;
    found = f[2];
    return true;
  });
  if (!found.empty() || !read(folder() + "/iso3166.tab", &countries)) return found;
  lines(countries, [&](const std::vector<std::string>& f) {
    if (f.size() < 2 || plain(f[1]) != bare) return false;
    code = f[0];
    return true;
  });
  if (!code.empty()) lines(table, [&](const std::vector<std::string>& f) { return f.size() >= 3 && f[0] == code && (found = f[2], true); });
  return found;
}

// ---- a time zone file, RFC 8536 -------------------------------------------------------------------------------------------

int64_t big_endian(const std::string& s, size_t at, size_t n) {
  uint64_t x = 0;
  for (size_t i = 0; i < n; ++i) x = x << 8 | static_cast<unsigned char>(s[at + i]);
  return n == 4 ? static_cast<int32_t>(x) : static_cast<int64_t>(x);
}

// The rule behind the last change, as POSIX writes TZ: "EST5EDT,M3.2.0,M11.1.0", "<+0330>-3:30".
class Rule {
 public:
  explicit Rule(std::string_view text) : rest_(text) {}
  bool offset(int64_t t, int64_t* seconds) {
    int64_t standard = 0, summer = 0, begin = 0, end = 0;
    if (!name() || !time(&standard)) return false;
    standard = -standard;
    if (rest_.empty()) return *seconds = standard, true;
    summer = standard + 3600;
    if (!name()) return false;
    if (!rest_.empty() && rest_.front() != ',') {
      if (!time(&summer)) return false;
      summer = -summer;
    }
    const int year = day_of((t + standard) / 86400).year;
    if (!change(year, &begin) || !change(year, &end)) return false;
    const bool is = begin < end ? t + standard >= begin && t + summer < end : !(t + summer >= end && t + standard < begin);
    return *seconds = is ? summer : standard, true;
  }

 private:
  bool name() {
    const size_t end = rest_.starts_with('<') ? rest_.find('>') : rest_.find_first_of("+-0123456789,");
    if (rest_.starts_with('<') && end == std::string_view::npos) return false;
    const size_t n = end == std::string_view::npos ? rest_.size() : end + rest_.starts_with('<');
    rest_.remove_prefix(n);
    return n >= 3;
  }
  bool number(int64_t* out) {
    size_t n = 0;
    for (*out = 0; n < rest_.size() && n < 4 && rest_[n] >= '0' && rest_[n] <= '9'; ++n) *out = *out * 10 + (rest_[n] - '0');
    rest_.remove_prefix(n);
    return n > 0;
  }
  bool take(char c) { return rest_.starts_with(c) && (rest_.remove_prefix(1), true); }
  bool time(int64_t* out) {  // [+-]h[:m[:s]]
    const bool minus = take('-');
    if (!minus) take('+');
    int64_t part = 0;
    if (!number(out)) return false;
    *out *= 3600;
    if (take(':')) *out += (number(&part), part * 60);
    if (take(':')) *out += (number(&part), part);
    if (minus) *out = -*out;
    return true;
  }
  bool change(int year, int64_t* local) {  // ,M3.2.0[/time]; local seconds
    int64_t month = 0, week = 0, wday = 0, at = 7200, julian = 0;
    if (!take(',')) return false;
    if (take('M')) {
      if (!number(&month) || !take('.') || !number(&week) || !take('.') || !number(&wday) || month < 1 || month > 12 || week < 1 ||
          week > 5 || wday > 6)
        return false;
      int64_t day = days_since_1970({year, static_cast<int>(month), 1});
      day += (wday - weekday(day_of(day)) + 7) % 7 + 7 * (week - 1);
      while (day_of(day).month != month) day -= 7;  // week 5 is the last one
      *local = day * 86400;
    } else {
      const bool no_leap = take('J');
      if (!number(&julian)) return false;
      const bool leap = day_of(days_since_1970({year, 2, 29})).month == 2;
      *local = (days_since_1970({year, 1, 1}) + julian - no_leap + (no_leap && leap && julian > 59)) * 86400;
    }
    if (take('/') && !time(&at)) return false;
    *local += at;
    return true;
  }
  std::string_view rest_;
};

bool offset_of(const std::string& file, int64_t t, int64_t* seconds) {
  constexpr size_t kHeader = 44;
  if (file.size() < kHeader || file.compare(0, 4, "TZif") != 0) return false;
  size_t at = 0, width = 4, n[6];
  const auto header = [&] {
    if (at + kHeader > file.size()) return false;
    for (size_t i = 0; i < 6; ++i) n[i] = static_cast<size_t>(big_endian(file, at + 20 + 4 * i, 4)) & 0xFFFF;
    return true;
  };  // isut, isstd, leap, transitions, types, characters
  const auto bytes = [&] { return kHeader + n[3] * (width + 1) + n[4] * 6 + n[5] + n[2] * (width + 4) + n[1] + n[0]; };
  if (!header()) return false;
  if (file[4] >= '2') {
    at += bytes();
    width = 8;
    if (!header()) return false;
  }
  if (at + bytes() > file.size() || n[4] == 0) return false;
  const size_t times = at + kHeader, kinds = times + n[3] * width, types = kinds + n[3];
  size_t i = 0;
  while (i < n[3] && big_endian(file, times + i * width, width) <= t) ++i;
  const size_t footer = at + bytes() + 1;
  if (i == n[3] && width == 8 && footer < file.size()) {
    const size_t end = file.find('\n', footer);
    if (end != std::string::npos && end > footer && Rule(std::string_view(file).substr(footer, end - footer)).offset(t, seconds))
      return true;
  }
  const size_t kind = i ? static_cast<unsigned char>(file[kinds + i - 1]) : 0;
  if (kind >= n[4]) return false;
  *seconds = big_endian(file, types + kind * 6, 4);
  return true;
}

}  // namespace

bool time_in(std::string_view place, int64_t unix_s, int* minute_of_day) {
  if (place.empty() || place.size() > 60) return false;
  const std::string zone = zone_of(plain(place));
  std::string file;
  int64_t offset = 0;
  if (zone.empty() || !read(folder() + "/" + zone, &file) || !offset_of(file, unix_s, &offset)) return false;
  *minute_of_day = static_cast<int>((((unix_s + offset) % 86400 + 86400) % 86400) / 60);
  return true;
}

}  // namespace assistant
