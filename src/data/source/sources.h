// The sources of samples, one class for each kind of data: arrays of NumPy (.npz, .npy), raw values, arrays
// in memory, lists (.csv, .jsonl), pictures and sound, and ONNX test data.
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

// An array that is cut along its leading axis.
class SampledArray {
 public:
  // `stream` is a whole .npy file, `where` what errors call it.
  SampledArray(std::string name, std::unique_ptr<ByteStream> stream, std::string where);

  const std::string& name() const { return name_; }
  const NpyHeader& header() const { return header_; }
  bool is_constant() const { return header_.dims.empty(); }
  std::uint64_t length() const { return static_cast<std::uint64_t>(header_.dims[0]); }  // not of a constant
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

// Arrays and the file that they are read from.
struct OpenArrays {
  io::MappedFile file;
  std::vector<SampledArray> arrays;
};

// Arrays of NumPy as samples: the leading axis counts them, an array without axes is the same for all.
// Reading in order costs the bytes of each sample; going back in a compressed archive starts again from its
// beginning.
class ArraySource : public Source {
 public:
  std::uint64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;

 protected:
  // The arrays must agree in length.
  explicit ArraySource(OpenArrays open);

 private:
  io::MappedFile file_;
  std::vector<SampledArray> arrays_;
  std::vector<Field> fields_;
  std::uint64_t size_ = 1;
};

// A file of raw values, one sample after the other: one field, named after the file.
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

// A .npy file: one field, named after the file, whose leading axis counts the samples.
class NpySource : public ArraySource {
 public:
  // Throws Error.
  explicit NpySource(const std::filesystem::path& path);
};

struct ArrayDescription {
  std::string name;
  ElementType type = ElementType::kUndefined;
  Dims dims;            // with the leading axis
  std::string problem;  // why it cannot be read; empty when it can
};

// A .npz archive, as numpy.savez and numpy.savez_compressed make them: every array is a field. Only the
// arrays that are used must agree in length.
//
//   for (const auto& array : NpzSource::list("val.npz")) …   // x uint8[2000,32,32,3], calib
//   uint8[100,32,32,3] NpzSource source("val.npz", {"x", "y"});
class NpzSource : public ArraySource {
 public:
  // Without keys, all arrays are used. Throws Error.
  explicit NpzSource(const std::filesystem::path& path, const std::vector<std::string>& keys = {});

  std::vector<std::string> names_there() const override { return names_; }

  // What is in the archive, from its headers alone.
  static std::vector<ArrayDescription> list(const std::filesystem::path& path);

 private:
  std::vector<std::string> names_;
};

// Data in the caller's memory (ounce/data.h: MemoryData). Only the sample that is read is copied.
class MemorySource : public Source {
 public:
  // What errors call it.
  static constexpr const char* kName = "the data in memory";

  // Throws Error{kBadInput} when an array is none, or when they do not belong together.
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

// A text that differs for data of different names, types, shapes or values.
std::string description_of(const MemoryData& data);

// A list of samples: a CSV file with a header line, or a JSONL file with an object a line.
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
  // Of a JSONL file: the names in its first row.
  const std::vector<std::string>& columns() const { return columns_; }
  // The column that names files: "file", "path", "image", "audio" or "filename", the first of them that
  // exists. Its cells are strings even if they look like numbers.
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

// A list of samples as a Source: the columns are fields, and the column that names files gives their
// contents. Names are relative to the folder of the list, and may lead out of it: unlike a model, a list is
// trusted. Only pictures, sound and arrays are read.
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

// Files of pictures or of sound as samples: a folder and all below it, or one file. The field is "data".
//
// If pictures are in a folder for each class, a second field "folder" has the class: the number of its folder
// in alphabetical order. Sound can be cut into frames; then a recording is a sequence of samples, and values
// that do not fill a hop at its end are left out.
class MediaSource : public Source {
 public:
  // How recordings are cut: a frame ends after every `hop` samples; it begins with the samples before them,
  // or with zeros. A length of 0 takes whole recordings.
  struct Frames {
    std::uint64_t length = 0, hop = 0;
  };

  // Throws Error{kBadInput} when there are no such files.
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
  std::vector<std::int64_t> classes_;         // of the files; empty without folders
  std::vector<std::uint64_t> starts_;         // the number of each file's first sample, and the end
  Frames frames_;
  std::vector<Field> fields_;
};

enum class MediaKind { kNone, kImage, kSound, kArray };

// By the file's name: .jpg .jpeg .png, .wav, .npy.
MediaKind media_kind(const std::filesystem::path& path);

struct Media {
  Tensor tensor;    // uint8 [height, width, 3], a recording as wav.h gives it, or a whole array
  double rate = 0;  // of sound
};

// `name` names the file in errors. Throws Error{kBadInput} for a file of another kind, or a damaged one.
Media read_media(const std::filesystem::path& path, const std::string& name);

// The test sets beside a published ONNX model: folder/test_data_set_0/input_0.pb, output_0.pb …, or a folder
// that holds such files itself and is one set.
//
// A set is a sample. Its inputs are fields under their own names ("input_0" where they have none); the
// recorded outputs are the fields "output_0" …
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

// A tensor in a file of the test sets of ONNX models: input_0.pb has a TensorProto of any element type, with
// its values inside the file. The name is empty when the file has none. Throws Error; `where` is what errors
// call the bytes.
NamedTensor read_pb_tensor(std::string_view bytes, const std::string& where);
NamedTensor read_pb_tensor(const std::filesystem::path& path);

}  // namespace ounce::data
