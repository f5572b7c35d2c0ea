#include "target/ort/provider_ops.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "target/target.h"

// Embed the file with the assembler, so that no generated source is needed.
asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_provider_pages:\n"
    ".incbin \"" OUNCE_PROVIDER_PAGES
    "\"\n"
    "ounce_provider_pages_end:\n"
    ".previous\n");
extern "C" const char ounce_provider_pages[], ounce_provider_pages_end[];

namespace ounce::target {

using graph::Bytes;

namespace {

std::string key_of(Bytes domain, Bytes op_type) {
  return fmt::format("{}:{}", onnx::is_default_domain(domain) ? Bytes() : domain, op_type);
}

std::optional<std::vector<std::int64_t>> shape_of(const onnx::ValueType& type) {
  if (!type.has_shape) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const onnx::Dimension& dimension : type.shape) dims.push_back(dimension.value);
  return dims;
}

bool is_quantize_or_dequantize(const onnx::Node& node) {
  return ops::info(node.op()).op_class == ops::Class::kQuantize;
}

bool is_random(const onnx::Node& node) {
  return node.op_type().starts_with("Random") || node.op() == Op::kBernoulli || node.op() == Op::kMultinomial;
}

// Ops whose output has the rank of their first input, and ops whose output has the largest rank of their
// inputs.
constexpr std::string_view kLikeTheFirst =
    " AveragePool BatchNormalization Cast Clip Conv ConvTranspose DequantizeLinear Elu GlobalAveragePool "
    "GlobalMaxPool HardSigmoid HardSwish Identity InstanceNormalization LeakyRelu MaxPool PRelu Pad "
    "QuantizeLinear Relu Resize Sigmoid Softmax Tanh ";
constexpr std::string_view kLikeTheLargest = " Add Div Max Min Mul Sub ";

constexpr std::size_t kMostDimensions = 64;  // bounds the copies of a hostile shape

bool is_listed(const onnx::Node& node, std::string_view ops) {
  return onnx::is_default_domain(node.domain()) &&
         ops.find(fmt::format(" {} ", node.op_type())) != std::string_view::npos;
}

bool holds_graphs(const onnx::Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const auto& attribute) { return !attribute->graphs.empty(); });
}

}  // namespace

ProviderDocs::ProviderDocs(const ProviderPage& page, const onnx::Model& model, const graph::Index& index,
                           const graph::ElementTypes& types)
    : page_(page), model_(model), index_(index), types_(types) {
  for (const ProviderOp& op : page.ops) {
    for (const std::string_view op_type : op.op_types) ops_.emplace(key_of(op.domain, op_type), &op);
  }
  for (std::size_t body = 0; body < index.bodies().size(); ++body) {  // parents before children
    read_declarations(body);
    follow_nodes(body);
  }
}

void ProviderDocs::read_declarations(std::size_t body) {
  const onnx::Graph* const graph = index_.bodies()[body].graph;
  if (graph == nullptr) return;
  const auto declare = [&](const onnx::ValueInfo& info) {
    const auto [value, home] = index_.find(body, info.name);
    if (value == nullptr || home != body) return;
    Fact& known = facts_[value];
    known.shape = shape_of(onnx::read_type(info.type));
    known.is_declared = known.shape.has_value();
    known.is_varying = known.shape && std::any_of(known.shape->begin(), known.shape->end(),
                                                  [](auto dim) { return dim < 0; });
  };
  for (const auto& info : graph->inputs) declare(*info);
  for (const auto& info : graph->outputs) declare(*info);
  for (const auto& info : graph->value_infos) declare(*info);
  for (const auto& tensor : graph->initializers) {
    const auto constant = graph::find_constant(model_, index_, body, tensor->name);
    if (constant) facts_[constant->value] = {true, false, true, tensor->dims};
  }
}

