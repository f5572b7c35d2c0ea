// The C API of ONNX Runtime: calls that throw, objects that release themselves, tensors as values.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>
#include <utility>

#include "data/tensor.h"
#include "runtime/ort/session.h"

namespace ounce::runtime {

// Throws Error with the runtime's own message, on one line, unless `status` is null; releases it. `where`
// names the model.
void check(const OrtApi& api, OrtStatus* status, const std::string& where);

// Objects of the runtime that release themselves: Handle<OrtValue> value(raw, {api.ReleaseValue}).
template <class T>
struct Release {
  void (*release)(T*) = nullptr;
  void operator()(T* object) const { release(object); }
};
template <class T>
using Handle = std::unique_ptr<T, Release<T>>;

// Calls of the C API that throw, on behalf of one model:
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
  const std::string* model_;  // outlives the caller
};

// The runtime's own allocator, which it never releases.
inline OrtAllocator* default_allocator(const Caller& call) {
  OrtAllocator* allocator = nullptr;
  call(call.api().GetAllocatorWithDefaultOptions, &allocator);
  return allocator;
}

// The objects of a Session.
struct Session::Handles {
  Handle<OrtSession> session;
  Handle<OrtMemoryInfo> memory;  // the CPU's
};

ElementType from_runtime(ONNXTensorElementDataType type);

// The value refers to the tensor's bytes, which must not move and which the runtime only reads; strings are
// copied. Throws Error{kBadInput} when the bytes do not fit the shape.
Handle<OrtValue> make_value(const Caller& call, const OrtMemoryInfo* memory, const data::TensorView& tensor,
                            const std::string& name);

// A view of a value. Only strings, and the elements of a sequence and the values of a map (by their keys) one
// after the other, are copied into `made`. Sequences of tensors of one shape, or of maps with equally many
// keys, are [elements, …]; others are one row. An absent optional is an empty row.
data::TensorView view_of(const Caller& call, OrtValue* value, const std::string& name, data::Tensor& made);

}  // namespace ounce::runtime
