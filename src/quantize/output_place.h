// What an output must not be: one that takes the place of what it is made of, or that has no place.
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

// The files that one command reads. Compared by what they are and not by their names, so that links of both
// kinds are seen through.
class Inputs {
 public:
  Inputs() = default;
  explicit Inputs(const onnx::Model& model) { add(model); }  // which has to outlive this

  Inputs& add(const onnx::Model& model);  // with its external data
  Inputs& add(const model::ModelFile& model);
  Inputs& add(const DataOptions& data);  // of a folder, the samples in it
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

// A decision of the plan as the public API shows it.

TensorOutcome outcome_of(const plan::TensorPlan& decision, std::string scope);

// Fills in what the result says of nodes and activations.
void describe_halves(const plan::HalfPlan& plan, const graph::Index& index, QuantizeResult& result);
void describe_integers(const plan::IntegerPlan& plan, const graph::Index& index, QuantizeResult& result);

// What the runtime says of a file of ours, with the name that the user gave the model: a copy, or a file that
// has no name yet, means nothing to anybody.

inline std::string renamed(std::string text, const std::filesystem::path& ours,
                           const std::filesystem::path& theirs) {
  const std::string from = ours.string(), to = theirs.string();
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace ounce::quantization
