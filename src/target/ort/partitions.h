// Partitions a graph between an execution provider and the CPU.
//
//   Conv ─ Relu ─ NonZero ─ Cast ─ Add       two partitions of two nodes, if the provider has no NonZero
//          └──────────────────────┘
//
// A partition is a set of nodes that the provider runs together; data is copied to it and back. Partitions
// are formed as by ONNX Runtime: as large as possible without a CPU node that both depends on the partition
// and is required by it. The nodes of a partition need not be connected.
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
  // Taken nodes with arithmetic, and partitions with such nodes. Other nodes only convert or move data
  // (DequantizeLinear, Cast, Reshape …).
  std::size_t computing = 0, computing_partitions = 0;
  std::size_t folded = 0;         // constant nodes, computed at load; not included in `nodes`
  std::vector<std::string> left;  // op types on the CPU with counts, most frequent first: "NonZero 2"
};

enum class Share : std::uint8_t {
  kNone,  // computed at load; not counted
  kCpu,
  kProvider,
};

// Partitions the main graph, with one share per node, in near-linear time.
Partitions partitions_of(const graph::Index& index, std::span<const Share> shares);

// Partitions a graph according to the documentation of a provider.
Partitions partitions_of(const ProviderDocs& docs);

}  // namespace ounce::target
