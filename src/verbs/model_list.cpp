#include "verbs/model_list.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <system_error>

#include "base/model_kind.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "report/messages.h"

namespace ounce::verbs {
namespace fs = std::filesystem;
namespace {

bool is_model_name(const fs::path& path) {
  return path.extension() == ".onnx" || path.extension() == ".tflite";
}

std::vector<ModelFile> find_in_folder(const std::string& folder) {
  std::vector<ModelFile> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;  // an unreadable entry fails with a better message when it is opened
    if (is_model_name(entry->path()) && entry->is_regular_file(ignored)) {
      found.push_back({entry->path(), entry->path().lexically_relative(folder), true});
    }
  }
  if (error) throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()), folder);
  if (found.empty()) throw Error(ErrorCode::kUsage, "the folder has no .onnx or .tflite files", folder);
  std::sort(found.begin(), found.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.relative < b.relative; });
  return found;
}

bool means_folder(const std::string& output, const std::vector<ModelFile>& models) {
  std::error_code ignored;
  return models.size() > 1 || models.front().was_found || output.ends_with('/') ||
         (fs::is_directory(output, ignored) && !is_package_name(output));
}

// Normalizes a path, so that different spellings of it are equal.
fs::path place_of(const fs::path& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(path, error);
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // else the paths would look different
  return error ? path : place;
}

// True for a published variant next to its original: model_q4.onnx and model.onnx.
bool is_variant_among(const std::vector<ModelFile>& models, const fs::path& path) {
  const std::string original = original_of(path.stem().string());
  if (original.empty()) return false;
  const fs::path place = path.parent_path() / (original + path.extension().string());
  return std::any_of(models.begin(), models.end(),
                     [&](const ModelFile& model) { return model.path == place; });
}
// Shell completion adds a slash to the name of a package, because it is a folder.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() || !is_package_name(path) ? path : path.parent_path();
}

}  // namespace

std::vector<ModelFile> find_models(const std::vector<std::string>& arguments) {
  std::vector<ModelFile> models;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (fs::is_directory(argument, ignored) && !is_package_name(argument)) {
      const auto found = find_in_folder(argument);
      models.insert(models.end(), found.begin(), found.end());
    } else {
      const fs::path path = without_slash(argument);
      models.push_back({path, path.filename(), false});
    }
  }
  return models;
}

void require_readable(const ModelFile& model, const Options& verb) {
  if (model.was_found) return;
  try {
    io::require_readable(model.path);
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + hint_for_word(verb, model.path.string()));
  }
}

std::vector<ModelFile> find_originals(const std::vector<std::string>& arguments,
                                      std::vector<std::string>& notes) {
  std::vector<ModelFile> originals;
  for (const std::string& argument : arguments) {
    std::size_t skipped = 0;
    const std::vector<ModelFile> found = find_models({argument});
    for (const ModelFile& model : found) {
      const std::string why = model.was_found ? why_no_original(model.path) : std::string();
      if (why.empty()) {
        originals.push_back(model);
      } else {
        notes.push_back(fmt::format("skipped {}: {}", model.path.string(), why));
        ++skipped;
      }
    }
    if (skipped != 0 && skipped == found.size())
      throw Error(ErrorCode::kUsage,
                  fmt::format("the folder has no original model: {}",
                              skipped == 1 ? "its model is already quantized"
                                           : fmt::format("all {} models are already quantized", skipped)),
                  argument);
  }
  return originals;
}

void say_notes(const std::vector<std::string>& notes, Host& host) {
  for (const std::string& note : notes)
    host.say(Stream::kMessages, safe_format("note: {}\n", report::note_text(note)));
}

fs::path one_model(const std::string& argument) {
  std::error_code ignored;
  if (!fs::is_directory(argument, ignored) || is_package_name(argument)) return without_slash(argument);
  std::vector<fs::path> found = originals_in(argument);
  if (found.size() > 1) {
    std::vector<fs::path> originals;
    std::copy_if(found.begin(), found.end(), std::back_inserter(originals),
                 [](const fs::path& model) { return why_no_original(model).empty(); });
    if (!originals.empty()) found = std::move(originals);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) return argument;  // opening it reports the error
  constexpr std::size_t kMost = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i)
    names += (i == 0 ? "" : ", ") + found[i].lexically_relative(argument).string();
  throw Error(ErrorCode::kUsage,
              fmt::format("the folder has {} models ({}{}): name one, such as {}", found.size(), names,
                          found.size() > kMost ? ", …" : "", found.front().string()),
              argument);
}

void Job::require_place() const {
  if (makes_folder && !fs::is_directory(output.parent_path())) {
    io::require_folder_place(output.parent_path());
  } else {
    io::require_place(output);
  }
}

void Job::make_folder() const {
  std::error_code error;
  if (makes_folder) fs::create_directories(output.parent_path(), error);
  if (error) {
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder: {}", error.message()),
                output.parent_path().string());
  }
}

JobList assign_outputs(const std::vector<ModelFile>& models, const std::string& output,
                       const UsualName& usual_name) {
  const bool is_folder = !output.empty() && means_folder(output, models);
  const auto output_of = [&](const ModelFile& model) -> fs::path {
    if (output.empty()) return usual_name(model.path);
    return is_folder ? fs::path(output) / model.relative : fs::path(output);
  };
  std::map<fs::path, const ModelFile*> results;  // by place; of models that share one, the first
  for (const ModelFile& model : models) results.emplace(place_of(output_of(model)), &model);

  JobList list;
  for (const ModelFile& model : models) {
    if (model.was_found && is_variant_among(models, model.path)) {
      list.notes.push_back(
          fmt::format("skipped {}: it is a variant of another model in the folder", model.path.string()));
      continue;
    }
    const auto rival = results.find(place_of(model.path));
    if (rival != results.end() && rival->second != &model) {
      const std::string name = model.path.string(), other = rival->second->path.string();
      if (!model.was_found) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("is both a model to work on and the output for '{}'", other), name);
      }
      list.notes.push_back(fmt::format("skipped {}: it is the output for {}", name, other));
      continue;
    }
    const Job job{model, output_of(model), is_folder};
    const ModelFile* first = results.at(place_of(job.output));
    if (first != &model) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("would be the output for both '{}' and '{}'", first->path.string(),
                              model.path.string()),
                  job.output.string());
    }
    list.jobs.push_back(job);
  }
  return list;
}

int guarded(const fs::path& model, const std::function<void()>& work, Failure& failure) {
  try {
    work();
    return 0;
  } catch (...) {
    failure = current_failure();
    if (failure.exit_code == exit_code(ErrorCode::kCancelled)) throw;  // ends the whole run
    if (!failure.message.starts_with(model.string()))
      failure.message = model.string() + ": " + failure.message;
    return failure.exit_code;
  }
}

}  // namespace ounce::verbs
