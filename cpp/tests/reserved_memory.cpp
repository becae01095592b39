// Address space that becomes memory where it is used: more of it than any machine has memory.
#include "ellzero/data/reserved_memory.hpp"

#include <new>

#include "harness.hpp"

using namespace ellzero;

TEST(parts_of_a_large_reservation_hold_what_is_written) {
    constexpr size_t whole = size_t{1} << 40, part = 100'000;
    const ReservedMemory memory(whole);
    const std::vector<size_t> begins = {0, part - 1, size_t{1} << 35, whole - part};
    auto* bytes = static_cast<unsigned char*>(memory.data());
    for (const size_t begin : begins) {
        memory.use(begin, part);
        CHECK(bytes[begin + part - 1] == 0);
        bytes[begin] = bytes[begin + part - 1] = 7;
    }
    for (const size_t begin : begins) {
        memory.use(begin, part);  // again: what is there stays
        CHECK(bytes[begin] == 7 && bytes[begin + part - 1] == 7);
    }
}

TEST(no_memory_can_be_reserved_and_used) {
    const ReservedMemory memory(0);
    memory.use(0, 0);
    CHECK(memory.data() != nullptr);
}

TEST(more_than_all_address_space_is_refused) {
    bool refused = false;
    try {
        const ReservedMemory memory(~size_t{0} / 2);
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    CHECK(refused);
}
