#include "ellzero/exact/search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "models.hpp"

namespace ellzero::bindings {
namespace {

// Lists of different lengths as one array and where each starts.
template <class T>
struct Ragged {
    std::vector<int64_t> starts{0};
    std::vector<T> values;

    template <class List>
    void add(const List& list) {
        values.insert(values.end(), list.begin(), list.end());
        starts.push_back(std::ssize(values));
    }
    void put(nb::dict& out, const std::string& name) {
        out[(name + "_starts").c_str()] = to_numpy(std::move(starts));
        out[name.c_str()] = to_numpy(std::move(values));
    }
};

template <class T>
Vector<T> array(const nb::dict& from, const std::string& name) {
    return nb::cast<Vector<T>>(from[name.c_str()]);
}

template <class T>
std::vector<T> take(const nb::dict& from, const std::string& name) {
    const auto values = array<T>(from, name);
    return {values.data(), values.data() + values.shape(0)};
}

template <class T>
std::vector<T> take(const nb::dict& from, const std::string& name, size_t k) {
    const auto starts = array<int64_t>(from, name + "_starts");
    const auto values = array<T>(from, name);
    return {values.data() + starts.data()[k], values.data() + starts.data()[k + 1]};
}

// The row of `alpha` that holds each node's dual point, or -1, and these rows one after another.
void put_tree(nb::dict& out, const TreeRecord& tree) {
    std::vector<int64_t> row;
    std::vector<float> alpha;
    int64_t rows = 0;
    size_t total = 0;
    for (const auto& point : tree.alpha) total += point.size();
    alpha.reserve(total);
    for (const auto& point : tree.alpha) {
        row.push_back(point.empty() ? -1 : rows++);
        alpha.insert(alpha.end(), point.begin(), point.end());
    }
    out["parent"] = to_numpy(std::vector<int64_t>(tree.parent));
    out["branch"] = to_numpy(std::vector<int32_t>(tree.branch));
    out["side"] = to_numpy(std::vector<int8_t>(tree.side));
    out["row"] = to_numpy(std::move(row));
    out["alpha"] = to_numpy(std::move(alpha));
}

TreeRecord take_tree(const nb::dict& from) {
    TreeRecord tree{take<int64_t>(from, "parent"), take<int32_t>(from, "branch"), take<int8_t>(from, "side"), {}};
    const auto alpha = array<float>(from, "alpha");
    const std::vector<int64_t> rows = take<int64_t>(from, "row");
    const auto count = std::count_if(rows.begin(), rows.end(), [](int64_t row) { return row >= 0; });
    const int64_t n = count > 0 ? static_cast<int64_t>(alpha.shape(0)) / count : 0;
    for (const int64_t row : rows) {
        tree.alpha.emplace_back();
        if (row >= 0) tree.alpha.back().assign(alpha.data() + row * n, alpha.data() + (row + 1) * n);
    }
    return tree;
}

nb::dict put_snapshot(const Search::Snapshot& snapshot) {
    nb::dict out = pack({snapshot.incumbent});
    put_tree(out, snapshot.tree);
    std::vector<double> low, high;
    for (const Box& box : snapshot.boxes) {
        low.push_back(box.low);
        high.push_back(box.high);
    }
    out["kept"] = to_numpy(std::vector<int32_t>(snapshot.columns));
    out["low"] = to_numpy(std::move(low));
    out["high"] = to_numpy(std::move(high));
    std::vector<int64_t> id, depth, state_of;
    std::vector<int32_t> decision;
    std::vector<uint8_t> in, dives, waits;
    std::vector<double> bound, start, mu;
    std::map<const State*, int64_t> places;
    std::vector<const State*> states;
    for (const Node& node : snapshot.open) {
        id.push_back(node.id);
        depth.push_back(node.depth);
        bound.push_back(node.bound);
        decision.push_back(node.decision.column);
        in.push_back(node.decision.in);
        dives.push_back(node.dives);
        waits.push_back(node.waits);
        const auto [place, fresh] = places.emplace(node.state.get(), std::ssize(states));
        if (fresh) states.push_back(node.state.get());
        state_of.push_back(place->second);
    }
    Ragged<int32_t> inside, box_column, columns, near;
    Ragged<uint64_t> outside;
    Ragged<float> box_low, box_high, alpha, shares;
    Ragged<double> beta;
    for (const State* state : states) {
        inside.add(state->in);
        outside.add(state->out.words());
        std::vector<int32_t> column;
        std::vector<float> lows, highs;
        for (const auto& box : state->boxes) {
            column.push_back(box.column);
            lows.push_back(box.low);
            highs.push_back(box.high);
        }
        box_column.add(column);
        box_low.add(lows);
        box_high.add(highs);
        columns.add(state->columns);
        beta.add(state->beta);
        shares.add(state->shares);
        near.add(state->near);
        start.push_back(state->intercept);
        mu.push_back(state->mu);
        alpha.add(state->alpha);
    }
    inside.put(out, "state_in");
    outside.put(out, "state_out");
    box_column.put(out, "box_column");
    box_low.put(out, "box_low");
    box_high.put(out, "box_high");
    columns.put(out, "state_columns");
    beta.put(out, "state_beta");
    shares.put(out, "state_shares");
    near.put(out, "state_near");
    alpha.put(out, "state_alpha");
    out["state_intercept"] = to_numpy(std::move(start));
    out["state_mu"] = to_numpy(std::move(mu));
    out["node_id"] = to_numpy(std::move(id));
    out["node_depth"] = to_numpy(std::move(depth));
    out["node_bound"] = to_numpy(std::move(bound));
    out["node_decision"] = to_numpy(std::move(decision));
    out["node_in"] = to_numpy(std::move(in));
    out["node_dives"] = to_numpy(std::move(dives));
    out["node_waits"] = to_numpy(std::move(waits));
    out["node_state"] = to_numpy(std::move(state_of));
    out["closed"] = to_numpy(std::vector<double>{snapshot.closed});
    out["counters"] = to_numpy(std::vector<int64_t>{snapshot.nodes_done, snapshot.picks, snapshot.rooted});
    return out;
}

Search::Snapshot take_snapshot(const nb::dict& from, const BoundProblem& problem) {
    Search::Snapshot out;
    out.incumbent = unpack(from, problem).at(0);
    out.incumbent.cost = array<double>(from, "cost").data()[0];
    out.tree = take_tree(from);
    out.columns = take<int32_t>(from, "kept");
    const auto low = array<double>(from, "low"), high = array<double>(from, "high");
    for (size_t j = 0; j < low.shape(0); ++j) out.boxes.push_back({low.data()[j], high.data()[j]});
    const auto start = array<double>(from, "state_intercept"), mu = array<double>(from, "state_mu");
    std::vector<std::shared_ptr<const State>> states;
    for (size_t s = 0; s < start.shape(0); ++s) {
        State state{take<int32_t>(from, "state_in", s),
                    ColumnSet(take<uint64_t>(from, "state_out", s)),
                    {},
                    take<int32_t>(from, "state_columns", s),
                    take<double>(from, "state_beta", s),
                    take<float>(from, "state_shares", s),
                    start.data()[s],
                    mu.data()[s],
                    take<float>(from, "state_alpha", s),
                    take<int32_t>(from, "state_near", s)};
        const auto column = take<int32_t>(from, "box_column", s);
        const auto lows = take<float>(from, "box_low", s), highs = take<float>(from, "box_high", s);
        for (size_t b = 0; b < column.size(); ++b) state.boxes.push_back({column[b], lows[b], highs[b]});
        states.push_back(std::make_shared<const State>(std::move(state)));
    }
    const auto id = array<int64_t>(from, "node_id"), depth = array<int64_t>(from, "node_depth");
    const auto state_of = array<int64_t>(from, "node_state");
    const auto bound = array<double>(from, "node_bound");
    const auto decision = array<int32_t>(from, "node_decision");
    const auto in = array<uint8_t>(from, "node_in"), dives = array<uint8_t>(from, "node_dives");
    const auto waits = array<uint8_t>(from, "node_waits");
    for (size_t k = 0; k < id.shape(0); ++k)
        out.open.push_back({id.data()[k],
                            static_cast<int>(depth.data()[k]),
                            bound.data()[k],
                            states.at(state_of.data()[k]),
                            {decision.data()[k], in.data()[k] != 0},
                            dives.data()[k] != 0,
                            waits.data()[k] != 0});
    out.closed = array<double>(from, "closed").data()[0];
    const auto counters = array<int64_t>(from, "counters");
    out.nodes_done = counters.data()[0];
    out.picks = counters.data()[1];
    out.rooted = counters.data()[2] != 0;
    return out;
}

// Keeps alive what is borrowed of a problem.
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

// What is to be solved beside the problem itself; `home` and `integral` are columns, None for no such limit.
ExactOptions make_options(const Problem& problem, double lambda_0, int64_t k, double gap, double free_bound,
                          const std::optional<std::vector<int32_t>>& home, int64_t swap_size,
                          const std::optional<std::vector<int32_t>>& integral) {
    ExactOptions options{lambda_0, k, gap, free_bound, {}, {}};
    const auto flags = [&](const std::vector<int32_t>& columns) {
        std::vector<uint8_t> out(problem.columns(), 0);
        for (const int32_t j : columns) out.at(j) = 1;
        return out;
    };
    if (home) options.swaps = {flags(*home), std::ssize(*home), swap_size};
    if (integral) options.integral = flags(*integral);
    return options;
}

struct BoundSearch : Borrowed {
    Search search;

