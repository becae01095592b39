#include "ellzero/data/stored.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "ellzero/data/reserved_memory.hpp"

namespace ellzero {
namespace {
// So many columns have room however long they are: more than a support and its candidates.
constexpr int64_t least_room = 256;
// The address space for columns at hand; memory is used as they come.
constexpr int64_t most_slots = 4096;
// With more than 1 / worth_a_pass of X to be fetched, a pass costs less.
constexpr int64_t worth_a_pass = 8;
// So many bytes may be fetched in any case.
constexpr int64_t always_fetched = int64_t{4} << 20;

// Room for columns side by side, which becomes memory as they come.
template <class T>
class Arena {
  public:
    Arena(int64_t rows, int64_t slots) : rows_(rows), memory_(static_cast<size_t>(rows * slots) * sizeof(T)) {}
    T* data() const { return static_cast<T*>(memory_.data()); }
    const T* column(int32_t slot) const { return data() + slot * rows_; }
    void fill(int32_t slot, const T* values) const {
        memory_.use(static_cast<size_t>(slot * rows_) * sizeof(T), static_cast<size_t>(rows_) * sizeof(T));
        std::copy_n(values, rows_, data() + slot * rows_);
    }

  private:
    int64_t rows_;
    ReservedMemory memory_;
};

// Which columns are at hand, and where. Columns in use are never given up; of the others, the longest unused go first.
class Slots {
  public:
    Slots(int64_t room, int64_t capacity) : room_(room), capacity_(capacity) {}

    // Marks the columns that are at hand as used: where[k] is the slot of columns[k], -1 if it is not there. Whether all are.
    bool find(std::span<const int32_t> columns, std::vector<int32_t>& where) {
        const std::lock_guard lock(mutex_);
        where.resize(columns.size());
        bool all = true;
        for (size_t k = 0; k < columns.size(); ++k) {
            const auto found = slot_of_.find(columns[k]);
            where[k] = found == slot_of_.end() ? -1 : found->second;
            if (where[k] >= 0) use(where[k]);
            else all = false;
        }
        return all;
    }
    std::vector<int32_t> missing(std::span<const int32_t> columns) const {
        const std::lock_guard lock(mutex_);
        std::vector<int32_t> out;
        std::copy_if(columns.begin(), columns.end(), std::back_inserter(out), [&](int32_t j) { return !slot_of_.contains(j); });
        return out;
    }
    // Makes room for so many columns, used by the caller and not found by others until `publish`.
    std::vector<int32_t> reserve(int64_t count) {
        const std::lock_guard lock(mutex_);
        const int64_t used = std::ssize(slots_) - std::ssize(empty_);
        if (used + count > room_) give_up(used + count - room_);
        std::vector<int32_t> out;
        while (std::ssize(out) < count) {
            if (empty_.empty()) {
                if (std::ssize(slots_) == capacity_) {
                    for (const int32_t slot : out) abandon(slot);
                    throw std::length_error("more columns of X are in use at once than there is room for (" +
                                            std::to_string(capacity_) + ")");
                }
                empty_.push_back(static_cast<int32_t>(slots_.size()));
                slots_.push_back({});
            }
            out.push_back(empty_.back());
            empty_.pop_back();
            use(out.back());
        }
        return out;
    }
    void publish(std::span<const int32_t> columns, std::span<const int32_t> where) {
        const std::lock_guard lock(mutex_);
        for (size_t k = 0; k < columns.size(); ++k) {
            slot_of_[columns[k]] = where[k];
            slots_[where[k]].column = columns[k];
        }
    }
    // Gives back reserved slots that were not filled.
    void withdraw(std::span<const int32_t> where) {
        const std::lock_guard lock(mutex_);
        for (const int32_t slot : where) abandon(slot);
    }
    // The columns that `find` found are used once less.
    void release(std::span<const int32_t> where) {
        const std::lock_guard lock(mutex_);
        for (const int32_t slot : where)
            if (slot >= 0) --slots_[slot].users;
    }

