#include "calculator.h"

#include <charconv>
#include <cmath>

namespace assistant {
namespace {

constexpr size_t kMaxText = 200;
constexpr int kMaxDepth = 40;
constexpr double kMaxResult = 1e15;  // up to here whole numbers are exact

// Recursive descent, one function a level of precedence. After an error the rest of the text is passed over.
class Parser {
 public:
  Parser(std::string_view text, std::string* why) : rest_(text), why_(why) {}

  bool parse(double* out) {
    *out = sum();
    if (failed_) return false;
    if (!rest_.empty()) fail("this is no sum");
    if (!std::isfinite(*out) || std::fabs(*out) > kMaxResult) fail("the number is too large");
    return !failed_;
  }

 private:
  double fail(const char* why) {
    if (!failed_) *why_ = why;
    failed_ = true;
    rest_ = {};
    return 0;
  }
  bool take(char c) {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  double sum() {
    double x = product();
    for (;;)
      if (take('+'))
        x += product();
      else if (take('-'))
        x -= product();
      else
        return x;
  }
  double product() {
    double x = signed_power();
    for (;;)
      if (take('*'))
        x *= signed_power();
      else if (take('/')) {
        const double y = signed_power();
        if (y == 0 && !failed_) return fail("division by zero");
        x /= y;
      } else
        return x;
  }
  double signed_power() {  // -2^2 is -4, 2^-1 is a half
    if (++depth_ > kMaxDepth) return fail("the sum is too deep");
    const bool minus = take('-');
    double x = minus ? signed_power() : atom();
    if (!minus && take('^')) {
      const double y = signed_power();
      if (x == 0 && y < 0) return fail("division by zero");
      if (x < 0 && y != std::floor(y)) return fail("square root of a negative number");
      x = std::pow(x, y);
    }
    --depth_;
    return minus ? -x : x;
  }
  double atom() {
    if (++depth_ > kMaxDepth) return fail("the sum is too deep");
    double x = 0;
    const bool root = take('s');
    if (root && !(take('q') && take('r') && take('t'))) return fail("this is no sum");
    if (take('(')) {
      x = sum();
      if (!take(')')) return fail("a bracket is missing");
    } else {
      const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), x, std::chars_format::fixed);
      if (ec != std::errc() || rest_.front() < '0' || rest_.front() > '9') return fail("this is no sum");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    }
    if (root && x < 0) return fail("square root of a negative number");
    --depth_;
    return root ? std::sqrt(x) : x;
  }

  std::string_view rest_;
  std::string* why_;
  bool failed_ = false;
  int depth_ = 0;
};

enum Dimension { kLength, kWeight, kVolume, kSpeed, kArea, kData, kTime, kTemperature };
struct Unit {
  const char* name;
  Dimension dimension;
  double factor;  // to metres, grams, millilitres, metres per second, square metres, bytes, seconds
};
constexpr Unit kUnits[] = {
    {"mile", kLength, 1609.344},
    {"kilometer", kLength, 1000},
    {"meter", kLength, 1},
    {"centimeter", kLength, 0.01},
    {"millimeter", kLength, 0.001},
    {"foot", kLength, 0.3048},
    {"inch", kLength, 0.0254},
    {"yard", kLength, 0.9144},
    {"nautical mile", kLength, 1852},
    {"gram", kWeight, 1},
    {"kilogram", kWeight, 1000},
    {"milligram", kWeight, 0.001},
    {"ounce", kWeight, 28.349523125},
    {"pound", kWeight, 453.59237},
    {"stone", kWeight, 6350.29318},
    {"ton", kWeight, 907184.74},
    {"metric ton", kWeight, 1e6},
    {"cup", kVolume, 236.5882365},
    {"tablespoon", kVolume, 14.78676478125},
    {"teaspoon", kVolume, 4.92892159375},
    {"fluid ounce", kVolume, 29.5735295625},
    {"pint", kVolume, 473.176473},
    {"quart", kVolume, 946.352946},
    {"gallon", kVolume, 3785.411784},
    {"milliliter", kVolume, 1},
    {"centiliter", kVolume, 10},
    {"deciliter", kVolume, 100},
    {"liter", kVolume, 1000},
    {"mile per hour", kSpeed, 0.44704},
    {"kilometer per hour", kSpeed, 1 / 3.6},
    {"knot", kSpeed, 1852.0 / 3600},
    {"meter per second", kSpeed, 1},
    {"foot per second", kSpeed, 0.3048},
    {"square foot", kArea, 0.09290304},
    {"square meter", kArea, 1},
    {"acre", kArea, 4046.8564224},
    {"hectare", kArea, 10000},
    {"square mile", kArea, 2589988.110336},
    {"square kilometer", kArea, 1e6},
    {"square yard", kArea, 0.83612736},
    {"square inch", kArea, 0.00064516},
    {"square centimeter", kArea, 0.0001},
    {"bit", kData, 0.125},
    {"byte", kData, 1},
    {"kilobyte", kData, 1e3},
    {"megabyte", kData, 1e6},
    {"gigabyte", kData, 1e9},
    {"terabyte", kData, 1e12},
    {"millisecond", kTime, 0.001},
    {"second", kTime, 1},
    {"minute", kTime, 60},
    {"hour", kTime, 3600},
    {"day", kTime, 86400},
    {"week", kTime, 604800},
    {"month", kTime, 2628000},
    {"year", kTime, 31536000},
    {"celsius", kTemperature, 1},
    {"fahrenheit", kTemperature, 1 / 1.8},
    {"kelvin", kTemperature, 1},
};

const Unit* unit(std::string_view name) {
  for (const Unit& u : kUnits)
    if (name == u.name) return &u;
  return nullptr;
}

double zero_in_kelvin(const Unit& u) { return u.name[0] == 'k' ? 0 : u.name[0] == 'c' ? 273.15 : 273.15 - 32 / 1.8; }

}  // namespace

bool calculate(std::string_view expression, double* result, std::string* why) {
  if (expression.size() > kMaxText) return *why = "the sum is too long", false;
  return Parser(expression, why).parse(result);
}

bool convert_units(double value, std::string_view from, std::string_view to, double* result, std::string* why) {
  const Unit *a = unit(from), *b = unit(to);
  // An ounce next to a volume is a fluid ounce.
  if (a && b && a->dimension == kVolume && to == "ounce") b = unit("fluid ounce");
  if (a && b && b->dimension == kVolume && from == "ounce") a = unit("fluid ounce");
  if (!a || !b || a->dimension != b->dimension) {
    *why = "cannot convert " + std::string(from.substr(0, 40)) + " to " + std::string(to.substr(0, 40));
    return false;
  }
  if (a->dimension == kTemperature)
    *result = (value * a->factor + zero_in_kelvin(*a) - zero_in_kelvin(*b)) / b->factor;
  else
    *result = value * a->factor / b->factor;
  if (std::isfinite(*result) && std::fabs(*result) <= kMaxResult) return true;
  *why = "the number is too large";
  return false;
}

// 1.005 is a little less than that in binary: what is a half up to rounding is one.
double two_decimals(double x) {
  const double n = std::floor(std::fabs(x) * 100 * (1 + 1e-12) + 0.5) / 100;
  return n == 0 ? 0 : std::copysign(n, x);
}

}  // namespace assistant
