#include "target/accelerators.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <map>

#include "formats/tflite/file/ops.h"
#include "target/target.h"

asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_accelerator_text:\n"
    ".incbin \"" OUNCE_ACCELERATOR_PAGES
    "\"\n"
    "ounce_accelerator_text_end:\n"
    ".previous\n");
extern "C" const char ounce_accelerator_text[], ounce_accelerator_text_end[];

namespace ounce::target {
namespace {

using tflite::Operator;
using tflite::SubGraph;
using tflite::Tensor;

// An operator and its model, for evaluating conditions.
struct OperatorPlace {
  const tflite::Model& model;
  const SubGraph& graph;
  const Operator& op;

  const tflite::OpInfo& info() const { return tflite::info(code_of(model, op)); }
  const Tensor* tensor(const std::vector<std::int32_t>& list, std::size_t i) const {
    return i < list.size() && list[i] >= 0 ? &graph.tensors[static_cast<std::size_t>(list[i])] : nullptr;
  }
  const Tensor* input(std::size_t i) const { return tensor(op.inputs, i); }
  std::int64_t setting(std::string_view name, std::int64_t otherwise) const {
    return op.options.table ? op.options.table->integer(name) : otherwise;
  }
  // The 32-bit integers of a constant input; empty for other inputs.
  std::vector<std::int32_t> numbers(std::size_t i) const {
    const Tensor* const found = input(i);
    if (found == nullptr || found->type != tflite::TensorType::kInt32 || !is_constant(model, *found))
      return {};
    const tflite::Bytes bytes = data_of(model, *found).bytes();
    std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::int32_t));
    return values;
  }
};

bool has_constant_weights(const OperatorPlace& at) {
  const std::size_t place = at.info().has_weight() ? at.info().weight : 1;
  const Tensor* const weight = at.input(place);
  return weight == nullptr || is_constant(at.model, *weight);
}

bool is_at_most(const std::vector<std::int32_t>& values, std::int32_t most) {
  return std::all_of(values.begin(), values.end(), [&](std::int32_t value) { return value <= most; });
}

bool has_strides(const OperatorPlace& at, std::int64_t most) {
  return at.setting("stride_w", 1) <= most && at.setting("stride_h", 1) <= most;
}

bool has_filter_width(const OperatorPlace& at, std::int32_t width) {
  const Tensor* const weight = at.input(1);
  return weight == nullptr || weight->shape.size() != 4 || weight->shape[2] == width;
}

bool keeps_batch(const OperatorPlace& at) {
  const bool is_split = at.info().code == tflite::Builtin::kSplit;
  if (!is_split) return at.setting("axis", 0) != 0;
  const std::vector<std::int32_t> axis = at.numbers(0);
  return axis.empty() || axis[0] != 0;
}

bool has_same_scale(const OperatorPlace& at) {
  const Tensor *const from = at.input(0), *const to = at.tensor(at.op.outputs, 0);
  if (from == nullptr || to == nullptr || !from->quantization || !to->quantization) return true;
  return from->quantization->scale == to->quantization->scale &&
         from->quantization->zero_point == to->quantization->zero_point;
}

bool is_eight_bits(const OperatorPlace& at) {
  const Tensor* const from = at.input(0);
  return from == nullptr || from->type == tflite::TensorType::kInt8 ||
         from->type == tflite::TensorType::kUint8;
}

struct Condition {
  std::string_view words;
  bool (*is_met)(const OperatorPlace& at);
};
constexpr Condition kConditions[] = {
    {"constant weights", has_constant_weights},
    {"no fused activation",
     [](const OperatorPlace& at) { return at.setting("fused_activation_function", 0) == 0; }},
    {"same dilation",
     [](const OperatorPlace& at) {
       return at.setting("dilation_w_factor", 1) == at.setting("dilation_h_factor", 1);
     }},
    {"strides up to 3", [](const OperatorPlace& at) { return has_strides(at, 3); }},
    {"filter width 3", [](const OperatorPlace& at) { return has_filter_width(at, 3); }},
    {"depth multiplier 1", [](const OperatorPlace& at) { return at.setting("depth_multiplier", 1) == 1; }},
    {"strides of 1", [](const OperatorPlace& at) { return is_at_most(at.numbers(3), 1); }},
    {"sizes up to 65", [](const OperatorPlace& at) { return is_at_most(at.numbers(1), 65); }},
    {"up to 16000 values",
     [](const OperatorPlace& at) {
       const Tensor* const from = at.input(0);
       return from == nullptr || from->shape.empty() || from->shape.back() <= 16000;
     }},
    {"not along the batch", keeps_batch},
    {"same scale", has_same_scale},
    {"8-bit input", is_eight_bits},
};

