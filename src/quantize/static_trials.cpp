#include "quantize/static_trials.h"

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::quantization {
namespace {

constexpr double kVariantWork = 1e9;  // to plan, write and load a variant, in multiplications …
constexpr double kValueWork = 20;     // … to give a value to the next node …
constexpr double kNodeWork = 6e4;     // … and to call a node
constexpr double kUsualVariants = 100, kLeastVariants = 40, kLeastConfirmed = 6;
// Guesses are made of few samples where each costs much, and confirmed on more of them.
constexpr double kFewestSamples = 2, kLeastSamples = 12, kMostSamples = 256, kMoreSamples = 8;

// What a sample costs that is no multiplication: most of it in networks of many small nodes.
double work_beside(const PreparedModel& prepared) {
  double values = 0;
  for (const auto& [name, statistics] : prepared.ranges()->values)
    values += static_cast<double>(statistics.count());
  std::size_t nodes = 0;
  for (const graph::Body& body : prepared.index().bodies()) nodes += body.nodes().size();
  return kValueWork * values / static_cast<double>(std::max<std::uint64_t>(1, prepared.ranges()->samples)) +
         kNodeWork * static_cast<double>(nodes);
}

const onnx::Tensor& weight_tensor(const graph::Index& index, const graph::Index::Found& weight) {
  const graph::Body& body = index.bodies()[weight.body];
  if (weight.value->initializer != graph::kNone) return *body.graph->initializers[weight.value->initializer];
  return *plan::constant_tensor(*body.nodes()[weight.value->producer]);
}

double values_of_sample(const PreparedModel& prepared, std::size_t body, onnx::Bytes name) {
  const graph::Index& index = prepared.index();
  const calibration::Ranges& ranges = *prepared.ranges();
  const auto found = ranges.values.find(graph::value_path(index, index.find(body, name).body, name));
  if (found == ranges.values.end()) return 0;
  return static_cast<double>(found->second.count()) /
         static_cast<double>(std::max<std::uint64_t>(1, ranges.samples));
}

// Every weight, as often as there are rows of inputs or positions of outputs.
double work_of(const PreparedModel& prepared, const plan::NodeDecision& decision, const onnx::Node& node) {
  const graph::Index& index = prepared.index();
  const onnx::Tensor& tensor = weight_tensor(index, index.find(decision.body, node.inputs[1]));
  const bool is_conv = node.op() == Op::kConv;
  const bool is_row_major = is_conv || integer_setting(node, "transB", 0) == 1;
  const auto outputs = static_cast<double>(tensor.dims[is_row_major ? 0 : 1]);
  const auto inputs = static_cast<double>(tensor.dims[is_row_major ? 1 : 0]);
  const double values = values_of_sample(prepared, decision.body, is_conv ? decision.output : node.inputs[0]);
  return values / (is_conv ? outputs : inputs) * static_cast<double>(tensor.element_count());
}

std::vector<IntegerNode> integer_nodes(const PreparedModel& prepared, const Recipe& recipe,
                                       ThreadPool& pool) {
  const graph::Index& index = prepared.index();
  const plan::Plan plan = plan::make_plan(prepared.model(), index, recipe, pool, prepared.ranges());
  std::vector<IntegerNode> nodes;
  for (const plan::NodeDecision& decision : plan.integer.nodes) {
    if (!decision.is_integer() || !decision.op->has_weight()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    const auto path = [&](onnx::Bytes name) {
      return graph::value_path(index, index.find(decision.body, name).body, name);
    };
    IntegerNode& found = nodes.emplace_back();
    found.output = graph::value_path(index, decision.body, node.outputs[0]);
    found.label = graph::node_label(node, decision.node);
    found.values.push_back(path(node.inputs[0]));
    if (decision.gives_codes) found.values.push_back(path(decision.output));
    found.work = work_of(prepared, decision, node);
  }
  return nodes;
}

}  // namespace

std::shared_ptr<const PreparedModel> as_judged(const std::shared_ptr<const PreparedModel>& prepared) {
  std::shared_ptr<const PreparedModel> half = prepared->seen_by_half();
  return half != nullptr ? half : prepared;
}

StaticTrials::StaticTrials(const QuantizeOptions& options, const StaticLimits& limits,
                           const MakeErrorMeter& make_meter, std::shared_ptr<const PreparedModel> prepared,
                           const Recipe& recipe)
    : options_(options),
      limits_(limits),
      prepared_(std::move(prepared)),
      judged_(as_judged(prepared_)),
      best_(recipe) {
  ThreadPool pool(options_.threads);
  nodes_ = integer_nodes(*judged_, best_, pool);
  if (nodes_.empty()) return;
  sample_work_ = work_beside(*judged_);
  for (const IntegerNode& node : nodes_) sample_work_ += node.work;
  const double affordable = limits_.most_work / kUsualVariants / std::max(sample_work_, 1.0);
  const auto at_least = [](double samples, double least) {
    return static_cast<std::uint64_t>(std::clamp(samples, least, kMostSamples));
  };
  meter_ = make_meter(at_least(kMoreSamples * affordable, kLeastSamples));
  if (meter_->samples() == 0) return;
  few_ = std::min(at_least(affordable, kFewestSamples), meter_->samples());
  to_spend_ = std::max(limits_.most_work,
                       kLeastVariants * cost_of(few_) + kLeastConfirmed * cost_of(meter_->samples()));
  show_progress();
}

void StaticTrials::set_best(const Recipe& recipe, double error) {
  best_ = recipe;
  least_ = error;
}

void StaticTrials::use(std::shared_ptr<const PreparedModel> prepared, double error) {
  judged_ = as_judged(prepared);
  prepared_ = std::move(prepared);
  least_ = error;
}

void StaticTrials::use_all_ranges(double error) {
  judged_ = prepared_;
  least_ = error;
}

void StaticTrials::use_half_the_ranges() {
  prepared_ = judged_;
  best_.integer.every_second = true;
}

double StaticTrials::cost_of(std::uint64_t samples) const {
  return sample_work_ * static_cast<double>(samples) + kVariantWork;
}

double StaticTrials::measure(const PreparedModel& prepared, const Recipe& recipe) {
  spent_ += cost_of(meter_->samples());
  show_progress();
  return meter_->error(prepared, recipe);
}

double StaticTrials::guess(const Recipe& recipe) {
  spent_ += cost_of(few_);
  show_progress();
  return meter_->guess(*judged_, recipe);
}

bool StaticTrials::take(const Recipe& recipe, double limit, double error) {
  if (!(error <= limit && error < least_)) return false;
  set_best(recipe, error);
  choose_few();
  return true;
}

void StaticTrials::choose_few() {
  if (has_few()) meter_->choose_few(few_);
}

void StaticTrials::show_progress() const {
  if (options_.progress == nullptr) return;
  options_.progress->done = std::min<std::uint64_t>(99, static_cast<std::uint64_t>(100 * spent_ / to_spend_));
  options_.progress->total = 100;
  options_.progress->stage = "trying";
}

}  // namespace ounce::quantization
