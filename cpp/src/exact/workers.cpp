#include "ellzero/exact/workers.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

namespace ellzero {
namespace {

// The calling thread looks at the monitor and the clock once in this time.
constexpr std::chrono::milliseconds pause{20};

}  // namespace

void Workers::leave_if_stopped() const {
    if (stop_) throw Stopped{};
}

void Workers::run_body(const std::function<void()>& body) {
    try {
        body();
    } catch (const Stopped&) {
    } catch (...) {
        const auto held = lock();
        // Keeps the first failure. A later one must not be destroyed under the lock: an exception of Python waits for the GIL.
        if (!failure_) failure_ = std::current_exception();
        stop_ = true;
    }
    const auto held = lock();
    --busy_;
    tell();
}

bool Workers::run(const std::vector<std::function<void()>>& bodies, Clock::time_point until, Monitor& monitor) {
    stop_ = false;
    std::vector<std::thread> threads;
    threads.reserve(bodies.size());
    auto held = lock();
    for (const auto& body : bodies) {
        try {
            threads.emplace_back([this, &body] { run_body(body); });
        } catch (const std::exception&) {
            break;  // the system grants no more threads, or no memory for one
        }
    }
    busy_ = static_cast<int>(threads.size());
    if (threads.empty()) throw std::runtime_error("The system starts no thread: memory or the number of processes is used up.");
    std::exception_ptr interrupted;
    while (busy_ > 0) {
        changed_.wait_for(held, pause);
        held.unlock();
        // The lock is open here, since the monitor may look at the search.
        try {
            if (!stop_) monitor.poll();
        } catch (...) {
            interrupted = std::current_exception();
            stop_ = true;
        }
        held.lock();
        if (busy_ > 0 && Clock::now() >= until) stop_ = true;
        if (stop_) tell();
    }
    held.unlock();
    for (auto& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (interrupted) std::rethrow_exception(interrupted);
    return !stop_;
}

}  // namespace ellzero
