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

#include <cstdint>

#include "onnx/model.h"

namespace ounce::passes {

// Returns how many bytes of names and notes are gone; 0 when the model was left alone, which it also is when
// its names are as short already.
std::uint64_t shorten_names(onnx::Model& model);

}  // namespace ounce::passes
