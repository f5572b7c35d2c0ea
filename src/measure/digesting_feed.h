// A feed that remembers what it gave, as a digest: which data was it?
//
//   DigestingFeed feed(*open.feed);
//   … run models on it …
//   feed.inputs();     // of all batches that were read, in their order, however often
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "data/feed.h"

namespace ounce::measure {

class DigestingFeed : public data::Feed {
 public:
  explicit DigestingFeed(data::Feed& feed) : feed_(feed) {}  // which has to outlive this

  std::uint64_t batches() const override { return feed_.batches(); }
  std::uint64_t samples() const override { return feed_.samples(); }
  std::vector<std::string> notes() const override { return feed_.notes(); }
  void read(std::uint64_t index, data::Batch& batch) override;

  // 64 hexadecimal digits each (SHA-256). Labels: empty when there are none.
  std::string inputs() const;
  std::string labels() const;

 private:
  data::Feed& feed_;
  std::map<std::uint64_t, std::pair<Sha256::Digest, Sha256::Digest>> seen_;  // inputs and labels of each batch
  bool has_labels_ = false;
};

}  // namespace ounce::measure
