#include "recipe/format_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace ounce {
namespace {

constexpr std::int64_t kShiftOpset = 11;  // BitShift, which unpacks 4 bits
constexpr ModelKinds kOnnxAndTflite = model_kinds(ModelKind::kOnnx, ModelKind::kTflite);
constexpr ModelKinds kWithWeights = model_kinds(ModelKind::kOnnx, ModelKind::kTflite, ModelKind::kCoreml);

constexpr auto kFormats = std::to_array<FormatInfo>({
    {.format = Format::kW8,
     .label = "8-bit weights",
     .help = "8-bit weights, FP32 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 8,
     .typical_size = 0.25,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .stage = SearchStage::kSafe,
     .kinds = kWithWeights},
    {.format = Format::kW16,
     .label = "16-bit weights",
     .help = "16-bit float weights, FP32 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 16,
     .typical_size = 0.5,
     .making_time = 0.7,
     .for_single_nodes = true,
     .fallback = Format::kW16,
     .stage = SearchStage::kSafe,
     .kinds = kWithWeights},
    {.format = Format::kW4,
     .label = "4-bit weights",
     .help = "4-bit weights, FP32 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 4,
     .typical_size = 0.15,
     .making_time = 3,
     .for_single_nodes = true,
     .opset = kShiftOpset,
     .fallback = Format::kW8,
     .stage = SearchStage::kRare,
     .kinds = kWithWeights},
    {.format = Format::kW6,
     .label = "6-bit weights",
     .help = "6-bit weights (codebook), FP32 or FP16 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 6,
     .typical_size = 0.2,
     .making_time = 3,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .kinds = model_kinds(ModelKind::kCoreml)},
    {.format = Format::kW3,
     .label = "3-bit weights",
     .help = "3-bit weights (codebook), FP32 or FP16 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 3,
     .typical_size = 0.1,
     .making_time = 3,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .kinds = model_kinds(ModelKind::kCoreml)},
    {.format = Format::kW2,
     .label = "2-bit weights",
     .help = "2-bit weights (codebook), FP32 or FP16 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 2,
     .typical_size = 0.07,
     .making_time = 3,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .kinds = model_kinds(ModelKind::kCoreml)},
    {.format = Format::kW1,
     .label = "1-bit weights",
     .help = "1-bit weights (codebook), FP32 or FP16 arithmetic",
     .family = Family::kWeights,
     .weight_bits = 1,
     .typical_size = 0.04,
     .making_time = 3,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .kinds = model_kinds(ModelKind::kCoreml)},
    {.format = Format::kNbits8,
     .label = "8-bit MatMulNBits",
     .help = "8-bit weights in MatMulNBits kernels",
     .family = Family::kNbits,
     .weight_bits = 8,
     .typical_size = 0.27,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .stage = SearchStage::kRare},
    {.format = Format::kNbits4,
     .label = "4-bit MatMulNBits",
     .help = "4-bit weights in MatMulNBits kernels",
     .family = Family::kNbits,
     .weight_bits = 4,
     .typical_size = 0.16,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .stage = SearchStage::kRare},
    {.format = Format::kNbits2,
     .label = "2-bit MatMulNBits",
     .help = "2-bit weights in MatMulNBits kernels",
     .family = Family::kNbits,
     .weight_bits = 2,
     .typical_size = 0.1,
     .for_single_nodes = true,
     .fallback = Format::kW8},
    {.format = Format::kInt8,
     .label = "INT8 static",
     .help = "INT8 arithmetic, calibrated activations",
     .family = Family::kInteger,
     .arithmetic = Arithmetic::kStatic,
     .weight_bits = 8,
     .activation_bits = 8,
     .typical_size = 0.25,
     .assumed_time = 0.5,
     .making_time = 2,
     .needs_data = true,
     .fallback = Format::kW8,
     .stage = SearchStage::kUsual,
     .kinds = kOnnxAndTflite},
    {.format = Format::kInt8Dynamic,
     .label = "INT8 dynamic",
     .help = "INT8 arithmetic, activation scales found at run time",
     .family = Family::kInteger,
     .arithmetic = Arithmetic::kDynamic,
     .weight_bits = 8,
     .activation_bits = 8,
     .typical_size = 0.25,
     .assumed_time = 0.7,
     .making_time = 2,
     .for_single_nodes = true,
     .fallback = Format::kW8,
     .stage = SearchStage::kUsual,
     .kinds = kOnnxAndTflite},
    {.format = Format::kFp16,
     .label = "FP16",
     .help = "FP16 arithmetic",
     .family = Family::kHalf,
     .arithmetic = Arithmetic::kFloat16,
     .weight_bits = 16,
     .activation_bits = 16,
     .typical_size = 0.5,
     .opset = 6,  // from this opset on, Cast has its type as a number
     .fallback = Format::kFp32,
     .stage = SearchStage::kRare},
    {.format = Format::kBf16,
     .label = "BF16",
     .help = "BF16 arithmetic",
     .family = Family::kHalf,
     .arithmetic = Arithmetic::kBfloat16,
     .weight_bits = 16,
     .activation_bits = 16,
     .typical_size = 0.5,
     .opset = 13,
     .fallback = Format::kFp32},
    {.format = Format::kFp32,
     .label = "FP32",
     .help = "unchanged",
     .family = Family::kNone,
     .weight_bits = 32,
     .typical_size = 1,
     .for_single_nodes = true,
     .fallback = Format::kFp32,
     .kinds = kWithWeights},
});
static_assert(kFormats.size() == std::size(NamesOf<Format>::kAll), "a row for each format");

template <class Accepts>
constexpr const FormatInfo* find(Accepts accepts) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(), accepts);
  return found == kFormats.end() ? nullptr : &*found;
}

