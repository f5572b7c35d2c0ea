// Gives every value inside of a model the shortest name there is, and takes names and notes off its nodes.
//
//   MatMul "/layers.0/attn/q_proj/MatMul"                          MatMul
//     x, model.layers.0.attn.q_proj.weight → /layers.0/q    →        x, b → a
//
// Names that the outside knows stay: those of the main graph's inputs and outputs. All others, in subgraphs
// and functions too, become "a", "b" … "Z", "aa", "ab" …, each once in the whole model, so that none hides
// another; what the file mentions most gets the shortest. A declared type goes with its value, or goes when
// there is no such value.
//
// Where something else in the file may call a value by its name, the model is left alone: annotations of
// quantization, training, types declared in functions, the placing of nodes on devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "formats/onnx/file/model.h"

namespace ounce::passes {

struct ShortenedNames {
  std::uint64_t saved = 0;  // bytes of names and notes; 0 when the model was left alone
  std::map<std::pair<std::size_t, std::string>, onnx::Bytes> new_names;  // by body and old name
};

// Leaves the model alone unless at least so many bytes go.
ShortenedNames shorten_names(onnx::Model& model, std::uint64_t least = 1);

// Names for Gather and Slice nodes that have none.
//
// ONNX Runtime 1.18 to 1.21 fuses several of them into a Split, calls it after the first one's name, and
// refuses the model when two such names are the same, which those of unnamed nodes are.

// At every depth, functions included. Returns how many nodes got a name.
std::size_t name_slices(onnx::Model& model);

// Takes the names off Constant nodes.
//
//   Constant "…/rnn/Constant_12" → value     becomes     Constant → value
//
// The value keeps its name, which is what other nodes refer to; the node's own name means nothing, as
// runtimes turn Constant nodes into initializers when they load. Exporters give them long names, in some
// models 1 % of the file.

// At every depth, functions included. Returns how many nodes it changed.
std::size_t strip_constant_names(onnx::Model& model);

// A model says which domains its ops come from: adds what new ops need.

// Version 1 of every domain that a node at any depth names and no import does. Functions get their own.
void import_domains(onnx::Model& model);

}  // namespace ounce::passes
