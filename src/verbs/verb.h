// A verb is one row: its name, how it is explained, what it takes and what runs. The parser, the help,
// completions, manual pages, the C API and the generator of Python's functions read the rows. To add a verb,
// write its file and name its row in verb.cpp.
//
//   struct Arguments { std::string model; bool json = false; };
//   void declare(Options& options, Arguments& arguments);
//   int run(const Arguments& arguments, Host& host, const Options& options);      // gives the exit code
//
//   constexpr std::string_view kExamples[] = {"ounce inspect model.onnx"};
//   extern constinit const VerbInfo kInspect = {.name = "inspect",
//                                               .summary = "list what a model contains",
//                                               .examples = kExamples,
//                                               .call = call_of<Arguments, declare, run>,
//                                               .result = "InspectResult"};
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "verbs/host.h"
#include "verbs/options.h"

namespace ounce::verbs {

// One use of a verb: its options, and what they set.
class VerbCall {
 public:
  explicit VerbCall(std::string verb) : options(std::move(verb)) {}
  virtual ~VerbCall() = default;
  virtual int run(Host& host) = 0;  // once, after options were read
  Options options;
};

using MakeCall = std::unique_ptr<VerbCall> (*)(std::string verb);

template <class Arguments, auto declare, auto run_verb>
std::unique_ptr<VerbCall> call_of(std::string verb) {
  struct Bound final : VerbCall {
    explicit Bound(std::string name) : VerbCall(std::move(name)) { declare(options, arguments); }
    int run(Host& host) override {
      options.take_words();
      return run_verb(arguments, host, options);
    }
    Arguments arguments;
  };
  return std::make_unique<Bound>(std::move(verb));
}

// Where the program's help lists a verb.
enum class Audience { kEveryday, kMore, kHidden };

struct VerbInfo {
  const char* name;     // one word: "set" of "contract set"
  const char* summary;  // begins with a small letter, has no full stop
  Audience audience = Audience::kMore;
  std::span<const std::string_view> everyday = {};  // the options of the short help; empty: all of them
  std::span<const std::string_view> examples = {};  // command lines
  MakeCall call = nullptr;                          // null: it only holds other verbs
  const char* result = "Result";                    // the class of its result in Python
  std::span<const VerbInfo* const> verbs = {};      // inside of it: "merge" of "calibrate"
};

// The library's verbs, in the order of the help.
std::span<const VerbInfo* const> all_verbs();

// "contract set", with blanks between the words. Throws Error{kUsage} that guesses what was meant.
const VerbInfo& find_verb(std::span<const VerbInfo* const> verbs, const std::string& name);

// Calls `visit(verb, name)` for each verb and those inside of it, the outer one first: "contract", "contract
// set" …
template <class Visit>
void for_each_verb(std::span<const VerbInfo* const> verbs, const Visit& visit,
                   const std::string& before = {}) {
  for (const VerbInfo* verb : verbs) {
    const std::string name = before + verb->name;
    visit(*verb, name);
    for_each_verb(verb->verbs, visit, name + ' ');
  }
}

}  // namespace ounce::verbs
