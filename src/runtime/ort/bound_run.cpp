#include "runtime/ort/bound_run.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "runtime/ort/c_api.h"

namespace ounce::runtime {
namespace {

bool fits(const ValueDescription& takes, const TensorView& given) {
  if (!takes.is_tensor()) return true;
  if (takes.element != given.type) return false;
  if (takes.shape.empty()) return true;  // a scalar, or of unknown rank
  if (takes.shape.size() != given.dims.size()) return false;
  for (std::size_t i = 0; i < given.dims.size(); ++i) {
    if (takes.shape[i].value >= 0 && takes.shape[i].value != given.dims[i]) return false;
  }
  return true;
}

void require_fit(const ValueDescription& takes, const TensorView& given, const std::string& model) {
  if (fits(takes, given)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("the input '{}' is {}, but it was given {}", takes.name, data::describe(takes),
                          data::describe(given.type, given.dims)),
              model);
}

}  // namespace

struct BoundRun::Values {
  std::vector<Handle<OrtValue>> inputs, outputs;
  std::vector<const OrtValue*> input_pointers;
  std::vector<OrtValue*> output_pointers;  // null: the runtime allocates the output
  std::vector<std::string_view> input_bytes;
  std::vector<data::Dims> dims;  // of the bound inputs
  Handle<OrtRunOptions> options;
};

BoundRun::BoundRun(const Session& session, std::vector<std::string> outputs)
    : session_(&session), output_names_(std::move(outputs)), values_(std::make_unique<Values>()) {
  if (output_names_.empty()) {
    for (const ValueDescription& output : session.outputs()) output_names_.push_back(output.name);
  }
  // Sequences and maps cannot be reused as memory for the next run.
  keeps_outputs_ = std::all_of(session.outputs().begin(), session.outputs().end(),
                               [](const ValueDescription& output) { return output.is_tensor(); });
  for (const ValueDescription& input : session.inputs()) input_pointers_.push_back(input.name.c_str());
  for (const std::string& name : output_names_) output_pointers_.push_back(name.c_str());
  views_.resize(output_names_.size());
  made_.resize(output_names_.size());
  const OrtApi& api = session.library().api();
  OrtRunOptions* options = nullptr;
  check(api, api.CreateRunOptions(&options), session.model());
  values_->options = {options, {api.ReleaseRunOptions}};
  forget_outputs();
}

BoundRun::~BoundRun() = default;
BoundRun::BoundRun(BoundRun&&) noexcept = default;

void BoundRun::forget_outputs() {
  values_->outputs.clear();
  values_->output_pointers.assign(output_names_.size(), nullptr);
}

void BoundRun::bind(std::span<const TensorView> inputs) {
  const std::vector<ValueDescription>& takes = session_->inputs();
  if (inputs.size() != takes.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the model has {} inputs, but {} were given", takes.size(), inputs.size()),
                session_->model());
  }
  const Caller call(session_->library().api(), session_->model());
  values_->inputs.resize(inputs.size());
  values_->input_pointers.resize(inputs.size());
  values_->dims.resize(inputs.size());
  values_->input_bytes.resize(inputs.size());
  bool same_shapes = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require_fit(takes[i], inputs[i], session_->model());
    values_->inputs[i] = make_value(call, session_->handles_->memory.get(), inputs[i], takes[i].name);
    values_->input_pointers[i] = values_->inputs[i].get();
    values_->input_bytes[i] = inputs[i].bytes;
    same_shapes = same_shapes && values_->dims[i] == inputs[i].dims;
    values_->dims[i] = inputs[i].dims;
  }
  if (!same_shapes) forget_outputs();
  are_views_current_ = false;
}

void BoundRun::run() {
  const OrtApi& api = session_->library().api();
  const auto start = [&] {
    return api.Run(session_->handles_->session.get(), values_->options.get(), input_pointers_.data(),
                   values_->input_pointers.data(), input_pointers_.size(), output_pointers_.data(),
                   output_pointers_.size(), values_->output_pointers.data());
  };
  const bool stay_current = are_views_current_ && keeps_outputs_ && are_views_of_outputs();
  are_views_current_ = false;
  if (!keeps_outputs_) forget_outputs();
  const bool had_outputs = !values_->outputs.empty();
  OrtStatus* status = start();
  if (status != nullptr && had_outputs) {
    // The reason may be that shapes of outputs depend on the data (for example NonZero): retry without kept
    // outputs.
    api.ReleaseStatus(status);
    forget_outputs();
    status = start();
    keeps_outputs_ = status != nullptr;
  }
  const bool are_new = values_->outputs.empty();
  if (are_new) {
    for (OrtValue* value : values_->output_pointers)
      values_->outputs.emplace_back(value, Release<OrtValue>{api.ReleaseValue});
  }
  if (status != nullptr) forget_outputs();
  check(api, status, session_->model());
  are_views_current_ = stay_current && !are_new;
  if (!are_new || !keeps_outputs_) return;
  for (const TensorView& view : outputs()) keeps_outputs_ = keeps_outputs_ && !shares_an_input(view);
}

// True if all views point to output values of the runtime. Strings are copies.
bool BoundRun::are_views_of_outputs() const {
  return std::all_of(views_.begin(), views_.end(),
                     [](const TensorView& view) { return view.strings == nullptr; });
}

void BoundRun::resume() noexcept {
  const OrtApi& api = session_->library().api();
  if (OrtStatus* status = api.RunOptionsUnsetTerminate(values_->options.get())) api.ReleaseStatus(status);
}

void BoundRun::stop() noexcept {
  const OrtApi& api = session_->library().api();
  if (OrtStatus* status = api.RunOptionsSetTerminate(values_->options.get())) api.ReleaseStatus(status);
}

// True if the output shares the memory of an input, as with Identity. The next run must not write to it.
bool BoundRun::shares_an_input(const TensorView& output) const {
  return std::any_of(values_->input_bytes.begin(), values_->input_bytes.end(), [&](std::string_view input) {
    return !output.bytes.empty() && output.bytes.data() >= input.data() &&
           output.bytes.data() < input.data() + input.size();
  });
}

std::span<const TensorView> BoundRun::outputs() {
  if (are_views_current_) return views_;
  const Caller call(session_->library().api(), session_->model());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (values_->output_pointers[i] == nullptr)
      throw Error(ErrorCode::kInternal, "outputs were requested before a run", session_->model());
    views_[i] = view_of(call, values_->output_pointers[i], output_names_[i], made_[i]);
  }
  are_views_current_ = true;
  return views_;
}

}  // namespace ounce::runtime
