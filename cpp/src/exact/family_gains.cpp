#include "ellzero/exact/family_gains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ellzero {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
constexpr double least_divisor = 1e-12;

// known[q] becomes the largest sum of known and one entry of a table, q features in all.
void merge(std::vector<double>& known, const std::vector<double>& table) {
    for (auto q = std::ssize(known) - 1; q > 0; --q)
        for (int64_t t = 1; t <= std::min<int64_t>(q, std::ssize(table) - 1); ++t)
            known[q] = std::max(known[q], known[q - t] + table[t]);
}

}  // namespace

FamilyGains::FamilyGains(const Form& form, std::vector<double> ridge, int room, double charge)
    : form_(form), ridge_(std::move(ridge)), room_(room), charge_(charge) {
    std::vector<int64_t> group_of(form.rest.size(), -1);
    for (size_t j = 0; j < form.masses.size(); ++j) {
        const int32_t family = form.family[j];
        if (family >= 0 && group_of[family] >= 0) {
            members_[group_of[family]].push_back(static_cast<int32_t>(j));
            continue;
        }
        if (family >= 0) group_of[family] = std::ssize(members_);
        members_.push_back({static_cast<int32_t>(j)});
        totals_.push_back(family >= 0 ? form.total(family) : 0.0);
    }
    tables_.resize(members_.size());
}

void FamilyGains::prepare(int64_t group, const std::vector<double>& v) {
    squares_.clear();
    lines_.clear();
    taken_.clear();
    for (const int32_t j : members_[group]) {
        const double d = form_.masses[j], all = d + ridge_[j];
        squares_.push_back(v[j] * v[j] / all);
        lines_.push_back(d * v[j] / all);
        taken_.push_back(d * d / all);
    }
}

template <class Visit>
void FamilyGains::visit(size_t first, int count, uint32_t set, double squares, double line, double divisor,
                        const Visit& visit_set) const {
    visit_set(set, count, squares, line, divisor);
    if (count == room_) return;
    for (size_t k = first; k < squares_.size(); ++k)
        visit(k + 1, count + 1, set | (uint32_t{1} << k), squares + squares_[k], line + lines_[k], divisor - taken_[k],
              visit_set);
}

void FamilyGains::tabulate(int64_t group, const std::vector<double>& v, bool each) {
    const auto& members = members_[group];
    std::vector<double>& table = tables_[group];
    table.assign(std::min<int64_t>(std::ssize(members), room_) + 1, 0.0);
    const double total = totals_[group];
    if (members.size() == 1 && !(total > 0.0)) {
        const int32_t j = members.front();
        if (table.size() > 1) table[1] = 0.5 * v[j] * v[j] / width(j) - charge_;
        if (each) {
            with_[j].assign(table.size(), none);
            without_[j].assign(table.size(), none);
            without_[j][0] = 0.0;
            if (table.size() > 1) with_[j][1] = table[1];
        }
        return;
    }
    prepare(group, v);
    std::fill(table.begin() + 1, table.end(), none);
    if (each)
        for (const int32_t j : members) {
            with_[j].assign(table.size(), none);
            without_[j].assign(table.size(), none);
        }
    visit(0, 0, 0, 0.0, 0.0, total, [&](uint32_t set, int count, double squares, double line, double divisor) {
        const double bent = total > 0.0 ? line * line / std::max(divisor, least_divisor * total) : 0.0;
        const double gain = 0.5 * (squares + bent) - charge_ * count;
        table[count] = std::max(table[count], gain);
        if (!each) return;
        for (size_t k = 0; k < members.size(); ++k) {
            double& best = ((set >> k) & 1) != 0 ? with_[members[k]][count] : without_[members[k]][count];
            best = std::max(best, gain);
        }
    });
}

double FamilyGains::compute(const std::vector<double>& v) {
    std::vector<double> known(room_ + 1, 0.0);
    for (int64_t g = 0; g < groups(); ++g) {
        tabulate(g, v, false);
        merge(known, tables_[g]);
    }
    return known.back();
}

double FamilyGains::compute(const std::vector<double>& v, std::vector<double>& less_in, std::vector<double>& less_out) {
    with_.resize(v.size());
    without_.resize(v.size());
    std::vector<std::vector<double>> before{std::vector<double>(room_ + 1, 0.0)};
    for (int64_t g = 0; g < groups(); ++g) {
        tabulate(g, v, true);
        before.push_back(before.back());
        merge(before.back(), tables_[g]);
    }
    const double best = before.back().back();
    less_in.assign(v.size(), 0.0);
    less_out.assign(v.size(), 0.0);
    std::vector<double> after(room_ + 1, 0.0), others(room_ + 1);
    for (int64_t g = groups(); g-- > 0; merge(after, tables_[g])) {
        others = before[g];
        merge(others, after);
        const auto with_others = [&](const std::vector<double>& table) {
            double sum = none;
            for (int t = 0; t < std::ssize(table); ++t) sum = std::max(sum, table[t] + others[room_ - t]);
            return std::max(best - sum, 0.0);
        };
        for (const int32_t j : members_[g]) {
            less_in[j] = with_others(with_[j]);
            less_out[j] = with_others(without_[j]);
        }
    }
    return best;
}

FamilyGains::Best FamilyGains::best(int64_t group, const std::vector<double>& v, double price,
                                    std::vector<double>& coefficients) {
    const auto& members = members_[group];
    const double total = totals_[group];
    prepare(group, v);
    Best out;
    uint32_t chosen = 0;
    double level = 0.0;
    visit(0, 0, 0, 0.0, 0.0, total, [&](uint32_t set, int count, double squares, double line, double divisor) {
        const double bent = total > 0.0 ? line / std::max(divisor, least_divisor * total) : 0.0;
        const double gain = 0.5 * (squares + line * bent) - price * count;
        if (!(gain > out.gain)) return;
        out = {gain, count};
        chosen = set;
        level = bent;
    });
    coefficients.assign(members.size(), 0.0);
    for (size_t k = 0; k < members.size(); ++k)
        if (((chosen >> k) & 1) != 0) coefficients[k] = (v[members[k]] + form_.masses[members[k]] * level) / width(members[k]);
    return out;
}

}  // namespace ellzero
