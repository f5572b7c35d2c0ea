// Arrays of NumPy as samples: the leading axis counts them, an array without axes is the same for all.
//
// NpzSource and NpySource open the files; what is here reads them. Sample i after sample i-1 costs what
// sample i holds; going back in a compressed archive starts again from its beginning.
#pragma once

#include <ounce/data.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/containers/byte_stream.h"
#include "data/containers/npy.h"
#include "data/source.h"
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

// A file of nothing but values, one sample after the other: one field, named after the file.

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

// A .npz archive, as numpy.savez and numpy.savez_compressed make them: every array is a field.
//
//   for (const auto& array : NpzSource::list("val.npz")) …   // x uint8[2000,32,32,3], calib
//   uint8[100,32,32,3] NpzSource source("val.npz", {"x", "y"});
//
// Only the arrays that are used must agree in length.

struct ArrayDescription {
  std::string name;
  ElementType type = ElementType::kUndefined;
  Dims dims;            // with the leading axis
  std::string problem;  // why it cannot be read; empty when it can
};

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

// Data that the caller has in memory (ounce/data.h: MemoryData), as samples. Only the sample that is read is
// copied.

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

// All that makes one MemoryData another one than another: names, types, shapes and values.
std::string description_of(const MemoryData& data);

}  // namespace ounce::data
