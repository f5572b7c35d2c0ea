#include "runtime/session.h"

#include <fmt/format.h>
#include <onnxruntime_c_api.h>
#include <ounce/error.h>

#include <optional>
#include <utility>

#include "base/checked.h"
#include "runtime/status.h"

namespace ounce::runtime {
namespace {

using onnx::ElementType;

// The numbers of the file format and of the C API are the same.
static_assert(static_cast<int>(ElementType::kFloat) == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
static_assert(static_cast<int>(ElementType::kBool) == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL);
static_assert(static_cast<int>(ElementType::kFloat16) == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
static_assert(static_cast<int>(ElementType::kBfloat16) == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16);
static_assert(static_cast<int>(ElementType::kInt4) == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4);

ElementType from_runtime(ONNXTensorElementDataType type) {
  return onnx::element_type_of(static_cast<std::int64_t>(type)).value_or(ElementType::kUndefined);
}

GraphOptimizationLevel to_runtime(Optimization optimization) {
  switch (optimization) {
    case Optimization::kNone: return ORT_DISABLE_ALL;
    case Optimization::kBasic: return ORT_ENABLE_BASIC;
    case Optimization::kExtended: return ORT_ENABLE_EXTENDED;
    case Optimization::kAll: break;
  }
  return ORT_ENABLE_ALL;
}

// Calls of the C API that throw, on behalf of one model.
class Caller {
 public:
  Caller(const OrtApi& api, std::string model) : api_(&api), model_(std::move(model)) {}

  template <class... Parameters, class... Arguments>
  void operator()(OrtStatus*(ORT_API_CALL* function)(Parameters...), Arguments&&... arguments) const {
    check(*api_, function(std::forward<Arguments>(arguments)...), model_);
  }
  const OrtApi& api() const { return *api_; }

 private:
  const OrtApi* api_;
  std::string model_;
};

Handle<OrtSessionOptions> make_options(const Caller& call, const SessionOptions& options) {
  const OrtApi& api = call.api();
  OrtSessionOptions* made = nullptr;
  call(api.CreateSessionOptions, &made);
  Handle<OrtSessionOptions> owned(made, {api.ReleaseSessionOptions});
  call(api.SetIntraOpNumThreads, made, static_cast<int>(options.threads));
  call(api.SetSessionGraphOptimizationLevel, made, to_runtime(options.optimization));
  for (const auto& [key, value] : options.config)
    call(api.AddSessionConfigEntry, made, key.c_str(), value.c_str());
  if (!options.save_optimized.empty())
    call(api.SetOptimizedModelFilePath, made, options.save_optimized.c_str());
  return owned;
}

void describe_tensor(const Caller& call, const OrtTypeInfo& type, ValueDescription& description) {
  const OrtApi& api = call.api();
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // belongs to the type
  call(api.CastTypeInfoToTensorInfo, &type, &tensor);
  if (tensor == nullptr) return;  // a sequence, a map, an optional
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  call(api.GetTensorElementType, tensor, &element);
  description.element = from_runtime(element);
  std::size_t rank = 0;
  call(api.GetDimensionsCount, tensor, &rank);
  std::vector<std::int64_t> values(rank);
  std::vector<const char*> names(rank);
  call(api.GetDimensions, tensor, values.data(), rank);
  call(api.GetSymbolicDimensions, tensor, names.data(), rank);
  for (std::size_t i = 0; i < rank; ++i)
    description.shape.push_back({values[i], names[i] == nullptr ? "" : names[i]});
}

using CountFunction = decltype(OrtApi::SessionGetInputCount);
using NameFunction = decltype(OrtApi::SessionGetInputName);
using TypeFunction = decltype(OrtApi::SessionGetInputTypeInfo);

std::vector<ValueDescription> describe(const Caller& call, const OrtSession* session, CountFunction get_count,
                                       NameFunction get_name, TypeFunction get_type) {
  const OrtApi& api = call.api();
  OrtAllocator* allocator = nullptr;  // the default one; not ours to release
  call(api.GetAllocatorWithDefaultOptions, &allocator);
  std::size_t count = 0;
  call(get_count, session, &count);
  std::vector<ValueDescription> descriptions(count);
  for (std::size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    call(get_name, session, i, allocator, &name);
    descriptions[i].name = name;
    call(api.AllocatorFree, allocator, name);
    OrtTypeInfo* type = nullptr;
    call(get_type, session, i, &type);
    const Handle<OrtTypeInfo> owned(type, {api.ReleaseTypeInfo});
    describe_tensor(call, *type, descriptions[i]);
  }
  return descriptions;
}

std::uint64_t bytes_of(ElementType type, const std::vector<std::int64_t>& dims, const std::string& name) {
  const auto fail = [&](ErrorCode code, const char* what) {
    throw Error(code, what, fmt::format("tensor '{}'", name));
  };
  if (type == ElementType::kString)
    fail(ErrorCode::kUnsupported, "tensors of strings cannot be given or taken yet");
  std::optional<std::uint64_t> bits = static_cast<std::uint64_t>(onnx::info_of(type).bits);
  for (const std::int64_t dim : dims) {
    if (dim < 0) fail(ErrorCode::kBadInput, "has a negative dimension");
    bits = checked_multiply(*bits, static_cast<std::uint64_t>(dim));
    if (!bits) fail(ErrorCode::kBadInput, "is too large");
  }
  return (*bits + 7) / 8;
}

// The value looks at the tensor's bytes, which the runtime only reads.
Handle<OrtValue> to_value(const Caller& call, const OrtMemoryInfo* memory, const NamedTensor& named) {
  const Tensor& tensor = named.tensor;
  const std::uint64_t bytes = bytes_of(tensor.type, tensor.dims, named.name);
  if (bytes != tensor.bytes.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} bytes where its type and shape take {}", tensor.bytes.size(), bytes),
                fmt::format("tensor '{}'", named.name));
  }
  OrtValue* value = nullptr;
  call(call.api().CreateTensorWithDataAsOrtValue, memory, const_cast<char*>(tensor.bytes.data()),
       tensor.bytes.size(), tensor.dims.data(), tensor.dims.size(),
       static_cast<ONNXTensorElementDataType>(tensor.type), &value);
  return {value, {call.api().ReleaseValue}};
}

Tensor to_tensor(const Caller& call, OrtValue* value, const std::string& name) {
  const OrtApi& api = call.api();
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  int is_present = 0;
  call(api.HasValue, value, &is_present);
  if (is_present != 0) call(api.GetValueType, value, &kind);
  if (kind != ONNX_TYPE_TENSOR)
    throw Error(ErrorCode::kUnsupported, "is not a tensor", fmt::format("output '{}'", name));
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  call(api.GetTensorTypeAndShape, value, &shape);
  const Handle<OrtTensorTypeAndShapeInfo> owned(shape, {api.ReleaseTensorTypeAndShapeInfo});

  Tensor tensor;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  call(api.GetTensorElementType, shape, &element);
  tensor.type = from_runtime(element);
  std::size_t rank = 0;
  call(api.GetDimensionsCount, shape, &rank);
  tensor.dims.resize(rank);
  call(api.GetDimensions, shape, tensor.dims.data(), rank);
  const std::uint64_t bytes = bytes_of(tensor.type, tensor.dims, name);
  void* data = nullptr;
  call(api.GetTensorMutableData, value, &data);
  if (bytes != 0) tensor.bytes.assign(static_cast<const char*>(data), bytes);
  return tensor;
}

}  // namespace

struct Session::Handles {
  Handle<OrtSession> session;
  Handle<OrtMemoryInfo> memory;  // the CPU's
};

Session::Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
                 const SessionOptions& options)
    : library_(std::move(library)), model_(model.string()), handles_(std::make_unique<Handles>()) {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  const Handle<OrtSessionOptions> session_options = make_options(call, options);
  OrtSession* session = nullptr;
  call(api.CreateSession, &library_->environment(), model.c_str(), session_options.get(), &session);
  handles_->session = {session, {api.ReleaseSession}};
  OrtMemoryInfo* memory = nullptr;
  call(api.CreateCpuMemoryInfo, OrtDeviceAllocator, OrtMemTypeDefault, &memory);
  handles_->memory = {memory, {api.ReleaseMemoryInfo}};
  inputs_ =
      describe(call, session, api.SessionGetInputCount, api.SessionGetInputName, api.SessionGetInputTypeInfo);
  outputs_ = describe(call, session, api.SessionGetOutputCount, api.SessionGetOutputName,
                      api.SessionGetOutputTypeInfo);
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(const std::vector<NamedTensor>& inputs,
                                 const std::vector<std::string>& outputs) const {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  std::vector<const char*> input_names, output_names;
  std::vector<Handle<OrtValue>> input_values;
  std::vector<const OrtValue*> input_pointers;
  for (const NamedTensor& input : inputs) {
    input_names.push_back(input.name.c_str());
    input_values.push_back(to_value(call, handles_->memory.get(), input));
    input_pointers.push_back(input_values.back().get());
  }
  for (const std::string& name : outputs) output_names.push_back(name.c_str());
  if (outputs.empty()) {
    for (const ValueDescription& output : outputs_) output_names.push_back(output.name.c_str());
  }

  std::vector<OrtValue*> values(output_names.size(), nullptr);
  OrtStatus* const status =
      api.Run(handles_->session.get(), nullptr, input_names.data(), input_pointers.data(), inputs.size(),
              output_names.data(), output_names.size(), values.data());
  std::vector<Handle<OrtValue>> output_values;
  output_values.reserve(values.size());
  for (OrtValue* value : values) output_values.emplace_back(value, Release<OrtValue>{api.ReleaseValue});
  check(api, status, model_);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i)
    tensors.push_back(to_tensor(call, values[i], output_names[i]));
  return tensors;
}

}  // namespace ounce::runtime
