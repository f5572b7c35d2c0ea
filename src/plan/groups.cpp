#include "plan/groups.h"

namespace ounce::plan {
namespace {

std::uint64_t product(const std::vector<std::int64_t>& dims, std::size_t first, std::size_t last) {
  std::uint64_t result = 1;
  for (std::size_t i = first; i < last; ++i) result *= static_cast<std::uint64_t>(dims[i]);
  return result;
}

}  // namespace

void group_by_tensor(Decision& decision) {
  const auto size = static_cast<std::size_t>(decision.weight.tensor->element_count());
  decision.granularity = GranularityKind::kTensor;
  decision.layout = {1, 1, 1, size};
  decision.view = decision.weight.tensor->dims;
  decision.scale_dims = {};
}

void group_by_channel(Decision& decision, ChannelAxes axes) {
  const auto& dims = decision.weight.tensor->dims;
  decision.granularity = GranularityKind::kChannel;
  decision.layout = {1, product(dims, 0, axes.first), product(dims, axes.first, axes.last),
                     product(dims, axes.last, dims.size())};
  decision.view = dims;
  decision.scale_dims.assign(dims.size(), 1);
  for (std::size_t i = axes.first; i < axes.last; ++i) decision.scale_dims[i] = dims[i];
}

bool group_by_block(Decision& decision, ChannelAxes axes, std::size_t block) {
  const auto& dims = decision.weight.tensor->dims;
  const std::uint64_t before = product(dims, 0, axes.first), channels = product(dims, axes.first, axes.last),
                      after = product(dims, axes.last, dims.size());
  const auto signed_block = static_cast<std::int64_t>(block);
  if (before == 1 && after % block == 0) {
    const std::uint64_t blocks = channels * after / block;
    decision.layout = {1, 1, blocks, block};
    decision.view = {static_cast<std::int64_t>(blocks), signed_block};
    decision.scale_dims = {static_cast<std::int64_t>(blocks), 1};
  } else if (after == 1 && before % block == 0) {
    decision.layout = {before / block, block, channels, 1};
    decision.view = {static_cast<std::int64_t>(before / block), signed_block,
                     static_cast<std::int64_t>(channels)};
    decision.scale_dims = {static_cast<std::int64_t>(before / block), 1, static_cast<std::int64_t>(channels)};
  } else {
    return false;
  }
  decision.granularity = GranularityKind::kBlock;
  decision.block = block;
  return true;
}

}  // namespace ounce::plan
