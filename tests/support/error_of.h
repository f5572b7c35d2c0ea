// Returns the Error that an action throws, to check its code and message.
//
//   EXPECT_THAT(error_of([&] { read_model(path); }).what(), HasSubstr("byte 12"));
#pragma once

#include <gtest/gtest.h>
#include <ounce/error.h>

namespace ounce::test {

// If the action does not throw, the test fails and the result is an Error{kInternal}.
template <class Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorCode::kInternal, "no error was thrown"};
}

}  // namespace ounce::test
