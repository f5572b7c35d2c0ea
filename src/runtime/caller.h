// Calls of the C API that throw, on behalf of one model:
//
//   const Caller call(api, "model.onnx");
//   call(api.CreateSessionOptions, &options);
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <utility>

#include "runtime/status.h"

namespace ounce::runtime {

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
