#include "ellzero/exact/class_balance.hpp"

#include <algorithm>
#include <numeric>

namespace ellzero {
namespace {

// What the classes give to each other: flows along the edges of a graph.
class Flows {
  public:
    Flows(const std::vector<int32_t>& of_row, int64_t classes, const std::vector<double>& A)
        : classes_(classes), flow_(classes * classes, 0.0), cut_(classes * classes, 0.0), excess_(classes, 0.0) {
        const int64_t n = std::ssize(of_row);
        for (int64_t l = 0; l < classes; ++l)
            for (int64_t i = 0; i < n; ++i) flow_[of_row[i] * classes + l] += A[l * n + i];
        for (int64_t a = 0; a < classes; ++a)
            for (int64_t b = 0; b < classes; ++b) {
                excess_[a] += flow_[a * classes + b];
                excess_[b] -= flow_[a * classes + b];
            }
    }

    // A flow is made of cycles and of paths from classes that give too much to classes that get too much: lowering such paths
    // suffices, and ends.
    void balance() {
        for (;;) {
            const int64_t source = std::max_element(excess_.begin(), excess_.end()) - excess_.begin();
            if (!(excess_[source] > 0.0)) return;
            const std::vector<int64_t> path = shortest_path(source);
            if (path.size() < 2) return;  // rounding alone could have led here
            double least = std::min(excess_[source], -excess_[path.back()]);
            for (size_t k = 1; k < path.size(); ++k) least = std::min(least, flow_[path[k - 1] * classes_ + path[k]]);
            for (size_t k = 1; k < path.size(); ++k) {
                flow_[path[k - 1] * classes_ + path[k]] -= least;
                cut_[path[k - 1] * classes_ + path[k]] += least;
            }
            excess_[source] -= least;
            excess_[path.back()] += least;
        }
    }

    double cut(int64_t from, int64_t to) const { return cut_[from * classes_ + to]; }

  private:
    // To the nearest class that gets too much: breadth first, heavy edges before light ones, then in the order of the classes.
    std::vector<int64_t> shortest_path(int64_t source) const {
        std::vector<int64_t> before(classes_, -1), queue{source}, next(classes_);
        before[source] = source;
        for (size_t at = 0; at < queue.size(); ++at) {
            const int64_t a = queue[at];
            std::iota(next.begin(), next.end(), int64_t{0});
            std::stable_sort(next.begin(), next.end(),
                             [&](int64_t b, int64_t c) { return flow_[a * classes_ + b] > flow_[a * classes_ + c]; });
            for (const int64_t b : next) {
                if (!(flow_[a * classes_ + b] > 0.0) || before[b] >= 0) continue;
                before[b] = a;
                queue.push_back(b);
                if (!(excess_[b] < 0.0)) continue;
                std::vector<int64_t> path{b};
                while (path.back() != source) path.push_back(before[path.back()]);
                std::reverse(path.begin(), path.end());
                return path;
            }
        }
        return {};
    }

    int64_t classes_;
    std::vector<double> flow_, cut_, excess_;
};

}  // namespace

void balance_classes(const std::vector<int32_t>& of_row, int64_t classes, std::vector<double>& A) {
    Flows flows(of_row, classes, A);
    flows.balance();
    const int64_t n = std::ssize(of_row);
    for (int64_t a = 0; a < classes; ++a)
        for (int64_t b = 0; b < classes; ++b) {
            double left = flows.cut(a, b);
            if (!(left > 0.0)) continue;
            double* given = &A[b * n];
            std::vector<int64_t> rows;
            for (int64_t i = 0; i < n; ++i)
                if (of_row[i] == a && given[i] > 0.0) rows.push_back(i);
            std::stable_sort(rows.begin(), rows.end(), [&](int64_t i, int64_t k) { return given[i] > given[k]; });
            for (const int64_t i : rows) {
                const double taken = std::min(given[i], left);
                given[i] -= taken;
                left -= taken;
                if (left == 0.0) break;
            }
        }
}

}  // namespace ellzero
