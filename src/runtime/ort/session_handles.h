// What a Session holds of the runtime's.
#pragma once

#include "runtime/ort/session.h"
#include "runtime/ort/status.h"

namespace ounce::runtime {

struct Session::Handles {
  Handle<OrtSession> session;
  Handle<OrtMemoryInfo> memory;  // the CPU's
};

}  // namespace ounce::runtime
