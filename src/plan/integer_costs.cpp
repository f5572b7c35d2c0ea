#include "plan/integer_costs.h"

#include "onnx/settings.h"
#include "target/target.h"

namespace ounce::plan {
namespace {

constexpr std::int64_t kFewInputs = 4;
constexpr double kManyOutputs = 8192;  // below, neither takes noticeable time

}  // namespace

bool is_faster_in_floats(const onnx::Node& node, std::span<const std::int64_t> weight_dims, double outputs) {
  const bool is_picture_conv = is_op(node, "Conv") && weight_dims.size() == 4;
  if (!is_picture_conv || outputs < kManyOutputs) return false;
  const auto group = onnx::integer_setting(node, "group", 1);
  const bool has_few_inputs = group == 1 && weight_dims[1] <= kFewInputs;
  const bool is_depthwise = group && *group > 1 && *group == weight_dims[0] && weight_dims[1] == 1;
  return has_few_inputs || is_depthwise;
}

bool has_measured_costs(const std::string& target) {
  if (target.empty()) return true;
  const target::Target where = target::parse_target(target);
  const bool is_on_cpu = where.provider.empty() || where.provider == "cpu";
  return is_on_cpu && (where.machine.empty() || where.machine == "x64");
}

}  // namespace ounce::plan
