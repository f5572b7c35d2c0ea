// Values that must have one type because they enter and leave bodies: the states of a Loop, what both
// branches of an If give, the outputs of a function at all its calls.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/index.h"
#include "graph/ports.h"

namespace ounce::plan {

// The first of a class stands for it.
class PortClasses {
 public:
  explicit PortClasses(const graph::Index& index) {
    for (const graph::Passage& passage : graph::passages(index)) {
      const graph::Value* to = index.find(passage.to.body, passage.to.name).value;
      if (to == nullptr) continue;
      const std::size_t at = number(to);
      if (passage.way == graph::Way::kEnters) continue;
      const Slot slot{passage.from.body, passage.from.name};
      const auto [entry, is_new] = slots_.emplace(slot, at);
      if (!is_new) join(entry->second, at);
    }
  }

  using Slot = std::pair<std::size_t, graph::Bytes>;  // an output of a body, by the name of its value
  const std::map<Slot, std::size_t>& slots() const { return slots_; }

  // graph::kNone for values that are in no class.
  std::size_t class_of(const graph::Value* value) const {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? graph::kNone : class_of(found->second);
  }
  std::size_t class_of(std::size_t at) const {
    while (nearer_[at] != at) at = nearer_[at] = nearer_[nearer_[at]];
    return at;
  }
  const std::unordered_map<const graph::Value*, std::size_t>& members() const { return numbers_; }

 private:
  std::size_t number(const graph::Value* value) {
    const auto [entry, is_new] = numbers_.emplace(value, nearer_.size());
    if (is_new) nearer_.push_back(entry->second);
    return entry->second;
  }
  void join(std::size_t a, std::size_t b) { nearer_[class_of(b)] = class_of(a); }

  std::unordered_map<const graph::Value*, std::size_t> numbers_;
  std::map<Slot, std::size_t> slots_;
  mutable std::vector<std::size_t> nearer_;
};

}  // namespace ounce::plan
