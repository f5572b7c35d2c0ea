// What the runtime answers: nothing, or a status that becomes an Error.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

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

}  // namespace ounce::runtime
