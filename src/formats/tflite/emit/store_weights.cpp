#include "formats/tflite/emit/store_weights.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/tflite/edit/parts.h"
#include "formats/tflite/plan/weight_codes.h"
#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::tflite {
namespace {

using plan::Encoding;

template <class T>
Bytes as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TensorType stored_type(const Decision& decision) {
  if (decision.encoding == Encoding::kLinear8) return TensorType::kInt8;
  if (decision.encoding == Encoding::kLinear4) return TensorType::kInt4;
  if (decision.encoding == Encoding::kFloat16) return TensorType::kFloat16;
  if (decision.encoding == Encoding::kInt32) return TensorType::kInt32;
  throw Error(ErrorCode::kInternal, "TFLite has no such weights", std::string(decision.weight.name));
}

class StoredValues final : public io::Production {
 public:
  StoredValues(std::shared_ptr<const TfliteFile> source, Decision decision)
      : source_(std::move(source)), decision_(std::move(decision)) {}

  std::uint64_t source_bytes() const override { return decision_.weight.bytes(); }
  std::uint64_t size() const { return (decision_.weight.values() * decision_.bits() + 7) / 8; }

  void run(std::span<const io::Place> parts, const ForEach& for_each) const override {
    const auto values = source_->read({decision_.weight.graph, decision_.tensor});
    const quant::FloatSource& floats = values->floats();
    const io::Place& place = parts.front();
    if (decision_.is_half()) {
      return quant::for_each_tile(floats, quant::kTile, for_each,
                                  [&](std::size_t, std::size_t first, std::size_t count) {
                                    write_halves(floats, place, first, count);
                                  });
    }
    encode_weight(decision_, floats, for_each, [&](std::size_t first, std::span<const std::uint8_t> codes) {
      if (!decision_.is_packed())
        return place.write(first, {reinterpret_cast<const char*>(codes.data()), codes.size()});
      std::vector<std::uint8_t> packed((codes.size() + 1) / 2);
      kernels::pack_pairs(codes.data(), codes.size(), packed.data());
      place.write(first / 2, as_bytes(packed));
    });
  }

 private:
  static void write_halves(const quant::FloatSource& floats, const io::Place& place, std::size_t first,
                           std::size_t count) {
    std::vector<float> scratch;
    std::vector<std::uint16_t> halves(count);
    kernels::HalfStats stats;
    kernels::f32_to_f16(floats.values(first, count, scratch), count, halves.data(), stats);
    place.write(first * sizeof(std::uint16_t), as_bytes(halves));
  }

