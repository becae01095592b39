// The place where one thread of a search works. It has a view of the columns of its own, since columns count their reads and
// poll.
#pragma once

#include <cstdint>

#include "ellzero/data/columns.hpp"
#include "ellzero/data/monitor.hpp"
#include "ellzero/data/parallel.hpp"
#include "ellzero/exact/node_solver.hpp"
#include "ellzero/exact/numbering.hpp"
#include "ellzero/exact/tree.hpp"
#include "ellzero/exact/workers.hpp"

namespace ellzero {

// The parts of a search that its threads share.
struct Shared {
    const Numbering& numbering;
    const ExactOptions& options;  // in the nodes' numbering
    const Witness* witness;       // in the columns of X; may be null
    const Tree& tree;
    BestModel& best;
    Workers& workers;
};

class Workplace {
  public:
    Workplace(const Shared& shared, int threads);
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;

    NodeSolver& solver() { return solver_; }
    // Refits the incumbent if it came from elsewhere.
    void polish();

  private:
    // The incumbent as the solver of a node sees it.
    class SharedIncumbent : public Incumbent {
      public:
        explicit SharedIncumbent(const Shared& shared) : Incumbent(shared.options.null), shared_(shared) {}
        double objective() const override { return shared_.best.objective(); }
        double level() const override { return shared_.best.level(); }
        void offer(const Model& model) override { shared_.best.offer(shared_.numbering.outside(model)); }
        int64_t proof_bytes() const override { return shared_.tree.bytes(); }

      private:
        const Shared& shared_;
    };

    const Shared shared_;
    Team team_;
    Monitor monitor_;
    Columns X_;
    Problem problem_;
    SharedIncumbent incumbent_;
    Witness witness_;
    NodeSolver solver_;
};

}  // namespace ellzero
