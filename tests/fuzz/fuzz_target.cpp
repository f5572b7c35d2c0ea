// The entry points of libFuzzer for the target OUNCE_FUZZ_TARGET. Exceptions and sanitizer reports are
// findings.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/targets.h"

namespace {

const ounce::test::Target& target() {
  static const auto all = ounce::test::targets();
  static const auto& found = *std::find_if(all.begin(), all.end(), [](const auto& each) {
    return std::string_view(each.name) == OUNCE_FUZZ_TARGET;
  });
  return found;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target().check(std::string(data, data + size));
  return 0;
}

// Uses libFuzzer's mutations, and for some targets mutations that keep the encoding valid.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (target().mutate == nullptr || seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string bytes(data, data + size), mutant = target().mutate(bytes, seed);
  if (mutant.size() > most || mutant == bytes) return LLVMFuzzerMutate(data, size, most);
  std::copy(mutant.begin(), mutant.end(), data);
  return mutant.size();
}
