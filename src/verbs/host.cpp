#include "verbs/host.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <new>
#include <system_error>

#include "base/cancel.h"

namespace ounce::verbs {

namespace {

Failure failed(ErrorCode code, const std::string& message) { return {exit_code(code), message, code}; }

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCancelled) {
      // Whatever was wrong with the bytes: they were not the file's.
      if (const auto cut = take_file_fault()) return failed(ErrorCode::kIo, *cut);
    }
    return {exit_code(error.code()), report::with_options(error), error.code(),
            report::fields_in(error.what())};
  } catch (const std::bad_alloc&) {
    return failed(ErrorCode::kIo, "out of memory");
  } catch (const std::system_error& error) {
    return failed(ErrorCode::kIo, error.what());
  } catch (const std::exception& error) {
    return failed(ErrorCode::kInternal, fmt::format("internal error: {}; please report it", error.what()));
  }
}

}  // namespace ounce::verbs
