// Address space that becomes memory where it is used: what differs between systems.
#pragma once

#include <cstddef>

namespace ellzero {

class ReservedMemory {
  public:
    // Throws std::bad_alloc where there is no such room.
    explicit ReservedMemory(size_t bytes);
    ~ReservedMemory();
    ReservedMemory(const ReservedMemory&) = delete;
    ReservedMemory& operator=(const ReservedMemory&) = delete;

    void* data() const { return memory_; }
    // To be called before so many bytes from `begin` on are written to; any number of times, by one thread at a time.
    void use(size_t begin, size_t bytes) const;

  private:
    size_t bytes_;
    void* memory_;
};

}  // namespace ellzero
