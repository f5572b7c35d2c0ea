#include "quantize/statement.h"
#include "quantize/digests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <limits>

namespace ounce::quantization {
namespace {

using testing::HasSubstr;

Statement plain_statement() {
  Statement statement;
  statement.content = std::string(64, 'c');
  statement.source_sha256 = std::string(64, 'f');
  statement.recipe.format = Format::kW8;
  statement.releases = {{"arm64", "1.14.0"}, {"x64", "1.14.0"}};
  return statement;
}

StatedGate full_gate() {
  StatedGate gate;
  gate.gates.max_drop = 0.01;
  gate.gates.max_drops["f1"] = 0.5;
  gate.gates.confidence = 0.9;
  gate.quality.task = Task::kTag;
  gate.quality.metric = "entity_f1";
  gate.quality.tags = {"O", "B-PER"};
  gate.quality.label_output = "logits";
  gate.quality.outputs = {"logits", "boxes"};
  gate.quality.threshold = 0.25;
  gate.has_command = true;
  gate.edge_cases = false;
  gate.selection = {3, 40, 1, 2, 8};
  gate.run = {"1.31.0", 40, false, std::string(64, 'd'), std::string(64, 'e'), 31};
  gate.agreement = 0.975;
  gate.metrics = {{"top1_accuracy", 0.9, 0.895, -0.01, 0.02}};
  return gate;
}

// The size of a file must be known before it is written and tried.
TEST(StatementTest, HasTheSameSizeWhateverTheTrialFound) {
  Statement statement = plain_statement();
  const std::size_t size = statement_text(statement).size();
  statement.trial = StatedRun{"1.9.0", 1, true, std::string(64, 'd'), {}, {}};
  EXPECT_EQ(statement_text(statement).size(), size);
  statement.trial = StatedRun{"1.131.10", 100000, true, std::string(64, 'd'), {}, -123};
  EXPECT_EQ(statement_text(statement).size(), size);
  statement.content.clear();
  statement.source_sha256.clear();
  EXPECT_EQ(statement_text(statement).size(), size);
}

TEST(StatementTest, SaysNothingOfTimePlaceOrSpeed) {
  Statement statement = plain_statement();
  statement.gate = full_gate();
  const std::string text = statement_text(statement);
  for (const char* word : {"seconds", "latency", "path", "cpu", "/"}) EXPECT_THAT(text, Not(HasSubstr(word)));
}

TEST(StatementTest, AGateComesBackWhole) {
  const StatedGate gate = full_gate(), read = gate_from(to_json(gate));
  EXPECT_EQ(to_json(read), to_json(gate));
  EXPECT_EQ(read.selection, gate.selection);
  EXPECT_EQ(read.gates.max_drops, gate.gates.max_drops);
  EXPECT_EQ(read.metrics.at(0).drop_high, 0.02);
  EXPECT_EQ(read.quality.tags, gate.quality.tags);
  EXPECT_EQ(read.quality.outputs, gate.quality.outputs);
  EXPECT_EQ(read.run.labels, gate.run.labels);
}

TEST(StatementTest, DecibelsAreWholeAndNeverTooMany) {
  EXPECT_EQ(stated_decibels(41.99), 41);
  EXPECT_EQ(stated_decibels(-0.5), -1);
  EXPECT_EQ(stated_decibels(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(stated_decibels(std::numeric_limits<double>::quiet_NaN()), -999);
}

TEST(StatementTest, WhatIsNoSelectionIsRefused) {
  nlohmann::json made = to_json(full_gate());
  made["selection"]["part"] = {2, 2};
  EXPECT_THROW(gate_from(made), nlohmann::json::exception);
  made["selection"]["part"] = {0, 0};
  EXPECT_THROW(gate_from(made), nlohmann::json::exception);
}

}  // namespace
}  // namespace ounce::quantization