  const std::shared_ptr<const TfliteFile> source_;
  const Decision decision_;
};

Quantization scales_of(const Decision& decision) {
  Quantization quantization;
  for (const kernels::Affine& group : decision.affine) quantization.scale.push_back(group.scale);
  quantization.zero_point.assign(quantization.scale.size(), 0);
  if (decision.granularity == GranularityKind::kChannel)
    quantization.dimension = static_cast<std::int32_t>(decision.weight.channels->first);
  return quantization;
}

// The operators of a subgraph, with new ones in front of and behind those that are there.
struct Additions {
  std::vector<Operator> first;                                 // in front of all
  std::map<std::size_t, std::vector<Operator>> before, after;  // by the operator that is there
};

void put(std::vector<Operator>& operators, const Additions& added) {
  std::vector<Operator> all = added.first;
  const auto append = [&](const auto& places, std::size_t op) {
    if (const auto found = places.find(op); found != places.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
  };
  for (std::size_t i = 0; i < operators.size(); ++i) {
    append(added.before, i);
    all.push_back(std::move(operators[i]));
    append(added.after, i);
  }
  operators = std::move(all);
}

class Storing {
 public:
  Storing(Model& model, const std::shared_ptr<const TfliteFile>& source, const Plan& plan)
      : model_(model), source_(source), plan_(plan), added_(model.subgraphs.size()) {}

  void run() {
    for (const Decision& decision : plan_.decisions) {
      if (decision.is_stored() && !decision.is_required) store(decision);  // integer_graph.h does the others
    }
    for (std::size_t g = 0; g < model_.subgraphs.size(); ++g) put(model_.subgraphs[g].operators, added_[g]);
    empty_unused_buffers(model_);
    set_versions(model_);
  }

 private:
  void store(const Decision& decision) {
    const std::size_t g = decision.weight.graph;
    const auto table = static_cast<std::int32_t>(decision.tensor);
    const Tensor before = model_.subgraphs[g].tensors[decision.tensor];
    Tensor& tensor = model_.subgraphs[g].tensors[decision.tensor];
    tensor.type = stored_type(decision);
    tensor.buffer = buffer_of(decision, before.buffer);
    tensor.quantization.reset();
    if (decision.is_linear()) tensor.quantization = scales_of(decision);
    std::int32_t floats = -1;
    for (std::size_t i = 0; i < decision.uses.size(); ++i) {
      const WeightUse& use = decision.uses[i];
      if (!decision.takes_codes[i] && floats < 0) floats = dequantized(decision, before);
      Operator& op = model_.subgraphs[g].operators[use.op];
      if (!decision.takes_codes[i]) op.inputs[use.input] = floats;
      if (decision.takes_codes[i] && Builtin{code_of(model_, op)} == Builtin::kGather)
        look_up(g, use.op, table);
    }
  }

  // Tensors with the same values in the same form share a buffer.
  std::uint32_t buffer_of(const Decision& decision, std::uint32_t source) {
    const quant::Layout& layout = decision.layout;
    const auto [place, is_new] = buffers_.try_emplace({source, decision.encoding, layout.panels, layout.outer,
                                                       layout.channels, layout.inner, decision.kernel},
                                                      0);
    if (!is_new) return place->second;
    auto values = std::make_shared<const StoredValues>(source_, decision);
    const std::uint64_t size = values->size();
    return place->second = add_buffer(model_, Data(io::Computed{std::move(values), 0, size}));
  }

  // The float tensor that a new DEQUANTIZE operator gives. It has no name: names would take more bytes than
  // they tell.
  std::int32_t dequantized(const Decision& decision, const Tensor& before) {
    Tensor floats;
    floats.shape = before.shape;
    floats.has_rank = before.has_rank;
    const std::int32_t output = add_tensor(model_.subgraphs[decision.weight.graph], std::move(floats));
    added_[decision.weight.graph].first.push_back(
        make(Builtin::kDequantize, {static_cast<std::int32_t>(decision.tensor)}, output));
    return output;
  }

  //   GATHER(table, indices)   →   EMBEDDING_LOOKUP(indices as a vector of 32 bits, table) ─ RESHAPE
  void look_up(std::size_t g, std::size_t place, std::int32_t table) {
    SubGraph& graph = model_.subgraphs[g];
    std::int32_t indices = graph.operators[place].inputs[1];
    const std::int32_t output = graph.operators[place].outputs[0];
    const Tensor given = graph.tensors[static_cast<std::size_t>(indices)];
    const auto count = static_cast<std::int32_t>(*element_count(given));
    const std::vector<std::int32_t> shape = graph.tensors[static_cast<std::size_t>(output)].shape;
    std::vector<Operator>& before = added_[g].before[place];
    if (given.type != TensorType::kInt32) {
      const std::int32_t narrow = add(g, given.shape, TensorType::kInt32);
      before.push_back(make(Builtin::kCast, {indices}, narrow));
      indices = narrow;
    }
    if (given.shape.size() != 1) {
      const std::int32_t flat = add(g, {count}, TensorType::kInt32);
      before.push_back(make(Builtin::kReshape, {indices, constant(g, {count})}, flat));
      indices = flat;
    }
    std::int32_t rows = output;
    if (shape.size() != 2) {
      rows = add(g, {count, shape.back()}, TensorType::kFloat32);
      added_[g].after[place].push_back(make(Builtin::kReshape, {rows, constant(g, shape)}, output));
    }
    model_.subgraphs[g].operators[place] = make(Builtin::kEmbeddingLookup, {indices, table}, rows);
  }

  Operator make(Builtin code, std::vector<std::int32_t> inputs, std::int32_t output) {
    Operator op;
    op.opcode_index = operator_code(model_, code);
    op.inputs = std::move(inputs);
    op.outputs = {output};
    return op;
  }

  std::int32_t add(std::size_t g, std::vector<std::int32_t> shape, TensorType type) {
    Tensor tensor;
    tensor.shape = std::move(shape);
    tensor.type = type;
    return add_tensor(model_.subgraphs[g], std::move(tensor));
  }

  std::int32_t constant(std::size_t g, const std::vector<std::int32_t>& values) {
    const std::int32_t tensor = add(g, {static_cast<std::int32_t>(values.size())}, TensorType::kInt32);
    model_.subgraphs[g].tensors.back().buffer = add_buffer(model_, Data(std::string(as_bytes(values))));
    return tensor;
  }

  Model& model_;
  const std::shared_ptr<const TfliteFile>& source_;
  const Plan& plan_;
  std::vector<Additions> added_;  // by subgraph
  std::map<
      std::tuple<std::uint32_t, Encoding, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>,
      std::uint32_t>
      buffers_;
};

// Values of a written tensor, as a runtime decodes them.
class WrittenValues {
 public:
  WrittenValues(const Decision& decision, const TfliteFile& written)
      : decision_(decision),
        tensor_(written.model().subgraphs.at(decision.weight.graph).tensors.at(decision.tensor)),
        bytes_(data_of(written.model(), tensor_).bytes()) {
    if (tensor_.type != stored_type(decision)) fail("has another type");
    const std::uint64_t size = (decision.weight.values() * decision.bits() + 7) / 8;
    if (bytes_.size() != size) fail("has another size");
    if (!decision.is_linear() && !is_bias()) return;
    if (!tensor_.quantization || tensor_.quantization->scale.size() != decision.layout.groups())
      fail("has other scales");
    for (std::size_t i = 0; i < tensor_.quantization->scale.size(); ++i)
      affine_.push_back(quant::make_affine(tensor_.quantization->scale[i],
                                           static_cast<float>(tensor_.quantization->zero_point[i])));
  }

  void decode(std::size_t first, std::size_t count, float* values) const {
    const auto* const codes = reinterpret_cast<const std::uint8_t*>(bytes_.data());
    if (decision_.is_half())
      return kernels::f16_to_f32(reinterpret_cast<const std::byte*>(codes) + first * sizeof(std::uint16_t),
                                 count, values);
    if (is_bias()) {
      for (std::size_t i = 0; i < count; ++i) {
        std::int32_t code = 0;
        std::memcpy(&code, codes + (first + i) * sizeof code, sizeof code);
        const kernels::Affine& affine = affine_[affine_.size() == 1 ? 0 : first + i];
        values[i] = static_cast<float>(code) * affine.scale;
      }
      return;
    }
    std::vector<std::uint8_t> unpacked;
    if (decision_.is_packed()) {
      unpacked.resize(count);
      kernels::unpack_pairs_signed(codes + first / 2, count, unpacked.data());
    }
    quant::decode_linear(decision_.is_packed() ? unpacked.data() : codes + first, decision_.layout,
                         decision_.format, affine_, first, count, values);
  }

 private:
  bool is_bias() const { return decision_.encoding == Encoding::kInt32; }
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::kInternal, fmt::format("the written weight {}", what),
                std::string(decision_.weight.name));
  }

