// Which releases of ONNX Runtime run a model, by what was measured of them (target/support_matrix.h).
#pragma once

#include <map>
#include <string>

#include "onnx/model.h"
#include "target/support_matrix.h"
#include "target/target.h"

namespace ounce::make {

// A machine with this release, and nothing but its CPU.
target::Target target_of(const target::Release& release);

// By machine ("x64", "arm64", "wasm"): the oldest release from which on every measured one runs the model.
// Without the machines whose newest release does not. Of models with very many nodes nothing is said.
std::map<std::string, std::string> oldest_releases(const onnx::Model& model);

}  // namespace ounce::make
