// A list of samples (manifest.h) as a Source: the columns are fields, and the column that names files gives
// what is in the files. Names are relative to the folder of the list, and may lead out of it: unlike a model,
// which comes from others, a list is the user's own word. Only pictures, sound and arrays are read.
#pragma once

#include <filesystem>

#include "data/source.h"
#include "data/source/manifest.h"

namespace ounce::data {

class ListSource : public Source {
 public:
  explicit ListSource(const std::filesystem::path& path);

  std::uint64_t size() const override { return list_.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;
  // The field with what is in the files, if the list names files.
  const std::optional<std::string>& file_field() const { return list_.file_column(); }

 private:
  std::filesystem::path folder_;
  std::string name_;
  Manifest list_;
  std::vector<Field> fields_;
};

}  // namespace ounce::data
