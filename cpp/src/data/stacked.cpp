#include "ellzero/data/stacked.hpp"

#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

class Stacked final : public Design {
  public:
    Stacked(const Design& X, const double* mean, const double* scale, int64_t outputs, bool coupled,
            std::shared_ptr<const void> memory = {})
        : Design(X.rows() * outputs, X.columns() * outputs),
          X_(X),
          mean_(mean),
          scale_(scale),
          outputs_(outputs),
          n_(X.rows()),
          coupled_(coupled),
          memory_(std::move(memory)) {}

    int64_t blocks() const override { return outputs_; }
    double centre(int32_t atom) const override { return mean_ ? mean_[column(atom)] * scale(column(atom)) : 0.0; }
    int64_t bytes() const override { return X_.bytes(); }
    // One read of a column serves all its atoms.
    int64_t bytes(int32_t atom) const override { return std::max<int64_t>(X_.bytes(column(atom)) / outputs_, 1); }
    double entries_per_column() const override { return X_.entries_per_column(); }
    int64_t sides_at_a_time() const override { return std::max<int64_t>(most_sides / outputs_, 1); }

    void all_products(const double* r, int64_t sides, const Take& take, Team& team, Monitor& monitor) const override {
        if (sides * outputs_ > most_sides) return products_in_parts(r, sides, take, team, monitor);
        X_.all_products(r, sides * outputs_, [&](int64_t first, int64_t count, double* values, int64_t ld) {
            std::vector<double> atoms(sides * count * outputs_);
            for (int64_t k = 0; k < sides; ++k)
                for (int64_t l = 0; l < outputs_; ++l) {
                    const double sum = sum_of(r + (k * outputs_ + l) * n_);
                    for (int64_t c = 0; c < count; ++c)
                        atoms[(k * count + c) * outputs_ + l] = seen(first + c, values[(k * outputs_ + l) * ld + c], sum);
                }
            take(first * outputs_, count * outputs_, atoms.data(), count * outputs_);
        }, team, monitor);
    }

    void all_moments(const double* w, const Take& take, Team& team, Monitor& monitor) const override {
        const int64_t atoms = columns();
        std::vector<double> found(2 * atoms, 0.0), share(n_);
        for (int64_t l = 0; l < outputs_; ++l) {
            const double total = kernels::sum(w + l * n_, n_);
            if (!(total > 0.0)) continue;
            for (int64_t i = 0; i < n_; ++i) share[i] = w[l * n_ + i] / total;
            X_.all_moments(share.data(), [&](int64_t first, int64_t count, const double* values, int64_t ld) {
                for (int64_t c = 0; c < count; ++c) {
                    const int64_t j = first + c, atom = j * outputs_ + l;
                    const double z = seen(j, values[c], 1.0), spread = scale(j) * scale(j) * values[ld + c];
                    // Of all rows, of which those of the other outputs are zero.
                    found[atom] = total * z;
                    found[atoms + atom] = total * (spread + (1.0 - total) * z * z);
                }
            }, team, monitor);
        }
        for (int64_t first = 0; first < atoms; first += piece) {
            const int64_t count = std::min(piece, atoms - first);
            take(first, count, found.data() + first, atoms);
        }
    }

    std::shared_ptr<const void> hold(std::span<const int32_t> atoms) const override { return X_.hold(columns_of(atoms)); }
    int64_t most_held() const override { return X_.most_held(); }
    bool prefers_pass(std::span<const int32_t> atoms) const override { return X_.prefers_pass(columns_of(atoms)); }
    bool worth_copying(int64_t count) const override { return X_.worth_copying((count + outputs_ - 1) / outputs_); }
    bool distant() const override { return X_.distant(); }

