// The test sets beside a published ONNX model: folder/test_data_set_0/input_0.pb, output_0.pb …, or a folder
// that holds such files itself and is one set.
//
// A set is a sample. Its inputs are fields under their own names ("input_0" where they have none); the
// outputs that the model gave its authors are the fields "output_0" …
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/source.h"

namespace ounce::data {

class TestFolderSource : public Source {
 public:
  // Throws Error{kBadInput} when there is no set, Error{kIo} when there is no folder.
  explicit TestFolderSource(const std::filesystem::path& folder);

  std::uint64_t size() const override { return sets_.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;
  bool has_batch_axis() const override { return true; }

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> sets_;
  std::vector<Field> fields_;
};

}  // namespace ounce::data
