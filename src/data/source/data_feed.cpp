#include "data/source/data_feed.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "data/containers/rows.h"
#include "data/contract/contract_file.h"
#include "data/contract/derive.h"
#include "data/image/image.h"
#include "data/source/open_source.h"
#include "data/source/sources.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

constexpr std::size_t kMostNames = 24;  // listed in a message
constexpr std::uint64_t kMostConstants = std::uint64_t{1} << 28;

bool has_field(const Source& source, const std::string& name) {
  return std::any_of(source.fields().begin(), source.fields().end(),
                     [&](const Field& field) { return field.name == name; });
}

std::string names_of(const Source& source) {
  std::vector<std::string> names = source.names_there();
  if (names.size() <= kMostNames) return fmt::format("{}", fmt::join(names, ", "));
  const std::size_t more = names.size() - kMostNames;
  names.resize(kMostNames);
  return fmt::format("{} and {} more", fmt::join(names, ", "), more);
}

// Advice for an input without a field of its name: suggests the first unused field, or else other options.
std::string advice_for(const ValueDescription& input, const Source& source,
                       const std::vector<std::string>& used) {
  for (const std::string& name : source.names_there()) {
    const bool is_used = std::find(used.begin(), used.end(), name) != used.end();
    if (!is_used && name != "folder") return fmt::format("Map one: `fields` {}={}", input.name, name);
  }
  return fmt::format(
      "Give its data with `paths` {0}=PATH, a constant with `constants` {0}=NUMBER, or a recurrent state "
      "with "
      "`carry` {0}=OUTPUT",
      input.name);
}

// Refuses NaN, because it would make every comparison meaningless.
void require_numbers(std::span<const float> values, const std::string& where) {
  const auto found =
      std::find_if(values.begin(), values.end(), [](float value) { return std::isnan(value); });
  if (found == values.end()) return;
  throw Error(ErrorCode::kBadInput, fmt::format("the data has a NaN (value {})", found - values.begin()),
              where);
}

// Appends a sample to a batch.
void append(Tensor& to, Tensor&& one, const std::string& where) {
  const bool fits = to.dims.size() == one.dims.size() && !to.dims.empty() &&
                    std::equal(to.dims.begin() + 1, to.dims.end(), one.dims.begin() + 1);
  if (!fits) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("is [{}], but the sample before it in the batch is [{}]; use `batch=1`",
                            fmt::join(one.dims, ","), fmt::join(to.dims, ",")),
                where);
  }
  to.dims[0] += one.dims[0];
  to.bytes += one.bytes;
  std::move(one.strings.begin(), one.strings.end(), std::back_inserter(to.strings));
}

std::string place_of(const Sample& sample, const ValueDescription& input) {
  return fmt::format("{}: input '{}'", sample.name, input.name);
}

}  // namespace

DataFeed::DataFeed(const std::vector<ValueDescription>& inputs, const DataOptions& options)
    : options_(options) {
  if (options_.memory && options_.path.empty()) options_.path = MemorySource::kName;
  name_the_only_input(inputs);
  require_known_names(inputs, options_);
  std::size_t fed = 0;  // inputs that take data from the common path
  for (const ValueDescription& input : inputs) {
    if (is_made(input)) continue;
    const auto named = options_.fields.find(input.name);
    wanted_fields_.push_back(named == options_.fields.end() ? input.name : named->second);
    if (named != options_.fields.end() && names_columns(named->second)) {
      const std::vector<std::string> columns = columns_of(named->second, {});
      wanted_fields_.insert(wanted_fields_.end(), columns.begin(), columns.end());
    }
    if (!options_.paths.contains(input.name)) ++fed;
  }
  if (!options_.labels.empty()) wanted_fields_.push_back(options_.labels);
  // With one input, any single array is taken.
  for (const ValueDescription& input : inputs) {
    if (fed > 1 && !is_made(input) && !options_.fields.contains(input.name)) unnamed_.push_back(input);
  }
  for (const ValueDescription& input : inputs) origins_.push_back(find_origin(input, fed == 1));
  find_labels();
  choose_samples();
}

