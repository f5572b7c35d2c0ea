// Interfaces of a loaded model and of its runs, implemented with ONNX Runtime for ONNX models and with LiteRT
// for TFLite models. Session and Call do not depend on a specific runtime.
//
//   const std::unique_ptr<LoadedModel> model = load_litert(bytes, options);
//   const std::unique_ptr<ModelRun> run = model->start();   // one per call
//   run->bind(inputs);
//   run->run();
//   run->outputs();
//
// To add a runtime, implement both interfaces and add a branch to Loader::open (session.cpp).
#pragma once

#include <ounce/app.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model_bytes.h"
#include "data/tensor.h"
#include "runtime/ort/library.h"

namespace ounce::app {

// The runs of one call. Not thread-safe, except for stop().
class ModelRun {
 public:
  virtual ~ModelRun() = default;
  // Sets the inputs. Each run() reads the views again: their values may change between runs, their addresses
  // may not. Throws Error{kBadInput} if a type or a shape does not match the model.
  virtual void bind(std::span<const data::TensorView> inputs) = 0;
  virtual void run() = 0;
  // May be called from another thread: ends the current run between two nodes, and all later runs until
  // resume().
  virtual void stop() noexcept = 0;
  virtual void resume() noexcept = 0;
  // The outputs of the last run, in the order of LoadedModel::outputs().
  virtual std::span<const data::TensorView> outputs() = 0;
};

// A loaded model. Thread-safe.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;
  virtual const std::vector<data::ValueDescription>& inputs() const = 0;
  virtual const std::vector<data::ValueDescription>& outputs() const = 0;
  // The value of a metadata key.
  virtual std::optional<std::string> metadata(const std::string& key) const = 0;
  virtual const std::string& model() const = 0;  // the model's name in errors
  virtual const char* runtime() const = 0;       // "ONNX Runtime"
  virtual const std::string& runtime_version() const = 0;
  // True if external data was truncated while the runtime read it: then the outputs are invalid.
  virtual bool was_cut() const noexcept { return false; }
  // The model must outlive the run.
  virtual std::unique_ptr<ModelRun> start() const = 0;
};

// Opens the library of ONNX Runtime. Throws Failure{kNoRuntime}.
std::shared_ptr<const runtime::Library> open_library(const std::string& wanted);

// Loads a model into ONNX Runtime from its path, or from its bytes if it has none.
std::unique_ptr<LoadedModel> load_ort(const ModelBytes& model,
                                      const std::shared_ptr<const runtime::Library>& library,
                                      const LoadOptions& options);
// Loads a model in ONNX Runtime's own format. The bytes are used in place and must outlive the model.
std::unique_ptr<LoadedModel> load_ort_mapped(std::string_view bytes, const std::string& name,
                                             const std::shared_ptr<const runtime::Library>& library,
                                             const LoadOptions& options);

// Loads a .tflite model into LiteRT. Bytes that ModelBytes::stays() are used in place and must outlive the
// model; others are copied. Throws Failure{kNoRuntime}, Failure{kUnsupported} for `shares_threads`.
std::unique_ptr<LoadedModel> load_litert(const ModelBytes& model, const LoadOptions& options);

}  // namespace ounce::app
