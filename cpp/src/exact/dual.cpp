#include "ellzero/exact/dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "ellzero/data/kernels.hpp"
#include "ellzero/exact/class_balance.hpp"
#include "ellzero/exact/definite.hpp"

namespace ellzero {
namespace {

constexpr double unit = 0x1p-52;  // the spacing of numbers next to one
// Each term of the loss part may be off by so many units of its size: a few products, a logarithm, and the sum.
constexpr double rounding_of_terms = 16.0 * unit;
// Operations of a term whose results may underflow.
constexpr double operations_per_term = 8.0;
// Factor that rounds the norm up by more than its sum of squares can be off.
constexpr double rounded_up = 1.0 + 1e-12;
// Steps towards the wanted slopes: there are several, since clipping to the domain spoils each of them a little, and Newton's
// are more, which end when they hardly move the predictions.
constexpr int projections = 3, newton_steps = 10;
constexpr double hardly_moves = 1e-15;
// Beside a class that weighs less, the shares of the hinge's other rows are too small to be rounded.
constexpr double rare_class = 0x1p-6;
// Factor of the Gram matrix's diagonal: columns that repeat each other are told apart.
constexpr double ridge = 1.0 + 1e-12;
// Multiples of 2^-50 times their total can be summed without rounding.
constexpr int bits_of_grid = 50;
// Totals below 2^-901 leave no room for such a grid.
constexpr int least_exponent = -900;
// Powers of two up to 2^1000 are in range, and so are numbers that they bring near one.
constexpr int most_exponent = 1000;

// Calls add(term) for each term of the loss part of `scale` times theta.
template <class Add>
void for_terms(const Problem& problem, const std::vector<double>& theta, double scale, const Add& add) {
    const int64_t n = problem.rows() / problem.loss.coupled_outputs();
    for (int64_t i = 0; i < n; ++i)
        if (problem.w[i] != 0.0) add(problem.loss.dual_term(scale, &theta[i], &problem.y[i], problem.w[i], n));
}

// The grid whose multiples up to a total can be summed without rounding; zero if there is none.
double grid_of(double total) {
    int exponent = 0;
    std::frexp(total, &exponent);
    return exponent < least_exponent || !std::isfinite(total) ? 0.0 : std::ldexp(1.0, exponent - bits_of_grid);
}

// Makes the sum exactly zero. All entries become multiples of a grid so coarse that their sums are exact; the excess then
// leaves the heavier side, largest entries first, so that nothing leaves its domain. A point that is too small for a grid
// becomes zero, which is a dual point too.
void balance(std::span<double> theta) {
    double total = 0.0;
    for (const double t : theta) total += std::abs(t);
    const double grid = grid_of(total);
    if (grid == 0.0) return std::fill(theta.begin(), theta.end(), 0.0);
    double excess = 0.0;
    for (double& t : theta) {
        t = std::trunc(t / grid) * grid;
        excess += t;
    }
    const double side = std::copysign(1.0, excess);
    const auto larger = [&](double a, double b) { return side * a > side * b; };
    const auto take_from = [&](double& t) {
        const double taken = side * std::min(std::abs(excess), side * t);
        t -= taken;
        excess -= taken;
    };
    // One entry is nearly always enough.
    if (const auto first = std::min_element(theta.begin(), theta.end(), larger);
        first != theta.end() && side * *first >= std::abs(excess))
        return take_from(*first);
    std::vector<size_t> order;
    for (size_t i = 0; i < theta.size(); ++i)
        if (side * theta[i] > 0.0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return larger(theta[a], theta[b]); });
    for (const size_t i : order) take_from(theta[i]);
}

// The weight of the smallest class of an output.
double smallest_class(const Problem& problem) {
    const int64_t n = problem.rows() / problem.X.blocks();
    double out = 1.0;
    for (int64_t first = 0; first < problem.rows(); first += n) {
        double sides[2] = {0.0, 0.0};
        for (int64_t i = first; i < first + n; ++i) sides[problem.y[i] > 0.0] += problem.w[i];
        out = std::min({out, sides[0], sides[1]});
    }
    return out;
}

// The Gram matrix of the wanted columns and the constants with the weights d, factorised; smaller if it is singular.
struct Normal {
    Normal(const Problem& problem, const std::vector<double>& d, const std::vector<Slope>& wanted)
        : problem_(problem), wanted_(wanted), factor_(std::ssize(wanted) + problem.constants()) {
        const int64_t m = std::ssize(wanted), ld = m + problem.X.blocks(), order = factor_.order();
        for (const Slope& slope : wanted) columns.push_back(slope.column);
        std::vector<double> gram;
        problem.X.gram(columns, d.data(), gram);
        for (int64_t i = 0; i < order; ++i) {
            std::copy_n(&gram[i * ld], i + 1, factor_.row(i));
            factor_(i, i) *= ridge;
        }
        regular = factorise(factor_) == order;
    }

