// Reads the tables of a flatbuffer and checks everything on the way: a table, its list of fields, each vector
// and each string lie inside the file. Every error names the byte in the file.
//
//   Source source(bytes, "model.tflite");
//   const TableView root(source, source.root(), "Model");
//   const auto version = root.scalar<std::uint32_t>(0, 0);
//
// In a flatbuffer any number of references may lead to one table, so a small file can describe an endless
// model. Each visit is charged to the Source: whatever is read from a file stays in proportion to its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "formats/tflite/file/tables.h"

namespace ounce::tflite {

class Source {
 public:
  Source(Bytes bytes, std::string name);

  Bytes bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  std::uint64_t root();  // the position of the root table

  // The bytes from `position` on. `what` is read there: it has to be inside the file.
  Bytes read(std::uint64_t position, std::uint64_t size, const char* what);
  void charge(std::uint64_t bytes, std::uint64_t position, const char* what);
  // The end of what has been read so far.
  std::uint64_t end() const { return end_; }

  [[noreturn]] void fail(const std::string& what, std::uint64_t position, const char* table) const;

 private:
  Bytes bytes_;
  std::string name_;
  std::uint64_t budget_;
  std::uint64_t end_ = 0;
};

class TableView {
 public:
  TableView(Source& source, std::uint64_t position, const char* name);

  Source& source() const { return *source_; }
  const char* name() const { return name_; }
  std::uint64_t position() const { return position_; }
  bool has(std::uint16_t id) const { return offset(id) != 0; }
  std::uint16_t field_count() const { return static_cast<std::uint16_t>(fields_.size() / 2); }

  template <class Number>
  Number scalar(std::uint16_t id, Number fallback) const {
    const Bytes bytes = inline_bytes(id, sizeof(Number));
    if (bytes.data() == nullptr) return fallback;
    Number value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  Bytes string(std::uint16_t id) const;       // null data() if absent
  Bytes name_string(std::uint16_t id) const;  // without control characters
  // Of `width` bytes for each element. Copied elements are charged, views are not.
  enum class Use { kCopied, kViewed };
  Bytes vector(std::uint16_t id, std::size_t width, Use use) const;
  TableView table(std::uint16_t id, const char* name) const;  // has(id)
  std::size_t table_count(std::uint16_t id) const;            // of a vector of tables
  TableView table_at(std::uint16_t id, std::size_t i, const char* name) const;

  // A field of a newer schema. Carried if it can only be a number; false if it may refer to something.
  bool carry(std::uint16_t id, CarriedFields& fields) const;

  [[noreturn]] void fail(const std::string& what) const { source_->fail(what, position_, name_); }

 private:
  std::uint16_t offset(std::uint16_t id) const;  // in the table; 0 if absent
  Bytes inline_bytes(std::uint16_t id, std::size_t size) const;
  std::uint64_t target(std::uint64_t position) const;  // of the reference there

  Source* source_;
  std::uint64_t position_;
  const char* name_;
  Bytes fields_;  // of the vtable: the offset of each field
  std::uint16_t size_ = 0;
};

}  // namespace ounce::tflite
