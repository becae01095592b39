#include "ellzero/support/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// Damping, relative to the diagonal, that keeps the factorisation possible when support columns are collinear.
constexpr double least_damping = 1e-11;
// A pivot below this multiple of the damping feels it, and soon the rounding of H: the columns are nearly dependent. (The hinge
// is flat between its bends, where the damping is all that holds a step: there the diagonal is the measure.)
constexpr double dependent = 100.0;
// What a column has of its own beside the others is above this part of it, or all of it is rounding.
constexpr double of_its_own = 1e-11;
// Columns with more entries than this are not copied.
constexpr int64_t most_entries = int64_t{1} << 24;
constexpr int most_cycles = 200;
// More new columns than 1 / adaptable_share of the support (but a few in any case) are not worth computing row by row.
constexpr int64_t adaptable_share = 8;
// A row's part of H is renewed when its curvature has changed by more than this share of itself and this part of the mean of
// all rows; or, closely, by more than a little of itself. Few rows do from one model to the next, and fewer near the end of a
// path, where most are far beyond the margin.
constexpr double much = 1.0;
constexpr double a_little = 0.1;
constexpr double of_the_mean = 0.01;
constexpr int64_t worth_renewing = 3;  // one row of so many
// H is made anew when its rows have together less than this share of the curvature that they had the last time.
constexpr double worn = 0.1;
// Rows of the factor that are computed together, if they are too few for a tile.
constexpr int64_t few_rows = 4;
constexpr int64_t worth_a_tile = 12;
// Of a diagonal of ones: where a group's columns depend on each other, the inverse of their part is still a matrix.
constexpr double least_pivot = 1e-12;
// A ridge below this part of a column's curvature leaves directions in which all outputs move alike as good as flat.
constexpr double flat = 1e-6;

// The factor of a matrix scaled to ones on its diagonal, and these scales.
struct SmallFactor {
    std::vector<double> factor, scale;

    SmallFactor(const std::vector<double>& matrix, int64_t m) : factor(m * m, 0.0), scale(m) {
        for (int64_t a = 0; a < m; ++a) scale[a] = 1.0 / std::sqrt(std::max(matrix[a * m + a], 1e-300));
        for (int64_t a = 0; a < m; ++a)
            for (int64_t b = 0; b <= a; ++b) {
                double rest = matrix[a * m + b] * scale[a] * scale[b];
                for (int64_t c = 0; c < b; ++c) rest -= factor[a * m + c] * factor[b * m + c];
                factor[a * m + b] = a == b ? std::sqrt(std::max(rest, least_pivot)) : rest / factor[b * m + b];
            }
    }
};

}  // namespace

std::vector<double> finite_curvatures(const Problem& problem, const Iterate& it) {
    std::vector<double> d(it.d);
    if (problem.loss.has_kink()) {
        std::vector<double> r(d.size());
        problem.broad_loss().evaluate(problem.rows(), it.eta.data(), problem.y, problem.w, r.data(), d.data());
    }
    return d;
}

double inverse_form(const std::vector<double>& matrix, const std::vector<double>& v) {
    const int64_t m = std::ssize(v);
    const auto [factor, scale] = SmallFactor(matrix, m);
    std::vector<double> x(m);
    double out = 0.0;
    for (int64_t a = 0; a < m; ++a) {
        double rest = v[a] * scale[a];
        for (int64_t b = 0; b < a; ++b) rest -= factor[a * m + b] * x[b];
        x[a] = rest / factor[a * m + a];
        out += x[a] * x[a];
    }
    return out;
}

std::vector<double> inverted(const std::vector<double>& matrix, int64_t order) {
    const int64_t m = order;
    const auto [factor, scale] = SmallFactor(matrix, m);
    std::vector<double> out(m * m, 0.0);
    std::vector<double> x(m);
    for (int64_t k = 0; k < m; ++k) {
        std::fill(x.begin(), x.end(), 0.0);
        x[k] = 1.0;
        for (int64_t a = k; a < m; ++a) {
            for (int64_t b = k; b < a; ++b) x[a] -= factor[a * m + b] * x[b];
            x[a] /= factor[a * m + a];
        }
        for (int64_t a = m; a-- > 0;) {
            for (int64_t b = a + 1; b < m; ++b) x[a] -= factor[b * m + a] * x[b];
            x[a] /= factor[a * m + a];
        }
        for (int64_t a = 0; a < m; ++a) out[a * m + k] = x[a] * scale[a] * scale[k];
    }
    return out;
}

