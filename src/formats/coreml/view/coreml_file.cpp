#include "formats/coreml/view/coreml_file.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

#include "base/digest.h"
#include "formats/coreml/file/network.h"
#include "formats/coreml/file/reader.h"
#include "formats/coreml/file/values.h"
#include "formats/coreml/file/writer.h"

namespace ounce::coreml {
namespace {

using model::kNone;
using model::ValueId;

constexpr std::string_view kToolsVersion = "com.github.apple.coremltools.version";

std::uint64_t number_of(const std::string& text) {
  const Digest digest = digest_of(text);
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

std::string text_of(const Feature::Dimension& size) {
  if (size.lower == size.upper) return std::to_string(size.lower);
  return size.upper < 0 ? fmt::format("{}..", size.lower) : fmt::format("{}..{}", size.lower, size.upper);
}

const char* kind_name(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::kInt64: return "int64";
    case Feature::Kind::kDouble: return "double";
    case Feature::Kind::kString: return "string";
    case Feature::Kind::kDictionary: return "dictionary";
    case Feature::Kind::kSequence: return "sequence";
    default: return "unknown";
  }
}

model::Port port_of(const Feature& feature) {
  model::Port port;
  port.name = feature.name;
  port.type = feature.type;
  std::string sizes;
  for (const Feature::Dimension& size : feature.dims) {
    const bool is_fixed = size.lower == size.upper;
    port.shape.push_back({is_fixed ? size.lower : -1, is_fixed ? std::string() : text_of(size)});
    sizes += (sizes.empty() ? "" : ",") + text_of(size);
  }
  if (feature.kind == Feature::Kind::kArray) {
    port.text = fmt::format("{}[{}]", name_of(feature.type), sizes);
  } else if (feature.kind == Feature::Kind::kImage) {
    port.text = fmt::format("image {}[{}]", feature.color, sizes);
  } else {
    port.text = kind_name(feature.kind);
  }
  return port;
}

class Values final : public model::ConstantValues {
 public:
  Values(const Model& model, const Value& value)
      : raw_(value),
        floats_(raw_.bytes(), quant::float_type_of(info_of(value.type.type).element),
                [&model](Bytes read) { model.release(read); }) {
    if (value.type.type != DataType::kString) return;
    for (const Bytes text : strings_of(value)) texts_ += fmt::format("{}:{}", text.size(), text);
  }
  std::string_view bytes() const override { return texts_.empty() ? raw_.bytes() : Bytes(texts_); }
  const quant::FloatSource& floats() const override { return floats_; }

 private:
  RawValues raw_;
  std::string texts_;
  quant::FloatSource floats_;
};

// True for a tensor with values of known size.
bool is_constant(const Value& value) {
  return value.type.is_tensor() && value.type.type != DataType::kUnused && value.type.element_count() &&
         (value.blob || value.immediate.data() != nullptr);
}

}  // namespace

// Converts blocks to graphs.
class CoremlFile::GraphBuilder {
 public:
  explicit GraphBuilder(const CoremlFile& file) : file_(file) {}

  void add(const NamedFunction& function, bool is_main) {
    const Block* block = active_block(*function.function);
    const std::size_t index = begin(is_main ? std::string() : fmt::format("function {}", function.name));
    file_.graphs_[index].is_function = !is_main;
    if (block == nullptr) return;
    for (const auto& input : function.function->inputs) {
      const ValueId value = define(index, input->name);
      const auto port = std::find_if(file_.inputs().begin(), file_.inputs().end(),
                                     [&](const model::Port& each) { return each.name == input->name; });
      if (is_main && port != file_.inputs().end())
        file_.graphs_[index].values[value.value].input =
            static_cast<std::size_t>(port - file_.inputs().begin());
    }
    fill(index, *block);
    names_.clear();
  }

 private:
  std::size_t begin(std::string path) {
    model::GraphView& graph = file_.graphs_.emplace_back();
    graph.path = std::move(path);
    file_.operations_.emplace_back();
    return file_.graphs_.size() - 1;
  }

  ValueId define(std::size_t graph, Bytes name) {
    const ValueId id = add_value(graph, name);
    names_[name].push_back(id);
    return id;
  }
  ValueId add_value(std::size_t graph, std::string_view name) {
    auto& values = file_.graphs_[graph].values;
    values.emplace_back().name = name;
    return {graph, values.size() - 1};
  }
  ValueId add_constant(std::size_t graph, std::string_view name, const Value& value) {
    const ValueId id = add_value(graph, name);
    if (!is_constant(value)) return id;
    const RawValues raw(value);
    file_.graphs_[graph].values[id.value].constant =
        model::ConstantView{info_of(value.type.type).element, value.type.dims, raw.bytes().size()};
    file_.constants_[id] = &value;
    return id;
  }
  ValueId find(Bytes name) const {
    const auto found = names_.find(name);
    return found == names_.end() || found->second.empty() ? ValueId{} : found->second.back();
  }

