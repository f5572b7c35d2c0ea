// Advice about a model, for people and for programs.
#pragma once

#include <ounce/advise.h>
#include <ounce/app/shadow.h>
#include <ounce/app/unpack.h>
#include <ounce/bench.h>
#include <ounce/calibrate.h>
#include <ounce/check.h>
#include <ounce/decode.h>
#include <ounce/diff.h>
#include <ounce/inspect.h>
#include <ounce/prove.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>
#include <ounce/sensitivity.h>
#include <ounce/tune.h>
#include <ounce/verify.h>

#include <string>
#include <vector>

#include "report/table.h"

namespace ounce::report {

using AdviseRow = Row<AdviseResult>;

std::string advise_text(const AdviseResult& result);
std::string advise_table(const std::vector<AdviseRow>& rows);  // for several models

// What concerns apps, as text: the results of unpack, and the sums of a shadow deployment.

using UnpackRow = Row<app::Unpacked>;

std::string unpack_text(const UnpackRow& row);
std::string unpack_table(const std::vector<UnpackRow>& rows);  // for several models

std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict);

// The results of bench as text: times of calls, and of texts token by token.

std::string bench_text(const BenchReport& report);

std::string decode_text(const DecodeReport& report);

// The results of calibrate, for people and for programs.

// The values that 8 bits would hurt most come first; at most so many.
std::string calibrate_text(const CalibrateResult& result, std::size_t at_most);

// The results of check, for people and for programs.

using CheckRow = Row<CheckReport>;

std::string check_text(const CheckReport& report);

// The result of diff, for people and for programs.

// `at_most` lines of each kind of change.
std::string diff_text(const DiffResult& result, std::size_t at_most);

// The result of inspect, for people and for programs.

using InspectRow = Row<ModelInfo>;

std::string inspect_text(const ModelInfo& info, std::size_t tensors);
std::string inspect_table(const std::vector<InspectRow>& rows);

// The results of prove, for people and for programs.

using ProveRow = Row<Proof>;

std::string prove_text(const Proof& proof);
std::string prove_table(const std::vector<ProveRow>& rows);  // for several models

// The results of publish, for people and for programs.

std::string publish_text(const PublishResult& result);

// The results of quantize, for people and for programs.

using QuantizeRow = Row<QuantizeResult>;

// A total closes the table if the rows are different models, and not results of the same one.
std::string quantize_table(const std::vector<QuantizeRow>& rows, bool dry_run);
std::string tensor_table(const std::vector<TensorOutcome>& tensors, std::size_t at_most);
// What became of the result in the runtime; empty when that was not wanted.
std::string trial_line(const TrialResult& trial);
// Empty where it is not known, and for models that are too small to show.
std::string memory_line(const QuantizeResult& result);
std::string speed_line(const TrialResult& trial);    // empty: not timed
std::string kernels_line(const TrialResult& trial);  // empty: not profiled
// Which ops compute on integers, and which stay in floats, grouped by the reason; empty for storage formats.
std::string arithmetic_lines(const std::vector<NodeOutcome>& nodes);
// What was left alone, grouped by the reason.
std::string left_alone(const std::vector<TensorOutcome>& tensors);

// The results of sensitivity, for people and for programs.

using SensitivityRow = Row<SensitivityResult>;

std::string sensitivity_text(const SensitivityResult& result, double min_sqnr);

// The results of tune, for people and for programs.

using TuneRow = Row<TuneResult>;

std::string trial_line(const TuneTrial& trial);  // while the search goes on
std::string tune_text(const TuneResult& result);
std::string tune_table(const std::vector<TuneRow>& rows);  // for several models

// The results of verify, for people and for programs.

using VerifyRow = Row<VerifyResult>;

std::string verify_text(const VerifyResult& result);
std::string verify_table(const std::vector<VerifyRow>& rows);  // for several candidates

}  // namespace ounce::report
