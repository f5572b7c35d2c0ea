#include "formats/tflite/file/reader.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/check.h"
#include "formats/tflite/file/fields.h"
#include "formats/tflite/file/flatbuffer.h"

namespace ounce::tflite {
namespace {

constexpr std::string_view kIdentifier = "TFL3";

// Adds to what a table costs: its struct in memory takes more than its shortest form in the file.
constexpr std::uint64_t kStructCost = 32;

class Reader {
 public:
  Reader(Model& model, Source& source) : model_(model), source_(source) {}

  void read() { read_table(TableView(source_, source_.root(), TableName<Model>::value), model_); }

 private:
  friend class FieldReader;

  template <class T>
  void read_table(const TableView& view, T& value);
  Record read_record(const TableView& view);
  Record read_record(const TableView& view, const TableInfo& info);
  void carry(const TableView& view, const std::vector<bool>& known, CarriedFields& carried);
  void refuse_to_write(const TableView& view, const std::string& what) {
    if (model_.unwritable.empty())
      model_.unwritable = fmt::format("{} ({}, byte {})", what, view.name(), view.position());
  }

  Model& model_;
  Source& source_;
};

// Fills one struct from its table; notes which fields it knows.
class FieldReader {
 public:
  FieldReader(Reader& reader, const TableView& view)
      : reader_(reader), view_(view), known_(view.field_count()) {}

  template <class Number>
  void scalar(std::uint16_t id, Number& value, std::type_identity_t<Number> fallback) {
    know(id);
    if constexpr (std::is_same_v<Number, bool>) {
      value = view_.scalar<std::uint8_t>(id, fallback ? 1 : 0) != 0;
    } else {
      value = view_.scalar<Number>(id, fallback);
    }
  }

  template <class Number>
  void numbers(std::uint16_t id, std::vector<Number>& values, Presence) {
    know(id);
    const Bytes bytes = view_.vector(id, sizeof(Number), TableView::Use::kCopied);
    values.resize(bytes.size() / sizeof(Number));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }

  void text(std::uint16_t id, Bytes& value) {
    know(id);
    value = view_.string(id);
  }
  void name(std::uint16_t id, Bytes& value) {
    know(id);
    value = view_.name_string(id);
  }

  template <class T>
  void table(std::uint16_t id, std::optional<T>& value) {
    know(id);
    if (view_.has(id)) reader_.read_table(view_.table(id, TableName<T>::value), value.emplace());
  }
  template <class T>
  void tables(std::uint16_t id, std::vector<T>& values, Presence) {
    know(id);
    const std::size_t count = view_.table_count(id);
    for (std::size_t i = 0; i < count; ++i)
      reader_.read_table(view_.table_at(id, i, TableName<T>::value), values.emplace_back());
  }

  void record(std::uint16_t id, std::optional<Record>& value, const TableInfo& info) {
    know(id);
    if (view_.has(id)) value = reader_.read_record(view_.table(id, info.name), info);
  }
  void records(std::uint16_t id, std::vector<Record>& values, const TableInfo& info) {
    know(id);
    const std::size_t count = view_.table_count(id);
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(reader_.read_record(view_.table_at(id, i, info.name), info));
  }

  void variant(std::uint16_t id, Union& value, const TableInfo* (*row)(std::uint8_t)) {
    scalar(id, value.type, 0);
    know(++id);
    if (!view_.has(id)) return;
    const TableInfo* info = row(value.type);
    if (info != nullptr) {
      value.table = reader_.read_record(view_.table(id, info->name), *info);
    } else if (value.type != 0) {
      reader_.refuse_to_write(
          view_, fmt::format("a table of type {} in field {} is of a newer schema", value.type, id));
    }
  }

  void data(std::uint16_t id, std::uint16_t offset_id, std::uint16_t size_id, Data& value) {
    std::uint64_t offset = 0, size = 0;
    scalar(offset_id, offset, 0);
    scalar(size_id, size, 0);
    know(id);
    const Bytes bytes = view_.vector(id, 1, TableView::Use::kViewed);
    // An offset of 1 is what a converter writes before it knows the place.
    if (!bytes.empty()) {
      value = bytes;
    } else if (offset > 1) {
      value = view_.source().read(offset, size, view_.name());
    } else if (size > 1) {
      view_.fail("data behind the tables have a size and no place");
    }
  }

  void builtin_code(std::uint16_t old_id, std::uint16_t id, std::int32_t& code) {
    std::int8_t old = 0;
    scalar(old_id, old, 0);
    scalar(id, code, 0);
    code = std::max(code, std::int32_t{old});
  }

