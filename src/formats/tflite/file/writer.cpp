#include "formats/tflite/file/writer.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/digest.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/check.h"
#include "formats/tflite/file/fields.h"
#include "formats/tflite/file/reader.h"

namespace ounce::tflite {
namespace {

constexpr std::size_t kReference = 4;     // bytes of a reference, and of the length of a vector
constexpr std::uint64_t kAlignment = 16;  // of the data of a buffer
constexpr std::uint64_t kSmallData = 4096;
constexpr std::size_t kDigested = 4096;  // bytes of a buffer that decide whether two are compared

std::uint64_t aligned(std::uint64_t position, std::uint64_t alignment) {
  return (position + alignment - 1) / alignment * alignment;
}

// The data of buffers in the order in which they are written; equal ones once.
class DataList {
 public:
  struct Entry {
    const Data* data;
    bool is_inside;  // of the flatbuffer
  };

  std::size_t add(const Data& data, bool is_inside) {
    const auto [found, is_new] = places_.try_emplace(key_of(data, is_inside), entries_.size());
    if (!is_new && *entries_[found->second].data == data) return found->second;
    found->second = entries_.size();
    entries_.push_back({&data, is_inside});
    return found->second;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  struct Key {
    bool is_inside = false;
    std::uint64_t size = 0;
    const void* production = nullptr;
    std::size_t part = 0;
    Digest start = {};
    auto operator<=>(const Key&) const = default;
  };

  static Key key_of(const Data& data, bool is_inside) {
    if (const io::Computed* computed = data.computed())
      return {is_inside, computed->size, computed->by.get(), computed->part, {}};
    return {is_inside, data.size(), nullptr, 0, digest_of(data.bytes().substr(0, kDigested))};
  }

  std::vector<Entry> entries_;
  std::map<Key, std::size_t> places_;  // the last one with this key
};

// The tables, front to back: referenced tables follow the table that refers to them.
class Tables {
 public:
  // Where data are that may be outside of the flatbuffer. Runtimes read metadata inside alone.
  Tables(const Model& model, bool are_data_inside) : are_data_inside_(are_data_inside) {
    for (const Metadata& entry : model.metadata) metadata_.insert(&model.buffers[entry.buffer].data);
    text_.assign(2 * kReference, '\0');
    std::memcpy(text_.data() + kReference, "TFL3", 4);
    refer(0, table(model));
  }

  // Puts the data behind the tables and fills in their offsets. Returns nullopt if the flatbuffer exceeds
  // `largest`.
  std::optional<io::Rope> finish(std::uint64_t largest) {
    const auto& entries = data_.entries();
    std::vector<std::uint64_t> places(entries.size());  // of the data themselves
    std::vector<std::size_t> order;
    std::uint64_t end = text_.size();
    for (const bool is_inside : {true, false}) {
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].is_inside != is_inside) continue;
        order.push_back(i);
        places[i] = aligned(end + (is_inside ? kReference : 0), kAlignment);
        end = places[i] + entries[i].data->size();
      }
      if (is_inside && end > largest) return std::nullopt;
    }
    for (const auto& [slot, index] : references_) {
      if (entries[index].is_inside) {
        refer(slot, places[index] - kReference);
      } else {
        std::memcpy(text_.data() + slot, &places[index], sizeof places[index]);
      }
    }
    io::Rope rope;
    rope.append(std::move(text_));
    for (const std::size_t i : order) {
      const Data& data = *entries[i].data;
      std::string before(places[i] - rope.size(), '\0');
      if (entries[i].is_inside) {
        const auto size = static_cast<std::uint32_t>(data.size());
        std::memcpy(before.data() + before.size() - sizeof size, &size, sizeof size);
      }
      rope.append(std::string_view(before));
      if (const io::Computed* computed = data.computed()) {
        rope.append(*computed);
      } else {
        rope.append(data.bytes());
      }
    }
    rope.append(std::string(kAlignment, '\0'));  // kernels may read a few bytes beyond the last value
    return rope;
  }

 private:
  friend class FieldWriter;

  template <class T>
  std::uint64_t table(const T& value);
  std::uint64_t record(const Record& record);

  void pad(std::uint64_t alignment, std::uint64_t ahead = 0) {
    text_.resize(aligned(text_.size() + ahead, alignment) - ahead, '\0');
  }

