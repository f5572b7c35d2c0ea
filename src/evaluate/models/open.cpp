#include "evaluate/models/open.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "base/machine.h"
#include "data/contract/contract_file.h"
#include "evaluate/models/feeds.h"
#include "formats/open.h"
#include "kernels/half.h"
#include "runtime/places.h"

namespace ounce::evaluate {

runtime::ExecutorOptions executor_options(const RuntimeOptions& options) {
  runtime::ExecutorOptions made;
  made.library = options.library;
  made.litert = options.litert;
  made.settings = runtime::settings_of(options);
  // A remote machine has its own time limit.
  if (options.isolate && !options.remote)
    made.isolate = runtime::Limits{options.isolate->memory, options.isolate->seconds};
  made.remote = options.remote;
  return made;
}

ModelFiles check_model(const std::filesystem::path& path) {
  const model::ModelFilePtr model = formats::open_model(path);
  try {
    model->validate();
  } catch (const Error& error) {  // add the model's name
    if (std::string_view(error.what()).starts_with(path.string())) throw;
    throw Error(error.code(), error.what(), path.string());
  }
  return {model->bytes(), model->files()};
}

unsigned weight_bits(const std::filesystem::path& path) {
  const model::ModelFilePtr model = formats::open_model(path);
  std::map<unsigned, std::uint64_t> values_by_bits;
  for (const model::GraphView& graph : model->graphs()) {
    for (const model::ValueView& value : graph.values) {
      if (!value.constant) continue;
      const auto bits = static_cast<unsigned>(info_of(value.constant->type).bits);
      // 32-bit and 64-bit integers are indices, shapes and biases.
      if (bits == 0 || (bits > 16 && !is_float_weight_type(value.constant->type))) continue;
      values_by_bits[bits <= 8 ? 8 : bits <= 16 ? 16 : 32] += value.constant->bytes * 8 / bits;
    }
  }
  const auto most = std::max_element(values_by_bits.begin(), values_by_bits.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == values_by_bits.end() ? 32 : most->first;
}

std::string runtimes_of(const std::vector<std::pair<std::filesystem::path, std::string>>& versions) {
  std::vector<std::string> runtimes;
  for (const auto& [model, version] : versions) {
    std::string runtime = fmt::format("{} {}", runtime::runtime_of(runtime::kind_to_run(model)), version);
    if (std::find(runtimes.begin(), runtimes.end(), runtime) == runtimes.end())
      runtimes.push_back(std::move(runtime));
  }
  return fmt::format("{}", fmt::join(runtimes, " and "));
}

void require_loadable(const std::filesystem::path& model, const RuntimeOptions& options) {
  runtime::ExecutorOptions how = executor_options(options);
  const Isolation usual;
  if (!how.isolate) how.isolate = runtime::Limits{usual.memory, usual.seconds};
  runtime::load(model, how);
}

OpenFeed open_feed(const std::filesystem::path& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options) {
  return open_feed(*formats::open_model(model), inputs, options);
}

OpenFeed open_feed(const model::ModelFile& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options) {
  OpenFeed open;
  open.options = options;
  if (!open.options.contract) open.options.contract = data::contract_in(model);
  if (options.is_generated()) {
    open.feed = std::make_unique<GeneratedFeed>(model, inputs, open.options);
  } else {
    auto feed = std::make_unique<data::DataFeed>(inputs, open.options);
    open.data = feed.get();
    open.feed = std::move(feed);
  }
  return open;
}

namespace {

std::size_t find(const std::vector<data::ValueDescription>& values, const std::string& name,
                 const char* kind) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name == name; });
  if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(value.name);
  throw Error(ErrorCode::kUsage, fmt::format("`carry`: the model has no {} '{}'; it has {}", kind, name,
                                             fmt::join(names, ", ")));
}

}  // namespace

namespace {

// In the order of the attempts. The default of each axis comes first (usual_length).
constexpr std::int64_t kOtherLengths[] = {512, 48, 32, 64, 256, 320, 128, 640, 1024, 1};

// Sets the dynamic axes that the user left open, except for the batch.
DataOptions with_length(const DataOptions& options, const std::vector<data::ValueDescription>& inputs,
                        std::int64_t length) {
  DataOptions other = options;
  const auto is_batch = [&](const data::ValueDescription& input, std::size_t axis) {
    const std::string& name = input.shape[axis].name;
    return usual_length(input, axis) == 1 ||
           (!name.empty() && std::any_of(inputs.begin(), inputs.end(), [&](const auto& any) {
             return !any.shape.empty() && any.shape[0].name == name;
           }));
  };
  for (const data::ValueDescription& input : inputs) {
    for (std::size_t axis = 1; axis < input.shape.size(); ++axis) {
      const auto& dimension = input.shape[axis];
      if (dimension.value < 0 && !options.shape.contains(dimension.name) && !is_batch(input, axis))
        other.shape.try_emplace(fmt::format("{}:{}", input.name, axis), length);
    }
  }
  return other;
}

// Not after a timeout or a lack of memory: each further attempt of an endless model would take as long.
bool is_about_lengths(ErrorCode code) {
  return code != ErrorCode::kCancelled && code != ErrorCode::kIo && code != ErrorCode::kUsage &&
         code != ErrorCode::kTimeout && code != ErrorCode::kMemory;
}

}  // namespace

