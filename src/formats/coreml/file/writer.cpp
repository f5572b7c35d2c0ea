#include "formats/coreml/file/writer.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/cancel.h"
#include "formats/coreml/file/blobs.h"
#include "formats/coreml/file/reader.h"
#include "formats/protobuf/message_writer.h"

namespace ounce::coreml {
namespace fs = std::filesystem;
namespace {

using io::Rope;
using protobuf::MessageWriter;

class Serializer {
 public:
  explicit Serializer(bool rewrite_everything) : rewrite_everything_(rewrite_everything) {}

  Rope model(const Kept<ModelProto>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.integer(ModelField::kVersion, kept->version);
    for (const auto& entry : kept->description) out.message(ModelField::kDescription, description(entry));
    for (const auto& entry : kept->program) out.message(ModelField::kMlProgram, program(entry));
    return out.finish();
  }

 private:
  static Rope copy(Bytes bytes) {
    Rope rope;
    rope.append(bytes);
    return rope;
  }
  template <class T>
  bool is_verbatim(const Kept<T>& kept) const {
    return !kept.is_edited() && !rewrite_everything_;
  }

  Rope description(const Kept<Description>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->metadata) out.message(DescriptionField::kMetadata, metadata(entry));
    return out.finish();
  }

  Rope metadata(const Kept<Metadata>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->user_defined) {
      if (is_verbatim(entry)) {
        out.message(MetadataField::kUserDefined, copy(entry.file_bytes()));
        continue;
      }
      MessageWriter inner(entry->carried);
      inner.text(EntryField::kKey, entry->key);
      inner.text(EntryField::kValue, entry->value);
      out.message(MetadataField::kUserDefined, inner.finish());
    }
    return out.finish();
  }

  // An entry of a map from names to messages.
  template <class T>
  Rope named(const Kept<T>& kept, Bytes name, Rope&& value) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(EntryField::kKey, name);
    out.message(EntryField::kValue, std::move(value));
    return out.finish();
  }

  Rope program(const Kept<Program>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    if (kept->version != 0) out.integer(ProgramField::kVersion, kept->version);
    for (const auto& entry : kept->functions)
      out.message(ProgramField::kFunction, named(entry, entry->name, function(entry->function)));
    for (const auto& entry : kept->attributes) out.message(ProgramField::kAttribute, attribute(entry));
    return out.finish();
  }

  Rope function(const Kept<Function>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->inputs) out.message(FunctionField::kInput, named_type(entry));
    out.text(FunctionField::kOpset, kept->opset);
    for (const auto& entry : kept->specializations)
      out.message(FunctionField::kBlock, named(entry, entry->opset, block(entry->block)));
    for (const auto& entry : kept->attributes) out.message(FunctionField::kAttribute, attribute(entry));
    return out.finish();
  }

  Rope block(const Kept<Block>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->inputs) out.message(BlockField::kInput, named_type(entry));
    for (const Bytes output : kept->outputs) out.text(BlockField::kOutput, present(output));
    for (const auto& entry : kept->operations) out.message(BlockField::kOperation, operation(entry));
    for (const auto& entry : kept->attributes) out.message(BlockField::kAttribute, attribute(entry));
    return out.finish();
  }

  Rope operation(const Kept<Operation>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(OperationField::kType, kept->type);
    for (const auto& entry : kept->inputs)
      out.message(OperationField::kInput, named(entry, entry->name, argument(entry->argument)));
    for (const auto& entry : kept->outputs) out.message(OperationField::kOutput, named_type(entry));
    for (const auto& entry : kept->blocks) out.message(OperationField::kBlock, block(entry));
    for (const auto& entry : kept->attributes) out.message(OperationField::kAttribute, attribute(entry));
    return out.finish();
  }

  Rope argument(const Kept<Argument>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->bindings) {
      if (is_verbatim(entry)) {
        out.message(ArgumentField::kBinding, copy(entry.file_bytes()));
        continue;
      }
      MessageWriter inner(entry->carried);
      inner.text(BindingField::kName, entry->name);
      for (const auto& each : entry->value) inner.message(BindingField::kValue, value(each));
      out.message(ArgumentField::kBinding, inner.finish());
    }
    return out.finish();
  }

  Rope attribute(const Kept<Attribute>& kept) const { return named(kept, kept->name, value(kept->value)); }

  Rope named_type(const Kept<NamedType>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(NamedTypeField::kName, kept->name);
    out.text(NamedTypeField::kType, kept->type.message);
    return out.finish();
  }

  Rope value(const Kept<Value>& kept) const {
    if (is_verbatim(kept)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(ValueField::kType, kept->type.message);
    out.text(ValueField::kImmediate, kept->immediate);
    if (kept->blob) {
      MessageWriter inner({});
      inner.text(BlobField::kFile, kept->blob->file);
      inner.integer(BlobField::kOffset, static_cast<std::int64_t>(kept->blob->offset));
      out.message(ValueField::kBlob, inner.finish());
    }
    return out.finish();
  }

  // Lists of names also contain empty names.
  static Bytes present(Bytes name) { return name.data() == nullptr ? Bytes("") : name; }

  bool rewrite_everything_;
};

}  // namespace