  private:
    struct Slot {
        int32_t column = -1;
        int32_t users = 0;
        uint64_t used_at = 0;
    };
    void use(int32_t slot) {
        ++slots_[slot].users;
        slots_[slot].used_at = ++clock_;
    }
    void abandon(int32_t slot) {
        slots_[slot] = {};
        empty_.push_back(slot);
    }
    // Gives up at least `count` columns, and a quarter of the room at a time, as far as nobody uses them.
    void give_up(int64_t count) {
        std::vector<int32_t> idle;
        for (size_t slot = 0; slot < slots_.size(); ++slot)
            if (slots_[slot].column >= 0 && slots_[slot].users == 0) idle.push_back(static_cast<int32_t>(slot));
        count = std::min<int64_t>(std::max(count, room_ / 4), std::ssize(idle));
        std::nth_element(idle.begin(), idle.begin() + count, idle.end(),
                         [&](int32_t a, int32_t b) { return slots_[a].used_at < slots_[b].used_at; });
        for (int64_t k = 0; k < count; ++k) {
            slot_of_.erase(slots_[idle[k]].column);
            abandon(idle[k]);
        }
    }

    const int64_t room_, capacity_;
    mutable std::mutex mutex_;
    std::unordered_map<int32_t, int32_t> slot_of_;
    std::vector<Slot> slots_;
    std::vector<int32_t> empty_;
    uint64_t clock_ = 0;
};

template <class T>
class Stored final : public Design {
  public:
    Stored(std::unique_ptr<Source> source, const StoredShape& shape)
        : Design(shape.rows, shape.columns),
          source_(std::move(source)),
          column_bytes_(shape.column_bytes, shape.column_bytes + (shape.column_bytes ? shape.columns : 0)),
          bytes_(shape.column_bytes ? std::accumulate(column_bytes_.begin(), column_bytes_.end(), int64_t{0})
                                    : shape.rows * shape.columns * static_cast<int64_t>(sizeof(T))),
          room_(std::min(std::max(shape.resident_bytes / resident(1), least_room), shape.columns)),
          capacity_(std::min(std::max(2 * room_, most_slots), shape.columns)),
          arena_(shape.rows, capacity_),
          slots_(room_, capacity_),
          at_hand_(make_dense<T>(arena_.data(), shape.rows, capacity_, shape.rows)) {}

    int64_t bytes() const override { return bytes_; }
    double entries_per_column() const override {
        if (column_bytes_.empty()) return Design::entries_per_column();
        return static_cast<double>(bytes_) / static_cast<double>(columns()) / (sizeof(T) + sizeof(int32_t));
    }
    int64_t bytes(int32_t j) const override { return column_bytes_.empty() ? resident(1) : column_bytes_[j]; }

    void all_products(const double* r, int64_t sides, const Take& take, Team&, Monitor& monitor) const override {
        source_->all_products(r, sides, take, monitor);
    }
    void all_moments(const double* w, const Take& take, Team&, Monitor& monitor) const override {
        source_->all_moments(w, take, monitor);
    }

    std::shared_ptr<const void> hold(std::span<const int32_t> columns) const override {
        return std::make_shared<Held>(*this, columns);
    }
    // A quarter leaves room for others who hold columns at the same time.
    int64_t most_held() const override { return std::max<int64_t>(room_ / 4, 1); }
    bool prefers_pass(std::span<const int32_t> columns) const override {
        const std::vector<int32_t> missing = slots_.missing(columns);
        int64_t to_fetch = 0;
        for (const int32_t j : missing) to_fetch += bytes(j);
        return to_fetch > std::max(bytes_ / worth_a_pass, always_fetched) || 2 * std::ssize(missing) > room_;
    }
    bool worth_copying(int64_t count) const override { return count <= room_ && Design::worth_copying(count); }
    bool distant() const override { return true; }
    std::unique_ptr<ScreeningTable> screening_table(const ColumnNumbers& numbers, const GainTerms& terms,
                                                    size_t directions) const override {
        return source_->screening_table(numbers, terms, directions);
    }
    std::unique_ptr<SwapTable> swap_table(const ColumnNumbers& numbers) const override { return source_->swap_table(numbers); }

