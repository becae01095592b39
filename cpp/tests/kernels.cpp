// Each kernel against a plain loop, at lengths around the widths of vector registers, tiles and blocks.
#include "ellzero/data/kernels.hpp"

#include <limits>

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

const std::vector<int64_t> lengths = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 511, 512, 513, 1030};

template <class T>
struct Is {
    using type = T;
};

// Calls body(Is<T>{}) for each type in which X is stored.
template <class Body>
void for_types(const Body& body) {
    body(Is<double>{});
    body(Is<float>{});
    body(Is<int8_t>{});
}

template <class T>
std::vector<T> entries(Random& random, int64_t count) {
    std::vector<T> out(count);
    for (T& x : out) x = static_cast<T>(random.uniform(-100.0, 100.0));
    return out;
}

// `count` columns of n rows whose stride leaves a gap that no kernel may read: entries there spoil every sum.
template <class T>
struct Matrix {
    Matrix(Random& random, int64_t rows, int64_t count)
        : n(rows), stride(rows + 3), values(entries<T>(random, stride * count)) {
        for (int64_t c = 0; c < count; ++c)
            for (int64_t i = n; i < stride; ++i) values[c * stride + i] = std::numeric_limits<T>::max();
    }
    const T* column(int64_t c) const { return values.data() + c * stride; }
    double at(int64_t i, int64_t c) const { return static_cast<double>(column(c)[i]); }

    int64_t n, stride;
    std::vector<T> values;
};

// A sum and what rounding may do to it.
struct Sum {
    double value = 0.0, size = 0.0;
    void add(double term) {
        value += term;
        size += std::abs(term);
    }
    double tolerance() const { return 1e-13 * size; }
};

template <class T>
Sum dot_of(const T* x, const double* r, int64_t n) {
    Sum out;
    for (int64_t i = 0; i < n; ++i) out.add(static_cast<double>(x[i]) * r[i]);
    return out;
}

constexpr double untouched = 12345.0;

}  // namespace

TEST(dots_of_all_and_of_listed_columns) {
    for_types([&](auto type) {
        using T = decltype(type)::type;
        for (const int64_t n : lengths)
            for (int64_t count = 0; count <= 9; ++count) {
                const Matrix<T> x(random, n, 12);
                const std::vector<double> r = random.numbers(n);
                std::vector<int32_t> list(count);
                for (int32_t& c : list) c = static_cast<int32_t>(random.integer(0, 11));
                std::vector<double> row(count + 1, untouched), listed(count + 1, untouched);
                kernels::dots(x.values.data(), x.stride, nullptr, 2, count, n, r.data(), row.data());
                kernels::dots(x.values.data(), x.stride, list.data(), 0, count, n, r.data(), listed.data());
                for (int64_t c = 0; c < count; ++c) {
                    const Sum one = dot_of(x.column(2 + c), r.data(), n), other = dot_of(x.column(list[c]), r.data(), n);
                    CHECK_NEAR(row[c], one.value, one.tolerance());
                    CHECK_NEAR(listed[c], other.value, other.tolerance());
                }
                CHECK(row[count] == untouched && listed[count] == untouched);
            }
    });
}

TEST(a_dot_does_not_depend_on_its_neighbours) {
    for (const int64_t n : lengths) {
        const Matrix<float> x(random, n, 9);
        const std::vector<double> r = random.numbers(n);
        std::vector<double> together(9), alone(1);
        kernels::dots(x.values.data(), x.stride, nullptr, 0, 9, n, r.data(), together.data());
        for (int64_t c = 0; c < 9; ++c) {
            kernels::dots(x.values.data(), x.stride, nullptr, c, 1, n, r.data(), alone.data());
            CHECK(alone[0] == together[c]);
        }
    }
}

TEST(products_with_several_vectors) {
    for_types([&](auto type) {
        using T = decltype(type)::type;
        for (const int64_t n : lengths) {
            if (n == 0) continue;  // the first block of rows is what writes the result
            for (const int64_t sides : {1, 2, 3, 4, 5, 8, 16}) {
                const int64_t count = random.integer(1, 9), ld = count + random.integer(0, 2);
                const Matrix<T> x(random, n, count + 1);
                const std::vector<double> r = random.numbers(n * sides);
                std::vector<double> out(ld * sides, untouched);
                kernels::products(x.values.data(), x.stride, 1, count, n, r.data(), sides, out.data(), ld);
                for (int64_t k = 0; k < sides; ++k)
                    for (int64_t c = 0; c < ld; ++c) {
                        const Sum want = c < count ? dot_of(x.column(1 + c), &r[k * n], n) : Sum{untouched};
                        CHECK_NEAR(out[k * ld + c], want.value, want.tolerance());
                    }
            }
        }
    });
}

