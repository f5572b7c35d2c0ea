// The public options of the runtime, as the layers below want them.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <memory>

#include "data/data_feed.h"
#include "runtime/executor.h"

namespace ounce::measure {

runtime::ExecutorOptions executor_options(const RuntimeOptions& options);

// A model is read by us before the runtime gets to see it: what is broken is explained, and external data
// stays inside the model's folder. Throws what read_model throws. Gives the bytes of the model and of its
// external data, and their files.
struct ModelFiles {
  std::uint64_t bytes = 0;
  std::vector<std::filesystem::path> paths;  // the model's first
};
ModelFiles check_model(const std::filesystem::path& model);

// Before a model is loaded in this process, it is loaded in one of its own: some models make the runtime
// abort, and take down whoever loads them. Throws Error{kBadInput} then.
void require_loadable(const std::filesystem::path& model, const RuntimeOptions& options);

// What feeds a model with these inputs: the data, or made-up values. The contract is the one of the options,
// else the model's own.
struct OpenFeed {
  std::unique_ptr<data::Feed> feed;
  data::DataFeed* data = nullptr;  // the same, when it is data
  DataOptions options;             // with the contract
};
OpenFeed open_feed(const std::filesystem::path& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options);

}  // namespace ounce::measure