    void dots(std::span<const int32_t> columns, const double* r, double* out) const override {
        at_hand_->dots(Held(*this, columns).where(), r, out);
    }
    void axpy(int32_t j, double a, double* out) const override { at_hand_->axpy(Held(*this, {&j, 1}).where()[0], a, out); }
    void add(std::span<const int32_t> columns, const double* a, double* out) const override {
        at_hand_->add(Held(*this, columns).where(), a, out);
    }
    Entries entries(int32_t j, std::vector<int32_t>& rows, std::vector<double>& values) const override {
        return at_hand_->entries(Held(*this, {&j, 1}).where()[0], rows, values);
    }
    void gram(std::span<const int32_t> columns, int64_t first, const double* mean, const double* scale, const double* d,
              double* out, Team& team) const override {
        at_hand_->gram(Held(*this, columns).where(), first, mean, scale, d, out, team);
    }
    std::unique_ptr<Design> select(std::span<const int32_t> columns) const override {
        std::vector<T> values(columns.size() * rows());
        for (int64_t start = 0; start < std::ssize(columns); start += most_held()) {
            const auto part = columns.subspan(start, std::min<int64_t>(most_held(), std::ssize(columns) - start));
            const Held held(*this, part);
            for (size_t k = 0; k < part.size(); ++k) {
                const T* from = arena_.column(held.where()[k]);
                std::copy(from, from + rows(), values.begin() + (start + static_cast<int64_t>(k)) * rows());
            }
        }
        return make_dense<T>(std::move(values), rows(), std::ssize(columns));
    }

  private:
    // Columns at hand while this lives.
    class Held {
      public:
        Held(const Stored& design, std::span<const int32_t> columns) : design_(design) { design.bring(columns, where_); }
        ~Held() { design_.slots_.release(where_); }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        const std::vector<int32_t>& where() const { return where_; }

      private:
        const Stored& design_;
        std::vector<int32_t> where_;
    };

    int64_t resident(int64_t count) const { return std::max<int64_t>(rows(), 1) * count * static_cast<int64_t>(sizeof(T)); }

    // Sets where[k] to the slot of columns[k], each of them used once more. Missing columns are fetched, by one thread at a
    // time: those that another has fetched meanwhile are there by then.
    void bring(std::span<const int32_t> columns, std::vector<int32_t>& where) const {
        if (slots_.find(columns, where)) return;
        slots_.release(where);
        const std::lock_guard lock(fetching_);
        std::vector<int32_t> present, fresh;
        if (!slots_.find(columns, present)) {
            std::vector<int32_t> missing = slots_.missing(columns);
            std::sort(missing.begin(), missing.end());
            missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
            try {
                fresh = slots_.reserve(std::ssize(missing));
                source_->fetch(missing,
                               [&](int64_t k, const void* values) { arena_.fill(fresh[k], static_cast<const T*>(values)); });
            } catch (...) {
                slots_.withdraw(fresh);
                slots_.release(present);
                throw;
            }
            slots_.publish(missing, fresh);
        }
        slots_.find(columns, where);
        slots_.release(present);
        slots_.release(fresh);
    }

    std::unique_ptr<Source> source_;
    std::vector<int64_t> column_bytes_;
    int64_t bytes_, room_, capacity_;
    Arena<T> arena_;
    mutable Slots slots_;
    mutable std::mutex fetching_;
    std::unique_ptr<Design> at_hand_;
};

}  // namespace

template <class T>
std::unique_ptr<Design> make_stored(std::unique_ptr<Source> source, const StoredShape& shape) {
    return std::make_unique<Stored<T>>(std::move(source), shape);
}
template std::unique_ptr<Design> make_stored<double>(std::unique_ptr<Source>, const StoredShape&);
template std::unique_ptr<Design> make_stored<float>(std::unique_ptr<Source>, const StoredShape&);
template std::unique_ptr<Design> make_stored<int8_t>(std::unique_ptr<Source>, const StoredShape&);

}  // namespace ellzero
