// Rules on features: which of them may, or must, be in together. Features are known by their heads (see Groups).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ellzero {

struct Model;

// If `feature` is in (always, if it is -1), at least `low` and at most `high` of the members are in. All rules are of this
// form.
struct Rule {
    int32_t feature;
    int64_t low, high;
    std::vector<int32_t> members;
};

// What is known of each feature, by its head.
enum class Known : uint8_t { open, in, out };

// The rules of a problem. Copies share them.
class Rules {
  public:
    // There are none, and nothing to obey.
    Rules() = default;
    // `known` holds before any rule: unpenalized features are in, and those whose bounds leave only zero are out.
    Rules(std::vector<Rule> rules, std::vector<Known> known);

    explicit operator bool() const { return table_ != nullptr; }
    const std::vector<Rule>& list() const { return table_->rules; }
    // What holds of all supports that obey.
    const std::vector<Known>& known() const { return table_->known; }

    // Decides what follows from what is known; false if that contradicts the rules.
    bool propagate(std::vector<Known>& known) const;
    // Whether a support obeys.
    bool obeys(std::span<const int32_t> support) const;
    // The features that a feature cannot be in without, or of which it needs some: what must be at hand for it.
    std::vector<int32_t> partners(int32_t feature) const;

    // What a feature is worth: the larger, the rather it comes, or stays.
    using Worth = std::function<double(int32_t feature)>;
    // The features of a support that obeys, near one of these heads: some must be in, others must be out. Where the rules leave
    // a choice, what is worth most comes, and what is worth least leaves. Nothing if no such support was found.
    std::optional<std::vector<int32_t>> closed(std::span<const int32_t> heads, std::span<const int32_t> in,
                                               std::span<const int32_t> out, const Worth& worth) const;

    // The rules among some columns (ascending, whole groups), numbered anew; the others are out.
    Rules on(const std::vector<int32_t>& columns) const;

  private:
    struct Table {
        std::vector<Rule> rules;
        std::vector<Known> known;              // with all that follows
        std::vector<std::vector<int32_t>> of;  // the rules that a feature has a part in
        std::vector<int32_t> unconditional;
        std::vector<std::vector<int32_t>> given;  // the rules that apply if a feature is in
        bool possible = true;
    };
    bool propagate(std::vector<Known>& known, std::vector<int32_t> waiting) const;
    bool decide(std::vector<Known>& known, int32_t feature, Known as) const;
    // The first rule that applies and that a support does not obey; null if there is none. `is_in` says what is in.
    template <class IsIn>
    const Rule* broken(std::span<const int32_t> support, const IsIn& is_in) const;

    std::shared_ptr<const Table> table_;
};

}  // namespace ellzero
