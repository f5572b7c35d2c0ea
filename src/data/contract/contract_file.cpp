#include "data/contract/contract_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/digest.h"
#include "base/json_text.h"
#include "base/text.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

using Json = nlohmann::ordered_json;

// Filter names by Pillow's numbers, which preprocessor_config.json uses.
const std::vector<std::string> kResamples = {"nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"};
const std::vector<std::string> kKeys = {
    "kind",           "color_order",   "size",           "resample",      "resize_backend",
    "crop_size",      "crop_rule",     "sampling_rate",  "max_length",    "frame_length",
    "hop_length",     "padding_value", "rescale_factor", "image_mean",    "image_std",
    "mean",           "std",           "layout",         "observed",      "do_resize",
    "do_center_crop", "do_rescale",    "do_normalize",   "do_convert_rgb"};
// Members of Hugging Face's files that do not affect the values, and are ignored.
const std::vector<std::string> kNamesOnly = {
    "image_processor_type",  "feature_extractor_type", "processor_class",      "feature_size",
    "return_attention_mask", "padding_side",           "_valid_processor_keys"};

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Reads the members of one object and refuses unknown ones.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("must be a table of keys and values");
  }

  [[noreturn]] void refuse(const std::string& what) const { throw Error(ErrorCode::kBadInput, what, where_); }
  [[noreturn]] void refuse(const char* key, const std::string& what) const {
    refuse(fmt::format("'{}' {}", key, what));
  }

  const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  double number(const char* key, double otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_number() || !std::isfinite(value->get<double>())) refuse(key, "must be a number");
    return value->get<double>();
  }
  std::int64_t whole(const char* key, std::int64_t otherwise) const {
    const double value = number(key, static_cast<double>(otherwise));
    if (value < 0 || value > 1e8 || value != std::floor(value)) refuse(key, "must be a whole number");
    return static_cast<std::int64_t>(value);
  }
  bool flag(const char* key, bool otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) refuse(key, "must be true or false");
    return value->get<bool>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) refuse(key, "must be a string");
    return value->get<std::string>();
  }
  template <class Enum>
  Enum choice(const char* key, Enum otherwise) const {
    const std::string word = text(key, name_of(otherwise));
    const std::optional<Enum> found = from_name<Enum>(word);
    if (!found)
      refuse(key, fmt::format("must be one of {}, not '{}'", fmt::join(names_of<Enum>(), ", "), word));
    return *found;
  }
  std::vector<double> numbers(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (value->is_number()) return {number(key, 0)};
    std::vector<double> all;
    if (!value->is_array() || value->size() > 4096) refuse(key, "must be a list of numbers");
    for (const Json& one : *value) {
      if (!one.is_number() || !std::isfinite(one.get<double>())) refuse(key, "must be a list of numbers");
      all.push_back(one.get<double>());
    }
    return all;
  }
  void require_known(const std::vector<std::string>& known,
                     const std::vector<std::string>& ignored = {}) const {
    for (const auto& [key, value] : object_.items()) {
      if (contains(known, key) || contains(ignored, key)) continue;
      const std::string guess = nearest(key, known);
      refuse(fmt::format("a contract has no key '{}'{}", key,
                         guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess)));
    }
  }
  const std::string& where() const { return where_; }

 private:
  const Json& object_;
  std::string where_;
};

// Reads {"height": 224, "width": 224}, {"shortest_edge": 256}, or, in older files, a single number: the
// shorter side if a center crop follows, else both sides.
void read_size(const Members& members, InputContract& contract) {
  const Json* size = members.find("size");
  if (size == nullptr) return;
  if (size->is_number()) {
    const std::int64_t length = members.whole("size", 0);
    const bool is_cropped = members.find("crop_size") != nullptr && members.flag("do_center_crop", true);
    if (is_cropped) contract.shortest_edge = length;
    if (!is_cropped) contract.height = contract.width = length;
    return;
  }
  const Members parts(*size, members.where() + ": size");
  parts.require_known({"height", "width", "shortest_edge"});
  contract.height = parts.whole("height", 0);
  contract.width = parts.whole("width", 0);
  contract.shortest_edge = parts.whole("shortest_edge", 0);
}

void read_crop(const Members& members, InputContract& contract) {
  const Json* size = members.find("crop_size");
  if (size == nullptr) return;
  if (size->is_number()) {
    contract.crop_height = contract.crop_width = members.whole("crop_size", 0);
    return;
  }
  const Members parts(*size, members.where() + ": crop_size");
  parts.require_known({"height", "width"});
  contract.crop_height = parts.whole("height", 0);
  contract.crop_width = parts.whole("width", 0);
}