const Condition* find_condition(std::string_view words) {
  const auto* const found = std::find_if(std::begin(kConditions), std::end(kConditions),
                                         [&](const Condition& each) { return each.words == words; });
  return found == std::end(kConditions) ? nullptr : found;
}

bool takes_type(const std::vector<std::string_view>& types, const Tensor* tensor) {
  return tensor == nullptr ||
         std::find(types.begin(), types.end(), name_of(tflite::element_type_of(tensor->type))) != types.end();
}

bool takes(const AcceleratorPage& page, const std::map<std::string_view, const AcceleratorOp*>& rows,
           const OperatorPlace& at) {
  const tflite::OpInfo& info = at.info();
  const auto found = rows.find(info.name);
  if (info.code == tflite::Builtin::kCustom || found == rows.end()) return false;
  const AcceleratorOp& row = *found->second;
  const auto& types = row.types.empty() ? page.types : row.types;
  // The FP32 side of QUANTIZE and DEQUANTIZE is the border of a partition, so its type does not matter.
  if (info.code != tflite::Builtin::kQuantize && !takes_type(types, at.input(info.data))) return false;
  const bool gives_numbers = info.code != tflite::Builtin::kArgMax && info.code != tflite::Builtin::kArgMin &&
                             info.code != tflite::Builtin::kDequantize &&
                             info.code != tflite::Builtin::kTopkV2;
  for (std::size_t i = 0; i < at.op.outputs.size(); ++i) {
    const Tensor* const output = at.tensor(at.op.outputs, i);
    const bool is_answer = output != nullptr && output->type == tflite::TensorType::kBool;
    if (gives_numbers && !is_answer && !takes_type(types, output)) return false;
    if (output != nullptr && output->shape.size() > page.rank) return false;
  }
  const auto words = words_of(row.conditions, ",");
  return std::all_of(words.begin(), words.end(),
                     [&](std::string_view word) { return find_condition(trimmed(word))->is_met(at); });
}

// The dependencies between operators of the main graph.
struct Order {
  explicit Order(const SubGraph& graph) : next(graph.operators.size()), waits(graph.operators.size()) {
    std::vector<std::size_t> maker(graph.tensors.size(), graph.operators.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      for (const std::int32_t input : graph.operators[i].inputs) {
        const std::size_t from = input < 0 ? graph.operators.size() : maker[static_cast<std::size_t>(input)];
        if (from == graph.operators.size()) continue;
        next[from].push_back(i);
        ++waits[i];
      }
      for (const std::int32_t output : graph.operators[i].outputs) {
        if (output >= 0) maker[static_cast<std::size_t>(output)] = i;
      }
    }
  }
  std::vector<std::vector<std::size_t>> next;
  std::vector<std::size_t> waits;  // number of inputs that other operators have yet to compute
};

// Counts partitions by simulating execution: runs all ready operators of one side, then all of the other, and
// so on.
void count_partitions(const SubGraph& graph, const std::vector<bool>& is_taken, ProviderHint& hint) {
  Order order(graph);
  std::deque<std::size_t> ready[2];
  for (std::size_t i = 0; i < is_taken.size(); ++i) {
    if (order.waits[i] == 0) ready[is_taken[i] ? 1 : 0].push_back(i);
  }
  for (bool side = false; !ready[0].empty() || !ready[1].empty(); side = !side) {
    auto& queue = ready[side ? 1 : 0];
    std::size_t count = 0;
    for (; !queue.empty(); ++count) {
      const std::size_t op = queue.front();
      queue.pop_front();
      for (const std::size_t user : order.next[op]) {
        if (--order.waits[user] == 0) ready[is_taken[user] ? 1 : 0].push_back(user);
      }
    }
    if (!side || count == 0) continue;
    ++hint.partitions;
    hint.largest = std::max(hint.largest, count);
  }
}

}  // namespace

