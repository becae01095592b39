// The threads of a search: one lock for what they share, one condition for its changes, and a stop that all of them see.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "ellzero/data/monitor.hpp"

namespace ellzero {

class Workers {
  public:
    using Clock = std::chrono::steady_clock;

    // Runs the bodies in threads of their own, while this one polls the monitor and the clock. True if all came to their end,
    // false if they were stopped. What a body or the monitor throws stops all, and is thrown on. Bodies share their work: if
    // the system grants fewer threads, as many bodies run, and it throws only if it grants none.
    bool run(const std::vector<std::function<void()>>& bodies, Clock::time_point until, Monitor& monitor);

    // Bodies hold the lock while they look at what they share.
    [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
    // Waits until another thread tells of a change, or all are stopped; spurious wake-ups are possible.
    void wait(std::unique_lock<std::mutex>& lock) { changed_.wait(lock); }
    void tell() { changed_.notify_all(); }

    void stop() { stop_ = true; }
    bool stopped() const { return stop_; }
    // Ends the body that calls it if all are to stop.
    void leave_if_stopped() const;

  private:
    struct Stopped : std::exception {};
    void run_body(const std::function<void()>& body);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> stop_{false};
    int busy_ = 0;
    std::exception_ptr failure_;
};

}  // namespace ellzero
