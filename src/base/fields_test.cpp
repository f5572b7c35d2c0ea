#include "base/fields.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace fields_test {

struct Pair {
  int first = 1, second = 2;
  int sum() const { return first + second; }
};

void fields(ounce::MaybeConst<Pair> auto& pair, auto& f) {
  f("first", pair.first, "the first");
  f("second", pair.second, "the second");
  f("sum", pair.sum(), "of both");
}

struct NamesAndValues {
  template <class T, class Doc>
  void operator()(const char* name, T&& value, const Doc&) {
    found.emplace_back(name, value);
  }
  std::vector<std::pair<std::string, int>> found;
};

struct Doubled {
  void operator()(const char*, int& value, const char*) { value *= 2; }
  void operator()(const char*, const int&&, const char*) {}
};

}  // namespace fields_test

namespace {

using namespace fields_test;

TEST(Fields, AVisitorSeesEveryFieldInTheOrderOfTheList) {
  const Pair pair;
  NamesAndValues visitor;
  fields(pair, visitor);
  EXPECT_EQ(visitor.found,
            (std::vector<std::pair<std::string, int>>{{"first", 1}, {"second", 2}, {"sum", 3}}));
}

TEST(Fields, AVisitorChangesMembersAndLeavesComputedFieldsOut) {
  Pair pair;
  Doubled visitor;
  fields(pair, visitor);
  EXPECT_EQ(pair.first, 2);
  EXPECT_EQ(pair.second, 4);
}

static_assert(ounce::HasFields<Pair> && ounce::HasFields<const Pair> && !ounce::HasFields<int>);

}  // namespace
