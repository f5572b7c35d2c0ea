// Errors of the layers below as an app's own.
#pragma once

#include <ounce/app/status.h>

#include <new>
#include <utility>

namespace ounce::app {

// `bad_input` is what bad input means here: a model that is none, or a run that failed.
Status status_of(ErrorCode code, Status bad_input);

// Does something, and throws Failure where it throws anything else.
template <class Action>
auto as_failures(Status bad_input, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Failure&) {
    throw;
  } catch (const Error& error) {
    throw Failure(status_of(error.code(), bad_input), error.what());
  } catch (const std::bad_alloc&) {
    throw Failure(Status::kMemory, "no memory left");
  }
}

}  // namespace ounce::app
