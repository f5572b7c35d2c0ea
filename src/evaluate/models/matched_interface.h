// One network in two file formats: its inputs and outputs may have other names, another order, and another
// layout. ONNX has channels first (NCHW), TFLite has them last (NHWC).
//
//   std::vector<std::string> notes;
//   auto candidate = with_interface_of(*reference, load_as_floats(path, how), path, notes);
//   candidate->inputs()     // named and ordered as the reference's; a dimension is free if it is free in
//   both candidate->run(inputs)  // in the reference's layout
//
// Inputs are matched by name, the others by shape and type if only one is left that fits; outputs likewise.
// Where the shapes differ, the channel axis is moved: from the second place to the last, or back. What was
// decided is in the notes.
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

// Throws Error{kBadInput} if there is no match for an input or an output.
std::unique_ptr<runtime::Executor> with_interface_of(const runtime::Executor& reference,
                                                     std::unique_ptr<runtime::Executor> candidate,
                                                     const std::filesystem::path& candidate_path,
                                                     std::vector<std::string>& notes);

// The inputs alone, in the layout of the reference, for a candidate that is run as it is. Throws the same.
data::Batch inputs_in_form_of(const std::vector<data::ValueDescription>& reference,
                              const std::vector<data::ValueDescription>& candidate,
                              const std::filesystem::path& reference_path,
                              const std::filesystem::path& candidate_path, const DataOptions& data,
                              std::vector<std::string>& notes);

// The candidate as it is if both files are of one kind, else with the interface of the reference. Both have
// float ports (open.h).
std::unique_ptr<runtime::Executor> load_in_form_of(const runtime::Executor& reference,
                                                   const std::filesystem::path& reference_path,
                                                   const std::filesystem::path& candidate_path,
                                                   const runtime::ExecutorOptions& how,
                                                   std::vector<std::string>& notes);

}  // namespace ounce::evaluate
