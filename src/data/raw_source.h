// A file of nothing but values, one sample after the other: one field, named after the file.
#pragma once

#include <filesystem>
#include <vector>

#include "data/source.h"
#include "io/mapped_file.h"

namespace ounce::data {

class RawSource : public Source {
 public:
  // `type` and `dims` are those of one sample. The file must hold whole samples. Throws Error.
  RawSource(const std::filesystem::path& path, ElementType type, const Dims& dims);

  std::uint64_t size() const override { return file_.bytes().size() / sample_bytes_; }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;

 private:
  io::MappedFile file_;
  std::vector<Field> fields_;
  std::uint64_t sample_bytes_;
};

}  // namespace ounce::data
