#include "passes/integer_ops.h"

#include "passes/dynamic_ops.h"
#include "passes/integer_parameters.h"
#include "passes/static_qdq.h"
#include "passes/static_qoperator.h"

namespace ounce::passes {

void put_integer_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored) {
  if (!plan.recipe.is_integer()) return;
  IntegerParameters parameters(editors, index, plan, stored);
  if (plan.recipe.format == Format::kStatic) {
    const bool is_qdq = plan.recipe.integer.dialect == Dialect::kQdq;
    (is_qdq ? put_static_qdq : put_static_qoperator)(editors, index, plan, parameters);
  }
  // Behind them, as they may read what static nodes give.
  put_dynamic_ops(editors, index, plan, parameters);
}

}  // namespace ounce::passes
