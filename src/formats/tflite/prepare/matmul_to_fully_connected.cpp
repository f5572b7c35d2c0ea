#include "formats/tflite/prepare/matmul_to_fully_connected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "formats/tflite/edit/float_values.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/prepare/work_limit.h"

namespace ounce::tflite {
namespace {

constexpr std::int32_t kKeepsDimensions = 5;  // the first version of FULLY_CONNECTED with keep_num_dims

// In blocks, which fit into a cache.
std::string transposed(const quant::FloatSource& source, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kBlock = 32;
  std::vector<float> scratch;
  const auto* from = reinterpret_cast<const char*>(source.values(0, rows * columns, scratch));
  std::string to(rows * columns * sizeof(float), '\0');
  for (std::size_t top = 0; top < rows; top += kBlock) {
    throw_if_cancelled();
    for (std::size_t left = 0; left < columns; left += kBlock) {
      for (std::size_t row = top; row < std::min(rows, top + kBlock); ++row) {
        for (std::size_t column = left; column < std::min(columns, left + kBlock); ++column)
          std::memcpy(to.data() + (column * rows + row) * sizeof(float),
                      from + (row * columns + column) * sizeof(float), sizeof(float));
      }
    }
  }
  source.release();
  return to;
}

class MatrixProducts {
 public:
  MatrixProducts(Model& model, std::size_t graph, WorkLimit& limit, Changes& changes)
      : model_(model), editor_(model, graph), limit_(limit), changes_(changes) {}

  void run() {
    const std::size_t count = editor_.size();
    for (std::size_t op = 0; op < count; ++op) {
      count_step();
      if (editor_.code(op) == Builtin::kBatchMatmul && rewrite(op)) ++changes_.count;
    }
    editor_.finish();
  }

 private:
  bool rewrite(std::size_t op) {
    const std::int32_t x = editor_.input(op, 0), w = editor_.input(op, 1), y = editor_.output(op);
    const Record* options = editor_.options(op, "BatchMatMulOptions");
    if (x < 0 || w < 0 || y < 0 || editor_.op(op).inputs.size() != 2 || editor_.op(op).outputs.size() != 1 ||
        !editor_.is_constant(w) || (options != nullptr && options->integer("adj_x") != 0))
      return false;
    const bool is_transposed = options != nullptr && options->integer("adj_y") != 0;
    const auto& sizes = editor_.tensor(w).shape;
    const std::size_t rank = sizes.size(), width = editor_.tensor(x).shape.size();
    if (rank < 2 || width < rank ||
        !std::all_of(sizes.begin(), sizes.end() - 2, [](std::int32_t size) { return size == 1; }))
      return false;
    const std::int32_t inner = sizes[rank - (is_transposed ? 1 : 2)],
                       outer = sizes[rank - (is_transposed ? 2 : 1)];
    for (const std::int32_t tensor : {x, w, y}) {
      if (editor_.tensor(tensor).type != TensorType::kFloat32) return false;
    }
    if (editor_.tensor(x).shape.back() != inner || is_dynamic(editor_.tensor(x), width - 1) ||
        editor_.tensor(y).shape.size() != width || editor_.tensor(y).shape.back() != outer)
      return false;
    const auto weight = matrix_of(w, outer, inner, is_transposed);
    if (!weight) {
      changes_.leave(WorkLimit::kReason, editor_.label(op));
      return false;
    }
    editor_.set_input(op, 1, *weight);
    editor_.add_input(op, -1);
    editor_.set_code(op, Builtin::kFullyConnected, kKeepsDimensions);
    editor_.set_options(op, "FullyConnectedOptions").set("keep_num_dims", std::int64_t{1});
    return true;
  }

  // The weight [outer, inner]: made once for all that use it.
  std::optional<std::int32_t> matrix_of(std::int32_t w, std::int32_t outer, std::int32_t inner,
                                        bool is_transposed) {
    if (is_transposed && editor_.tensor(w).shape.size() == 2) return w;
    const auto [found, is_new] = made_.try_emplace({w, is_transposed}, -1);
    if (!is_new) return found->second;
    Data values = data_of(model_, editor_.tensor(w));
    if (!is_transposed) {
      const quant::FloatSource source = floats_of(model_, editor_.tensor(w));
      if (!limit_.take(source.size() * sizeof(float))) {
        made_.erase(found);
        return std::nullopt;
      }
      values = Data(transposed(source, static_cast<std::size_t>(inner), static_cast<std::size_t>(outer)));
    }
    found->second = editor_.add_constant(fmt::format("{}_transposed", editor_.tensor(w).name), {outer, inner},
                                         TensorType::kFloat32, std::move(values));
    return found->second;
  }

  Model& model_;
  GraphEditor editor_;
  WorkLimit& limit_;
  Changes& changes_;
  std::map<std::pair<std::int32_t, bool>, std::int32_t> made_;
};

}  // namespace

Changes matmul_to_fully_connected(Model& model) {
  Changes changes;
  WorkLimit limit(model);
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph)
    MatrixProducts(model, graph, limit, changes).run();
  return changes;
}

}  // namespace ounce::tflite
