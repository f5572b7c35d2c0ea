// The fuzz targets: a check for every reader of untrusted files.
//
//   for (const Target& target : targets()) target.check(bytes);
//
// A check accepts any bytes. It throws BrokenPromise (promise.h), and any unexpected exception. The fuzzers
// (fuzz_target.cpp) and the replay with damaged seeds (replay_test.cpp) call the same functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ounce::test {

struct Target {
  const char* name;
  void (*check)(const std::string& bytes);
  // Changes the content but keeps the encoding valid; null for most targets.
  std::string (*mutate)(const std::string& bytes, std::uint64_t seed) = nullptr;
};

std::span<const Target> targets();

void check_npy(const std::string& bytes);
void check_npz(const std::string& bytes);
void check_zip(const std::string& bytes);
void check_wav(const std::string& bytes);
void check_png(const std::string& bytes);
void check_jpeg(const std::string& bytes);
void check_csv(const std::string& bytes);
void check_jsonl(const std::string& bytes);
void check_contract(const std::string& bytes);
void check_ranges(const std::string& bytes);
void check_journal(const std::string& bytes);
void check_statement(const std::string& bytes);
void check_report(const std::string& bytes);
void check_config(const std::string& bytes);
void check_quantize(const std::string& bytes);
std::string mutate_quantize(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
