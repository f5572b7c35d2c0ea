#include "formats/tflite/edit/float_values.h"

#include <ounce/error.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "io/rope.h"

namespace ounce::tflite {
namespace {

constexpr std::size_t kTile = 1 << 16;  // values that are converted at a time

class Widening final : public io::Production {
 public:
  Widening(Data values, quant::FloatType type) : values_(std::move(values)), type_(type) {}

  quant::FloatSource source(std::function<void(Bytes)> release = {}) const {
    return quant::FloatSource(values_.bytes(), type_, std::move(release));
  }

  std::uint64_t source_bytes() const override { return values_.size(); }
  void run(std::span<const io::Place> parts, const ForEach& for_each) const override {
    const quant::FloatSource floats = source();
    const std::size_t count = floats.size();
    for_each((count + kTile - 1) / kTile, [&](std::size_t tile) {
      std::vector<float> scratch;
      const std::size_t first = tile * kTile, length = std::min(kTile, count - first);
      const auto* values = reinterpret_cast<const char*>(floats.values(first, length, scratch));
      parts[0].write(first * sizeof(float), {values, length * sizeof(float)});
    });
  }

 private:
  Data values_;
  quant::FloatType type_;
};

}  // namespace

Data widened(Data values, ElementType type) {
  const quant::FloatType from = quant::float_type_of(type);
  if (from == quant::FloatType::kFloat32) return values;
  const std::uint64_t size = values.size() / quant::width_of(from) * sizeof(float);
  return io::Computed{std::make_shared<Widening>(std::move(values), from), 0, size};
}

quant::FloatSource floats_of(const Model& model, const Tensor& tensor) {
  const Data& data = data_of(model, tensor);
  const auto release = [&model](Bytes read) { model.release(read); };
  const io::Computed* computed = data.computed();
  if (computed == nullptr) return {data.bytes(), quant::float_type_of(element_type_of(tensor.type)), release};
  const auto* widening = dynamic_cast<const Widening*>(computed->by.get());
  if (widening == nullptr)
    throw Error(ErrorCode::kInternal, "the values of a tensor are not computed yet",
                std::string(tensor.name));
  return widening->source(release);
}

}  // namespace ounce::tflite