// An empty name in the contract means the only input that takes data.
void DataFeed::name_the_only_input(const std::vector<ValueDescription>& inputs) {
  if (!options_.contract || !options_.contract->inputs.contains(kOnlyInput)) return;
  std::vector<std::string> names;
  for (const ValueDescription& input : inputs) {
    if (!is_made(input)) names.push_back(input.name);
  }
  if (names.size() != 1) {
    throw Error(
        ErrorCode::kUsage,
        fmt::format(
            "the model has the inputs {}; name the one that the contract is for (`contract.inputs` NAME)",
            fmt::join(names, ", ")));
  }
  auto contract = options_.contract->inputs.extract(kOnlyInput);
  contract.key() = names[0];
  options_.contract->inputs.insert(std::move(contract));
}

bool DataFeed::is_made(const ValueDescription& input) const {
  return options_.constants.contains(input.name) || options_.carry.contains(input.name);
}

// Opens each path once, even if several inputs use it.
Source& DataFeed::open(const std::filesystem::path& path, const ValueDescription* input) {
  std::unique_ptr<Source>& place = sources_[path];
  if (place) return *place;
  if (options_.memory && path == MemorySource::kName) {
    place = std::make_unique<MemorySource>(options_.memory);
    return *place;
  }
  SourceRequest request;
  request.fields = wanted_fields_;
  request.input = input;
  request.inputs = unnamed_;
  request.may_derive = options_.derive_contract;
  if (request.inputs.empty() && input != nullptr && !options_.fields.contains(input->name))
    request.inputs.push_back(*input);
  if (options_.contract) {
    for (const auto& [name, contract] : options_.contract->inputs) {
      if (contract.frame_length > 0) {
        request.frames = {static_cast<std::uint64_t>(contract.frame_length),
                          static_cast<std::uint64_t>(contract.hop_length)};
      }
    }
  }
  place = open_source(path, request);
  return *place;
}

DataFeed::Origin DataFeed::find_origin(const ValueDescription& input, bool is_only) {
  Origin origin;
  origin.input = input;
  if (is_made(input)) {
    const auto given = options_.constants.find(input.name);
    origin.constant = filled_tensor(input, shortest_dims_for(input, options_),
                                    given == options_.constants.end() ? 0 : given->second);
    return origin;
  }
  if (options_.contract) {
    const auto contract = options_.contract->inputs.find(input.name);
    if (contract != options_.contract->inputs.end()) {
      origin.contract = &contract->second;
      origin.preprocess.emplace(contract->second, input.name);
    }
  }
  const auto own = options_.paths.find(input.name);
  const std::filesystem::path& path = own == options_.paths.end() ? options_.path : own->second;
  if (path.empty()) throw Error(ErrorCode::kBadInput, fmt::format("no data for the input '{}'", input.name));
  origin.source = &open(path, &input);
  const auto* list = dynamic_cast<const ListSource*>(origin.source);
  const auto named = options_.fields.find(input.name);
  if (named != options_.fields.end() && names_columns(named->second) &&
      !has_field(*origin.source, named->second)) {
    origin.columns = columns_of(named->second, origin.source->fields());
    for (const std::string& column : origin.columns) {
      if (has_field(*origin.source, column)) continue;
      throw Error(ErrorCode::kBadInput,
                  fmt::format("has no column '{}' for the input '{}'; columns: {}", column, input.name,
                              names_of(*origin.source)),
                  path.string());
    }
    origin.is_listed = list != nullptr;
    return origin;
  }
  origin.field = find_field(*origin.source, input, is_only || own != options_.paths.end(), path);
  origin.is_listed = list != nullptr && list->file_field() != origin.field;
  if (options_.derive_contract && origin.contract == nullptr) derive(origin);
  return origin;
}

void DataFeed::derive(Origin& origin) {
  for (const Field& field : origin.source->fields()) {
    const bool is_media = field.type == ElementType::kUndefined || field.type == ElementType::kUint8;
    if (field.name != origin.field || (!field.dims && !is_media)) continue;
    const auto derived = derive_contract(field.type, field.dims ? &*field.dims : nullptr, origin.input);
    if (!derived) return;
    if (!options_.contract) options_.contract.emplace();
    InputContract& contract = options_.contract->inputs[origin.input.name] = *derived;
    origin.contract = &contract;
    origin.preprocess.emplace(contract, origin.input.name);
    notes_.push_back(fmt::format(
        "preprocessing of '{}' derived from the data: {}; means and deviations cannot be derived, so give "
        "them if the model was trained with them",
        origin.input.name, describe(contract)));
    return;
  }
}

