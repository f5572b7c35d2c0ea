#include "runtime/ort/c_api.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace ounce::runtime {
namespace {

// The runtime has no error code for lack of memory; only messages show it.
bool tells_of_memory(std::string_view message) {
  return message.find("bad_alloc") != std::string_view::npos ||
         message.find("Failed to allocate memory") != std::string_view::npos;
}

ErrorCode code_of(OrtErrorCode code, std::string_view message) {
  if (tells_of_memory(message)) return ErrorCode::kMemory;
  if (message.find("system error number") != std::string_view::npos) return ErrorCode::kIo;
  switch (code) {
    case ORT_NO_SUCHFILE: return ErrorCode::kIo;
    case ORT_NOT_IMPLEMENTED: return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kBadInput;  // of the model or of the data: the runtime does not distinguish them
  }
}

// Parses "Non-zero status code returned while running Conv node. Name:'conv1' Status Message: TEXT", so that
// errors begin with TEXT and the node becomes part of the location.
struct Complaint {
  std::string what, node;
};

Complaint read_complaint(const std::string& line) {
  constexpr std::string_view kBefore = "while running ", kName = " node. Name:'",
                             kMessage = "' Status Message: ";
  const std::size_t op = line.find(kBefore), name = line.find(kName), message = line.find(kMessage);
  if (op == std::string::npos || name == std::string::npos || message == std::string::npos) return {line, ""};
  if (op + kBefore.size() > name || name + kName.size() > message) return {line, ""};
  const std::string op_type = line.substr(op + kBefore.size(), name - op - kBefore.size());
  const std::string node = line.substr(name + kName.size(), message - name - kName.size());
  return {line.substr(message + kMessage.size()), ": node '" + node + "' (" + op_type + ")"};
}

}  // namespace

void check(const OrtApi& api, OrtStatus* status, const std::string& where) {
  if (status == nullptr) return;
  const Handle<OrtStatus> owned(status, {api.ReleaseStatus});
  const Complaint complaint = read_complaint(on_one_line(api.GetErrorMessage(status)));
  throw Error(code_of(api.GetErrorCode(status), complaint.what), "ONNX Runtime: " + complaint.what,
              where + complaint.node);
}