std::string read_resample(const Members& members, const std::string& otherwise) {
  const Json* value = members.find("resample");
  if (value == nullptr || value->is_string()) return members.text("resample", otherwise);
  const auto number = static_cast<std::size_t>(members.whole("resample", 0));
  if (number >= kResamples.size()) members.refuse("resample", "is not a number of a Pillow filter");
  return kResamples[number];
}

InputContract::Observed read_observed(const Json& json, const std::string& where) {
  const Members members(json, where + ": observed");
  members.require_known({"samples", "minimum", "maximum", "mean", "std"});
  InputContract::Observed observed;
  observed.samples = static_cast<std::uint64_t>(members.whole("samples", 0));
  observed.minimum = members.number("minimum", 0);
  observed.maximum = members.number("maximum", 0);
  observed.mean = members.numbers("mean");
  observed.deviation = members.numbers("std");
  return observed;
}

InputContract read_input(const Json& json, const std::string& where) {
  const Members members(json, where);
  members.require_known(kKeys, kNamesOnly);
  InputContract contract;
  const bool speaks_of_images = members.find("image_mean") != nullptr || members.find("size") != nullptr ||
                                members.find("crop_size") != nullptr;
  const bool speaks_of_sound = members.find("sampling_rate") != nullptr;
  contract.kind = members.choice("kind", speaks_of_images  ? InputKind::kImage
                                         : speaks_of_sound ? InputKind::kAudio
                                                           : InputKind::kTensor);
  contract.color_order = members.choice("color_order", contract.color_order);
  if (members.flag("do_resize", true)) read_size(members, contract);
  contract.resample = read_resample(members, contract.resample);
  contract.backend = members.choice("resize_backend", contract.backend);
  if (members.flag("do_center_crop", true)) read_crop(members, contract);
  contract.crop_rule = members.choice("crop_rule", contract.crop_rule);
  contract.sampling_rate = members.whole("sampling_rate", 0);
  contract.length = members.whole("max_length", 0);
  contract.frame_length = members.whole("frame_length", 0);
  contract.hop_length = members.whole("hop_length", 0);
  contract.padding_value = members.number("padding_value", 0);
  // Hugging Face's image processors rescale by default. Old files do not mention it.
  const bool is_processor =
      contract.kind == InputKind::kImage &&
      (members.find("image_processor_type") != nullptr || members.find("feature_extractor_type") != nullptr);
  if (members.flag("do_rescale", is_processor || members.find("rescale_factor") != nullptr))
    contract.rescale_factor = members.number("rescale_factor", 1.0 / 255);
  if (contract.kind == InputKind::kAudio && members.flag("do_normalize", false)) {
    members.refuse("do_normalize",
                   "of sound (zero mean and unit variance of each recording) is not supported; normalize the "
                   "data yourself and give it as arrays");
  }
  if (members.flag("do_normalize", true)) {
    contract.mean = members.numbers(members.find("image_mean") != nullptr ? "image_mean" : "mean");
    contract.deviation = members.numbers(members.find("image_std") != nullptr ? "image_std" : "std");
  }
  contract.layout = members.choice("layout", contract.layout);
  if (const Json* observed = members.find("observed")) contract.observed = read_observed(*observed, where);
  return contract;
}

Golden read_golden(const Json& json, const std::string& where) {
  const Members members(json, where + ": golden");
  members.require_known({"sample", "input_digest", "output_digest", "outputs"});
  Golden golden;
  golden.sample = members.text("sample", "");
  golden.input_digest = members.text("input_digest", "");
  golden.output_digest = members.text("output_digest", "");
  if (const Json* outputs = members.find("outputs")) {
    const Members values(*outputs, members.where() + ": outputs");
    for (const auto& [name, list] : outputs->items()) golden.outputs[name] = values.numbers(name.c_str());
  }
  return golden;
}

}  // namespace

Contract read_contract(const Json& json, const std::string& where) {
  const Members members(json, where);
  Contract contract;
  const Json* inputs = members.find("inputs");
  if (inputs == nullptr) {
    contract.inputs[kOnlyInput] = read_input(json, where);
    return contract;
  }
  members.require_known({"version", "inputs", "golden"});
  const std::int64_t version = members.whole("version", Contract::kVersion);
  if (version > Contract::kVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("is a contract of version {}, but this program supports version {}; update ounce",
                            version, Contract::kVersion),
                where);
  }
  Members(*inputs, where + ": inputs").require_known({}, [&] {
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs->items()) names.push_back(name);
    return names;
  }());
  for (const auto& [name, input] : inputs->items())
    contract.inputs[name] = read_input(input, fmt::format("{}: input '{}'", where, name));
  if (const Json* golden = members.find("golden")) contract.golden = read_golden(*golden, where);
  return contract;
}

