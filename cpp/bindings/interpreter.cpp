#include "interpreter.hpp"

#ifndef _WIN32
#include <pthread.h>
#endif

#include <atomic>
#include <chrono>
#include <thread>

#include "register.hpp"

namespace ellzero::bindings {
namespace {

// The end waits so long for threads that are in Python for the core. Callbacks and reads of stored columns are short, or are
// told to stop; what takes longer is a caller's function, and the process must end some time.
constexpr std::chrono::seconds most_patience{10};
constexpr std::chrono::milliseconds pause_between_looks{1};

std::atomic<bool> ended{false};
std::atomic<int> asking{0};             // threads in Python for the core, or about to be
thread_local int questions = 0;         // of this thread to Python, one inside the other
thread_local bool ends_others = false;  // this thread ends the interpreter, and may go on

// Counts this thread as asking; false, and not counted, if it is too late. The count comes first, and the end sets its flag
// before it looks at the count: one of them sees the other.
bool begin_to_ask() {
    ++asking;
    if (!ended || ends_others || questions > 0) return true;
    --asking;
    return false;
}

void end() {
    ends_others = true;
    ended = true;
    nb::gil_scoped_release release;
    const auto until = std::chrono::steady_clock::now() + most_patience;
    while (asking > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(pause_between_looks);
}

}  // namespace

void check_interpreter() {
    if (ended && !ends_others) throw InterpreterEnds();
}

WithGil::WithGil() {
    if (!begin_to_ask()) throw InterpreterEnds();
    ++questions;
    state_ = PyGILState_Ensure();
}

WithGil::~WithGil() {
    PyGILState_Release(state_);
    --questions;
    --asking;
}

WithoutGil::WithoutGil() : thread_(PyEval_SaveThread()) {}

WithoutGil::~WithoutGil() {
    while (!begin_to_ask()) std::this_thread::sleep_for(most_patience);
    PyEval_RestoreThread(thread_);
    --asking;
}

void register_interpreter(nb::module_& m) {
#ifndef _WIN32  // which has no fork
    // The threads of a parent are not there in a child.
    pthread_atfork(nullptr, nullptr, [] { asking = questions; });
#endif
    m.def("_end", &end, "Wait until no thread of the core is in Python, and let none in from now on: the interpreter ends.");
    nb::module_::import_("atexit").attr("register")(m.attr("_end"));
}

}  // namespace ellzero::bindings