// Infers the shape of a node's output without full shape inference; often only the rank is known.
std::optional<std::vector<std::int64_t>> ProviderDocs::shape_after(std::size_t body,
                                                                   const onnx::Node& node) const {
  if (const onnx::Tensor* const tensor = graph::constant_tensor(node)) return tensor->dims;
  const bool is_like_all = is_listed(node, kLikeTheLargest);
  if (!is_like_all && !is_listed(node, kLikeTheFirst)) return std::nullopt;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < (is_like_all ? node.inputs.size() : 1); ++i) {
    const auto& shape = fact(body, graph::input_of(node, i)).shape;
    if (!shape) return std::nullopt;
    rank = std::max(rank, shape->size());
  }
  if (rank > kMostDimensions) return std::nullopt;
  return std::vector<std::int64_t>(rank, -1);
}

// Propagates shapes and constants through the nodes in file order, which is the order of execution.
void ProviderDocs::follow_nodes(std::size_t body) {
  for (const auto& kept : index_.bodies()[body].nodes()) {
    const onnx::Node& node = *kept;
    const bool is_literal = node.op() == Op::kConstant;
    bool is_constant = is_literal || (!node.inputs.empty() && !is_random(node) && !holds_graphs(node));
    bool is_varying = false;
    for (const Bytes input : node.inputs) {
      if (input.empty()) continue;
      const Fact& known = fact(body, input);
      is_constant = is_constant && known.is_constant;
      is_varying = is_varying || known.is_varying;
    }
    const auto shape = shape_after(body, node);
    for (const Bytes output : node.outputs) {
      const auto [value, home] = index_.find(body, output);
      if (output.empty() || value == nullptr) continue;
      Fact& known = facts_[value];
      known.is_constant = is_constant;
      if (!known.is_declared) known.is_varying = is_varying && node.op() != Op::kShape;
      if (!known.shape) known.shape = shape;
    }
  }
}

const ProviderDocs::Fact& ProviderDocs::fact(std::size_t body, Bytes name) const {
  static const Fact nothing;
  if (name.empty()) return nothing;
  const auto found = facts_.find(index_.find(body, name).value);
  return found == facts_.end() ? nothing : found->second;
}

bool ProviderDocs::is_constant(std::size_t body, Bytes name) const { return fact(body, name).is_constant; }

bool ProviderDocs::is_folded(std::size_t body, std::size_t position) const {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  return !ops::is_dequantize_linear(node.op()) && !node.outputs.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](Bytes name) { return name.empty() || is_constant(body, name); });
}

const ProviderOp* ProviderDocs::find(const onnx::Node& node) const {
  const auto found = ops_.find(key_of(node.domain(), node.op_type()));
  return found == ops_.end() ? nullptr : found->second;
}

// x ─ DequantizeLinear ─ Conv ─ QuantizeLinear ─ y: the provider takes all three nodes if it takes Conv.
bool ProviderDocs::belongs_to_quantized_op(std::size_t body, std::size_t position) const {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  const auto is_taken = [&](std::size_t home, std::size_t other) {
    std::string ignored;
    return !is_quantize_or_dequantize(*index_.bodies()[home].nodes()[other]) &&
           documents(home, other, ignored);
  };
  if (ops::is_quantize_linear(node.op())) {
    const auto [value, home] = index_.find(body, graph::input_of(node, 0));
    return value != nullptr && value->producer != graph::kNone && is_taken(home, value->producer);
  }
  const graph::Value* const output =
      node.outputs.empty() ? nullptr : index_.find(body, node.outputs[0]).value;
  return output != nullptr && !output->uses.empty() &&
         std::all_of(output->uses.begin(), output->uses.end(),
                     [&](const graph::Use& use) { return is_taken(use.body, use.node); });
}

