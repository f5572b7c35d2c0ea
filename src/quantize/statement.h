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
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::quantization {

// What its other metadata says (version, source, plan) is not repeated. Until there is a gate, the text has
// the same size whatever the trial found, so that the size of a model is known before it is written.
std::string statement_text(const Statement& statement);

// What it says without the other metadata. Throws Error{kBadInput}.
Statement parse_statement(std::string_view text, const std::string& where);

// Nothing when the model has none. Throws Error{kBadInput}.
std::optional<Statement> read_statement(const onnx::Model& model);

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

// A digest of the computation of a model: all of it except its metadata, whether its weights are in the file
// or in external data.
//
// The model is serialized as one file without metadata. The digest is the SHA-256 of the SHA-256 digests (32
// bytes each) of its stretches of 4 MiB, in order, so that threads share the work.

// Metadata may come and go, and weights may be packed into the file or out of it; any other change gives
// another digest. 64 hexadecimal digits. Takes the model as its metadata is taken out of it.
std::string content_digest(onnx::Model model, ThreadPool& pool);

// The same of XXH3, which can be forged: statements of version 1 have it. 32 hexadecimal digits.
std::string weak_content_digest(onnx::Model model, ThreadPool& pool);

// The digest that a quantized model keeps of its source: of the model file and of the external files it
// names.
//
// Large float tensors are digested tile by tile, which the plan does while it reads them for their ranges;
// everything between them is digested here. The result does not depend on the plan: a tensor that the plan
// did not read is digested here in the same way. (The plan lists all float tensors; an empty one gives
// another digest, of plain pieces.)

std::string source_digest(const onnx::Model& source, const plan::Plan& plan, ThreadPool& pool);

// What a statement has of the source, for those who do not trust whoever wrote it: the SHA-256 of the model
// file as `sha256sum` prints it. With external data, the SHA-256 of the lines with the digests of all files,
// the model first and then the data files in the order of their names:
//
//   sha256sum model.onnx a.data b.data | cut -c-64 | sha256sum
std::string source_sha256(const onnx::Model& source, ThreadPool& pool);

}  // namespace ounce::quantization
