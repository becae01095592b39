// A team of threads that lives as long as one fit. Work is split by index and every index is computed by the same
// instructions whoever does it, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace ellzero {

class Team {
  public:
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(workers_.size()) + 1; }

    // Calls body(begin, end, thread) on consecutive chunks of [0, count) of at most `grain` indices. The body must not throw.
    // `operations` estimates the whole work: less than `worth_sharing` is done by the caller alone.
    template <class Body>
    void run(int64_t count, int64_t grain, const Body& body, int64_t operations = worth_sharing) {
        grain = std::max<int64_t>(grain, 1);
        if (workers_.empty() || count <= grain || operations < worth_sharing) {
            for (int64_t begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count), 0);
            return;
        }
        job_ = Job{count, grain, &body, [](const void* context, int64_t begin, int64_t end, int thread) {
            (*static_cast<const Body*>(context))(begin, end, thread);
        }};
        dispatch();
    }

    static constexpr int64_t worth_sharing = 50000;  // a few microseconds, as long as handing out work takes

  private:
    struct Job {
        int64_t count = 0, grain = 1;
        const void* context = nullptr;
        void (*call)(const void*, int64_t, int64_t, int) = nullptr;
    };
    void dispatch();
    void work(int thread);
    void take_chunks(int thread);

    // What many threads write at the same time lies apart: each would otherwise take the others' line from their caches.
    static constexpr size_t apart = 64;
    Job job_;
    std::atomic<int> wanted_{0};     // workers that have something to do
    std::atomic<bool> open_{false};  // whether there is a job to take part in
    alignas(apart) std::atomic<uint64_t> generation_{0};
    alignas(apart) std::atomic<int64_t> next_{0};
    alignas(apart) std::atomic<int> inside_{0};  // workers that look at the job
    alignas(apart) bool stop_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::thread> workers_;
};

}  // namespace ellzero