bool ProviderDocs::documents(std::size_t body, std::size_t position, std::string& why_not) const {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  if (!page_.enters_bodies && index_.bodies()[body].parent != graph::kNone) {
    why_not = "inside another node";
    return false;
  }
  if (page_.takes_quantized_ops && is_quantize_or_dequantize(node)) {
    why_not = "the op that it belongs to is not supported";
    return belongs_to_quantized_op(body, position);
  }
  const ProviderOp* const op = find(node);
  if (op == nullptr) {
    why_not = "not in the list";
    return false;
  }
  const NodeView view(*this, body, node);
  if (!view.has_type(0, op->types.empty() ? page_.types : op->types)) {
    why_not = fmt::format("not for {}", name_of(view.type(0)));
    return false;
  }
  if (const std::string_view unmet = unmet_word(op->condition, view); !unmet.empty()) {
    why_not = fmt::format("only with {}", unmet);
    return false;
  }
  if (!page_.needs_fixed_shapes) return true;
  for (const auto* names : {&node.inputs, &node.outputs}) {
    for (const Bytes name : *names) {
      if (!view.is_varying(name)) continue;
      why_not = fmt::format("only with fixed shapes: '{}' is dynamic", name);
      return false;
    }
  }
  return true;
}

namespace {

// Returns the text before the mark; `text` keeps the rest.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view before = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return trimmed(before);
}

// Reads the pages line by line.
class PageReader {
 public:
  std::vector<ProviderPage> read(std::string_view text) {
    for (line_ = 1; !text.empty(); ++line_) {
      const std::string_view line = cut(text, '\n');
      if (!line.empty() && !line.starts_with('#')) read_line(line);
    }
    return std::move(pages_);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(ErrorCode::kInternal, fmt::format("line {}: {}", line_, why), "provider_pages.txt");
  }

  void read_line(std::string_view line) {
    constexpr std::string_view kPage = "page ";
    if (line.starts_with(kPage)) {
      pages_.emplace_back().provider = trimmed(line.substr(kPage.size()));
      return;
    }
    if (pages_.empty()) refuse("precedes the first page");
    ProviderPage& page = pages_.back();
    const bool has_key = line.find(':') < line.find('|');
    std::string_view rest = line;
    const std::string_view key = has_key ? cut(rest, ':') : std::string_view();
    const std::string_view value = trimmed(rest);
    if (key == "source") {
      page.source = value;
    } else if (key == "note") {
      page.note = value;
    } else if (key == "types") {
      page.types = value;
    } else if (key == "traits") {
      read_traits(page, value);
    } else {
      read_ops(page, key, rest);
    }
  }

  void read_traits(ProviderPage& page, std::string_view text) const {
    for (const std::string_view trait : words_of(text)) {
      if (trait == "fixed-shapes") {
        page.needs_fixed_shapes = true;
      } else if (trait == "bodies") {
        page.enters_bodies = true;
      } else if (trait == "quantized-ops") {
        page.takes_quantized_ops = true;
      } else if (trait == "node-by-node") {
        page.is_node_by_node = true;
      } else {
        refuse("has an unknown trait");
      }
    }
  }

  void read_ops(ProviderPage& page, std::string_view domain, std::string_view rest) const {
    ProviderOp op;
    op.domain = domain;
    op.op_types = words_of(cut(rest, '|'));
    op.condition = cut(rest, '|');
    op.types = trimmed(rest);
    if (op.op_types.empty()) refuse("names no op");
    if (!has_known_words(op.condition)) refuse("has an unknown condition");
    page.ops.push_back(std::move(op));
  }

  std::size_t line_ = 0;
  std::vector<ProviderPage> pages_;
};

}  // namespace

std::vector<ProviderPage> parse_provider_pages(std::string_view text) { return PageReader().read(text); }

const std::vector<ProviderPage>& provider_pages() {
  static const std::vector<ProviderPage> pages = parse_provider_pages(
      {ounce_provider_pages, static_cast<std::size_t>(ounce_provider_pages_end - ounce_provider_pages)});
  return pages;
}

const ProviderPage* find_provider_page(std::string_view provider) {
  const auto& pages = provider_pages();
  const auto found =
      std::find_if(pages.begin(), pages.end(), [&](const auto& page) { return page.provider == provider; });
  return found == pages.end() ? nullptr : &*found;
}

}  // namespace ounce::target
