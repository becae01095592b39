"""Ways to tamper with the problem, its solution and what is claimed of it, and the reason that the verifier gives."""

import numpy as np

from support.certificates import PROVES, VALUE


def lambda_0_lower(header, arrays):
    header["lambda_0"] *= 0.5


def lambda_0_lower_and_consistent(header, arrays):
    header["lambda_0"] *= 0.5
    header["objective"] -= header["lambda_0"] * len(arrays["support"])


def lambda_1_higher(header, arrays):
    header["lambda_1"] = 0.01


def lambda_2_lower(header, arrays):
    header["lambda_2"] *= 0.5


def lambda_2_lower_and_consistent(header, arrays):
    header["lambda_2"] *= 0.5
    header["objective"] -= header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))
    header["lower_bound"] -= header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))


def k_lower(header, arrays):
    header["k"] -= 1


def k_higher(header, arrays):
    header["k"] += 3


def no_k(header, arrays):
    header["k"] = None


def lower_bound_raised(header, arrays):
    header["lower_bound"] += 1e-7


def objective_lowered(header, arrays):
    header["objective"] -= 1e-7


def coefficients_changed(header, arrays):
    arrays["coef"] = arrays["coef"] * 0.999


def coefficients_outside(header, arrays):
    arrays["coef"] = arrays["coef"] * 10.0


def intercept_changed(header, arrays):
    arrays["intercept"] = arrays["intercept"] + 1e-3


def feature_dropped(header, arrays):
    arrays["support"], arrays["coef"] = arrays["support"][1:], arrays["coef"][1:]


def feature_twice(header, arrays):
    arrays["support"] = np.append(arrays["support"], arrays["support"][0])
    arrays["coef"] = np.append(arrays["coef"], 0.1)


def weights_changed(header, arrays):
    arrays["weights"] = arrays["weights"][::-1]


def weights_not_normalised(header, arrays):
    arrays["weights"] = arrays["weights"] * 1.01


def no_weights(header, arrays):
    del arrays["weights"]


def box_widened(header, arrays):
    arrays["lower"], arrays["upper"] = 3.0 * arrays["lower"], 3.0 * arrays["upper"]


def box_narrowed(header, arrays):
    arrays["lower"], arrays["upper"] = 0.5 * arrays["lower"], 0.5 * arrays["upper"]


def box_of_no_point(header, arrays):
    arrays["lower"], arrays["upper"] = arrays["upper"], arrays["lower"]


def no_intercept(header, arrays):
    header["fit_intercept"] = False


def other_loss(header, arrays):
    header["loss"] = "squared_hinge"


def classes_exchanged(header, arrays):
    arrays["classes"] = arrays["classes"][::-1]


def spread_changed(header, arrays):
    arrays["spread"] = arrays["spread"] * 1.001


def not_standardized(header, arrays):
    header["standardize"] = False
    del arrays["spread"]


def unpenalized_removed(header, arrays):
    del arrays["unpenalized"]


def unpenalized_added(header, arrays):
    arrays["unpenalized"] = np.union1d(arrays["unpenalized"], arrays["block_members"])


def assumption_hidden(header, arrays):
    header["bound"] = None


def assumption_weakened(header, arrays):
    header["bound"] *= 2.0


def assumption_sharpened(header, arrays):
    header["bound"] = 0.5 * float(np.abs(arrays["coef"]).max())


def called_optimal(header, arrays):
    header["status"] = "optimal"


def called_optimal_and_tight(header, arrays):
    header["status"], header["lower_bound"] = "optimal", header["objective"]


def other_version(header, arrays):
    header["version"] = 99


def first_version(header, arrays):
    header["version"] = 1
    del header["swap_size"], header["prover"]


def prover_missing(header, arrays):
    del header["prover"]


def prover_of_two_lines(header, arrays):
    header["prover"] = "SCIP\nCertificate: valid"


def bound_by_scip(header, arrays):
    header["prover"], header["lower_bound"] = "SCIP 9.2 (method mip)", header["objective"]


def prover_removed(header, arrays):
    bound_by_scip(header, arrays)
    header["prover"] = None


def other_format(header, arrays):
    header["format"] = "another certificate"


def no_lambda_0(header, arrays):
    del header["lambda_0"]


def negative_lambda_2(header, arrays):
    header["lambda_2"] = -1e-3


def wrong_type(header, arrays):
    arrays["parent"] = arrays["parent"].astype(float)


TAMPERINGS = [
    ("weighted box", lambda_0_lower, VALUE),
    ("weighted box", lambda_0_lower_and_consistent, PROVES),
    ("weighted box", lambda_1_higher, VALUE),
    ("weighted box", lambda_2_lower, VALUE),
    ("weighted box", lambda_2_lower_and_consistent, PROVES),
    ("weighted box", k_lower, r"the solution uses 4 features, k allows 3"),
    ("weighted box", k_higher, PROVES),
    ("weighted box", no_k, PROVES),
    ("weighted box", lower_bound_raised, PROVES),
    ("weighted box", objective_lowered, VALUE),
    ("weighted box", coefficients_changed, VALUE),
    ("weighted box", coefficients_outside, "the solution violates lower, upper"),
    ("weighted box", intercept_changed, VALUE),
    ("weighted box", feature_dropped, VALUE),
    ("weighted box", feature_twice, "support lists a feature twice"),
    ("weighted box", weights_changed, VALUE),
    ("weighted box", weights_not_normalised, "weights are negative or do not sum to one"),
    ("weighted box", no_weights, VALUE),
    ("weighted box", box_widened, PROVES),
    ("weighted box", box_narrowed, "the solution violates lower, upper"),
    ("weighted box", box_of_no_point, "lower and upper are not in order"),
    ("weighted box", no_intercept, "the solution has an intercept"),
    ("weighted box", other_loss, VALUE),
    ("weighted box", classes_exchanged, "y is not the target"),
    ("standardized", spread_changed, "spread is not that of the data"),
    ("standardized", not_standardized, VALUE),
    ("standardized", unpenalized_removed, "the solution uses 5 features, k allows 4"),
    ("standardized", unpenalized_added, "the tree splits what cannot be split"),
    ("conditional", assumption_hidden, PROVES),
    ("conditional", assumption_weakened, PROVES),
    ("conditional", assumption_sharpened, "or the assumed bound"),
    ("truncated", called_optimal, "the status is 'optimal' but the proved gap"),
    ("truncated", called_optimal_and_tight, PROVES),
    ("weighted box", other_version, "version 99"),
    ("weighted box", first_version, "version 1 of certificates is not read here, only versions 4, 5, 6 and 7"),
    ("weighted box", prover_missing, "the header lacks prover"),
    ("weighted box", prover_of_two_lines, "prover is no short text"),
    ("truncated", bound_by_scip, "rests on SCIP 9.2 (method mip); this file itself proves"),
    ("truncated", prover_removed, PROVES),
    ("weighted box", other_format, "this is not an ellzero certificate"),
    ("weighted box", no_lambda_0, "the header lacks lambda_0"),
    ("weighted box", negative_lambda_2, "lambda_2 is no usable number"),
    ("weighted box", wrong_type, "parent has the wrong shape"),
]
