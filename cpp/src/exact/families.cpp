#include "ellzero/exact/families.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// Every column begins with this part of its curvature, halved at most so often while that is more than there is. Then only
// those masses become smaller that are in the way, and at last all of them again.
constexpr double first_part = 0.05, much_smaller = 0.25, in_the_way = 0.5;
constexpr int most_halvings = 3, most_lowered = 100, most_at_last = 60;
// A mass does not grow or fall by more than that in a sweep, and the sum of a family does not lose more: the set is not convex,
// and the first columns would take all.
constexpr double most_growth = 0.5, most_loss = 0.5, most_of_sum = 0.8;
// Each sweep lowers the barrier; steps that are small beside it are left out.
constexpr double lower_barrier = 0.7, negligible = 1e-3, least_curvature = 1e-9;
// Where the margin is not met, a little less may meet it, and then less and less.
constexpr double a_little = 0.005, not_quite_all = 0.9999;
constexpr int most_tries = 6;

// The verifier's test of a form, with the margin that it needs and a little more.
bool passes(const NormalEquations& equations, const std::vector<int32_t>& in, const std::vector<int32_t>& free,
            const Form& form) {
    std::vector<int32_t> columns = in;
    columns.insert(columns.end(), free.begin(), free.end());
    const auto order = static_cast<int64_t>(columns.size()), decided = static_cast<int64_t>(in.size());
    Matrix matrix(order), rest(std::ssize(free));
    form.take_from(rest);
    double errors = 0.0;
    for (int64_t i = 0; i < order; ++i) {
        for (int64_t j = 0; j < order; ++j) matrix(i, j) = equations.gram(columns[i], columns[j]);
        matrix(i, i) += equations.ridge[columns[i]] * (i < decided ? ridge_of_in : ridge_of_others);
    }
    std::vector<double> scale(order);
    for (int64_t i = decided; i < order; ++i)
        for (int64_t j = decided; j < order; ++j) matrix(i, j) += rest(i - decided, j - decided);
    for (int64_t i = 0; i < order; ++i) {
        const double whole = matrix(i, i) + (i < decided ? 0.0 : form.masses[i - decided]), size = equations.sizes[columns[i]];
        if (!(whole > 0.0)) return false;
        scale[i] = 1.0 / std::sqrt(whole);
        errors += equations.error * size * size / whole;
    }
    const auto m = static_cast<double>(order);
    const double margin = 1.5 * (errors + 8.0 * (m + 64.0) * std::numeric_limits<double>::epsilon() * m);
    for (int64_t i = 0; i < order; ++i) {
        for (int64_t j = 0; j < order; ++j) matrix(i, j) *= scale[i] * scale[j];
        matrix(i, i) -= margin;
    }
    return factorise(matrix) == order;
}

// Ascent on the sum of all masses with a barrier, by changes of rank one: a mass t more at a column changes Q by
// s t / (s + t) a a', with a = e_j - d / s; at zero, a = d / s.
class Ascent {
  public:
    Ascent(const Matrix& gram, Form& form) : form_(form), order_(gram.order()), inverse_(order_), column_(order_) {
        Matrix rest = gram;
        form.take_from(rest);
        if (factorise(rest) < order_) return;
        inverse_ = inverse(rest);
        members_.resize(form.rest.size());
        for (int64_t j = 0; j < order_; ++j)
            if (form.family[j] >= 0) members_[form.family[j]].push_back(static_cast<int32_t>(j));
        for (size_t a = 0; a < form.rest.size(); ++a) sums_.push_back(form.total(static_cast<int32_t>(a)));
        ready_ = true;
    }
    bool ready() const { return ready_; }

    void run(int sweeps, double share) {
        double alone = 0.0, count = 0.0;
        for (int64_t j = 0; j < order_; ++j)
            if (const double gives = 1.0 / look(static_cast<int32_t>(j), form_.family[j]); gives > least_curvature) {
                alone += gives;
                count += 1.0;
            }
        double barrier = share * alone / std::max(count, 1.0);
        for (int k = 0; k < sweeps; ++k, barrier *= lower_barrier) {
            for (int64_t j = 0; j < order_; ++j) move(static_cast<int32_t>(j), form_.family[j], barrier);
            for (size_t a = 0; a < members_.size(); ++a)
                if (!members_[a].empty()) move(-1, static_cast<int32_t>(a), barrier);
        }
    }

  private:
    // Sets column_ = W a; returns a'W a.
    double look(int32_t j, int32_t family) {
        if (family < 0 || !(sums_[family] > 0.0)) {
            std::copy_n(inverse_.row(std::max(j, 0)), order_, column_.begin());
            return j < 0 ? 0.0 : column_[j];
        }
        std::fill(column_.begin(), column_.end(), 0.0);
        double peak = 0.0;
        const auto weight = [&](int32_t i) {
            const double share = form_.masses[i] / sums_[family];
            return j < 0 ? share : (i == j ? 1.0 : 0.0) - share;
        };
        for (const int32_t i : members_[family]) kernels::axpy(weight(i), inverse_.row(i), order_, column_.data());
        for (const int32_t i : members_[family]) peak += weight(i) * column_[i];
        return peak;
    }

