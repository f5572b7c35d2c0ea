// How a graph is partitioned when a provider takes its nodes and leaves the others to the CPU.
//
//   Conv ─ Relu ─ NonZero ─ Cast ─ Add       two partitions of two nodes, if the provider has no NonZero
//          └──────────────────────┘
//
// An partition is a partition of the provider; data is copied to it and back. It is formed as ONNX Runtime
// forms it: as large as it can be without any CPU node that both needs the partition and is needed by it; its
// nodes need not be connected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/onnx/graph/index.h"
#include "target/ort/provider_ops.h"

namespace ounce::target {

struct Partitions {
  std::size_t nodes = 0, taken = 0, partitions = 0, largest = 0;  // largest: nodes of one partition
  // Nodes that are taken and compute something, and partitions that have one. The others convert or move data
  // (DequantizeLinear, Cast, Reshape …), which accelerates nothing.
  std::size_t computing = 0, computing_partitions = 0;
  std::size_t folded = 0;         // nodes that are computed before the model runs, and not among `nodes`
  std::vector<std::string> left;  // op types and counts that stay on the CPU, most first: "NonZero 2"
};

enum class Share : std::uint8_t {
  kNone,  // computed before the model runs: does not count
  kCpu,
  kProvider,
};

// Of the main graph, with a share for each of its nodes. Near-linear.
Partitions partitions_of(const graph::Index& index, std::span<const Share> shares);

// As the documentation has it.
Partitions partitions_of(const ProviderDocs& docs);

}  // namespace ounce::target
