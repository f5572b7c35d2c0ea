#include "evaluate/models/matched_interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "data/tensor.h"
#include "evaluate/models/open.h"

namespace ounce::evaluate {
namespace {

using data::TensorView;
using data::ValueDescription;
using Values = std::vector<ValueDescription>;
using Order = std::vector<std::size_t>;  // axis i of the result is axis order[i] of the given tensor

Order same_order(std::size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}
// [N, C, H, W] → [N, H, W, C]
Order channels_last(std::size_t rank) {
  Order order = same_order(rank);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}
// [N, H, W, C] → [N, C, H, W]
Order channels_first(std::size_t rank) {
  Order order = same_order(rank);
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}
Order inverse(const Order& order) {
  Order back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return back;
}

bool is_integer(ElementType type) { return type == ElementType::kInt64 || type == ElementType::kInt32; }

// How a value of the candidate corresponds to one of the reference.
struct Fit {
  Order order;
  ValueDescription merged;  // the reference's, with the dimensions that either model fixes
};

std::optional<Fit> fit_in(const ValueDescription& reference, const ValueDescription& candidate,
                          const Order& order) {
  Fit fit{order, reference};
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& ours = fit.merged.shape[order[i]];
    const std::int64_t theirs = candidate.shape[i].value;
    if (ours.value >= 0 && theirs >= 0 && ours.value != theirs) return std::nullopt;
    if (theirs >= 0) ours = {theirs, {}};
  }
  return fit;
}

std::optional<Fit> fit_of(const ValueDescription& reference, const ValueDescription& candidate) {
  const bool has_type = reference.element == candidate.element ||
                        (is_integer(reference.element) && is_integer(candidate.element));
  const std::size_t rank = reference.shape.size();
  if (!has_type || !reference.is_tensor() || rank != candidate.shape.size()) return std::nullopt;
  std::optional<Fit> fit = fit_in(reference, candidate, same_order(rank));
  if (fit || rank < 3) return fit;
  fit = fit_in(reference, candidate, channels_last(rank));
  return fit ? fit : fit_in(reference, candidate, channels_first(rank));
}

struct Port {
  std::size_t place = 0;   // index in the candidate
  Order order;             // from the reference's layout to the candidate's
  ValueDescription value;  // Fit::merged
};

std::string list_of(const Values& values) {
  std::vector<std::string> all;
  for (const ValueDescription& value : values)
    all.push_back(fmt::format("{} {}", value.name, data::describe(value)));
  return fmt::format("{}", fmt::join(all, ", "));
}

// Pairs the inputs, or the outputs, of two models.
class Pairing {
 public:
  Pairing(const Values& reference, const Values& candidate, const char* kind, std::string path,
          std::vector<std::string>& notes)
      : reference_(reference),
        candidate_(candidate),
        kind_(kind),
        path_(std::move(path)),
        notes_(notes),
        ports_(reference.size()),
        is_taken_(candidate.size()) {}

  std::vector<Port> pair() {
    if (reference_.size() != candidate_.size()) refuse("their numbers differ");
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < reference_.size(); ++i) {
      if (!pair_by_name(i)) left.push_back(i);
    }
    for (const std::size_t i : left) pair_by_shape(i);
    return std::move(ports_);
  }

 private:
  bool pair_by_name(std::size_t i) {
    const auto same = std::find_if(candidate_.begin(), candidate_.end(),
                                   [&](const auto& value) { return value.name == reference_[i].name; });
    if (same == candidate_.end()) return false;
    auto fit = fit_of(reference_[i], *same);
    if (!fit) refuse(fmt::format("the shapes of '{}' do not match in any axis order", same->name));
    take(i, static_cast<std::size_t>(same - candidate_.begin()), std::move(*fit));
    return true;
  }

  void pair_by_shape(std::size_t i) {
    std::optional<std::pair<std::size_t, Fit>> found;
    for (std::size_t k = 0; k < candidate_.size(); ++k) {
      auto fit = is_taken_[k] ? std::nullopt : fit_of(reference_[i], candidate_[k]);
      if (!fit) continue;
      if (found) refuse(fmt::format("several could match '{}'", reference_[i].name));
      found.emplace(k, std::move(*fit));
    }
    if (!found) refuse(fmt::format("none matches '{}'", reference_[i].name));
    notes_.push_back(fmt::format("the {} '{}' is compared with '{}', the only one of its shape and type",
                                 kind_, reference_[i].name, candidate_[found->first].name));
    take(i, found->first, std::move(found->second));
  }

  void take(std::size_t i, std::size_t k, Fit fit) {
    if (!std::is_sorted(fit.order.begin(), fit.order.end()))
      notes_.push_back(fmt::format("the {} '{}' is transposed: {} in the reference, {} in the candidate",
                                   kind_, reference_[i].name, data::describe(reference_[i]),
                                   data::describe(candidate_[k])));
    is_taken_[k] = true;
    ports_[i] = {k, std::move(fit.order), std::move(fit.merged)};
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "the candidate has the {}s {}, but the reference {}: these are not two forms of one model ({})",
            kind_, list_of(candidate_), list_of(reference_), why),
        path_);
  }

  const Values& reference_;
  const Values& candidate_;
  const char* kind_;
  std::string path_;
  std::vector<std::string>& notes_;
  std::vector<Port> ports_;
  std::vector<bool> is_taken_;
};