TEST(axpy_adds_a_multiple) {
    for_types([&](auto type) {
        using T = decltype(type)::type;
        for (const int64_t n : lengths) {
            const auto x = entries<T>(random, n + 1);
            const std::vector<double> before = random.numbers(n + 1);
            std::vector<double> out = before;
            const double a = random.uniform();
            kernels::axpy(a, x.data(), n, out.data());
            for (int64_t i = 0; i < n; ++i) CHECK_NEAR(out[i], before[i] + a * static_cast<double>(x[i]), 1e-13);
            CHECK(out[n] == before[n]);
        }
    });
}

TEST(add_columns_adds_their_multiples) {
    for_types([&](auto type) {
        using T = decltype(type)::type;
        for (const int64_t n : lengths)
            for (const int64_t count : {0, 1, 3, 4, 5, 9}) {
                const Matrix<T> x(random, n, 10);
                const std::vector<double> a = random.numbers(count), before = random.numbers(n + 1);
                std::vector<int32_t> columns(count);
                for (int64_t c = 0; c < count; ++c) columns[c] = static_cast<int32_t>(9 - c);
                std::vector<double> out = before;
                kernels::add_columns(x.values.data(), x.stride, columns.data(), a.data(), count, n, out.data());
                for (int64_t i = 0; i < n; ++i) {
                    double want = before[i];
                    for (int64_t c = 0; c < count; ++c) want += a[c] * static_cast<double>(x.column(columns[c])[i]);
                    CHECK_NEAR(out[i], want, 1e-12 * (1.0 + std::abs(want)));
                }
                CHECK(out[n] == before[n]);
            }
    });
}

TEST(factor_rows_goes_on_with_a_factor) {
    for (const int64_t known : {0, 1, 2, 7, 8, 9, 33})
        for (const int64_t count : {1, 2, 3, 4}) {
            std::vector<double> factor;  // rows one after another, the diagonal away from zero
            for (int64_t b = 0; b < known; ++b) {
                for (int64_t c = 0; c < b; ++c) factor.push_back(random.uniform() - 0.5);
                factor.push_back(1.0 + random.uniform());
            }
            std::vector<std::vector<double>> want, found;
            std::vector<double*> rows(count);
            for (int64_t r = 0; r < count; ++r) {
                want.push_back(random.numbers(known));
                found.emplace_back(known, 0.0);  // want times the factor's transpose
                for (int64_t b = 0; b < known; ++b)
                    for (int64_t c = 0; c <= b; ++c) found[r][b] += want[r][c] * factor[b * (b + 1) / 2 + c];
            }
            for (int64_t r = 0; r < count; ++r) rows[r] = found[r].data();
            const int64_t done = known / 2;  // in two parts
            kernels::factor_rows(factor.data(), 0, done, count, rows.data());
            kernels::factor_rows(factor.data(), done, known, count, rows.data());
            for (int64_t r = 0; r < count; ++r)
                for (int64_t b = 0; b < known; ++b) CHECK_NEAR(found[r][b], want[r][b], 1e-6 * (1.0 + std::abs(want[r][b])));
        }
}

TEST(widen_add_scalar_sum_and_dot) {
    for (const int64_t n : lengths) {
        const auto x = entries<float>(random, n);
        const std::vector<double> a = random.numbers(n), b = random.numbers(n);
        std::vector<double> wide(n + 1, untouched), shifted = a;
        shifted.push_back(untouched);
        kernels::widen(0.5, x.data(), n, wide.data());
        kernels::add_scalar(0.25, n, shifted.data());
        Sum total;
        for (int64_t i = 0; i < n; ++i) {
            CHECK(wide[i] == 0.5 * static_cast<double>(x[i]));
            CHECK(shifted[i] == a[i] + 0.25);
            total.add(a[i]);
        }
        CHECK(wide[n] == untouched && shifted[n] == untouched);
        CHECK_NEAR(kernels::sum(a.data(), n), total.value, total.tolerance());
        const Sum product = dot_of(a.data(), b.data(), n);
        CHECK_NEAR(kernels::dot(a.data(), b.data(), n), product.value, product.tolerance());
    }
}

