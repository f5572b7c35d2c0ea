// A model that its runtime has loaded, and the runs of a call: ONNX Runtime for ONNX models, LiteRT for
// TFLite models. Session and Call use these interfaces and name no runtime.
//
//   const std::unique_ptr<LoadedModel> model = load_litert(bytes, options);
//   const std::unique_ptr<ModelRun> run = model->start();   // one for each call
//   run->bind(inputs);
//   run->run();
//   run->outputs();
//
// To add a runtime: a class for each interface, and a row in Loader::open (session.cpp).
#pragma once

#include <ounce/app/session.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model_bytes.h"
#include "data/tensor.h"
#include "runtime/ort/library.h"

namespace ounce::app {

// The runs of one call, by one thread at a time but for stop().
class ModelRun {
 public:
  virtual ~ModelRun() = default;
  // The bytes of the views are read at each run(), so they may change in between; their places may not.
  // Throws Error{kBadInput} when a type or a shape is not what the model takes.
  virtual void bind(std::span<const data::TensorView> inputs) = 0;
  virtual void run() = 0;
  // From another thread: ends the current run, between two nodes, and all that follow until resume().
  virtual void stop() noexcept = 0;
  virtual void resume() noexcept = 0;
  // Views of what the last run gave, in the order of LoadedModel::outputs().
  virtual std::span<const data::TensorView> outputs() = 0;
};

// May be used by several threads at once.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;
  virtual const std::vector<data::ValueDescription>& inputs() const = 0;
  virtual const std::vector<data::ValueDescription>& outputs() const = 0;
  // The value of a key in the model's metadata.
  virtual std::optional<std::string> metadata(const std::string& key) const = 0;
  virtual const std::string& model() const = 0;  // how to call it in errors
  virtual const char* runtime() const = 0;       // "ONNX Runtime"
  virtual const std::string& runtime_version() const = 0;
  // True if external data became shorter while the runtime read it: then the outputs mean nothing.
  virtual bool was_cut() const noexcept { return false; }
  // The model must outlive the run.
  virtual std::unique_ptr<ModelRun> start() const = 0;
};

// Opens ONNX Runtime. Throws Failure{kNoRuntime}.
std::shared_ptr<const runtime::Library> open_library(const std::string& wanted);

// Loads a model into ONNX Runtime from its path, or from its bytes if it has none.
std::unique_ptr<LoadedModel> load_ort(const ModelBytes& model,
                                      const std::shared_ptr<const runtime::Library>& library,
                                      const LoadOptions& options);
// The same for bytes of the runtime's own format, which are used in place and must outlive the model.
std::unique_ptr<LoadedModel> load_ort_mapped(std::string_view bytes, const std::string& name,
                                             const std::shared_ptr<const runtime::Library>& library,
                                             const LoadOptions& options);

// Loads a .tflite model into LiteRT. Bytes that ModelBytes::stays() are used in place and must outlive the
// model; others are copied. Throws Failure{kNoRuntime}, Failure{kUnsupported} for `shares_threads`.
std::unique_ptr<LoadedModel> load_litert(const ModelBytes& model, const LoadOptions& options);

}  // namespace ounce::app
