#include "data/data_feed.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "data/contract_json.h"
#include "data/convert.h"
#include "data/fit.h"
#include "data/list_source.h"
#include "data/media.h"
#include "data/media_source.h"
#include "data/npy_source.h"
#include "data/npz_source.h"
#include "data/raw_source.h"
#include "data/test_folder_source.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;

bool is_test_folder(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("test_data_set_") || (name.starts_with("input_") && name.ends_with(".pb")))
      return true;
  }
  return false;
}

std::string names_of(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has_field(const Source& source, const std::string& name) {
  return std::any_of(source.fields().begin(), source.fields().end(),
                     [&](const Field& field) { return field.name == name; });
}

// A NaN in the data would make every comparison meaningless.
void require_numbers(const Tensor& tensor, const std::string& where) {
  if (tensor.type != ElementType::kFloat) return;
  const auto floats = values_of<float>(tensor);
  const auto found =
      std::find_if(floats.begin(), floats.end(), [](float value) { return std::isnan(value); });
  if (found != floats.end()) {
    throw Error(ErrorCode::kBadInput, fmt::format("the data has a NaN (value {})", found - floats.begin()),
                where);
  }
}

// The dimensions of one raw sample: the input's without its batch axis, which must then be fixed.
Dims raw_dims(const ValueDescription& input, const fs::path& path) {
  Dims dims;
  for (std::size_t i = 1; i < input.shape.size(); ++i) {
    if (input.shape[i].value < 0) {
      throw Error(
          ErrorCode::kBadInput,
          fmt::format(
              "a raw file does not tell its shape, and neither does the input '{}', which is {}; use .npy",
              input.name, describe(input)),
          path.string());
    }
    dims.push_back(input.shape[i].value);
  }
  return dims;
}

// Puts a sample behind those that are in the batch already.
void append(Tensor& to, Tensor&& one, const std::string& where) {
  if (to.dims.size() != one.dims.size() ||
      !std::equal(to.dims.begin() + 1, to.dims.end(), one.dims.begin() + 1)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("is [{}] and the sample before it in the batch [{}]; use --batch 1",
                            fmt::join(one.dims, ","), fmt::join(to.dims, ",")),
                where);
  }
  to.dims[0] += one.dims[0];
  to.bytes += one.bytes;
  to.strings.insert(to.strings.end(), std::make_move_iterator(one.strings.begin()),
                    std::make_move_iterator(one.strings.end()));
}

}  // namespace

DataFeed::DataFeed(const std::vector<ValueDescription>& inputs, const DataOptions& options)
    : options_(options), is_sequence_(!options.carry.empty()) {
  if (options_.contract && options_.contract->inputs.contains(kOnlyInput)) {
    if (inputs.size() != 1)
      throw Error(
          ErrorCode::kUsage,
          fmt::format("the contract does not say which of the model's {} inputs it is for", inputs.size()));
    options_.contract->inputs[inputs[0].name] = options_.contract->inputs[kOnlyInput];
    options_.contract->inputs.erase(kOnlyInput);
  }
  find_origins(inputs);
  choose_samples();
}

const InputContract* DataFeed::contract_for(const std::string& input) const {
  if (!options_.contract) return nullptr;
  const auto found = options_.contract->inputs.find(input);
  return found == options_.contract->inputs.end() ? nullptr : &found->second;
}

