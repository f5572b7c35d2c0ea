// What the runtime answers: nothing, or a status that becomes an Error.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>
#include <utility>

namespace ounce::runtime {

// Throws Error with the runtime's own message, on one line, unless `status` is null; releases it. `where`
// names the model.
void check(const OrtApi& api, OrtStatus* status, const std::string& where);

// Objects of the runtime that give themselves back: Handle<OrtValue> value(raw, {api.ReleaseValue}).
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

}  // namespace ounce::runtime
