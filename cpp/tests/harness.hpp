// A small harness: TEST(name) { ... } registers a test whose body may draw from `random`; a CHECK that fails ends it.
#pragma once

#include <cmath>
#include <limits>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "random.hpp"

namespace harness {

// Some compilers have no more than float64: there, tests that compare with something better have nothing to compare with.
inline constexpr bool long_double_is_wider =
    std::numeric_limits<long double>::max_exponent > std::numeric_limits<double>::max_exponent;

struct Test {
    std::string name;
    void (*body)(Random& random);
};
std::vector<Test>& tests();

struct Registration {
    Registration(const char* name, void (*body)(Random&)) { tests().push_back({name, body}); }
};

template <class... Parts>
[[noreturn]] void fail(const std::source_location& place, const Parts&... parts) {
    std::ostringstream out;
    out.precision(17);
    out << place.file_name() << ':' << place.line() << ": ";
    (out << ... << parts);
    throw std::runtime_error(out.str());
}

// NaN is neither near anything nor at most anything.
inline void check_near(double got, double want, double tolerance, const char* text, const std::source_location& place) {
    if (!(got == want || std::abs(got - want) <= tolerance)) fail(place, text, ": ", got, " and ", want, " +- ", tolerance);
}
inline void check_at_most(double got, double limit, const char* text, const std::source_location& place) {
    if (!(got <= limit)) fail(place, text, ": ", got, " > ", limit);
}

}  // namespace harness

#define TEST(name)                                                                 \
    static void test_##name(harness::Random& random);                              \
    static const harness::Registration registration_of_##name(#name, test_##name); \
    static void test_##name([[maybe_unused]] harness::Random& random)

#define CHECK(condition) \
    if (!(condition)) harness::fail(std::source_location::current(), #condition)
#define CHECK_NEAR(got, want, tolerance) \
    harness::check_near(got, want, tolerance, #got " is near " #want, std::source_location::current())
#define CHECK_AT_MOST(got, limit) harness::check_at_most(got, limit, #got " <= " #limit, std::source_location::current())
