// The Error that an action throws, to look at its code and its words.
//
//   EXPECT_THAT(error_of([&] { read_model(path); }).what(), HasSubstr("byte 12"));
#pragma once

#include <gtest/gtest.h>
#include <ounce/error.h>

namespace ounce::test {

// An action that does not throw fails the test, and gives an Error{kInternal} to go on with.
template <class Action>
Error error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return {ErrorCode::kInternal, "nothing was refused"};
}

}  // namespace ounce::test