    void move(int32_t j, int32_t family, double barrier) {
        const double peak = look(j, family);
        if (!(peak > 0.0)) return;
        double& mass = j >= 0 ? form_.masses[j] : form_.rest[family];
        double step = 1.0 / peak - barrier, more = step;
        if (family >= 0 && sums_[family] > 0.0) {
            const double sum = sums_[family];
            step = std::min(step, most_of_sum * sum);
            more = sum * step / (sum - step);
            if (mass > 0.0) more = std::min(more, most_growth * mass);
            more = std::max(more, -most_loss * mass);
            if (!(sum + more > 0.0)) return;
            step = sum * more / (sum + more);
        } else {
            step = more = std::max(step, -most_loss * mass);
        }
        if (std::abs(step) < negligible * barrier || !(step * peak < 1.0)) return;
        const double factor = step / (1.0 - step * peak);
        for (int64_t i = 0; i < order_; ++i)
            if (column_[i] != 0.0) kernels::axpy(factor * column_[i], column_.data(), order_, inverse_.row(i));
        mass += more;
        if (family >= 0) sums_[family] += more;
    }

    Form& form_;
    int64_t order_;
    Matrix inverse_;
    std::vector<double> column_, sums_;
    std::vector<std::vector<int32_t>> members_;
    bool ready_ = false;
};

}  // namespace

double Form::total(int32_t family_) const {
    double out = rest[family_];
    for (size_t j = 0; j < masses.size(); ++j)
        if (family[j] == family_) out += masses[j];
    return out;
}

void Form::scale(double factor) {
    for (double& mass : masses) mass *= factor;
    for (double& mass : rest) mass *= factor;
}

void Form::take_from(Matrix& matrix) const {
    std::vector<std::vector<int64_t>> members(rest.size());
    for (int64_t j = 0; j < std::ssize(masses); ++j) {
        matrix(j, j) -= masses[j];
        if (family[j] >= 0) members[family[j]].push_back(j);
    }
    for (size_t a = 0; a < members.size(); ++a) {
        const double sum = total(static_cast<int32_t>(a));
        if (!(sum > 0.0)) continue;
        for (const int64_t i : members[a])
            for (const int64_t j : members[a]) matrix(i, j) += masses[i] * (masses[j] / sum);
    }
}

Reduced::Reduced(const NormalEquations& equations, std::vector<int32_t> in_, std::vector<int32_t> free_, double share_of_ridge)
    : in(std::move(in_)), free(std::move(free_)), gram(std::ssize(free)), slopes(free.size()) {
    const auto u = static_cast<int64_t>(free.size()), m = static_cast<int64_t>(in.size());
    for (int64_t i = 0; i < u; ++i) {
        const double* row = equations.gram.row(free[i]);
        for (int64_t j = 0; j < u; ++j) gram(i, j) = row[free[j]];
        gram(i, i) += equations.ridge[free[i]];
        slopes[i] = equations.cross[free[i]];
    }
    Matrix inner(m), across(std::max(u, m));  // row s of `across`: row s of L^-1 G_in,free
    std::vector<double> at(m);
    for (int64_t s = 0; s < m; ++s)
        for (int64_t t = 0; t < m; ++t)
            inner(s, t) = equations.gram(in[s], in[t]) + (s == t ? share_of_ridge * equations.ridge[in[s]] : 0.0);
    factorise(inner);
    base = 0.5 * equations.square;
    for (int64_t s = 0; s < m; ++s) {
        double* line = across.row(s);
        const double* row = equations.gram.row(in[s]);
        for (int64_t j = 0; j < u; ++j) line[j] = row[free[j]];
        at[s] = equations.cross[in[s]];
        for (int64_t t = 0; t < s; ++t) {
            kernels::axpy(-inner(s, t), across.row(t), u, line);
            at[s] -= inner(s, t) * at[t];
        }
        for (int64_t j = 0; j < u; ++j) line[j] /= inner(s, s);
        at[s] /= inner(s, s);
        base -= 0.5 * at[s] * at[s];
        kernels::axpy(-at[s], line, u, slopes.data());
    }
    for (int64_t i = 0; i < u; ++i)
        for (int64_t s = 0; s < m; ++s) kernels::axpy(-across(s, i), across.row(s), u, gram.row(i));
}

