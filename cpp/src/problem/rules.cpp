#include "ellzero/problem/rules.hpp"

#include <algorithm>
#include <numeric>

namespace ellzero {
namespace {

// How many members of a rule are in, and how many may still come in.
struct Count {
    int64_t in = 0, open = 0;
};

template <class IsIn, class IsOpen>
Count count(const Rule& rule, const IsIn& is_in, const IsOpen& is_open) {
    Count out;
    for (const int32_t j : rule.members) {
        out.in += is_in(j);
        out.open += is_open(j);
    }
    return out;
}

}  // namespace

Rules::Rules(std::vector<Rule> rules, std::vector<Known> known) {
    if (rules.empty()) return;
    Table table{std::move(rules), std::move(known), {}};
    table.of.resize(table.known.size());
    table.given.resize(table.known.size());
    for (size_t k = 0; k < table.rules.size(); ++k) {
        const Rule& rule = table.rules[k];
        for (const int32_t j : rule.members) table.of[j].push_back(static_cast<int32_t>(k));
        if (rule.feature >= 0) table.of[rule.feature].push_back(static_cast<int32_t>(k));
        (rule.feature >= 0 ? table.given[rule.feature] : table.unconditional).push_back(static_cast<int32_t>(k));
    }
    const auto shared = std::make_shared<Table>(std::move(table));
    table_ = shared;
    std::vector<Known> all = shared->known;
    shared->possible = propagate(all);
    shared->known = std::move(all);
}

bool Rules::propagate(std::vector<Known>& known) const {
    std::vector<int32_t> all(table_->rules.size());
    std::iota(all.begin(), all.end(), 0);
    return propagate(known, std::move(all));
}

bool Rules::propagate(std::vector<Known>& known, std::vector<int32_t> waiting) const {
    const auto set = [&](int32_t j, Known as) {
        known[j] = as;
        waiting.insert(waiting.end(), table_->of[j].begin(), table_->of[j].end());
    };
    while (!waiting.empty()) {
        const Rule& rule = table_->rules[waiting.back()];
        waiting.pop_back();
        const bool applies = rule.feature < 0 || known[rule.feature] == Known::in;
        if (!applies && known[rule.feature] == Known::out) continue;
        const auto [in, open] =
            count(rule, [&](int32_t j) { return known[j] == Known::in; }, [&](int32_t j) { return known[j] == Known::open; });
        if (in > rule.high || in + open < rule.low) {
            if (applies) return false;
            set(rule.feature, Known::out);
        } else if (applies && open > 0 && (in == rule.high || in + open == rule.low)) {
            const Known as = in == rule.high ? Known::out : Known::in;
            for (const int32_t j : rule.members)
                if (known[j] == Known::open) set(j, as);
        }
    }
    return true;
}

bool Rules::decide(std::vector<Known>& known, int32_t feature, Known as) const {
    if (known[feature] != Known::open) return known[feature] == as;
    known[feature] = as;
    return propagate(known, table_->of[feature]);
}

template <class IsIn>
const Rule* Rules::broken(std::span<const int32_t> support, const IsIn& is_in) const {
    const auto breaks = [&](int32_t k) {
        const Rule& rule = table_->rules[k];
        const auto found = std::ranges::count_if(rule.members, is_in);
        return found < rule.low || found > rule.high;
    };
    const auto first = [&](const std::vector<int32_t>& some) {
        const auto at = std::ranges::find_if(some, breaks);
        return at == some.end() ? nullptr : &table_->rules[*at];
    };
    if (const Rule* found = first(table_->unconditional)) return found;
    for (const int32_t j : support)
        if (is_in(j))
            if (const Rule* found = first(table_->given[j])) return found;
    return nullptr;
}

bool Rules::obeys(std::span<const int32_t> support) const {
    if (!table_) return true;
    std::vector<int32_t> sorted(support.begin(), support.end());
    std::ranges::sort(sorted);
    return !broken(sorted, [&](int32_t j) { return std::ranges::binary_search(sorted, j); });
}

std::vector<int32_t> Rules::partners(int32_t feature) const {
    std::vector<int32_t> out;
    if (!table_) return out;
    for (const int32_t k : table_->given[feature]) {
        const Rule& rule = table_->rules[k];
        out.insert(out.end(), rule.members.begin(), rule.members.end());
    }
    return out;
}

std::optional<std::vector<int32_t>> Rules::closed(std::span<const int32_t> heads, std::span<const int32_t> in,
                                                  std::span<const int32_t> out, const Worth& worth) const {
    std::vector<Known> known = table_->known;
    if (!table_->possible) return std::nullopt;
    for (const int32_t j : out)
        if (!decide(known, j, Known::out)) return std::nullopt;
    for (const int32_t j : in)
        if (!decide(known, j, Known::in)) return std::nullopt;
    std::vector<uint8_t> stays(known.size(), 0);
    for (const int32_t j : heads) stays[j] = 1;
    const auto is_in = [&](int32_t j) { return known[j] == Known::in || (known[j] == Known::open && stays[j]); };
    // The member that may still be decided and is worth most, or least, of those that stay.
    const auto choose = [&](const Rule& rule, bool staying) {
        int32_t best = -1;
        double most = 0.0;
        for (const int32_t j : rule.members) {
            if (known[j] != Known::open || static_cast<bool>(stays[j]) != staying) continue;
            const double value = staying ? -worth(j) : worth(j);
            if (best < 0 || value > most) {
                best = j;
                most = value;
            }
        }
        return best;
    };
    std::vector<int32_t> every(known.size());
    std::iota(every.begin(), every.end(), 0);
    while (const Rule* rule = broken(every, is_in)) {
        if (rule->feature >= 0 && known[rule->feature] == Known::open) {  // it goes with what it needs
            if (!decide(known, rule->feature, Known::out)) return std::nullopt;
            continue;
        }
        const bool many = std::ranges::count_if(rule->members, is_in) > rule->high;
        const int32_t next = choose(*rule, many);
        if (next < 0 || !decide(known, next, many ? Known::out : Known::in)) return std::nullopt;
    }
    std::erase_if(every, [&](int32_t j) { return !is_in(j); });
    return every;
}

Rules Rules::on(const std::vector<int32_t>& columns) const {
    if (!table_) return {};
    const auto place = [&](int32_t j) {
        const auto at = std::lower_bound(columns.begin(), columns.end(), j);
        return at != columns.end() && *at == j ? static_cast<int32_t>(at - columns.begin()) : -1;
    };
    std::vector<Rule> rules;
    for (const Rule& rule : table_->rules) {
        Rule next{rule.feature < 0 ? -1 : place(rule.feature), rule.low, rule.high, {}};
        if (rule.feature >= 0 && next.feature < 0) continue;
        for (const int32_t j : rule.members)
            if (const int32_t at = place(j); at >= 0) next.members.push_back(at);
        rules.push_back(std::move(next));
    }
    std::vector<Known> known;
    known.reserve(columns.size());
    for (const int32_t j : columns) known.push_back(table_->known[j]);
    return {std::move(rules), std::move(known)};
}

}  // namespace ellzero
