#include "app/open_library.h"

#include "app/failure.h"

namespace ounce::app {

std::shared_ptr<const runtime::Library> open_library(const std::string& wanted) {
  try {
    return runtime::Library::open(runtime::Library::find(wanted));
  } catch (const Error& error) {
    throw Failure(Status::kNoRuntime, error.what());
  }
}

}  // namespace ounce::app
