// The field numbers of the Core ML file format (Model.proto, MIL.proto and FeatureTypes.proto of coremltools
// 9), message by message. Fields that are not named here are carried through byte for byte.
#pragma once

#include <cstdint>

namespace ounce::coreml {

enum class ModelField : std::uint32_t {
  kVersion = 1,
  kDescription = 2,
  kPipelineClassifier = 200,
  kPipelineRegressor = 201,
  kPipeline = 202,
  kNeuralNetworkRegressor = 303,
  kNeuralNetworkClassifier = 403,
  kNeuralNetwork = 500,
  kMlProgram = 502,
};
// Fields from this number on are the content of a model; each model has exactly one of them.
inline constexpr std::uint32_t kFirstContent = 200;

enum class DescriptionField : std::uint32_t {
  kInput = 1,
  kOutput = 10,
  kState = 13,
  kFunction = 20,
  kDefaultFunction = 21,
  kMetadata = 100,
};
enum class FunctionDescriptionField : std::uint32_t { kName = 1, kInput = 2, kOutput = 3, kState = 6 };
enum class FeatureField : std::uint32_t { kName = 1, kType = 3 };
enum class FeatureTypeField : std::uint32_t {
  kInt64 = 1,
  kDouble = 2,
  kString = 3,
  kImage = 4,
  kArray = 5,
  kDictionary = 6,
  kSequence = 7,
  kState = 8,
};
enum class StateTypeField : std::uint32_t { kArray = 1 };
enum class ImageField : std::uint32_t {
  kWidth = 1,
  kHeight = 2,
  kColorSpace = 3,
  kEnumeratedSizes = 21,
  kSizeRange = 31,
};
enum class ArrayField : std::uint32_t { kShape = 1, kDataType = 2, kEnumeratedShapes = 21, kShapeRange = 31 };
enum class ShapesField : std::uint32_t { kShape = 1 };     // EnumeratedShapes
enum class ShapeRangeField : std::uint32_t { kSize = 1 };  // ShapeRange
enum class SizeRangeField : std::uint32_t { kLower = 1, kUpper = 2 };
enum class MetadataField : std::uint32_t {
  kShortDescription = 1,
  kVersion = 2,
  kAuthor = 3,
  kLicense = 4,
  kUserDefined = 100,
};
enum class EntryField : std::uint32_t { kKey = 1, kValue = 2 };  // of every map

enum class PipelineField : std::uint32_t { kModel = 1, kName = 2 };
enum class PipelineWrapperField : std::uint32_t { kPipeline = 1 };  // PipelineClassifier, PipelineRegressor

enum class ProgramField : std::uint32_t { kVersion = 1, kFunction = 2, kAttribute = 4 };
enum class FunctionField : std::uint32_t { kInput = 1, kOpset = 2, kBlock = 3, kAttribute = 4 };
enum class BlockField : std::uint32_t { kInput = 1, kOutput = 2, kOperation = 3, kAttribute = 4 };
enum class OperationField : std::uint32_t { kType = 1, kInput = 2, kOutput = 3, kBlock = 4, kAttribute = 5 };
enum class ArgumentField : std::uint32_t { kBinding = 1 };
enum class BindingField : std::uint32_t { kName = 1, kValue = 2 };
enum class NamedTypeField : std::uint32_t { kName = 1, kType = 2 };
enum class ValueTypeField : std::uint32_t { kTensor = 1, kList = 2, kTuple = 3, kDictionary = 4, kState = 5 };
enum class TensorTypeField : std::uint32_t { kDataType = 1, kRank = 2, kDimension = 3, kAttribute = 4 };
enum class DimensionField : std::uint32_t { kConstant = 1, kUnknown = 2 };
enum class ConstantDimensionField : std::uint32_t { kSize = 1 };
enum class TupleTypeField : std::uint32_t { kType = 1 };
enum class ListTypeField : std::uint32_t { kType = 1, kLength = 2 };
enum class DictionaryTypeField : std::uint32_t { kKey = 1, kValue = 2 };
enum class WrappedTypeField : std::uint32_t { kType = 1 };  // StateType
enum class ValueField : std::uint32_t { kDoc = 1, kType = 2, kImmediate = 3, kBlob = 5 };
enum class BlobField : std::uint32_t { kFile = 1, kOffset = 2 };
enum class ImmediateField : std::uint32_t { kTensor = 1, kTuple = 2, kList = 3, kDictionary = 4 };
enum class ListField : std::uint32_t { kValue = 1 };  // TupleValue, ListValue; pairs of a DictionaryValue
enum class TensorField : std::uint32_t {
  kFloats = 1,
  kInts = 2,
  kBools = 3,
  kStrings = 4,
  kLongInts = 5,
  kDoubles = 6,
  kBytes = 7,
};
enum class RepeatedField : std::uint32_t { kValue = 1 };

enum class NetworkField : std::uint32_t { kLayer = 1 };
enum class LayerField : std::uint32_t { kName = 1, kInput = 2, kOutput = 3, kFirstKind = 100 };
enum class WeightField : std::uint32_t {
  kFloat = 1,
  kFloat16 = 2,
  kRaw = 30,
  kInt8Raw = 31,
  kQuantization = 40,
};
enum class QuantizationField : std::uint32_t { kBits = 1, kLinear = 101, kLookup = 102 };
enum class LinearField : std::uint32_t { kScale = 1, kBias = 2 };
enum class LookupField : std::uint32_t { kValue = 1 };

}  // namespace ounce::coreml