// Where a smooth loss is flat (all rows beyond the margin), its rows keep a trace of their curvature: a damping of the
// coefficients would hide what columns have of their own.
std::vector<double> Quadratic::curvatures(const std::vector<double>& d) const {
    if (problem_.loss.has_kink() || problem_.loss.constant_curvature()) return d;
    const double trace = least_damping * problem_.loss.curvature_bound();
    std::vector<double> out(d.size());
    problem_.X.for_rows([&](int64_t first, int64_t count) {
        for (int64_t i = first; i < first + count; ++i) out[i] = d[i] + trace * problem_.w[i];
    });
    return out;
}

bool Quadratic::follow(const Iterate& it, const std::vector<double>& d, bool closely) {
    const Renewed rows = adapt(it) ? renew(d, closely) : Renewed::too_many;
    if (rows == Renewed::too_many) build(it, d);
    return rows != Renewed::none;
}

void Quadratic::build(const Iterate& it, const std::vector<double>& d) {
    d_ = curvatures(d);
    built_of_ = problem_.X.total_curvature(d_.data());
    problem_.X.gram(it.support, d_.data(), hessian_);
    forget_factor();
    set_columns(it.support);
    for (int64_t k = 0; k < size(); ++k) hessian_[k * ld_ + k] += 2.0 * problem_.penalty.lambda_2;
    if (!problem_.X.design().couples_rows()) return;
    for (int64_t i = 0; i < ld_; ++i)
        for (int64_t j = 0; j <= i; ++j) hessian_[i * ld_ + j] += gauge(i, j);
}

void Quadratic::set_columns(const std::vector<int32_t>& columns) {
    columns_ = columns;
    ld_ = size() + problem_.X.blocks();
    order_ = size() + problem_.constants();
}

double Quadratic::gauge(int64_t i, int64_t j) const {
    if (i >= size() && j >= size()) return problem_.loss.curvature_bound();
    if (i >= size() || j >= size()) return 0.0;
    const auto outputs = static_cast<int32_t>(problem_.X.blocks());
    const double curvature = problem_.entry_curvature(columns_[i]);
    const bool same = columns_[i] / outputs == columns_[j] / outputs;
    // Where an atom stays at a kink or a bound, the others may not move alike: there such a curvature is far above their own,
    // and steps would creep. With lambda_1 one of the atoms is at zero (see Refit::centre).
    const bool kinks = problem_.penalty.lambda_1 > 0.0 || problem_.penalty.boxed();
    return same && !kinks && 2.0 * problem_.penalty.lambda_2 < flat * curvature ? curvature : 0.0;
}

