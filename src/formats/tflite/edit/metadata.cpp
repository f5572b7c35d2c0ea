#include "formats/tflite/edit/metadata.h"

#include <algorithm>
#include <utility>

namespace ounce::tflite {
namespace {

auto find_entry(Model& model, std::string_view name) {
  return std::find_if(model.metadata.begin(), model.metadata.end(),
                      [&](const Metadata& entry) { return entry.name == name; });
}

// Tensors and other entries may use the buffer, too.
bool is_shared(const Model& model, std::uint32_t buffer) {
  const auto uses_it = [&](const auto& user) { return user.buffer == buffer; };
  return std::count_if(model.metadata.begin(), model.metadata.end(), uses_it) > 1 ||
         std::any_of(model.subgraphs.begin(), model.subgraphs.end(), [&](const SubGraph& graph) {
           return std::any_of(graph.tensors.begin(), graph.tensors.end(), uses_it);
         });
}

}  // namespace

void set_metadata(Model& model, std::string_view name, std::string value) {
  auto entry = find_entry(model, name);
  if (entry == model.metadata.end()) {
    Metadata added;
    added.name = model.intern(std::string(name));
    entry = model.metadata.insert(entry, added);
  } else if (entry->buffer != 0 && !is_shared(model, entry->buffer)) {
    model.buffers[entry->buffer].data = Data(std::move(value));
    return;
  }
  if (model.buffers.empty()) model.buffers.emplace_back();  // the first one is empty
  entry->buffer = static_cast<std::uint32_t>(model.buffers.size());
  model.buffers.emplace_back().data = Data(std::move(value));
}

void remove_metadata(Model& model, std::string_view name) {
  const auto entry = find_entry(model, name);
  if (entry == model.metadata.end()) return;
  if (entry->buffer != 0 && !is_shared(model, entry->buffer)) model.buffers[entry->buffer].data = Data();
  model.metadata.erase(entry);
}

Model without_metadata(Model model) {
  std::vector<Buffer> used(1);
  std::vector<std::uint32_t> places(model.buffers.size());
  for (SubGraph& graph : model.subgraphs) {
    for (Tensor& tensor : graph.tensors) {
      if (tensor.buffer == 0) continue;
      std::uint32_t& place = places[tensor.buffer];
      if (place == 0) {
        place = static_cast<std::uint32_t>(used.size());
        used.push_back(std::move(model.buffers[tensor.buffer]));
      }
      tensor.buffer = place;
    }
  }
  model.buffers = std::move(used);
  model.metadata.clear();
  model.metadata_buffer.clear();
  return model;
}

}  // namespace ounce::tflite