    void dots(std::span<const int32_t> atoms, const double* r, double* out) const override {
        for_outputs(atoms, [&](int64_t l, std::span<const int32_t> list, std::span<const int64_t> places) {
            std::vector<double> found(list.size());
            X_.dots(list, r + l * n_, found.data());
            const double sum = sum_of(r + l * n_);
            for (size_t c = 0; c < list.size(); ++c) out[places[c]] = seen(list[c], found[c], sum);
        });
    }
    void axpy(int32_t atom, double a, double* out) const override {
        const int32_t j = column(atom);
        double* block = out + atom % outputs_ * n_;
        X_.axpy(j, a * scale(j), block);
        if (mean_) kernels::add_scalar(-a * scale(j) * mean_[j], n_, block);
    }
    void add(std::span<const int32_t> atoms, const double* a, double* out) const override {
        for_outputs(atoms, [&](int64_t l, std::span<const int32_t> list, std::span<const int64_t> places) {
            std::vector<double> steps(list.size());
            double shift = 0.0;
            for (size_t c = 0; c < list.size(); ++c) {
                steps[c] = a[places[c]] * scale(list[c]);
                if (mean_) shift -= steps[c] * mean_[list[c]];
            }
            X_.add(list, steps.data(), out + l * n_);
            if (shift != 0.0) kernels::add_scalar(shift, n_, out + l * n_);
        });
    }

    Entries entries(int32_t atom, std::vector<int32_t>& rows, std::vector<double>& values) const override {
        const int32_t j = column(atom);
        const auto shift = static_cast<int32_t>(atom % outputs_ * n_);
        if (mean_) {
            values.assign(n_, -mean_[j] * scale(j));
            X_.axpy(j, scale(j), values.data());
            rows.resize(n_);
            std::iota(rows.begin(), rows.end(), shift);
            return {n_, rows.data(), values.data()};
        }
        const Entries found = X_.entries(j, rows, values);
        if (!found.rows) {
            rows.resize(n_);
            std::iota(rows.begin(), rows.end(), 0);
        }
        for (int32_t& row : rows) row += shift;
        for (double& value : values) value *= scale(j);
        return {found.count, rows.data(), values.data()};
    }

    // Of a row with parts v_l: d_l (v_l - mean), with the mean weighted by d.
    void apply_curvature(const double* d, double* v) const override {
        for (int64_t i = 0; coupled_ && i < n_; ++i) {
            double total = 0.0, mean = 0.0;
            for (int64_t a = i; a < rows(); a += n_) {
                total += d[a];
                mean += d[a] * v[a];
            }
            if (total > 0.0) mean /= total;
            for (int64_t a = i; a < rows(); a += n_) v[a] -= mean;
        }
        Design::apply_curvature(d, v);
    }
    void curvature_diagonal(const double* d, double* out) const override {
        if (!coupled_) return Design::curvature_diagonal(d, out);
        const std::vector<double> total = row_totals(d);
        for (int64_t a = 0; a < rows(); ++a) {
            const double all = total[a % n_];
            out[a] = all > 0.0 ? d[a] * ((all - d[a]) / all) : 0.0;
        }
    }
    bool couples_rows() const override { return coupled_; }

    // The products of two atoms are those of their columns, weighted by the curvature between their outputs.
    void gram(std::span<const int32_t> atoms, int64_t first, const double*, const double*, const double* d, double* out,
              Team& team) const override {
        const int64_t size = std::ssize(atoms), order = size + outputs_;
        std::fill(out, out + (order - first) * order, 0.0);
        const std::vector<int32_t> list = columns_of(atoms);
        const int64_t width = std::ssize(list), ld = width + 1;
        std::vector<int64_t> place(order, width);  // among the columns; the constants come last
        int64_t made = width;                      // the first column of which products are wanted
        std::vector<std::vector<int64_t>> of_output(outputs_);
        std::unordered_map<int32_t, int64_t> places;
        for (int64_t k = 0; k < width; ++k) places[list[k]] = k;
        for (int64_t a = 0; a < order; ++a) {
            if (a < size) place[a] = places.at(column(atoms[a]));
            if (a >= first) made = std::min(made, place[a]);
            of_output[a < size ? atoms[a] % outputs_ : a - size].push_back(a);
        }
        const auto scatter = [&](int64_t l, int64_t m, const double* found, int64_t step) {
            for (const int64_t a : of_output[l])
                for (const int64_t b : of_output[m]) {
                    const int64_t row = std::max(a, b), high = std::max(place[a], place[b]), low = std::min(place[a], place[b]);
                    if (row >= first) out[(row - first) * order + std::min(a, b)] = found[((high - made) * ld + low) * step];
                }
        };
        std::vector<double> found;
        if (coupled_) {
            const int64_t kinds = outputs_ * (outputs_ + 1) / 2;
            coupled_gram(list, made, d, found, team);
            for (int64_t l = 0, kind = 0; l < outputs_; ++l)
                for (int64_t m = 0; m <= l; ++m, ++kind) scatter(l, m, &found[kind], kinds);
            return;
        }
        std::vector<double> mean, scales;
        for (const int32_t j : list) {
            mean.push_back(mean_ ? mean_[j] : 0.0);
            scales.push_back(scale(j));
        }
        found.resize((ld - made) * ld);
        for (int64_t l = 0; l < outputs_; ++l) {
            X_.gram(list, made, mean.data(), scales.data(), d + l * n_, found.data(), team);
            scatter(l, l, found.data(), 1);
        }
    }