  template <class Number>
  void put(Number value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void refer(std::uint64_t slot, std::uint64_t place) {
    const auto distance = static_cast<std::uint32_t>(place - slot);
    std::memcpy(text_.data() + slot, &distance, sizeof distance);
  }

  std::uint64_t vector(Bytes elements, std::size_t width, std::uint64_t alignment) {
    pad(std::max<std::uint64_t>({alignment, width, kReference}), kReference);
    const std::uint64_t place = text_.size();
    put(static_cast<std::uint32_t>(elements.size() / width));
    text_ += elements;
    return place;
  }

  std::uint64_t string(Bytes text) {
    const std::uint64_t place = vector(text, 1, kReference);
    text_ += '\0';
    return place;
  }

  template <class Items, class Write>
  std::uint64_t references(const Items& items, const Write& write) {
    pad(kReference);
    const std::uint64_t place = text_.size();
    put(static_cast<std::uint32_t>(items.size()));
    text_.append(items.size() * kReference, '\0');
    for (std::size_t i = 0; i < items.size(); ++i) refer(place + (i + 1) * kReference, write(items[i]));
    return place;
  }

  // Small data are not worth a place of their own.
  bool is_inside(const Data& data) const {
    return are_data_inside_ || data.size() <= kSmallData || metadata_.contains(&data);
  }

  bool are_data_inside_;
  std::set<const Data*> metadata_;
  std::string text_;
  std::map<std::string, std::uint64_t> field_lists_;  // vtables
  DataList data_;
  std::vector<std::pair<std::uint64_t, std::size_t>> references_;  // slots that refer to data
};

// Collects the fields of one table and writes it.
class FieldWriter {
 public:
  explicit FieldWriter(Tables& tables) : tables_(tables) {}

  template <class Number>
  void scalar(std::uint16_t id, Number value, std::type_identity_t<Number> fallback) {
    if (value != fallback) add_number(id, value);
  }
  template <class Number>
  void numbers(std::uint16_t id, const std::vector<Number>& values, Presence presence) {
    if (values.empty() && presence == Presence::kUnlessEmpty) return;
    const Bytes bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
    add_child(id, [this, bytes] { return tables_.vector(bytes, sizeof(Number), sizeof(Number)); });
  }
  void text(std::uint16_t id, Bytes value) {
    if (value.data() == nullptr) return;
    add_child(id, [this, value] { return tables_.string(value); });
  }
  void name(std::uint16_t id, Bytes value) { text(id, value); }

  template <class T>
  void table(std::uint16_t id, const std::optional<T>& value) {
    if (value) add_child(id, [this, &value] { return tables_.table(*value); });
  }
  template <class T>
  void tables(std::uint16_t id, const std::vector<T>& values, Presence presence) {
    if (values.empty() && presence == Presence::kUnlessEmpty) return;
    add_child(id, [this, &values] {
      return tables_.references(values, [this](const T& value) { return tables_.table(value); });
    });
  }
  void record(std::uint16_t id, const std::optional<Record>& value, const TableInfo&) {
    if (value) add_child(id, [this, &value] { return tables_.record(*value); });
  }
  void records(std::uint16_t id, const std::vector<Record>& values, const TableInfo&) {
    if (values.empty()) return;
    add_child(id, [this, &values] {
      return tables_.references(values, [this](const Record& value) { return tables_.record(value); });
    });
  }
  void variant(std::uint16_t id, const Union& value, const TableInfo* (*)(std::uint8_t)) {
    scalar(id, value.type, 0);
    if (value.table)
      add_child(static_cast<std::uint16_t>(id + 1), [this, &value] { return tables_.record(*value.table); });
  }

  void data(std::uint16_t id, std::uint16_t offset_id, std::uint16_t size_id, const Data& value) {
    if (value.empty()) return;
    const bool is_inside = tables_.is_inside(value);
    const std::size_t index = tables_.data_.add(value, is_inside);
    if (is_inside) {
      add_slot({id, kReference, 0, {}, index});
    } else {
      add_slot({offset_id, sizeof(std::uint64_t), 0, {}, index});
      add_number(size_id, value.size());
    }
  }