  void fill(std::size_t index, const Block& block) {
    std::vector<Bytes> defined;
    for (const auto& input : block.inputs) {
      define(index, input->name);
      defined.push_back(input->name);
    }
    for (const auto& operation : block.operations) {
      for (const auto& output : operation->outputs) defined.push_back(output->name);
      const Value* const value = operation->attribute("val");
      if (operation->type == "const" && operation->outputs.size() == 1 && value != nullptr) {
        const Bytes name = operation->outputs[0]->name;
        const ValueId id = add_constant(index, name, *value);
        names_[name].push_back(id);
        file_.constant_operations_[id] = &*operation;
      } else {
        add_node(index, *operation);
      }
    }
    for (const Bytes output : block.outputs) file_.graphs_[index].outputs.push_back(find(output));
    for (const Bytes name : defined) names_[name].pop_back();
  }

  void add_node(std::size_t index, const Operation& operation) {
    const model::NodeId id{index, file_.graphs_[index].nodes.size()};
    file_.graphs_[index].nodes.emplace_back();
    file_.operations_[index].push_back(&operation);
    std::vector<std::pair<Bytes, ValueId>> inputs;  // parameter and value
    for (const auto& input : operation.inputs) {
      for (const auto& binding : input->argument->bindings)
        inputs.emplace_back(input->name, binding->value.empty()
                                             ? find(binding->name)
                                             : add_constant(index, input->name, *binding->value[0]));
    }
    for (const auto& attribute : operation.attributes) {
      if (attribute->name != "name" && is_constant(*attribute->value))
        inputs.emplace_back(attribute->name, add_constant(index, attribute->name, *attribute->value));
    }
    std::stable_sort(inputs.begin(), inputs.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t number = 0;
    for (const auto& block : operation.blocks) {
      const std::string& path = file_.graphs_[index].path;
      const std::size_t body =
          begin(fmt::format("{}{}{}/{}", path, path.empty() ? "" : "/", describe(operation), number++));
      file_.graphs_[body].is_body = true;
      fill(body, *block);
    }
    std::vector<ValueId> outputs;
    for (const auto& output : operation.outputs) {
      outputs.push_back(define(index, output->name));
      file_.graphs_[index].values[outputs.back().value].producer = id.node;
    }
    for (const auto& [parameter, value] : inputs) {
      if (value.is_absent()) continue;
      auto& users = file_.graphs_[value.graph].values[value.value].users;
      if (users.empty() || users.back() != id) users.push_back(id);
    }
    model::NodeView& node = file_.graphs_[index].nodes[id.node];
    node.op = operation.type;
    if (!operation.outputs.empty()) node.name = operation.outputs[0]->name;
    for (const auto& [parameter, value] : inputs) node.inputs.push_back(value);
    node.outputs = std::move(outputs);
  }

  const CoremlFile& file_;
  std::map<Bytes, std::vector<ValueId>> names_;  // innermost scope last
};

std::uint64_t CoremlFile::bytes() const {
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : files()) {
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(file, ignored);
    bytes += ignored ? 0 : size;
  }
  return bytes;
}

std::vector<std::filesystem::path> CoremlFile::files() const {
  if (!model_.is_package) return {model_.path};
  std::vector<std::filesystem::path> files = {model_.file.path()};
  for (const auto& [name, weights] : model_.weights) files.push_back(weights.file.path());
  const std::filesystem::path package = package_folder();
  for (const std::filesystem::path& other : model_.others) files.push_back(package / other);
  return files;
}

// The actual folder of the package, which differs from path() until the package is committed.
std::filesystem::path CoremlFile::package_folder() const {
  std::filesystem::path folder = model_.file.path();
  for (const auto& part : model_.location) {
    static_cast<void>(part);
    folder = folder.parent_path();
  }
  return folder;
}

std::map<std::string, std::uint64_t> CoremlFile::external() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& [name, weights] : model_.weights)
    bytes[model_.weight_location(name).string()] = weights.bytes.size();
  return bytes;
}

std::vector<std::pair<std::string, std::int64_t>> CoremlFile::opsets() const {
  std::set<std::pair<std::string, std::int64_t>> opsets;
  if (model_.is_program()) {
    for (const auto& function : model_.program().functions) {
      const Bytes opset = function->function->opset;
      const std::size_t digits = opset.find_last_not_of("0123456789") + 1;
      std::int64_t version = 0;
      std::from_chars(opset.data() + digits, opset.data() + opset.size(), version);
      opsets.emplace(opset.substr(0, digits), version);
    }
  }
  return {opsets.begin(), opsets.end()};
}

