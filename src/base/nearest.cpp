#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ounce {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Capitals make no difference.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // Two letters of three would make any short word out of any other.
  const std::size_t most = word.size() < 3    ? 0
                           : word.size() == 3 ? 1
                                              : std::max<std::size_t>(2, word.size() / 3);
  std::size_t distance = most + 1;
  for (const std::string& candidate : candidates) {
    if (const std::size_t d = edit_distance(word, candidate); d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ounce
