#include "report/recipe_command.h"

#include <gtest/gtest.h>

namespace ounce::report {
namespace {

TEST(OptionWordsTest, FieldsBecomeOptions) {
  EXPECT_EQ(with_options("`format=int8` needs calibration data: give `data`"),
            "--to int8 needs calibration data: give --data");
  EXPECT_EQ(with_options("`shape` NAME=LENGTH says otherwise"), "--shape NAME=LENGTH says otherwise");
  EXPECT_EQ(with_options("`half.keep`"), "--keep-fp32");
  EXPECT_EQ(with_options("`carry` and `shards` exclude each other"),
            "--carry and --shard exclude each other");
}

TEST(OptionWordsTest, ValuesStandBehindTheirOption) {
  EXPECT_EQ(with_options("`format=int8` keeps them"), "--to int8 keeps them");
  EXPECT_EQ(with_options("(`rescale_factor=1/255`)"), "(--rescale 1/255)");
  EXPECT_EQ(with_options("`nodes=a=b`"), "--node a=b");
}

TEST(OptionWordsTest, AValueMayHaveAnOptionOfItsOwn) {
  EXPECT_EQ(with_options("`trial.is_wanted=false` writes all the same"), "--no-verify writes all the same");
  EXPECT_EQ(with_options("`integer.reduce_range=false` or `integer.reduce_range=true`"),
            "--no-reduce-range or --reduce-range");
  EXPECT_EQ(with_options("`cpus={}` does not look there"), "--on none does not look there");
}

TEST(OptionWordsTest, WhatIsNoFieldStaysAsItIs) {
  for (const char* text : {"", "no backticks", "one ` alone", "`", "``", "``` ```", "a `name` of a node",
                           "`trial.is_wanted`", "`trial.is_wanted=true`", "`Data`", "` data`", "`=static`"})
    EXPECT_EQ(with_options(text), text);
}

TEST(OptionWordsTest, FieldsAreFoundBehindBackticksOfOthers) {
  EXPECT_EQ(with_options("'a`b': leave it out with `exclude`"), "'a`b': leave it out with --exclude");
  EXPECT_EQ(with_options("`a``data`"), "`a`--data");
  EXPECT_EQ(with_options("`data` `"), "--data `");
}

TEST(OptionWordsTest, AProgramThatCallsTheVerbsReadsTheNamesOfItsParameters) {
  {
    const NamesParameters names;
    EXPECT_EQ(with_options("give `data`, or `ranges` from `calibrate()`"),
              "give `data`, or `ranges` from `calibrate()`");
    EXPECT_EQ(with_options("within the 1.00 points of `gates.max_drop`"),
              "within the 1.00 points of `max_drop`");
    EXPECT_EQ(with_options("`format=w8` is as small"), "`to=\"w8\"` is as small");
    EXPECT_EQ(with_options("use `batch=1`"), "use `batch=1`");
    EXPECT_EQ(with_options("`trial.is_wanted=false` or `integer.reduce_range=true`"),
              "`verify=False` or `reduce_range=True`");
    EXPECT_EQ(with_options("`keep=false`, `cpus={}`, `contract.inputs` NAME"),
              "`no_cache=True`, `on=\"none\"`, `for_` NAME");
    EXPECT_EQ(with_options("add it with `set_contract()`"), "add it with `contract.set()`");
    EXPECT_EQ(with_options(Error(ErrorCode::kUsage, "give `gates.min_sqnr`")), "give `min_sqnr`");
    EXPECT_EQ(with_options("a `name` of a node"), "a `name` of a node");
  }
  EXPECT_EQ(with_options("give `data`"), "give --data");
}

TEST(OptionWordsTest, ErrorsKeepTheNameOfWhereTheyHappened) {
  EXPECT_EQ(with_options(Error(ErrorCode::kUsage, "give `data`", "`data`.onnx")), "`data`.onnx: give --data");
  EXPECT_EQ(with_options(Error(ErrorCode::kUsage, "give `data`")), "give --data");
}

TEST(OptionWordsTest, AVerbNamesItsOwnOptions) {
  EXPECT_EQ(with_options("`--shard` '4/3' must be I/N"), "--shard '4/3' must be I/N");
  const NamesParameters names;
  EXPECT_EQ(with_options("`--shard` '4/3' must be I/N"), "`shard` '4/3' must be I/N");
  EXPECT_EQ(with_options("`--cache` and `--no-cache` contradict"), "`cache` and `no_cache` contradict");
  EXPECT_EQ(with_options("options such as `--rescale 1/255`"), "options such as `rescale=\"1/255\"`");
}

}  // namespace
}  // namespace ounce::report