std::string CoremlFile::producer() const {
  for (const auto& [key, value] : description_.user_defined) {
    if (key == kToolsVersion) return "coremltools " + value;
  }
  return description_.author;
}

std::vector<std::pair<std::string, std::string>> CoremlFile::metadata() const {
  std::vector<std::pair<std::string, std::string>> metadata;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) metadata.emplace_back(key, value);
  };
  add("shortDescription", description_.short_description);
  add("versionString", description_.version);
  add("author", description_.author);
  add("license", description_.license);
  for (const auto& [key, value] : description_.user_defined) metadata.emplace_back(key, value);
  for (const Feature& state : description_.states)
    metadata.emplace_back(fmt::format("state {}", state.name), port_of(state).text);
  return metadata;
}

void CoremlFile::describe_ports() const {
  const std::vector<Feature>*inputs = &description_.inputs, *outputs = &description_.outputs;
  for (const FunctionDescription& function : description_.functions) {
    if (function.name != description_.default_function) continue;
    inputs = &function.inputs;
    outputs = &function.outputs;
  }
  for (const Feature& feature : *inputs) inputs_.push_back(port_of(feature));
  for (const Feature& feature : *outputs) outputs_.push_back(port_of(feature));
}

std::span<const model::Port> CoremlFile::inputs() const {
  std::call_once(has_ports_, [this] { describe_ports(); });
  return inputs_;
}

std::span<const model::Port> CoremlFile::outputs() const {
  std::call_once(has_ports_, [this] { describe_ports(); });
  return outputs_;
}

// Finds inputs that are indices into tables, directly or through operations that keep their values.
std::map<std::string, std::int64_t> CoremlFile::table_rows() const {
  std::map<std::string, std::int64_t> rows;
  if (graphs().empty()) return rows;
  const model::GraphView& graph = graphs()[0];
  std::map<std::string_view, const model::ValueView*> values;
  for (const model::ValueView& value : graph.values) values[value.name] = &value;
  const auto find = [&](Bytes name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second;
  };
  const auto input_of = [&](Bytes name) {
    constexpr int kMostSteps = 16;
    for (int step = 0; step < kMostSteps; ++step) {
      const model::ValueView* const value = find(name);
      if (value == nullptr) return kNone;
      if (value->producer == kNone) return value->input;
      const Operation& operation = *operations_[0][value->producer];
      const bool keeps_values = operation.type == "cast" || operation.type == "reshape" ||
                                operation.type == "squeeze" || operation.type == "expand_dims";
      const auto source = bound_name(operation, "x");
      if (!keeps_values || !source) return kNone;
      name = *source;
    }
    return kNone;
  };
  for (const Operation* const node : operations_[0]) {
    const Operation& operation = *node;
    if (operation.type != "gather") continue;
    const auto table = bound_name(operation, "x"), indices = bound_name(operation, "indices");
    if (!table || !indices) continue;
    const std::size_t input = input_of(*indices);
    const model::ValueView* const found = find(*table);
    if (input == kNone || found == nullptr || !found->constant || found->constant->dims.empty()) continue;
    const std::int64_t size = found->constant->dims[0];
    const auto [entry, is_new] = rows.try_emplace(inputs()[input].name, size);
    if (!is_new) entry->second = std::min(entry->second, size);
  }
  return rows;
}

void CoremlFile::describe_graphs() const {
  const NamedFunction* const main = main_function(model_);
  if (main == nullptr) {
    describe_network();
    return;
  }
  GraphBuilder builder(*this);
  builder.add(*main, true);
  for (const auto& function : model_.program().functions) {
    if (&*function != main) builder.add(*function, false);
  }
}

