// What an output must not be: one that takes the place of what it is made of, or that has no place.
//
//   make::Inputs inputs(model);
//   inputs.add(options.data).add("the ranges", options.ranges);
//   inputs.require_apart(output);    // before any work
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <string>
#include <vector>

#include "onnx/model.h"

namespace ounce::make {

// The files that one command reads. Compared by what they are and not by their names, so that links of both
// kinds are seen through.
class Inputs {
 public:
  Inputs() = default;
  explicit Inputs(const onnx::Model& model) { add(model); }  // which has to outlive this

  Inputs& add(const onnx::Model& model);  // with its external data
  Inputs& add(const DataOptions& data);   // of a folder, the samples in it
  Inputs& add(const RuntimeOptions& runtime);
  Inputs& add(std::string what, std::filesystem::path file);  // an empty path is none

  // Throws Error{kUsage} when `output`, called `name`, is one of them, or is no place for a file.
  void require_apart(const std::filesystem::path& output, const std::string& name = "the output") const;

 private:
  struct File {
    std::string what;
    std::filesystem::path path;
  };
  std::string find(const std::filesystem::path& output) const;

  std::vector<const onnx::Model*> models_;
  std::vector<DataOptions> data_;
  std::vector<File> files_;
};

}  // namespace ounce::make