    // Returns the steps along the columns and the constants that take what is missing from theta's slopes and sums, and fills
    // `along` with what they do to predictions.
    std::vector<double> step(const std::vector<double>& theta, std::vector<double>& along) const {
        const int64_t m = std::ssize(wanted_);
        std::vector<double> v;
        problem_.X.dots(columns, theta.data(), v);
        for (int64_t j = 0; j < m; ++j) v[j] -= wanted_[j].value;
        v.resize(factor_.order());
        if (problem_.intercept) problem_.X.block_sums(theta.data(), &v[m]);
        solve(factor_, v);
        along.assign(problem_.rows(), 0.0);
        if (problem_.intercept) problem_.X.add_constants(&v[m], along.data());
        problem_.X.add(columns, v.data(), along.data());
        return v;
    }

    std::vector<int32_t> columns;
    bool regular = false;

  private:
    const Problem& problem_;
    const std::vector<Slope>& wanted_;
    Matrix factor_;
};

// Moves a model until the slopes of its dual point are nearly the wanted ones (and its sum is nearly zero, with an intercept):
// Newton's method. Returns w f' there.
std::vector<double> meet(const Problem& problem, const std::vector<Slope>& wanted, Tangent& at) {
    std::vector<double> r = at.r;
    if (problem.loss.couples_outputs()) return r;  // its rows move together: a slope a little off costs a little
    const Normal normal(problem, at.d, wanted);
    if (!normal.regular) return r;
    std::vector<size_t> places;
    for (const int32_t j : normal.columns) {
        const auto place = std::find(at.columns.begin(), at.columns.end(), j) - at.columns.begin();
        if (place == std::ssize(at.columns)) {
            at.columns.push_back(j);
            at.coefficients.push_back(0.0);
        }
        places.push_back(place);
    }
    std::vector<double> eta = at.eta, theta(eta.size()), along;
    bool moves = true;
    for (int k = 0; k < newton_steps && moves; ++k) {
        for (size_t i = 0; i < theta.size(); ++i) theta[i] = -r[i];
        const std::vector<double> step = normal.step(theta, along);
        for (size_t c = 0; c < places.size(); ++c) at.coefficients[places[c]] += step[c];
        for (int64_t l = 0; l < problem.constants(); ++l) at.intercept[l] += step[places.size() + l];
        moves = false;
        for (size_t i = 0; i < eta.size(); ++i) {
            moves |= std::abs(along[i]) > hardly_moves * (1.0 + std::abs(eta[i]));
            eta[i] += along[i];
        }
        problem.loss.residual(problem.rows(), eta.data(), problem.y, problem.w, r.data());
    }
    return r;
}

// The same for the hinge: moves theta along the rows that have room, d_i > 0.
void project(const Problem& problem, const std::vector<double>& d, const std::vector<Slope>& wanted,
             std::vector<double>& alpha) {
    const Normal normal(problem, d, wanted);
    if (!normal.regular) return;
    const int64_t n = problem.rows();
    std::vector<double> theta(n), along;
    for (int k = 0; k < projections; ++k) {
        for (int64_t i = 0; i < n; ++i) theta[i] = problem.w[i] * alpha[i] * problem.loss.dual_sign(problem.y[i]);
        normal.step(theta, along);
        for (int64_t i = 0; i < n; ++i)
            if (problem.w[i] > 0.0)
                alpha[i] =
                    problem.loss.clip_dual(alpha[i] - d[i] * along[i] / problem.w[i] * problem.loss.dual_sign(problem.y[i]));
    }
}

// sum_i theta_i = 0 over the rows of an output, which an intercept needs: the heavier class is scaled down. A regression loses
// its mean.
void centre(const Problem& problem, int64_t output, std::vector<double>& alpha) {
    const int64_t n = problem.rows() / problem.X.blocks(), first = output * n, last = first + n;
    if (problem.loss.regression()) {
        // Where residuals have a limit, what leaves the domain is cut off, and moves the mean again.
        bool inside = false;
        for (int k = 0; k < projections && !inside; ++k) {
            const double mean = kernels::dot(problem.w + first, alpha.data() + first, n);
            inside = true;
            for (int64_t i = first; i < last; ++i) {
                const double moved = alpha[i] - mean;
                alpha[i] = problem.loss.clip_dual(moved);
                inside &= alpha[i] == moved;
            }
        }
        return;
    }
    double side[2] = {0.0, 0.0};
    for (int64_t i = first; i < last; ++i) side[problem.y[i] > 0.0] += problem.w[i] * alpha[i];
    if (problem.heavy != 0.0 && (problem.loss.has_margin() || side[problem.heavy > 0.0] == 0.0)) {
        // Of the heavy class, 1 - y eta is nothing but rounding. Without features all its rows have the same share.
        double weight = 0.0;
        for (int64_t i = 0; i < n; ++i) weight += problem.y[i] == problem.heavy ? problem.w[i] : 0.0;
        const double share = std::min(side[problem.heavy < 0.0] / weight, 1.0);
        for (int64_t i = 0; i < n; ++i)
            if (problem.y[i] == problem.heavy) alpha[i] = problem.w[i] > 0.0 ? share : 0.0;
        return;
    }
    const bool heavy = side[1] > side[0];
    if (side[heavy] == 0.0) return;
    const double factor = side[!heavy] / side[heavy];
    for (int64_t i = first; i < last; ++i)
        if ((problem.y[i] > 0.0) == heavy) alpha[i] *= factor;
}

// Rounds alpha as a certificate keeps it.
void keep_shares(std::vector<double>& alpha, bool precise, KeptPoint& out) {
    for (double& a : alpha) {
        if (!(a >= 0.0)) a = 0.0;
        if (precise) continue;
        out.shares.push_back(static_cast<uint16_t>(std::lround(std::min(a, 1.0) * KeptPoint::whole_share)));
        a = static_cast<double>(out.shares.back()) / KeptPoint::whole_share;
    }
    if (precise) out.precise = alpha;
}

// Of softmax: theta holds the shares of the classes that are not the row's own, and becomes the dual point. What row i gives to
// class l, its weight times the share, is rounded to a grid, so that no row gives more than it weighs; with intercepts, all
// classes give as much as they get. The entry of a row's own class is what it gives in all.
void settle_classes(const Problem& problem, std::vector<double>& theta) {
    const int64_t classes = problem.loss.outputs, n = problem.rows() / classes;
    double total = 0.0;
    std::vector<int32_t> of_row(n, 0);
    for (int64_t i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int64_t l = 0; l < classes; ++l) {
            if (problem.y[l * n + i] != 0.0) of_row[i] = static_cast<int32_t>(l);
            sum += theta[l * n + i];
        }
        for (int64_t a = i; a < problem.rows(); a += n) theta[a] = problem.w[i] * (theta[a] / std::max(sum, 1.0));
    }
    for (const double t : theta) total += t;
    const double grid = grid_of(total);
    if (grid == 0.0) return std::fill(theta.begin(), theta.end(), 0.0);
    for (double& t : theta) t = std::trunc(t / grid) * grid;
    for (int64_t i = 0; i < n; ++i) {
        double sum = 0.0;
        int64_t largest = i;
        for (int64_t a = i; a < problem.rows(); a += n) {
            sum += theta[a];
            if (theta[a] > theta[largest]) largest = a;
        }
        if (sum > problem.w[i]) theta[largest] -= std::ceil((sum - problem.w[i]) / grid) * grid;
    }
    if (problem.intercept) balance_classes(of_row, classes, theta);
    for (int64_t i = 0; i < n; ++i) {
        double given = 0.0;
        for (int64_t a = i; a < problem.rows(); a += n) {
            given += theta[a];
            theta[a] = -theta[a];
        }
        theta[of_row[i] * n + i] = given;
    }
}

