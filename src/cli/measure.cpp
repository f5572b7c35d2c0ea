// `ounce measure` answers questions of a queue, which it reads from a file or from stdin. A program that
// distributes them in its own way starts it once per worker, and writes a line whenever the worker is free.
#include <ounce/error.h>
#include <ounce/work.h>

#include <nlohmann/json.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/json_text.h"
#include "verbs/sessions.h"
#include "verbs/verb.h"

namespace ounce::cli {
namespace {

struct MeasureArguments {
  std::string file;
  std::vector<std::string> roots;
  WorkOptions options;
};

std::string answer_or_reason(Answering& answering, const std::string& question) {
  try {
    return answering.answer(question);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return json_text(nlohmann::json{{"declined", error.what()}});
  }
}

int measure(MeasureArguments& arguments, verbs::Host& host, const verbs::Options&) {
  arguments.options.open = verbs::session_opener(arguments.roots);
  Answering answering(arguments.options);
  std::ifstream file;
  const bool is_stdin = arguments.file.empty() || arguments.file == "-";
  if (!is_stdin) file.open(arguments.file);
  std::istream& in = is_stdin ? std::cin : file;
  if (!in) throw Error(ErrorCode::kIo, "cannot be read", arguments.file);
  for (std::string line; std::getline(in, line);) {
    throw_if_cancelled();
    if (line.empty()) continue;
    host.say_json(answer_or_reason(answering, line) + "\n");
    std::fflush(stdout);  // the other program waits for it
  }
  return 0;
}

void declare_measure(verbs::Options& options, MeasureArguments& arguments) {
  options.add_option("file", arguments.file, "Questions as JSON, one per line (default: stdin)");
  verbs::add_worker_options(options, arguments.roots, arguments.options.times);
}

}  // namespace

extern constinit const verbs::VerbInfo kMeasure = {
    .name = "measure",
    .summary = "Answer questions of a queue as JSON lines, for other ways to distribute them",
    .audience = verbs::Audience::kHidden,
    .call = verbs::call_of<MeasureArguments, declare_measure, measure>,
};

}  // namespace ounce::cli
