#include "evaluate/models/feeds.h"

#include <gtest/gtest.h>

namespace ounce::evaluate {
namespace {

// Batches of one number each, with its label.
class Numbers : public data::Feed {
 public:
  explicit Numbers(std::vector<float> values, bool has_labels = false)
      : values_(std::move(values)), has_labels_(has_labels) {}
  std::uint64_t batches() const override { return values_.size(); }
  std::uint64_t samples() const override { return values_.size(); }
  void read(std::uint64_t index, data::Batch& batch) override {
    data::Tensor tensor{ElementType::kFloat, {1}, std::string(sizeof(float), '\0')};
    data::values_of<float>(tensor)[0] = values_[index];
    batch.inputs = {tensor};
    batch.labels.clear();
    if (has_labels_) batch.labels = {tensor};
  }

 private:
  std::vector<float> values_;
  bool has_labels_;
};

std::string digest_in_order(std::vector<float> values, const std::vector<std::uint64_t>& order) {
  Numbers numbers(std::move(values));
  DigestingFeed feed(numbers);
  data::Batch batch;
  for (const std::uint64_t index : order) feed.read(index, batch);
  return feed.inputs();
}

TEST(DigestingFeedTest, TellsDataApartAndNotTheOrderOrNumberOfReadings) {
  const std::string digest = digest_in_order({1, 2, 3}, {0, 1, 2});
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(digest_in_order({1, 2, 3}, {2, 0, 1, 1, 0}), digest);
  EXPECT_NE(digest_in_order({1, 3, 2}, {0, 1, 2}), digest);
  EXPECT_NE(digest_in_order({1, 2, 3}, {0, 1}), digest);
}

TEST(DigestingFeedTest, LabelsHaveADigestOfTheirOwn) {
  Numbers with({1, 2}, true), without({1, 2});
  DigestingFeed labelled(with), plain(without);
  data::Batch batch;
  for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}}) {
    labelled.read(index, batch);
    plain.read(index, batch);
  }
  EXPECT_EQ(labelled.inputs(), plain.inputs());
  EXPECT_EQ(labelled.labels().size(), 64U);
  EXPECT_EQ(plain.labels(), "");
}

}  // namespace
}  // namespace ounce::evaluate
