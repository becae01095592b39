// NumPy arrays in and out, and fields of bound classes that are arrays in Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "interpreter.hpp"

namespace ellzero::bindings {

// Read-only, contiguous input. The Python layer has validated shapes.
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> to_numpy(std::vector<T> values, size_t rows, size_t columns) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(owned->data(), {rows, columns}, owner);
}

template <class T>
std::vector<T> to_vector(const Vector<T>& values) {
    return {values.data(), values.data() + values.size()};
}

// A field of type std::vector that Python reads and writes as an array. Reading copies: a change of the copy changes nothing.
template <class Class, class Owner, class T>
void def_array(nb::class_<Class>& bound, const char* name, std::vector<T> Owner::* field) {
    bound.def_prop_rw(name, [field](const Class& self) {
        return to_numpy(std::vector<T>(self.*field));
    }, [field](Class& self, const Vector<T>& values) { self.*field = to_vector(values); }, nb::for_getter(nb::rv_policy::move));
}

}  // namespace ellzero::bindings
