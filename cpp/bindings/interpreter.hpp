// The border between the core's threads and the interpreter: the GIL, and what becomes of threads when the interpreter ends.
//
// An interpreter that ends kills every thread that asks for the GIL, and no destructor of C++ survives that: the process would
// abort. A daemon thread may be anywhere in a fit then. So before the end, which `atexit` announces, threads that are in
// Python for the core are waited for. After it, none asks for the GIL any more: the core gives up at its next question, and the
// thread then sleeps where it would have returned to Python, until the process is gone.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace ellzero::bindings {

namespace nb = nanobind;

struct InterpreterEnds : std::exception {
    const char* what() const noexcept override { return "the interpreter ends"; }
};

// Throws InterpreterEnds where the GIL must not be asked for any more.
void check_interpreter();

// Holds the GIL: for a question of the core to Python. Throws InterpreterEnds in place of asking too late.
class WithGil {
  public:
    WithGil();
    ~WithGil();
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

  private:
    PyGILState_STATE state_;
};

// Gives up the GIL: for the core's work. At its end it takes the GIL back, and does not return if that is too late.
class WithoutGil {
  public:
    WithoutGil();
    ~WithoutGil();
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

  private:
    PyThreadState* thread_;
};

}  // namespace ellzero::bindings