bool Quadratic::adapt(const Iterate& it) {
    const int64_t size = std::ssize(it.support), constants = problem_.X.blocks(), ld = size + constants, n = problem_.rows();
    if (hessian_.empty()) return false;
    if (columns_ == it.support) return true;
    std::unordered_map<int32_t, int64_t> known;
    for (size_t k = 0; k < columns_.size(); ++k) known[columns_[k]] = static_cast<int64_t>(k);
    std::vector<int64_t> from(ld, -1);  // row in the kept H, -1 if new
    std::vector<int64_t> fresh;
    for (int64_t k = 0; k < size; ++k) {
        const auto place = known.find(it.support[k]);
        if (place == known.end()) fresh.push_back(k);
        else from[k] = place->second;
    }
    for (int64_t l = 0; l < constants; ++l) from[size + l] = std::ssize(columns_) + l;
    if (std::ssize(fresh) > 2 * constants + size / adaptable_share) return false;

    std::vector<double> next(ld * ld, 0.0);
    for (int64_t i = 0; i < ld; ++i)
        for (int64_t j = 0; j <= i; ++j)
            if (from[i] >= 0 && from[j] >= 0) next[i * ld + j] = entry(from[i], from[j]);
    // Features are added at the end, so most rows of the factor stay as they are.
    int64_t same = 0;
    while (same < std::min(size, std::ssize(columns_)) && from[same] == same) ++same;
    if (orthogonal_) forget_factor();
    factored_ = std::min(factored_, same);
    set_columns(it.support);
    const bool coupled = problem_.X.design().couples_rows();
    std::vector<double> column(n), row;
    for (const int64_t k : fresh) {
        std::fill(column.begin(), column.end(), 0.0);
        problem_.X.axpy(it.support[k], 1.0, column.data());
        problem_.X.apply_curvature(d_.data(), column.data());
        problem_.X.dots(it.support, column.data(), row);
        row.resize(ld);
        problem_.X.block_sums(column.data(), &row[size]);
        row[k] += 2.0 * problem_.penalty.lambda_2;
        for (int64_t j = 0; j < ld; ++j)
            next[std::max(j, k) * ld + std::min(j, k)] = row[j] + (coupled ? gauge(std::max(j, k), std::min(j, k)) : 0.0);
    }
    hessian_ = std::move(next);
    return true;
}

Quadratic::Renewed Quadratic::renew(const std::vector<double>& d, bool closely) {
    const bool coupled = problem_.X.design().couples_rows();
    const int64_t rows = problem_.rows(), n = coupled ? rows / problem_.X.blocks() : rows;
    const std::vector<double> next = curvatures(d);
    if (!(problem_.X.total_curvature(next.data()) > worn * built_of_))
        return Renewed::too_many;  // the rounding of what was there would show
    const double total = problem_.X.sum(next.data());
    const double share = closely ? a_little : much, least = closely ? 0.0 : of_the_mean * total;  // for a weight of one
    std::vector<uint8_t> far(n, 0);
    const auto counted = Columns::sum_over(problem_.X.team(), n, [&](int64_t first, int64_t count) {
        int64_t weighty = 0;
        for (int64_t i = first; i < first + count; ++i) {
            for (int64_t k = i; k < rows; k += n)
                far[i] |= std::abs(next[k] - d_[k]) > share * std::min(next[k], d_[k]) + least * problem_.w[k];
            weighty += problem_.w[i] > 0.0;
        }
        return static_cast<double>(weighty);
    });
    std::vector<int64_t> changed;
    for (int64_t i = 0; i < n; ++i)
        if (far[i]) changed.push_back(i);
    if (std::ssize(changed) > static_cast<int64_t>(counted) / worth_renewing) return Renewed::too_many;
    if (changed.empty()) return Renewed::none;
    std::vector<double> moved(rows, 0.0), part;
    const auto add =
        [&](double sign) {  // the rows whose curvature rose, or fell; where outputs are coupled, D is not linear in d
        for (const int64_t i : changed)
            for (int64_t k = i; k < rows; k += n) {
                const double more = sign > 0.0 ? next[k] : d_[k], less = sign > 0.0 ? d_[k] : next[k];
                moved[k] = coupled ? more : std::max(more - less, 0.0);
            }
        problem_.X.gram(columns_, moved.data(), part);
        kernels::axpy(sign, part.data(), ld_ * ld_, hessian_.data());
    };
    add(1.0);
    add(-1.0);
    for (const int64_t i : changed)
        for (int64_t k = i; k < rows; k += n) d_[k] = next[k];
    forget_factor();
    return Renewed::some;
}