// Finds the field by name, or takes the only possible one.
std::string DataFeed::find_field(const Source& source, const ValueDescription& input, bool is_only,
                                 const std::filesystem::path& path) {
  const auto named = options_.fields.find(input.name);
  const std::string name = named == options_.fields.end() ? input.name : named->second;
  if (has_field(source, name)) return name;
  std::vector<std::string> choices;
  for (const Field& field : source.fields()) {
    const bool is_label =
        field.name == options_.labels || field.name == "folder" || field.name.starts_with("output_");
    if (!is_label) choices.push_back(field.name);
  }
  if (const auto* list = dynamic_cast<const ListSource*>(&source); list != nullptr && list->file_field())
    choices = {*list->file_field()};
  const auto take = [&](const std::string& field) {
    notes_.push_back(fmt::format("the input '{}' is fed from '{}', the only array of its shape and type",
                                 input.name, field));
    return field;
  };
  if (named == options_.fields.end() && is_only && choices.size() == 1) {
    const bool has_others = source.names_there().size() > source.fields().size();  // not opened
    return has_others ? take(choices[0]) : choices[0];
  }
  const auto fits = [&](const Field& field, const ValueDescription& to) {
    return fits_input(field.type, *field.dims, to, options_.derive_contract);
  };
  std::vector<std::string> fitting;
  for (const Field& field : source.fields()) {
    const bool is_choice = std::find(choices.begin(), choices.end(), field.name) != choices.end();
    if (!is_choice || !field.dims || !fits(field, input)) continue;
    const auto inputs = std::count_if(unnamed_.begin(), unnamed_.end(),
                                      [&](const ValueDescription& other) { return fits(field, other); });
    if (inputs <= 1) fitting.push_back(field.name);  // an array is not shared
  }
  if (named == options_.fields.end() && fitting.size() == 1) return take(fitting[0]);
  throw Error(ErrorCode::kBadInput,
              fmt::format("has no array or column named '{}' (it has {}). {}", name, names_of(source),
                          advice_for(input, source, wanted_fields_)),
              path.string());
}

void DataFeed::find_labels() {
  if (options_.labels.empty()) return;
  const auto own = options_.paths.find(options_.labels);
  const std::filesystem::path& path = own != options_.paths.end() ? own->second : options_.path;
  if (path.empty()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("no data for the labels '{0}': give `paths` {0}=PATH", options_.labels));
  }
  label_source_ = &open(path, nullptr);
  if (has_field(*label_source_, options_.labels)) return;
  const std::string guess = nearest(options_.labels, label_source_->names_there());
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("has no array or column named '{}' for `labels` (it has {}){}", options_.labels,
                  names_of(*label_source_), guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess)),
      path.string());
}

void DataFeed::choose_part(const std::string& where) {
  const std::uint64_t part = options_.part;
  stride_ = options_.parts;
  if (part >= stride_)
    throw Error(ErrorCode::kUsage,
                fmt::format("part {} is out of range: the data is divided into {} parts", part, stride_));
  if (stride_ == 1) return;
  if (!options_.carry.empty())
    throw Error(ErrorCode::kUsage,
                "data with a recurrent state cannot be divided into parts, because each sample depends on "
                "the previous one");
  if (part >= samples_)
    throw Error(ErrorCode::kBadInput, fmt::format("{} samples are too few for {} parts", samples_, stride_),
                where);
  samples_ = (samples_ - part + stride_ - 1) / stride_;
  first_ += part;
}