std::vector<AcceleratorPage> parse_accelerator_pages(std::string_view text) {
  std::vector<AcceleratorPage> pages;
  const auto after = [](std::string_view line, std::string_view word) {
    return trimmed(line.substr(word.size()));
  };
  for (const std::string_view line : words_of(text, "\n")) {
    if (line.starts_with('#')) continue;
    if (line.starts_with("page ")) {
      pages.emplace_back().name = after(line, "page ");
      continue;
    }
    if (pages.empty())
      throw Error(ErrorCode::kInternal, fmt::format("a line before the first page: '{}'", line));
    AcceleratorPage& page = pages.back();
    if (line.starts_with("source:")) {
      page.source = after(line, "source:");
    } else if (line.starts_with("note:")) {
      page.note = after(line, "note:");
    } else if (line.starts_with("types:")) {
      page.types = words_of(after(line, "types:"));
    } else if (line.starts_with("rank:")) {
      const std::string_view number = after(line, "rank:");
      std::from_chars(number.data(), number.data() + number.size(), page.rank);
    } else {
      AcceleratorOp& row = page.ops.emplace_back();
      const std::size_t bar = line.find('|');
      row.ops = words_of(line.substr(0, bar));
      if (bar == std::string_view::npos) continue;
      const std::size_t second = line.find('|', bar + 1);
      row.conditions =
          trimmed(line.substr(bar + 1, second == std::string_view::npos ? second : second - bar - 1));
      if (second != std::string_view::npos) row.types = words_of(line.substr(second + 1));
      for (const std::string_view word : words_of(row.conditions, ",")) {
        if (find_condition(trimmed(word)) == nullptr)
          throw Error(ErrorCode::kInternal, fmt::format("unknown condition: '{}'", line));
      }
    }
  }
  return pages;
}

const std::vector<AcceleratorPage>& accelerator_pages() {
  static const std::vector<AcceleratorPage> pages =
      parse_accelerator_pages({ounce_accelerator_text, static_cast<std::size_t>(ounce_accelerator_text_end -
                                                                                ounce_accelerator_text)});
  return pages;
}

const AcceleratorPage* find_accelerator(std::string_view name) {
  const auto& pages = accelerator_pages();
  const auto found = std::find_if(pages.begin(), pages.end(),
                                  [&](const AcceleratorPage& page) { return page.name == name; });
  return found == pages.end() ? nullptr : &*found;
}

ProviderHint hint_of(const AcceleratorPage& page, const tflite::Model& model) {
  std::map<std::string_view, const AcceleratorOp*> rows;
  for (const AcceleratorOp& row : page.ops) {
    for (const std::string_view op : row.ops) rows[op] = &row;
  }
  ProviderHint hint;
  hint.provider = page.name;
  hint.source = page.source;
  hint.note = page.note;
  const SubGraph& graph = model.subgraphs[0];
  for (std::size_t i = 1; i < model.subgraphs.size(); ++i) hint.nested += model.subgraphs[i].operators.size();
  std::vector<bool> is_taken(graph.operators.size());
  std::map<std::string, std::size_t> left;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const OperatorPlace at{model, graph, graph.operators[i]};
    is_taken[i] = takes(page, rows, at);
    const std::string name = tflite::op_name(model.operator_codes[at.op.opcode_index]);
    if (is_taken[i]) {
      ++hint.taken;
    } else {
      ++left[name];
    }
  }
  hint.nodes = graph.operators.size();
  hint.computing = hint.taken;
  count_partitions(graph, is_taken, hint);
  hint.computing_partitions = hint.partitions;
  std::vector<std::pair<std::string, std::size_t>> sorted(left.begin(), left.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [name, count] : sorted) hint.left.push_back(fmt::format("{} {}", name, count));
  const auto is_float = [&](std::int32_t tensor) {
    return graph.tensors[static_cast<std::size_t>(tensor)].type == tflite::TensorType::kFloat32;
  };
  const bool wants_integers = std::find(page.types.begin(), page.types.end(), "float32") == page.types.end();
  if (wants_integers && (std::any_of(graph.inputs.begin(), graph.inputs.end(), is_float) ||
                         std::any_of(graph.outputs.begin(), graph.outputs.end(), is_float)))
    hint.note = fmt::format(
        "runs 8-bit models only, but inputs or outputs of this model are FP32: quantize the whole model to "
        "int8{}{}",
        hint.note.empty() ? "" : "; ", page.note);
  return hint;
}

std::vector<ProviderHint> accelerator_hints(const tflite::Model& model,
                                            const std::set<std::string_view>& names) {
  std::vector<ProviderHint> hints;
  for (const std::string_view name : names) {
    if (const AcceleratorPage* const page = find_accelerator(name)) hints.push_back(hint_of(*page, model));
  }
  return hints;
}

}  // namespace ounce::target
