// Test support: damaged versions of a file. A reader must read each or reject it with an Error; sanitizers
// detect everything else.
//
//   expect_safe(bytes, [](const std::string& damaged) { probe_wav(damaged, "x"); });
#pragma once

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <random>
#include <string>

namespace ounce::data::test {

template <class Read>
bool is_refused(const std::string& bytes, Read&& read) {
  try {
    read(bytes);
    return false;
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kBadInput) << error.what();
    return true;
  }
}

// Every truncated file must be rejected.
template <class Read>
void expect_truncations_refused(const std::string& bytes, Read&& read) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(is_refused(bytes.substr(0, size), read)) << size << " of " << bytes.size() << " bytes";
  }
}

// Changes, removes and inserts bytes, preferably with extreme values.
template <class Read>
void expect_safe(const std::string& bytes, Read&& read, int rounds = 3000) {
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = bytes;
    for (unsigned changes = 1 + random() % 4; changes > 0 && !damaged.empty(); --changes) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 6) {
        case 0: damaged[at] = static_cast<char>(random()); break;
        case 1: damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8)); break;
        case 2: damaged[at] = '\xff'; break;
        case 3: damaged[at] = '\0'; break;
        case 4: damaged.erase(at, 1 + random() % 4); break;
        default: damaged.insert(at, 1 + random() % 4, static_cast<char>(random()));
      }
    }
    is_refused(damaged, read);
  }
}

}  // namespace ounce::data::test
