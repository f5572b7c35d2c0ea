#include "fuzz/targets.h"

#include <array>

#include "fuzz/check_coreml.h"
#include "fuzz/check_model.h"
#include "fuzz/check_tflite.h"
#include "fuzz/mutate_json.h"
#include "fuzz/mutate_model.h"
#include "fuzz/mutate_tflite.h"

namespace ounce::test {

std::span<const Target> targets() {
  static constexpr auto kTargets = std::to_array<Target>({
      {"model", [](const std::string& bytes) { check_model(bytes); }, mutate_model},
      {"tflite", [](const std::string& bytes) { check_tflite(bytes); }, mutate_tflite},
      {"tflite_quantize", check_tflite_quantize},
      {"coreml", [](const std::string& bytes) { check_coreml(bytes); }},
      {"quantize", check_quantize, mutate_quantize},
      {"npy", check_npy},
      {"npz", check_npz},
      {"zip", check_zip},
      {"wav", check_wav},
      {"png", check_png},
      {"jpeg", check_jpeg},
      {"csv", check_csv},
      {"jsonl", check_jsonl},
      {"contract", check_contract, mutate_json},
      {"ranges", check_ranges, mutate_json},
      {"journal", check_journal},
      {"statement", check_statement, mutate_json},
      {"report", check_report, mutate_json},
      {"config", check_config},
  });
  return kTargets;
}

}  // namespace ounce::test
