// What the runtime answers: nothing, or a status that becomes an Error.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>
#include <string_view>
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

// What others write, for a message of ours: on one line, without what a terminal would obey.

inline std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_gap = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!is_gap) line += c;
    if (is_gap && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace ounce::runtime
