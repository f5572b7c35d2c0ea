// The test sets beside a published ONNX model: folder/test_data_set_0/input_0.pb, output_0.pb …, or a folder
// that holds such files itself and is one set.
//
// A set is a sample. Its inputs are fields under their own names ("input_0" where they have none); the
// outputs that the model gave its authors are the fields "output_0" …
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "data/tensor.h"

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

// A tensor in a file of its own, as the test sets of ONNX models have them: input_0.pb holds a TensorProto.

// All element types, with their values inside the file. The name is empty when the file has none.
// Throws Error; `where` is what errors call the bytes.
NamedTensor read_pb_tensor(std::string_view bytes, const std::string& where);
NamedTensor read_pb_tensor(const std::filesystem::path& path);

}  // namespace ounce::data
