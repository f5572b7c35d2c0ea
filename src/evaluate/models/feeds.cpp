#include "evaluate/models/feeds.h"

#include <utility>

#include "base/cancel.h"

namespace ounce::evaluate {

Prefetch::Prefetch(data::Feed& feed)
    : feed_(feed), reader_([this, current = CurrentScope()] {
        const CurrentScope::Scope scope(current);
        read_all();
      }) {}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

// `ahead_` is the reader's while it is not ready, and the caller's while it is.
void Prefetch::read_all() {
  try {
    for (std::uint64_t i = 0; i < feed_.batches(); ++i) {
      feed_.read(i, ahead_);
      std::unique_lock lock(mutex_);
      is_ready_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !is_ready_ || is_closing_; });
      if (is_closing_) return;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

const data::Batch* Prefetch::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_ready_ || is_over_; });
  if (!is_ready_) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return nullptr;
  }
  std::swap(current_, ahead_);
  is_ready_ = false;
  changed_.notify_all();
  return &current_;
}

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

}  // namespace ounce::evaluate
