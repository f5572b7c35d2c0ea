#include "fuzz/mutate_json.h"

#include <nlohmann/json.hpp>
#include <limits>
#include <random>
#include <vector>

#include "base/json_text.h"

namespace ounce::test {
namespace {

using Json = nlohmann::ordered_json;

// Collects this value and all values in it.
void collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  if (!value.is_structured()) return;
  for (Json& inner : value) collect(inner, all);
}

const std::vector<Json>& strange_values() {
  static const std::vector<Json> kAll = {nullptr,
                                         true,
                                         false,
                                         0,
                                         -1,
                                         1,
                                         1e308,
                                         -1e308,
                                         5e-324,
                                         0.1,
                                         std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::uint64_t>::max(),
                                         "",
                                         "</script><script>",
                                         "\" onload=\"",
                                         "\xe2\x80\xae",
                                         "\n\x1b[2J",
                                         std::string(300, 'x'),
                                         Json::array(),
                                         Json::object()};
  return kAll;
}

class Mutation {
 public:
  Mutation(Json& document, std::uint64_t seed) : random_(seed) { collect(document, all_); }

  void apply() {
    Json& value = *all_[below(all_.size())];
    switch (below(5)) {
      case 0: value = strange_values()[below(strange_values().size())]; break;
      case 1: value = Json(*all_[below(all_.size())]); break;  // a copy, because the other one may contain it
      case 2: shrink(value); break;
      case 3: grow(value); break;
      default: scale(value); break;
    }
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  void shrink(Json& value) {
    if (value.is_structured() && !value.empty())
      value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size()))));
  }

  void grow(Json& value) {
    if (!value.is_array() || value.empty()) return;
    const Json again = value[below(value.size())];
    for (std::size_t count = 1 + below(3); count > 0; --count) value.push_back(again);
  }

  void scale(Json& value) {
    static constexpr double kFactors[] = {-1, 0, 0.5, 2, 1e3, 1e-3, 1e300};
    if (value.is_number()) value = value.get<double>() * kFactors[below(std::size(kFactors))];
  }

  std::mt19937_64 random_;
  std::vector<Json*> all_;
};

}  // namespace

std::string mutate_json(const std::string& bytes, std::uint64_t seed) {
  Json document;
  try {
    document = parse_json<Json>(bytes);
  } catch (const Error&) {
    return bytes;
  }
  for (std::uint64_t changes = 1 + seed % 3; changes > 0; --changes)
    Mutation(document, seed + changes).apply();
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ounce::test
