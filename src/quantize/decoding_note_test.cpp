#include "quantize/pipeline.h"

#include <gmock/gmock.h>

namespace ounce::quantization {
namespace {

// A trial in which a run takes `times` the time of the original.
TrialResult timed(double times, std::uint64_t rounds = SpeedUp::kLeastRounds) {
  TrialResult trial;
  trial.speed_up = SpeedUp{.ratio = 1 / times, .low = 0.98 / times, .high = 1.02 / times, .rounds = rounds};
  return trial;
}

Recipe balanced() {
  Recipe recipe;
  recipe.memory = MemoryUse::kBalanced;
  return recipe;
}

TEST(DecodingNote, SaysWhenDecodingTookMoreThanItsShare) {
  EXPECT_EQ(decoding_note(balanced(), timed(1.25)),
            "dequantization may take 5 % of a run but took 25 % (95 % confidence: 23 % or more); a smaller "
            "`decode_share` reduces it");
}

TEST(DecodingNote, SaysNothingOfWhatIsWithinItOrNotKnown) {
  EXPECT_EQ(decoding_note(balanced(), timed(1.04)), "");
  EXPECT_EQ(decoding_note(balanced(), timed(1.25, SpeedUp::kLeastRounds - 1)), "");
  EXPECT_EQ(decoding_note(balanced(), {}), "");
  TrialResult busy = timed(1.25);
  busy.speed_up->is_reliable = false;
  EXPECT_EQ(decoding_note(balanced(), busy), "");
  EXPECT_EQ(decoding_note(Recipe(), timed(1.25)), "");
}

}  // namespace
}  // namespace ounce::quantization