void Quadratic::set_damping(double relative) {
    relative = std::max(relative, least_damping);
    if (relative != relative_damping_) forget_factor();
    relative_damping_ = relative;
    // Each coordinate by its own scale, so that columns of any size are treated alike. Where the hinge is flat, or steps have
    // failed, H says too little; the scale of the data keeps the damping positive.
    const bool by_data = problem_.loss.has_kink() || relative > least_damping;
    damping_.resize(order_);
    for (int64_t k = 0; k < order_; ++k) {
        const double scale = k < size() ? problem_.entry_curvature(columns_[k]) : problem_.broad_loss().curvature_bound();
        // A zero column (an unpenalized one) has nothing but rounding in its row: it is held, and out of the others' way.
        damping_[k] = scale > 0.0 ? relative * std::max({hessian_[k * ld_ + k], by_data ? scale : 0.0, 1e-300}) : 1.0;
    }
}

bool Quadratic::kinked(const Iterate& it) const {
    return (problem_.penalty.lambda_1 > 0.0 || problem_.penalty.boxed()) && !it.support.empty();
}

double Quadratic::change(const Iterate& it, const std::vector<double>& step) const {
    double total = 0.0;
    if (orthogonal_) {  // s'Hs is a small difference of large numbers, but not in the rows
        std::vector<double> along(problem_.rows(), 0.0);
        if (problem_.intercept) problem_.X.add_constants(&step[columns_.size()], along.data());
        problem_.X.add(columns_, step.data(), along.data());
        for (size_t k = 0; k < columns_.size(); ++k) total += problem_.penalty.lambda_2 * step[k] * step[k];
        for (size_t i = 0; i < along.size(); ++i) total += 0.5 * d_[i] * along[i] * along[i];
        total += kernels::dot(gradient_.data(), step.data(), order_);
    } else {
        for (int64_t i = 0; i < order_; ++i) {
            if (step[i] == 0.0) continue;
            const double half = 0.5 * hessian_[i * ld_ + i] * step[i];
            total += step[i] * (gradient_[i] + half + kernels::dot(&hessian_[i * ld_], step.data(), i));
        }
    }
    if (problem_.penalty.lambda_1 > 0.0)
        for (size_t k = 0; k < it.beta.size(); ++k)
            total += problem_.penalty.lambda_1 * (std::abs(it.beta[k] + step[k]) - std::abs(it.beta[k]));
    return total;
}

const std::vector<double>& Quadratic::minimise(const Iterate& it, const std::vector<double>& g, double damping) {
    gradient_ = g;
    set_damping(damping);
    step_.assign(order_, 0.0);
    if (solve_face(it, it.beta)) return step_;
    // The Newton step crosses a kink or a bound: coordinate descent on the model finds the right face, Newton finishes on it.
    descend(it);
    std::vector<double> at(it.beta);
    for (size_t k = 0; k < at.size(); ++k) at[k] += step_[k];
    const std::vector<double> found = step_;
    if (!solve_face(it, at) || change(it, step_) > change(it, found)) step_ = found;
    return step_;
}

// Minimises the model over the face that contains `at` (signs kept, coordinates at zero or at a bound held there); step_ is
// relative to it.beta. False if the minimiser leaves the face.
bool Quadratic::solve_face(const Iterate& it, const std::vector<double>& at) {
    const Penalty& penalty = problem_.penalty;
    const int64_t size = std::ssize(it.support);
    const bool kinks = kinked(it);
    std::vector<int64_t> free;
    std::vector<double> held(order_, 0.0);
    std::vector<double> sign(order_, 0.0);
    for (int64_t k = 0; k < order_; ++k) {
        bool is_free = k >= size || problem_.X.square(it.support[k]) > 0.0;
        if (k < size && kinks) {
            const int32_t j = it.support[k];
            held[k] = at[k] - it.beta[k];
            sign[k] = at[k] > 0.0 ? 1.0 : (at[k] < 0.0 ? -1.0 : 0.0);
            const bool first = held[k] == 0.0;  // judged by the gradient at the iterate itself
            const double g = gradient_[k];
            if (at[k] == 0.0 && penalty.lambda_1 > 0.0) {
                is_free = first && std::abs(g) > penalty.lambda_1;
                if (is_free) sign[k] = g > 0.0 ? -1.0 : 1.0;
            }
            const double pull = g + penalty.lambda_1 * sign[k];
            if (at[k] <= penalty.low(j)) is_free = is_free && first && pull < 0.0;
            if (at[k] >= penalty.high(j)) is_free = is_free && first && pull > 0.0;
        }
        if (is_free) {
            held[k] = 0.0;
            free.push_back(k);
        }
    }
    factorise(free);
    const int64_t m = std::ssize(free);
    scratch_.resize(m);
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = free[a];
        double right = -gradient_[k] - (k < size ? penalty.lambda_1 * sign[k] : 0.0);
        if (kinks)
            for (int64_t c = 0; c < size; ++c)
                if (held[c] != 0.0) right -= entry(k, c) * held[c];
        scratch_[a] = right;
    }
    for (int64_t a = 0; a < m; ++a) scratch_[a] = (scratch_[a] - kernels::dot(row(a), scratch_.data(), a)) / row(a)[a];
    for (int64_t a = m; a-- > 0;) {
        scratch_[a] /= row(a)[a];
        kernels::axpy(-scratch_[a], row(a), a, scratch_.data());
    }
    trial_ = held;
    for (int64_t a = 0; a < m; ++a) trial_[free[a]] = scratch_[a];
    if (kinks)
        for (int64_t k = 0; k < size; ++k) {
            const double value = it.beta[k] + trial_[k];
            if (penalty.lambda_1 > 0.0 && value * sign[k] < 0.0) return false;
            if (value < penalty.low(it.support[k]) || value > penalty.high(it.support[k])) return false;
        }
    step_ = trial_;
    return true;
}

