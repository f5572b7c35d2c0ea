#include "make/variant.h"

#include "make/rewrite.h"
#include "onnx/write_temporary.h"

namespace ounce::make {

std::uint64_t write_variant(const PreparedModel& prepared, const Recipe& recipe,
                            const std::filesystem::path& file, ThreadPool& pool, const AdaptPlan& adapt) {
  plan::Plan plan = plan::make_plan(prepared.model(), prepared.index(), recipe, pool, prepared.ranges());
  if (adapt) adapt(plan, pool);
  onnx::Model model = prepared.read();
  rewrite(model, prepared.model(), prepared.index(), plan, {});
  return onnx::write_temporary(model, file, pool);
}

}  // namespace ounce::make
