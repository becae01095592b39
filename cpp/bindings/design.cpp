#include <nanobind/stl/vector.h>

#include "problem.hpp"

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
    BoundDesign out{make_csc<T, Index>(values.data(), rows_of.data(), starts.data(), rows,
                                       static_cast<int64_t>(starts.shape(0)) - 1),
                    {}};
    out.keep_alive = {nb::cast(values), nb::cast(rows_of), nb::cast(starts)};
    return out;
}

}  // namespace

void register_design(nb::module_& m) {
    nb::class_<BoundDesign>(m, "Design", "Columns of X, borrowed from NumPy arrays.")
        .def_prop_ro("shape", [](const BoundDesign& self) {
            return nb::make_tuple(self.design->rows(), self.design->columns());
        })
        .def(
            "moments",
            [](const BoundDesign& self, Vector<double> w, int threads) {
                const int64_t p = self.design->columns();
                std::vector<double> mean(p), variance(p);
                {
                    nb::gil_scoped_release release;
                    Team team(threads);
                    Monitor monitor(check_signals, {});
                    const int64_t piece = 16384;
                    for (int64_t start = 0; start < p; start += piece) {
                        team.run(std::min(piece, p - start), 64, [&](int64_t begin, int64_t end, int) {
                            const int64_t first = start + begin;
                            self.design->moments(first, end - begin, w.data(), &mean[first], &variance[first]);
                        });
                        monitor.poll();
                    }
                }
                return nb::make_tuple(to_numpy(std::move(mean)), to_numpy(std::move(variance)));
            },
            nb::arg("w"), nb::arg("threads") = 1, "Mean and variance of each column, for weights that sum to one.");
    // noconvert: a converted copy of X would defeat the purpose.
    m.def("dense", &dense<double>, nb::arg("x").noconvert(), nb::arg("stride"));
    m.def("dense", &dense<float>, nb::arg("x").noconvert(), nb::arg("stride"));
    m.def("csc", &csc<double, int32_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("rows"));
    m.def("csc", &csc<double, int64_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("rows"));
    m.def("csc", &csc<float, int32_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("rows"));
    m.def("csc", &csc<float, int64_t>, nb::arg("values").noconvert(), nb::arg("rows_of").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("rows"));
}

}  // namespace ellzero::bindings
