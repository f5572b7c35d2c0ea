#include "evaluate/compare/comparison.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "base/cancel.h"
#include "data/tensor.h"
#include "formats/open.h"

namespace ounce::evaluate {
namespace {

using data::Dims;
using data::TensorView;
using data::ValueDescription;

constexpr double kExplosion = 10;
constexpr double kNothing = 0.01;  // allowed difference if the reference is always zero
// Sizes of the large batch. Models with large samples use the smaller one, to save time.
constexpr std::int64_t kLargeBatch = 16, kPair = 2;
constexpr std::uint64_t kLargeSample = 100'000;  // values
constexpr std::int64_t kLonger = 4;
constexpr std::uint64_t kMostInputValues = std::uint64_t{1}
                                           << 26;  // of one input: a long sequence must fit into memory

struct Case {
  std::string name;
  Fill fill;
  // The length of a dynamic axis, given its length with the user's data.
  std::function<std::int64_t(std::size_t axis, std::int64_t usual)> length =
      [](std::size_t, std::int64_t usual) { return usual; };
};

// True if an input has a dynamic batch axis (`is_batch`), or another dynamic axis.
bool has_free(const std::vector<ValueDescription>& inputs, bool is_batch) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const ValueDescription& input) {
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      if (input.shape[axis].value < 0 && (axis == 0) == is_batch) return true;
    }
    return false;
  });
}

std::uint64_t values_of_sample(const std::vector<Dims>& seen) {
  std::uint64_t values = 0;
  for (const Dims& dims : seen) {
    std::uint64_t product = 1;
    for (std::size_t axis = 1; axis < dims.size(); ++axis) product *= static_cast<std::uint64_t>(dims[axis]);
    values += product;
  }
  return values;
}

std::vector<Case> all_cases(const std::vector<ValueDescription>& inputs, const std::vector<Dims>& seen) {
  using Kind = Fill::Kind;
  std::vector<Case> cases = {{"all zero", {Kind::kZero}},       {"all lowest", {Kind::kLowest}},
                             {"all highest", {Kind::kHighest}}, {"all in the middle", {Kind::kMiddle}},
                             {"noise", {Kind::kNoise, 7}},      {"8 times the range", {Kind::kBeyond, 11}}};
  if (has_free(inputs, true)) {
    cases.push_back({"batch of 1", {Kind::kNoise, 13}, [](std::size_t axis, std::int64_t usual) {
                       return axis == 0 ? 1 : usual;
                     }});
    const std::int64_t large = values_of_sample(seen) < kLargeSample ? kLargeBatch : kPair;
    cases.push_back({fmt::format("batch of {}", large),
                     {Kind::kNoise, 17},
                     [large](std::size_t axis, std::int64_t usual) { return axis == 0 ? large : usual; }});
  }
  if (has_free(inputs, false)) {
    cases.push_back({"shortest sequence", {Kind::kNoise, 19}, [](std::size_t axis, std::int64_t usual) {
                       return axis == 0 ? usual : 1;
                     }});
    cases.push_back(
        {fmt::format("sequence of {} times the length", kLonger),
         {Kind::kNoise, 23},
         [](std::size_t axis, std::int64_t usual) { return axis == 0 ? usual : kLonger * usual; }});
  }
  return cases;
}

Dims dims_of(const ValueDescription& input, const Dims& usual, const Case& one) {
  Dims dims = usual;
  for (std::size_t axis = 0; axis < std::min(dims.size(), input.shape.size()); ++axis) {
    if (input.shape[axis].value < 0) dims[axis] = one.length(axis, usual[axis]);
  }
  return dims;
}

// True for cancellations and I/O errors, which are not the model's fault.
bool is_the_systems(const Error& error) {
  return error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kIo;
}

// The message of an error, without the model's name and shortened.
std::string told(const Error& error) {
  constexpr std::size_t kMost = 160;
  std::string text = error.what();
  const std::size_t after = error.where().empty() ? std::string::npos : text.find(error.where());
  if (after != std::string::npos) text.erase(0, std::min(text.size(), after + error.where().size() + 2));
  if (text.size() > kMost) text = text.substr(0, kMost) + " …";
  return text;
}

EdgeCase fail(const std::string& name, std::string why) { return {name, false, false, std::move(why)}; }
EdgeCase leave_out(const std::string& name, const std::string& why) {
  return {name, true, true, "skipped: " + why};
}