namespace {

using data::Dims;
using data::Tensor;
using data::TensorView;

// Element types have the same numbers in the file format and the C API.
static_assert(static_cast<int>(ElementType::kFloat) == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
static_assert(static_cast<int>(ElementType::kString) == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
static_assert(static_cast<int>(ElementType::kBool) == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL);
static_assert(static_cast<int>(ElementType::kFloat16) == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
static_assert(static_cast<int>(ElementType::kBfloat16) == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16);
static_assert(static_cast<int>(ElementType::kInt4) == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4);

std::string tensor_named(const std::string& name) { return fmt::format("tensor '{}'", name); }

void require_size(std::uint64_t has, std::uint64_t takes, const char* unit, const std::string& name) {
  if (has == takes) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("has {} {}, but its type and shape need {}", has, unit, takes), tensor_named(name));
}

Handle<OrtValue> make_strings(const Caller& call, const TensorView& tensor, const std::string& name) {
  const OrtApi& api = call.api();
  static const std::vector<std::string> kNone;
  const std::vector<std::string>& strings = tensor.strings == nullptr ? kNone : *tensor.strings;
  require_size(strings.size(), data::element_count(tensor.dims, tensor_named(name)), "strings", name);
  OrtAllocator* const allocator = default_allocator(call);
  OrtValue* value = nullptr;
  call(api.CreateTensorAsOrtValue, allocator, tensor.dims.data(), tensor.dims.size(),
       ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &value);
  Handle<OrtValue> owned(value, {api.ReleaseValue});
  std::vector<const char*> pointers;
  pointers.reserve(strings.size());
  for (const std::string& text : strings) pointers.push_back(text.c_str());
  call(api.FillStringTensor, value, pointers.data(), pointers.size());
  return owned;
}

std::vector<std::string> take_strings(const Caller& call, const OrtValue* value, std::size_t count) {
  const OrtApi& api = call.api();
  std::size_t total = 0;
  call(api.GetStringTensorDataLength, value, &total);
  std::string joined(total, '\0');
  std::vector<std::size_t> starts(count);
  call(api.GetStringTensorContent, value, joined.data(), total, starts.data(), count);
  std::vector<std::string> strings;
  strings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? starts[i + 1] : total;
    strings.push_back(joined.substr(starts[i], end - starts[i]));
  }
  return strings;
}

}  // namespace

ElementType from_runtime(ONNXTensorElementDataType type) {
  return ounce::element_type_of(static_cast<std::int64_t>(type)).value_or(ElementType::kUndefined);
}

Handle<OrtValue> make_value(const Caller& call, const OrtMemoryInfo* memory, const TensorView& tensor,
                            const std::string& name) {
  if (tensor.type == ElementType::kString) return make_strings(call, tensor, name);
  require_size(tensor.bytes.size(), data::byte_count(tensor.type, tensor.dims, tensor_named(name)), "bytes",
               name);
  OrtValue* value = nullptr;
  call(call.api().CreateTensorWithDataAsOrtValue, memory, const_cast<char*>(tensor.bytes.data()),
       tensor.bytes.size(), tensor.dims.data(), tensor.dims.size(),
       static_cast<ONNXTensorElementDataType>(tensor.type), &value);
  return {value, {call.api().ReleaseValue}};
}

namespace {

ONNXType kind_of(const Caller& call, const OrtValue* value) {
  const OrtApi& api = call.api();
  int is_present = 0;
  call(api.HasValue, value, &is_present);
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  if (is_present != 0) call(api.GetValueType, value, &kind);
  return kind;
}

TensorView view_of_tensor(const Caller& call, OrtValue* value, const std::string& name,
                          std::vector<std::string>& strings) {
  const OrtApi& api = call.api();
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  call(api.GetTensorTypeAndShape, value, &shape);
  const Handle<OrtTensorTypeAndShapeInfo> owned(shape, {api.ReleaseTensorTypeAndShapeInfo});
  TensorView view;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  call(api.GetTensorElementType, shape, &element);
  view.type = from_runtime(element);
  std::size_t rank = 0;
  call(api.GetDimensionsCount, shape, &rank);
  view.dims.resize(rank);
  call(api.GetDimensions, shape, view.dims.data(), rank);
  if (view.type == ElementType::kString) {
    strings = take_strings(call, value, data::element_count(view.dims, tensor_named(name)));
    view.strings = &strings;
    return view;
  }
  const std::uint64_t bytes = data::byte_count(view.type, view.dims, tensor_named(name));
  void* first = nullptr;
  call(api.GetTensorMutableData, value, &first);
  if (bytes != 0) view.bytes = {static_cast<const char*>(first), bytes};
  return view;
}

constexpr int kMapValues = 1;  // index of a map's values; index 0 are its sorted keys

Tensor gather(const Caller& call, OrtValue* value, const std::string& name);

Handle<OrtValue> part_of(const Caller& call, const OrtValue* value, int part) {
  const OrtApi& api = call.api();
  OrtAllocator* const allocator = default_allocator(call);
  OrtValue* made = nullptr;
  call(api.GetValue, value, part, allocator, &made);
  return {made, {api.ReleaseValue}};
}

Tensor gather_sequence(const Caller& call, OrtValue* value, const std::string& name) {
  std::size_t count = 0;
  call(call.api().GetValueCount, value, &count);
  Tensor all{ElementType::kFloat, {0}, {}};
  Dims first;
  bool are_alike = true;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Tensor one = gather(call, part_of(call, value, static_cast<int>(i)).get(), name);
    if (i == 0) {
      all.type = one.type;
      first = one.dims;
    }
    are_alike = are_alike && one.dims == first;
    total += static_cast<std::int64_t>(data::element_count(one.dims, tensor_named(name)));
    all.bytes += one.bytes;
    std::move(one.strings.begin(), one.strings.end(), std::back_inserter(all.strings));
  }
  all.dims = {total};
  if (count == 0 || !are_alike) return all;
  all.dims = first;
  all.dims.insert(all.dims.begin(), static_cast<std::int64_t>(count));
  return all;
}

Tensor gather(const Caller& call, OrtValue* value, const std::string& name) {
  switch (kind_of(call, value)) {
    case ONNX_TYPE_TENSOR: {
      std::vector<std::string> strings;
      return data::copy_of(view_of_tensor(call, value, name, strings));
    }
    case ONNX_TYPE_MAP: return gather(call, part_of(call, value, kMapValues).get(), name);
    case ONNX_TYPE_SEQUENCE: return gather_sequence(call, value, name);
    case ONNX_TYPE_UNKNOWN: return {ElementType::kFloat, {0}, {}};  // an optional value that is absent
    default: break;
  }
  throw Error(ErrorCode::kUnsupported,
              "is neither a tensor nor a sequence or a map; remove it from the model's outputs",
              fmt::format("output '{}'", name));
}

}  // namespace

TensorView view_of(const Caller& call, OrtValue* value, const std::string& name, Tensor& made) {
  if (kind_of(call, value) == ONNX_TYPE_TENSOR) return view_of_tensor(call, value, name, made.strings);
  made = gather(call, value, name);
  return made;
}

}  // namespace ounce::runtime
