#include "formats/onnx/emit/integer_ports.h"

#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/json_text.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/types.h"

namespace ounce::passes {
namespace {

using Json = nlohmann::ordered_json;

void declare(onnx::Model& model, std::vector<onnx::Kept<onnx::ValueInfo>>& values,
             const std::map<onnx::Bytes, ElementType>& types) {
  for (auto& value : values) {
    const auto found = types.find(value->name);
    if (found != types.end()) value.edit().type = onnx::with_element(model, value->type, found->second);
  }
}

std::vector<float> numbers(const Json& json) {
  std::vector<float> values;
  if (!json.is_array() || json.empty() || json.size() > 65536) return {};
  for (const Json& value : json) {
    if (!value.is_number()) return {};
    values.push_back(value.get<float>());
  }
  return values;
}

void read_side(const Json& json, bool is_input, std::vector<Port>& ports) {
  const auto refuse = [] {
    throw Error(ErrorCode::kBadInput, "says nothing that makes sense",
                std::string("metadata '") + kPortsKey + "'");
  };
  if (!json.is_object()) refuse();
  for (const auto& [name, entry] : json.items()) {
    if (!entry.is_object() || !entry.contains("scale") || !entry.contains("zero_point") ||
        !entry.contains("type"))
      refuse();
    Port port{name, is_input, ElementType::kUint8, numbers(entry["scale"]), numbers(entry["zero_point"])};
    const std::string type = entry["type"].is_string() ? entry["type"].get<std::string>() : "";
    using enum ElementType;
    for (const auto known : {kUint8, kInt8, kUint16, kInt16, kFloat16, kBfloat16}) {
      if (type == name_of(known)) port.type = known;
    }
    const bool can_divide = std::all_of(port.scales.begin(), port.scales.end(), [](float scale) {
      return std::isfinite(scale) && std::abs(scale) >= std::numeric_limits<float>::min();
    });
    if (!can_divide || type != name_of(port.type) || port.scales.empty() ||
        port.scales.size() != port.zeros.size())
      refuse();
    ports.push_back(std::move(port));
  }
}

}  // namespace

void declare_ports(onnx::Model& model, const std::vector<plan::IntegerPort>& ports) {
  if (ports.empty()) return;
  std::map<onnx::Bytes, ElementType> types;
  Json json = {{"inputs", Json::object()}, {"outputs", Json::object()}};
  for (const plan::IntegerPort& port : ports) {
    types.emplace(port.value.second, port.type);
    json[port.is_input ? "inputs" : "outputs"][std::string(port.value.second)] = {
        {"type", name_of(port.type)},
        {"scale", port.scales},
        {"zero_point", port.zeros},
        {"raw", port.is_raw}};
  }
  onnx::Graph& graph = model.proto.edit().graph.edit();
  declare(model, graph.inputs, types);
  declare(model, graph.outputs, types);
  set_metadata(model, kPortsKey, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::vector<Port> ports_of(const onnx::Model& model) {
  std::vector<Port> ports;
  for (const auto& entry : model.proto->metadata) {
    if (entry->key != kPortsKey) continue;
    const Json json = parse_json_or_nothing<Json>(entry->value);
    const bool is_whole = json.is_object() && json.contains("inputs") && json.contains("outputs");
    read_side(is_whole ? json["inputs"] : Json(), true, ports);
    read_side(is_whole ? json["outputs"] : Json(), false, ports);
  }
  return ports;
}

}  // namespace ounce::passes
