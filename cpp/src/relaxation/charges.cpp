#include "ellzero/relaxation/charges.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ellzero {
namespace {

// The error of a sum of shares that is allowed, relative to its limit.
constexpr double tolerance = 3e-3;
// Within this part of the limit, what a better charge would gain can be told.
constexpr double near = 0.1;
// A sum may be zero: this stands for it in the logarithm.
constexpr double least_ratio = 1e-3;
// A charge changes by at most this factor at a time; from zero it begins at so many times the least one.
constexpr double most_factor = 4.0, first_factor = 10.0;
// A search moves a charge down to this part of it at most.
constexpr double most_fall = 0.5;
// Shares fall about as 1 / charge; much faster where columns can replace each other.
constexpr double least_power = 0.02, most_power = 3.0;

}  // namespace

double Charges::constant() const {
    double total = std::isinf(room) ? 0.0 : -mu * most_shares();
    for (size_t k = 0; k < clauses.size(); ++k) total += of_pool(cheapest[k]) - clauses[k];
    return total;
}

double Charges::most_shares() const {
    auto total = static_cast<double>(clauses.size());
    if (by_price) total = std::accumulate(cheapest.begin(), cheapest.end(), 0.0);
    return room + total;
}

void ChargeSearch::begin(const Charges& now, double least, double floor) {
    groups_.resize(now.clauses.size() + 1);
    least_ = least;
    floor_ = floor;
    for (size_t k = 0; k < groups_.size(); ++k) {
        groups_[k].charge = 0.0;
        groups_[k].least = most_fall * (k == 0 ? now.mu : now.clauses[k - 1]);
    }
}

bool ChargeSearch::close(double sum, double allowed, double charge) const {
    // The Lagrangian's slope along a charge is sum - allowed, and that falls by about `allowed` while the charge doubles.
    const double off = sum - allowed;
    if (std::abs(off) <= tolerance * allowed) return true;
    return std::abs(off) <= near * allowed && charge > least_ && 0.5 * off * off * charge / allowed <= floor_;
}

double ChargeSearch::Group::next(double now, double ratio_now) {
    ratio_now = std::max(ratio_now, least_ratio);
    if (charge > 0.0) {
        const double fell = -std::log(now / charge) / std::log(ratio_now / ratio);
        if (fell > 0.0) power = std::clamp(fell, least_power, most_power);
    }
    charge = now;
    ratio = ratio_now;
    return std::max(now * std::clamp(std::pow(ratio_now, power), 1.0 / most_factor, most_factor), least);
}

bool ChargeSearch::adjust_pool(Charges& charges, const std::vector<double>& weighed) {
    if (std::isinf(charges.room) || charges.room == 0.0) return false;
    // Only members of a clause that pay as much as the pool follow its charge; the others sum to one by a charge of their own.
    double total = weighed[0];
    for (size_t k = 0; k < charges.clauses.size(); ++k) {
        const double price = charges.cheapest[k];
        total += charges.clauses[k] < charges.of_pool(price) ? charges.weight(price) : weighed[k + 1];
    }
    const double limit = charges.most_shares(), off = total - limit;
    if (close(total, limit, charges.mu) || (off < 0.0 && charges.mu <= least_)) return false;
    const double before = charges.mu;
    if (charges.mu > least_) charges.mu = groups_[0].next(charges.mu, total / limit);
    else charges.mu = first_factor * least_;
    charges.mu = std::max(charges.mu, least_);  // not zero: shares would jump to one
    return charges.mu != before;
}

bool ChargeSearch::adjust_clause(size_t k, Charges& charges, double sum) {
    double& charge = charges.clauses[k];
    const double before = charge, most = charges.most_of_clause(k);
    charge = std::clamp(charge, std::min(least_, most), most);
    const bool good = close(sum, 1.0, charge) || (sum > 1.0 ? charge >= most : charge <= least_);
    if (!good) charge = std::clamp(groups_[k + 1].next(charge, sum), std::min(least_, most), most);
    return charge != before;
}

bool ChargeSearch::adjust(Charges& charges, const std::vector<double>& sums, const std::vector<double>& weighed) {
    bool moved = adjust_pool(charges, weighed);
    for (size_t k = 0; k < charges.clauses.size(); ++k) moved = adjust_clause(k, charges, sums[k + 1]) || moved;
    return moved;
}

}  // namespace ellzero
