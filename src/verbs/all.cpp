#include <fmt/format.h>
#include <ounce/error.h>

#include <sstream>
#include <vector>

#include "base/text.h"
#include "verbs/verb.h"

namespace ounce::verbs {

extern const VerbInfo kQuantize, kVerify, kBench, kTune, kAdvise, kInspect, kCheck, kReport, kSensitivity,
    kCalibrate, kDiff, kPublish, kContract, kUnpack, kCopy, kShadow, kProve;

std::span<const VerbInfo* const> all_verbs() {
  static constexpr const VerbInfo* kAll[] = {
      &kQuantize,  &kVerify, &kBench,   &kTune,     &kAdvise, &kInspect, &kCheck,  &kReport, &kSensitivity,
      &kCalibrate, &kDiff,   &kPublish, &kContract, &kUnpack, &kCopy,    &kShadow, &kProve};
  return kAll;
}

const VerbInfo& find_verb(std::span<const VerbInfo* const> verbs, const std::string& name) {
  const VerbInfo* found = nullptr;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    const auto inside = found == nullptr ? verbs : found->verbs;
    const auto next =
        std::find_if(inside.begin(), inside.end(), [&](const VerbInfo* verb) { return verb->name == word; });
    if (next == inside.end()) {
      std::vector<std::string> names;
      for (const VerbInfo* verb : inside) names.emplace_back(verb->name);
      throw Error(ErrorCode::kUsage, with_guess(fmt::format("'{}' is not a verb of {}", word,
                                                            found == nullptr ? "ounce" : found->name),
                                                nearest(word, names)));
    }
    found = *next;
  }
  if (found == nullptr) throw Error(ErrorCode::kUsage, "say what to do: the verb is empty");
  return *found;
}

}  // namespace ounce::verbs
