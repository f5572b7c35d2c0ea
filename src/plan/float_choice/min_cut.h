// A minimum cut: assigns each vertex to the first or the second part at the least total cost. A vertex has a
// cost in either part, and an edge costs when its ends are in different parts. Solved by maximum flow
// (Dinic).
//
//   MinCut cut(2);
//   cut.set_cost(0, 2, 5);      vertex 0 costs 2 in the first part, 5 in the second
//   cut.set_cost(1, 3, 1);
//   cut.set_edge(0, 1, 4);      0 in the first part and 1 in the second costs 4
//   cut.solve();
//   cut.is_first(0), cut.cost()
//
// Of several minimum cuts this is the one with the fewest vertices in the second part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ounce::plan {

class MinCut {
 public:
  static constexpr std::int64_t kInfinite = std::int64_t{1} << 50;  // more than all other costs together

  explicit MinCut(std::size_t vertices) : edges_of_(vertices + kFirstVertex) {}

  std::size_t add_vertex();
  void set_cost(std::size_t vertex, std::int64_t in_first, std::int64_t in_second);
  void set_edge(std::size_t in_first, std::size_t in_second, std::int64_t price);
  // False when solving would take too long; there is no result then.
  bool solve();
  bool is_first(std::size_t vertex) const { return !is_second_[vertex + kFirstVertex]; }
  std::int64_t cost() const { return flow_; }

 private:
  static constexpr std::size_t
      kSource = 0,
      kSink = 1,
      kFirstVertex = 2;  // in the flow network, the vertices of users come after the source and the sink

  void join(std::size_t from, std::size_t to, std::int64_t capacity);
  bool find_levels();
  bool push();  // one more path; false when there is none on these levels
  void divide();

  std::vector<std::vector<std::size_t>> edges_of_;  // edges 2i and 2i + 1 are the two directions of one
  std::vector<std::size_t> ends_;
  std::vector<std::int64_t> left_;  // that may still flow
  std::vector<std::size_t> level_, next_;
  std::vector<bool> is_second_;
  std::int64_t flow_ = 0;
};

}  // namespace ounce::plan
