#include "measure/digesting_feed.h"

namespace ounce::measure {
namespace {

void add_digest(Sha256& all, const Sha256::Digest& digest) {
  all.add({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

void add_digest_of(Sha256& all, std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  add_digest(all, digest.digest());
}

// Digests of digests: where one tensor ends and the next begins cannot be mistaken.
Sha256::Digest sha256_of_tensors(const std::vector<data::Tensor>& tensors) {
  Sha256 all;
  for (const data::Tensor& tensor : tensors) {
    add_digest_of(all, data::describe(tensor.type, tensor.dims));
    Sha256 strings;
    for (const std::string& text : tensor.strings) add_digest_of(strings, text);
    add_digest(all, strings.digest());
    add_digest_of(all, tensor.bytes);
  }
  return all.digest();
}

}  // namespace

void DigestingFeed::read(std::uint64_t index, data::Batch& batch) {
  feed_.read(index, batch);
  if (seen_.contains(index)) return;
  has_labels_ |= !batch.labels.empty();
  seen_.emplace(index, std::pair(sha256_of_tensors(batch.inputs), sha256_of_tensors(batch.labels)));
}

std::string DigestingFeed::inputs() const {
  Sha256 all;
  for (const auto& [index, digests] : seen_) add_digest(all, digests.first);
  return all.hex();
}

std::string DigestingFeed::labels() const {
  if (!has_labels_) return {};
  Sha256 all;
  for (const auto& [index, digests] : seen_) add_digest(all, digests.second);
  return all.hex();
}

}  // namespace ounce::measure
