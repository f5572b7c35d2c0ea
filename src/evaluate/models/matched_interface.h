// Compares one network in two file formats, whose inputs and outputs may have different names, order and
// layout. ONNX has channels first (NCHW), TFLite has them last (NHWC).
//
//   std::vector<std::string> notes;
//   auto candidate = with_interface_of(*reference, load_as_floats(path, how), path, notes);
//   candidate->inputs()     // names and order of the reference; dynamic dimensions are those of both models
//   candidate->run(inputs)  // in the reference's layout
//
// Inputs are matched by name, or else by shape and type if exactly one candidate fits; outputs in the same
// way. If the shapes differ, the channel axis is moved from the second position to the last, or back. `notes`
// lists these decisions.
#pragma once

#include <ounce/data.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/source/data_feed.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

bool are_of_one_kind(const std::filesystem::path& a, const std::filesystem::path& b);

// Wraps the candidate. Throws Error{kBadInput} if an input or an output has no match.
std::unique_ptr<runtime::Executor> with_interface_of(const runtime::Executor& reference,
                                                     std::unique_ptr<runtime::Executor> candidate,
                                                     const std::filesystem::path& candidate_path,
                                                     std::vector<std::string>& notes);

// Converts only the inputs to the candidate's layout, for a candidate that runs unwrapped. Throws the same
// errors.
data::Batch inputs_in_form_of(const std::vector<data::ValueDescription>& reference,
                              const std::vector<data::ValueDescription>& candidate,
                              const std::filesystem::path& reference_path,
                              const std::filesystem::path& candidate_path, const DataOptions& data,
                              std::vector<std::string>& notes);

// Loads a candidate; wraps it if the two files have different formats. Both models have float inputs and
// outputs (open.h).
std::unique_ptr<runtime::Executor> load_in_form_of(const runtime::Executor& reference,
                                                   const std::filesystem::path& reference_path,
                                                   const std::filesystem::path& candidate_path,
                                                   const runtime::ExecutorOptions& how,
                                                   std::vector<std::string>& notes);

}  // namespace ounce::evaluate