DataOptions find_lengths(const std::vector<data::ValueDescription>& inputs, const DataOptions& options,
                         const std::function<void(const DataOptions&)>& attempt) {
  try {
    attempt(options);
    return options;
  } catch (const Error& first) {
    if (!options.is_generated() || !is_about_lengths(first.code())) throw;
    for (const std::int64_t length : kOtherLengths) {
      DataOptions other = with_length(options, inputs, length);
      if (other.shape.size() == options.shape.size()) break;  // no axis is open
      try {
        attempt(other);
        return other;
      } catch (const Error& error) {
        if (!is_about_lengths(error.code())) throw;
      }
    }
    throw;
  }
}

StatefulExecutor::StatefulExecutor(std::unique_ptr<runtime::Executor> model,
                                   const std::map<std::string, std::string>& carry)
    : model_(std::move(model)) {
  for (const auto& [input, output] : carry) {
    const std::size_t to = find(model_->inputs(), input, "input"),
                      from = find(model_->outputs(), output, "output");
    if (model_->inputs()[to].element != model_->outputs()[from].element) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("`carry`: '{}' and '{}' have different types", input, output));
    }
    carried_.push_back({to, from, {}});
  }
}

std::span<const data::TensorView> StatefulExecutor::run(const data::Batch& batch) {
  inputs_.assign(batch.inputs.begin(), batch.inputs.end());
  if (!batch.starts_sequence) {
    for (const Carried& carried : carried_) {
      // Before the first run there is no carried state: the batch's own value is used.
      if (carried.state.type != ElementType::kUndefined) inputs_[carried.input] = carried.state;
    }
  }
  const Stopwatch time;
  const std::span<const data::TensorView> outputs = model_->run(inputs_);
  seconds_ += time.seconds();
  for (Carried& carried : carried_) carried.state = data::copy_of(outputs[carried.output]);
  return outputs;
}

namespace {

// Calls visit(i, channel) for every value.
template <class Visit>
void for_each_value(const data::Dims& dims, std::size_t channels, Visit visit) {
  std::size_t count = 1, inner = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  for (std::size_t i = 2; i < dims.size(); ++i) inner *= static_cast<std::size_t>(dims[i]);
  for (std::size_t i = 0; i < count; ++i) visit(i, channels == 1 ? 0 : i / inner % channels);
}

template <class Code>
void encode(const data::TensorView& floats, const model::QuantizedPort& port, data::Tensor& codes) {
  std::vector<float> values(floats.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), floats.bytes.data(), values.size() * sizeof(float));
  codes.bytes.resize(values.size() * sizeof(Code));
  auto out = data::values_of<Code>(codes);
  for_each_value(floats.dims, port.scales.size(), [&](std::size_t i, std::size_t c) {
    constexpr auto least = static_cast<float>(std::numeric_limits<Code>::min()),
                   most = static_cast<float>(std::numeric_limits<Code>::max());
    const float code = std::nearbyint(values[i] / port.scales[c] + port.zeros[c]);
    out[i] = static_cast<Code>(code >= least ? std::min(code, most) : least);  // NaN too
  });
}

template <class Code>
void decode(const data::TensorView& codes, const model::QuantizedPort& port, data::Tensor& floats) {
  const std::size_t count = codes.bytes.size() / sizeof(Code);
  floats.bytes.resize(count * sizeof(float));
  auto out = data::values_of<float>(floats);
  for_each_value(codes.dims, port.scales.size(), [&](std::size_t i, std::size_t c) {
    Code code{};
    std::memcpy(&code, codes.bytes.data() + i * sizeof code, sizeof code);
    out[i] = (static_cast<float>(code) - port.zeros[c]) * port.scales[c];
  });
}

// Between float32 and 16-bit floats.
void narrow(const data::TensorView& floats, ElementType type, data::Tensor& halves) {
  const std::size_t count = floats.bytes.size() / sizeof(float);
  halves.bytes.resize(count * sizeof(std::uint16_t));
  kernels::HalfStats stats;
  (type == ElementType::kBfloat16 ? kernels::f32_to_bf16 : kernels::f32_to_f16)(
      reinterpret_cast<const std::byte*>(floats.bytes.data()), count,
      data::values_of<std::uint16_t>(halves).data(), stats);
}

