// Every reader of files that come from outside, as something that takes any bytes at all.
//
//   for (const Target& target : targets()) target.check(bytes);
//
// A check throws BrokenPromise (promise.h), and lets every exception pass that is not the refusal of bad
// input. The fuzzers (fuzz_target.cpp) and the replay with damaged seeds (replay_test.cpp) call the same
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ounce::test {

struct Target {
  const char* name;
  void (*check)(const std::string& bytes);
  // What is no longer sound in its meaning, but still in its encoding; none for most.
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
