// How a graph falls apart when a provider takes its nodes and leaves the others to the CPU.
//
//   Conv ─ Relu ─ NonZero ─ Cast ─ Add       two islands of two nodes, if the provider has no NonZero
//          └──────────────────────┘
//
// Every island costs a way there and a way back. It is formed as ONNX Runtime forms it: as large as it can be
// without any CPU node that both needs the island and is needed by it; its nodes need not be connected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/index.h"
#include "target/provider_ops.h"

namespace ounce::target {

struct Islands {
  std::size_t nodes = 0, taken = 0, islands = 0, largest = 0;  // largest: nodes of one island
  std::vector<std::string> left;  // op types and counts that stay on the CPU, most first: "NonZero 2"
};

enum class Share : std::uint8_t {
  kNone,  // computed before the model runs: does not count
  kCpu,
  kProvider,
};

// Of the main graph, with a share for each of its nodes. Near-linear.
Islands islands_of(const graph::Index& index, std::span<const Share> shares);

// As the documentation has it.
Islands islands_of(const ProviderDocs& docs);

}  // namespace ounce::target
