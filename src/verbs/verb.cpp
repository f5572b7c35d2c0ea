#include "verbs/verb.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <new>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/cancel.h"
#include "base/text.h"
#include "report/messages.h"

namespace ounce::verbs {

extern const VerbInfo kQuantize, kVerify, kBench, kTune, kAdvise, kInspect, kCheck, kReport, kSensitivity,
    kCalibrate, kDiff, kPublish, kContract, kUnpack, kRepack, kShadow, kProve, kOverview, kExplain, kWork;

std::span<const VerbInfo* const> all_verbs() {
  static constexpr const VerbInfo* kAll[] = {&kQuantize, &kVerify,  &kBench,    &kTune,        &kAdvise,
                                             &kInspect,  &kCheck,   &kReport,   &kSensitivity, &kCalibrate,
                                             &kDiff,     &kPublish, &kContract, &kUnpack,      &kRepack,
                                             &kShadow,   &kProve,   &kExplain,  &kOverview,    &kWork};
  return kAll;
}

const VerbInfo& find_verb(std::span<const VerbInfo* const> verbs, const std::string& name) {
  const VerbInfo* found = nullptr;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    const auto inside = found == nullptr ? verbs : found->verbs;
    const auto next = std::find_if(inside.begin(), inside.end(),
                                   [&](const VerbInfo* verb) { return is_named(*verb, word); });
    if (next == inside.end()) {
      std::vector<std::string> names;
      for (const VerbInfo* verb : inside) names.emplace_back(verb->name);
      throw Error(ErrorCode::kUsage, with_guess(fmt::format("'{}' is not a verb of {}", word,
                                                            found == nullptr ? "ounce" : found->name),
                                                nearest(word, names)));
    }
    found = *next;
  }
  if (found == nullptr) throw Error(ErrorCode::kUsage, "no verb is given");
  return *found;
}

namespace {

Failure failed(ErrorCode code, const std::string& message) {
  return {exit_code(code), message, code, {}, std::string(report::error_id(code, message))};
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCancelled) {
      // A truncated file explains any other error, because the bytes were not those of the file.
      if (const auto cut = take_file_fault()) return failed(ErrorCode::kIo, *cut);
    }
    return {exit_code(error.code()), report::with_options(error), error.code(),
            report::fields_in(error.what()), std::string(report::error_id(error.code(), error.what()))};
  } catch (const std::bad_alloc&) {
    return failed(ErrorCode::kIo, "out of memory");
  } catch (const std::system_error& error) {
    return failed(ErrorCode::kIo, error.what());
  } catch (const std::exception& error) {
    return failed(ErrorCode::kInternal, fmt::format("internal error: {}; please report it", error.what()));
  }
}

}  // namespace ounce::verbs
