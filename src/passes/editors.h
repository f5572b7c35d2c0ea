// A BodyEditor for every body that a pass touches, made when it is first asked for.
//
//   Editors editors(model, index);
//   editors.of(body).remove_node(3);
//   editors.finish();
//
// A pass that is abandoned before finish() has changed nothing but what it changed at once.
#pragma once

#include <cstddef>
#include <map>

#include "graph/index.h"
#include "graph/names.h"
#include "onnx/model.h"
#include "passes/body_editor.h"

namespace ounce::passes {

class Editors {
 public:
  Editors(onnx::Model& model, const graph::Index& index) : model_(model), index_(index), names_(model) {}

  BodyEditor& of(std::size_t body) {
    return editors_.try_emplace(body, model_, index_, body, names_).first->second;
  }

  // Inner bodies first: their owners' positions are those of the original.
  void finish() {
    for (auto editor = editors_.rbegin(); editor != editors_.rend(); ++editor) editor->second.finish();
  }

 private:
  onnx::Model& model_;
  const graph::Index& index_;
  graph::Names names_;
  std::map<std::size_t, BodyEditor> editors_;
};

}  // namespace ounce::passes
