// The parts that searches and relaxations share in Python: their options, and a problem that stays alive as long as they do.
#pragma once

#include <optional>
#include <vector>

#include "ellzero/exact/node_solver.hpp"
#include "problem.hpp"

namespace ellzero::bindings {

// The core's options with lists of columns in place of flags.
struct BoundSearchOptions : ExactOptions {
    using List = std::optional<std::vector<int32_t>>;

    BoundSearchOptions() { free_bound = infinity; }

    List home, branched_on;
    int64_t swap_size = 0;
    int threads = 1;

    ExactOptions core(const Problem& problem) const;
};

// The core's problem, and the Python objects whose arrays it borrows.
struct Borrowed {
    nb::object owner;
    const BoundProblem& bound;
    Team team;
    Monitor monitor;
    Columns columns;
    Problem problem;

    Borrowed(nb::object problem_object, int threads, Monitor::Check check)
        : owner(std::move(problem_object)),
          bound(nb::cast<const BoundProblem&>(owner)),
          team(threads),
          monitor(std::move(check), {}),
          columns(bound.columns(team, monitor)),
          problem(bound.problem(columns)) {}
};

}  // namespace ellzero::bindings
