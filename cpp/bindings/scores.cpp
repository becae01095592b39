#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "ellzero/scores/card_search.hpp"
#include "ellzero/scores/exhaustion.hpp"
#include "problem.hpp"
#include "register.hpp"

namespace ellzero::bindings {
namespace {

using Clock = LatticeSearch::Clock;

// Longer than any search; what is added to the present must stay a point in time.
constexpr double longest = 1e9;

Clock::time_point after(double seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, longest)));
}

// The data and the limits of a score card, with a team of threads.
struct Scores {
    Matrix<uint8_t> x;  // p x n: a row for each column of the user's X
    Vector<double> y, w;
    ScoreRows rows;
    ScoreLimits limits;
    std::vector<RowLayer> layers;
    Team team;

    Scores(Matrix<uint8_t> columns, Vector<double> labels, Vector<double> weights, const Vector<int32_t>& low,
           const Vector<int32_t>& high, std::pair<double, double> scale, double price, int k, int ones, int threads)
        : x(std::move(columns)),
          y(std::move(labels)),
          w(std::move(weights)),
          rows(x.data(), static_cast<int64_t>(x.shape(1)), static_cast<int>(x.shape(0)), y.data(), w.data()),
          limits{to_vector(low), to_vector(high), scale.first, scale.second, price, k, ones, {}, {}},
          team(threads) {}

    void add_layer(bool positive, double worth, const Vector<int32_t>& of) {
        layers.push_back({positive, worth, to_vector(of)});
    }

    void set_rules(const std::vector<Rule>& rules) {
        std::vector<Known> known(limits.low.size(), Known::open);
        for (size_t j = 0; j < known.size(); ++j)
            if (limits.low[j] == 0 && limits.high[j] == 0) known[j] = Known::out;
        const size_t p = known.size();
        limits.rules = {rules, std::move(known)};
        limits.conflict.assign(p * p, 0);
        for (const Rule& rule : rules)
            if (rule.feature < 0 && rule.high == 1)
                for (const int32_t a : rule.members)
                    for (const int32_t b : rule.members) limits.conflict[a * p + b] |= a != b;
    }

    Card search(double seconds) {
        CardSearchOptions options;
        options.deadline = after(seconds);
        Monitor monitor(check_signals, {});
        const WithoutGil release;
        return search_card(rows, limits, options, team, monitor);
    }

    Exhaustion exhaust_supports(std::vector<int32_t> inside, std::vector<int32_t> maybe, int size, double level, double upper,
                                double share, bool listing, double seconds) {
        LatticeSearch search;
        search.level = level;
        search.upper = upper;
        search.share = share;
        search.listing = listing;
        search.deadline = after(seconds);
        Monitor monitor(check_signals, {});
        const WithoutGil release;
        return exhaust(rows, layers, limits, {std::move(inside), std::move(maybe), size}, search, team, monitor);
    }
};

}  // namespace

void register_scores(nb::module_& m) {
    nb::class_<Card>(m, "Card", "Points for some columns, with scale and intercept.")
        .def_ro("support", &Card::support)
        .def_ro("points", &Card::points)
        .def_ro("scale", &Card::scale)
        .def_ro("intercept", &Card::intercept)
        .def_ro("loss", &Card::loss, "Infinite: there is none.");
    nb::class_<LatticeResult> boxes(m, "Boxes", "A partition of the points of a support, each part with a model.");
    def_array(boxes, "low", &LatticeResult::low);
    def_array(boxes, "high", &LatticeResult::high);
    def_array(boxes, "models", &LatticeResult::models);
    def_array(boxes, "bounds", &LatticeResult::bounds);
    nb::class_<Exhaustion>(m, "Exhaustion", "All supports of one size, run through.")
        .def_ro("supports", &Exhaustion::supports)
        .def_ro("survivors", &Exhaustion::survivors)
        .def_ro("finished", &Exhaustion::finished)
        .def_ro("least", &Exhaustion::least)
        .def_ro("listed", &Exhaustion::listed)
        .def_ro("boxes", &Exhaustion::boxes)
        .def_ro("best", &Exhaustion::best);
    nb::class_<Scores>(m, "Scores", "Data and limits of a score card.")
        .def(nb::init<Matrix<uint8_t>, Vector<double>, Vector<double>, const Vector<int32_t>&, const Vector<int32_t>&,
                      std::pair<double, double>, double, int, int, int>(),
             nb::arg("x"), nb::arg("y"), nb::arg("w"), nb::kw_only(), nb::arg("low"), nb::arg("high"), nb::arg("scale"),
             nb::arg("price"), nb::arg("k"), nb::arg("ones"), nb::arg("threads"))
        .def("add_layer", &Scores::add_layer, nb::arg("positive"), nb::arg("worth"), nb::arg("rows"))
        .def("set_rules", &Scores::set_rules, nb::arg("rules"))
        .def("search", &Scores::search, nb::arg("seconds"))
        .def("exhaust", &Scores::exhaust_supports, nb::arg("inside"), nb::arg("maybe"), nb::kw_only(), nb::arg("size"),
             nb::arg("level"), nb::arg("upper"), nb::arg("share"), nb::arg("listing"), nb::arg("seconds"));
}

}  // namespace ellzero::bindings