  const Decision& decision_;
  const Tensor& tensor_;
  Bytes bytes_;
  std::vector<kernels::Affine> affine_;
};

}  // namespace

void store_weights(Model& model, const std::shared_ptr<const TfliteFile>& source, const Plan& plan) {
  Storing(model, source, plan).run();
}

kernels::ErrorNorms compare_weight(const TfliteFile& source, const Decision& decision,
                                   const TfliteFile& written, const ForEach& for_each) {
  const WrittenValues decoded(decision, written);
  const auto values = source.read({decision.weight.graph, decision.tensor});
  const quant::FloatSource& floats = values->floats();
  std::vector<kernels::ErrorNorms> tiles(quant::tile_count(floats, quant::kTile));
  quant::for_each_tile(floats, quant::kTile, for_each,
                       [&](std::size_t tile, std::size_t first, std::size_t count) {
                         std::vector<float> again(count), scratch;
                         decoded.decode(first, count, again.data());
                         const std::byte* meant = floats.values(first, count, scratch);
                         std::vector<float> shifted;
                         if (!decision.shift.empty()) {
                           shifted.resize(count);
                           std::memcpy(shifted.data(), meant, count * sizeof(float));
                           for (std::size_t i = 0; i < count; ++i) shifted[i] += decision.shift[first + i];
                           meant = reinterpret_cast<const std::byte*>(shifted.data());
                         }
                         quant::add_error(meant, again.data(), count, tiles[tile]);
                       });
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& tile : tiles) {
    total.signal += tile.signal;
    total.noise += tile.noise;
    if (!(tile.max_abs <= total.max_abs)) total.max_abs = tile.max_abs;
  }
  return total;
}

}  // namespace ounce::tflite
