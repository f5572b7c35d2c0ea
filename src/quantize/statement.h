// The provenance record of a model (ounce/verify.h), as a text in its metadata.
//
//   {"version": 2, "content": "<SHA-256>", "source": "<SHA-256>", "recipe": {"format": "w8"},
//    "releases": {"x64": "1.14.0", …},
//    "trial": {"runtime": "1.31.0", "samples": 32, "data": "<SHA-256>", "sqnr_db": 41}}
//
// Version 1, with XXH3 digests and without one of the source, can still be read.
//
// The record is at the end of the file and is written after the trial. It does not depend on the time, the
// machine's speed or file locations.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/thread_pool.h"

namespace ounce::quantization {

// Does not repeat other metadata (version, source, plan). Without a gate, the size of the text does not
// depend on the results of the trial, so that the size of a model is known before it is written.
std::string statement_text(const Statement& statement);

// Reads the text, without the other metadata. Throws Error{kBadInput}.
Statement parse_statement(std::string_view text, const std::string& where);

// Returns nullopt if the model has no record. Throws Error{kBadInput}.
using Metadata = std::vector<std::pair<std::string, std::string>>;  // as of model::ModelFile
std::optional<Statement> read_statement(const Metadata& metadata, const std::filesystem::path& model);

// Rounds figures as they are recorded.
std::optional<double> stated_decibels(double sqnr_db);  // empty for exact outputs
StatedRun stated_run(const TrialResult& trial);
StatedGate stated_gate(const VerifyOptions& options, const VerifyResult& result);

nlohmann::json to_json(const StatedGate& gate);
// Throws nlohmann::json::exception.
StatedGate gate_from(const nlohmann::json& made);

Selection selection_of(const DataOptions& data);
DataOptions selected(DataOptions data, const Selection& selection);

// Replaces the record of a model. The file is replaced atomically; external data is not touched. Throws
// Error{kIo}.
void restate(const std::filesystem::path& model, const Statement& statement);

}  // namespace ounce::quantization