// What is not finite proves nothing: zero is a dual point. Shares this small, whose logarithms would lose their digits, are
// zero.
constexpr double least_share = 0x1p-900;
void make_finite(std::vector<double>& theta) {
    if (!std::all_of(theta.begin(), theta.end(), [](double t) { return std::isfinite(t); }))
        std::fill(theta.begin(), theta.end(), 0.0);
}

// Makes theta, which holds y w alpha (or the shares of classes), a dual point.
void settle(const Problem& problem, std::vector<double>& theta) {
    make_finite(theta);
    if (problem.loss.couples_outputs()) return settle_classes(problem, theta);
    const int64_t block = problem.rows() / problem.X.blocks();
    for (int64_t l = 0; l < problem.constants(); ++l) balance(std::span(theta).subspan(l * block, block));
}

// Computes theta from alpha, as a verifier does.
void set_theta(const Problem& problem, const std::vector<double>& alpha, std::vector<double>& theta) {
    const int64_t n = problem.rows();
    const bool coupled = problem.loss.couples_outputs();
    const double limit = problem.loss.regression() ? problem.loss.clip_dual(Penalty::infinity) : Penalty::infinity;
    theta.resize(n);
    for (int64_t i = 0; i < n; ++i) {
        double a = problem.loss.clip_dual(alpha[i]);
        if (!problem.loss.regression() && a < least_share) a = 0.0;
        if (std::isfinite(limit)) {  // the product must not be rounded up: beyond w delta there is no dual point
            const double most = std::nextafter(problem.w[i] * limit, 0.0);
            theta[i] = std::clamp(problem.w[i] * a, -most, most);
            continue;
        }
        theta[i] = coupled ? (problem.y[i] == 0.0 ? a : 0.0) : problem.w[i] * a * problem.loss.dual_sign(problem.y[i]);
    }
    settle(problem, theta);
}

