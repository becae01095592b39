// The work at one node with the normal equations alone: its cost does not depend on the number of rows.
//
// Features that are in have their best coefficients; families take curvature of the others; a relaxation finds the coefficients
// b at which the bound is taken, which also fixes features. The last few features are enumerated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "ellzero/exact/completions.hpp"
#include "ellzero/exact/dual.hpp"
#include "ellzero/exact/family_gains.hpp"
#include "ellzero/exact/node.hpp"
#include "ellzero/exact/node_setting.hpp"
#include "ellzero/exact/region.hpp"
#include "ellzero/exact/witness.hpp"

namespace ellzero {

class GramNode {
  public:
    // The best model of a support, from the rows.
    using Refit = std::function<Model(const std::vector<int32_t>& support)>;
    GramNode(const NodeSetting& setting, Region& region, Refit refit)
        : setting_(setting), equations_(*setting.options.equations), region_(region), refit_(std::move(refit)) {}

    struct Outcome {
        double bound;
        bool closed = true, enumerated = false;  // its last features, after all proofs
        std::vector<KeptPoint> proofs;
        std::vector<std::shared_ptr<Families>> made;
        std::shared_ptr<State> state;  // for the children
        int32_t branch = -1;
    };
    // The region is loaded.
    Outcome run(const Node& node, const WitnessWatch& watch);
    // The state of the region as it is now.
    std::shared_ptr<State> leave() const;

  private:
    struct Point {
        std::vector<double> b, v;
        double bound = -Penalty::infinity;  // in exact arithmetic
    };
    int room() const;
    double paid() const { return setting_.options.lambda_0 * static_cast<double>(region_.in().size()); }
    bool enumerate(const Reduced& region, Outcome& out);
    void make_form(const Node& node, const Reduced& region, Form& form, Outcome& out);
    // Where enough was decided since the form was made: tries another, and takes it with its point if that has a better bound.
    void renew_form(const Reduced& region, Form& form, Point& point, Outcome& out);
    // A relaxation while it is solved.
    struct Relaxing {
        const Reduced& region;
        const Matrix& rest;                // P
        const std::vector<double>& width;  // of the separable part, alone
        FamilyGains& gains;
        double charge, stop;
        bool limited;
        Point now, best;
        std::vector<double> worth, counts;  // of the families
    };
    void look(const Relaxing& state, Point& at);
    void follow(const Relaxing& state, double shares, double power, double least, double largest);
    // One step of descent on each column, as if the ridges were all; returns the sum of the shares that are in.
    double sweep(Relaxing& state) const;
    void descend(Relaxing& state, bool root);
    // Steps of whole families towards their best sets.
    void step_family(Relaxing& state, int64_t g, std::vector<double>& to) const;
    void step_families(Relaxing& state);
    Point relax(const Reduced& region, const Form& form, bool root);
    // Fixes features by the point; keeps it if it does anything. Returns the number of features that were fixed, -1 if nothing
    // is left.
    int64_t fix(const Reduced& region, const Form& form, const Point& point, Outcome& out);
    double margin(const Reduced& region, const Form& form, const Point& point, double gains) const;
    KeptPoint kept(const Reduced& region, const Point& point) const;
    // The coefficients of what is in, where the others are b.
    std::vector<double> decided(const Reduced& region, const std::vector<double>& b) const;
    // Offers what a point rounds to, after swaps.
    void round(const Reduced& region, const Point& point);
    void swap(std::vector<int32_t> support, bool root);
    // The best exchange of so many features: returns whether the support got better.
    bool exchange(std::vector<int32_t>& support, double& objective, int count);
    void offer(const std::vector<int32_t>& support, double objective);

    const NodeSetting& setting_;
    const NormalEquations& equations_;
    Region& region_;
    Refit refit_;
    Completions completions_;
    std::shared_ptr<const Families> families_;
    int64_t tried_ = 0;          // free columns when a form was made last
    size_t decided_ = 0;         // columns that were in then
    std::vector<double> beta_;   // of all columns, where the next relaxation begins
    std::vector<double> width_;  // of the free columns, for branching
    double mu_ = 0.0;
    std::set<std::vector<int32_t>> met_;  // supports that swaps began from
};

}  // namespace ellzero
