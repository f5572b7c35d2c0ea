// Results as text: `…_text` for one model, `…_table` for several.
#pragma once

#include <ounce/app.hpp>
#include <ounce/bench.h>
#include <ounce/model.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>
#include <ounce/runtime.h>
#include <ounce/search.h>
#include <ounce/verify.h>

#include <string>
#include <vector>

#include "report/table.h"

namespace ounce::report {

using AdviseRow = Row<AdviseResult>;
using CheckRow = Row<CheckReport>;
using InspectRow = Row<ModelInfo>;
using OverviewRow = Row<Overview>;
using ProveRow = Row<Proof>;
using QuantizeRow = Row<QuantizeResult>;
using SensitivityRow = Row<SensitivityResult>;
using TuneRow = Row<TuneResult>;
using UnpackRow = Row<app::Unpacked>;
using VerifyRow = Row<VerifyResult>;

std::string advise_text(const AdviseResult& result);
std::string advise_table(const std::vector<AdviseRow>& rows);
std::string bench_text(const BenchReport& report);
// Lists the values with the lowest SQNR at 8 bits first, at most `at_most` of them.
std::string calibrate_text(const CalibrateResult& result, std::size_t at_most);
std::string check_text(const CheckReport& report);
std::string decode_text(const DecodeReport& report);
// Lists at most `at_most` changes of each kind.
std::string diff_text(const DiffResult& result, std::size_t at_most);
std::string inspect_text(const ModelInfo& info, std::size_t tensors);
std::string inspect_table(const std::vector<InspectRow>& rows);
std::string overview_text(const Overview& found);
std::string prove_text(const Proof& proof);
std::string prove_table(const std::vector<ProveRow>& rows);
std::string publish_text(const PublishResult& result);
std::string sensitivity_text(const SensitivityResult& result, double min_sqnr);
std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict);
std::string trial_line(const TuneTrial& trial);  // for the progress of the search
std::string tune_text(const TuneResult& result);
std::string tune_table(const std::vector<TuneRow>& rows);
std::string unpack_text(const UnpackRow& row);
std::string unpack_table(const std::vector<UnpackRow>& rows);
std::string verify_text(const VerifyResult& result);
std::string verify_table(const std::vector<VerifyRow>& rows);

// The parts of the text of quantize.

// Ends with a total if the rows are different models, not several results of one model.
std::string quantize_table(const std::vector<QuantizeRow>& rows, bool dry_run);
std::string tensor_table(const std::vector<TensorOutcome>& tensors, std::size_t at_most);
// How the outputs were compared, or why they were not; empty with --no-verify.
std::string trial_line(const TrialResult& trial);
// Empty if the memory is not known, and for models below 8 MiB, where the runtime dominates.
std::string memory_line(const QuantizeResult& result);
std::string speed_line(const TrialResult& trial);    // empty: not timed
std::string kernels_line(const TrialResult& trial);  // empty: not profiled
// Which ops run in INT8, and which fall back to FP32, grouped by the reason; empty for weight compression.
std::string arithmetic_lines(const std::vector<NodeOutcome>& nodes);
// Unchanged tensors, grouped by the reason.
std::string left_alone(const std::vector<TensorOutcome>& tensors);

// Explains the SQNR of outputs without decibels: "output error 1.2 %: predictions rarely change". Starts with
// "warning: " below Quality::kMinUsable. Empty if all values are equal or there is no number.
std::string sqnr_words(double sqnr_db);
// The same for a model that outputs only labels: "1.2 % of the labels changed".
std::string label_words(double sqnr_db);

// One line per CPU: "avx2: bit-identical on 8 samples …".
std::vector<std::string> cpu_lines(const std::vector<CpuComparison>& cpus);

}  // namespace ounce::report
