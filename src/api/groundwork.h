// What quantize() works on: for storage the model as it is; for integer arithmetic the model as integer
// kernels want it, and what its activations look like.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "observe/ranges.h"

namespace ounce::api {

class Groundwork {
 public:
  // Throws Error{kUsage} when there is neither data nor a file of ranges for static arithmetic,
  // Error{kUnsupported} when an op of the model cannot be brought to the opset that is needed.
  Groundwork(const std::filesystem::path& model, const QuantizeOptions& options);

  const std::filesystem::path& model() const { return model_; }
  const observe::Ranges* ranges() const { return ranges_ ? &*ranges_ : nullptr; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void observe(const std::filesystem::path& source, const QuantizeOptions& options);
  void prepare(const std::filesystem::path& source, const Recipe& recipe);

  std::filesystem::path model_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::optional<observe::Ranges> ranges_;
  std::vector<std::string> notes_;
};

}  // namespace ounce::api
