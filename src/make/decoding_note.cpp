#include "make/decoding_note.h"

#include <fmt/format.h>

namespace ounce::make {

std::string decoding_note(const Recipe& recipe, const TrialResult& trial) {
  const std::optional<SpeedUp>& speed = trial.speed_up;
  if (recipe.memory != MemoryUse::kBalanced || !speed) return {};
  if (!speed->is_reliable || speed->rounds < SpeedUp::kLeastRounds) return {};
  if (speed->high >= 1 - recipe.decode_share) return {};
  return fmt::format(
      "decoding was given {:.3g} % of a run and took {:.0f} % here (95 % confidence: {:.0f} % or more); a "
      "smaller `decode_share` spends less",
      100 * recipe.decode_share, 100 * (1 / speed->ratio - 1), 100 * (1 / speed->high - 1));
}

}  // namespace ounce::make
