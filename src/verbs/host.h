// Who a verb works for: a person at a terminal, or a program that called the library. All that a verb says
// goes through its host, and so does how far it is; nothing of it can do anything to a terminal, whoever
// wrote the names in it.
//
//   host.say(human, report::tune_text(result));
//   host.say(human, safe_format("{}: {} samples\n", model, samples));
//   const std::unique_ptr<Watch> watch = host.watch(model);
//   options.progress = &watch->progress;
#pragma once

#include <ounce/data.h>
#include <ounce/progress.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::verbs {

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

}  // namespace ounce::verbs
