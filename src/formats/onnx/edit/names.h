// Shortens the names of all values inside a model, and removes the names and doc strings of its nodes.
//
//   MatMul "/layers.0/attn/q_proj/MatMul"                          MatMul
//     x, model.layers.0.attn.q_proj.weight → /layers.0/q    →        x, b → a
//
// The inputs and outputs of the main graph keep their names. All other values, in subgraphs and functions
// too, become "a", "b" … "Z", "aa", "ab" …, unique in the whole model; the most frequent ones get the
// shortest names. Declared types are renamed with their values, or removed if there is no such value.
//
// A model is not changed if other parts of the file may refer to values by name: quantization annotations,
// training graphs, types declared in functions, or device placement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

struct ShortenedNames {
  std::uint64_t saved = 0;  // bytes of names and doc strings; 0 if the model was not changed
  std::map<std::pair<std::size_t, std::string>, onnx::Bytes> new_names;  // by body and old name
};

// Changes the model only if it saves at least `least` bytes.
ShortenedNames shorten_names(onnx::Model& model, std::uint64_t least = 1);

// Gives names to unnamed Gather and Slice nodes.
//
// ONNX Runtime 1.18 to 1.21 fuses several of them into a Split named after the first one, and rejects models
// in which two such names are equal. All unnamed nodes have the same (empty) name.

// Processes all bodies, functions included. Returns the number of named nodes.
std::size_t name_slices(onnx::Model& model);

// Removes the names of Constant nodes.
//
//   Constant "…/rnn/Constant_12" → value     becomes     Constant → value
//
// Other nodes refer to the value, which keeps its name. The node's own name is unused, because runtimes
// convert Constant nodes to initializers at load. Exporters give them long names: 1 % of the file in some
// models.

// Processes all bodies, functions included. Returns the number of changed nodes.
std::size_t strip_constant_names(onnx::Model& model);

// Imports the opset domains that new ops need.

// Adds version 1 of every domain that a node in any body uses and that is not imported. Functions have their
// own imports.
void import_domains(onnx::Model& model);

}  // namespace ounce::passes