// Cyclic coordinate descent on the model with the l1 term and the box.
void Quadratic::descend(const Iterate& it) {
    const Penalty& penalty = problem_.penalty;
    const int64_t size = std::ssize(it.support);
    for (int64_t i = 0; i < order_; ++i)
        for (int64_t j = 0; j < i; ++j) hessian_[j * ld_ + i] = hessian_[i * ld_ + j];
    scratch_ = gradient_;  // the model's gradient at step_
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
        double moved = 0.0, value = 0.0;
        for (int64_t k = 0; k < order_; ++k) {
            if (k < size && problem_.X.square(it.support[k]) <= 0.0) continue;
            const double steep = hessian_[k * ld_ + k] + damping_[k];
            double change = -scratch_[k] / steep;
            if (k < size) {
                const double from = it.beta[k] + step_[k];
                const double target = from + change;
                const double soft = std::copysign(std::max(std::abs(target) - penalty.lambda_1 / steep, 0.0), target);
                change = penalty.clip(soft, it.support[k]) - from;
            }
            if (change == 0.0) continue;
            step_[k] += change;
            kernels::axpy(change, &hessian_[k * ld_], order_, scratch_.data());
            scratch_[k] += damping_[k] * change;
            moved = std::max(moved, steep * change * change);
            value = std::max(value, steep * step_[k] * step_[k]);
        }
        if (moved <= 1e-12 * value) break;
    }
    // Land exactly on zeros and bounds, so that the face is recognised.
    for (int64_t k = 0; k < size; ++k) {
        const int32_t j = it.support[k];
        const double value = it.beta[k] + step_[k];
        if (value != 0.0 && std::abs(value) < 1e-14 * std::abs(it.beta[k])) step_[k] = -it.beta[k];
        for (const double edge : {penalty.low(j), penalty.high(j)})
            if (std::isfinite(edge) && std::abs(value - edge) <= 1e-14 * std::abs(edge)) step_[k] = edge - it.beta[k];
    }
}

