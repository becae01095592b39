#include "search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "ellzero/exact/growth.hpp"
#include "ellzero/exact/search.hpp"
#include "register.hpp"

namespace ellzero::bindings {

ExactOptions BoundSearchOptions::core(const Problem& problem) const {
    const auto flags = [&](const std::vector<int32_t>& columns) {
        std::vector<uint8_t> out(problem.columns(), 0);
        for (const int32_t j : columns) out.at(j) = 1;
        return out;
    };
    ExactOptions out = *this;
    if (home) out.swaps = {flags(*home), std::ssize(*home), swap_size};
    if (branched_on) out.integral = flags(*branched_on);
    return out;
}

namespace {

struct BoundSearch : Borrowed {
    Search search;

    BoundSearch(nb::object problem_object, const BoundSearchOptions& options, Model incumbent)
        : Borrowed(std::move(problem_object), 1, {}),
          search(problem, options.core(problem), bound.complete(std::move(incumbent)), options.threads) {}
};

SearchStatus run(BoundSearch& self, double seconds, int64_t node_limit, double enough, bool in_turn, const nb::object& report) {
    Monitor monitor(checker(report), {});
    const WithoutGil release;
    return self.search.run({seconds, node_limit, enough, in_turn}, monitor);
}

nb::tuple undecided_shares(const BoundSearch& self) {
    std::vector<int32_t> columns;
    std::vector<double> shares;
    for (const auto& [column, share] : self.search.undecided_shares()) {
        columns.push_back(column);
        shares.push_back(share);
    }
    return nb::make_tuple(to_numpy(std::move(columns)), to_numpy(std::move(shares)));
}

bool curvature_holds(nb::object problem_object, int threads, const nb::object& report) {
    const Borrowed borrowed(std::move(problem_object), threads, checker(report));
    const WithoutGil release;
    return held_by_curvature(borrowed.problem);
}

nb::tuple growth(nb::object problem_object, const std::vector<int32_t>& columns, int threads, const nb::object& report) {
    const Borrowed borrowed(std::move(problem_object), threads, checker(report));
    Growth found;
    {
        const WithoutGil release;
        found = find_growth(borrowed.problem, columns);
    }
    return nb::make_tuple(to_numpy(std::move(found.alpha)), to_numpy(std::move(found.entries)), found.combination);
}

nb::list listed(const BoundSearch& self) {
    nb::list out;
    for (const Search::Listed& leaf : self.search.listed())
        out.append(nb::make_tuple(leaf.node, to_numpy(std::vector<int32_t>(leaf.found.support)), leaf.found.model,
                                  leaf.found.needs_all));
    return out;
}

void register_options(nb::module_& m) {
    nb::class_<BoundSearchOptions>(m, "SearchOptions", "The exact problem beside its data, and how closely it is solved.")
        .def(nb::init<>())
        .def_rw("lambda_0", &BoundSearchOptions::lambda_0)
        .def_rw("k", &BoundSearchOptions::k, "At most so many features.")
        .def_rw("budget", &BoundSearchOptions::budget, "Their prices sum to at most that.")
        .def_rw("gap", &BoundSearchOptions::gap, "Relative.")
        .def_rw("narrow", &BoundSearchOptions::narrow, "All boxes are narrowed at the root.")
        .def_rw("null", &BoundSearchOptions::null, "The null model's loss.")
        .def_rw("free_bound", &BoundSearchOptions::free_bound, "Assumed of unpenalized features that nothing else holds.")
        .def_rw("home", &BoundSearchOptions::home, nb::arg().none(), "The features that swaps start from; None: all solutions.")
        .def_rw("swap_size", &BoundSearchOptions::swap_size, "Features that may leave the home, and that may come.")
        .def_rw("integral", &BoundSearchOptions::branched_on, nb::arg().none(), "Features that may be branched on; None: all.")
        .def_rw("diagonals", &BoundSearchOptions::diagonals, "Whether curvature of the squared error may move into the ridge.")
        .def_rw("families", &BoundSearchOptions::families, "Whether nodes may be solved with the normal equations.")
        .def_rw("alike", &BoundSearchOptions::alike, nb::arg().none(),
                "Features with at least this correlation are decided together; above one: none are; None: as the core decides.")
        .def_rw("wanted", &BoundSearchOptions::wanted)
        .def_rw("threads", &BoundSearchOptions::threads);
    nb::class_<Wanted>(m, "Wanted", "The models that a search looks for: the best one, or all up to a level.")
        .def(nb::init<>())
        .def_rw("all", &Wanted::all)
        .def_rw("level", &Wanted::level)
        .def_rw("within", &Wanted::within, "The level, above the best objective and relative to it.")
        .def_rw("count", &Wanted::count, "The level is that of the so many-th best support, at most.")
        .def_rw("most", &Wanted::most, "A run ends when it has found more.")
        .def_ro_static("equal", &Wanted::equal, "Objectives that differ by less, relatively, count as equal.")
        .def_ro_static("nothing", &Wanted::nothing, "Features that gain less are not looked at one by one.");
    nb::enum_<SearchStatus>(m, "SearchStatus")
        .value("finished", SearchStatus::finished, "The tree has no open node.")
        .value("time_limit", SearchStatus::time_limit)
        .value("node_limit", SearchStatus::node_limit)
        .value("relaxed", SearchStatus::relaxed, "Only nodes that wait for more features to branch on are left.")
        .value("improved", SearchStatus::improved, "A long search found a model that is good enough.")
        .value("too_many", SearchStatus::too_many, "There are more models than may be listed.");
}

}  // namespace

void register_search(nb::module_& m) {
    const nb::exception<WitnessLost> registered(m, "WitnessLost", PyExc_AssertionError);
    register_options(m);
    m.attr("budget_slack") = budget_slack;
    m.def("curvature_holds", &curvature_holds, nb::arg("problem"), nb::arg("threads"), nb::arg("report").none(),
          "Whether the curvature of the loss alone holds all coefficients.");
    m.def(
        "find_growth", &growth, nb::arg("problem"), nb::arg("columns"), nb::arg("threads"), nb::arg("report").none(),
        "A dual point and a diagonal that prove that the loss of labels grows with the coefficients of some columns: alpha and "
        "the entries. Both are empty if none were found, and the last number is a column that is a combination of others, or "
        "-1.");
    nb::class_<BoundSearch>(m, "Search", "Branch and bound on one problem; it can be stopped, looked at and continued.")
        .def(nb::init<nb::object, const BoundSearchOptions&, Model>(), nb::arg("problem"), nb::arg("options"),
             nb::arg("incumbent"))
        .def("branch_also_on",
             [](BoundSearch& self, const std::vector<int32_t>& columns) { self.search.branch_also_on(columns); },
             nb::arg("columns"), "More features that may be branched on.")
        .def("branch_on_all", [](BoundSearch& self) { self.search.branch_on_all(); },
             "Every feature may be branched on from now on.")
        .def("undecided_shares", &undecided_shares,
             "z of the best node that waits: the features of its relaxation that are not decided, and their shares.")
        .def("follow",
             [](BoundSearch& self, Model witness, double objective) {
        self.search.follow(self.bound.complete(std::move(witness)), objective);
    }, nb::arg("witness"), nb::arg("objective"), "Raise WitnessLost when a node that holds this solution is cut off.")
        .def("suggest", [](BoundSearch& self, Model model) { self.search.suggest(self.bound.complete(std::move(model))); },
             nb::arg("model"), "Another solution, which becomes the incumbent if it is better.")
        .def("start_from", [](BoundSearch& self, const BoundSearch& other) { self.search.start_from(other.search); },
             nb::arg("other"), "Start the root's relaxation where that of another search ended.")
        .def("run", &run, nb::kw_only(), nb::arg("seconds"), nb::arg("node_limit"), nb::arg("enough") = -Penalty::infinity,
             nb::arg("in_turn") = false, nb::arg("report").none(),
             "Work until finished or stopped, or long and with a model below `enough`; nodes `in_turn`, each by all threads, "
             "make the result independent of these. `report` is called about ten times a second.")
        .def("incumbent", [](const BoundSearch& self) { return self.search.incumbent(); })
        .def("listed", &listed, "Node, support and best model of the leaves that are wanted, and whether it needs all of it.")
        .def("tree", [](const BoundSearch& self) { return self.search.tree(); })
        .def("fixed_out", [](const BoundSearch& self) { return to_numpy(self.search.fixed_out()); },
             "Features that the root proved to be in no better solution.")
        .def("snapshot", [](const BoundSearch& self) { return self.search.snapshot(); })
        .def("restore",
             [](BoundSearch& self, Search::Snapshot snapshot) {
        snapshot.incumbent = self.bound.complete(std::move(snapshot.incumbent));
        self.search.restore(std::move(snapshot));
    }, nb::arg("snapshot"))
        .def_prop_ro("objective", [](const BoundSearch& self) { return self.search.objective(); })
        .def_prop_ro("level", [](const BoundSearch& self) { return self.search.level(); },
                     "Models up to this objective are looked for.")
        .def_prop_ro("lower_bound", [](const BoundSearch& self) { return self.search.lower_bound(); })
        .def_prop_ro("models", [](const BoundSearch& self) { return self.search.models(); },
                     "How many models that are wanted are found.")
        .def_prop_ro("nodes", [](const BoundSearch& self) { return self.search.counts().nodes; })
        .def_prop_ro("open", [](const BoundSearch& self) { return self.search.counts().open; })
        .def_prop_ro("passes", [](const BoundSearch& self) { return self.search.counts().passes; })
        .def_prop_ro("newton_steps", [](const BoundSearch& self) {
        return self.search.counts().newton_steps;
    }).def_prop_ro("columns_left", [](const BoundSearch& self) { return self.search.counts().columns_left; });
}

}  // namespace ellzero::bindings
