#include "passes/pair_fake_quantize.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <variant>

#include "passes/chain.h"
#include "passes/editors.h"
#include "passes/fake_quantize.h"

namespace ounce::passes {
namespace {

using Dims = FrozenValues::Dims;

// `count` times the same code.
onnx::Tensor repeated_code(ElementType type, Dims dims, std::size_t count, int code) {
  const auto bits = static_cast<unsigned>(code) & 0xffU;
  if (info_of(type).bits == 8)
    return make_tensor(type, std::move(dims), std::string(count, static_cast<char>(bits)));
  const unsigned nibble = bits & 0xfU;
  std::string bytes((count + 1) / 2, static_cast<char>(nibble | nibble << 4U));
  if (count % 2 == 1) bytes.back() = static_cast<char>(nibble);
  return make_tensor(type, std::move(dims), std::move(bytes));
}

class PairWriter {
 public:
  PairWriter(BodyEditor& editor, const FakeQuantize& fake)
      : editor_(editor),
        fake_(fake),
        place_(fake.nodes.back()),
        is_narrow_(fake.range != *code_range(fake.type)) {}

  void write() {
    for (const std::size_t position : fake_.nodes) editor_.remove_node(position);
    const std::vector<Bytes> parameters{scale(), zero()};
    Chain chain(editor_, place_, fake_.input);
    const auto add = [&](Bytes op_type) {
      if (fake_.scale.is_single()) {
        chain.node(op_type, parameters);
      } else {
        chain.node(op_type, parameters, chain.integer("axis", fake_.axis));
      }
    };
    if (is_narrow_) clip(chain);
    add("QuantizeLinear");
    add("DequantizeLinear");
    chain.finish(fake_.output);
  }

 private:
  Bytes scale() {
    if (fake_.scale.is_single()) return number(fake_.scale.single());
    const std::vector<float> values = fake_.scale.all();
    return editor_.add_tensor(place_, float_tensor({static_cast<std::int64_t>(values.size())}, values));
  }

  // A Clip has the same limits for all channels.
  void clip(Chain& chain) {
    if (fake_.scale.is_single()) {
      const float scale = fake_.scale.single();
      chain.node("Clip", {number(limit(fake_.range.lo, scale)), number(limit(fake_.range.hi, scale))});
    } else {
      chain.node("Max", {limits(fake_.range.lo)}).node("Min", {limits(fake_.range.hi)});
    }
  }
  // The float that becomes this code.
  float limit(int code, float scale) const { return static_cast<float>(code - fake_.zero) * scale; }
  Bytes limits(int code) {
    std::vector<float> values = fake_.scale.all();
    for (float& value : values) value = limit(code, value);
    return editor_.add_tensor(place_, float_tensor(fake_.scale.dims(), values));
  }

  Bytes number(float value) {
    return editor_.add_shared(fmt::format("float {}", std::bit_cast<std::uint32_t>(value)),
                              scalar(ElementType::kFloat, value));
  }
  Bytes zero() {
    Dims dims;
    if (!fake_.scale.is_single()) dims.push_back(static_cast<std::int64_t>(fake_.scale.size()));
    const std::size_t count = fake_.scale.size();
    const std::string key =
        fmt::format("{} {} {} {}", name_of(fake_.type), fake_.zero, dims.size(), count);
    return editor_.add_shared(key, repeated_code(fake_.type, std::move(dims), count, fake_.zero));
  }

  BodyEditor& editor_;
  const FakeQuantize& fake_;
  std::size_t place_;
  bool is_narrow_;
};

}  // namespace

Changes pair_fake_quantize(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  for (const FakeQuantizeFound& found : find_fake_quantize(model, index)) {
    if (const auto* reason = std::get_if<Reason>(&found.what)) {
      changes.left_alone.push_back(
          fmt::format("{}: {}", place_of(index, found.body, found.position), reason->text));
      continue;
    }
    PairWriter(editors.of(found.body), std::get<FakeQuantize>(found.what)).write();
    ++changes.count;
  }
  editors.finish();
  return changes;
}

}  // namespace ounce::passes