  void finish(CarriedFields& carried) { reader_.carry(view_, known_, carried); }

 private:
  void know(std::uint16_t id) {
    if (id < known_.size()) known_[id] = true;
  }

  Reader& reader_;
  const TableView& view_;
  std::vector<bool> known_;
};

template <class T>
void Reader::read_table(const TableView& view, T& value) {
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Operator>)
    source_.charge(kStructCost, view.position(), view.name());
  FieldReader fields(*this, view);
  each_field(fields, value);
  fields.finish(value.carried);
}

void Reader::carry(const TableView& view, const std::vector<bool>& known, CarriedFields& carried) {
  for (std::uint16_t id = 0; id < known.size(); ++id) {
    if (known[id] || !view.has(id)) continue;
    if (!view.carry(id, carried)) refuse_to_write(view, fmt::format("field {} is of a newer schema", id));
  }
}

std::uint64_t read_scalar(const TableView& view, std::uint16_t id, FieldKind kind) {
  switch (kind) {
    case FieldKind::kBool: return view.scalar<std::uint8_t>(id, 0) != 0 ? 1 : 0;
    case FieldKind::kUnionType: return view.scalar<std::uint8_t>(id, 0);
    case FieldKind::kInt8: return static_cast<std::uint64_t>(view.scalar<std::int8_t>(id, 0));
    case FieldKind::kInt64: return view.scalar<std::uint64_t>(id, 0);
    case FieldKind::kUint32:
    case FieldKind::kFloat: return view.scalar<std::uint32_t>(id, 0);
    default: return static_cast<std::uint64_t>(view.scalar<std::int32_t>(id, 0));
  }
}

Record Reader::read_record(const TableView& view, const TableInfo& info) {
  Record record(info);
  std::vector<bool> known(view.field_count());
  for (std::uint16_t id = 0; id < info.fields.size() && id < known.size(); ++id) {
    known[id] = true;
    if (!view.has(id)) continue;
    const FieldInfo& field = info.fields[id];
    if (is_scalar(field.kind) || field.kind == FieldKind::kUnionType) {
      record.put(id, read_scalar(view, id, field.kind));
    } else if (field.kind == FieldKind::kString) {
      record.put(id, view.string(id));
    } else if (is_vector(field.kind)) {
      record.put(id, view.vector(id, width_of(field.kind), TableView::Use::kCopied));
    } else {
      std::vector<Record> records;
      if (field.kind == FieldKind::kTables) {
        const std::size_t count = view.table_count(id);
        for (std::size_t i = 0; i < count; ++i)
          records.push_back(read_record(view.table_at(id, i, field.tables[0]->name), *field.tables[0]));
      } else {
        const std::uint64_t type = field.kind == FieldKind::kUnion
                                       ? view.scalar<std::uint8_t>(static_cast<std::uint16_t>(id - 1), 0)
                                       : 1;
        if (type == 0 || type > field.tables.size()) {
          refuse_to_write(view, fmt::format("a table of type {} in field {} is of a newer schema", type, id));
          continue;
        }
        const TableInfo& inner = *field.tables[type - 1];
        records.push_back(read_record(view.table(id, inner.name), inner));
      }
      record.put(id, std::move(records));
    }
  }
  carry(view, known, record.carried);
  return record;
}

void read_into(Model& model, Bytes bytes, const std::string& name) {
  if (bytes.empty()) throw Error(ErrorCode::kBadInput, "the file is empty", name);
  if (bytes.size() < 8 || bytes.substr(4, 4) != kIdentifier)
    throw Error(ErrorCode::kBadInput, "not a TFLite file: it has no identifier TFL3", name);
  Source source(bytes, name);
  Reader(model, source).read();
  read_archive(model, bytes, source.end());
  check(model, name);
}

}  // namespace

Model read_model(const std::filesystem::path& path) { return read_model(path, path.string()); }

Model read_model(const std::filesystem::path& path, const std::string& name) {
  Model model;
  model.file = io::MappedFile::open(path);
  read_into(model, model.file.bytes(), name);
  return model;
}

Model read_model_from_memory(std::string bytes, const std::string& name) {
  Model model;
  read_into(model, model.intern(std::move(bytes)), name);
  return model;
}

Model read_model_in_place(std::string_view bytes, const std::string& name) {
  Model model;
  read_into(model, bytes, name);
  return model;
}

}  // namespace ounce::tflite
