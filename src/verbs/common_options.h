// Options that several verbs share: data, preprocessing, accuracy thresholds, the runtime, other machines and
// CPUs. They write to the options structs of the library.
#pragma once

#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::verbs {

// Data: its location and its preprocessing.

// Adds the preprocessing options: `file_option`, which reads a file, and options that override single fields
// of it. `contract` stays empty if none of them is given.
void add_contract_options(Options& options, std::optional<Contract>& contract, bool* derive = nullptr);

// For the help of --data: the default without data.
inline constexpr const char* kRandomInputs = "default: random inputs";
inline constexpr const char* kDataRequired = "required";

// Adds --data and related options; `with_contract` also adds the preprocessing options. `without_data` is
// kRandomInputs, kDataRequired or a similar phrase for the help.
void add_data_options(Options& options, DataOptions& data, bool with_contract = true,
                      const std::string& without_data = kRandomInputs);
// Adds --shape: lengths of dynamic axes by parameter or place.
void add_shape_option(Options& options, std::map<std::string, std::int64_t>& shape, const std::string& help);
void add_batch_option(Options& options, DataOptions& data);
// Adds the data that a program has in memory. Throws Error{kUsage} if --data was given, too.
void use_given(DataOptions& data, const InMemoryInputs& given);

// Quality: metrics and thresholds.

// Adds the thresholds (gates) and the metric options. `title` is the heading of the thresholds in the help,
// `usual` the default confidence.
void add_gate_options(Options& options, Gates& gates, QualityOptions& quality, const std::string& title,
                      const std::string& usual);
// Adds --gate, which sets several thresholds by one name.
void add_gate_set_option(Options& options, Gates& gates);
// Adds the options that choose the task, the metric and the outputs to judge.
void add_metric_options(Options& options, QualityOptions& quality);
void add_metric_command_options(Options& options, MetricCommand& command, const std::string& help);
// Adds the function that a program measures by. Throws Error{kUsage} if --metric-command was given, too.
void use_given(MetricCommand& command, const InMemoryInputs& given);

// The runtime: the libraries that run models, and the machine.

void add_runtime_options(Options& options, RuntimeOptions& runtime);
// Adds the options of the process that runs a model. add_runtime_options() includes them.
void add_isolation_options(Options& options, std::optional<Isolation>& isolation);

// Adds the options for another machine, or another architecture in an emulator.
void add_remote_options(Options& options, Remote& remote);
// Returns nullopt if models run on this machine. Throws Error{kUsage} for remote options without --via,
// --launcher or --runner.
std::optional<Remote> remote_of(const Remote& remote);

// --on: other CPUs to run a model on.
void add_cpu_option(Options& options, std::string& on, const char* help);
// Parses "auto" (all CPUs that this machine can emulate), "none", or names separated by commas. Throws
// Error{kUsage} for unknown names.
std::vector<std::string> cpus_of(const std::string& on);
// Returns the default of --on: the environment variable OUNCE_ON, or "auto".
std::string usual_cpus();

}  // namespace ounce::verbs
