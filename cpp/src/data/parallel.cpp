#include "ellzero/data/parallel.hpp"

#include <exception>

namespace ellzero {
namespace {

// Jobs arrive every few tens of microseconds inside a fit: a worker looks for the next one this often before it sleeps.
constexpr int spins_before_sleep = 4000;

inline void relax() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

}  // namespace

Team::Team(int threads) {
    for (int t = 1; t < threads; ++t) {
        try {
            workers_.emplace_back([this, t] { work(t); });
        } catch (const std::exception&) {
            break;  // the system grants no more threads, or no memory for one: the work is done by those that started
        }
    }
}

Team::~Team() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
}

void Team::dispatch() {
    next_.store(0, std::memory_order_relaxed);
    const int64_t chunks = (job_.count + job_.grain - 1) / job_.grain;
    wanted_.store(static_cast<int>(std::min<int64_t>(chunks, size()) - 1), std::memory_order_relaxed);
    open_.store(true);
    {
        const std::lock_guard lock(mutex_);
        generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    take_chunks(0);
    // A worker that is still asleep is not waited for: it comes to a closed door. Those inside finish at most one chunk later;
    // a long wait means that the machine is busy, so let it run.
    open_.store(false);
    for (int spin = 0; inside_.load() > 0; ++spin) {
        if (spin < spins_before_sleep) relax();
        else std::this_thread::yield();
    }
}

void Team::take_chunks(int thread) {
    for (;;) {
        const int64_t begin = next_.fetch_add(job_.grain, std::memory_order_relaxed);
        if (begin >= job_.count) return;
        job_.call(job_.context, begin, std::min(begin + job_.grain, job_.count), thread);
    }
}

void Team::work(int thread) {
    uint64_t seen = 0;
    for (;;) {
        for (int spin = 0; spin < spins_before_sleep && generation_.load(std::memory_order_acquire) == seen; ++spin) relax();
        if (generation_.load(std::memory_order_acquire) == seen) {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
        }
        seen = generation_.load(std::memory_order_acquire);
        if (stop_) return;
        if (thread > wanted_.load(std::memory_order_relaxed) || !open_.load(std::memory_order_relaxed)) continue;
        // Either the caller sees this worker inside, or the worker sees the door closed: both orders are the same for all.
        inside_.fetch_add(1);
        if (open_.load()) take_chunks(thread);
        inside_.fetch_sub(1);
    }
}

}  // namespace ellzero
