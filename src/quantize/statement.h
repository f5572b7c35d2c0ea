// The statement that a model carries (ounce/prove.h), as the text in its metadata.
//
//   {"version": 2, "content": "<SHA-256>", "source": "<SHA-256>", "recipe": {"format": "w8"},
//    "releases": {"x64": "1.14.0", …},
//    "trial": {"runtime": "1.31.0", "samples": 32, "data": "<SHA-256>", "sqnr_db": 41}}
//
// Version 1 had digests of XXH3 and none of the source. It is still read.
//
// It stands at the end of the file, where it is put when the model has been tried. Nothing in it depends on
// the time, the place or the speed of a machine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ounce/prove.h>
#include <ounce/quantize.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/thread_pool.h"

namespace ounce::quantization {

// What its other metadata says (version, source, plan) is not repeated. Until there is a gate, the text has
// the same size whatever the trial found, so that the size of a model is known before it is written.
std::string statement_text(const Statement& statement);

// What it says without the other metadata. Throws Error{kBadInput}.
Statement parse_statement(std::string_view text, const std::string& where);

// Nothing when the model has none. Throws Error{kBadInput}.
using Metadata = std::vector<std::pair<std::string, std::string>>;  // as of model::ModelFile
std::optional<Statement> read_statement(const Metadata& metadata, const std::filesystem::path& model);

// Figures as they are stated.
std::optional<double> stated_decibels(double sqnr_db);  // nothing for exact outputs
StatedRun stated_run(const TrialResult& trial);
StatedGate stated_gate(const VerifyOptions& options, const VerifyResult& result);

nlohmann::json to_json(const StatedGate& gate);
// Throws nlohmann::json::exception.
StatedGate gate_from(const nlohmann::json& made);

Selection selection_of(const DataOptions& data);
DataOptions selected(DataOptions data, const Selection& selection);

// Puts another statement in the place of the one that the model has, whose file is replaced in one step; its
// external data stays. Throws Error{kIo}.
void restate(const std::filesystem::path& model, const Statement& statement);

}  // namespace ounce::quantization
