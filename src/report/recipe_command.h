// The library names its fields in backticks: "give `data`", "`format=int8` keeps them". The command line
// names the options that set them: "give --data", "--to int8 keeps them". A program that calls the verbs
// (the C API, Python) passes parameters: "give `data`", "`to=\"int8\"` keeps them". A verb may name an
// option of its own in the same way: "`--shard` '4/3' must be I/N".
//
// For sentences only: errors, notes, verdicts, reasons, findings. Names and paths stay as they are.
#pragma once

#include <ounce/error.h>
#include <ounce/prove.h>

#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace ounce::report {

// While it lives, sentences made in this thread name parameters instead of options.
class NamesParameters {
 public:
  NamesParameters();
  ~NamesParameters();
  NamesParameters(const NamesParameters&) = delete;
  NamesParameters& operator=(const NamesParameters&) = delete;

 private:
  bool before_;
};

// What is in backticks and no field of ours keeps them.
std::string with_options(std::string_view sentence);
std::vector<std::string> with_options(const std::vector<std::string>& sentences);
// The option that sets a field, perhaps to a value: "format", "integer.search=false". Empty for what is no
// field.
std::string option_of_field(std::string_view field);
// Its what(); where it happened is a name.
std::string with_options(const Error& error);
// The fields that a sentence names.
std::vector<FieldRef> fields_in(std::string_view sentence);

// A statement as the command lines that replay it by hand.

// "ounce quantize SOURCE -o OUT --to int8 --no-search …": where the files are nobody knows but the user.
std::string making_command(const Statement& statement);
// "ounce verify SOURCE MODEL --data DATA --max-drop 1% …"; empty when no gate was stated.
std::string judging_command(const Statement& statement);

}  // namespace ounce::report
