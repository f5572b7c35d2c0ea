#include "formats/coreml/plan/palettes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/codebook.h"
#include "quant/layout.h"

namespace ounce::coreml {
namespace {

using quant::FloatSource;
using quant::Layout;
using Tables = std::vector<std::vector<float>>;

constexpr double kWorthwhile = 0.89;  // of the error: 0.5 dB, for the bytes of more tables or scales
constexpr std::size_t kFewGroupValues = 16384;  // of a group, which are sorted instead of counted
constexpr int kScaleRounds = 2;

const std::byte* bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values)).data();
}

// Calls visit(first, count) for tiles in order.
template <class Visit>
void for_each_tile_in_order(const FloatSource& floats, const Visit& visit) {
  for (std::size_t first = 0; first < floats.size(); first += quant::kTile) {
    const std::size_t count = std::min(quant::kTile, floats.size() - first);
    visit(first, count);
    floats.release(first, count);
  }
}

// Visits the pieces of a range that belong to one group.
template <class Visit>
void for_each_piece(const Layout& layout, std::size_t first, std::size_t count, const Visit& visit) {
  for (std::size_t at = first; at < first + count;) {
    const std::size_t end = std::min(first + count, (at / layout.inner + 1) * layout.inner);
    visit(at, end - at, at / layout.inner % layout.channels);
    at = end;
  }
}

Layout layout_of_rows(const Decision& decision) {
  plan::TensorPlan rows;
  rows.weight = decision.weight;
  plan::group_by_channel(rows);
  return rows.layout;
}

void round_table(const Decision& decision, std::vector<float>& table) {
  round_like(decision, table.data(), table.size());
}

struct Fit {
  Tables tables;
  std::vector<float> row_scales;
  double error = 0;
};

// The squared error of values in float32 against their table.
double error_of(const std::vector<float>& values, const std::vector<float>& table) {
  std::vector<std::uint8_t> codes(values.size());
  const std::vector<float> limits = quant::boundaries(table);
  kernels::encode_nearest(bytes_of(values), values.size(), limits.data(), table.size(), codes.data());
  double error = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = static_cast<double>(values[i]) - static_cast<double>(table[codes[i]]);
    error += difference * difference;
  }
  return error;
}

// One table for all values.
Fit fit_whole(const Decision& decision, const FloatSource& floats, const kernels::Range& whole) {
  const std::size_t entries = std::size_t{1} << decision.bits();
  quant::CodebookFitter fitter =
      decision.weight.is_half() ? quant::CodebookFitter() : quant::CodebookFitter(whole.min, whole.max);
  std::vector<float> scratch;
  for_each_tile_in_order(floats, [&](std::size_t first, std::size_t count) {
    if (decision.weight.is_half()) {
      fitter.add_halves(reinterpret_cast<const std::byte*>(floats.bytes_of(first, count).data()), count);
    } else {
      fitter.add(floats.values(first, count, scratch), count);
    }
  });
  if (decision.is_sparse) fitter.forget_zeros();
  Fit fit;
  fit.tables.push_back(fitter.fit(entries));
  round_table(decision, fit.tables[0]);
  fit.error = fitter.error(fit.tables[0]);
  return fit;
}

// One table for each group of `layout`.
Fit fit_groups(const Decision& decision, const FloatSource& floats, const kernels::Range& whole,
               const Layout& layout, const ForEach& for_each) {
  const std::size_t entries = std::size_t{1} << decision.bits();
  Fit fit;
  fit.tables.resize(layout.groups());
  std::vector<double> errors(layout.groups());
  for_each(layout.groups(), [&](std::size_t group) {
    const std::size_t size = layout.outer * layout.inner;
    std::vector<float> scratch, few;
    std::optional<quant::CodebookFitter> fitter;
    if (size > kFewGroupValues) fitter.emplace(whole.min, whole.max);
    for (std::size_t o = 0; o < layout.outer; ++o) {
      const std::size_t begin = (o * layout.channels + group) * layout.inner;
      for (std::size_t at = 0; at < layout.inner; at += quant::kTile) {
        const std::size_t count = std::min(quant::kTile, layout.inner - at);
        const std::byte* const values = floats.values(begin + at, count, scratch);
        if (fitter) {
          fitter->add(values, count);
        } else {
          few.resize(few.size() + count);
          std::memcpy(few.data() + few.size() - count, values, count * sizeof(float));
        }
        floats.release(begin + at, count);
      }
    }
    std::vector<float>& table = fit.tables[group];
    table = fitter ? fitter->fit(entries) : quant::fit_codebook(few, entries);
    round_table(decision, table);
    errors[group] = fitter ? fitter->error(table) : error_of(few, table);
  });
  for (const double error : errors) fit.error += error;
  return fit;
}

// One table for values that are divided by the scale of their channel. Scales and table are fitted in turns:
// the table with the squares of the scales as weights, each scale by least squares.
class ScaledFit {
 public:
  ScaledFit(const Decision& decision, const FloatSource& floats)
      : decision_(decision), floats_(floats), rows_(layout_of_rows(decision)) {}