// Transposes the values and converts them to `type`.
TensorView rearranged(const TensorView& given, const Order& order, ElementType type, data::Tensor& made,
                      const std::string& name) {
  if (given.dims.size() != order.size() || (std::is_sorted(order.begin(), order.end()) && given.type == type))
    return given;
  made = {given.type, {}, std::string(given.bytes.size(), '\0'), {}};
  const std::size_t rank = order.size();
  std::vector<std::size_t> step(rank);  // strides in the given tensor, by axis of the result
  for (std::size_t i = 0; i < rank; ++i) {
    made.dims.push_back(given.dims[order[i]]);
    step[i] = 1;
    for (std::size_t axis = order[i] + 1; axis < rank; ++axis)
      step[i] *= static_cast<std::size_t>(given.dims[axis]);
  }
  const auto width = static_cast<std::size_t>(info_of(given.type).bits) / 8;
  if (width == 0) throw Error(ErrorCode::kUnsupported, "values of this type cannot be transposed", name);
  data::Dims at(rank);
  std::size_t from = 0;
  for (std::size_t to = 0; to < made.bytes.size(); to += width) {
    std::memcpy(made.bytes.data() + to, given.bytes.data() + from * width, width);
    for (std::size_t i = rank; i-- > 0;) {
      from += step[i];
      if (++at[i] < made.dims[i]) break;
      from -= step[i] * static_cast<std::size_t>(made.dims[i]);
      at[i] = 0;
    }
  }
  if (type != made.type) made = data::convert(std::move(made), type, name);
  return made;
}

class Matched final : public runtime::Executor {
 public:
  Matched(std::unique_ptr<runtime::Executor> model, std::vector<Port> inputs, std::vector<Port> outputs)
      : model_(std::move(model)), input_ports_(std::move(inputs)), output_ports_(std::move(outputs)) {
    for (const Port& port : input_ports_) inputs_.push_back(port.value);
    for (const Port& port : output_ports_) outputs_.push_back(port.value);
    given_.resize(inputs_.size());
    made_inputs_.resize(inputs_.size());
    results_.resize(outputs_.size());
    made_outputs_.resize(outputs_.size());
  }

  const Values& inputs() const override { return inputs_; }
  const Values& outputs() const override { return outputs_; }
  const std::string& library_version() const override { return model_->library_version(); }
  std::optional<LoadMemory> load_memory() const override { return model_->load_memory(); }

  std::span<const TensorView> run(std::span<const TensorView> inputs) override {
    arrange(inputs);
    const auto given = model_->run(given_);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const Port& port = output_ports_[i];
      results_[i] = rearranged(given[port.place], inverse(port.order), port.value.element, made_outputs_[i],
                               port.value.name);
    }
    return results_;
  }

  runtime::SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) override {
    arrange(inputs);
    return model_->time(given_, runs);
  }

 private:
  void arrange(std::span<const TensorView> inputs) {
    for (std::size_t i = 0; i < input_ports_.size(); ++i) {
      const Port& port = input_ports_[i];
      given_[port.place] = rearranged(inputs[i], port.order, model_->inputs()[port.place].element,
                                      made_inputs_[i], port.value.name);
    }
  }

  std::unique_ptr<runtime::Executor> model_;
  std::vector<Port> input_ports_, output_ports_;
  Values inputs_, outputs_;
  std::vector<TensorView> given_, results_;
  std::vector<data::Tensor> made_inputs_, made_outputs_;
};

}  // namespace

std::unique_ptr<runtime::Executor> with_interface_of(const runtime::Executor& reference,
                                                     std::unique_ptr<runtime::Executor> candidate,
                                                     const std::filesystem::path& candidate_path,
                                                     std::vector<std::string>& notes) {
  const std::string path = candidate_path.string();
  std::vector<Port> inputs = Pairing(reference.inputs(), candidate->inputs(), "input", path, notes).pair();
  std::vector<Port> outputs =
      Pairing(reference.outputs(), candidate->outputs(), "output", path, notes).pair();
  return std::make_unique<Matched>(std::move(candidate), std::move(inputs), std::move(outputs));
}

data::Batch inputs_in_form_of(const Values& reference, const Values& candidate,
                              const std::filesystem::path& reference_path,
                              const std::filesystem::path& candidate_path, const DataOptions& data,
                              std::vector<std::string>& notes) {
  const std::vector<Port> ports =
      Pairing(reference, candidate, "input", candidate_path.string(), notes).pair();
  Values inputs;
  for (const Port& port : ports) inputs.push_back(port.value);
  const OpenFeed open = open_feed(reference_path, inputs, data);
  data::Batch batch;
  open.feed->read(0, batch);
  if (open.data != nullptr) open.data->require_agreement();
  std::vector<data::Tensor> arranged(ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    data::Tensor made;
    arranged[port.place] = data::copy_of(
        rearranged(batch.inputs[i], port.order, candidate[port.place].element, made, port.value.name));
  }
  batch.inputs = std::move(arranged);
  return batch;
}

bool are_of_one_kind(const std::filesystem::path& a, const std::filesystem::path& b) {
  return runtime::kind_to_run(a) == runtime::kind_to_run(b);
}

std::unique_ptr<runtime::Executor> load_in_form_of(const runtime::Executor& reference,
                                                   const std::filesystem::path& reference_path,
                                                   const std::filesystem::path& candidate_path,
                                                   const runtime::ExecutorOptions& how,
                                                   std::vector<std::string>& notes) {
  std::unique_ptr<runtime::Executor> candidate = load_as_floats(candidate_path, how);
  if (are_of_one_kind(reference_path, candidate_path)) return candidate;
  return with_interface_of(reference, std::move(candidate), candidate_path, notes);
}

}  // namespace ounce::evaluate