    BoundSearch(nb::object problem_object, double lambda_0, int64_t k, double gap, double free_bound, const nb::dict& incumbent,
                const std::optional<std::vector<int32_t>>& home, int64_t swap_size,
                const std::optional<std::vector<int32_t>>& integral, int threads)
        : Borrowed(std::move(problem_object), 1, {}),
          search(problem, make_options(problem, lambda_0, k, gap, free_bound, home, swap_size, integral), with_cost(incumbent),
                 threads) {}

    Model with_cost(const nb::dict& packed) const {
        Model model = unpack(packed, bound).at(0);
        model.cost = array<double>(packed, "cost").data()[0];
        return model;
    }
};

// Convex relaxations of parts of the problem, one after the other: each starts where the last one ended.
struct BoundRelaxations : Borrowed {
    struct Fixed : Incumbent {
        double value;
        explicit Fixed(double v) : value(v) {}
        double objective() const override { return value; }
        void offer(const Model&) override {}
        int64_t proof_bytes() const override { return 0; }
    };
    ExactOptions options;
    Fixed incumbent;
    NodeSolver solver;
    State last;
    ColumnSet never;  // columns that are out in all of them

    BoundRelaxations(nb::object problem_object, double lambda_0, int64_t k, double free_bound, double objective,
                     const std::optional<std::vector<int32_t>>& home, int64_t swap_size, const std::vector<int32_t>& excluded,
                     int threads)
        : Borrowed(std::move(problem_object), threads, [] { check_signals(); }),
          options(make_options(problem, lambda_0, k, 0.0, free_bound, home, swap_size, {})),
          incumbent(objective),
          solver(problem, options, incumbent, nullptr) {
        last.out = ColumnSet(problem.columns());
        put_out(last, excluded);
        never = last.out;
    }

