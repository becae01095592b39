#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

#include "ellzero/data/stacked.hpp"
#include "problem.hpp"
#include "register.hpp"
#include "source.hpp"

namespace ellzero::bindings {
namespace {

template <class T>
BoundDesign dense(nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> x, int64_t stride) {
    BoundDesign out{make_dense<T>(x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)), stride), {}};
    out.keep_alive.push_back(nb::cast(x));
    return out;
}

template <class T, class Index>
BoundDesign csc(Vector<T> values, Vector<Index> rows_of, Vector<Index> starts, int64_t rows) {
    BoundDesign out{
        make_csc<T, Index>(values.data(), rows_of.data(), starts.data(), rows, static_cast<int64_t>(starts.shape(0)) - 1), {}};
    out.keep_alive = {nb::cast(values), nb::cast(rows_of), nb::cast(starts)};
    return out;
}

nb::tuple moments(const BoundDesign& self, Vector<double> w, int threads) {
    const int64_t p = self.design->columns();
    std::vector<double> mean(p), variance(p);
    {
        const WithoutGil release;
        Team team(threads);
        Monitor monitor(check_signals, {});
        self.design->all_moments(w.data(), [&](int64_t first, int64_t count, const double* values, int64_t ld) {
            std::copy(values, values + count, mean.begin() + first);
            std::copy(values + ld, values + ld + count, variance.begin() + first);
        }, team, monitor);
    }
    return nb::make_tuple(to_numpy(std::move(mean)), to_numpy(std::move(variance)));
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> couplings_of(const BoundDesign& self, const Vector<int32_t>& heads,
                                                         std::optional<Vector<double>> mean, Vector<double> w, int threads) {
    std::vector<double> out;
    {
        const WithoutGil release;
        Team team(threads);
        Monitor monitor(check_signals, {});
        const Columns columns(*self.design, mean ? mean->data() : nullptr, nullptr, nullptr, team, monitor);
        out = couplings(columns, to_vector(heads), w.data());
    }
    return to_numpy(std::move(out));
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> products(const BoundDesign& self, Matrix<double> r, int threads) {
    const int64_t n = self.design->rows(), p = self.design->columns();
    const auto sides = static_cast<int64_t>(r.shape(0));
    if (std::cmp_not_equal(r.shape(1), n)) throw std::invalid_argument("r must have as many columns as the design has rows");
    std::vector<double> out(sides * p);
    {
        const WithoutGil release;
        Team team(threads);
        Monitor monitor(check_signals, {});
        for (int64_t start = 0; start < sides; start += Design::most_sides)
            self.design->all_products(r.data() + start * n, std::min(Design::most_sides, sides - start),
                                      [&](int64_t first, int64_t count, const double* values, int64_t ld) {
                for (int64_t k = start; k < std::min(start + Design::most_sides, sides); ++k)
                    std::copy_n(values + (k - start) * ld, count, out.begin() + k * p + first);
            }, team, monitor);
    }
    return to_numpy(std::move(out), sides, p);
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> columns(const BoundDesign& self, Vector<int32_t> list) {
    const int64_t n = self.design->rows();
    std::vector<double> out(list.size() * n);
    {
        const WithoutGil release;
        const std::span all(list.data(), list.size());
        const auto held = self.design->hold(all);
        for (size_t k = 0; k < all.size(); ++k) self.design->axpy(all[k], 1.0, out.data() + static_cast<int64_t>(k) * n);
    }
    return to_numpy(std::move(out), list.size(), n);
}

// X that a Python object keeps; `type` is that of its columns.
BoundDesign stored(nb::object source, int64_t rows, int64_t count, const std::string& type, int64_t resident_bytes,
                   std::optional<Vector<int64_t>> column_bytes) {
    const StoredShape shape{rows, count, column_bytes ? column_bytes->data() : nullptr, resident_bytes};
    auto keeper = std::make_unique<PythonSource>(std::move(source), rows, count);
    if (type == "float64") return {make_stored<double>(std::move(keeper), shape), {}};
    if (type == "float32") return {make_stored<float>(std::move(keeper), shape), {}};
    if (type == "int8") return {make_stored<int8_t>(std::move(keeper), shape), {}};
    throw std::invalid_argument("unknown type: " + type);
}

BoundDesign stacked(nb::object design, std::optional<Vector<double>> mean, std::optional<Vector<double>> scale, int64_t outputs,
                    bool coupled) {
    const Design& X = *nb::cast<const BoundDesign&>(design).design;
    BoundDesign out{make_stacked(X, mean ? mean->data() : nullptr, scale ? scale->data() : nullptr, outputs, coupled),
                    {std::move(design)}};
    if (mean) out.keep_alive.push_back(nb::cast(*mean));
    if (scale) out.keep_alive.push_back(nb::cast(*scale));
    return out;
}

}  // namespace

void register_design(nb::module_& m) {
    nb::class_<BoundDesign>(m, "Design", "Columns of X: borrowed from NumPy arrays, or kept by a Python object.")
        .def_prop_ro("shape",
                     [](const BoundDesign& self) { return nb::make_tuple(self.design->rows(), self.design->columns()); })
        .def("moments", &moments, nb::arg("w"), nb::arg("threads") = 1,
             "Mean and variance of each column, for weights that sum to one.")
        .def("couplings", &couplings_of, nb::arg("heads"), nb::arg("mean").none(), nb::arg("w"), nb::arg("threads") = 1,
             "For each column, a factor by which the diagonal of its group's part of Z'WZ bounds that part.")
        .def("products", &products, nb::arg("r"), nb::arg("threads") = 1,
             "The products of all columns with each row of r, (sides, p).")
        .def("columns", &columns, nb::arg("list"), "The listed columns in float64, one a row: (len(list), n).");
    // noconvert: a converted copy of X would defeat the purpose.
    m.def("dense", &dense<double>, nb::arg("x").noconvert(), nb::arg("stride"));
    m.def("dense", &dense<float>, nb::arg("x").noconvert(), nb::arg("stride"));
    m.def("dense", &dense<int8_t>, nb::arg("x").noconvert(), nb::arg("stride"));
    m.def("stored", &stored, nb::arg("source"), nb::kw_only(), nb::arg("rows"), nb::arg("columns"), nb::arg("type"),
          nb::arg("resident_bytes"), nb::arg("column_bytes").none());
    m.def("stacked", &stacked, nb::arg("design"), nb::arg("mean").none(), nb::arg("scale").none(), nb::kw_only(),
          nb::arg("outputs"), nb::arg("coupled"), "Several outputs on the same columns, centred and scaled, as one design.");
    m.def("csc", &csc<double, int32_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("rows"));
    m.def("csc", &csc<double, int64_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("rows"));
    m.def("csc", &csc<float, int32_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("rows"));
    m.def("csc", &csc<float, int64_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("rows"));
}

}  // namespace ellzero::bindings
