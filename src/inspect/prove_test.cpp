#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <optional>

#include "base/digest.h"
#include "base/thread_pool.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/view/onnx_file.h"
#include "quantize/digests.h"
#include "quantize/statement.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Models without a recorded trial run, so that no runtime is needed.
class ProveTest : public testing::Test {
 protected:
  ProveTest() {
    QuantizeOptions options;
    options.trial.is_wanted = false;
    quantize(original, made, options);
    options_of_prove.source = original;
  }

  // Replaces the model's provenance record.
  void state(const json& statement) {
    const std::string bytes = test::read_file(made);
    std::string changed;
    for (const onnx::Bytes& kept : onnx::fields_without_entry(bytes, Statement::kMetadataKey))
      changed += kept;
    changed += onnx::metadata_field(Statement::kMetadataKey, statement.dump());
    test::write_file(made, changed);
  }
  json stated() const { return json::parse(quantization::statement_text(*statement_of(made))); }
  // A record as versions without SHA-256 wrote it.
  json old_statement() {
    json statement = stated();
    statement["version"] = 1;
    statement["content"] = quantization::weak_content_digest(*onnx::open_file(made), pool);
    statement.erase("source");
    return statement;
  }

  Proof prove_it() const { return prove(made, options_of_prove); }
  static ProofFinding finding(const Proof& proof, const std::string& name) {
    const auto step = std::find_if(proof.steps.begin(), proof.steps.end(),
                                   [&](const ProofStep& one) { return one.name == name; });
    EXPECT_NE(step, proof.steps.end()) << name;
    return step == proof.steps.end() ? ProofFinding::kNotChecked : step->finding;
  }

  const test::TemporaryFolder folder;
  const std::filesystem::path original = OUNCE_EXAMPLES "/commands/commands.onnx",
                              made = folder / "made.onnx";
  ProveOptions options_of_prove;
  ThreadPool pool{2};
};

TEST_F(ProveTest, WhatItsRecipeMakesAgainIsProved) {
  const Proof proof = prove_it();
  EXPECT_EQ(proof.verdict(), ProofVerdict::kProved) << proof.reason();
  EXPECT_TRUE(proof.holds());
  EXPECT_EQ(proof.statement.content.size(), 64U);
  EXPECT_EQ(proof.statement.source_sha256, sha256_of(test::read_file(original)));
}

TEST_F(ProveTest, WithoutItsSourceNothingIsProved) {
  options_of_prove.source.clear();
  const Proof proof = prove_it();
  EXPECT_EQ(proof.verdict(), ProofVerdict::kUnproved);
  EXPECT_TRUE(proof.holds());
  EXPECT_EQ(finding(proof, "content"), ProofFinding::kHolds);
  EXPECT_THAT(proof.reason(), HasSubstr("source, recipe not checked"));
}

// Old digests can be forged, so a match proves nothing, but a mismatch refutes the record.
TEST_F(ProveTest, AnOldStatementIsUnprovedAtBest) {
  state(old_statement());
  Proof proof = prove_it();
  EXPECT_FALSE(proof.statement.has_strong_digests());
  EXPECT_EQ(proof.verdict(), ProofVerdict::kUnproved);
  EXPECT_EQ(finding(proof, "content"), ProofFinding::kNotChecked);
  EXPECT_EQ(finding(proof, "source"), ProofFinding::kNotChecked);
  EXPECT_EQ(finding(proof, "recipe"), ProofFinding::kHolds);
  json changed = old_statement();
  changed["content"] = std::string(32, '0');
  state(changed);
  proof = prove_it();
  EXPECT_EQ(proof.verdict(), ProofVerdict::kRefuted);
  EXPECT_EQ(finding(proof, "content"), ProofFinding::kFails);
}

TEST_F(ProveTest, AStatementThatDoesNotFitIsRefuted) {
  const json genuine = stated();
  for (const char* key : {"content", "source"}) {
    json changed = genuine;
    changed[key] = std::string(64, '0');
    state(changed);
    const Proof proof = prove_it();
    EXPECT_EQ(proof.verdict(), ProofVerdict::kRefuted) << key;
    EXPECT_EQ(finding(proof, key), ProofFinding::kFails);
  }
  json changed = genuine;
  changed["recipe"]["granularity"] = "tensor";
  state(changed);
  const Proof proof = prove_it();
  EXPECT_EQ(proof.verdict(), ProofVerdict::kRefuted);
  EXPECT_EQ(finding(proof, "recipe"), ProofFinding::kFails);
}

// A new record must not have an old digest.
TEST_F(ProveTest, AnOldDigestInANewStatementIsRefuted) {
  json changed = stated();
  changed["content"] = old_statement()["content"];
  state(changed);
  const Proof proof = prove_it();
  EXPECT_EQ(proof.verdict(), ProofVerdict::kRefuted);
  EXPECT_EQ(finding(proof, "content"), ProofFinding::kFails);
}

// Computes the digest as docs/reference/prove.md describes it for checks without Ounce.
TEST_F(ProveTest, TheSourceOfSeveralFilesIsTheDigestOfTheirDigests) {
  const std::filesystem::path source = OUNCE_EXAMPLES "/commands/commands.onnx";
  onnx::Model model = onnx::read_model(source);
  test::write_file(folder / "a.data", "a");
  test::write_file(folder / "b.data", "b");
  for (const char* name : {"b.data", "a.data"})
    model.external_files.emplace(name, io::MappedFile::open(folder / name));
  EXPECT_EQ(
      quantization::source_sha256(onnx::OnnxFile(std::move(model)), pool),
      sha256_of(sha256_of(test::read_file(source)) + "\n" + sha256_of("a") + "\n" + sha256_of("b") + "\n"));
}

}  // namespace
}  // namespace ounce
