#include "source.hpp"

#include <exception>
#include <thread>

#include "tables.hpp"

namespace ellzero::bindings {

using Answers = Matrix<double>;

void PythonSource::pass(const char* question, nb::object argument, const Design::Take& take, Monitor& monitor) const {
    // An exception of the core does not travel through Python: it waits here until Python has returned.
    std::exception_ptr stopped;
    const auto asker = std::this_thread::get_id();
    const auto receive = [&](int64_t first, const Answers& answers) {
        const WithoutGil release;
        try {
            check_interpreter();
            std::vector<double> values(answers.data(), answers.data() + answers.size());
            const auto count = static_cast<int64_t>(answers.shape(1));
            take(first, count, values.data(), count);
            // Only the thread that asked polls: Ctrl-C that another one's pass met here would stop the wrong fit.
            if (std::this_thread::get_id() == asker) monitor.poll();
        } catch (...) {
            stopped = std::current_exception();
        }
        return !stopped;
    };
    try {
        object_.attr(question)(std::move(argument), nb::cpp_function(receive));
    } catch (nb::python_error&) {
        if (!stopped) throw;
    }
    if (stopped) std::rethrow_exception(stopped);
}

void PythonSource::all_products(const double* r, int64_t sides, const Design::Take& take, Monitor& monitor) const {
    const WithGil acquire;
    pass("products", copied(r, sides, rows_), take, monitor);
}

void PythonSource::all_moments(const double* w, const Design::Take& take, Monitor& monitor) const {
    const WithGil acquire;
    pass("moments", copied(w, 1, rows_), take, monitor);
}

void PythonSource::fetch(std::span<const int32_t> columns, const std::function<void(int64_t, const void*)>& to) const {
    const WithGil acquire;
    const nb::object list = nb::cast(to_numpy(std::vector<int32_t>(columns.begin(), columns.end())));
    const auto found = nb::cast<nb::ndarray<nb::ro, nb::ndim<2>, nb::f_contig, nb::device::cpu>>(object_.attr("columns")(list));
    const auto* values = static_cast<const std::byte*>(found.data());
    const int64_t bytes = rows_ * static_cast<int64_t>(found.itemsize());
    const WithoutGil release;
    for (int64_t k = 0; k < std::ssize(columns); ++k) to(k, values + k * bytes);
}

std::unique_ptr<ScreeningTable> PythonSource::screening_table(const ColumnNumbers& numbers, const GainTerms& terms,
                                                              size_t directions) const {
    const WithGil acquire;
    nb::object table =
        object_.attr("screening_table")(listed(numbers, columns_), terms.lambda_1, terms.steepness, terms.ridge, directions);
    if (table.is_none()) return nullptr;
    return std::make_unique<PythonScreeningTable>(std::move(table), rows_);
}

std::unique_ptr<SwapTable> PythonSource::swap_table(const ColumnNumbers& numbers) const {
    const WithGil acquire;
    nb::object table = object_.attr("swap_table")(listed(numbers, columns_));
    if (table.is_none()) return nullptr;
    return std::make_unique<PythonSwapTable>(std::move(table), rows_);
}

}  // namespace ellzero::bindings
