#include "make/variant.h"

#include "graph/verify.h"
#include "make/rewrite.h"
#include "onnx/reader.h"
#include "onnx/write_temporary.h"
#include "plan/plan.h"

namespace ounce::make {

std::uint64_t write_variant(const PreparedModel& prepared, const Recipe& recipe,
                            const std::filesystem::path& file, ThreadPool& pool) {
  const onnx::Model source = onnx::read_model(prepared.model());
  const graph::Index index = graph::verify(source);
  const plan::Plan plan = plan::make_plan(source, index, recipe, pool, prepared.ranges());
  onnx::Model model = onnx::read_model(prepared.model());
  rewrite(model, source, index, plan, {});
  return onnx::write_temporary(model, file, pool);
}

}  // namespace ounce::make
