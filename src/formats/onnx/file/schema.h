// The field numbers of the ONNX file format (onnx.proto, schema of ONNX 1.23), message by message.
// All other fields are copied unchanged, without interpretation.
#pragma once

#include <cstdint>

namespace ounce::onnx {

enum class ModelField : std::uint32_t {
  kIrVersion = 1,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadata = 14,
  kTrainingInfo = 20,
  kFunction = 25,
};

enum class OpsetField : std::uint32_t { kDomain = 1, kVersion = 2 };

enum class EntryField : std::uint32_t { kKey = 1, kValue = 2 };  // StringStringEntryProto

enum class GraphField : std::uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kSparseInitializer = 15,
};

enum class TrainingField : std::uint32_t { kInitialization = 1, kAlgorithm = 2 };

enum class FunctionField : std::uint32_t {
  kName = 1,
  kInput = 4,
  kOutput = 5,
  kAttribute = 6,
  kNode = 7,
  kOpsetImport = 9,
  kDomain = 10,
  kAttributeDefault = 11,
  kOverload = 13,
};

enum class NodeField : std::uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDomain = 7,
};

enum class AttributeField : std::uint32_t {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTensors = 10,
  kGraphs = 11,
  kType = 20,
  kReference = 21,
  kSparseTensor = 22,
  kSparseTensors = 23,
};

enum class AttributeType : std::int64_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
};

enum class TensorField : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

enum class SparseTensorField : std::uint32_t { kValues = 1, kIndices = 2, kDims = 3 };

enum class ValueInfoField : std::uint32_t { kName = 1, kType = 2 };

enum class TypeField : std::uint32_t {
  kTensor = 1,
  kSequence = 4,
  kMap = 5,
  kSparseTensor = 8,
  kOptional = 9,
};
enum class TensorTypeField : std::uint32_t { kElementType = 1, kShape = 2 };
enum class SequenceTypeField : std::uint32_t { kElementType = 1 };  // OptionalType has the same shape
enum class MapTypeField : std::uint32_t { kKeyType = 1, kValueType = 2 };
enum class ShapeField : std::uint32_t { kDim = 1 };
enum class DimensionField : std::uint32_t { kValue = 1, kParameter = 2 };

}  // namespace ounce::onnx