Rope serialize(const Model& model, bool rewrite_everything) {
  return Serializer(rewrite_everything).model(model.proto);
}

io::Rope content_of(const Model& model) {
  Model bare = model;
  if (!bare.proto->description.empty() && !bare.proto->description[0]->metadata.empty())
    bare.proto.edit().description[0].edit().metadata.clear();
  Rope rope = serialize(bare);
  for (const auto& [name, weights] : model.weights) {
    rope.append(Bytes(name));
    rope.append(weights.bytes);
  }
  return rope;
}

namespace {

// Identifies a blob of the new files by the offset in the file that it was read from or that it replaces.
using BlobKey = std::tuple<std::uint64_t, std::uint32_t>;  // offset, part
BlobKey key_of(const Blob& blob) { return {blob.offset, blob.part}; }

struct Placed {
  const Blob* blob = nullptr;
  const ValueType* type = nullptr;
  std::uint64_t offset = 0;  // in the new file
};
using PlacedBlobs = std::map<BlobKey, Placed>;

template <class Visit>
void for_each_value(const Operation& operation, const Visit& visit) {
  for (const auto& input : operation.inputs) {
    for (const auto& binding : input->argument->bindings) {
      for (const auto& value : binding->value) visit(*value);
    }
  }
  for (const auto& attribute : operation.attributes) visit(*attribute->value);
}

// Values outside of operations: attributes of programs, functions and blocks.
template <class Visit>
void for_each_attribute(const Block& block, const Visit& visit) {
  for (const auto& attribute : block.attributes) visit(*attribute->value);
  for (const auto& operation : block.operations) {
    for (const auto& inner : operation->blocks) for_each_attribute(*inner, visit);
  }
}
template <class Visit>
void for_each_attribute(const Program& program, const Visit& visit) {
  for (const auto& attribute : program.attributes) visit(*attribute->value);
  for (const auto& function : program.functions) {
    for (const auto& attribute : function->function->attributes) visit(*attribute->value);
    for (const auto& specialization : function->function->specializations)
      for_each_attribute(*specialization->block, visit);
  }
}

// Finds every blob of a program, and rewrites the offsets of those that move.
class BlobPlacer {
 public:
  explicit BlobPlacer(Model& model) : model_(model) {}

  WeightRopes place() {
    collect();
    WeightRopes files;
    for (auto& [name, blobs] : placed_) {
      if (!changed_.contains(name)) continue;
      if (!model_.unwritable.empty())
        throw Error(ErrorCode::kUnsupported, "its weights cannot be moved: " + model_.unwritable,
                    model_.path.string());
      files.emplace(name, lay_out(blobs));
    }
    if (!files.empty()) move_all();
    return files;
  }

 private:
  void collect() {
    const auto see = [&](const Value& value) {
      if (!value.blob) return;
      const std::string name(value.blob->file);
      if (value.blob->is_new()) changed_.insert(name);
      const auto [place, is_new] =
          placed_[name].emplace(key_of(*value.blob), Placed{&*value.blob, &value.type, 0});
      if (!is_new && place->second.blob->size() != value.blob->size())
        throw Error(ErrorCode::kInternal, "two values of different sizes share a blob");
    };
    for_each_operation(model_.program(), [&](const Operation& operation) { for_each_value(operation, see); });
    for_each_attribute(model_.program(), [&](const Value& value) {
      see(value);
      if (value.blob && model_.unwritable.empty())
        model_.unwritable = "an attribute of a block is in a weight file";
    });
  }

  static Rope lay_out(PlacedBlobs& blobs) {
    Rope rope;
    rope.append(weight_header(static_cast<std::uint32_t>(blobs.size())));
    for (auto& [key, placed] : blobs) {
      rope.append(std::string(aligned(rope.size()) - rope.size(), '\0'));
      placed.offset = rope.size();
      rope.append(blob_description(*placed.type, placed.blob->size(), placed.offset));
      if (const auto* computed = std::get_if<io::Computed>(&placed.blob->data)) {
        rope.append(*computed);
      } else {
        rope.append(placed.blob->bytes());
      }
    }
    return rope;
  }

  bool moves(const Value& value) const {
    if (!value.blob || !changed_.contains(value.blob->file)) return false;
    return value.blob->is_new() || place_of(*value.blob) != value.blob->offset;
  }
  std::uint64_t place_of(const Blob& blob) const {
    return placed_.find(blob.file)->second.at(key_of(blob)).offset;
  }
  bool moves(const Operation& operation) const {
    bool found = false;
    for_each_value(operation, [&](const Value& value) { found |= moves(value); });
    return found || std::any_of(operation.blocks.begin(), operation.blocks.end(),
                                [&](const auto& block) { return moves(*block); });
  }
  bool moves(const Block& block) const {
    return std::any_of(block.operations.begin(), block.operations.end(),
                       [&](const auto& operation) { return moves(*operation); });
  }