  void builtin_code(std::uint16_t old_id, std::uint16_t id, std::int32_t code) {
    constexpr std::int32_t kLargestOld = 127;
    scalar(old_id, static_cast<std::int8_t>(std::min(code, kLargestOld)), 0);
    scalar(id, code, 0);
  }

  void record_fields(const Record& record) {
    for (const Record::Field& field : record.fields()) {
      const FieldInfo& info = record.info().fields[field.id];
      if (const auto* bits = std::get_if<std::uint64_t>(&field.value)) {
        add_slot({field.id, static_cast<std::uint8_t>(width_of(info.kind)), *bits, {}, kNone});
      } else if (const auto* bytes = std::get_if<Bytes>(&field.value)) {
        add_child(field.id, [this, &info, value = *bytes] {
          return info.kind == FieldKind::kString ? tables_.string(value)
                                                 : tables_.vector(value, width_of(info.kind), info.align);
        });
      } else {
        const auto& records = std::get<std::vector<Record>>(field.value);
        add_child(field.id, [this, &info, &records] {
          return info.kind == FieldKind::kTables
                     ? tables_.references(records,
                                          [this](const Record& value) { return tables_.record(value); })
                     : tables_.record(records.front());
        });
      }
    }
  }

  std::uint64_t finish(const CarriedFields& carried) {
    for (const CarriedField& field : carried) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, field.bytes.data(), field.bytes.size());
      add_slot({field.id, static_cast<std::uint8_t>(field.bytes.size()), bits, {}, kNone});
    }
    return write();
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Slot {
    std::uint16_t id = 0;
    std::uint8_t width = 0;
    std::uint64_t bits = 0;                // of a number
    std::function<std::uint64_t()> child;  // writes what the slot refers to
    std::size_t data = kNone;              // the place of data is filled in at the end
    std::uint64_t position = 0;
  };

  void add_slot(Slot slot) { slots_.push_back(std::move(slot)); }
  template <class Number>
  void add_number(std::uint16_t id, Number value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    add_slot({id, sizeof value, bits, {}, kNone});
  }
  void add_child(std::uint16_t id, std::function<std::uint64_t()> child) {
    add_slot({id, kReference, 0, std::move(child), kNone});
  }

  std::uint64_t write() {
    count_step();
    std::string& text = tables_.text_;
    // Large ones first, so that nothing but the end needs padding.
    std::vector<Slot*> order;
    for (Slot& slot : slots_) order.push_back(&slot);
    std::stable_sort(order.begin(), order.end(), [](const Slot* a, const Slot* b) {
      return a->width != b->width ? a->width > b->width : a->id < b->id;
    });
    const std::uint64_t alignment =
        order.empty() ? kReference : std::max<std::uint64_t>(kReference, order.front()->width);
    std::uint64_t size = aligned(kReference, alignment);
    std::vector<std::uint16_t> list;
    for (Slot* slot : order) {
      slot->position = size;
      size += slot->width;
      if (list.size() <= slot->id) list.resize(slot->id + std::size_t{1});
      list[slot->id] = static_cast<std::uint16_t>(slot->position);
    }
    list.insert(list.begin(),
                {static_cast<std::uint16_t>(kReference + 2 * list.size()), static_cast<std::uint16_t>(size)});
    const std::uint64_t fields = place_list({reinterpret_cast<const char*>(list.data()), 2 * list.size()});
    tables_.pad(alignment);
    const std::uint64_t start = text.size();
    text.append(size, '\0');
    const auto back =
        static_cast<std::int32_t>(static_cast<std::int64_t>(start) - static_cast<std::int64_t>(fields));
    std::memcpy(text.data() + start, &back, sizeof back);
    for (Slot* slot : order) {
      slot->position += start;
      std::memcpy(text.data() + slot->position, &slot->bits, slot->width);
      if (slot->data != kNone) tables_.references_.emplace_back(slot->position, slot->data);
    }
    for (const Slot& slot : slots_) {
      if (slot.child) tables_.refer(slot.position, slot.child());
    }
    return start;
  }

  // Tables with the same fields share their list.
  std::uint64_t place_list(const std::string& list) {
    const auto [found, is_new] = tables_.field_lists_.try_emplace(list, 0);
    if (is_new) {
      tables_.pad(2);
      found->second = tables_.text_.size();
      tables_.text_ += list;
    }
    return found->second;
  }

