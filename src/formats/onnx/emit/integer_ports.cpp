#include "formats/onnx/emit/integer_ports.h"

#include <nlohmann/json.hpp>
#include <map>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/view/onnx_file.h"

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
  onnx::set_metadata(model, onnx::kPortsKey, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace ounce::passes