constexpr bool has_rows_for_all_names() {
  return std::all_of(
      std::begin(NamesOf<Format>::kAll), std::end(NamesOf<Format>::kAll), [](const auto& named) {
        return find([&](const FormatInfo& row) { return row.format == named.value; }) != nullptr;
      });
}
static_assert(has_rows_for_all_names());

Format with_bits(Family family, unsigned bits) {
  const FormatInfo* found =
      find([&](const FormatInfo& row) { return row.family == family && row.weight_bits == bits; });
  return found == nullptr ? kUnchanged : found->format;
}

}  // namespace

std::span<const FormatInfo> all_formats() { return kFormats; }

const FormatInfo& info_of(Format format) {
  return *find([&](const FormatInfo& row) { return row.format == format; });
}

Format weight_only(unsigned bits) { return with_bits(Family::kWeights, bits); }
Format nbits(unsigned bits) { return with_bits(Family::kNbits, bits); }

Format format_with(Arithmetic arithmetic) {
  return find([&](const FormatInfo& row) { return row.arithmetic == arithmetic; })->format;
}

std::string display_name(Format format) {
  const FormatInfo& row = info_of(format);
  return fmt::format("{}, W{}A{}", row.label, row.weight_bits, row.activation_bits);
}

std::string name_and_label(Format format) {
  return fmt::format("{} ({})", name_of(format), display_name(format));
}

std::vector<Format> formats_of(Family family) {
  std::vector<Format> found;
  for (const FormatInfo& row : kFormats) {
    if (row.family == family) found.push_back(row.format);
  }
  return found;
}

Format wider(Format format) {
  const FormatInfo* best = &info_of(format);
  const FormatInfo& own = *best;
  for (const FormatInfo& row : kFormats) {
    const bool is_wider = row.family == own.family && row.weight_bits > own.weight_bits;
    if (is_wider && (best == &own || row.weight_bits < best->weight_bits)) best = &row;
  }
  return best->format;
}

bool has_layer_errors(Format format) {
  const FormatInfo& row = info_of(format);
  return row.family == Family::kInteger || (row.family == Family::kWeights && row.weight_bits <= 8);
}

std::string why_not_for(ModelKind kind, Format format) {
  if (has_kind(info_of(format).kinds, kind)) return {};
  std::vector<std::string> others;
  for (const FormatInfo& row : kFormats) {
    if (has_kind(row.kinds, kind)) others.emplace_back(name_of(row.format));
  }
  return fmt::format("is {} {} model, which cannot be quantized to {}; {}",
                     kind == ModelKind::kOnnx ? "an" : "a", name_of(kind), name_of(format),
                     others.empty() ? "convert it to ONNX" : fmt::format("use {}", fmt::join(others, ", ")));
}

}  // namespace ounce
