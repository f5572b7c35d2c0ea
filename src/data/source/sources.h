// The sources of samples, one class for each kind of data: NumPy arrays (.npz, .npy), raw values, arrays in
// memory, lists
// (.csv, .jsonl), images and sound, and ONNX test data.
#pragma once

#include <ounce/data.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/containers/byte_stream.h"
#include "data/containers/npy.h"
#include "data/tensor.h"
#include "io/mapped_file.h"

namespace ounce::data {

// An array whose first axis counts samples.
class SampledArray {
 public:
  // `stream` is a whole .npy file; `where` names it in errors.
  SampledArray(std::string name, std::unique_ptr<ByteStream> stream, std::string where);

  const std::string& name() const { return name_; }
  const NpyHeader& header() const { return header_; }
  bool is_constant() const { return header_.dims.empty(); }
  std::uint64_t length() const { return static_cast<std::uint64_t>(header_.dims[0]); }  // not for constants
  std::uint64_t sample_bytes() const { return sample_bytes_; }                          // in the file
  Field field() const { return {name_, header_.type, sample_dims_}; }
  Tensor read(std::uint64_t index);

 private:
  std::string name_, where_;
  std::unique_ptr<ByteStream> stream_;
  NpyHeader header_;
  Dims sample_dims_;
  std::uint64_t sample_bytes_ = 0;
};

// Arrays and the file that contains them.
struct OpenArrays {
  io::MappedFile file;
  std::vector<SampledArray> arrays;
};

// NumPy arrays as samples: the first axis counts the samples; an array without axes is a constant. Reading in
// order reads each byte once. Going back in a compressed archive starts from its beginning.
class ArraySource : public Source {
 public:
  std::uint64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;

 protected:
  // The arrays must have the same length.
  explicit ArraySource(OpenArrays open);

 private:
  io::MappedFile file_;
  std::vector<SampledArray> arrays_;
  std::vector<Field> fields_;
  std::uint64_t size_ = 1;
};

// A file of raw values, sample by sample, with one field, named after the file.
class RawSource : public Source {
 public:
  // `type` and `dims`: of one sample. The file's size must be a multiple of the sample's. Throws Error.
  RawSource(const std::filesystem::path& path, ElementType type, const Dims& dims);

  std::uint64_t size() const override { return file_.bytes().size() / sample_bytes_; }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;

 private:
  io::MappedFile file_;
  std::vector<Field> fields_;
  std::uint64_t sample_bytes_;
};

// A .npy file with one field, named after the file. The first axis counts the samples.
class NpySource : public ArraySource {
 public:
  // Throws Error.
  explicit NpySource(const std::filesystem::path& path);
};

struct ArrayDescription {
  std::string name;
  ElementType type = ElementType::kUndefined;
  Dims dims;            // with the axis that counts the samples
  std::string problem;  // why it cannot be read; empty if it can
};

// A .npz archive of numpy.savez or numpy.savez_compressed. Every array is a field. Only the used arrays must
// have the same length.
//
//   NpzSource::list("val.npz");                 // x uint8[2000,32,32,3], y int64[2000], calib uint8[9]
//   NpzSource source("val.npz", {"x", "y"});
class NpzSource : public ArraySource {
 public:
  // Without keys, all arrays are used. Throws Error.
  explicit NpzSource(const std::filesystem::path& path, const std::vector<std::string>& keys = {});

  std::vector<std::string> names_there() const override { return names_; }

  // Lists the arrays; reads only their headers.
  static std::vector<ArrayDescription> list(const std::filesystem::path& path);

 private:
  std::vector<std::string> names_;
};

// Data in the caller's memory (ounce/data.h: MemoryData). Only the sample that is read is copied.
class MemorySource : public Source {
 public:
  // The name of the data in errors.
  static constexpr const char* kName = "the data in memory";

  // Throws Error{kBadInput} if an array is invalid, or if their numbers of samples differ.
  explicit MemorySource(std::shared_ptr<const MemoryData> data);

  std::uint64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  bool has_batch_axis() const override { return data_->has_batch_axis; }
  Sample read(std::uint64_t index) override;

 private:
  void list_arrays();
  void list_samples();