struct Judge {
  const Comparison& seen;
  const std::vector<ValueDescription>& outputs;

  EdgeCase judge(const std::string& name, std::span<const data::Tensor> reference,
                 std::span<const TensorView> candidate) const {
    Difference total;
    std::uint64_t labels = 0, changed = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!seen.is_judged(i)) continue;
      OutputMeter meter(outputs[i], std::nullopt);
      meter.add(reference[i], candidate[i]);
      if (meter.shape_differences() != 0) {
        return fail(name, fmt::format("output '{}' has another shape than the reference: {}", outputs[i].name,
                                      meter.first_shape_difference()));
      }
      const Difference& difference = meter.difference();
      if (difference.newly_not_finite != 0) {
        return fail(name,
                    fmt::format("output '{}' has {} NaN or infinite values where the reference is finite",
                                outputs[i].name, difference.newly_not_finite));
      }
      if (meter.is_label()) {  // labels can change, but not explode
        labels += meter.answers();
        changed += meter.other_answers();
        continue;
      }
      const double scale = std::max(seen.largest_output(i), largest(reference[i]));
      const double most = scale == 0 ? kNothing : kExplosion * scale;
      if (std::isfinite(difference.largest) && difference.largest > most) {
        return fail(
            name,
            fmt::format("output '{}' explodes: it differs by {:.3g}, but the reference never exceeds {:.3g}",
                        outputs[i].name, difference.largest, scale));
      }
      total.add(difference);
    }
    const double sqnr = total.sqnr_db();
    std::string finding = std::isinf(sqnr) && sqnr > 0 ? "identical" : fmt::format("{:.1f} dB", sqnr);
    const std::string others = fmt::format("{} of {} labels changed", changed, labels);
    if (changed != 0) finding = total.values == 0 ? others : finding + ", " + others;
    return {name, true, false, std::move(finding)};
  }

  static double largest(const data::Tensor& tensor) {
    double most = 0;
    if (!is_float_weight_type(tensor.type)) return most;
    for (const double value : data::to_doubles(tensor, "")) {
      if (std::isfinite(value)) most = std::max(most, std::fabs(value));
    }
    return most;
  }
};

}  // namespace

std::vector<EdgeCase> run_edge_cases(const std::filesystem::path& reference_path, StatefulExecutor& reference,
                                     StatefulExecutor& candidate, const std::vector<ValueDescription>& inputs,
                                     const Comparison& seen, const DataOptions& options) {
  std::map<std::string, Legal> legal = legal_values(*formats::open_model(reference_path), inputs, options);
  for (const auto& [name, range] : seen.input_ranges()) legal[name].range = range;
  const Judge judge{seen, reference.model().outputs()};
  std::vector<EdgeCase> results;
  for (const Case& one : all_cases(inputs, seen.input_dims())) {
    throw_if_cancelled();
    data::Batch batch;
    bool is_too_large = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Dims dims = dims_of(inputs[i], seen.input_dims()[i], one);
      is_too_large = is_too_large || data::element_count(dims, inputs[i].name) > kMostInputValues;
      if (is_too_large) break;
      const auto constant = options.constants.find(inputs[i].name);
      if (constant != options.constants.end()) {
        batch.inputs.push_back(data::filled_tensor(inputs[i], dims, constant->second));
      } else {
        const bool is_state = options.carry.contains(inputs[i].name);
        batch.inputs.push_back(make_values(inputs[i], dims, legal[inputs[i].name],
                                           is_state ? Fill{Fill::Kind::kZero} : one.fill));
      }
    }
    if (is_too_large) {
      results.push_back(leave_out(one.name, "too large"));
      continue;
    }
    batch.names = {one.name};
    std::vector<data::Tensor> expected;
    try {
      for (const TensorView& view : reference.run(batch)) expected.push_back(data::copy_of(view));
    } catch (const Error& error) {
      if (is_the_systems(error)) throw;
      results.push_back(leave_out(one.name, "the reference does not accept it: " + told(error)));
      continue;
    }
    try {
      results.push_back(judge.judge(one.name, expected, candidate.run(batch)));
    } catch (const Error& error) {
      if (is_the_systems(error) || error.code() == ErrorCode::kMemory) throw;
      results.push_back(fail(one.name, "does not run: " + told(error)));
    }
  }
  return results;
}

}  // namespace ounce::evaluate