// True if one sample fills the whole input. Then the input's first axis is not a batch axis.
bool DataFeed::is_whole(const Origin& origin) const {
  if (origin.source->has_batch_axis()) return true;
  const auto& shape = origin.input.shape;
  for (const Field& field : origin.source->fields()) {
    if (field.name != origin.field || !field.dims || shape.empty() || shape[0].value < 2) continue;
    return std::equal(
        field.dims->begin(), field.dims->end(), shape.begin(), shape.end(),
        [](std::int64_t size, const auto& wanted) { return wanted.value < 0 || wanted.value == size; });
  }
  return false;
}

void DataFeed::choose_samples() {
  const std::string where = options_.path.empty() ? "the data" : options_.path.string();
  if (sources_.empty()) throw Error(ErrorCode::kUsage, "no input of the model takes data", where);
  const std::uint64_t size = sources_.begin()->second->size();
  for (const auto& [path, source] : sources_) {
    if (source->size() == size) continue;
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("has {} samples, but {} has {}", source->size(), sources_.begin()->first.string(), size),
        path.string());
  }
  if (size == 0) throw Error(ErrorCode::kBadInput, "the dataset is empty", where);
  if (options_.first >= size) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} samples; there is no sample {}", size, options_.first), where);
  }
  first_ = options_.first;
  samples_ = size - first_;
  if (options_.samples != 0) samples_ = std::min(samples_, options_.samples);
  size_ = size;
  end_ = first_ + samples_;
  choose_part(where);
  // With a recurrent state, and if samples have their batch axis already, the batch size is 1. Otherwise a
  // fixed batch size of the model is used.
  batch_ = options_.carry.empty() ? std::max<std::uint64_t>(options_.batch, 1) : 1;
  bool is_fixed = false;
  for (const Origin& origin : origins_) {
    if (origin.source == nullptr) continue;
    const bool is_whole = this->is_whole(origin);
    const std::int64_t fixed = origin.input.shape.size() > 1 ? origin.input.shape[0].value : -1;
    if (is_whole) batch_ = 1;
    if (is_whole || fixed <= 0 || !options_.carry.empty()) continue;
    batch_ = static_cast<std::uint64_t>(fixed);
    is_fixed = true;
  }
  if (is_fixed && options_.batch != 1 && options_.batch != batch_)
    notes_.push_back(fmt::format("the model's batch is fixed at {}", batch_));
  if (!is_fixed) return;  // the last batch may be shorter
  if (batch_ > samples_) {
    throw Error(ErrorCode::kBadInput, fmt::format("has {} samples, but a batch needs {}", samples_, batch_),
                where);
  }
  if (const std::uint64_t rest = samples_ % batch_; rest != 0) {
    notes_.push_back(fmt::format("the last {} of {} samples do not fill a batch of {} and are skipped", rest,
                                 samples_, batch_));
    samples_ -= rest;
  }
}

Tensor DataFeed::read_one(const Origin& origin, const Sample& sample) {
  const std::string where = place_of(sample, origin.input);
  const Tensor* raw = origin.columns.empty() ? sample.find(origin.field) : nullptr;
  if (raw == nullptr && origin.columns.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("has no field '{}'", origin.field), where);
  const bool is_image = raw != nullptr && raw->type == ElementType::kUint8;
  Tensor made = raw != nullptr ? *raw : join_columns(sample, origin.columns, where);
  if (origin.preprocess) made = origin.preprocess->apply(std::move(made), sample, origin.input.element);
  if (is_float_weight_type(made.type)) {
    const std::span<const float> values = floats_of(made, floats_, where);
    require_numbers(values, where);
    if (origin.contract != nullptr) observed_[origin.input.name].add(values, made.dims, *origin.contract);
  }
  // Lists do not distinguish 2 from 2.0, so their integers may be converted to floats.
  if (origin.is_listed && is_float_weight_type(origin.input.element) && made.type == ElementType::kInt64) {
    const std::vector<double> numbers = to_doubles(made, where);
    made.type = ElementType::kDouble;
    made.bytes.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  made = convert(std::move(made), origin.input.element, where);
  made.dims = fit(made.dims, origin.input, origin.source->has_batch_axis(), where, is_image);
  return made;
}

void DataFeed::read(std::uint64_t index, Batch& batch) {
  batch.inputs.resize(origins_.size());
  batch.labels.clear();
  batch.names.clear();
  const std::uint64_t count = std::min(batch_, samples_ - index * batch_);
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t at = first_ + (index * batch_ + k) * stride_;
    std::map<const Source*, Sample> samples;
    for (const auto& [path, source] : sources_) samples[source.get()] = source->read(at);
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      const Origin& origin = origins_[i];
      if (origin.source == nullptr) {
        if (k == 0) batch.inputs[i] = origin.constant;
        continue;
      }
      const Sample& sample = samples[origin.source];
      if (batch.names.size() == k) {
        batch.names.push_back(sample.name);
        if (k == 0) batch.starts_sequence = index == 0 || origin.source->starts_sequence(at);
      }
      Tensor one = read_one(origin, sample);
      if (k == 0) {
        batch.inputs[i] = std::move(one);
      } else {
        append(batch.inputs[i], std::move(one), place_of(sample, origin.input));
      }
    }
    if (label_source_ == nullptr) continue;
    const Sample& sample = samples[label_source_];
    const Tensor* label = sample.find(options_.labels);
    if (label == nullptr)
      throw Error(ErrorCode::kBadInput, fmt::format("has no label '{}'", options_.labels), sample.name);
    batch.labels.push_back(*label);
  }
}

