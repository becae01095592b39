// A search as plain data: the tree that proves its bound, its open nodes, and everything else that a later process needs.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "ellzero/exact/search.hpp"
#include "register.hpp"

namespace ellzero::bindings {
namespace {

using Table = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

// The place of each node's dual point among all of them, or -1 if it has none.
std::vector<int64_t> rows_of(const TreeRecord& tree) {
    std::vector<int64_t> out;
    out.reserve(tree.points.size());
    int64_t rows = 0;
    for (const auto& point : tree.points) out.push_back(point.has_theta() ? rows++ : -1);
    return out;
}

// One entry, or several, of each dual point.
template <class T, class Give>
auto of_points(const TreeRecord& tree, const Give& give) {
    std::vector<T> out;
    for (const KeptPoint& point : tree.points)
        if (point.has_theta()) give(point, out);
    return to_numpy(std::move(out));
}

template <class T>
void def_points(nb::class_<TreeRecord>& tree, const char* name, std::vector<T> KeptPoint::* field, const char* words) {
    tree.def_prop_ro(name, [field](const TreeRecord& self) {
        return of_points<T>(self, [field](const KeptPoint& point, auto& out) {
            out.insert(out.end(), (point.*field).begin(), (point.*field).end());
        });
    }, nb::rv_policy::move, words);
}

// The alpha of dual points without a model. Those of a checkpoint may have fewer digits than those made since.
std::vector<double> precise_of(const TreeRecord& tree) {
    const bool any =
        std::any_of(tree.points.begin(), tree.points.end(), [](const auto& point) { return !point.precise.empty(); });
    std::vector<double> out;
    for (const KeptPoint& point : tree.points) {
        if (any) out.insert(out.end(), point.precise.begin(), point.precise.end());
        if (any && point.precise.empty())
            for (const uint16_t share : point.shares) out.push_back(static_cast<double>(share) / KeptPoint::whole_share);
    }
    return out;
}

template <class T>
void take(const Vector<T>& values, int64_t begin, int64_t end, std::vector<T>& out) {
    if (begin < 0 || begin > end || std::cmp_greater(end, values.size()))
        throw std::invalid_argument("the models of dual points do not match their entries");
    out.assign(values.data() + begin, values.data() + end);
}

// The diagonals of points are known by number alone.
void set_points(TreeRecord& tree, const Vector<int64_t>& row, const Vector<uint16_t>& shares, const Vector<double>& precise,
                const Vector<int64_t>& diagonal, const Vector<double>& scale, const Vector<int32_t>& columns,
                const Vector<double>& values, const Vector<int64_t>& ends, const Vector<double>& intercepts) {
    const std::vector<int64_t> rows = to_vector(row);
    const auto count = std::count_if(rows.begin(), rows.end(), [](int64_t r) { return r >= 0; });
    const auto fits = [&](const auto& list) { return static_cast<int64_t>(list.size()) == count; };
    if (!fits(diagonal) || !fits(ends) || !fits(scale)) throw std::invalid_argument("dual points and models do not match");
    const auto each = [&](const auto& list) { return count > 0 ? static_cast<int64_t>(list.size()) / count : 0; };
    std::map<int64_t, std::shared_ptr<const Diagonal>> named;
    tree.points.assign(rows.size(), {});
    for (size_t k = 0; k < rows.size(); ++k) {
        const int64_t r = rows[k];
        if (r >= count) throw std::invalid_argument("a node names a dual point that is not there");
        if (r < 0) continue;
        KeptPoint& point = tree.points[k];
        point.scale = scale(r);
        take(shares, r * each(shares), (r + 1) * each(shares), point.shares);
        take(precise, r * each(precise), (r + 1) * each(precise), point.precise);
        take(intercepts, r * each(intercepts), (r + 1) * each(intercepts), point.intercept);
        const int64_t begin = r > 0 ? ends(r - 1) : 0;
        take(columns, begin, ends(r), point.columns);
        take(values, begin, ends(r), point.coefficients);
        if (diagonal(r) < 0) continue;
        auto& name = named[diagonal(r)];
        if (!name) name = std::make_shared<const Diagonal>(Diagonal{{}, {}, diagonal(r)});
        point.diagonal = name;
    }
}

// Boxes as a table: low, high; or column, low, high of boxes that name their column.
Table table_of(const std::vector<Box>& boxes) {
    std::vector<double> out;
    for (const auto& [low, high] : boxes) out.insert(out.end(), {low, high});
    return to_numpy(std::move(out), boxes.size(), 2);
}

Table table_of(const std::vector<State::Shrunk>& boxes) {
    std::vector<double> out;
    for (const auto& [column, low, high] : boxes) out.insert(out.end(), {static_cast<double>(column), low, high});
    return to_numpy(std::move(out), boxes.size(), 3);
}

// Lists of columns as two arrays: all members, and where each list ends.
template <class Class>
void def_lists(nb::class_<Class>& bound, const std::string& name, ColumnLists Class::* field) {
    bound.def_prop_rw((name + "_members").c_str(),
                      [field](const Class& self) { return to_numpy(std::vector<int32_t>((self.*field).members())); },
                      [field](Class& self, const Vector<int32_t>& values) { (self.*field).members() = to_vector(values); },
                      nb::for_getter(nb::rv_policy::move));
    bound.def_prop_rw((name + "_ends").c_str(),
                      [field](const Class& self) { return to_numpy(std::vector<int64_t>((self.*field).ends())); },
                      [field](Class& self, const Vector<int64_t>& values) { (self.*field).ends() = to_vector(values); },
                      nb::for_getter(nb::rv_policy::move));
}

// One entry, or several, of each node with a bound of families.
template <class T, class Give>
auto of_gram_points(const TreeRecord& tree, const Give& give) {
    std::vector<T> out;
    for (size_t node = 0; node < tree.points.size(); ++node)
        if (tree.points[node].families) give(static_cast<int64_t>(node), tree.points[node], out);
    return to_numpy(std::move(out));
}

// A list of each form, one after the other.
template <class T>
void def_families(nb::class_<TreeRecord>& tree, const char* name, std::vector<T> Families::* field, const char* words) {
    tree.def_prop_ro(name, [field](const TreeRecord& self) {
        std::vector<T> out;
        for (const auto& form : self.families) out.insert(out.end(), ((*form).*field).begin(), ((*form).*field).end());
        return to_numpy(std::move(out));
    }, nb::rv_policy::move, words);
}

template <class T>
auto ends_of(const TreeRecord& tree, std::vector<T> Families::* field) {
    std::vector<int64_t> out;
    out.reserve(tree.families.size());
    int64_t end = 0;
    for (const auto& form : tree.families) out.push_back(end += std::ssize((*form).*field));
    return to_numpy(std::move(out));
}

void register_tree(nb::module_& m) {
    nb::class_<TreeRecord> tree(m, "Tree", "The tree as a certificate tells it: one entry per node, parents first.");
    tree.def(nb::init<>())
        .def_prop_ro("row", [](const TreeRecord& self) { return to_numpy(rows_of(self)); }, nb::rv_policy::move,
                     "The place of each node's dual point among all of them, -1 if it has none.")
        .def_prop_ro("precise", [](const TreeRecord& self) { return to_numpy(precise_of(self)); }, nb::rv_policy::move,
                     "|theta_i| / w_i of all dual points without a model, if some have all their digits.")
        .def_prop_ro("point_diagonal",
                     [](const TreeRecord& self) {
        return of_points<int64_t>(
            self, [](const KeptPoint& point, auto& out) { out.push_back(point.diagonal ? point.diagonal->number : -1); });
    }, nb::rv_policy::move, "The diagonal that each dual point uses, -1 if none.")
        .def_prop_ro("model_scale",
                     [](const TreeRecord& self) {
        return of_points<double>(self, [](const KeptPoint& point, auto& out) { out.push_back(point.scale); });
    }, nb::rv_policy::move, "The part of its model's slopes that each dual point is.")
        .def_prop_ro("model_ends",
                     [](const TreeRecord& self) {
        int64_t end = 0;
        return of_points<int64_t>(
            self, [&end](const KeptPoint& point, auto& out) { out.push_back(end += std::ssize(point.columns)); });
    }, nb::rv_policy::move, "The place where the model of each dual point ends.")
        .def("set_points", &set_points, nb::arg("row"), nb::arg("shares"), nb::arg("precise"), nb::arg("point_diagonal"),
             nb::arg("model_scale"), nb::arg("model_columns"), nb::arg("model_values"), nb::arg("model_ends"),
             nb::arg("model_intercept"));
    def_points(tree, "shares", &KeptPoint::shares, "The same in parts of 2^15, of those that are rounded.");
    def_points(tree, "model_columns", &KeptPoint::columns, "The columns of the models of all dual points.");
    def_points(tree, "model_values", &KeptPoint::coefficients, "Their coefficients.");
    def_points(tree, "model_intercept", &KeptPoint::intercept, "Their intercepts, one for each output.");
    def_array(tree, "parent", &TreeRecord::parent);
    def_array(tree, "branch", &TreeRecord::branch);
    def_array(tree, "side", &TreeRecord::side);
    def_lists(tree, "block", &TreeRecord::blocks);
    def_lists(tree, "diagonal", &TreeRecord::diagonals);
    def_array(tree, "diagonal_values", &TreeRecord::curvatures);
    tree.def_prop_ro("enumerated", [](const TreeRecord& self) {
        std::vector<int64_t> out = self.enumerated;
        std::sort(out.begin(), out.end());
        return to_numpy(std::move(out));
    }, nb::rv_policy::move, "The nodes of which the last features are enumerated, ascending.");
    def_families<int32_t>(tree, "form_members", &Families::columns, "The columns of all forms.");
    def_families<double>(tree, "form_masses", &Families::masses, "Their masses.");
    def_families<double>(tree, "form_along", &Families::along, "Their directions, zero of columns that are alone.");
    def_families<double>(tree, "form_ridges", &Families::ridges, "The parts of their ridges that the forms take.");
    def_families<int32_t>(tree, "form_family", &Families::family, "Their families.");
    def_families<double>(tree, "form_rest", &Families::rest, "The masses at zero of all families.");
    tree.def_prop_ro("form_ends", [](const TreeRecord& self) { return ends_of(self, &Families::columns); }, nb::rv_policy::move,
                     "The place where each form ends.")
        .def_prop_ro("rest_ends", [](const TreeRecord& self) { return ends_of(self, &Families::rest); }, nb::rv_policy::move,
                     "The place where the masses at zero of each form end.")
        .def_prop_ro("gram_node",
                     [](const TreeRecord& self) {
        return of_gram_points<int64_t>(self, [](int64_t node, const KeptPoint&, auto& out) { out.push_back(node); });
    }, nb::rv_policy::move, "The nodes that have a bound with families.")
        .def_prop_ro("gram_form",
                     [](const TreeRecord& self) {
        return of_gram_points<int64_t>(
            self, [](int64_t, const KeptPoint& point, auto& out) { out.push_back(point.families->number); });
    }, nb::rv_policy::move, "The form of each.")
        .def_prop_ro("gram_ends",
                     [](const TreeRecord& self) {
        int64_t end = 0;
        return of_gram_points<int64_t>(
            self, [&end](int64_t, const KeptPoint& point, auto& out) { out.push_back(end += std::ssize(point.columns)); });
    }, nb::rv_policy::move, "The place where its coefficients end.")
        .def_prop_ro("gram_columns",
                     [](const TreeRecord& self) {
        return of_gram_points<int32_t>(self, [](int64_t, const KeptPoint& point, auto& out) {
            out.insert(out.end(), point.columns.begin(), point.columns.end());
        });
    }, nb::rv_policy::move, "The columns of these coefficients.")
        .def_prop_ro("gram_values", [](const TreeRecord& self) {
        return of_gram_points<double>(self, [](int64_t, const KeptPoint& point, auto& out) {
            out.insert(out.end(), point.coefficients.begin(), point.coefficients.end());
        });
    }, nb::rv_policy::move, "Their values.");
}

void register_state(nb::module_& m) {
    nb::class_<State> state(m, "State", "The region and the start that a node leaves to its children.");
    state.def(nb::init<>())
        .def_rw("mu", &State::mu)
        .def_prop_rw("outside", [](const State& self) { return to_numpy(std::vector<uint64_t>(self.out.words())); },
                     [](State& self, const Vector<uint64_t>& words) { self.out = ColumnSet(to_vector(words)); },
                     nb::for_getter(nb::rv_policy::move), "Column j is bit j % 64 of word j / 64.")
        .def_prop_rw("boxes", [](const State& self) { return table_of(self.boxes); },
                     [](State& self, const Matrix<double>& table) {
        self.boxes.clear();
        for (size_t k = 0; k < table.shape(0); ++k)
            self.boxes.push_back(
                {static_cast<int32_t>(table(k, 0)), static_cast<float>(table(k, 1)), static_cast<float>(table(k, 2))});
    }, nb::for_getter(nb::rv_policy::move), "Rows of column, low, high.");
    state.def_prop_rw("diagonal", [](const State& self) { return self.diagonal ? self.diagonal->number : -1; },
                      [](State& self, int64_t number) {
        self.diagonal = number < 0 ? nullptr : std::make_shared<const Diagonal>(Diagonal{{}, {}, number});
    }, "The number of its diagonal, -1 if it has none; a search that is restored looks it up in the tree.");
    state.def_rw("tried", &State::tried, "Columns when a diagonal was made last.");
    def_lists(state, "clause", &State::clauses);
    def_array(state, "charges", &State::charges);
    def_array(state, "columns", &State::columns);
    def_array(state, "beta", &State::beta);
    def_array(state, "intercept", &State::intercept);
    def_array(state, "shares", &State::shares);
    def_array(state, "alpha", &State::alpha);
    def_array(state, "near", &State::near);
}

void register_node(nb::module_& m) {
    nb::class_<Node>(m, "Node", "An open node: its parent's state and one decision.")
        .def(nb::init<>())
        .def_rw("id", &Node::id)
        .def_rw("depth", &Node::depth)
        .def_rw("bound", &Node::bound)
        .def_rw("state", &Node::state)
        .def_prop_rw("block", [](const Node& self) { return to_numpy(std::vector<int32_t>(self.decision.block)); },
                     [](Node& self, const Vector<int32_t>& columns) { self.decision.block = to_vector(columns); },
                     nb::for_getter(nb::rv_policy::move), "The features that were decided, none at the root.")
        .def_prop_rw("inside", [](const Node& self) { return self.decision.in; },
                     [](Node& self, bool in) { self.decision.in = in; })
        .def_rw("dives", &Node::dives)
        .def_rw("waits", &Node::waits);
}

}  // namespace

void register_snapshot(nb::module_& m) {
    register_tree(m);
    register_state(m);
    register_node(m);
    nb::class_<Search::Snapshot> snapshot(m, "Snapshot", "Everything that a later process needs to go on with a search.");
    snapshot.def(nb::init<>())
        .def_rw("incumbent", &Search::Snapshot::incumbent)
        .def_rw("tree", &Search::Snapshot::tree)
        .def_prop_rw("boxes", [](const Search::Snapshot& self) { return table_of(self.boxes); },
                     [](Search::Snapshot& self, const Matrix<double>& table) {
        self.boxes.clear();
        for (size_t k = 0; k < table.shape(0); ++k) self.boxes.push_back({table(k, 0), table(k, 1)});
    }, nb::for_getter(nb::rv_policy::move), "Rows of low, high: the root's boxes, in the numbering of the nodes.")
        .def_rw("open", &Search::Snapshot::open)
        .def_rw("closed", &Search::Snapshot::closed, "The least bound of closed leaves.")
        .def_rw("nodes_done", &Search::Snapshot::nodes_done)
        .def_rw("picks", &Search::Snapshot::picks)
        .def_rw("rooted", &Search::Snapshot::rooted);
    def_array(snapshot, "columns", &Search::Snapshot::columns);
}

}  // namespace ellzero::bindings