  Fit fit() {
    find_magnitudes();
    Fit result;
    for (int round = 0; round < kScaleRounds; ++round) {
      fit_table();
      fit_scales();
    }
    // The largest scale is from 1 to 2, so that 16-bit floats represent scales and table precisely.
    float largest = *std::max_element(scales_.begin(), scales_.end());
    int exponent = 0;
    std::frexp(largest, &exponent);
    for (float& scale : scales_) scale = std::ldexp(scale, 1 - exponent);
    for (float& entry : table_) entry = std::ldexp(entry, exponent - 1);
    round_table(decision_, table_);
    round_table(decision_, scales_);
    result.tables = {table_};
    result.row_scales = scales_;
    result.error = measure(result);
    return result;
  }

 private:
  template <class Visit>
  void for_each_row_piece(const Visit& visit) const {
    std::vector<float> scratch;
    for_each_tile_in_order(floats_, [&](std::size_t first, std::size_t count) {
      const std::byte* const bytes = floats_.values(first, count, scratch);
      for_each_piece(rows_, first, count, [&](std::size_t at, std::size_t length, std::size_t row) {
        visit(bytes + (at - first) * sizeof(float), length, row);
      });
    });
  }
  static float value(const std::byte* bytes, std::size_t i) {
    float result;
    std::memcpy(&result, bytes + i * sizeof result, sizeof result);
    return result;
  }

  void find_magnitudes() {
    std::vector<double> squares(rows_.channels, 0.0);
    std::vector<float> largest(rows_.channels, 0.0F);
    for_each_row_piece([&](const std::byte* bytes, std::size_t length, std::size_t row) {
      for (std::size_t i = 0; i < length; ++i) {
        const float x = value(bytes, i);
        squares[row] += static_cast<double>(x) * static_cast<double>(x);
        largest[row] = std::max(largest[row], std::fabs(x));
      }
    });
    scales_.resize(rows_.channels);
    for (std::size_t row = 0; row < scales_.size(); ++row) {
      scales_[row] =
          static_cast<float>(std::sqrt(squares[row] / static_cast<double>(rows_.outer * rows_.inner)));
      if (scales_[row] > 0) reach_ = std::max(reach_, largest[row] / scales_[row]);
    }
  }

  // Divides the values of a tile by their scales.
  void normalize(const std::byte* bytes, std::size_t first, std::size_t count, std::vector<float>& values,
                 std::vector<float>* weights) const {
    values.resize(count);
    if (weights != nullptr) weights->resize(count);
    for_each_piece(rows_, first, count, [&](std::size_t at, std::size_t length, std::size_t row) {
      const float inverse = scales_[row] > 0 ? 1 / scales_[row] : 0;
      const float relative = scales_[row] / largest_scale_;
      for (std::size_t i = at - first; i < at - first + length; ++i) values[i] = value(bytes, i) * inverse;
      if (weights == nullptr) return;
      const auto begin = weights->begin() + static_cast<std::ptrdiff_t>(at - first);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(length), relative * relative);
    });
  }

  void fit_table() {
    largest_scale_ = *std::max_element(scales_.begin(), scales_.end());
    quant::CodebookFitter fitter(-reach_, reach_);
    std::vector<float> scratch, values, weights;
    for_each_tile_in_order(floats_, [&](std::size_t first, std::size_t count) {
      normalize(floats_.values(first, count, scratch), first, count, values, &weights);
      fitter.add(bytes_of(values), weights.data(), count);
    });
    table_ = fitter.fit(std::size_t{1} << decision_.bits());
  }

  void fit_scales() {
    std::vector<double> products(scales_.size(), 0.0), squares(scales_.size(), 0.0);
    const std::vector<float> limits = quant::boundaries(table_);
    std::vector<float> scratch, values;
    std::vector<std::uint8_t> codes;
    for_each_tile_in_order(floats_, [&](std::size_t first, std::size_t count) {
      const std::byte* const bytes = floats_.values(first, count, scratch);
      normalize(bytes, first, count, values, nullptr);
      codes.resize(count);
      kernels::encode_nearest(bytes_of(values), count, limits.data(), table_.size(), codes.data());
      for_each_piece(rows_, first, count, [&](std::size_t at, std::size_t length, std::size_t row) {
        for (std::size_t i = at - first; i < at - first + length; ++i) {
          const auto entry = static_cast<double>(table_[codes[i]]);
          products[row] += static_cast<double>(value(bytes, i)) * entry;
          squares[row] += entry * entry;
        }
      });
    });
    for (std::size_t row = 0; row < scales_.size(); ++row) {
      if (products[row] > 0 && squares[row] > 0)
        scales_[row] = static_cast<float>(products[row] / squares[row]);
    }
  }

  double measure(const Fit& fit) const {
    double error = 0;
    std::vector<float> scratch, values;
    std::vector<std::uint8_t> codes;
    Decision decision = decision_;
    decision.tables = fit.tables;
    decision.row_scales = fit.row_scales;
    for_each_tile_in_order(floats_, [&](std::size_t first, std::size_t count) {
      codes.resize(count);
      values.resize(count);
      encode_palette(decision, floats_, first, count, codes.data());
      decode_palette(decision.tables, decision.row_scales, decision, codes.data(), first, count,
                     values.data());
      kernels::ErrorNorms norms;
      kernels::error_norms(floats_.values(first, count, scratch), values.data(), count, norms);
      error += norms.noise;
    });
    return error;
  }

  const Decision& decision_;
  const FloatSource& floats_;
  const Layout rows_;
  std::vector<float> scales_, table_;
  float reach_ = 1, largest_scale_ = 1;
};

