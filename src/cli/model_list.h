// The models that a command line means: files, and all .onnx files below folders; and where results go.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ounce::cli {

struct ModelFile {
  std::filesystem::path path;
  std::filesystem::path relative;  // to the folder it was found in; its file name otherwise
};

// Sorted within each folder. Throws Error{kIo} for what does not exist, Error{kUsage} for a folder without models.
std::vector<ModelFile> find_models(const std::vector<std::string>& arguments);

// Where the result of `model` goes. `output` may be empty (beside the model), a file (for one model only) or a folder;
// it is a folder if it exists as one, ends in a slash, or has to hold several results. `usual_name` gives the name
// beside the model. Folders are made as needed unless `dry_run`.
std::filesystem::path output_for(const ModelFile& model, const std::string& output, bool several,
                                 const std::function<std::filesystem::path(const std::filesystem::path&)>& usual_name, bool dry_run);

// Runs `work` and gives the exit code; an error is one line in `message`.
int guarded(const std::function<void()>& work, std::string& message);

}  // namespace ounce::cli