std::vector<std::string> DataFeed::notes() const {
  std::vector<std::string> all = notes_;
  for (const Origin& origin : origins_) {
    const auto seen = observed_.find(origin.input.name);
    if (origin.contract == nullptr || seen == observed_.end()) continue;
    if (const auto doubts = doubt(*origin.contract, seen->second.result()))
      all.push_back(fmt::format("input '{}': {}", origin.input.name, *doubts));
  }
  return all;
}

void DataFeed::require_agreement() const {
  for (const Origin& origin : origins_) {
    const auto seen = observed_.find(origin.input.name);
    if (origin.contract == nullptr || seen == observed_.end()) continue;
    if (const auto differs = contradiction(*origin.contract, seen->second.result())) {
      throw Error(ErrorCode::kBadInput, fmt::format("the data contradicts the contract: {}", *differs),
                  fmt::format("input '{}'", origin.input.name));
    }
  }
}

Dims dims_for(const ValueDescription& input, const DataOptions& options, std::int64_t batch,
              const FreeAxis& otherwise) {
  Dims dims;
  for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
    const auto& dimension = input.shape[axis];
    const auto by_axis = options.shape.find(fmt::format("{}:{}", input.name, axis));
    const auto by_name = options.shape.find(dimension.name);
    if (dimension.value >= 0) {
      dims.push_back(dimension.value);
    } else if (by_axis != options.shape.end()) {
      dims.push_back(by_axis->second);
    } else if (!dimension.name.empty() && by_name != options.shape.end()) {
      dims.push_back(by_name->second);
    } else {
      dims.push_back(axis == 0 ? batch : otherwise(input, axis));
    }
  }
  return dims;
}

Dims shortest_dims_for(const ValueDescription& input, const DataOptions& options) {
  return dims_for(input, options, 1, [](const ValueDescription&, std::size_t) { return 1; });
}

Tensor filled_tensor(const ValueDescription& input, Dims dims, double value) {
  const std::string where = fmt::format("input '{}'", input.name);
  const std::uint64_t count = element_count(dims, where);
  if (count > kMostConstants) throw Error(ErrorCode::kBadInput, fmt::format("has {} values", count), where);
  const std::string one = bytes_of_value(value, input.element, where);
  Tensor tensor{input.element, std::move(dims), {}, {}};
  tensor.bytes.reserve(count * one.size());
  for (std::uint64_t i = 0; i < count; ++i) tensor.bytes += one;
  return tensor;
}

std::vector<ValueDescription> inputs_of(const model::ModelFile& file) {
  std::vector<ValueDescription> inputs;
  for (const model::Port& input : file.inputs()) {
    ValueDescription& described = inputs.emplace_back();
    described.name = input.name;
    described.element = input.type;
    for (const model::Port::Dimension& dimension : input.shape)
      described.shape.push_back({dimension.value, dimension.name});
  }
  return inputs;
}

}  // namespace ounce::data
