// Two models' outputs of one call, added to the sums of a shadow.
#pragma once

#include <ounce/app/session.h>
#include <ounce/app/shadow.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "data/tensor.h"
#include "runtime/executor.h"

namespace ounce::app {

// The candidate of a shadow deployment: a model whose runs may fail in any way.

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

// Answers are counted as verify() counts them (data/class_rows.h): `output` is what the primary says of this
// output. False when the candidate has a NaN or an infinity where the primary has a number: then nothing is
// added.
bool add_comparison(const data::ValueDescription& output, const data::TensorView& primary,
                    const data::TensorView& candidate, ShadowOutput& sums);

// Has it a number everywhere? Of types without NaN, always.
bool is_finite(const data::TensorView& tensor);

}  // namespace ounce::app