namespace {

void write_list(Json& json, const char* key, const std::vector<double>& values) {
  if (!values.empty()) json[key] = values;
}

Json input_json(const InputContract& contract) {
  Json json;
  json["kind"] = name_of(contract.kind);
  const bool is_image = contract.kind == InputKind::kImage;
  if (is_image) {
    json["color_order"] = name_of(contract.color_order);
    if (contract.shortest_edge > 0) json["size"] = {{"shortest_edge", contract.shortest_edge}};
    if (contract.height > 0) json["size"] = {{"height", contract.height}, {"width", contract.width}};
    if (json.contains("size")) {
      json["resample"] = contract.resample;
      json["resize_backend"] = name_of(contract.backend);
    }
    if (contract.crop_height > 0) {
      json["crop_size"] = {{"height", contract.crop_height}, {"width", contract.crop_width}};
      json["crop_rule"] = name_of(contract.crop_rule);
    }
  }
  if (contract.kind == InputKind::kAudio) {
    if (contract.sampling_rate > 0) json["sampling_rate"] = contract.sampling_rate;
    if (contract.length > 0) json["max_length"] = contract.length;
    if (contract.frame_length > 0) json["frame_length"] = contract.frame_length;
    if (contract.hop_length > 0) json["hop_length"] = contract.hop_length;
    if (contract.padding_value != 0) json["padding_value"] = contract.padding_value;
  }
  if (contract.rescale_factor) json["rescale_factor"] = *contract.rescale_factor;
  write_list(json, is_image ? "image_mean" : "mean", contract.mean);
  write_list(json, is_image ? "image_std" : "std", contract.deviation);
  if (is_image) json["layout"] = name_of(contract.layout);
  if (contract.observed) {
    Json& observed = json["observed"];
    observed["samples"] = contract.observed->samples;
    observed["minimum"] = contract.observed->minimum;
    observed["maximum"] = contract.observed->maximum;
    write_list(observed, "mean", contract.observed->mean);
    write_list(observed, "std", contract.observed->deviation);
  }
  return json;
}

}  // namespace

Contract parse_contract(std::string_view json, const std::string& where) {
  return read_contract(parse_json<Json>(json, {}, where), where);
}

std::string write_contract(const Contract& contract, int indent) {
  Json json;
  json["version"] = Contract::kVersion;
  json["inputs"] = Json::object();
  for (const auto& [name, input] : contract.inputs) json["inputs"][name] = input_json(input);
  if (contract.golden) {
    Json& golden = json["golden"];
    golden["sample"] = contract.golden->sample;
    golden["input_digest"] = contract.golden->input_digest;
    golden["output_digest"] = contract.golden->output_digest;
    golden["outputs"] = Json::object();
    for (const auto& [name, values] : contract.golden->outputs) golden["outputs"][name] = values;
  }
  return json_text(json, indent);
}

std::string digest_of_tensors(std::span<const TensorView> tensors) {
  std::string bytes;
  for (const TensorView& tensor : tensors) {
    bytes += describe(tensor.type, tensor.dims);
    bytes += tensor.bytes;
    if (tensor.strings == nullptr) continue;
    for (const std::string& text : *tensor.strings) bytes += text + '\0';
  }
  return hex(digest_of(bytes));
}

std::vector<double> golden_values(const TensorView& output) {
  if (output.type == ElementType::kString) return {};
  constexpr std::size_t kGoldenValues = 64;
  const std::vector<double> all = to_doubles(output, "output");
  std::vector<double> some;
  const std::size_t step = std::max<std::size_t>(1, all.size() / kGoldenValues);
  for (std::size_t i = 0; i < all.size() && some.size() < kGoldenValues; i += step) {
    if (std::isfinite(all[i])) some.push_back(static_cast<float>(all[i]));
  }
  return some;
}

double golden_sqnr_db(std::span<const double> recorded, std::span<const double> now) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (recorded.size() != now.size() || recorded.empty()) return -kInfinite;
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const double difference = recorded[i] - now[i];
    if (recorded[i] == now[i]) {
      signal += std::isfinite(now[i]) ? now[i] * now[i] : 0;
      continue;
    }
    if (!std::isfinite(difference)) return -kInfinite;
    signal += recorded[i] * recorded[i];
    noise += difference * difference;
  }
  if (noise == 0) return kInfinite;
  return signal == 0 ? -kInfinite : 10 * std::log10(signal / noise);
}

}  // namespace ounce::data