// Creates a single graph with the layers of a neural network; for other models, with inputs and outputs only.
void CoremlFile::describe_network() const {
  model::GraphView& graph = graphs_.emplace_back();
  operations_.emplace_back();
  std::map<std::string_view, std::size_t> names;
  const auto value_of = [&](std::string_view name) {
    const auto [place, is_new] = names.try_emplace(name, graph.values.size());
    if (is_new) graph.values.emplace_back().name = name;
    return ValueId{0, place->second};
  };
  for (std::size_t i = 0; i < inputs().size(); ++i)
    graph.values[value_of(texts_.emplace_back(inputs()[i].name)).value].input = i;
  layers_ = read_layers(model_);
  for (const Layer& layer : layers_) {
    const model::NodeId id{0, graph.nodes.size()};
    model::NodeView node;
    node.op = texts_.emplace_back(layer.kind);
    node.name = layer.name;
    const auto use = [&](ValueId value) {
      node.inputs.push_back(value);
      auto& users = graph.values[value.value].users;
      if (users.empty() || users.back() != id) users.push_back(id);
    };
    for (const Bytes name : layer.inputs) use(value_of(name));
    for (const LayerWeight& weight : layer.weights) {
      const ValueId value = value_of(texts_.emplace_back(fmt::format("{}.{}", layer.name, weight.name)));
      graph.values[value.value].constant = model::ConstantView{weight.type, weight.dims, weight.bytes.size()};
      layer_weights_[value] = &weight;
      use(value);
    }
    for (const Bytes name : layer.outputs) {
      const ValueId value = value_of(name);
      graph.values[value.value].producer = id.node;
      node.outputs.push_back(value);
    }
    graph.nodes.push_back(std::move(node));
  }
  for (const model::Port& output : outputs()) {
    const auto found = names.find(output.name);
    if (found != names.end()) graph.outputs.push_back({0, found->second});
  }
}

std::span<const model::GraphView> CoremlFile::graphs() const {
  std::call_once(has_graphs_, [this] { describe_graphs(); });
  return graphs_;
}

const Operation* CoremlFile::constant_operation(ValueId constant) const {
  const auto found = constant_operations_.find(constant);
  return found == constant_operations_.end() ? nullptr : found->second;
}

const Value* CoremlFile::constant_named(model::NodeId id, Bytes name) const {
  for (const ValueId input : node(id).inputs) {
    if (input.is_absent() || value(input).name != name) continue;
    const auto found = constants_.find(input);
    if (found != constants_.end()) return found->second;
  }
  return nullptr;
}

// Includes all immediate values of an operation with their types and shapes.
std::map<std::string, std::uint64_t> CoremlFile::attributes(model::NodeId id) const {
  std::map<std::string, std::uint64_t> digests;
  if (id.node >= operations_[id.graph].size()) return digests;  // a layer
  const Operation& operation = *operations_[id.graph][id.node];
  const auto add = [&](Bytes name, const Value& value) {
    if (!value.type.is_tensor() || value.blob) return;
    const auto count = value.type.element_count();
    constexpr std::uint64_t kMostValues = 64;  // larger tensors count as weights
    if (!count || *count > kMostValues) return;
    digests[std::string(name)] = number_of(std::string(value.immediate));
  };
  for (const auto& attribute : operation.attributes) {
    if (attribute->name != "name") add(attribute->name, *attribute->value);
  }
  for (const auto& input : operation.inputs) {
    for (const auto& binding : input->argument->bindings) {
      if (!binding->value.empty()) add(input->name, *binding->value[0]);
    }
  }
  return digests;
}

namespace {

class LayerValues final : public model::ConstantValues {
 public:
  explicit LayerValues(const LayerWeight& weight)
      : weight_(weight), floats_(weight.bytes, quant::float_type_of(weight.type)) {}
  std::string_view bytes() const override { return weight_.bytes; }
  const quant::FloatSource& floats() const override { return floats_; }

 private:
  const LayerWeight& weight_;
  quant::FloatSource floats_;
};

}  // namespace

std::unique_ptr<const model::ConstantValues> CoremlFile::read(ValueId constant) const {
  if (!value(constant).constant)
    throw Error(ErrorCode::kInternal, "is not a constant", std::string(value(constant).name));
  const auto weight = layer_weights_.find(constant);
  if (weight != layer_weights_.end()) return std::make_unique<const LayerValues>(*weight->second);
  return std::make_unique<const Values>(model_, *constants_.at(constant));
}

const CoremlFile& as_coreml(const model::ModelFile& file) {
  const auto* const coreml = dynamic_cast<const CoremlFile*>(&file);
  if (coreml == nullptr) throw Error(ErrorCode::kInternal, "is not a Core ML model", file.path().string());
  return *coreml;
}

std::unique_ptr<const CoremlFile> open_file(const std::filesystem::path& path) {
  return std::make_unique<const CoremlFile>(read_model(path));
}

void write_with_metadata(const CoremlFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output_path) {
  Model model = file.model();
  set_metadata(model, key, value);
  ThreadPool pool;
  ModelOutput output(model, {}, output_path);
  output.write(pool, nullptr);
  const Model written = output.reopen();
  if (describe_model(written).user_defined != describe_model(model).user_defined)
    throw Error(ErrorCode::kInternal, "the written file differs from the model", output_path.string());
  coreml::validate(written);
  output.commit();
}

}  // namespace ounce::coreml
