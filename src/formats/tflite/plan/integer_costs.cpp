#include "formats/tflite/plan/integer_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "formats/tflite/plan/kernel_costs.h"
#include "plan/float_choice/min_cut.h"

namespace ounce::tflite {
namespace {

using plan::Division;
using plan::MinCut;
using plan::Prices;

constexpr std::int64_t kLeastSaved = 5'000;  // nanoseconds: less is noise
// Integers are what was asked for: they stay unless floats are faster by more than estimates are usually off.
constexpr double kIntegerPreference = 0.87;

// Sizes of hostile models may be beyond all numbers.
std::int64_t whole(double nanoseconds) {
  constexpr double kMost = 1e9;
  return nanoseconds > 0 ? std::llround(std::min(nanoseconds, kMost)) : 0;
}

struct Times {
  double integers = 0, floats = 0;  // nanoseconds for a sample
};

double count_of(const Model& model, const Flow& flow, const calibration::Ranges& ranges, std::size_t tensor) {
  const auto found = ranges.values.find(flow.names[tensor]);
  if (found != ranges.values.end() && ranges.samples != 0)
    return static_cast<double>(found->second.count()) / static_cast<double>(ranges.samples);
  return static_cast<double>(element_count(model.subgraphs[0].tensors[tensor]).value_or(0));
}

constexpr double kUnknownValue = 5;  // of an INT8 kernel that was not measured: a built-in one, for a value

Times times_of(const Model& model, const Flow& flow, std::size_t op, const IntegerCandidate& candidate,
               const calibration::Ranges& ranges) {
  const SubGraph& graph = model.subgraphs[0];
  const std::optional<Work> work = work_of(model, graph, graph.operators[op]);
  double values = 0;
  for (const std::size_t output : candidate.outputs) values += count_of(model, flow, ranges, output);
  if (!work) return {values * kUnknownValue, 0};
  Times times{cost_ns(*candidate.row, KernelKind::kInt8, *work),
              cost_ns(*candidate.row, KernelKind::kFp32, *work)};
  if (!std::isfinite(times.integers)) times.integers = times.floats + values * kUnknownValue;
  const bool leaves_xnnpack =
      !candidate.in_xnnpack || (was_in_xnnpack(*candidate.row, KernelKind::kFp32, work->form) &&
                                !was_in_xnnpack(*candidate.row, KernelKind::kInt8, work->form));
  if (leaves_xnnpack) times.integers += partition_ns();
  return times;
}

class CostGraph {
 public:
  // `asked`: the factor for the time of INT8 operators.
  CostGraph(const Model& model, const Flow& flow, const std::vector<IntegerCandidate>& candidates,
            const std::vector<bool>& is_integer, const calibration::Ranges& ranges, double asked)
      : model_(model),
        graph_(model.subgraphs[0]),
        flow_(flow),
        candidates_(candidates),
        is_integer_(is_integer),
        ranges_(ranges),
        asked_(asked),
        cut_(graph_.operators.size()) {
    for (std::size_t op = 0; op < is_integer_.size(); ++op) {
      if (!is_integer_[op]) continue;
      const Times times = times_of(model_, flow_, op, candidates_[op], ranges_);
      if (const std::optional<std::size_t> gate = gate_of(op)) {
        cut_.set_cost(op, 0, whole(times.floats));
        cut_.set_edge(op, *gate, whole(asked_ * times.integers));  // where the LOGISTIC is in FP32
        continue;
      }
      cut_.set_cost(op, whole(asked_ * times.integers), whole(times.floats));
      all_on_integers_ += whole(asked_ * times.integers);
    }
    std::vector<bool> is_seen(graph_.tensors.size());
    const auto see = [&](std::size_t tensor) {
      if (!is_seen[tensor]) add_value(tensor);
      is_seen[tensor] = true;
    };
    for (std::size_t op = 0; op < is_integer_.size(); ++op) {
      if (!is_integer_[op]) continue;
      for (const std::size_t i : candidates_[op].data)
        see(static_cast<std::size_t>(graph_.operators[op].inputs[i]));
      for (const std::size_t output : candidates_[op].outputs) see(output);
    }
  }

  std::int64_t all_on_integers() const { return all_on_integers_; }

  std::optional<Division> divide(const Prices& prices) const {
    MinCut cut = cut_;
    for (const auto& [op, price] : prices)
      cut.set_cost(op, std::isfinite(price) ? whole(price) : MinCut::kInfinite, 0);
    if (!cut.solve()) return std::nullopt;
    Division division{std::vector<bool>(is_integer_.size()), static_cast<double>(cut.cost())};
    for (std::size_t op = 0; op < is_integer_.size(); ++op)
      division.is_float[op] = is_integer_[op] && !cut.is_first(op);
    for (const auto& [op, price] : prices) {
      if (!division.is_float[op]) division.time -= static_cast<double>(whole(price));
    }
    return division;
  }

