// Test support: the model of examples/commands, and the preprocessing metadata of its audio input.
#pragma once

#include <ounce/data.h>

#include <filesystem>

namespace ounce::test {

inline const std::filesystem::path kExample = OUNCE_EXAMPLES "/commands/commands.onnx";
inline const std::filesystem::path kCalibration = OUNCE_EXAMPLES "/commands/commands_calib.npz";
inline const std::filesystem::path kClips = OUNCE_EXAMPLES "/commands/commands_val.npz";

inline Contract sound() {
  Contract contract;
  contract.inputs["audio"].kind = InputKind::kAudio;
  contract.inputs["audio"].rescale_factor = 1.0 / 32768;
  return contract;
}

}  // namespace ounce::test