  Tables& tables_;
  std::vector<Slot> slots_;
};

template <class T>
std::uint64_t Tables::table(const T& value) {
  FieldWriter fields(*this);
  each_field(fields, value);
  return fields.finish(value.carried);
}

std::uint64_t Tables::record(const Record& record) {
  FieldWriter fields(*this);
  fields.record_fields(record);
  return fields.finish(record.carried);
}

// A converter leaves this entry in a model whose buffers are behind the flatbuffer.
bool has_data_outside(const Model& model) {
  return std::any_of(model.metadata.begin(), model.metadata.end(),
                     [](const Metadata& entry) { return entry.name == "buffer_location"; });
}

}  // namespace

io::Rope serialize(const Model& model, std::uint64_t largest) {
  const std::string path = model.file.path().string(), name = path.empty() ? "the model" : path;
  if (!model.unwritable.empty())
    throw Error(ErrorCode::kUnsupported, fmt::format("cannot be written again: {}", model.unwritable), name);
  check(model, name);
  std::optional<io::Rope> rope;
  if (!has_data_outside(model)) rope = Tables(model, true).finish(std::min(largest, kLargestFlatbuffer));
  if (!rope) rope = Tables(model, false).finish(kLargestFlatbuffer);
  if (!rope) throw Error(ErrorCode::kUnsupported, "its tables would exceed 2 GiB", name);
  append_archive(model, *rope);
  return std::move(*rope);
}

std::string to_bytes(const Model& model, std::uint64_t largest) {
  const io::Rope rope = serialize(model, largest);
  std::string text(rope.size(), '\0');
  std::map<const io::Production*, std::vector<io::Place>> productions;
  std::uint64_t offset = 0;
  for (const io::Rope::Piece& piece : rope.pieces()) {
    if (const auto* computed = std::get_if<io::Computed>(&piece)) {
      std::vector<io::Place>& parts = productions[computed->by.get()];
      parts.resize(std::max(parts.size(), computed->part + 1));
      parts[computed->part].write = [&text, offset](std::uint64_t at, std::string_view bytes) {
        text.replace(offset + at, bytes.size(), bytes);
      };
    } else {
      text.replace(offset, io::Rope::size_of(piece), io::Rope::bytes_of(piece));
    }
    offset += io::Rope::size_of(piece);
  }
  const auto one_by_one = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
    for (std::size_t i = 0; i < steps; ++i) run(i);
  };
  for (const auto& [production, parts] : productions) production->run(parts, one_by_one);
  return text;
}

ModelOutput::ModelOutput(const Model& model, const std::filesystem::path& path, bool is_temporary)
    : model_(model), is_temporary_(is_temporary), rope_(serialize(model)), file_(path, rope_.size()) {}

void ModelOutput::write(ThreadPool& pool, std::atomic<std::uint64_t>* done) {
  io::RopeWriter writer;
  writer.add(rope_, file_);
  writer.run(
      pool, [this](Bytes bytes) { model_.release(bytes); }, done);
  if (!is_temporary_) file_.start_flush();  // the disk works while the caller checks
}

Model ModelOutput::reopen() const { return read_model(file_.unfinished_path(), file_.path().string()); }

void ModelOutput::fill_metadata(const std::string& name, std::string value) const {
  const Model written = reopen();
  const auto entry = std::find_if(written.metadata.begin(), written.metadata.end(),
                                  [&](const Metadata& each) { return each.name == name; });
  const Bytes place = entry == written.metadata.end() ? Bytes() : written.buffers[entry->buffer].data.bytes();
  if (value.size() > place.size())
    throw Error(ErrorCode::kInternal, fmt::format("there is no room for the metadata '{}'", name),
                file_.path().string());
  value.resize(place.size(), ' ');
  file_.write(static_cast<std::uint64_t>(place.data() - written.file.bytes().data()), value);
}

void ModelOutput::commit() {
  file_.commit(is_temporary_ ? io::OutputFile::Flush::kNone : io::OutputFile::Flush::kToDisk);
}

std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool) {
  ModelOutput output(model, file, true);
  output.write(pool, nullptr);
  output.commit();
  return output.total_bytes();
}

}  // namespace ounce::tflite
