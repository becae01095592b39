// One function a subject adds its classes and functions to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace ellzero::bindings {

void register_interpreter(nanobind::module_& m);
void register_design(nanobind::module_& m);
void register_problem(nanobind::module_& m);
void register_model(nanobind::module_& m);
void register_path(nanobind::module_& m);
void register_algorithms(nanobind::module_& m);
void register_search(nanobind::module_& m);
void register_relaxations(nanobind::module_& m);
void register_snapshot(nanobind::module_& m);
void register_scores(nanobind::module_& m);

}  // namespace ellzero::bindings
