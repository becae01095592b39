#include "harness.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace harness {

std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

static bool passes(const Test& test, uint64_t seed) {
    try {
        Random random(seed);
        test.body(random);
        return true;
    } catch (const std::exception& error) {
        std::cout << test.name << ": " << error.what() << '\n';
        return false;
    }
}

// Runs all tests, or the named ones. The seed is that of the environment, if it names one.
static bool run(const std::vector<std::string>& names) {
    const char* wish = std::getenv("ELLZERO_SEED");
    const uint64_t seed = wish ? std::strtoull(wish, nullptr, 10) : 17;
    int64_t passed = 0, failed = 0;
    for (const Test& test : tests())
        if (names.empty() || std::find(names.begin(), names.end(), test.name) != names.end())
            ++(passes(test, seed) ? passed : failed);
    std::cout << passed << " passed, " << failed << " failed (ELLZERO_SEED=" << seed << ")\n";
    // A name that is not there must not pass for a test that is.
    return failed == 0 && (names.empty() || passed == std::ssize(names));
}

}  // namespace harness

int main(int count, char** arguments) { return harness::run({arguments + 1, arguments + count}) ? 0 : 1; }
