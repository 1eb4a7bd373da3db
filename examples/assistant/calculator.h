// Arithmetic and units.
#pragma once
#include <string>
#include <string_view>

namespace assistant {

// Numbers, + - * / ^ ( ) and sqrt(); at most 200 characters, 40 levels deep. False: *why says in words that can be spoken what is wrong.
bool calculate(std::string_view expression, double* result, std::string* why);
// Units by their singular English names. False: "cannot convert tablespoon to megabyte".
bool convert_units(double value, std::string_view from, std::string_view to, double* result, std::string* why);
// Rounded to two decimals, halves away from 0: what people want to hear.
double two_decimals(double x);

}  // namespace assistant
