// The end of a box: how large a coefficient can be before a quadratic bound exceeds what is allowed.
#pragma once

namespace ellzero {

// The m >= 0 beyond which a m^2 + b m + c is positive (a >= 0), up to a few units of rounding; infinity if there is none, or if
// a number is not finite. Nothing cancels, overflows or underflows on the way.
double last_root(double a, double b, double c);

}  // namespace ellzero
