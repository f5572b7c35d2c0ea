#include "formats/onnx/qat/fake_quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/types.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using Dims = FrozenValues::Dims;

constexpr std::size_t kMostLinks = 6;  // on either side of a Round
// How far s · (1/s) may be from 1 when both are rounded to float32.
constexpr double kRounding = 0x1p-22;

bool is_custom_quant_domain(Bytes domain) {
  return domain == "onnx.brevitas" || domain == "qonnx.custom_op.general";
}

// The shapes that the file declares, read when they are asked for.
class DeclaredShapes {
 public:
  explicit DeclaredShapes(const graph::Index& index) : index_(index), types_(index.bodies().size()) {
    for (std::size_t body = 0; body < types_.size(); ++body) {
      const onnx::Graph* graph = index.bodies()[body].graph;
      if (graph == nullptr) continue;
      for (const auto* list : {&graph->inputs, &graph->outputs, &graph->value_infos}) {
        for (const auto& info : *list) types_[body].emplace(info->name, info->type);
      }
    }
  }

  // -1 for dimensions that are not fixed; nothing when no shape is declared.
  std::optional<Dims> find(std::size_t body, Bytes name) const {
    const std::size_t home = index_.find(body, name).body;
    if (home == kNone) return std::nullopt;
    const auto found = types_[home].find(name);
    if (found == types_[home].end()) return std::nullopt;
    const onnx::ValueType type = onnx::read_type(found->second);
    if (!type.has_shape) return std::nullopt;
    Dims dims;
    for (const auto& dimension : type.shape) dims.push_back(dimension.value);
    return dims;
  }

 private:
  const graph::Index& index_;
  std::vector<std::unordered_map<Bytes, Bytes>> types_;  // by body
};

// Would an op on values of `shape` and this constant give values of that shape?
bool keeps_shape(const Dims& constant, const std::optional<Dims>& shape) {
  const bool has_one_value = std::all_of(constant.begin(), constant.end(), [](auto dim) { return dim == 1; });
  if (!shape) return has_one_value && constant.size() <= 1;
  if (constant.size() > shape->size()) return false;
  const std::size_t skipped = shape->size() - constant.size();
  for (std::size_t i = 0; i < constant.size(); ++i) {
    if (constant[i] != 1 && constant[i] != (*shape)[skipped + i]) return false;
  }
  return true;
}

bool is_whole(double value) { return value == std::trunc(value) && std::abs(value) <= 0x1p20; }

// The links between the first op of a chain and the last.
struct Link {
  enum class Kind { kAdd, kSubtract, kLimit, kRound };
  Kind kind;
  std::size_t position;
  double value = 0;  // what is added or taken off
  Limits limits;
};

struct Range {
  double lo = 0, hi = 0, zero = 0;
};

// Where the links clip, and what their zero is there.
std::variant<Range, Reason> range_of(const std::vector<Link>& links) {
  double offset = 0;
  std::optional<Range> range;
  for (const Link& link : links) {
    if (link.kind == Link::Kind::kAdd) offset += link.value;
    if (link.kind == Link::Kind::kSubtract) offset -= link.value;
    if (link.kind != Link::Kind::kLimit) continue;
    if (!range) range = {link.limits.lo, link.limits.hi, offset};
    if (range->zero != offset) return Reason{"it is clipped in front of its zero point and behind it"};
    range->lo = std::max<double>(range->lo, link.limits.lo);
    range->hi = std::min<double>(range->hi, link.limits.hi);
  }
  if (offset != 0) return Reason{fmt::format("it adds {} that it does not take off again", offset)};
  return range.value_or(Range{});
}

// Without it a number is rounded, but to no code.
bool clips(const std::vector<Link>& links) {
  return std::any_of(links.begin(), links.end(),
                     [](const Link& link) { return link.kind == Link::Kind::kLimit; });
}

class Finding {
 public:
  Finding(const onnx::Model& model, const graph::Index& index)
      : model_(model), index_(index), reader_(model, index), shapes_(index) {}

