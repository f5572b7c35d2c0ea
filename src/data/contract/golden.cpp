#include "data/contract/golden.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/digest.h"
#include "data/convert.h"

namespace ounce::data {
namespace {

constexpr std::size_t kGoldenValues = 64;  // of an output

}  // namespace

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