    // Some columns with all their atoms, copied.
    std::unique_ptr<Design> select(std::span<const int32_t> atoms) const override {
        struct Memory {
            std::unique_ptr<Design> X;
            std::vector<double> means, scales;
        };
        const std::vector<int32_t> list = columns_of(atoms);
        const auto memory = std::make_shared<Memory>(Memory{X_.select(list), {}, {}});
        for (const int32_t j : list) {
            if (mean_) memory->means.push_back(mean_[j]);
            memory->scales.push_back(scale(j));
        }
        return std::make_unique<Stacked>(*memory->X, mean_ ? memory->means.data() : nullptr, memory->scales.data(), outputs_,
                                         coupled_, memory);
    }

  private:
    static constexpr int64_t piece = 1024;  // atoms that are handed over at a time

    int32_t column(int32_t atom) const { return static_cast<int32_t>(atom / outputs_); }
    double scale(int64_t j) const { return scale_ ? scale_[j] : 1.0; }
    // z_j . r from x_j . r and the sum of r
    double seen(int64_t j, double product, double sum) const { return (product - (mean_ ? mean_[j] * sum : 0.0)) * scale(j); }
    double sum_of(const double* r) const { return mean_ ? kernels::sum(r, n_) : 0.0; }
    // sum_l d_l of every row
    std::vector<double> row_totals(const double* d) const {
        std::vector<double> total(d, d + n_);
        for (int64_t l = 1; l < outputs_; ++l) kernels::axpy(1.0, d + l * n_, n_, total.data());
        return total;
    }

    // For each pair of columns (the constant last) from row `made` on, and each pair of outputs l >= m, one after another:
    // sum_i z_i z'_i D_i,lm. The products z z' of a few pairs of columns are multiplied with the curvatures of all pairs of
    // outputs, some rows at a time: both stay in the cache.
    void coupled_gram(std::span<const int32_t> list, int64_t made, const double* d, std::vector<double>& out,
                      Team& team) const {
        constexpr int64_t rows_at_a_time = 512, pairs_at_a_time = 32;
        const int64_t ld = std::ssize(list) + 1, kinds = outputs_ * (outputs_ + 1) / 2;
        struct Pair {
            int64_t high, low;
        };
        std::vector<Pair> pairs;
        for (int64_t high = made; high < ld; ++high)
            for (int64_t low = 0; low <= high; ++low) pairs.push_back({high, low});
        std::vector<int64_t> used;  // rows with weight
        const std::vector<double> totals = row_totals(d);
        for (int64_t i = 0; i < n_; ++i)
            if (totals[i] > 0.0) used.push_back(i);
        const int64_t rows = std::ssize(used);
        std::vector<double> z(ld * rows, 1.0), whole(n_);
        for (int64_t k = 0; k + 1 < ld; ++k) {
            const int32_t j = list[k];
            std::ranges::fill(whole, mean_ ? -scale(j) * mean_[j] : 0.0);
            X_.axpy(j, scale(j), whole.data());
            for (int64_t i = 0; i < rows; ++i) z[k * rows + i] = whole[used[i]];
        }
        out.assign((ld - made) * ld * kinds, 0.0);
        std::vector<double> curved(kinds * rows_at_a_time);
        for (int64_t start = 0; start < rows; start += rows_at_a_time) {
            const int64_t count = std::min(rows_at_a_time, rows - start);
            for (int64_t l = 0, kind = 0; l < outputs_; ++l)
                for (int64_t m = 0; m <= l; ++m, ++kind) {
                    double* to = &curved[kind * count];
                    for (int64_t k = 0; k < count; ++k) {
                        const int64_t i = used[start + k];
                        const double own = d[l * n_ + i], share = own / totals[i];
                        to[k] = l == m ? share * (totals[i] - own) : -share * d[m * n_ + i];
                    }
                }
            team.run(std::ssize(pairs), pairs_at_a_time, [&](int64_t begin, int64_t end, int) {
                std::vector<double> both(pairs_at_a_time * count), values(most_sides * pairs_at_a_time);
                for (int64_t k = begin; k < end; ++k) {
                    const double *a = &z[pairs[k].high * rows + start], *b = &z[pairs[k].low * rows + start];
                    double* to = &both[(k - begin) * count];
                    for (int64_t i = 0; i < count; ++i) to[i] = a[i] * b[i];
                }
                for (int64_t kind = 0; kind < kinds; kind += most_sides) {
                    const int64_t sides = std::min(most_sides, kinds - kind);
                    kernels::products(both.data(), count, 0, end - begin, count, &curved[kind * count], sides, values.data(),
                                      pairs_at_a_time);
                    for (int64_t k = begin; k < end; ++k)
                        for (int64_t side = 0; side < sides; ++side)
                            out[((pairs[k].high - made) * ld + pairs[k].low) * kinds + kind + side] +=
                                values[side * pairs_at_a_time + k - begin];
                }
            }, std::ssize(pairs) * kinds * count / 4);
        }
    }

