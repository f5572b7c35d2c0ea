#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/search.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/cancel.h"
#include "base/text.h"
#include "formats/open.h"
#include "model/model_file.h"
#include "ops/op_info.h"
#include "quantize/original.h"
#include "recipe/format_info.h"
#include "search/advise/family.h"
#include "search/advise/methods.h"

namespace ounce {
namespace {

std::vector<ValueDescription> describe_ports(std::span<const model::Port> ports) {
  std::vector<ValueDescription> descriptions;
  for (const model::Port& port : ports) {
    ValueDescription& value = descriptions.emplace_back(ValueDescription{port.name, port.text, {}});
    for (const model::Port::Dimension& dimension : port.shape) value.shape.push_back(dimension.value);
  }
  return descriptions;
}

// The bytes of float tensors that formats compress, by the part that MatMulNBits kernels can read.
struct WeightBytes {
  std::uint64_t all = 0;      // of all constants
  std::uint64_t large = 0;    // of float tensors with several axes
  std::uint64_t in_fp32 = 0;  // the same in FP32
  std::uint64_t product = 0;  // of these, operands of MatMul and tables of Gather
  bool is_half() const { return in_fp32 > large + large / 2; }
};

WeightBytes count_weights(const model::ModelFile& file) {
  constexpr std::uint64_t kLeastBytes = 1024;  // smaller tensors stay unchanged
  WeightBytes counted;
  for (const model::GraphView& graph : file.graphs()) {
    for (const model::ValueView& value : graph.values) {
      if (!value.constant) continue;
      counted.all += value.constant->bytes;
      const ElementType type = value.constant->type;
      const bool is_half = type == ElementType::kFloat16 || type == ElementType::kBfloat16;
      const bool is_large = (type == ElementType::kFloat || is_half) && value.constant->dims.size() > 1 &&
                            value.constant->bytes >= kLeastBytes;
      if (!is_large || value.users.empty()) continue;
      const std::uint64_t in_fp32 = (is_half ? 2U : 1U) * value.constant->bytes;
      const std::string_view op = file.node(value.users.front()).op;
      counted.large += value.constant->bytes;
      counted.in_fp32 += in_fp32;
      if (op == "MatMul" || op == "Gather") counted.product += in_fp32;
    }
  }
  return counted;
}

class Estimator {
 public:
  explicit Estimator(const model::ModelFile& file) : file_(file), weights_(count_weights(file)) {
    if (file.kind() != ModelKind::kCoreml) family_ = search::find_family(file);
  }

  Overview describe() const {
    Overview found;
    found.model = file_.path();
    found.bytes = file_.bytes();
    found.file_format = name_of(file_.kind());
    if (family_.family != ModelFamily::kOther) found.family = search::describe_family(family_);
    found.already_quantized = quantization::why_written_by_ounce(file_);
    if (found.already_quantized.empty()) found.already_quantized = why_no_original(file_.path());
    if (found.already_quantized.empty() && family_.is_quantized)
      found.already_quantized = "already quantized by another tool";
    found.inputs = describe_ports(file_.inputs());
    found.outputs = describe_ports(file_.outputs());
    found.weight_bytes = weights_.all;
    if (!found.already_quantized.empty() || weights_.large == 0) return found;
    for (const FormatInfo& row : all_formats()) {
      if (has_kind(row.kinds, file_.kind()) && row.format != kUnchanged)
        found.formats.push_back(estimate(row));
    }
    std::stable_partition(found.formats.begin(), found.formats.end(),
                          [](const FormatEstimate& format) { return format.why_not.empty(); });
    found.commands = commands(found.formats);
    return found;
  }

 private:
  FormatEstimate estimate(const FormatInfo& row) const {
    FormatEstimate made;
    made.format = row.format;
    made.label = display_name(row.format);
    const bool is_nbits = row.family == Family::kNbits;
    const double packed = static_cast<double>(is_nbits ? weights_.product : weights_.in_fp32),
                 others = static_cast<double>(weights_.in_fp32) - packed,
                 rest = static_cast<double>(file_.bytes() - std::min(file_.bytes(), weights_.large));
    made.bytes = static_cast<std::uint64_t>(rest + packed * row.typical_size +
                                            others * info_of(row.fallback).typical_size);
    made.ratio = static_cast<double>(made.bytes) / static_cast<double>(file_.bytes());
    made.needs_data = row.needs_data;
    if (is_nbits && 2 * weights_.product < weights_.in_fp32) made.why_not = "few weights belong to MatMul";
    const bool is_for_half = row.family == Family::kWeights && row.weight_bits < 16;
    if (weights_.is_half() && !is_for_half) made.why_not = "the weights have 16 bits";
    AdviseOptions options;
    options.data.path = "data";  // a format that needs data is possible
    if (made.why_not.empty()) made.why_not = search::obstacle(file_.kind(), row.format, options, family_);
    made.is_faster = made.why_not.empty() && row.assumed_time < 1;
    return made;
  }

  // The format of the second command: usually the fastest for the family.
  const FormatEstimate* fastest(const std::vector<FormatEstimate>& formats) const {
    const auto find = [&](Format format) -> const FormatEstimate* {
      const auto found = std::find_if(formats.begin(), formats.end(), [&](const FormatEstimate& one) {
        return one.format == format && one.why_not.empty();
      });
      return found == formats.end() ? nullptr : &*found;
    };
    if (family_.is_autoregressive && find(Format::kNbits4) != nullptr) return find(Format::kNbits4);
    for (const Format format : search::methods_for(file_.kind(), {}, family_)) {
      const FormatEstimate* const one = find(format);
      if (one != nullptr && one->is_faster) return one;
    }
    return find(Format::kW4);
  }

  std::vector<std::string> commands(const std::vector<FormatEstimate>& formats) const {
    const std::string model = quoted(file_.path().string());
    std::vector<std::string> lines = {"ounce quantize " + model};
    if (const FormatEstimate* const fast = fastest(formats); fast != nullptr)
      lines.push_back(fmt::format("{} --to {}{}", lines.front(), name_of(fast->format),
                                  fast->needs_data ? " --data DATA" : ""));
    lines.push_back(model::supports(file_.kind(), "advise")
                        ? fmt::format("ounce advise {} --data DATA", model)
                        : fmt::format("ounce verify {} {}", model,
                                      quoted(default_output(file_.path(), Format::kW8).string())));
    return lines;
  }

  const model::ModelFile& file_;
  WeightBytes weights_;
  FamilyFinding family_;
};

}  // namespace

Overview overview(const std::filesystem::path& path) {
  const CancellationScope scope(nullptr);
  const model::ModelFilePtr file = formats::open_model(path);
  file->validate();
  return Estimator(*file).describe();
}

}  // namespace ounce
