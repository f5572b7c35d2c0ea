// C++ wrappers of ONNX Runtime's C API: calls that throw, RAII handles, and conversions of tensors.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>
#include <utility>

#include "data/tensor.h"
#include "runtime/ort/session.h"

namespace ounce::runtime {

// Throws Error with the runtime's message, on one line, unless `status` is null. Releases `status`. `where`
// names the model.
void check(const OrtApi& api, OrtStatus* status, const std::string& where);

// RAII for objects of the runtime: Handle<OrtValue> value(raw, {api.ReleaseValue}).
template <class T>
struct Release {
  void (*release)(T*) = nullptr;
  void operator()(T* object) const { release(object); }
};
template <class T>
using Handle = std::unique_ptr<T, Release<T>>;

// Calls functions of the C API and throws their errors, with the name of a model:
//
//   const Caller call(api, "model.onnx");
//   call(api.CreateSessionOptions, &options);
class Caller {
 public:
  Caller(const OrtApi& api, const std::string& model) : api_(&api), model_(&model) {}

  template <class... Parameters, class... Arguments>
  void operator()(OrtStatus*(ORT_API_CALL* function)(Parameters...), Arguments&&... arguments) const {
    check(*api_, function(std::forward<Arguments>(arguments)...), *model_);
  }
  const OrtApi& api() const { return *api_; }

 private:
  const OrtApi* api_;
  const std::string* model_;  // must outlive this object
};

// The runtime's default allocator, which must not be released.
inline OrtAllocator* default_allocator(const Caller& call) {
  OrtAllocator* allocator = nullptr;
  call(call.api().GetAllocatorWithDefaultOptions, &allocator);
  return allocator;
}

// The objects of a Session.
struct Session::Handles {
  Handle<OrtSession> session;
  Handle<OrtMemoryInfo> memory;  // of the CPU
};

ElementType from_runtime(ONNXTensorElementDataType type);

// Creates a value that refers to the tensor's bytes, which must stay in place; the runtime only reads them.
// Strings are copied. Throws Error{kBadInput} if the number of bytes does not match the shape.
Handle<OrtValue> make_value(const Caller& call, const OrtMemoryInfo* memory, const data::TensorView& tensor,
                            const std::string& name);

// Views a value as a tensor. Strings, the elements of sequences, and the values of maps (sorted by key) are
// copied into `made`. Sequences of equally shaped tensors, or of maps with the same number of keys, become
// [elements, …]; others become one row. An absent optional value becomes an empty row.
data::TensorView view_of(const Caller& call, OrtValue* value, const std::string& name, data::Tensor& made);

}  // namespace ounce::runtime