// Opened once, with the fields that will be asked for. `input`: the only one it feeds, or null.
Source* DataFeed::open(const fs::path& path, const ValueDescription* input) {
  const auto opened = sources_.find(path);
  if (opened != sources_.end()) return opened->second.get();
  if (!fs::exists(path)) throw Error(ErrorCode::kIo, "no such file or folder", path.string());
  std::unique_ptr<Source> source;
  const std::string extension = path.extension().string();
  if (fs::is_directory(path) && is_test_folder(path)) {
    source = std::make_unique<TestFolderSource>(path);
  } else if (fs::is_directory(path) || media_kind(path) == MediaKind::kImage ||
             media_kind(path) == MediaKind::kSound) {
    std::int64_t frame_length = 0;
    if (options_.contract) {
      for (const auto& [name, contract] : options_.contract->inputs)
        frame_length = std::max(frame_length, contract.frame_length);
    }
    source = std::make_unique<MediaSource>(path, static_cast<std::uint64_t>(frame_length));
  } else if (extension == ".npz") {
    // The archive may hold other sets beside the one that is meant: only what is asked for has to agree.
    std::vector<std::string> keys;
    for (const ArrayDescription& array : NpzSource::list(path)) {
      const auto is_key = [&](const std::string& key) { return !key.empty() && key == array.name; };
      bool is_wanted = is_key(options_.labels);
      for (const Origin& origin : origins_) is_wanted = is_wanted || is_key(origin.field);
      if (is_wanted) keys.push_back(array.name);
    }
    if (keys.empty()) keys.push_back("");  // nothing fits: explained by the caller, who knows what was wanted
    if (keys.front().empty()) {
      std::vector<std::string> names;
      for (const ArrayDescription& array : NpzSource::list(path))
        names.push_back(fmt::format("{} {}", array.name, describe(array.type, array.dims)));
      std::vector<std::string> wanted;
      for (const Origin& origin : origins_) wanted.push_back(origin.input.name);
      throw Error(
          ErrorCode::kBadInput,
          fmt::format(
              "has no array for the model's inputs ({}); it has {}; say which with --input NAME=ARRAY",
              fmt::join(wanted, ", "), fmt::join(names, ", ")),
          path.string());
    }
    source = std::make_unique<NpzSource>(path, keys);
  } else if (extension == ".npy") {
    source = std::make_unique<NpySource>(path);
  } else if (extension == ".csv" || extension == ".jsonl") {
    source = std::make_unique<ListSource>(path);
  } else if (extension == ".bin" || extension == ".raw") {
    if (input == nullptr)
      throw Error(ErrorCode::kUsage, "say which input a raw file feeds: --data NAME=FILE", path.string());
    source = std::make_unique<RawSource>(path, input->element, raw_dims(*input, path));
  } else {
    throw Error(ErrorCode::kBadInput,
                "is no data: .npz, .npy, .csv, .jsonl, .bin, .wav, .jpg, .png, or a folder of images, sound "
                "or test data",
                path.string());
  }
  return (sources_[path] = std::move(source)).get();
}

void DataFeed::find_origins(const std::vector<ValueDescription>& inputs) {
  // First what each input would like to be fed with, so that archives are opened for just that.
  std::size_t unfed = 0;
  for (const ValueDescription& input : inputs) {
    Origin origin;
    origin.input = input;
    const bool is_made = options_.constants.contains(input.name) || options_.carry.contains(input.name);
    if (!is_made && !options_.paths.contains(input.name)) ++unfed;
    const auto named = options_.fields.find(input.name);
    if (!is_made) origin.field = named == options_.fields.end() ? input.name : named->second;
    origins_.push_back(std::move(origin));
  }
  for (const auto& [name, field] : options_.fields) {
    if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.name == name; }))
      throw Error(ErrorCode::kUsage, fmt::format("the model has no input '{}'", name));
  }
  if (options_.contract) {
    for (const auto& [name, contract] : options_.contract->inputs) {
      if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.name == name; }))
        throw Error(ErrorCode::kBadInput,
                    fmt::format("the contract speaks of an input '{}', which the model does not have", name));
    }
  }
  for (Origin& origin : origins_) origin = find_origin(origin.input, unfed);
  if (options_.labels.empty()) return;
  const auto own = options_.paths.find(options_.labels);
  label_source_ = open(own != options_.paths.end() ? own->second : options_.path, nullptr);
  if (!has_field(*label_source_, options_.labels)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("has no labels '{}'; it has {}", options_.labels, names_of(label_source_->fields())),
        options_.path.string());
  }
}