  std::shared_ptr<const MemoryData> data_;
  std::uint64_t size_ = 1;
  std::vector<Field> fields_;
};

// A text that is unique for the names, types, shapes and values of the data.
std::string description_of(const MemoryData& data);

// A list of samples: a CSV file with a header line, or a JSONL file with one object per line.
//
//   const Manifest list("val.csv");                     // file,label
//   for (std::uint64_t row = 0; row < list.size(); ++row) {
//     std::vector<NamedTensor> cells = list.read(row);  // file: "a.jpg", label: int64 3
//   }
//
// The file is mapped, and only the offsets of its rows are kept. In a CSV file an integer becomes int64, any
// other decimal number float32, and other cells strings; for JSONL see read_json_row.
class Manifest {
 public:
  // Throws Error.
  explicit Manifest(const std::filesystem::path& path);

  std::uint64_t size() const { return rows_.size(); }
  // For a JSONL file: the names in its first row.
  const std::vector<std::string>& columns() const { return columns_; }
  // The column of file names: the first existing one of "file", "path", "image", "audio" and "filename". Its
  // cells are always strings.
  const std::optional<std::string>& file_column() const { return file_column_; }

  // Throws Error{kBadInput} with the line number.
  std::vector<NamedTensor> read(std::uint64_t row) const;
  // "val.csv, line 17", for errors about a row. Counts the lines of the file up to the row.
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
  std::vector<std::uint64_t> rows_;  // offsets of the rows
  std::vector<std::string> columns_;
  std::optional<std::string> file_column_;
};

// A list of samples as a Source. The columns are fields; the column of file names gives the contents of the
// files. Names are relative to the folder of the list and may lead out of it, because a list, unlike a model,
// is trusted. Files may be images, sound and arrays.
class ListSource : public Source {
 public:
  explicit ListSource(const std::filesystem::path& path);

  std::uint64_t size() const override { return list_.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;
  // The field with the contents of files, if the list names files.
  const std::optional<std::string>& file_field() const { return list_.file_column(); }

 private:
  std::filesystem::path folder_;
  std::string name_;
  Manifest list_;
  std::vector<Field> fields_;
};

// Images or sound files as samples: a folder with its subfolders, or one file. The field is "data".
//
// If there is a folder of images for each class, a second field "folder" has the class: the number of the
// folder in alphabetical order. Sound can be cut into frames; then a recording is a sequence of samples, and
// values at its end that do not fill a hop are dropped.
class MediaSource : public Source {
 public:
  // How to cut recordings: a frame ends after every `hop` samples and has `length` samples; the first ones
  // are padded with zeros at their beginning. Length 0: whole recordings.
  struct Frames {
    std::uint64_t length = 0, hop = 0;
  };

  // Throws Error{kBadInput} if there are no such files.
  explicit MediaSource(const std::filesystem::path& path, Frames frames = {0, 0});

  std::uint64_t size() const override { return starts_.back(); }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;
  bool starts_sequence(std::uint64_t index) const override;

 private:
  std::size_t file_of(std::uint64_t index) const;
  void count_frames();
  Tensor read_frame(const std::filesystem::path& file, std::uint64_t number) const;

  std::filesystem::path root_;
  std::vector<std::filesystem::path> files_;  // relative to the root
  std::vector<std::int64_t> classes_;         // of the files; empty if there are no class folders
  std::vector<std::uint64_t> starts_;         // the number of each file's first sample, and the total
  Frames frames_;
  std::vector<Field> fields_;
};

enum class MediaKind { kNone, kImage, kSound, kArray };

// Determined by the file's extension: .jpg .jpeg .png, .wav, .npy.
MediaKind media_kind(const std::filesystem::path& path);

struct Media {
  Tensor tensor;    // uint8 [height, width, 3], a recording (wav.h), or a whole array
  double rate = 0;  // sampling rate of sound
};

// Reads a file; `name` is its name in errors. Throws Error{kBadInput} for a file of another kind or a damaged
// file.
Media read_media(const std::filesystem::path& path, const std::string& name);

// The test data that is published with ONNX models: folder/test_data_set_0/input_0.pb, output_0.pb and so on,
// or a single folder with such files.
//
// Each set is a sample. Its inputs are fields under their own names, or "input_0" etc. if they have none. The
// recorded outputs are the fields "output_0" etc.
class TestFolderSource : public Source {
 public:
  // Throws Error{kBadInput} if there is no set, Error{kIo} if there is no folder.
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

// Reads a tensor file of ONNX test data: a TensorProto of any element type with its values in the file. The
// name is empty if the file has none. Throws Error; `where` names the bytes in errors.
NamedTensor read_pb_tensor(std::string_view bytes, const std::string& where);
NamedTensor read_pb_tensor(const std::filesystem::path& path);

}  // namespace ounce::data
