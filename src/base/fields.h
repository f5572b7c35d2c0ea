// A struct lists its fields once; visitors use the list to write JSON, read JSON, or describe the struct in a
// schema.
//
//   // Next to the struct, or in a header for the .cpp files of visitors; found by argument-dependent lookup.
//   void fields(MaybeConst<SpeedUp> auto& speed, auto& f) {
//     f("ratio", speed.ratio, "times as fast as the original");
//     f("low", speed.low, "lower bound, 95 % confidence");
//   }
//
//   // A visitor is called for each field, in the order of the list.
//   struct Counter {
//     template <class T, class Doc>
//     void operator()(const char* name, T&& value, const Doc& doc) { ++count; }
//     int count = 0;
//   };
//   Counter counter;
//   fields(speed, counter);
//
// The third argument documents the field: a sentence, or a struct with a sentence. A field may be computed
// from others (f("ratio", result.ratio(), …)); reading visitors skip it, because it is not an lvalue.
#pragma once

#include <concepts>
#include <type_traits>

namespace ounce {

// S or const S: one list serves reading and writing visitors.
template <class T, class S>
concept MaybeConst = std::same_as<std::remove_const_t<T>, S>;

namespace fields_detail {

struct NoVisitor {
  template <class T, class Doc>
  void operator()(const char*, T&&, const Doc&) {}
};

}  // namespace fields_detail

// True for a struct with a list of fields declared before this point.
template <class T>
concept HasFields = requires(T& object, fields_detail::NoVisitor& visitor) {
  fields(object, visitor);
};

}  // namespace ounce