void use_groups(Decision& decision) {
  const std::size_t group = decision.palette_group, axis = decision.weight.channels->first;
  plan::group_by_channel(decision);
  decision.layout.channels /= group;
  decision.layout.inner *= group;
  decision.group_dims[axis] = decision.weight.dims[axis] / static_cast<std::int64_t>(group);
  decision.reason += group == 1 ? std::string(", a lookup table for each channel")
                                : fmt::format(", a lookup table for {} channels", group);
}

}  // namespace

void round_like(const Decision& decision, float* values, std::size_t count) {
  if (!decision.weight.is_half()) return;
  std::vector<std::uint16_t> halves(count);
  kernels::HalfStats stats;
  kernels::f32_to_f16(reinterpret_cast<const std::byte*>(values), count, halves.data(), stats);
  kernels::f16_to_f32(reinterpret_cast<const std::byte*>(halves.data()), count, values);
}

void fit_palette(Decision& decision, const FloatSource& floats, const kernels::Range& whole,
                 const ForEach& for_each) {
  const PaletteChoice choice = decision.palette;
  const bool is_grouped = choice == PaletteChoice::kGrouped || choice == PaletteChoice::kGroupedIfBetter;
  const bool is_decided = choice == PaletteChoice::kGrouped || choice == PaletteChoice::kScaled;
  Fit best;
  bool is_finer = choice != PaletteChoice::kTensor;
  if (!is_decided) best = fit_whole(decision, floats, whole);
  if (is_finer) {
    Decision grouped = decision;
    if (is_grouped) use_groups(grouped);
    Fit finer = is_grouped ? fit_groups(decision, floats, whole, grouped.layout, for_each)
                           : ScaledFit(decision, floats).fit();
    is_finer = is_decided || finer.error < kWorthwhile * best.error;
    if (is_finer) best = std::move(finer);
    if (is_finer && is_grouped) decision = std::move(grouped);
  }
  decision.tables = std::move(best.tables);
  decision.row_scales = std::move(best.row_scales);
  decision.palette = !is_finer    ? PaletteChoice::kTensor
                     : is_grouped ? PaletteChoice::kGrouped
                                  : PaletteChoice::kScaled;
  if (decision.row_scales.empty()) return;
  decision.granularity = GranularityKind::kChannel;
  decision.reason += ", a scale for each channel over the table";
}

void encode_palette(const Decision& decision, const FloatSource& floats, std::size_t first, std::size_t count,
                    std::uint8_t* codes) {
  std::vector<float> scratch, scaled;
  const std::byte* values = floats.values(first, count, scratch);
  const std::size_t entries = decision.tables[0].size();
  if (!decision.row_scales.empty()) {
    scaled.resize(count);
    for_each_piece(layout_of_rows(decision), first, count,
                   [&](std::size_t at, std::size_t length, std::size_t row) {
                     const float scale = decision.row_scales[row], inverse = scale > 0 ? 1 / scale : 0;
                     for (std::size_t i = at - first; i < at - first + length; ++i) {
                       std::memcpy(&scaled[i], values + i * sizeof(float), sizeof(float));
                       scaled[i] *= inverse;
                     }
                   });
    values = bytes_of(scaled);
  }
  if (decision.tables.size() == 1) {
    const std::vector<float> limits = quant::boundaries(decision.tables[0]);
    return kernels::encode_nearest(values, count, limits.data(), entries, codes);
  }
  std::size_t group_of_limits = decision.tables.size();
  std::vector<float> limits;
  for_each_piece(decision.layout, first, count, [&](std::size_t at, std::size_t length, std::size_t group) {
    if (group != group_of_limits) limits = quant::boundaries(decision.tables[group_of_limits = group]);
    kernels::encode_nearest(values + (at - first) * sizeof(float), length, limits.data(), entries,
                            codes + (at - first));
  });
}

void decode_palette(const Tables& tables, const std::vector<float>& row_scales, const Decision& decision,
                    const std::uint8_t* codes, std::size_t first, std::size_t count, float* values) {
  if (tables.size() == 1) {
    kernels::decode_lookup(codes, count, tables[0].data(), values);
  } else {
    for_each_piece(decision.layout, first, count, [&](std::size_t at, std::size_t length, std::size_t group) {
      kernels::decode_lookup(codes + (at - first), length, tables[group].data(), values + (at - first));
    });
  }
  if (row_scales.empty()) return;
  for_each_piece(layout_of_rows(decision), first, count,
                 [&](std::size_t at, std::size_t length, std::size_t row) {
                   for (std::size_t i = at - first; i < at - first + length; ++i)
                     values[i] *= row_scales[row];
                 });
  round_like(decision, values, count);
}

}  // namespace ounce::coreml
