// The models that a command line means: files, and all .onnx files below folders; and where results go.
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
  bool was_found = false;          // in a folder, rather than named
};

// Sorted within each folder. Throws Error{kIo} for a folder that cannot be read, Error{kUsage} for one
// without models.
std::vector<ModelFile> find_models(const std::vector<std::string>& arguments);

// Throws Error{kIo} for a model that was named and is missing or may not be read, with a hint if the word was
// meant as something else. What was found in a folder is not asked about: it fails when its turn comes.
void require_readable(const ModelFile& model, const Options& verb);

// The same for verbs that quantize: without the models in folders that are quantized already. `notes` gets a
// line for each of them. Throws Error{kUsage} when a folder holds no others.
std::vector<ModelFile> find_originals(const std::vector<std::string>& arguments,
                                      std::vector<std::string>& notes);
// Says each of them beside the results.
void say_notes(const std::vector<std::string>& notes, Host& host);

// The one model that an argument means: the file, or what a folder holds. Of the variants that are published
// beside each other (model.onnx, model_fp16.onnx …) the first one is meant, and of several models the one
// that is not quantized. Throws Error{kUsage} that names them when a folder holds several.
std::filesystem::path one_model(const std::string& argument);

// The name of a result that stands beside its model.
using UsualName = std::function<std::filesystem::path(const std::filesystem::path&)>;

// Where the result of one model goes.
struct Job {
  ModelFile model;
  std::filesystem::path output;
  bool makes_folder = false;  // the output's folder is made when it does not exist

  void require_place() const;  // before any work; throws Error
  void make_folder() const;    // throws Error{kIo}
};

struct JobList {
  std::vector<Job> jobs;
  std::vector<std::string> notes;
};

// `output` may be empty (beside each model), a file (for one model only) or a folder: it is one if it exists
// as one, ends in a slash, or the models are several or come from a folder. Results of an earlier run that
// were found among the models are left out, with a note. Throws Error{kUsage} when a result would take the
// place of another one, or of a model that was named.
JobList assign_outputs(const std::vector<ModelFile>& models, const std::string& output,
                       const UsualName& usual_name);

// Gives what `work` gives; an Error that it throws names the model, as those of guarded() do.
template <class Work>
auto named(const std::filesystem::path& model, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || std::string(error.what()).starts_with(model.string())) throw;
    throw Error(error.code(), error.what(), model.string());
  }
}

// The same for several models that are looked at together: the first stands for those that are not named.
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

// Runs `work` on `model` and gives the exit code; an error is one line in `message`, which names the model.
int guarded(const std::filesystem::path& model, const std::function<void()>& work, report::Failure& failure);

// One model after the other, each with a row of its own: an error is a line and its exit code, and does not
// keep the others from their turn. Only what can be known before the work, such as a model that is not there,
// ends the run before it starts.
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

// A row for everything that `check` refuses; if there is one, no work may start. `check` gets what is
// checked, a model or a job, and throws Error.
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

// Of models that were named and cannot be read.
template <class Row>
Rows<Row> refused(const std::vector<ModelFile>& models, const Options& verb) {
  return refused<Row>(models, [&](const ModelFile& model) { require_readable(model, verb); });
}

// `work` fills in the row of an item; `show` says what came of it, and may return false to end the run.
template <class Row, class Items, class Work, class Show>
Rows<Row> each_row(const Items& items, Rows<Row> done, Host& host, const Work& work, const Show& show) {
  for (const Row& row : done.rows) host.complain(row.error.message);
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
      host.complain(row.error.message);
    }
    done.rows.push_back(std::move(row));
    if (!goes_on) break;
  }
  return done;
}

// The same for models whose progress is watched.
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