  std::vector<FakeQuantizeFound> run() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const auto& nodes = index_.bodies()[body].nodes();
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (is_op(*nodes[i], "Round")) visit_round(body, i);
        if (is_custom_quant_domain(nodes[i]->domain)) visit_custom(body, i);
      }
    }
    return std::move(found_);
  }

 private:
  using Outcome = std::variant<FakeQuantize, Reason>;

  const onnx::Node& node(std::size_t body, std::size_t position) const {
    return *index_.bodies()[body].nodes()[position];
  }

  // ---- the chain of float ops

  struct Ends {
    std::size_t first = kNone, last = kNone;
    std::vector<Link> links;   // in order
    std::vector<Dims> shapes;  // of their constants
  };

  void visit_round(std::size_t body, std::size_t position) {
    const onnx::Node& round = node(body, position);
    if (round.inputs.size() != 1 || round.outputs.size() != 1) return;
    Ends ends;
    if (!walk_back(body, round.inputs[0], ends)) return;
    std::reverse(ends.links.begin(), ends.links.end());
    ends.links.push_back({Link::Kind::kRound, position, 0, {}});
    if (!walk_on(body, round.outputs[0], ends) || !clips(ends.links)) return;
    const auto& inputs = node(body, ends.first).inputs;
    const bool is_weight = std::all_of(inputs.begin(), inputs.end(),
                                       [&](Bytes input) { return reader_.dims(body, input).has_value(); });
    found_.push_back({body, position, node(body, ends.last).outputs[0], is_weight, read_chain(body, ends)});
  }

  // The links in front of the Round, the nearest first, up to the Div or Mul. False when there is none.
  bool walk_back(std::size_t body, Bytes name, Ends& ends) {
    while (ends.links.size() <= kMostLinks) {
      const auto [value, home] = index_.find(body, name);
      if (value == nullptr || home != body || value->producer == kNone || !is_private(body, *value))
        return false;
      const onnx::Node& producer = node(body, value->producer);
      if (producer.outputs.size() != 1) return false;
      if (is_op(producer, "Div") || is_op(producer, "Mul")) {
        ends.first = value->producer;
        return true;
      }
      const auto input = add_link(body, value->producer, ends);
      if (!input) return false;
      name = producer.inputs[*input];
    }
    return false;
  }

  // The links behind the Round, up to the Mul.
  bool walk_on(std::size_t body, Bytes name, Ends& ends) {
    for (std::size_t i = 0; i <= kMostLinks; ++i) {
      const auto [value, home] = index_.find(body, name);
      if (value == nullptr || home != body || !is_private(body, *value)) return false;
      const graph::Use& use = value->uses[0];
      const onnx::Node& user = index_.node(use);
      if (user.outputs.size() != 1 || user.outputs[0].empty()) return false;
      if (is_op(user, "Mul") && user.inputs.size() == 2) {
        ends.last = use.node;
        return true;
      }
      const auto input = add_link(body, use.node, ends);
      if (!input || *input != use.input) return false;
      name = user.outputs[0];
    }
    return false;
  }

  // For one node of the same body alone.
  static bool is_private(std::size_t body, const graph::Value& value) {
    return !value.is_output && value.uses.size() == 1 && value.uses[0].body == body;
  }

  // Takes a node into the chain; the input that the chain comes in by, nothing when it is no link.
  std::optional<std::size_t> add_link(std::size_t body, std::size_t position, Ends& ends) {
    const onnx::Node& link = node(body, position);
    if (is_op(link, "Clip") && !link.inputs.empty()) return add_clip(body, position, ends);
    const bool adds = is_op(link, "Add"), subtracts = is_op(link, "Sub");
    const bool is_max = is_op(link, "Max"), is_min = is_op(link, "Min");
    if (!(adds || subtracts || is_max || is_min) || link.inputs.size() != 2) return std::nullopt;
    for (const std::size_t input : {std::size_t{1}, std::size_t{0}}) {
      if (input == 0 && subtracts) break;  // z − x is no link
      auto read = reader_.read(body, link.inputs[input]);
      const auto* constant = std::get_if<FrozenValues>(&read);
      const auto value = constant != nullptr ? uniform(*constant) : std::nullopt;
      if (!value) continue;
      Link made{adds ? Link::Kind::kAdd : Link::Kind::kSubtract, position, *value, {}};
      if (is_max || is_min) made.kind = Link::Kind::kLimit;
      if (is_max) made.limits.lo = *value;
      if (is_min) made.limits.hi = *value;
      ends.links.push_back(made);
      ends.shapes.push_back(constant->dims());
      return 1 - input;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> add_clip(std::size_t body, std::size_t position, Ends& ends) {
    const auto limits = reader_.limits(body, node(body, position));
    if (!limits) return std::nullopt;
    ends.links.push_back({Link::Kind::kLimit, position, 0, *limits});
    return 0;
  }

  // The one value that all places of a constant have.
  static std::optional<float> uniform(const FrozenValues& constant) {
    const std::vector<float> values = constant.all();
    const bool is_uniform =
        std::all_of(values.begin(), values.end(), [&](float value) { return value == values[0]; });
    return is_uniform && !values.empty() ? std::optional(values[0]) : std::nullopt;
  }

  Outcome read_chain(std::size_t body, Ends& ends) {
    const onnx::Node &first = node(body, ends.first), &last = node(body, ends.last);
    if (first.inputs.size() != 2) return Reason{"what it is divided by is not known"};
    const std::size_t end = ends.links.back().position;
    const std::size_t scale_input = last.inputs[0] == node(body, end).outputs[0] ? 1 : 0;
    auto scale = read_scale(body, last.inputs[scale_input]);
    if (auto* reason = std::get_if<Reason>(&scale)) return std::move(*reason);
    const auto factor = find_factor(body, first);
    if (!factor) return Reason{"what it is divided by is not a constant"};
    auto& values = std::get<FrozenValues>(scale);
    if (!is_same_scale(body, first, *factor, values))
      return Reason{"it is divided by another scale than it is multiplied with"};
    const auto range = range_of(ends.links);
    if (const auto* reason = std::get_if<Reason>(&range)) return *reason;
    FakeQuantize fake{.nodes = {ends.first},
                      .input = first.inputs[1 - *factor],
                      .output = last.outputs[0],
                      .scale = std::move(values),
                      .zero = 0,
                      .range = {},
                      .type = {},
                      .axis = 0};
    for (const Link& link : ends.links) fake.nodes.push_back(link.position);
    fake.nodes.push_back(ends.last);
    if (auto reason = set_range(std::get<Range>(range), fake)) return std::move(*reason);
    if (overlaps_another(body, fake.nodes)) return Reason{"its ops are part of another quantization"};
    ends.shapes.push_back(*reader_.dims(body, first.inputs[*factor]));
    return checked(body, std::move(fake), ends.shapes);
  }

  // A Mul can be the end of one chain and the start of the next; it becomes part of one pair alone.
  bool overlaps_another(std::size_t body, const std::vector<std::size_t>& nodes) {
    for (const std::size_t position : nodes) {
      if (taken_.contains({body, position})) return true;
    }
    for (const std::size_t position : nodes) taken_.emplace(body, position);
    return false;
  }

  // Which input of the first op is the scale: of two constants the smaller one is.
  std::optional<std::size_t> find_factor(std::size_t body, const onnx::Node& first) {
    const auto right = reader_.dims(body, first.inputs[1]);
    if (is_op(first, "Div")) return right ? std::optional<std::size_t>(1) : std::nullopt;
    const auto left = reader_.dims(body, first.inputs[0]);
    if (!left && !right) return std::nullopt;
    if (!left || !right) return left ? 0 : 1;
    return count_of(*left) < count_of(*right) ? 0 : 1;
  }

  static std::uint64_t count_of(const Dims& dims) {
    std::uint64_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::uint64_t>(dim);
    return count;
  }

  bool is_same_scale(std::size_t body, const onnx::Node& first, std::size_t factor,
                     const FrozenValues& scale) {
    auto read = reader_.read(body, first.inputs[factor]);
    const auto* values = std::get_if<FrozenValues>(&read);
    if (values == nullptr || values->size() != scale.size() || values->type() != ElementType::kFloat)
      return false;
    // Of one value for each channel the axes have to be the same, counted from the back.
    if (!scale.is_single() && place_of_channels(values->dims()) != place_of_channels(scale.dims()))
      return false;
    const bool divides = is_op(first, "Div");
    const std::vector<float> a = values->all(), b = scale.all();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double product = divides ? double{a[i]} / double{b[i]} : double{a[i]} * double{b[i]};
      if (!(std::abs(product - 1) <= kRounding)) return false;
    }
    return true;
  }

  // ---- the ops of Brevitas and QONNX

  void visit_custom(std::size_t body, std::size_t position) {
    const onnx::Node& quant = node(body, position);
    if (quant.outputs.size() != 1 || quant.outputs[0].empty()) return;
    const bool is_weight = reader_.dims(body, input_of(quant, 0)).has_value();
    found_.push_back({body, position, quant.outputs[0], is_weight, read_custom(body, position)});
  }

  Outcome read_custom(std::size_t body, std::size_t position) {
    const onnx::Node& quant = node(body, position);
    if (quant.op_type != "Quant" && quant.op_type != "IntQuant")
      return Reason{fmt::format("{} is not known here", quant.op_type)};
    if (quant.inputs.size() != 4 || quant.inputs[0].empty()) return Reason{"it does not have four inputs"};
    const auto is_signed = onnx::integer_setting(quant, "signed", 1);
    const auto is_narrow = onnx::integer_setting(quant, "narrow", 0);
    const auto rounding = onnx::string_setting(quant, "rounding_mode", "ROUND");
    if (!is_signed || !is_narrow || !rounding) return Reason{"its attributes are not known here"};
    if (*rounding != "ROUND" && *rounding != "HALF_EVEN")
      return Reason{fmt::format("it rounds as {} says, not to the nearest", *rounding)};
    auto scale = read_scale(body, quant.inputs[1]);
    if (auto* reason = std::get_if<Reason>(&scale)) return std::move(*reason);
    const auto zero = read_number(body, quant.inputs[2]), bits = read_number(body, quant.inputs[3]);
    if (!zero || !bits) return Reason{"its zero point or bit width is not one constant number"};
    const bool has_four = opset_of(model_, index_, body) >= 21;
    if (*bits != 8 && !(*bits == 4 && has_four))
      return Reason{fmt::format("{} bits are not written as QuantizeLinear here{}", *bits,
                                *bits == 4 ? " before opset 21" : "")};
    FakeQuantize fake{.nodes = {position},
                      .input = quant.inputs[0],
                      .output = quant.outputs[0],
                      .scale = std::move(std::get<FrozenValues>(scale)),
                      .zero = 0,
                      .range = {},
                      .type = {},
                      .axis = 0};
    const bool is_byte = *bits == 8;
    fake.type = *is_signed != 0 ? (is_byte ? ElementType::kInt8 : ElementType::kInt4)
                                : (is_byte ? ElementType::kUint8 : ElementType::kUint4);
    fake.range = *code_range(fake.type);
    if (*is_narrow != 0 && *is_signed != 0) ++fake.range.lo;
    if (*is_narrow != 0 && *is_signed == 0) --fake.range.hi;
    if (auto reason = set_zero(*zero, fake)) return std::move(*reason);
    return checked(body, std::move(fake),
                   {*reader_.dims(body, quant.inputs[2]), *reader_.dims(body, quant.inputs[3])});
  }

  std::optional<float> read_number(std::size_t body, Bytes name) {
    auto read = reader_.read(body, name);
    const auto* values = std::get_if<FrozenValues>(&read);
    return values != nullptr ? uniform(*values) : std::nullopt;
  }

  // ---- both

  std::variant<FrozenValues, Reason> read_scale(std::size_t body, Bytes name) {
    auto read = reader_.read(body, name);
    if (auto* reason = std::get_if<Reason>(&read)) return Reason{fmt::format("its scale: {}", reason->text)};
    auto* scale = std::get_if<FrozenValues>(&read);
    if (scale == nullptr) return Reason{"its scale is not a constant"};
    if (scale->type() != ElementType::kFloat)
      return Reason{fmt::format("its scale is of type {}", name_of(scale->type()))};
    for (const float value : scale->all()) {
      if (!(value > 0) || !std::isfinite(value))
        return Reason{fmt::format("its scale {} is not positive and finite", value)};
    }
    return std::move(*scale);
  }

  // Unsigned codes unless there are negative ones.
  static std::optional<Reason> set_range(const Range& range, FakeQuantize& fake) {
    if (!is_whole(range.lo) || !is_whole(range.hi) || !(range.lo < range.hi))
      return Reason{fmt::format("it is clipped to [{}, {}], which is no range of codes", range.lo, range.hi)};
    fake.range = {static_cast<int>(range.lo), static_cast<int>(range.hi)};
    fake.type = fake.range.lo < 0 ? ElementType::kInt8 : ElementType::kUint8;
    const CodeRange whole = *code_range(fake.type);
    if (fake.range.lo < whole.lo || fake.range.hi > whole.hi)
      return Reason{fmt::format("its codes from {} to {} do not fit 8 bits", fake.range.lo, fake.range.hi)};
    return set_zero(range.zero, fake);
  }

  static std::optional<Reason> set_zero(double zero, FakeQuantize& fake) {
    const CodeRange whole = *code_range(fake.type);
    if (!is_whole(zero) || zero < whole.lo || zero > whole.hi)
      return Reason{fmt::format("its zero point {} is no code of type {}", zero, name_of(fake.type))};
    fake.zero = static_cast<int>(zero);
    return std::nullopt;
  }

  // The only axis that has more than one place, counted from the back: 1 is the last. 0 when there is not
  // one.
  static std::size_t place_of_channels(const Dims& dims) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      if (place != 0) return 0;
      place = dims.size() - i;
    }
    return place;
  }

  // With all shapes known to fit, and the axis of the channels.
  Outcome checked(std::size_t body, FakeQuantize fake, const std::vector<Dims>& others) {
    auto shape = reader_.dims(body, fake.input);
    if (!shape) shape = shapes_.find(body, fake.input);
    bool fits = keeps_shape(fake.scale.dims(), shape);
    for (const Dims& dims : others) fits = fits && keeps_shape(dims, shape);
    if (!fits)
      return Reason{
          fmt::format("the declared shape of '{}' does not show that its constants fit", fake.input)};
    if (!fake.scale.is_single()) {
      const std::size_t place = place_of_channels(fake.scale.dims());
      if (place == 0) return Reason{"its scale differs along more than one axis"};
      fake.axis = static_cast<std::int64_t>(shape->size() - place);
    }
    if (auto reason = check_opset(opset_of(model_, index_, body), fake)) return std::move(*reason);
    return fake;
  }

  static std::optional<Reason> check_opset(std::int64_t opset, const FakeQuantize& fake) {
    const bool is_narrow = fake.range != *code_range(fake.type);
    const std::int64_t needed = !fake.scale.is_single() ? 13 : is_narrow ? 11 : 10;
    if (opset >= needed) return std::nullopt;
    return Reason{
        fmt::format("QuantizeLinear can say this from opset {} on; the model has {}", needed, opset)};
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  FrozenReader reader_;
  DeclaredShapes shapes_;
  std::set<std::pair<std::size_t, std::size_t>> taken_;  // nodes of chains, by body and position
  std::vector<FakeQuantizeFound> found_;
};

}  // namespace

std::vector<FakeQuantizeFound> find_fake_quantize(const onnx::Model& model, const graph::Index& index) {
  return Finding(model, index).run();
}

}  // namespace ounce::passes