// Cholesky factor of H + damping on the free coordinates, rows one after another in factor_. Rows that are still right from the
// last time are kept.
void Quadratic::factorise(const std::vector<int64_t>& free) {
    const int64_t m = std::ssize(free);
    const bool whole = m == order_;
    if (orthogonal_ && whole && factored_ == size()) return;
    const int64_t start = whole && !orthogonal_ ? std::min(factored_, m) : 0;
    factor_.resize(m * (m + 1) / 2);
    if (start == 0) indefinite_ = orthogonal_ = false;
    int64_t done = 0;  // leading entries of the row that are the factor's already
    for (int64_t a = start; a < m; ++a) {
        if ((a - start) % kernels::tile_width == 0) done = solve_many_rows(free, a);
        if ((a - start) % few_rows == 0) solve_few_rows(free, a, done);
        double* target = row(a);
        const double* source = &hessian_[free[a] * ld_];
        for (int64_t b = a - (a - start) % few_rows; b < a; ++b)
            target[b] = (source[free[b]] - kernels::dot(target, row(b), b)) / row(b)[b];
        const double diagonal = source[free[a]];
        const double rest = diagonal - kernels::dot(target, target, a);
        indefinite_ |= rest < -1e-10 * diagonal;
        const double damping = damping_[free[a]];
        target[a] = std::sqrt(std::max(rest + damping, damping));
        const double felt = problem_.loss.has_kink() ? least_damping * diagonal : damping;
        orthogonal_ |= rest < dependent * felt && relative_damping_ == least_damping;
    }
    // The rows of the intercepts are the last: they move when a feature is added.
    factored_ = whole ? size() : 0;
    if (orthogonal_) orthogonal_ = orthogonalise(free);
}

// The entries of the next rows in the columns before them, for as many rows as a tile holds; returns how many entries that
// are: none if there are too few rows to fill a good part of it.
int64_t Quadratic::solve_many_rows(const std::vector<int64_t>& free, int64_t first) {
    constexpr int64_t width = kernels::tile_width;
    const int64_t count = std::min<int64_t>(width, std::ssize(free) - first);
    if (count < worth_a_tile) return 0;
    scratch_.assign(first * width, 0.0);
    for (int64_t r = 0; r < count; ++r)
        for (int64_t b = 0; b < first; ++b) scratch_[b * width + r] = hessian_[free[first + r] * ld_ + free[b]];
    double squares[width];
    kernels::solve_forward(factor_.data(), first, scratch_.data(), squares);
    for (int64_t r = 0; r < count; ++r)
        for (int64_t b = 0; b < first; ++b) row(first + r)[b] = scratch_[b * width + r];
    return first;
}

// The same for a few rows, whose first entries may be done.
void Quadratic::solve_few_rows(const std::vector<int64_t>& free, int64_t first, int64_t done) {
    double* rows[few_rows];
    const int64_t count = std::min<int64_t>(few_rows, std::ssize(free) - first);
    for (int64_t r = 0; r < count; ++r) {
        rows[r] = row(first + r);
        for (int64_t b = done; b < first; ++b) rows[r][b] = hessian_[free[first + r] * ld_ + free[b]];
    }
    kernels::factor_rows(factor_.data(), done, first, count, rows);
}

// The same factor from the columns themselves, by Gram and Schmidt's method. H has the squares of what nearly dependent columns
// have of their own, which rounding and damping hide: a minimum far along such a direction would never be reached. False (and
// nothing done) if there are more columns than rows that count, or if the columns are too large to be copied.
bool Quadratic::orthogonalise(const std::vector<int64_t>& free) {
    std::vector<int64_t> rows;
    std::vector<double> root;
    for (int64_t i = 0; i < problem_.rows(); ++i) {
        if (!(d_[i] > 0.0)) continue;
        rows.push_back(i);
        root.push_back(std::sqrt(d_[i]));
    }
    const int64_t m = std::ssize(free), n = std::ssize(rows), length = n + m;
    if (m > n || m * length > most_entries || problem_.X.design().couples_rows()) return false;
    std::vector<double> columns(m * length, 0.0), z(problem_.rows());  // below their rows stand those of the ridge
    const auto column = [&](int64_t a) { return &columns[a * length]; };
    for (int64_t a = 0; a < m; ++a) {
        const bool feature = free[a] < size();
        std::fill(z.begin(), z.end(), 0.0);
        if (feature) {
            problem_.X.axpy(columns_[free[a]], 1.0, z.data());
        } else {
            std::vector<double> constants(problem_.X.blocks(), 0.0);
            constants[free[a] - size()] = 1.0;
            problem_.X.add_constants(constants.data(), z.data());
        }
        for (int64_t i = 0; i < n; ++i) column(a)[i] = root[i] * z[rows[i]];
        if (feature) column(a)[n + a] = std::sqrt(2.0 * problem_.penalty.lambda_2);
    }
    for (int64_t a = 0; a < m; ++a) {
        double* own = column(a);
        const double rest = kernels::dot(own, own, length), whole = rest + kernels::dot(row(a), row(a), a);
        // Dependent columns share what there is to gain, by the damping.
        row(a)[a] = std::sqrt(rest > of_its_own * of_its_own * whole ? rest : rest + damping_[free[a]]);
        for (int64_t i = 0; i < length; ++i) own[i] /= row(a)[a];
        for (int64_t b = a + 1; b < m; ++b) {
            row(b)[a] = kernels::dot(own, column(b), length);
            kernels::axpy(-row(b)[a], own, length, column(b));
        }
    }
    return true;
}