void widen(const data::TensorView& halves, ElementType type, data::Tensor& floats) {
  const std::size_t count = halves.bytes.size() / sizeof(std::uint16_t);
  floats.bytes.resize(count * sizeof(float));
  (type == ElementType::kBfloat16 ? kernels::bf16_to_f32 : kernels::f16_to_f32)(
      reinterpret_cast<const std::byte*>(halves.bytes.data()), count, data::values_of<float>(floats).data());
}

class FloatPorts final : public runtime::Executor {
 public:
  FloatPorts(std::unique_ptr<runtime::Executor> model, const std::vector<model::QuantizedPort>& ports)
      : model_(std::move(model)), inputs_(model_->inputs()), outputs_(model_->outputs()) {
    input_ports_ = describe(inputs_, ports, true);
    output_ports_ = describe(outputs_, ports, false);
    coded_.resize(inputs_.size());
    decoded_.resize(outputs_.size());
  }

  const std::vector<data::ValueDescription>& inputs() const override { return inputs_; }
  const std::vector<data::ValueDescription>& outputs() const override { return outputs_; }
  const std::string& library_version() const override { return model_->library_version(); }

  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    encode_all(inputs);
    const auto results = model_->run(given_);
    results_.assign(results.begin(), results.end());
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (!output_ports_[i]) continue;
      decoded_[i].type = ElementType::kFloat;
      decoded_[i].dims = results_[i].dims;
      decode_any(results_[i], *output_ports_[i], decoded_[i]);
      results_[i] = decoded_[i];
    }
    return results_;
  }

  runtime::SlotTimes time(std::span<const data::TensorView> inputs, std::uint64_t runs) override {
    encode_all(inputs);
    return model_->time(given_, runs);
  }

 private:
  using Ports = std::vector<std::optional<model::QuantizedPort>>;  // by position

  static Ports describe(std::vector<data::ValueDescription>& values,
                        const std::vector<model::QuantizedPort>& ports, bool is_input) {
    Ports found(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (const model::QuantizedPort& port : ports) {
        if (port.is_input != is_input || port.name != values[i].name || port.type != values[i].element)
          continue;
        found[i] = port;
        values[i].element = ElementType::kFloat;
      }
    }
    return found;
  }

  void encode_all(std::span<const data::TensorView> inputs) {
    given_.assign(inputs.begin(), inputs.end());
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!input_ports_[i]) continue;
      coded_[i].type = input_ports_[i]->type;
      coded_[i].dims = given_[i].dims;
      encode_any(given_[i], *input_ports_[i], coded_[i]);
      given_[i] = coded_[i];
    }
  }

  static void encode_any(const data::TensorView& floats, const model::QuantizedPort& port,
                         data::Tensor& codes) {
    switch (port.type) {
      case ElementType::kInt8: return encode<std::int8_t>(floats, port, codes);
      case ElementType::kUint16: return encode<std::uint16_t>(floats, port, codes);
      case ElementType::kInt16: return encode<std::int16_t>(floats, port, codes);
      case ElementType::kFloat16:
      case ElementType::kBfloat16: return narrow(floats, port.type, codes);
      default: return encode<std::uint8_t>(floats, port, codes);
    }
  }
  static void decode_any(const data::TensorView& codes, const model::QuantizedPort& port,
                         data::Tensor& floats) {
    switch (port.type) {
      case ElementType::kInt8: return decode<std::int8_t>(codes, port, floats);
      case ElementType::kUint16: return decode<std::uint16_t>(codes, port, floats);
      case ElementType::kInt16: return decode<std::int16_t>(codes, port, floats);
      case ElementType::kFloat16:
      case ElementType::kBfloat16: return widen(codes, port.type, floats);
      default: return decode<std::uint8_t>(codes, port, floats);
    }
  }

  std::unique_ptr<runtime::Executor> model_;
  std::vector<data::ValueDescription> inputs_, outputs_;
  Ports input_ports_, output_ports_;
  std::vector<data::Tensor> coded_, decoded_;
  std::vector<data::TensorView> given_, results_;
};

}  // namespace

std::unique_ptr<runtime::Executor> with_dequantized_io(std::unique_ptr<runtime::Executor> model,
                                                       const std::vector<model::QuantizedPort>& ports) {
  if (ports.empty()) return model;
  return std::make_unique<FloatPorts>(std::move(model), ports);
}

std::unique_ptr<runtime::Executor> load_as_floats(const std::filesystem::path& path,
                                                  const runtime::ExecutorOptions& options) {
  const model::ModelFilePtr model = formats::open_model(path);
  runtime::ExecutorOptions how = options;
  how.bytes = model->bytes();
  return with_dequantized_io(runtime::load(path, how), model->quantized_ports());
}

}  // namespace ounce::evaluate