TEST(moments_are_added_to_what_is_there) {
    for_types([&](auto type) {
        using T = decltype(type)::type;
        for (const int64_t n : lengths) {
            const auto x = entries<T>(random, n);
            const std::vector<double> w = random.numbers(n, 0.0, 1.0);
            const double pivot = random.uniform(-100.0, 100.0);
            Sum first, second;
            first.add(3.0);
            second.add(5.0);
            double sum = 3.0, square = 5.0;
            kernels::moments(x.data(), w.data(), n, pivot, sum, square);
            for (int64_t i = 0; i < n; ++i) {
                const double z = static_cast<double>(x[i]) - pivot;
                first.add(w[i] * z);
                second.add(w[i] * z * z);
            }
            CHECK_NEAR(sum, first.value, first.tolerance());
            CHECK_NEAR(square, second.value, second.tolerance());
        }
    });
}

TEST(pack_all_and_listed_rows) {
    for_types([&](auto type) {
        using T = decltype(type)::type;
        for (const int64_t n : lengths) {
            const auto x = entries<T>(random, 2 * n);
            const std::vector<double> root = random.numbers(n, 0.0, 1.0);
            std::vector<int32_t> rows(n);
            for (int32_t& row : rows) row = static_cast<int32_t>(random.integer(0, 2 * n - 1));
            const double mean = random.uniform(), scale = random.uniform(0.5, 2.0);
            constexpr int64_t width = kernels::panel_width;
            std::vector<double> all((n + 1) * width, untouched), listed((n + 1) * width, untouched);
            kernels::pack(x.data(), root.data(), mean, scale, n, all.data());
            kernels::pack(x.data(), rows.data(), root.data(), mean, scale, n, listed.data());
            for (int64_t i = 0; i < (n + 1) * width; ++i) {
                if (const int64_t row = i / width; i % width == 0 && row < n) {
                    CHECK_NEAR(all[i], scale * root[row] * (static_cast<double>(x[row]) - mean), 1e-12);
                    CHECK_NEAR(listed[i], scale * root[row] * (static_cast<double>(x[rows[row]]) - mean), 1e-12);
                } else {
                    CHECK(all[i] == untouched && listed[i] == untouched);
                }
            }
        }
    });
}

TEST(gram_rows_fill_the_lower_triangle) {
    for (const int64_t n : lengths)
        for (int64_t order = 1; order <= 20; ++order) {
            const Matrix<double> x(random, n, order);
            constexpr int64_t width = kernels::panel_width;
            const int64_t stride = n + random.integer(0, 2), panels = (order + width - 1) / width;
            std::vector<double> packed(panels * width * stride, untouched);
            for (int64_t c = 0; c < order; ++c)
                for (int64_t i = 0; i < n; ++i) packed[(c / width * stride + i) * width + c % width] = x.column(c)[i];
            const int64_t first = random.integer(0, order), begin = random.integer(first, order);
            const int64_t end = random.integer(begin, order), ld = order + 1;
            std::vector<double> gram((order - first) * ld, untouched);
            kernels::gram_rows(packed.data(), stride, n, begin, end, first, gram.data(), ld);
            for (int64_t i = first; i < order; ++i)
                for (int64_t j = 0; j < ld; ++j) {
                    const bool inside = i >= begin && i < end && j <= i;
                    const Sum product = inside ? dot_of(x.column(i), x.column(j), n) : Sum{};
                    CHECK_NEAR(gram[(i - first) * ld + j], untouched + product.value,
                               product.tolerance() + (inside ? 1e-11 : 0.0));
                }
        }
}

TEST(triangular_systems_are_solved) {
    constexpr int64_t width = kernels::tile_width;
    for (int64_t order = 0; order <= 9; ++order) {
        std::vector<double> factor;
        for (int64_t a = 0; a < order; ++a) {
            for (int64_t b = 0; b < a; ++b) factor.push_back(random.uniform());
            factor.push_back(random.uniform(1.0, 2.0));
        }
        const auto entry = [&](int64_t a, int64_t b) { return factor[a * (a + 1) / 2 + b]; };
        const std::vector<double> right = random.numbers(order * width);
        std::vector<double> t = right, u(order * width), squares(width);
        kernels::solve_forward(factor.data(), order, t.data(), squares.data());
        kernels::solve_backward(factor.data(), order, t.data(), u.data());
        for (int64_t l = 0; l < width; ++l) {
            double square = 0.0;
            for (int64_t a = 0; a < order; ++a) {
                double forward = 0.0, backward = 0.0;  // (L t)_a and (L' u)_a
                for (int64_t b = 0; b <= a; ++b) forward += entry(a, b) * t[b * width + l];
                for (int64_t b = a; b < order; ++b) backward += entry(b, a) * u[b * width + l];
                CHECK_NEAR(forward, right[a * width + l], 1e-10);
                CHECK_NEAR(backward, t[a * width + l], 1e-8);
                square += t[a * width + l] * t[a * width + l];
            }
            CHECK_NEAR(squares[l], square, 1e-12 * square);
        }
    }
}

