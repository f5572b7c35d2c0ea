// How models are run: which ONNX Runtime, with which settings, in this process or in one of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ounce {

enum class OptimizationLevel { kNone, kBasic, kExtended, kAll };

// A process of its own for an untrusted model; its crash is an error and not ours.
struct Isolation {
  std::uint64_t memory = std::uint64_t{8} << 30;  // bytes of address space; 0: no limit
  double seconds = 120;                           // for loading, and for each run; 0: no limit
};

struct RuntimeOptions {
  std::string library;   // a library's path, or a version such as "1.22.0"; empty: the newest there is
  unsigned threads = 1;  // inside an op; 0: as many as the runtime likes
  unsigned threads_between = 1;  // for ops side by side
  OptimizationLevel optimization = OptimizationLevel::kAll;
  std::map<std::string, std::string> config;  // session entries such as session.disable_quant_qdq
  std::optional<Isolation> isolate;
};

// Can models be run at all? False when this library was built without ONNX Runtime.
bool has_runtime() noexcept;

// The versions of ONNX Runtime that set-up brought, newest first.
std::vector<std::string> installed_runtimes();

}  // namespace ounce