 private:
  // The LOGISTIC of a product x · LOGISTIC(x). XNNPACK computes both on INT8 as one lookup, so the product
  // adds no time (measured with LiteRT 2.3.0: 0.036 ns a value for both, 0.16 for a product alone).
  std::optional<std::size_t> gate_of(std::size_t op) const {
    if (candidates_[op].row->code != Builtin::kMul || candidates_[op].data.size() != 2) return std::nullopt;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const auto input = [&](std::size_t i) {
        return static_cast<std::size_t>(graph_.operators[op].inputs[candidates_[op].data[i]]);
      };
      const std::size_t gate = input(k), maker = flow_.producer[gate];
      if (maker == Flow::kNone || !is_integer_[maker] || candidates_[maker].row->code != Builtin::kLogistic)
        continue;
      const bool is_of_other = static_cast<std::size_t>(graph_.operators[maker].inputs[0]) == input(1 - k);
      if (is_of_other && flow_.uses[gate].size() == 1 && !flow_.is_output[gate]) return maker;
    }
    return std::nullopt;
  }

  // The conversions of one value between FP32 and INT8.
  void add_value(std::size_t tensor) {
    const double count = count_of(model_, flow_, ranges_, tensor);
    const double to_codes = asked_ * to_codes_ns(count), to_floats = asked_ * to_floats_ns(count);
    const std::size_t maker = flow_.producer[tensor];
    const bool is_made = maker != Flow::kNone && is_integer_[maker];
    bool has_float_users = flow_.is_output[tensor];
    std::vector<std::size_t> users;
    for (const Flow::Use& use : flow_.uses[tensor]) {
      if (is_integer_[use.op])
        users.push_back(use.op);
      else
        has_float_users = true;
    }
    if (!users.empty()) {  // codes, once for all who want them
      const std::size_t codes = cut_.add_vertex();
      for (const std::size_t user : users) cut_.set_edge(user, codes, MinCut::kInfinite);
      if (is_made) {
        cut_.set_edge(codes, maker, whole(to_codes));
      } else {
        cut_.set_cost(codes, whole(to_codes), 0);
        all_on_integers_ += whole(to_codes);
      }
    }
    if (!is_made) return;
    if (has_float_users) {
      cut_.set_cost(maker, whole(to_floats), 0);
      all_on_integers_ += whole(to_floats);
    }
    if (!users.empty()) {  // floats, once for all who want them
      const std::size_t floats = cut_.add_vertex();
      cut_.set_edge(maker, floats, has_float_users ? 0 : whole(to_floats));
      for (const std::size_t user : users) cut_.set_edge(floats, user, MinCut::kInfinite);
    }
  }

  const Model& model_;
  const SubGraph& graph_;
  const Flow& flow_;
  const std::vector<IntegerCandidate>& candidates_;
  const std::vector<bool>& is_integer_;
  const calibration::Ranges& ranges_;
  const double asked_;
  MinCut cut_;
  std::int64_t all_on_integers_ = 0;
};

}  // namespace

double multiplications(const Model& model, const Flow& flow, std::size_t op,
                       const IntegerCandidate& candidate, const calibration::Ranges& ranges) {
  const SubGraph& graph = model.subgraphs[0];
  const std::vector<std::int32_t>& inputs = graph.operators[op].inputs;
  if (!candidate.has_kernel) return 0;
  const double outputs = count_of(model, flow, ranges, candidate.outputs[0]);
  if (candidate.row->code == Builtin::kBatchMatmul) {
    const std::vector<std::int32_t>& shape = graph.tensors[static_cast<std::size_t>(inputs[0])].shape;
    return shape.empty() ? 0 : outputs * std::max(shape.back(), 1);
  }
  if (!candidate.has_weight()) return 0;
  const Tensor& weight = graph.tensors[static_cast<std::size_t>(inputs[candidate.row->weight])];
  const double values = static_cast<double>(element_count(weight).value_or(0));
  const auto channels = static_cast<double>(weight.shape[candidate.row->weight_axis]);
  if (candidate.row->code == Builtin::kTransposeConv) {
    const auto data = static_cast<std::size_t>(inputs[candidate.row->data]);
    return count_of(model, flow, ranges, data) / std::max<double>(weight.shape.back(), 1) * values;
  }
  return outputs / std::max(channels, 1.0) * values;
}

std::vector<bool> faster_in_floats(const Model& model, const Flow& flow,
                                   const std::vector<IntegerCandidate>& candidates,
                                   const std::vector<bool>& is_integer, const calibration::Ranges& ranges) {
  const CostGraph graph(model, flow, candidates, is_integer, ranges, kIntegerPreference);
  const std::optional<Division> division = graph.divide({});
  const bool is_worth_it =
      division && static_cast<double>(graph.all_on_integers()) - division->time >= kLeastSaved;
  return is_worth_it ? division->is_float : std::vector<bool>(is_integer.size());
}

std::vector<Division> float_divisions(const Model& model, const Flow& flow,
                                      const std::vector<IntegerCandidate>& candidates,
                                      const std::vector<bool>& is_integer, const calibration::Ranges& ranges,
                                      const Prices& noise, bool uses_cost_model) {
  const auto divisions = [&](double asked) {
    const CostGraph graph(model, flow, candidates, is_integer, ranges, asked);
    return plan::frontier(noise, [&](const Prices& prices) { return graph.divide(prices); });
  };
  if (!uses_cost_model) return divisions(0);
  std::vector<Division> found = divisions(kIntegerPreference);
  const bool is_faster_on_integers = !found.empty() && plan::leaves_integers(found[0], noise) &&
                                     found.back().time - found[0].time >= kLeastSaved;
  return is_faster_on_integers ? found : divisions(0);
}

}  // namespace ounce::tflite