// sqrt(sum_i theta_i^2 / w_i), rounded up. A power of two keeps the squares in range.
double norm_of(const std::vector<double>& theta, const double* w) {
    double largest = 0.0, square = 0.0;
    for (const double t : theta) largest = std::max(largest, std::abs(t));
    if (largest == 0.0) return 0.0;
    const double factor = std::ldexp(1.0, std::min(-std::ilogb(largest), most_exponent));
    for (size_t i = 0; i < theta.size(); ++i)
        if (w[i] > 0.0) square += factor * theta[i] * (factor * theta[i] / w[i]);
    return std::sqrt(square) * rounded_up / factor;
}

// Neumaier's sum, lowered by what rounding can have done to its terms.
void set_value(const Problem& problem, DualPoint& out) {
    double total = 0.0, lost = 0.0, size = 0.0;
    for_terms(problem, out.theta, 1.0, [&](const Loss::DualTerm& found) {
        const auto [term, parts] = found;
        const double next = total + term;
        lost += std::abs(total) >= std::abs(term) ? (total - next) + term : (term - next) + total;
        total = next;
        size += parts;
    });
    const double underflow =
        operations_per_term * static_cast<double>(problem.rows()) * std::numeric_limits<double>::denorm_min();
    out.loss_part = total + lost - (rounding_of_terms * size + underflow);
    if (std::isnan(out.loss_part)) out.loss_part = -Penalty::infinity;
    out.norm = norm_of(out.theta, problem.w);
}

// Adds what a diagonal makes of a bound at the model that theta, about -r, comes from.
void use_diagonal(const Problem& problem, const std::vector<double>& r, const std::shared_ptr<const Diagonal>& diagonal,
                  DualPoint& out) {
    out.kept.diagonal = diagonal;
    out.added.assign(problem.columns(), 0.0);
    for (size_t k = 0; k < diagonal->columns.size(); ++k) out.added[diagonal->columns[k]] = diagonal->curvatures[k];
    double worth = 0.0, error = 0.0;
    for (size_t k = 0; k < out.kept.columns.size(); ++k) {
        const double b = out.kept.coefficients[k];
        worth += 0.5 * out.added[out.kept.columns[k]] * b * b;
    }
    std::vector<double> coefficients(problem.columns(), 0.0);
    for (size_t k = 0; k < out.kept.columns.size(); ++k) coefficients[out.kept.columns[k]] = out.kept.coefficients[k];
    for (size_t j = 0; j < coefficients.size(); ++j) out.added[j] *= coefficients[j];
    for (int64_t i = 0; i < problem.rows(); ++i)
        if (problem.w[i] > 0.0) error += (out.theta[i] + r[i]) * ((out.theta[i] + r[i]) / problem.w[i]);
    const double change = worth * (1.0 - rounding_of_terms) - rounded_up * diagonal->price_of_errors() * error;
    out.loss_part += change - rounding_of_terms * (std::abs(out.loss_part) + std::abs(change));
}

}  // namespace

