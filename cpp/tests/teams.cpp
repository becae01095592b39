// A team hands out every index once, whatever the number of threads and the size of the chunks.
#include <atomic>
#include <chrono>
#include <thread>

#include "ellzero/data/parallel.hpp"
#include "harness.hpp"

using namespace ellzero;

namespace {

// Whether each index of [0, count) was visited once, in chunks of at most `grain`, by threads of the team.
bool visits_each_once(Team& team, int64_t count, int64_t grain, int64_t operations) {
    std::vector<std::atomic<int>> visits(count);
    std::atomic<bool> good{true};
    team.run(count, grain, [&](int64_t begin, int64_t end, int thread) {
        if (begin >= end || end - begin > grain || thread < 0 || thread >= team.size()) good = false;
        for (int64_t i = begin; i < end; ++i) ++visits[i];
    }, operations);
    for (const auto& times : visits)
        if (times != 1) good = false;
    return good;
}

}  // namespace

TEST(team_visits_each_index_once) {
    for (const int threads : {1, 2, 3, 8}) {
        Team team(threads);
        CHECK(team.size() == threads);
        for (int repeat = 0; repeat < 20; ++repeat)
            for (const int64_t count : {0, 1, 2, 3, 7, 64, 65, 1000})
                for (const int64_t grain : {1, 2, 3, 64, 5000}) {
                    CHECK(visits_each_once(team, count, grain, Team::worth_sharing));
                    CHECK(visits_each_once(team, count, grain, 0));
                }
    }
}

// Workers that sleep when work comes, or wake when it is done, take part in none of it or all of it.
TEST(team_works_with_those_who_are_awake) {
    Team team(8);
    for (int repeat = 0; repeat < 300; ++repeat) {
        if (repeat % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        CHECK(visits_each_once(team, 1 + repeat % 17, 1, Team::worth_sharing));
    }
}

TEST(team_leaves_small_work_to_the_caller) {
    Team team(4);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> elsewhere{0};
    const auto body = [&](int64_t, int64_t, int thread) {
        if (thread != 0 || std::this_thread::get_id() != caller) ++elsewhere;
    };
    for (int repeat = 0; repeat < 100; ++repeat) team.run(100, 1, body, Team::worth_sharing - 1);
    CHECK(elsewhere == 0);
}

TEST(team_shares_large_work) {
    Team team(2);
    std::atomic<int> arrived{0};
    // Each of the two chunks waits for the other: one thread alone would wait for ever.
    team.run(2, 1, [&](int64_t, int64_t, int) {
        ++arrived;
        while (arrived < 2) std::this_thread::yield();
    });
    CHECK(arrived == 2);
}