  // Edits only values that move and the messages around them. The new offset makes a new blob a blob of the
  // file.
  void move(Value& value) const {
    value.blob->offset = place_of(*value.blob);
    value.blob->part = 0;
  }
  void move(Operation& operation) const {
    for (auto& input : operation.inputs) {
      for (std::size_t i = 0; i < input->argument->bindings.size(); ++i) {
        const Binding& binding = *input->argument->bindings[i];
        if (binding.value.empty() || !moves(*binding.value[0])) continue;
        move(input.edit().argument.edit().bindings[i].edit().value[0].edit());
      }
    }
    for (auto& attribute : operation.attributes) {
      if (moves(*attribute->value)) move(attribute.edit().value.edit());
    }
    for (auto& block : operation.blocks) {
      if (moves(*block)) move(block.edit());
    }
  }
  void move(Block& block) const {
    for (auto& operation : block.operations) {
      count_step();
      if (moves(*operation)) move(operation.edit());
    }
  }
  void move_all() {
    for (auto& function : model_.proto.edit().program[0].edit().functions) {
      const auto& specializations = function->function->specializations;
      for (std::size_t i = 0; i < specializations.size(); ++i) {
        if (moves(*specializations[i]->block))
          move(function.edit().function.edit().specializations[i].edit().block.edit());
      }
    }
  }

  Model& model_;
  std::map<std::string, PlacedBlobs, std::less<>> placed_;
  std::set<std::string, std::less<>> changed_;  // weight files
};

}  // namespace

WeightRopes place_blobs(Model& model) {
  if (!model.is_program()) return {};
  return BlobPlacer(model).place();
}

namespace {

std::uint64_t size_of_file(const fs::path& path) {
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(path, ignored);
  return ignored ? 0 : size;
}

// Throws if the output path is a folder that is not a package.
void require_package_place(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  if (!fs::is_directory(path, ignored) ||
      (!fs::exists(path / "Manifest.json", ignored) && !fs::is_empty(path, ignored)))
    throw Error(ErrorCode::kUsage, "exists and is not a Core ML package; choose another `output`",
                path.string());
}

}  // namespace

std::uint64_t written_size(const Model& model, const WeightRopes& weights) {
  std::uint64_t bytes = serialize(model).size();
  for (const auto& [name, file] : model.weights) {
    const auto changed = weights.find(name);
    bytes += changed == weights.end() ? file.bytes.size() : changed->second.size();
  }
  for (const fs::path& other : model.others) bytes += size_of_file(model.path / other);
  return bytes;
}

ModelOutput::ModelOutput(const Model& model, WeightRopes weights, const fs::path& path)
    : model_(model), path_(path), weights_(std::move(weights)) {
  if (!model_.is_package) return;
  require_package_place(path_);
  folder_.emplace(path_, io::OutputFolder::Existing::kReplace);
}

void ModelOutput::write(ThreadPool& pool, std::atomic<std::uint64_t>* done) {
  write_model_file(pool);
  if (!folder_) return;
  for (const fs::path& other : model_.others) {
    throw_if_cancelled();
    const io::MappedFile file = io::MappedFile::open_beneath(model_.path, other);
    io::OutputFile copy(folder_->place_for(other), file.bytes().size(), model_.path / other);
    io::RopeWriter writer;
    writer.add(file.bytes(), copy);
    writer.run(
        pool, [&](Bytes bytes) { file.release(bytes); }, nullptr);
    copy.commit();
  }
  for (const auto& [name, weights] : model_.weights) {
    const fs::path location = model_.weight_location(name);
    const auto changed = weights_.find(name);
    const std::uint64_t size = changed == weights_.end() ? weights.bytes.size() : changed->second.size();
    io::OutputFile file(folder_->place_for(location), size, model_.path / location);
    io::RopeWriter writer;
    if (changed == weights_.end()) {
      writer.add(weights.bytes, file);
    } else {
      writer.add(changed->second, file);
    }
    writer.run(
        pool, [&](Bytes bytes) { model_.release(bytes); }, done);
    file.commit();
  }
}

void ModelOutput::write_model_file(ThreadPool& pool) {
  const Rope rope = serialize(model_);
  const fs::path place = folder_ ? folder_->place_for(model_.location) : path_;
  io::OutputFile file(place, rope.size(), folder_ ? model_.path / model_.location : model_.path);
  io::RopeWriter writer;
  writer.add(rope, file);
  writer.run(
      pool, [&](Bytes bytes) { model_.release(bytes); }, nullptr);
  if (folder_) {
    file.commit();
  } else {
    file_.emplace(std::move(file));
  }
}

void ModelOutput::rewrite_model_file(ThreadPool& pool) {
  file_.reset();
  write_model_file(pool);
}

Model ModelOutput::reopen() const { return read_model(unfinished_path(), path_); }

fs::path ModelOutput::unfinished_path() const { return folder_ ? folder_->path() : file_->unfinished_path(); }

void ModelOutput::commit() {
  if (folder_) {
    folder_->commit();
  } else {
    file_->commit();
  }
}

}  // namespace ounce::coreml
