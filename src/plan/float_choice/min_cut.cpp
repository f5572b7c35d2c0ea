#include "plan/float_choice/min_cut.h"

#include <algorithm>

#include "base/cancel.h"

namespace ounce::plan {
namespace {

constexpr std::size_t kMostPhases = 2000;  // models need a few dozen
constexpr std::size_t kUnreached = static_cast<std::size_t>(-1);

}  // namespace

std::size_t MinCut::add_vertex() {
  edges_of_.emplace_back();
  return edges_of_.size() - 1 - kFirstVertex;
}

void MinCut::set_cost(std::size_t vertex, std::int64_t in_first, std::int64_t in_second) {
  join(kSource, vertex + kFirstVertex, in_second);
  join(vertex + kFirstVertex, kSink, in_first);
}

void MinCut::set_edge(std::size_t in_first, std::size_t in_second, std::int64_t price) {
  join(in_first + kFirstVertex, in_second + kFirstVertex, price);
}

void MinCut::join(std::size_t from, std::size_t to, std::int64_t capacity) {
  if (capacity <= 0) return;
  edges_of_[from].push_back(ends_.size());
  ends_.push_back(to);
  left_.push_back(capacity);
  edges_of_[to].push_back(ends_.size());
  ends_.push_back(from);
  left_.push_back(0);
}

bool MinCut::solve() {
  for (std::size_t phase = 0; find_levels(); ++phase) {
    if (phase == kMostPhases) return false;
    next_.assign(edges_of_.size(), 0);
    while (push()) continue;
  }
  divide();
  return true;
}

bool MinCut::find_levels() {
  level_.assign(edges_of_.size(), kUnreached);
  level_[kSource] = 0;
  std::vector<std::size_t> queue = {kSource};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    count_step();
    for (const std::size_t edge : edges_of_[queue[i]]) {
      if (left_[edge] == 0 || level_[ends_[edge]] != kUnreached) continue;
      level_[ends_[edge]] = level_[queue[i]] + 1;
      queue.push_back(ends_[edge]);
    }
  }
  return level_[kSink] != kUnreached;
}

// Iterative, because a path may be as long as the model.
bool MinCut::push() {
  std::vector<std::size_t> path;
  std::size_t at = kSource;
  while (at != kSink) {
    count_step();
    std::size_t& next = next_[at];
    while (next < edges_of_[at].size()) {
      const std::size_t edge = edges_of_[at][next];
      if (left_[edge] > 0 && level_[ends_[edge]] == level_[at] + 1) break;
      ++next;
    }
    if (next < edges_of_[at].size()) {
      path.push_back(edges_of_[at][next]);
      at = ends_[path.back()];
    } else if (path.empty()) {
      return false;
    } else {  // a dead end: go back, and do not try this edge again
      at = ends_[path.back() ^ 1U];
      path.pop_back();
      ++next_[at];
    }
  }
  std::int64_t most = kInfinite;
  for (const std::size_t edge : path) most = std::min(most, left_[edge]);
  for (const std::size_t edge : path) {
    left_[edge] -= most;
    left_[edge ^ 1U] += most;
  }
  flow_ += most;
  return true;
}

// The second part: the vertices from which flow can still reach the sink.
void MinCut::divide() {
  is_second_.assign(edges_of_.size(), false);
  is_second_[kSink] = true;
  std::vector<std::size_t> queue = {kSink};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::size_t edge : edges_of_[queue[i]]) {
      const std::size_t from = ends_[edge];
      if (left_[edge ^ 1U] == 0 || is_second_[from]) continue;
      is_second_[from] = true;
      queue.push_back(from);
    }
  }
}

}  // namespace ounce::plan
