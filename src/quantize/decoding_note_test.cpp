#include "quantize/pipeline.h"

#include <gmock/gmock.h>

namespace ounce::quantization {
namespace {

// A run of the model takes so many times the original's.
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
            "decoding was given 5 % of a run and took 25 % here (95 % confidence: 23 % or more); a smaller "
            "`decode_share` spends less");
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