void Quadratic::factorise_all() {
    set_damping(0.0);
    std::vector<int64_t> all(order_);
    std::iota(all.begin(), all.end(), int64_t{0});
    factorise(all);
}

std::vector<double> Quadratic::inverse_diagonal() {
    factorise_all();
    constexpr int64_t width = kernels::tile_width;
    std::vector<double> out(columns_.size()), tile(order_ * width);
    double squares[width];
    for (int64_t first = 0; first < size(); first += width) {  // (H^-1)_kk = ||L^-1 e_k||^2
        const int64_t count = std::min(width, size() - first);
        std::fill(tile.begin() + first * width, tile.end(), 0.0);
        for (int64_t l = 0; l < count; ++l) tile[(first + l) * width + l] = 1.0;
        kernels::solve_forward(factor_.data(), order_, tile.data(), squares, first);
        std::copy_n(squares, count, out.begin() + first);
    }
    return out;
}

std::vector<double> Quadratic::inverse_block(const std::vector<int64_t>& positions) const {
    constexpr int64_t width = kernels::tile_width;
    const int64_t m = std::ssize(positions);
    std::vector<double> columns(m * order_), tile(order_ * width), out(m * m);  // columns: L^-1 e_k, one after another
    double squares[width];
    for (int64_t start = 0; start < m; start += width) {
        const int64_t count = std::min(width, m - start);
        std::fill(tile.begin(), tile.end(), 0.0);
        for (int64_t l = 0; l < count; ++l) tile[positions[start + l] * width + l] = 1.0;
        kernels::solve_forward(factor_.data(), order_, tile.data(), squares);
        for (int64_t l = 0; l < count; ++l)
            for (int64_t a = 0; a < order_; ++a) columns[(start + l) * order_ + a] = tile[a * width + l];
    }
    for (int64_t a = 0; a < m; ++a)
        for (int64_t b = 0; b < m; ++b) out[a * m + b] = kernels::dot(&columns[a * order_], &columns[b * order_], order_);
    return out;
}

std::vector<Removal> Quadratic::removals(const Iterate& it) {
    const std::vector<double> variance = inverse_diagonal();
    std::vector<Removal> out;
    for (int64_t k = 0; k < size(); ++k) {
        const int32_t head = it.support[k];
        if (!problem_.is_head(head) || !problem_.penalty.counted(head)) continue;
        Removal& removal = out.emplace_back(head, std::vector<int64_t>{k});
        const int64_t m = std::ssize(problem_.members(head));
        for (int64_t other = 0; other < size() && m > 1; ++other)
            if (other != k && problem_.head(it.support[other]) == head) removal.positions.push_back(other);
        removal.inverse = m == 1 ? std::vector<double>{1.0 / variance[k]} : inverted(inverse_block(removal.positions), m);
        removal.pull.assign(m, 0.0);
        for (int64_t a = 0; a < m; ++a) {
            for (int64_t b = 0; b < m; ++b) removal.pull[a] += removal.inverse[a * m + b] * it.beta[removal.positions[b]];
            removal.cost += 0.5 * removal.pull[a] * it.beta[removal.positions[a]];
        }
    }
    return out;
}

}  // namespace ellzero
