// Minimum cut: assigns each vertex to the first or second part with the least total cost. A vertex has a cost
// in each part, and an edge has a cost if its ends are in different parts. Solved by maximum flow (Dinic).
//
//   MinCut cut(2);
//   cut.set_cost(0, 2, 5);      vertex 0 costs 2 in the first part, 5 in the second
//   cut.set_cost(1, 3, 1);
//   cut.set_edge(0, 1, 4);      0 in the first part and 1 in the second costs 4
//   cut.solve();
//   cut.is_first(0), cut.cost()
//
// If there are several minimum cuts, returns the one with the fewest vertices in the second part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ounce::plan {

class MinCut {
 public:
  static constexpr std::int64_t kInfinite = std::int64_t{1} << 50;  // larger than the sum of all other costs

  explicit MinCut(std::size_t vertices) : edges_of_(vertices + kFirstVertex) {}

  std::size_t add_vertex();
  void set_cost(std::size_t vertex, std::int64_t in_first, std::int64_t in_second);
  void set_edge(std::size_t in_first, std::size_t in_second, std::int64_t price);
  // Returns false, without a result, if solving would take too long.
  bool solve();
  bool is_first(std::size_t vertex) const { return !is_second_[vertex + kFirstVertex]; }
  std::int64_t cost() const { return flow_; }

 private:
  static constexpr std::size_t
      kSource = 0,
      kSink = 1,
      kFirstVertex = 2;  // in the flow network, the user's vertices come after the source and the sink

  void join(std::size_t from, std::size_t to, std::int64_t capacity);
  bool find_levels();
  bool push();  // augments one path; false if there is none on these levels
  void divide();

  std::vector<std::vector<std::size_t>> edges_of_;  // edges 2i and 2i + 1 are the two directions of an edge
  std::vector<std::size_t> ends_;
  std::vector<std::int64_t> left_;  // residual capacity
  std::vector<std::size_t> level_, next_;
  std::vector<bool> is_second_;
  std::int64_t flow_ = 0;
};

}  // namespace ounce::plan
