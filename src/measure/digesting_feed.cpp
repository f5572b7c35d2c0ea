#include "measure/digesting_feed.h"

namespace ounce::measure {
namespace {

Digest digest_of_tensors(const std::vector<data::Tensor>& tensors) {
  std::vector<Digest> parts;
  for (const data::Tensor& tensor : tensors) {
    std::string head = data::describe(tensor.type, tensor.dims);
    for (const std::string& text : tensor.strings) head += hex(digest_of(text));
    parts.push_back(digest_of(head));
    parts.push_back(digest_of(tensor.bytes));
  }
  return digest_of(parts);
}

}  // namespace

void DigestingFeed::read(std::uint64_t index, data::Batch& batch) {
  feed_.read(index, batch);
  if (seen_.contains(index)) return;
  has_labels_ |= !batch.labels.empty();
  seen_.emplace(index, std::pair(digest_of_tensors(batch.inputs), digest_of_tensors(batch.labels)));
}

std::string DigestingFeed::inputs() const {
  std::vector<Digest> parts;
  for (const auto& [index, digests] : seen_) parts.push_back(digests.first);
  return hex(digest_of(parts));
}

std::string DigestingFeed::labels() const {
  if (!has_labels_) return {};
  std::vector<Digest> parts;
  for (const auto& [index, digests] : seen_) parts.push_back(digests.second);
  return hex(digest_of(parts));
}

}  // namespace ounce::measure
