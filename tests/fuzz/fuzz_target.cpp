// What libFuzzer calls, for the target OUNCE_FUZZ_TARGET. An exception that leaves here is a finding, and so
// is anything the sanitizers see.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ounce::test::Target& target =
      *std::find_if(ounce::test::targets().begin(), ounce::test::targets().end(),
                    [](const auto& each) { return std::string_view(each.name) == OUNCE_FUZZ_TARGET; });
  target.check(std::string(data, data + size));
  return 0;
}