DataFeed::Origin DataFeed::find_origin(const ValueDescription& input, std::size_t unfed) {
  Origin origin;
  origin.input = input;
  if (const auto value = options_.constants.find(input.name); value != options_.constants.end()) {
    origin.constant = value->second;
    return origin;
  }
  if (options_.carry.contains(input.name)) return origin;
  if (const InputContract* contract = contract_for(input.name))
    origin.preprocess.emplace(*contract, input.name);
  const auto own = options_.paths.find(input.name);
  const auto named = options_.fields.find(input.name);
  if (own == options_.paths.end() && options_.path.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("there is no data for the input '{}'", input.name));
  origin.source = open(own == options_.paths.end() ? options_.path : own->second, &input);
  origin.field = named == options_.fields.end() ? input.name : named->second;
  const std::vector<Field>& fields = origin.source->fields();
  if (has_field(*origin.source, origin.field)) return origin;
  // The only field for the only input needs no name.
  const auto others = std::count_if(fields.begin(), fields.end(), [&](const Field& field) {
    return field.name != options_.labels && field.name != "folder" && !field.name.starts_with("output_");
  });
  const bool is_media = has_field(*origin.source, "data") && fields.size() <= 2;
  const bool is_only = (unfed == 1 || own != options_.paths.end()) && (others == 1 || is_media);
  const auto* list = dynamic_cast<const ListSource*>(origin.source);
  if (named == options_.fields.end() && is_only) {
    origin.field = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
                     return field.name != options_.labels && field.name != "folder";
                   })->name;
    return origin;
  }
  if (named == options_.fields.end() && unfed == 1 && list != nullptr && list->file_field()) {
    origin.field = *list->file_field();
    return origin;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("has nothing for the input '{}'; it has {}; say which with --input {}=NAME",
                          origin.field, names_of(fields), input.name),
              (own == options_.paths.end() ? options_.path : own->second).string());
}

void DataFeed::choose_samples() {
  std::optional<std::uint64_t> size;
  const Source* sized = nullptr;
  for (const auto& [path, source] : sources_) {
    if (size && *size != source->size()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("has {} samples, and another file has {}", source->size(), *size),
                  path.string());
    }
    size = source->size();
    sized = source.get();
  }
  const std::string where = options_.path.empty() ? "data" : options_.path.string();
  if (sized == nullptr) throw Error(ErrorCode::kUsage, "no input of the model takes data", where);
  if (*size == 0) throw Error(ErrorCode::kBadInput, "the dataset is empty", where);
  if (options_.first >= *size)
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} samples; there is no sample {}", *size, options_.first), where);
  first_ = options_.first;
  samples_ = *size - first_;
  if (options_.samples != 0) samples_ = std::min(samples_, options_.samples);
  batch_ = std::max<std::uint64_t>(options_.batch, 1);
  // A model with a fixed batch decides.
  for (const Origin& origin : origins_) {
    const bool has_batch =
        origin.source != nullptr && !origin.source->has_batch_axis() && origin.input.shape.size() > 1;
    if (has_batch && origin.input.shape[0].value > 1)
      batch_ = static_cast<std::uint64_t>(origin.input.shape[0].value);
    if (origin.source != nullptr && origin.source->has_batch_axis()) batch_ = 1;
  }
  if (is_sequence_) batch_ = 1;
  if (batch_ > samples_) {
    throw Error(ErrorCode::kBadInput, fmt::format("has {} samples, and a batch takes {}", samples_, batch_),
                where);
  }
  if (samples_ % batch_ != 0) {
    notes_.push_back(fmt::format("the last {} of {} samples do not fill a batch of {} and are left out",
                                 samples_ % batch_, samples_, batch_));
  }
}

