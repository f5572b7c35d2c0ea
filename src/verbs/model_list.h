// Expands the models of a command line (files, and all .onnx and .tflite files in folders), assigns an output
// to each, and runs a function per model.
#pragma once

#include <ounce/error.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::verbs {

struct ModelFile {
  std::filesystem::path path;
  std::filesystem::path relative;  // to the folder it was found in; its file name otherwise
  bool was_found = false;          // found in a folder, not named on the command line
};

// Sorted within each folder. Throws Error{kIo} for a folder that cannot be read, Error{kUsage} for one
// without models.
std::vector<ModelFile> find_models(const std::vector<std::string>& arguments);

// Throws Error{kIo} if a model that was named is missing or unreadable, with a hint if the word was probably
// meant as something else. Models that were found in a folder are not checked here; they fail when they are
// opened.
void require_readable(const ModelFile& model, const Options& verb);

// Like find_models(), but skips models in folders that are already quantized, with a line in `notes` for
// each. Throws Error{kUsage} if a folder has only quantized models.
std::vector<ModelFile> find_originals(const std::vector<std::string>& arguments,
                                      std::vector<std::string>& notes);
// Prints each note to the message stream.
void say_notes(const std::vector<std::string>& notes, Host& host);

// Returns the single model of an argument: the file, or the only original model in a folder. Quantized models
// and published variants (model_fp16.onnx next to model.onnx) do not count. Throws Error{kUsage} that lists
// the models if a folder has several.
std::filesystem::path one_model(const std::string& argument);

// Returns the default output path for a model path.
using UsualName = std::function<std::filesystem::path(const std::filesystem::path&)>;

// One model and the path of its result.
struct Job {
  ModelFile model;
  std::filesystem::path output;
  bool makes_folder = false;  // create the folder of the output if it does not exist

  void require_place() const;  // checks before any work that the output can be written; throws Error
  void make_folder() const;    // throws Error{kIo}
};

struct JobList {
  std::vector<Job> jobs;
  std::vector<std::string> notes;
};

// `output` may be empty (next to each model), a file (for one model only) or a folder. It is a folder if it
// exists as one, ends in a slash, or there are several models or models from a folder. Results of an earlier
// run among the models are skipped, with a note. Throws Error{kUsage} if a result would replace another
// result or a model that was named.
JobList assign_outputs(const std::vector<ModelFile>& models, const std::string& output,
                       const UsualName& usual_name);

// Returns the result of `work`; adds the name of the model to an Error that it throws, as guarded() does.
template <class Work>
auto named(const std::filesystem::path& model, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || std::string(error.what()).starts_with(model.string())) throw;
    throw Error(error.code(), error.what(), model.string());
  }
}

// The same for work on several models: an Error that names none of them gets the name of the first.
template <class Work>
auto named(const std::vector<std::filesystem::path>& models, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    const bool is_named = std::ranges::any_of(
        models, [&](const std::filesystem::path& model) { return text.starts_with(model.string()); });
    if (error.code() == ErrorCode::kCancelled || is_named) throw;
    throw Error(error.code(), error.what(), models.front().string());
  }
}

// Runs `work` on `model` and returns the exit code. An error sets `failure`, whose message names the model.
// Rethrows a cancellation.
int guarded(const std::filesystem::path& model, const std::function<void()>& work, report::Failure& failure);

// Runs work per model and collects one row for each. An error of one model is printed and recorded in its
// row; the other models still run. Problems that can be found before the work, such as a missing model, end
// the run before it starts.
//
//   const auto [rows, worst] = each_model<report::ProveRow>(
//       models, verb, options, host, [&](auto& row) { row.proof = prove(row.model, options); },
//       [&](const auto& row, bool is_first) { host.say(human, report::prove_text(row.proof)); });

template <class Row>
struct Rows {
  std::vector<Row> rows;
  int worst = 0;  // exit code
};

inline const ModelFile& model_of(const ModelFile& model) { return model; }
inline const ModelFile& model_of(const Job& job) { return job.model; }

// Returns a row for each item (a model or a job) for which `check` throws Error. If there is one, no work may
// start.
template <class Row, class Items, class Check>
Rows<Row> refused(const Items& items, const Check& check) {
  Rows<Row> found;
  for (const auto& item : items) {
    Row row;
    row.model = model_of(item).path;
    row.exit_code = guarded(
        row.model, [&] { check(item); }, row.error);
    found.worst = std::max(found.worst, row.exit_code);
    if (row.exit_code != 0) found.rows.push_back(std::move(row));
  }
  return found;
}

// The same for named models that cannot be read.
template <class Row>
Rows<Row> refused(const std::vector<ModelFile>& models, const Options& verb) {
  return refused<Row>(models, [&](const ModelFile& model) { require_readable(model, verb); });
}

// `work` fills in the row of an item. `show` prints it, and may return false to end the run.
template <class Row, class Items, class Work, class Show>
Rows<Row> each_row(const Items& items, Rows<Row> done, Host& host, const Work& work, const Show& show) {
  for (const Row& row : done.rows) host.complain(row.error.line());
  if (!done.rows.empty()) return done;
  for (const auto& item : items) {
    Row row;
    row.model = model_of(item).path;
    const int failed = guarded(
        row.model, [&] { work(row, item); }, row.error);
    if (failed != 0) row.exit_code = failed;
    done.worst = std::max(done.worst, row.exit_code);
    bool goes_on = true;
    if (row.error.empty()) {
      if constexpr (std::is_void_v<decltype(show(row, true))>) {
        show(row, done.rows.empty());
      } else {
        goes_on = show(row, done.rows.empty());
      }
    } else {
      host.complain(row.error.line());
    }
    done.rows.push_back(std::move(row));
    if (!goes_on) break;
  }
  return done;
}

// The same with a progress line per model.
template <class Row, class Request, class Work, class Show>
Rows<Row> each_model(const std::vector<ModelFile>& models, const Options& verb, Request& options, Host& host,
                     const Work& work, const Show& show) {
  return each_row<Row>(
      models, refused<Row>(models, verb), host,
      [&](Row& row, const ModelFile&) {
        const std::unique_ptr<Watch> watch = host.watch(row.model.string());
        options.progress = &watch->progress;
        work(row);
      },
      show);
}

}  // namespace ounce::verbs
