#include "search/leave_out.h"

#include <algorithm>
#include <numeric>

namespace ounce::search {
namespace {

constexpr double kDestroyed = 1e6;        // stands for noise that is no number
constexpr std::size_t kMostRemovals = 24;  // tries to do without some

double noise_of(const Piece& piece) { return piece.noise < kDestroyed ? piece.noise : kDestroyed; }

class Returns {
 public:
  Returns(Pieces chosen, const LeaveOutQuestions& ask) : chosen_(std::move(chosen)), ask_(ask) {}

  Pieces run() {
    const std::size_t half = chosen_.size() / 2;
    if (chosen_.size() < 2) return chosen_;
    give_back(half, chosen_.size() - half);
    give_back(0, half);
    return chosen_;
  }

 private:
  // All of these, or else each half of them.
  void give_back(std::size_t first, std::size_t count) {
    if (count == 0 || tries_++ >= kMostRemovals || !ask_.may_go_on()) return;
    Pieces fewer = chosen_;
    const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(first);
    fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    if (!fewer.empty() && ask_.passes(fewer)) {
      chosen_ = std::move(fewer);
      return;
    }
    if (count == 1) return;
    const std::size_t half = count / 2;
    give_back(first + half, count - half);
    give_back(first, half);
  }

  Pieces chosen_;
  const LeaveOutQuestions& ask_;
  std::size_t tries_ = 0;
};

}  // namespace

Pieces by_worth(const std::vector<Piece>& pieces) {
  Pieces order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  const auto worth = [&](std::size_t i) { return noise_of(pieces[i]) / std::max(pieces[i].cost, 1e-30); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  return order;
}

std::size_t expected_count(const std::vector<Piece>& pieces, double all, double limit) {
  double sum = 0;
  for (const Piece& piece : pieces) sum += noise_of(piece);
  // What they bring together is known better than what each brings alone.
  const double scale = sum > 0 ? std::min(all, kDestroyed) / sum : 0;
  double left = std::min(all, kDestroyed);
  std::size_t count = 0;
  for (const std::size_t i : by_worth(pieces)) {
    if (count != 0 && left <= limit) break;
    left -= scale * noise_of(pieces[i]);
    ++count;
  }
  return count;
}

std::optional<Pieces> shortest_passing(const std::vector<Piece>& pieces, double all, double limit,
                                       const LeaveOutQuestions& ask) {
  const Pieces order = by_worth(pieces);
  const auto first = [&](std::size_t count) {
    return Pieces(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::size_t fails = 0, holds = 0;
  for (std::size_t count = expected_count(pieces, all, limit); holds == 0;
       count = std::min(2 * count, order.size())) {
    if (order.empty() || !ask.may_go_on()) return std::nullopt;
    if (ask.passes(first(count)))
      holds = count;
    else if (count == order.size())
      return std::nullopt;
    else
      fails = count;
  }
  while (holds - fails > 1 && ask.may_go_on()) {
    const std::size_t middle = fails + (holds - fails) / 2;
    (ask.passes(first(middle)) ? holds : fails) = middle;
  }
  return first(holds);
}

Pieces without_the_needless(Pieces chosen, const LeaveOutQuestions& ask) {
  return Returns(std::move(chosen), ask).run();
}

}  // namespace ounce::search
