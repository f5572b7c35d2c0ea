// The candidate of a shadow deployment: a model whose runs may fail in any way.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include <ounce/app/session.h>

#include "runtime/executor.h"

namespace ounce::app {

enum class CandidateFault { kNone, kError, kCrash, kTimeout };

class Candidate {
 public:
  virtual ~Candidate() = default;
  virtual const std::vector<data::ValueDescription>& inputs() const = 0;
  virtual const std::vector<data::ValueDescription>& outputs() const = 0;
  // Throws Error; then fault() says which kind it was. The views hold until the next run.
  virtual std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) = 0;
  virtual CandidateFault fault_of(const Error& error) const;
};

// Loads it; throws Error.
using MakeCandidate = std::function<std::unique_ptr<Candidate>()>;

// In a runner's process, or else in this one.
MakeCandidate candidate_of(const std::filesystem::path& model, const LoadOptions& options, bool isolated,
                           double seconds);
bool can_isolate() noexcept;

}  // namespace ounce::app
