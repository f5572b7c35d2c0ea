#include "base/digest.h"

#include <gtest/gtest.h>

#include "base/numbers.h"

namespace ounce {
namespace {

// The examples of FIPS 180-4, and the results of `sha256sum` near block borders.
TEST(Sha256, IsWhatTheStandardSays) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HoldsAtTheEdgesOfABlock) {
  EXPECT_EQ(sha256_of(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sha256_of(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sha256_of(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(sha256_of(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(sha256_of(std::string(65, 'x')),
            "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

// Independent of the split into pieces and of intermediate queries.
TEST(Sha256, PiecesGiveWhatTheWholeGives) {
  std::string bytes;
  for (std::size_t i = 0; i < 1000; ++i) bytes += static_cast<char>(i * i * 31 >> 3);
  const std::string whole = sha256_of(bytes);
  for (const std::size_t piece : {1U, 3U, 55U, 63U, 64U, 65U, 127U, 128U, 129U, 999U}) {
    Sha256 digest;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      digest.add(std::string_view(bytes).substr(at, piece));
      digest.add({});
      EXPECT_EQ(digest.hex(), sha256_of(std::string_view(bytes).substr(0, at + piece))) << at;
    }
    EXPECT_EQ(digest.hex(), whole) << piece;
  }
}

TEST(Sha256, TheInstructionsOfThisCpuGiveWhatThePortableCodeGives) {
  std::string blocks;
  Random random(1);
  for (std::size_t i = 0; i < 9 * Sha256::kBlock; ++i) blocks += static_cast<char>(random.bits());
  for (std::size_t count = 0; count <= 9; ++count) {
    Sha256::Words portable, here;
    for (std::size_t i = 0; i < portable.size(); ++i)
      portable[i] = here[i] = static_cast<std::uint32_t>(random.bits());
    sha256_mix_portably(portable, blocks.data(), count);
    sha256_mixer_of_this_cpu()(here, blocks.data(), count);
    EXPECT_EQ(portable, here) << count;
  }
}

}  // namespace
}  // namespace ounce