Form form_of(const NormalEquations& equations, const Families& families, const std::vector<int32_t>& in,
             const std::vector<int32_t>& free) {
    Form out{std::vector<double>(free.size(), 0.0), std::vector<int32_t>(free.size(), -1),
             std::vector<double>(equations.attributes, 0.0)};
    std::vector<double> mass(equations.columns(), 0.0);
    for (size_t k = 0; k < families.columns.size(); ++k) {
        const int32_t j = families.columns[k];
        mass[j] = families.masses[k] * equations.along[j] * equations.along[j];
    }
    for (size_t i = 0; i < free.size(); ++i) {
        out.masses[i] = std::exchange(mass[free[i]], 0.0);
        out.family[i] = equations.attribute[free[i]];
    }
    for (const int32_t j : in) mass[j] = 0.0;
    for (int32_t a = 0; a < equations.attributes; ++a) out.rest[a] = families.rest[a];
    for (size_t j = 0; j < mass.size(); ++j)
        if (equations.attribute[j] >= 0) out.rest[equations.attribute[j]] += mass[j];
    return out;
}

namespace {

// The masses that make a direction's curvature too large: of an attribute that shares a level with others, say, that level's.
// `rest` is what factorise left of it when it stopped at this row.
void lower_in_the_way(const Matrix& rest, int64_t row, Form& form) {
    std::vector<double> x(form.masses.size(), 0.0), drawn(form.rest.size(), 0.0), total = form.rest, taken(x.size());
    x[row] = 1.0;
    for (int64_t i = row; i-- > 0;) {
        x[i] = -rest(row, i);
        for (int64_t k = i + 1; k < row; ++k) x[i] -= rest(k, i) * x[k];
        x[i] /= rest(i, i);
    }
    for (size_t j = 0; j < x.size(); ++j)
        if (const int32_t a = form.family[j]; a >= 0) {
            drawn[a] += form.masses[j] * x[j];
            total[a] += form.masses[j];
        }
    double most = 0.0;
    for (size_t j = 0; j < x.size(); ++j) {
        const int32_t a = form.family[j];
        const double off = x[j] - (a >= 0 && total[a] > 0.0 ? drawn[a] / total[a] : 0.0);
        taken[j] = form.masses[j] * off * off;
        most = std::max(most, taken[j]);
    }
    for (size_t j = 0; j < x.size(); ++j)
        if (taken[j] >= in_the_way * most) form.masses[j] *= much_smaller;
}

}  // namespace

Form first_form(const NormalEquations& equations, const Reduced& region) {
    const auto u = static_cast<int64_t>(region.free.size());
    Form out{std::vector<double>(u, 0.0), std::vector<int32_t>(u), std::vector<double>(equations.attributes, 0.0)};
    for (int64_t i = 0; i < u; ++i) {
        out.family[i] = equations.attribute[region.free[i]];
        if (out.family[i] >= 0) out.masses[i] = first_part * region.gram(i, i);
    }
    for (int k = 0; k < most_halvings + most_lowered + most_at_last; ++k) {
        Matrix rest = region.gram;
        for (int64_t i = 0; i < u; ++i) rest(i, i) -= equations.ridge[region.free[i]] * (1.0 - ridge_of_others);
        out.take_from(rest);
        const int64_t row = factorise(rest);
        if (row == u) return out;
        if (k >= most_halvings && k < most_halvings + most_lowered) lower_in_the_way(rest, row, out);
        else out.scale(0.5);
    }
    out.scale(0.0);
    return out;
}

std::shared_ptr<Families> improve(const NormalEquations& equations, const std::vector<int32_t>& in,
                                  const std::vector<int32_t>& free, Form& form, int sweeps, double barrier) {
    Reduced region(equations, in, free, ridge_of_in);
    for (int64_t i = 0; i < std::ssize(free); ++i) region.gram(i, i) -= equations.ridge[free[i]] * (1.0 - ridge_of_others);
    Form made = form;
    Ascent ascent(region.gram, made);
    if (!ascent.ready()) return nullptr;
    ascent.run(sweeps, barrier);
    made.scale(not_quite_all);
    double less = a_little;
    for (int tries = 0; !passes(equations, in, free, made); less *= 2.0) {
        if (++tries > most_tries || sweeps == 0) return nullptr;
        made.scale(1.0 - less);
    }
    form = made;
    std::vector<std::pair<int32_t, int32_t>> order;  // columns, and their places among the free ones; -1: in
    order.reserve(in.size() + free.size());
    for (const int32_t j : in) order.emplace_back(j, -1);
    for (size_t i = 0; i < free.size(); ++i) order.emplace_back(free[i], static_cast<int32_t>(i));
    std::sort(order.begin(), order.end());
    auto out = std::make_shared<Families>();
    out->rest = form.rest;
    for (const auto& [j, place] : order) {
        const double u = equations.along[j], ridge = equations.ridge[j] / (u * u);
        out->columns.push_back(j);
        out->masses.push_back(place < 0 ? 0.0 : form.masses[place] / (u * u));
        out->along.push_back(equations.attribute[j] < 0 ? 0.0 : u);
        out->ridges.push_back(ridge * (place < 0 ? ridge_of_in : ridge_of_others));
        out->family.push_back(std::max(equations.attribute[j], 0));
    }
    if (out->rest.empty()) out->rest.push_back(0.0);
    return out;
}

}  // namespace ellzero
