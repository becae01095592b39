#include "ellzero/data/reserved_memory.hpp"

#include <algorithm>
#include <new>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX  // or std::max would be a macro
#endif
#include <windows.h>
#else
#include <sys/mman.h>
#endif

namespace ellzero {

#ifdef _WIN32

ReservedMemory::ReservedMemory(size_t bytes)
    : bytes_(std::max<size_t>(bytes, 1)), memory_(VirtualAlloc(nullptr, bytes_, MEM_RESERVE, PAGE_READWRITE)) {
    if (!memory_) throw std::bad_alloc();
}

ReservedMemory::~ReservedMemory() { VirtualFree(memory_, 0, MEM_RELEASE); }

// Windows promises memory page by page, and takes a second promise for the first.
void ReservedMemory::use(size_t begin, size_t bytes) const {
    if (bytes && !VirtualAlloc(static_cast<char*>(memory_) + begin, bytes, MEM_COMMIT, PAGE_READWRITE)) throw std::bad_alloc();
}

#else

ReservedMemory::ReservedMemory(size_t bytes)
    : bytes_(std::max<size_t>(bytes, 1)),
      memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
}

ReservedMemory::~ReservedMemory() { munmap(memory_, bytes_); }

void ReservedMemory::use(size_t, size_t) const {}  // the first write to a page makes it memory

#endif

}  // namespace ellzero
