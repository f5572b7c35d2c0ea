// A list of samples: a CSV file with a header line, or a JSONL file with an object a line.
//
//   const Manifest list("val.csv");                     // file,label
//   for (std::uint64_t row = 0; row < list.size(); ++row) {
//     std::vector<NamedTensor> cells = list.read(row);  // file: "a.jpg", label: int64 3
//   }
//
// The file is mapped and only the places of its rows are kept, 8 bytes each. In a CSV file an integer becomes
// int64, any other decimal number float32 and the rest strings; rows.h says it for JSONL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/source.h"
#include "data/tensor.h"
#include "io/mapped_file.h"

namespace ounce::data {

class Manifest {
 public:
  // Throws Error.
  explicit Manifest(const std::filesystem::path& path);

  std::uint64_t size() const { return rows_.size(); }
  // Of a JSONL file: the names in its first row.
  const std::vector<std::string>& columns() const { return columns_; }
  // The column that names files: "file", "path", "image", "audio" or "filename", the first of them that is
  // there. Its cells are strings even if they look like numbers.
  const std::optional<std::string>& file_column() const { return file_column_; }

  // Throws Error{kBadInput} naming the line.
  std::vector<NamedTensor> read(std::uint64_t row) const;
  // "val.csv, line 17", for errors about what a row says. Counts the lines of the file up to there.
  std::string place_of(std::uint64_t row) const;

 private:
  void index_rows(std::size_t at);
  void take_csv_header();
  void take_json_columns();
  std::size_t end_of_row(std::size_t begin) const;
  std::string_view row_text(std::uint64_t row) const;
  std::vector<NamedTensor> read_csv_row(std::string_view text) const;
  std::string place_at(std::size_t offset) const;

  io::MappedFile file_;
  bool is_json_ = false;
  std::vector<std::uint64_t> rows_;  // where they begin
  std::vector<std::string> columns_;
  std::optional<std::string> file_column_;
};

// A list of samples as a Source: the columns are fields, and the column that names files gives
// what is in the files. Names are relative to the folder of the list, and may lead out of it: unlike a model,
// which comes from others, a list is the user's own word. Only pictures, sound and arrays are read.

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