bool needs_precision(const Problem& problem, double gap) {
    if (problem.loss.has_kink() && problem.intercept && smallest_class(problem) < rare_class) return true;
    // x_j . theta may be off by about e |x_j|, with e = 2^-25, and the bound by the square of that over 4 lambda_2.
    constexpr double error = 0x1p-50, share_of_gap = 1e-3, least_gap = 1e-10;
    double largest = 0.0;
    for (int32_t j = 0; j < problem.columns(); ++j) largest = std::max(largest, problem.X.square(j));
    return error * largest >= share_of_gap * std::max(gap, least_gap) * 4.0 * problem.penalty.lambda_2;
}

void make_dual(const Problem& problem, Tangent at, const std::vector<Slope>& wanted, bool precise,
               const std::shared_ptr<const Diagonal>& diagonal, DualPoint& out) {
    const int64_t n = problem.rows();
    const bool kink = problem.loss.has_kink();
    out.kept = {};
    out.scale = 1.0;
    out.added.clear();
    // 1. alpha, in the domain of the conjugates, as the constraints want it and as a certificate keeps it.
    std::vector<double> moved;
    if (!kink && !wanted.empty()) moved = meet(problem, wanted, at);
    const std::vector<double>& r = moved.empty() ? at.r : moved;
    std::vector<double> alpha(n, 0.0);
    for (int64_t i = 0; i < n; ++i)
        if (problem.w[i] > 0.0 && std::isfinite(r[i] / problem.w[i]))
            alpha[i] = problem.loss.clip_dual(-r[i] / problem.w[i] * problem.loss.dual_sign(problem.y[i]));
    if (kink && !wanted.empty()) project(problem, at.d, wanted, alpha);
    if (kink) {
        keep_shares(alpha, precise, out.kept);
    } else {
        out.kept.columns = std::move(at.columns);
        out.kept.coefficients = std::move(at.coefficients);
        out.kept.intercept = std::move(at.intercept);
        const auto finite = [](double value) { return std::isfinite(value); };
        if (!std::all_of(out.kept.coefficients.begin(), out.kept.coefficients.end(), finite) ||
            !std::all_of(out.kept.intercept.begin(), out.kept.intercept.end(), finite)) {
            out.kept.columns.clear();
            out.kept.coefficients.clear();
            std::fill(out.kept.intercept.begin(), out.kept.intercept.end(), 0.0);
            out.kept.scale = 0.0;
            std::fill(alpha.begin(), alpha.end(), 0.0);
        }
    }
    if (!problem.loss.couples_outputs())
        for (int64_t l = 0; l < problem.constants(); ++l) centre(problem, l, alpha);
    // 2. theta, and its bound.
    set_theta(problem, alpha, out.theta);
    set_value(problem, out);
    if (kink) out.alpha.assign(alpha.begin(), alpha.end());
    if (diagonal) use_diagonal(problem, r, diagonal, out);
}

double loss_part_of_scaled(const Problem& problem, const DualPoint& dual, double t) {
    double total = 0.0;
    for_terms(problem, dual.theta, t, [&](const Loss::DualTerm& term) { total += term.value; });
    return total;
}

void scale(const Problem& problem, double t, DualPoint& dual) {
    dual.kept.scale *= t;
    dual.scale *= t;
    for (float& alpha : dual.alpha) alpha = static_cast<float>(t * static_cast<double>(alpha));
    for (size_t i = 0; i < dual.theta.size(); ++i) {
        double& theta = dual.theta[i];
        if (!problem.loss.couples_outputs()) theta *= t;
        else theta = problem.y[i] == 0.0 && problem.w[i] > 0.0 ? t * (-theta / problem.w[i]) : 0.0;
    }
    settle(problem, dual.theta);
    set_value(problem, dual);
}

}  // namespace ellzero
