// A verb is one row: its name, help, options and the function that runs it. The parser, the help,
// completions, manual pages, the C API and the generator of the Python functions read the rows. To add a
// verb, write its file and add its row to verb.cpp.
//
//   struct Arguments { std::string model; bool json = false; };
//   void declare(Options& options, Arguments& arguments);
//   int run(const Arguments& arguments, Host& host, const Options& options);      // returns the exit code
//
//   constexpr std::string_view kExamples[] = {"ounce inspect model.onnx"};
//   extern constinit const VerbInfo kInspect = {.name = "inspect",
//                                               .summary = "List the contents of a model",
//                                               .examples = kExamples,
//                                               .call = call_of<Arguments, declare, run>,
//                                               .result = "InspectResult"};
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <nlohmann/json_fwd.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "report/recipe_command.h"
#include "report/table.h"
#include "verbs/options.h"

namespace ounce {
class Session;  // ounce/work.h
}

namespace ounce::verbs {

// The host of a verb is a terminal, or a program that called the library. A verb sends all output and its
// progress to the host. The host escapes control characters, so that names in a model cannot affect a
// terminal.
//
//   host.say(human, report::tune_text(result));
//   host.say(human, safe_format("{}: {} samples\n", model, samples));
//   const std::unique_ptr<Watch> watch = host.watch(model);
//   options.progress = &watch->progress;

using report::NamesParameters;
using report::safe_format;

// kResults is stdout, kMessages is stderr.
enum class Stream { kResults, kMessages };

// Returns the stream for human-readable output: kMessages if stdout has a JSON document.
inline Stream for_people(bool wants_document) {
  return wants_document ? Stream::kMessages : Stream::kResults;
}

// Inputs that only a calling program can give, from its memory.
struct InMemoryInputs {
  std::shared_ptr<const MemoryData> data = nullptr;                             // replaces --data
  std::function<std::string(const std::filesystem::path& folder)> metric = {};  // replaces --metric-command
};

// Shows the progress of a call as long as it exists.
class Watch {
 public:
  virtual ~Watch() = default;
  Progress progress;
};

class Host {
 public:
  virtual ~Host() = default;

  // Prints text. Format names into it with safe_format(), which keeps each name on its line.
  void say(Stream stream, const std::string& text) { write(stream, escaped_lines(text)); }
  // Prints a JSON document to stdout.
  void say_json(const std::string& document) { write_document(escaped_json(document)); }
  // Prints an error as one line.
  void complain(const std::string& what) { write_complaint(escaped_lines(plain(what))); }
  // Shows the current state of the work; replaces the line before.
  void show(const std::string& line) { write_passing(escaped_lines(line)); }

  InMemoryInputs given;

  // Starts a progress line. `what` names the model or the task.
  virtual std::unique_ptr<Watch> watch(const std::string& what) = 0;

 protected:
  virtual void write(Stream stream, const std::string& text) = 0;
  virtual void write_document(const std::string& document) = 0;
  virtual void write_complaint(const std::string& line) = 0;
  virtual void write_passing(const std::string& line) = 0;
};

// An exception as a one-line message and an exit code.
//
//   try { … } catch (...) { const Failure failure = current_failure(); … }
using report::Failure;

// Converts the exception that is being handled. Call it in a catch block only.
Failure current_failure();

// One call of a verb: its options and the variables that they set.
class VerbCall {
 public:
  explicit VerbCall(std::string verb) : options(std::move(verb)) {}
  virtual ~VerbCall() = default;
  virtual int run(Host& host) = 0;  // call it once, after the options are read
  Options options;
};

using MakeCall = std::unique_ptr<VerbCall> (*)(std::string verb);

template <class Arguments, auto declare, auto run_verb>
std::unique_ptr<VerbCall> call_of(std::string verb) {
  struct Bound final : VerbCall {
    explicit Bound(std::string name) : VerbCall(std::move(name)) {
      declare(options, arguments);
      options.add_expert_option();
    }
    int run(Host& host) override {
      options.take_words();
      return run_verb(arguments, host, options);
    }
    Arguments arguments;
  };
  return std::make_unique<Bound>(std::move(verb));
}

// Opens a session of a verb whose measurements workers make (verbs/sessions.h).
using OpenSession = std::unique_ptr<Session> (*)(const std::string& verb,
                                                 const nlohmann::ordered_json& options);

// Where the help of the program lists a verb.
enum class Audience { kEveryday, kMore, kHidden };

struct VerbInfo {
  const char* name;                                // one word: "set" of "contract set"
  const char* summary;                             // imperative, with a capital letter and no full stop
  std::span<const std::string_view> aliases = {};  // earlier names, accepted but not shown
  Audience audience = Audience::kMore;
  std::span<const std::string_view> everyday = {};  // the options of the short help; empty: all options
  std::span<const std::string_view> examples = {};  // command lines
  MakeCall call = nullptr;                          // null: a group of other verbs
  const char* result = "Result";                    // the class of its result in Python
  std::span<const VerbInfo* const> verbs = {};      // nested verbs: "merge" of "calibrate"
  OpenSession open = nullptr;                       // null: no option --queue
};

// The verbs of the library, in the order of the help.
std::span<const VerbInfo* const> all_verbs();

// Finds a verb by its path, such as "contract set". Throws Error{kUsage} with a guess for an unknown one.
const VerbInfo& find_verb(std::span<const VerbInfo* const> verbs, const std::string& name);

inline bool is_named(const VerbInfo& verb, std::string_view name) {
  return verb.name == name || std::find(verb.aliases.begin(), verb.aliases.end(), name) != verb.aliases.end();
}

// Calls `visit(verb, name)` for each verb and its nested verbs, the outer one first: "contract",
// "contract set", …
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
