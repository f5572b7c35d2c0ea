// The library names its fields in backticks: "give `data`", "`format=int8` keeps them". The command line
// names the options that set them: "give --data", "--to int8 keeps them". A program that calls the verbs
// (the C API, Python) passes parameters: "give `data`", "`to=\"int8\"` keeps them". A verb may name an
// option of its own in the same way: "`--shard` '4/3' must be I/N".
//
// Use these functions for sentences only (errors, notes, verdicts, reasons, findings), not for names and
// paths.
#pragma once

#include <ounce/error.h>
#include <ounce/verify.h>

#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace ounce::report {

// While an object of this class exists, sentences of this thread name parameters instead of options.
class NamesParameters {
 public:
  NamesParameters();
  ~NamesParameters();
  NamesParameters(const NamesParameters&) = delete;
  NamesParameters& operator=(const NamesParameters&) = delete;

 private:
  bool before_;
};

// Replaces fields in backticks by their options. Text in backticks that is no field is unchanged.
std::string with_options(std::string_view sentence);
std::vector<std::string> with_options(const std::vector<std::string>& sentences);
// Returns the option for a field, with or without a value: "format", "integer.search=false". Empty for an
// unknown field.
std::string option_of_field(std::string_view field);
// The same for what() of an error; its where() is a name and is unchanged.
std::string with_options(const Error& error);
// Returns the fields that a sentence names.
std::vector<FieldRef> fields_in(std::string_view sentence);

// Command lines that reproduce a provenance record.

// "ounce quantize SOURCE -o OUT --to int8 --no-search …". The paths are placeholders, because a record has
// none.
std::string making_command(const Statement& statement);
// The same for a recipe with all choices made.
std::string making_command(const Recipe& recipe);
// "ounce verify SOURCE MODEL --data DATA --max-drop 1% …"; empty if no thresholds were recorded.
std::string judging_command(const Statement& statement);

}  // namespace ounce::report