// A state, or a constant: the model's own shape, free axes from --shape or 1.
Tensor DataFeed::constant(const Origin& origin) const {
  Tensor tensor{ElementType::kDouble, {}, {}, {}};
  for (std::size_t i = 0; i < origin.input.shape.size(); ++i) {
    const auto& dimension = origin.input.shape[i];
    const auto by_name = options_.shape.find(dimension.name),
               by_axis = options_.shape.find(fmt::format("{}:{}", origin.input.name, i));
    std::int64_t value = dimension.value;
    if (value < 0)
      value = by_axis != options_.shape.end()   ? by_axis->second
              : by_name != options_.shape.end() ? by_name->second
                                                : 1;
    tensor.dims.push_back(value);
  }
  const std::string where = fmt::format("input '{}'", origin.input.name);
  const std::uint64_t count = element_count(tensor.dims, where);
  if (count > (std::uint64_t{1} << 32)) throw Error(ErrorCode::kBadInput, "is too large", where);
  if (onnx::is_float_weight_type(origin.input.element)) {
    tensor.bytes.resize(count * sizeof(double));
    std::fill_n(values_of<double>(tensor).begin(), count, origin.constant);
  } else {
    tensor.type = ElementType::kInt64;
    tensor.bytes.resize(count * sizeof(std::int64_t));
    std::fill_n(values_of<std::int64_t>(tensor).begin(), count,
                static_cast<std::int64_t>(std::llround(origin.constant)));
  }
  return convert(std::move(tensor), origin.input.element, where);
}

Tensor DataFeed::read_one(const Origin& origin, const Sample& sample) {
  const std::string where = fmt::format("{}: input '{}'", sample.name, origin.input.name);
  const Tensor* raw = sample.find(origin.field);
  if (raw == nullptr) throw Error(ErrorCode::kBadInput, fmt::format("has no '{}'", origin.field), where);
  Tensor made = *raw;
  if (origin.preprocess) made = origin.preprocess->apply(std::move(made), sample, origin.input.element);
  const InputContract* contract = contract_for(origin.input.name);
  // A contract that has no scale says that the numbers are right as they are.
  const bool is_meant = contract != nullptr && onnx::is_float_weight_type(origin.input.element) &&
                        !onnx::is_float_weight_type(made.type) && made.type != ElementType::kString;
  if (is_meant) {
    std::vector<float> floats;
    to_floats(made, floats, where);
    made.type = ElementType::kFloat;
    made.bytes.assign(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
  }
  require_numbers(made, where);
  if (contract != nullptr) observed_[origin.input.name].add(made, contract);
  made = convert(std::move(made), origin.input.element, where);
  made.dims = fit(made.dims, origin.input, origin.source->has_batch_axis(), where);
  return made;
}

void DataFeed::read(std::uint64_t index, Batch& batch) {
  batch.inputs.resize(origins_.size());
  batch.labels.clear();
  batch.names.clear();
  for (std::uint64_t k = 0; k < batch_; ++k) {
    const std::uint64_t at = first_ + index * batch_ + k;
    std::map<Source*, Sample> samples;
    for (const auto& [path, source] : sources_) samples[source.get()] = source->read(at);
    bool is_named = false;
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      const Origin& origin = origins_[i];
      if (origin.source == nullptr) {
        if (k == 0) batch.inputs[i] = constant(origin);
        continue;
      }
      const Sample& sample = samples[origin.source];
      Tensor one = read_one(origin, sample);
      if (!is_named) batch.names.push_back(sample.name);
      is_named = true;
      if (k == 0) {
        batch.inputs[i] = std::move(one);
      } else {
        append(batch.inputs[i], std::move(one),
               fmt::format("{}: input '{}'", sample.name, origin.input.name));
      }
      if (k == 0) batch.starts_sequence = at == first_ || origin.source->starts_sequence(at);
    }
    if (label_source_ != nullptr) {
      const Sample& sample = samples[label_source_];
      const Tensor* label = sample.find(options_.labels);
      if (label == nullptr)
        throw Error(ErrorCode::kBadInput, fmt::format("has no label '{}'", options_.labels), sample.name);
      batch.labels.push_back(*label);
    }
  }
}

void DataFeed::require_agreement() const {
  for (const auto& [input, seen] : observed_) {
    const InputContract* contract = contract_for(input);
    if (contract == nullptr || !contract->observed || seen.is_empty()) continue;
    if (const auto differs = contradiction(*contract->observed, seen.result())) {
      throw Error(ErrorCode::kBadInput, fmt::format("the data contradicts the contract: {}", *differs),
                  fmt::format("input '{}'", input));
    }
  }
}

}  // namespace ounce::data
