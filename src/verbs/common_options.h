// The options that verbs share: data, the runtime, other machines and CPUs, and what a model has to keep.
// They write to the options of the library.
#pragma once

#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

#include <optional>
#include <string>
#include <vector>

#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::verbs {

// Data: where it is, and how it meets the model.

// How raw data becomes an input: a file that `file_option` names, and options that change what it says.
// Nothing when neither was given.
void add_contract_options(Options& options, std::optional<Contract>& contract, const char* file_option);

// What the help of --data says about a command without data.
inline constexpr const char* kRandomInputs = "default: random inputs";
inline constexpr const char* kDataRequired = "required";

// With the contract's options, unless the model's own contract is what a verb is about.
void add_data_options(Options& options, DataOptions& data, bool with_contract = true,
                      const std::string& without_data = kRandomInputs);
void add_batch_option(Options& options, DataOptions& data);
// Adds the data that a program has in memory. Throws Error{kUsage} if --data was given, too.
void use_given(DataOptions& data, const InMemoryInputs& given);

// Quality: when a model is as good as its original.

// `title` is the heading of the thresholds in the help, `usual` the confidence when none is given.
void add_gate_options(Options& options, Gates& gates, QualityOptions& quality, const std::string& title,
                      const std::string& usual);
// What labels speak of, and how they are counted.
void add_metric_options(Options& options, QualityOptions& quality);
void add_metric_command_options(Options& options, MetricCommand& command, const std::string& help);
// Adds the function that a program measures by. Throws Error{kUsage} if --metric-command was given, too.
void use_given(MetricCommand& command, const InMemoryInputs& given);

// The runtime: which ONNX Runtime runs models, and where.

void add_runtime_options(Options& options, RuntimeOptions& runtime);
// The process that a model runs in: part of add_runtime_options().
void add_isolation_options(Options& options, std::optional<Isolation>& isolation);

// Another machine, or another architecture under an emulator.
void add_remote_options(Options& options, Remote& remote);
// Nothing when models run here. Throws Error{kUsage} for options that mean nothing without the others.
std::optional<Remote> remote_of(const Remote& remote);

// --on: the other CPUs that a model is run on.
void add_cpu_option(Options& options, std::string& on, const char* help);
// "auto": all that can be shown here, "none", or names with commas between. Throws Error{kUsage} for others.
std::vector<std::string> cpus_of(const std::string& on);
// "auto", or what the environment variable OUNCE_ON says.
std::string usual_cpus();

}  // namespace ounce::verbs
