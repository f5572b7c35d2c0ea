#include "base/digest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

namespace ounce {
namespace {

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13U);
  return bytes;
}

TEST(DigestTest, IsTheSameForAnyNumberOfThreads) {
  const std::string bytes = pattern((std::size_t{9} << 20) + 12345);
  const std::string expected = digest(bytes);
  EXPECT_EQ(expected.size(), 32U);
  EXPECT_EQ(expected.find_first_not_of("0123456789abcdef"), std::string::npos);
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    ThreadPool pool(threads);
    EXPECT_EQ(digest({bytes}, pool, {}), expected) << threads;
  }
}

TEST(DigestTest, ChangesWithEveryByte) {
  std::string bytes = pattern((std::size_t{4} << 20) + 3);
  std::set<std::string> seen = {digest(bytes)};
  for (const std::size_t at :
       {std::size_t{0}, bytes.size() / 2, bytes.size() - 4, bytes.size() - 3, bytes.size() - 1}) {
    bytes[at] ^= 1;
    EXPECT_TRUE(seen.insert(digest(bytes)).second) << at;
  }
  bytes += '\0';
  EXPECT_TRUE(seen.insert(digest(bytes)).second);
}

TEST(DigestTest, DependsOnTheOrderOfTheRanges) {
  ThreadPool pool(2);
  EXPECT_NE(digest({"abc", "def"}, pool, {}), digest({"def", "abc"}, pool, {}));
  EXPECT_EQ(digest({"abc"}, pool, {}), digest("abc"));
}

TEST(DigestTest, ReleasesEveryByteOnce) {
  const std::string first = pattern((std::size_t{5} << 20) + 1), second = pattern(10);
  ThreadPool pool(2);
  std::atomic<std::size_t> released = 0;
  digest({first, second, {}}, pool, [&](std::string_view bytes) { released += bytes.size(); });
  EXPECT_EQ(released, first.size() + second.size());
}

TEST(DigestTest, NothingHasADigestToo) { EXPECT_EQ(digest("").size(), 32U); }

}  // namespace
}  // namespace ounce
