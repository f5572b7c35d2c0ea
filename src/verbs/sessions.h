// Sessions of verbs that let workers measure: a coordinator writes them, a worker opens them.
//
//   {"verb": "tune", "model": "/data/m.onnx", "options": {"data": ["/data/val.npz"], "labels": "label"}}
//
// A session has only the options that change measurements, and absolute paths. A worker refuses all others,
// because a session may come from another user: no option of a session runs a program, loads a library or
// writes a file, and models and data are read in the worker's own roots only.
#pragma once

#include <ounce/work.h>

#include <nlohmann/json_fwd.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verbs/json_options.h"
#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::verbs {

// --queue and --lease.
struct QueueArguments {
  std::string folder;
  QueueLimits limits;
};
void add_queue_options(Options& options, QueueArguments& queue);
void add_lease_option(Options& options, QueueLimits& limits);

// The queue of a call, or null without --queue. Throws Error{kUsage} for an option or for data that workers
// cannot have.
std::unique_ptr<WorkQueue> queue_of(const QueueArguments& queue, const Options& verb,
                                    const std::filesystem::path& model, const InMemoryInputs& given,
                                    Progress* progress);

// Opens the session of a question. Throws Error{kUsage} for an option that no session may have, and for a
// path outside of the `roots`.
std::unique_ptr<Session> open_session_text(const std::string& session,
                                           const std::vector<std::filesystem::path>& roots);

// The options of a worker.
void add_worker_options(Options& options, std::vector<std::string>& roots, bool& times);
// For WorkOptions::open. Without a root it is the current folder.
std::function<std::unique_ptr<Session>(const std::string&)> session_opener(
    const std::vector<std::string>& roots);

// For VerbInfo::open.
template <class Arguments, auto declare, auto open>
std::unique_ptr<Session> session_of(const std::string& verb, const nlohmann::ordered_json& words) {
  Options options(verb);
  Arguments arguments;
  declare(options, arguments);
  read_json(options, words);
  options.take_words();
  return open(arguments, options);
}

}  // namespace ounce::verbs
