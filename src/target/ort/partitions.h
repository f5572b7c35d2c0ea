// How a graph is partitioned when a provider takes its nodes and leaves the others to the CPU.
//
//   Conv ─ Relu ─ NonZero ─ Cast ─ Add       two partitions of two nodes, if the provider has no NonZero
//          └──────────────────────┘
//
// A partition is a set of nodes that the provider runs at once; data is copied to it and back. It is formed
// as ONNX Runtime forms it: as large as possible without any CPU node that both needs the partition and is
// needed by it. The nodes of a partition need not be connected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/onnx/graph/index.h"
#include "target/ort/provider_ops.h"

namespace ounce::target {

// The partitions of a graph, as counts.
struct Partitions {
  std::size_t nodes = 0, taken = 0, partitions = 0, largest = 0;  // largest: nodes of one partition
  // Nodes of partitions that compute, and partitions with such nodes. The others only convert or move data
  // (DequantizeLinear, Cast, Reshape …).
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

// The partitions according to the documentation of a provider.
Partitions partitions_of(const ProviderDocs& docs);

}  // namespace ounce::target
