// What libFuzzer calls. An exception that leaves here is a finding, and so is anything the sanitizers see.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/check_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ounce::test::check_model(std::string(data, data + size));
  return 0;
}
