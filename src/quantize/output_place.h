// Refuses output paths that would overwrite an input of the command or that cannot be written.
//
//   quantization::Inputs inputs(model);
//   inputs.add(options.data).add("the ranges", options.ranges);
//   inputs.require_apart(output);    // before any work
#pragma once

#include <ounce/data.h>
#include <ounce/quantize.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"
#include "model/model_file.h"

namespace ounce::quantization {

// The files that a command reads. Compared by identity, not by name, so that symbolic and hard links are
// recognized.
class Inputs {
 public:
  Inputs() = default;
  explicit Inputs(const onnx::Model& model) { add(model); }  // `model` must outlive this

  Inputs& add(const onnx::Model& model);  // includes its external data
  Inputs& add(const model::ModelFile& model);
  Inputs& add(const DataOptions& data);  // for a folder: the samples in it
  Inputs& add(const RuntimeOptions& runtime);
  Inputs& add(std::string what, std::filesystem::path file);  // ignores an empty path

  // Throws Error{kUsage} if `output`, called `name` in the message, is one of these files or cannot be
  // written.
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

// Converts a decision of the plan to the public API.
TensorOutcome outcome_of(const plan::TensorPlan& decision, std::string scope);

// Fills in the nodes and activations of the result.
void describe_halves(const plan::HalfPlan& plan, const graph::Index& index, QuantizeResult& result);
void describe_integers(const plan::IntegerPlan& plan, const graph::Index& index, QuantizeResult& result);

// Replaces the path of a temporary file in a message of the runtime by the path that the user knows.
inline std::string renamed(std::string text, const std::filesystem::path& ours,
                           const std::filesystem::path& theirs) {
  const std::string from = ours.string(), to = theirs.string();
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace ounce::quantization
