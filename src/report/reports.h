// Results as text for people: `…_text` of one, `…_table` of several models.
#pragma once

#include <ounce/advise.h>
#include <ounce/app/shadow.h>
#include <ounce/app/unpack.h>
#include <ounce/bench.h>
#include <ounce/calibrate.h>
#include <ounce/check.h>
#include <ounce/cpus.h>
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
using CheckRow = Row<CheckReport>;
using InspectRow = Row<ModelInfo>;
using ProveRow = Row<Proof>;
using QuantizeRow = Row<QuantizeResult>;
using SensitivityRow = Row<SensitivityResult>;
using TuneRow = Row<TuneResult>;
using UnpackRow = Row<app::Unpacked>;
using VerifyRow = Row<VerifyResult>;

std::string advise_text(const AdviseResult& result);
std::string advise_table(const std::vector<AdviseRow>& rows);
std::string bench_text(const BenchReport& report);
// The values that 8 bits would hurt most come first; at most so many.
std::string calibrate_text(const CalibrateResult& result, std::size_t at_most);
std::string check_text(const CheckReport& report);
std::string decode_text(const DecodeReport& report);
// `at_most` lines of each kind of change.
std::string diff_text(const DiffResult& result, std::size_t at_most);
std::string inspect_text(const ModelInfo& info, std::size_t tensors);
std::string inspect_table(const std::vector<InspectRow>& rows);
std::string prove_text(const Proof& proof);
std::string prove_table(const std::vector<ProveRow>& rows);
std::string publish_text(const PublishResult& result);
std::string sensitivity_text(const SensitivityResult& result, double min_sqnr);
std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict);
std::string trial_line(const TuneTrial& trial);  // while the search goes on
std::string tune_text(const TuneResult& result);
std::string tune_table(const std::vector<TuneRow>& rows);
std::string unpack_text(const UnpackRow& row);
std::string unpack_table(const std::vector<UnpackRow>& rows);
std::string verify_text(const VerifyResult& result);
std::string verify_table(const std::vector<VerifyRow>& rows);

// The result of quantize, part by part.

// A total closes the table if the rows are different models, and not results of the same one.
std::string quantize_table(const std::vector<QuantizeRow>& rows, bool dry_run);
std::string tensor_table(const std::vector<TensorOutcome>& tensors, std::size_t at_most);
// What became of the result in the runtime; empty when that was not wanted.
std::string trial_line(const TrialResult& trial);
// Empty where it is not known, and for models that are too small to show.
std::string memory_line(const QuantizeResult& result);
std::string speed_line(const TrialResult& trial);    // empty: not timed
std::string kernels_line(const TrialResult& trial);  // empty: not profiled
// Which ops run in INT8, and which fall back to FP32, grouped by the reason; empty for weight compression.
std::string arithmetic_lines(const std::vector<NodeOutcome>& nodes);
// What was left alone, grouped by the reason.
std::string left_alone(const std::vector<TensorOutcome>& tensors);

// What an SQNR of outputs means, for people who do not think in decibels: "the outputs are off by 1.2 % of
// their size: answers seldom change"; below Quality::kMinUsable it begins with "warning: ". Empty when there
// is nothing to say: all values are equal, or there is no number.
std::string sqnr_words(double sqnr_db);
// The same of a model that gives labels alone: "1.2 % of the labels changed".
std::string label_words(double sqnr_db);

// "avx2: equal to the bit on 8 samples (shown by this CPU)"; a line each.
std::vector<std::string> cpu_lines(const std::vector<CpuComparison>& cpus);

}  // namespace ounce::report
