// Measures on several machines: questions, the queue that takes them, and workers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/search.h>

namespace ounce {

// == Work ==
//
// tune(), sensitivity() and calibrate_parts() decide on one machine and measure on many. Each measurement is
// a question: JSON text with the digests of the model, of the data and of the options, and with what to
// measure. Its answer depends on nothing else, so any worker may give it, at any time, and several times.
//
//   const std::unique_ptr<ounce::WorkQueue> queue = ounce::folder_queue("/shared/queue", session);
//   options.queue = queue.get();
//   ounce::sensitivity("model.onnx", options);           // waits for the answers of workers
//
// docs/reference/queue.md describes the questions and the folder.

class Progress;

class WorkQueue {
 public:
  // Gets the index of a question and its answer.
  using Take = std::function<void(std::size_t question, const std::string& answer)>;

  virtual ~WorkQueue() = default;
  // Asks questions and calls `take`, one call at a time, for each answer as it arrives. Returns when all are
  // answered. Throws Error{kCancelled} when the call is stopped, or the error that answers a question.
  virtual void ask(const std::vector<std::string>& questions, const Take& take) = 0;
};

// Answers questions about one model with its data and options. Keeps what these measurements share: the
// prepared model, activation statistics, and the recorded outputs of the original.
class Session {
 public:
  virtual ~Session() = default;
  // The digests of its inputs, one line each. A question with other lines is not for this session.
  virtual const std::string& identity() const = 0;
  // Returns the answer as JSON. Thread-safe. Throws Error.
  virtual std::string answer(const std::string& question) = 0;
};

std::unique_ptr<Session> open_session(const std::filesystem::path& model, const TuneOptions& options);
std::unique_ptr<Session> open_session(const std::filesystem::path& model, const SensitivityOptions& options);
std::unique_ptr<Session> open_session(const std::filesystem::path& model, const CalibrateOptions& options);

// calibrate() in parts: workers observe `parts` parts of the data (0: chosen by the number of samples), and
// the merged file has the bytes of one run. Throws Error{kUsage} for data with a recurrent state.
CalibrateResult calibrate_parts(const std::filesystem::path& model, const std::filesystem::path& output,
                                const CalibrateOptions& options, WorkQueue& queue, std::uint64_t parts = 0);

// == A queue in a folder ==
//
// A folder that all machines share. No server and no locks: an item is taken with a lease, which is a link
// that only one worker can create; a worker proves that it lives by a counter; the first answer counts.
//
// A user who can write to the folder can ask workers to measure models, and can invent answers: share it only
// with users that you trust (SECURITY.md).

struct QueueLimits {
  double lease_seconds = 120;  // a worker whose counter does not change for this time has ended
};

// Asks workers through `folder`, which is created if it does not exist. `session` says in JSON how a worker
// opens the session; it is a part of every question. Throws Error{kIo}.
std::unique_ptr<WorkQueue> folder_queue(const std::filesystem::path& folder, const std::string& session,
                                        const QueueLimits& limits = {}, Progress* progress = nullptr);

struct WorkOptions {
  // Opens the session of a question. Throws Error if this worker must not or cannot.
  std::function<std::unique_ptr<Session>(const std::string& session)> open;
  bool times = false;         // also measures times: nothing else runs on this machine
  double idle_seconds = 600;  // ends after this time without an item
  QueueLimits limits;
  Progress* progress = nullptr;
  std::function<void(const std::string& line)> tell = [](const std::string&) {};  // a line of a log
};

struct WorkResult {
  std::uint64_t answered = 0;    // answers of this worker that count
  std::uint64_t late = 0;        // answers that came after another worker's
  std::uint64_t declined = 0;    // items that this worker cannot answer
  double measuring_seconds = 0;  // spent on answers
  double seconds = 0;
};

// Answers the questions in `folder` until there are none for `idle_seconds`. Throws Error.
WorkResult work(const std::filesystem::path& folder, const WorkOptions& options);

// Answers one question: JSON with the value, or with the error that measuring it threw. `open` is called for
// a new session; the last sessions stay open.
class Answering {
 public:
  explicit Answering(const WorkOptions& options);
  ~Answering();
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  // Throws Error{kUnsupported} if this worker must not or cannot answer the question.
  std::string answer(const std::string& question);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ounce