    // The columns of some atoms, each once, in the order of their first atoms.
    std::vector<int32_t> columns_of(std::span<const int32_t> atoms) const {
        std::vector<int32_t> out;
        std::unordered_set<int32_t> known;
        for (const int32_t atom : atoms) {
            const int32_t j = column(atom);
            if ((out.empty() || out.back() != j) && known.insert(j).second) out.push_back(j);
        }
        return out;
    }

    // Calls body(l, columns, places) for the atoms of each output, with their places in the list.
    template <class Body>
    void for_outputs(std::span<const int32_t> atoms, const Body& body) const {
        std::vector<std::vector<int32_t>> lists(outputs_);
        std::vector<std::vector<int64_t>> places(outputs_);
        for (size_t c = 0; c < atoms.size(); ++c) {
            lists[atoms[c] % outputs_].push_back(column(atoms[c]));
            places[atoms[c] % outputs_].push_back(static_cast<int64_t>(c));
        }
        for (int64_t l = 0; l < outputs_; ++l)
            if (!lists[l].empty()) body(l, std::span<const int32_t>(lists[l]), std::span<const int64_t>(places[l]));
    }

    // More vectors than one read of X serves.
    void products_in_parts(const double* r, int64_t sides, const Take& take, Team& team, Monitor& monitor) const {
        const int64_t vectors = sides * outputs_, atoms = columns();
        std::vector<double> found(sides * atoms), sums(vectors);
        for (int64_t v = 0; v < vectors; ++v) sums[v] = sum_of(r + v * n_);
        for (int64_t start = 0; start < vectors; start += most_sides) {
            const int64_t count = std::min(most_sides, vectors - start);
            X_.all_products(r + start * n_, count, [&](int64_t first, int64_t size, const double* values, int64_t ld) {
                for (int64_t v = 0; v < count; ++v) {
                    const int64_t side = (start + v) / outputs_, l = (start + v) % outputs_;
                    for (int64_t c = 0; c < size; ++c)
                        found[side * atoms + (first + c) * outputs_ + l] = seen(first + c, values[v * ld + c], sums[start + v]);
                }
            }, team, monitor);
        }
        for (int64_t first = 0; first < atoms; first += piece)
            take(first, std::min(piece, atoms - first), found.data() + first, atoms);
    }

    const Design& X_;
    const double* mean_;
    const double* scale_;
    int64_t outputs_, n_;
    bool coupled_;
    std::shared_ptr<const void> memory_;  // of what it points to, if that is its own
};

}  // namespace

std::unique_ptr<Design> make_stacked(const Design& X, const double* mean, const double* scale, int64_t outputs, bool coupled) {
    return std::make_unique<Stacked>(X, mean, scale, outputs, coupled);
}

}  // namespace ellzero
