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

#include <ounce/data.h>
#include <ounce/progress.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "report/recipe_command.h"
#include "report/table.h"
#include "verbs/options.h"

namespace ounce::verbs {

// Who a verb works for: a person at a terminal, or a program that called the library. All that a verb says
// goes through its host, and so does how far it is; nothing of it can do anything to a terminal, whoever
// wrote the names in it.
//
//   host.say(human, report::tune_text(result));
//   host.say(human, safe_format("{}: {} samples\n", model, samples));
//   const std::unique_ptr<Watch> watch = host.watch(model);
//   options.progress = &watch->progress;

using report::NamesParameters;
using report::safe_format;

// What was asked for, and what is said beside it.
enum class Stream { kResults, kMessages };

// Where words for people go: beside the document, if one is wanted.
inline Stream for_people(bool wants_document) {
  return wants_document ? Stream::kMessages : Stream::kResults;
}

// Inputs that only a program can hand over, from its memory.
struct InMemoryInputs {
  std::shared_ptr<const MemoryData> data = nullptr;                             // in the place of --data
  std::function<std::string(const std::filesystem::path& folder)> metric = {};  // of --metric-command
};

// While it lives, somebody may look at how far a call is.
class Watch {
 public:
  virtual ~Watch() = default;
  Progress progress;
};

class Host {
 public:
  virtual ~Host() = default;

  // Lines of ours; what names were put into them with safe_format() are on their line already.
  void say(Stream stream, const std::string& text) { write(stream, escaped_lines(text)); }
  // A document among the results, as exact as it is.
  void say_json(const std::string& document) { write_document(escaped_json(document)); }
  // What went wrong: one line, whatever is in it.
  void complain(const std::string& what) { write_complaint(escaped_lines(plain(what))); }
  // What goes on right now, for those who like to watch; it takes the place of the line before.
  void show(const std::string& line) { write_passing(escaped_lines(line)); }

  InMemoryInputs given;

  // `what` is a word for what is being worked on.
  virtual std::unique_ptr<Watch> watch(const std::string& what) = 0;

 protected:
  virtual void write(Stream stream, const std::string& text) = 0;
  virtual void write_document(const std::string& document) = 0;
  virtual void write_complaint(const std::string& line) = 0;
  virtual void write_passing(const std::string& line) = 0;
};

// Whatever was thrown, as one line for a person and an exit code.
//
//   try { … } catch (...) { const Failure failure = current_failure(); … }
using report::Failure;

// Only while an exception is being handled.
Failure current_failure();

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
