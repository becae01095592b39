// The line from a long computation to its caller, whoever that is: progress goes out, a wish to stop comes in.
#pragma once

#include <chrono>
#include <functional>

namespace ellzero {

// Calls `check` at most ten times a second; the caller's check throws to stop the work (Ctrl-C).
class Monitor {
  public:
    using Check = std::function<void()>;
    using Progress = std::function<void(double fraction, double lambda_0, int support)>;
    Monitor() = default;
    Monitor(Check check, Progress progress) : check_(std::move(check)), progress_(std::move(progress)) {}

    void poll() {
        if (!check_) return;
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        check_();
    }
    void report(double fraction, double lambda_0, int support) {
        if (progress_) progress_(fraction, lambda_0, support);
    }

  private:
    using Clock = std::chrono::steady_clock;
    Check check_;
    Progress progress_;
    Clock::time_point last_ = Clock::now();
};

}  // namespace ellzero