TEST(leading_zeros_of_a_triangular_system_are_skipped) {
    constexpr int64_t width = kernels::tile_width, order = 9;
    std::vector<double> factor;
    for (int64_t a = 0; a < order; ++a) {
        for (int64_t b = 0; b < a; ++b) factor.push_back(random.uniform());
        factor.push_back(random.uniform(1.0, 2.0));
    }
    for (int64_t first = 0; first <= order; ++first) {
        std::vector<double> t = random.numbers(order * width), squares(width), other_squares(width);
        std::fill_n(t.begin(), first * width, 0.0);
        std::vector<double> other = t;
        kernels::solve_forward(factor.data(), order, t.data(), squares.data());
        kernels::solve_forward(factor.data(), order, other.data(), other_squares.data(), first);
        CHECK(t == other);
        CHECK(squares == other_squares);
    }
}

TEST(improve_best_keeps_the_better_change) {
    constexpr int64_t width = kernels::tile_width;
    const std::vector<double> row = random.numbers(width), slope = random.numbers(width), spare = random.numbers(width),
                              left = random.numbers(width, 0.1, 1.0), before = random.numbers(width, -0.5, 0.5);
    std::vector<double> best = before;
    std::vector<int64_t> chosen(width, 7);
    const double cost = 0.1, pull = 0.3, inverse = 0.7;
    kernels::improve_best(cost, pull, inverse, row.data(), slope.data(), spare.data(), left.data(), 9, best.data(),
                          chosen.data());
    int64_t better = 0;
    for (int64_t l = 0; l < width; ++l) {
        const double strength = std::max(std::abs(slope[l] - pull * row[l]) + spare[l], 0.0);
        const double change = cost - strength * strength / (2.0 * (left[l] + inverse * row[l] * row[l]));
        CHECK_NEAR(best[l], std::min(change, before[l]), 1e-13);
        CHECK(chosen[l] == (change < before[l] ? 9 : 7));
        better += change < before[l];
    }
    CHECK(better > 0 && better < width);
}

TEST(combine_sums_multiples) {
    for (const int64_t n : lengths)
        for (int64_t terms = 0; terms <= 4; ++terms) {
            const Matrix<double> basis(random, n, terms);
            const std::vector<double> coefficient = random.numbers(terms);
            std::vector<const double*> columns(terms);
            for (int64_t k = 0; k < terms; ++k) columns[k] = basis.column(k);
            std::vector<double> out(n + 1, untouched);
            kernels::combine(columns.data(), coefficient.data(), terms, n, out.data());
            for (int64_t j = 0; j < n; ++j) {
                Sum want;
                for (int64_t k = 0; k < terms; ++k) want.add(coefficient[k] * basis.at(j, k));
                CHECK_NEAR(out[j], want.value, want.tolerance());
            }
            CHECK(out[n] == untouched);
        }
}

TEST(gains_bracket_every_slope_within_the_radius) {
    const double radius = 0.3, lambda_1 = 0.1, steepness = 0.25, ridge = 0.2;
    for (const int64_t n : lengths) {
        const std::vector<double> center = random.numbers(n), free = random.numbers(n, 0.0, 1.0);
        std::vector<double> square = random.numbers(n, 0.5, 1.0), least(n + 1, untouched), most(n + 1, untouched);
        if (n > 2) square[2] = 0.0;
        kernels::gains(center.data(), free.data(), square.data(), radius, lambda_1, steepness, ridge, n, least.data(),
                       most.data());
        CHECK(least[n] == untouched && most[n] == untouched);
        for (int64_t j = 0; j < n; ++j) {
            if (square[j] == 0.0) {
                CHECK(least[j] == 0.0 && most[j] == 0.0);
                continue;
            }
            const double reach = radius * std::sqrt(free[j]), half = 0.5 / (steepness * square[j] + ridge);
            double lowest = std::numeric_limits<double>::infinity(), highest = 0.0;
            for (int k = -20; k <= 20; ++k) {
                const double pull = std::max(std::abs(center[j] + reach * k / 20.0) - lambda_1, 0.0);
                lowest = std::min(lowest, pull * pull * half);
                highest = std::max(highest, pull * pull * half);
            }
            CHECK_NEAR(least[j], lowest, 1e-6);
            CHECK_NEAR(most[j], highest, 1e-6);
        }
    }
}