    static void put_out(State& state, const std::vector<int32_t>& columns) {
        for (const int32_t j : columns) state.out.insert(j);
    }

    nb::dict refit(const std::vector<int32_t>& columns) {
        Model model;
        {
            nb::gil_scoped_release release;
            model = solver.refit(columns, std::vector<double>(columns.size(), 0.0), last.intercept);
        }
        return pack({model});
    }

    nb::dict solve(const std::vector<int32_t>& in, const std::vector<int32_t>& out, double enough) {
        NodeSolver::Relaxed found;
        {
            nb::gil_scoped_release release;
            State state = last;
            state.in = in;
            state.out = never;
            put_out(state, out);
            state.boxes.clear();
            state.shares.clear();
            found = solver.relax(state, enough);
            if (found.state) last = *found.state;
        }
        nb::dict result;
        result["bound"] = found.bound;
        if (!found.state) return result;
        result["theta"] = to_numpy(std::move(found.dual.theta));
        result["mu"] = found.state->mu;
        result["columns"] = to_numpy(std::vector<int32_t>(found.state->columns));
        result["beta"] = to_numpy(std::vector<double>(found.state->beta));
        result["shares"] = to_numpy(std::vector<double>(found.state->shares.begin(), found.state->shares.end()));
        result["intercept"] = found.state->intercept;
        return result;
    }
};

std::string run(BoundSearch& self, double seconds, int64_t node_limit, const nb::object& report) {
    Monitor monitor(checker(report), {});
    nb::gil_scoped_release release;
    switch (self.search.run(seconds, node_limit, monitor)) {
        case SearchStatus::finished: return "finished";
        case SearchStatus::node_limit: return "node_limit";
        case SearchStatus::relaxed: return "relaxed";
        case SearchStatus::time_limit: break;
    }
    return "time_limit";
}

}  // namespace

void register_search(nb::module_& m) {
    nb::exception<WitnessLost>(m, "WitnessLost", PyExc_AssertionError);
    nb::class_<BoundSearch>(m, "Search", "Branch and bound on one problem; it can be stopped, looked at and continued.")
        .def(nb::init<nb::object, double, int64_t, double, double, const nb::dict&, const std::optional<std::vector<int32_t>>&,
                      int64_t, const std::optional<std::vector<int32_t>>&, int>(),
             nb::arg("problem"), nb::kw_only(), nb::arg("lambda_0"), nb::arg("k"), nb::arg("gap"), nb::arg("free_bound"),
             nb::arg("incumbent"), nb::arg("home").none() = nb::none(), nb::arg("swap_size") = 0,
             nb::arg("integral").none() = nb::none(), nb::arg("threads"))
        .def("branch_also_on",
             [](BoundSearch& self, const std::vector<int32_t>& columns) { self.search.branch_also_on(columns); },
             nb::arg("columns"), "More features that may be branched on.")
        .def("branch_on_all", [](BoundSearch& self) { self.search.branch_on_all(); },
             "Every feature may be branched on from now on.")
        .def("undecided_shares",
             [](const BoundSearch& self) {
        std::vector<int32_t> columns;
        std::vector<double> shares;
        for (const auto& [column, share] : self.search.undecided_shares()) {
            columns.push_back(column);
            shares.push_back(share);
        }
        return nb::make_tuple(to_numpy(std::move(columns)), to_numpy(std::move(shares)));
    }, "z of the best node that waits: the features of its relaxation that are not decided, and their shares.")
        .def("follow",
             [](BoundSearch& self, const nb::dict& witness, double objective) {
        self.search.follow(self.with_cost(witness), objective);
    }, nb::arg("witness"), nb::arg("objective"), "Raise WitnessLost when a node that holds this solution is cut off.")
        .def("suggest", [](BoundSearch& self, const nb::dict& model) { self.search.suggest(self.with_cost(model)); },
             nb::arg("model"), "Another solution, which becomes the incumbent if it is better.")
        .def("start_from", [](BoundSearch& self, const BoundSearch& other) { self.search.start_from(other.search); },
             nb::arg("other"), "Start the root's relaxation where that of another search ended.")
        .def("run", &run, nb::kw_only(), nb::arg("seconds"), nb::arg("node_limit"), nb::arg("report").none(),
             "Work until finished or stopped; `report` is called about ten times a second.")
        .def("incumbent", [](const BoundSearch& self) { return pack({self.search.incumbent()}); })
        .def("tree",
             [](const BoundSearch& self) {
        nb::dict out;
        put_tree(out, self.search.tree());
        return out;
    })
        .def("fixed_out", [](const BoundSearch& self) { return to_numpy(self.search.fixed_out()); },
             "Features that the root proved to be in no better solution.")
        .def("snapshot", [](const BoundSearch& self) { return put_snapshot(self.search.snapshot()); })
        .def("restore",
             [](BoundSearch& self, const nb::dict& snapshot) { self.search.restore(take_snapshot(snapshot, self.bound)); },
             nb::arg("snapshot"))
        .def_prop_ro("objective", [](const BoundSearch& self) { return self.search.objective(); })
        .def_prop_ro("lower_bound", [](const BoundSearch& self) { return self.search.lower_bound(); })
        .def_prop_ro("nodes", [](const BoundSearch& self) { return self.search.nodes(); })
        .def_prop_ro("open", [](const BoundSearch& self) { return self.search.open(); })
        .def_prop_ro("passes", [](const BoundSearch& self) { return self.search.passes(); })
        .def_prop_ro("newton_steps", [](const BoundSearch& self) {
        return self.search.newton_steps();
    }).def_prop_ro("columns_left", [](const BoundSearch& self) { return self.search.columns_left(); });
    nb::class_<BoundRelaxations>(m, "Relaxations",
                                 "Convex relaxations of parts of one problem: some features in, some out, the others free.")
        .def(nb::init<nb::object, double, int64_t, double, double, const std::optional<std::vector<int32_t>>&, int64_t,
                      const std::vector<int32_t>&, int>(),
             nb::arg("problem"), nb::kw_only(), nb::arg("lambda_0"), nb::arg("k"), nb::arg("free_bound"), nb::arg("objective"),
             nb::arg("home").none() = nb::none(), nb::arg("swap_size") = 0, nb::arg("excluded"), nb::arg("threads"))
        .def("solve", &BoundRelaxations::solve, nb::kw_only(), nb::arg("inside"), nb::arg("outside"), nb::arg("enough"),
             "Until the bound is `enough` or known to be less: the bound, the dual point theta and the solution with its "
             "shares; only an infinite bound if nothing better than `objective` is there.")
        .def("refit", &BoundRelaxations::refit, nb::arg("columns"), "The best model on these features.");
}

}  // namespace ellzero::bindings
