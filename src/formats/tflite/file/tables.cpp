#include "formats/tflite/file/tables.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ounce::tflite {
namespace {

using enum FieldKind;

constexpr FieldInfo kConv2D[] = {{"padding", kInt8},
                                 {"stride_w", kInt32},
                                 {"stride_h", kInt32},
                                 {"fused_activation_function", kInt8},
                                 {"dilation_w_factor", kInt32, 1},
                                 {"dilation_h_factor", kInt32, 1},
                                 {"quantized_bias_type", kInt8}};
constexpr FieldInfo kDepthwiseConv2D[] = {{"padding", kInt8},
                                          {"stride_w", kInt32},
                                          {"stride_h", kInt32},
                                          {"depth_multiplier", kInt32},
                                          {"fused_activation_function", kInt8},
                                          {"dilation_w_factor", kInt32, 1},
                                          {"dilation_h_factor", kInt32, 1}};
constexpr FieldInfo kConcatEmbeddings[] = {
    {"num_channels", kInt32}, {"num_columns_per_channel", kInts}, {"embedding_dim_per_channel", kInts}};
constexpr FieldInfo kLSHProjection[] = {{"type", kInt8}};
constexpr FieldInfo kPool2D[] = {{"padding", kInt8},        {"stride_w", kInt32},
                                 {"stride_h", kInt32},      {"filter_width", kInt32},
                                 {"filter_height", kInt32}, {"fused_activation_function", kInt8}};
constexpr FieldInfo kSVDF[] = {
    {"rank", kInt32}, {"fused_activation_function", kInt8}, {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kRNN[] = {{"fused_activation_function", kInt8}, {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kFullyConnected[] = {{"fused_activation_function", kInt8},
                                         {"weights_format", kInt8},
                                         {"keep_num_dims", kBool},
                                         {"asymmetric_quantize_inputs", kBool},
                                         {"quantized_bias_type", kInt8}};
constexpr FieldInfo kSoftmax[] = {{"beta", kFloat}};
constexpr FieldInfo kConcatenation[] = {{"axis", kInt32}, {"fused_activation_function", kInt8}};
constexpr FieldInfo kAdd[] = {{"fused_activation_function", kInt8}, {"pot_scale_int16", kBool, 1}};
constexpr FieldInfo kL2Norm[] = {{"fused_activation_function", kInt8}};
constexpr FieldInfo kLocalResponseNormalization[] = {
    {"radius", kInt32}, {"bias", kFloat}, {"alpha", kFloat}, {"beta", kFloat}};
constexpr FieldInfo kLSTM[] = {{"fused_activation_function", kInt8},
                               {"cell_clip", kFloat},
                               {"proj_clip", kFloat},
                               {"kernel_type", kInt8},
                               {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kResizeBilinear[] = {
    {"new_height", kInt32}, {"new_width", kInt32}, {"align_corners", kBool}, {"half_pixel_centers", kBool}};
constexpr FieldInfo kCall[] = {{"subgraph", kSubgraph}};
constexpr FieldInfo kReshape[] = {{"new_shape", kInts}};
constexpr FieldInfo kSkipGram[] = {
    {"ngram_size", kInt32}, {"max_skip_size", kInt32}, {"include_all_ngrams", kBool}};
constexpr FieldInfo kSpaceToDepth[] = {{"block_size", kInt32}};
constexpr FieldInfo kEmbeddingLookupSparse[] = {{"combiner", kInt8}};
constexpr FieldInfo kGather[] = {{"axis", kInt32}, {"batch_dims", kInt32}};
constexpr FieldInfo kReducer[] = {{"keep_dims", kBool}};
constexpr FieldInfo kSqueeze[] = {{"squeeze_dims", kInts}};
constexpr FieldInfo kSequenceRNN[] = {
    {"time_major", kBool}, {"fused_activation_function", kInt8}, {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kStridedSlice[] = {{"begin_mask", kInt32},       {"end_mask", kInt32},
                                       {"ellipsis_mask", kInt32},    {"new_axis_mask", kInt32},
                                       {"shrink_axis_mask", kInt32}, {"offset", kBool}};
constexpr FieldInfo kSplit[] = {{"num_splits", kInt32}};
constexpr FieldInfo kCast[] = {{"in_data_type", kInt8}, {"out_data_type", kInt8}};
constexpr FieldInfo kArgMax[] = {{"output_type", kInt8}};
constexpr FieldInfo kTransposeConv[] = {{"padding", kInt8},
                                        {"stride_w", kInt32},
                                        {"stride_h", kInt32},
                                        {"fused_activation_function", kInt8},
                                        {"quantized_bias_type", kInt8}};
constexpr FieldInfo kSparseToDense[] = {{"validate_indices", kBool}};
constexpr FieldInfo kShape[] = {{"out_type", kInt8}};
constexpr FieldInfo kFakeQuant[] = {
    {"min", kFloat}, {"max", kFloat}, {"num_bits", kInt32}, {"narrow_range", kBool}};
constexpr FieldInfo kPack[] = {{"values_count", kInt32}, {"axis", kInt32}};
constexpr FieldInfo kOneHot[] = {{"axis", kInt32}};
constexpr FieldInfo kUnpack[] = {{"num", kInt32}, {"axis", kInt32}};
constexpr FieldInfo kBidirectionalSequenceLSTM[] = {{"fused_activation_function", kInt8},
                                                    {"cell_clip", kFloat},
                                                    {"proj_clip", kFloat},
                                                    {"merge_outputs", kBool},
                                                    {"time_major", kBool, 1},
                                                    {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kBidirectionalSequenceRNN[] = {{"time_major", kBool},
                                                   {"fused_activation_function", kInt8},
                                                   {"merge_outputs", kBool},
                                                   {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kUnidirectionalSequenceLSTM[] = {{"fused_activation_function", kInt8},
                                                     {"cell_clip", kFloat},
                                                     {"proj_clip", kFloat},
                                                     {"time_major", kBool},
                                                     {"asymmetric_quantize_inputs", kBool},
                                                     {"diagonal_recurrent_tensors", kBool}};
constexpr FieldInfo kResizeNearestNeighbor[] = {{"align_corners", kBool}, {"half_pixel_centers", kBool}};
constexpr FieldInfo kLeakyRelu[] = {{"alpha", kFloat}};
constexpr FieldInfo kMirrorPad[] = {{"mode", kInt8}};
constexpr FieldInfo kUnique[] = {{"idx_out_type", kInt8, 2}};
constexpr FieldInfo kReverseSequence[] = {{"seq_dim", kInt32}, {"batch_dim", kInt32}};
constexpr FieldInfo kIf[] = {{"then_subgraph_index", kSubgraph}, {"else_subgraph_index", kSubgraph}};
constexpr FieldInfo kWhile[] = {{"cond_subgraph_index", kSubgraph}, {"body_subgraph_index", kSubgraph}};
constexpr FieldInfo kBatchMatMul[] = {
    {"adj_x", kBool}, {"adj_y", kBool}, {"asymmetric_quantize_inputs", kBool}};
constexpr FieldInfo kCumsum[] = {{"exclusive", kBool}, {"reverse", kBool}};
constexpr FieldInfo kCallOnce[] = {{"init_subgraph_index", kSubgraph}};
constexpr FieldInfo kConv3D[] = {{"padding", kInt8},
                                 {"stride_d", kInt32},
                                 {"stride_w", kInt32},
                                 {"stride_h", kInt32},
                                 {"fused_activation_function", kInt8},
                                 {"dilation_d_factor", kInt32, 1},
                                 {"dilation_w_factor", kInt32, 1},
                                 {"dilation_h_factor", kInt32, 1}};
constexpr FieldInfo kHashtable[] = {{"table_id", kInt32}, {"key_dtype", kInt8}, {"value_dtype", kInt8}};
constexpr FieldInfo kVarHandle[] = {{"container", kString}, {"shared_name", kString}};
constexpr FieldInfo kRandom[] = {{"seed", kInt64}, {"seed2", kInt64}};
constexpr FieldInfo kBucketize[] = {{"boundaries", kFloats}};
constexpr FieldInfo kGelu[] = {{"approximate", kBool}};
constexpr FieldInfo kStablehloConcatenate[] = {{"dimension", kInt64}};
constexpr FieldInfo kStablehloBroadcastInDim[] = {{"broadcast_dimensions", kLongs}};
constexpr FieldInfo kStablehloSlice[] = {
    {"start_indices", kLongs}, {"limit_indices", kLongs}, {"strides", kLongs}};
constexpr FieldInfo kStablehloConvolution[] = {{"window_strides", kLongs},
                                               {"padding", kLongs},
                                               {"lhs_dilation", kLongs},
                                               {"rhs_dilation", kLongs},
                                               {"window_reversal", kBools},
                                               {"input_batch_dimension", kInt64},
                                               {"input_feature_dimension", kInt64},
                                               {"input_spatial_dimensions", kLongs},
                                               {"kernel_input_feature_dimension", kInt64},
                                               {"kernel_output_feature_dimension", kInt64},
                                               {"kernel_spatial_dimensions", kLongs},
                                               {"output_batch_dimension", kInt64},
                                               {"output_feature_dimension", kInt64},
                                               {"output_spatial_dimensions", kLongs},
                                               {"feature_group_count", kInt64},
                                               {"batch_group_count", kInt64},
                                               {"precision_config", kUints}};
constexpr FieldInfo kStablehloCustomCall[] = {
    {"call_target_name", kString}, {"has_side_effect", kBool},          {"backend_config", kString},
    {"api_version", kInt32},       {"called_computations", kSubgraphs}, {"custom_attributes", kBytes}};
constexpr FieldInfo kStablehloReduce[] = {{"dimensions", kLongs}, {"body_subgraph_index", kSubgraph}};
constexpr FieldInfo kStablehloScatter[] = {{"indices_are_sorted", kBool},
                                           {"update_window_dims", kLongs},
                                           {"inserted_window_dims", kLongs},
                                           {"scatter_dims_to_operand_dims", kLongs},
                                           {"index_vector_dim", kInt64},
                                           {"unique_indices", kBool},
                                           {"update_computation_subgraph_index", kSubgraph}};
constexpr FieldInfo kStablehloCompare[] = {{"comparison_direction", kUint32}, {"compare_type", kUint32}};
constexpr FieldInfo kStablehloDynamicSlice[] = {{"slice_sizes", kLongs}};
constexpr FieldInfo kStablehloPad[] = {
    {"edge_padding_low", kLongs}, {"edge_padding_high", kLongs}, {"interior_padding", kLongs}};
constexpr FieldInfo kStablehloIota[] = {{"iota_dimension", kInt64}};
constexpr FieldInfo kStablehloDotGeneral[] = {{"lhs_batching_dimensions", kLongs},
                                              {"rhs_batching_dimensions", kLongs},
                                              {"lhs_contracting_dimensions", kLongs},
                                              {"rhs_contracting_dimensions", kLongs},
                                              {"precision_config", kUints}};
constexpr FieldInfo kStablehloReduceWindow[] = {
    {"window_dimensions", kLongs}, {"window_strides", kLongs}, {"base_dilations", kLongs},
    {"window_dilations", kLongs},  {"padding", kLongs},        {"body_subgraph_index", kSubgraph}};
constexpr FieldInfo kStablehloSort[] = {
    {"dimension", kInt64}, {"is_stable", kBool}, {"comparator_subgraph_index", kSubgraph}};
constexpr FieldInfo kStablehloGather[] = {{"offset_dims", kLongs},     {"collapsed_slice_dims", kLongs},
                                          {"start_index_map", kLongs}, {"index_vector_dim", kInt64},
                                          {"slice_sizes", kLongs},     {"indices_are_sorted", kBool}};
constexpr FieldInfo kStablehloTranspose[] = {{"permutation", kLongs}};
constexpr FieldInfo kStablehloRngBitGenerator[] = {{"algorithm", kInt8}};
constexpr FieldInfo kReduceWindow[] = {{"reduce_function", kInt32}};
constexpr FieldInfo kStableHLOComposite[] = {{"name", kString},
                                             {"decomposition_subgraph_index", kSubgraph},
                                             {"composite_attributes", kBytes},
                                             {"composite_attributes_format", kInt8},
                                             {"version", kInt32}};
constexpr FieldInfo kStablehloCase[] = {{"branch_subgraph_indices", kSubgraphs}};
constexpr auto kOptions =
    std::to_array<TableInfo>({{"Conv2DOptions", kConv2D},
                              {"DepthwiseConv2DOptions", kDepthwiseConv2D},
                              {"ConcatEmbeddingsOptions", kConcatEmbeddings},
                              {"LSHProjectionOptions", kLSHProjection},
                              {"Pool2DOptions", kPool2D},
                              {"SVDFOptions", kSVDF},
                              {"RNNOptions", kRNN},
                              {"FullyConnectedOptions", kFullyConnected},
                              {"SoftmaxOptions", kSoftmax},
                              {"ConcatenationOptions", kConcatenation},
                              {"AddOptions", kAdd},
                              {"L2NormOptions", kL2Norm},
                              {"LocalResponseNormalizationOptions", kLocalResponseNormalization},
                              {"LSTMOptions", kLSTM},
                              {"ResizeBilinearOptions", kResizeBilinear},
                              {"CallOptions", kCall},
                              {"ReshapeOptions", kReshape},
                              {"SkipGramOptions", kSkipGram},
                              {"SpaceToDepthOptions", kSpaceToDepth},
                              {"EmbeddingLookupSparseOptions", kEmbeddingLookupSparse},
                              {"MulOptions", kL2Norm},
                              {"PadOptions", {}},
                              {"GatherOptions", kGather},
                              {"BatchToSpaceNDOptions", {}},
                              {"SpaceToBatchNDOptions", {}},
                              {"TransposeOptions", {}},
                              {"ReducerOptions", kReducer},
                              {"SubOptions", kAdd},
                              {"DivOptions", kL2Norm},
                              {"SqueezeOptions", kSqueeze},
                              {"SequenceRNNOptions", kSequenceRNN},
                              {"StridedSliceOptions", kStridedSlice},
                              {"ExpOptions", {}},
                              {"TopKV2Options", {}},
                              {"SplitOptions", kSplit},
                              {"LogSoftmaxOptions", {}},
                              {"CastOptions", kCast},
                              {"DequantizeOptions", {}},
                              {"MaximumMinimumOptions", {}},
                              {"ArgMaxOptions", kArgMax},
                              {"LessOptions", {}},
                              {"NegOptions", {}},
                              {"PadV2Options", {}},
                              {"GreaterOptions", {}},
                              {"GreaterEqualOptions", {}},
                              {"LessEqualOptions", {}},
                              {"SelectOptions", {}},
                              {"SliceOptions", {}},
                              {"TransposeConvOptions", kTransposeConv},
                              {"SparseToDenseOptions", kSparseToDense},
                              {"TileOptions", {}},
                              {"ExpandDimsOptions", {}},
                              {"EqualOptions", {}},
                              {"NotEqualOptions", {}},
                              {"ShapeOptions", kShape},
                              {"PowOptions", {}},
                              {"ArgMinOptions", kArgMax},
                              {"FakeQuantOptions", kFakeQuant},
                              {"PackOptions", kPack},
                              {"LogicalOrOptions", {}},
                              {"OneHotOptions", kOneHot},
                              {"LogicalAndOptions", {}},
                              {"LogicalNotOptions", {}},
                              {"UnpackOptions", kUnpack},
                              {"FloorDivOptions", {}},
                              {"SquareOptions", {}},
                              {"ZerosLikeOptions", {}},
                              {"FillOptions", {}},
                              {"BidirectionalSequenceLSTMOptions", kBidirectionalSequenceLSTM},
                              {"BidirectionalSequenceRNNOptions", kBidirectionalSequenceRNN},
                              {"UnidirectionalSequenceLSTMOptions", kUnidirectionalSequenceLSTM},
                              {"FloorModOptions", {}},
                              {"RangeOptions", {}},
                              {"ResizeNearestNeighborOptions", kResizeNearestNeighbor},
                              {"LeakyReluOptions", kLeakyRelu},
                              {"SquaredDifferenceOptions", {}},
                              {"MirrorPadOptions", kMirrorPad},
                              {"AbsOptions", {}},
                              {"SplitVOptions", kSplit},
                              {"UniqueOptions", kUnique},
                              {"ReverseV2Options", {}},
                              {"AddNOptions", {}},
                              {"GatherNdOptions", {}},
                              {"CosOptions", {}},
                              {"WhereOptions", {}},
                              {"RankOptions", {}},
                              {"ReverseSequenceOptions", kReverseSequence},
                              {"MatrixDiagOptions", {}},
                              {"QuantizeOptions", {}},
                              {"MatrixSetDiagOptions", {}},
                              {"HardSwishOptions", {}},
                              {"IfOptions", kIf},
                              {"WhileOptions", kWhile},
                              {"DepthToSpaceOptions", kSpaceToDepth},
                              {"NonMaxSuppressionV4Options", {}},
                              {"NonMaxSuppressionV5Options", {}},
                              {"ScatterNdOptions", {}},
                              {"SelectV2Options", {}},
                              {"DensifyOptions", {}},
                              {"SegmentSumOptions", {}},
                              {"BatchMatMulOptions", kBatchMatMul},
                              {"CumsumOptions", kCumsum},
                              {"CallOnceOptions", kCallOnce},
                              {"BroadcastToOptions", {}},
                              {"Rfft2dOptions", {}},
                              {"Conv3DOptions", kConv3D},
                              {"HashtableOptions", kHashtable},
                              {"HashtableFindOptions", {}},
                              {"HashtableImportOptions", {}},
                              {"HashtableSizeOptions", {}},
                              {"VarHandleOptions", kVarHandle},
                              {"ReadVariableOptions", {}},
                              {"AssignVariableOptions", {}},
                              {"RandomOptions", kRandom},
                              {"BucketizeOptions", kBucketize},
                              {"GeluOptions", kGelu},
                              {"DynamicUpdateSliceOptions", {}},
                              {"UnsortedSegmentProdOptions", {}},
                              {"UnsortedSegmentMaxOptions", {}},
                              {"UnsortedSegmentMinOptions", {}},
                              {"UnsortedSegmentSumOptions", {}},
                              {"ATan2Options", {}},
                              {"SignOptions", {}},
                              {"BitcastOptions", {}},
                              {"BitwiseXorOptions", {}},
                              {"RightShiftOptions", {}}});
constexpr auto kOptions2 =
    std::to_array<TableInfo>({{"StablehloConcatenateOptions", kStablehloConcatenate},
                              {"StablehloBroadcastInDimOptions", kStablehloBroadcastInDim},
                              {"StablehloSliceOptions", kStablehloSlice},
                              {"StablehloConvolutionOptions", kStablehloConvolution},
                              {"StablehloCustomCallOptions", kStablehloCustomCall},
                              {"StablehloReduceOptions", kStablehloReduce},
                              {"StablehloScatterOptions", kStablehloScatter},
                              {"StablehloCompareOptions", kStablehloCompare},
                              {"StablehloDynamicSliceOptions", kStablehloDynamicSlice},
                              {"StablehloPadOptions", kStablehloPad},
                              {"StablehloIotaOptions", kStablehloIota},
                              {"StablehloDotGeneralOptions", kStablehloDotGeneral},
                              {"StablehloReduceWindowOptions", kStablehloReduceWindow},
                              {"StablehloSortOptions", kStablehloSort},
                              {"StablehloWhileOptions", kWhile},
                              {"StablehloGatherOptions", kStablehloGather},
                              {"StablehloTransposeOptions", kStablehloTranspose},
                              {"DilateOptions", {}},
                              {"StablehloRngBitGeneratorOptions", kStablehloRngBitGenerator},
                              {"ReduceWindowOptions", kReduceWindow},
                              {"StableHLOCompositeOptions", kStableHLOComposite},
                              {"StablehloShiftLeftOptions", {}},
                              {"StablehloCaseOptions", kStablehloCase}});

constexpr FieldInfo kValuesOfInts[] = {{"values", kInts}};
constexpr FieldInfo kValuesOfShorts[] = {{"values", kShorts, 0, {}, 4}};
constexpr FieldInfo kValuesOfBytes[] = {{"values", kBytes, 0, {}, 4}};
constexpr TableInfo kInt32Vector = {"Int32Vector", kValuesOfInts},
                    kUint16Vector = {"Uint16Vector", kValuesOfShorts},
                    kUint8Vector = {"Uint8Vector", kValuesOfBytes};
constexpr const TableInfo* kIndexVectors[] = {&kInt32Vector, &kUint16Vector, &kUint8Vector};
constexpr FieldInfo kDimension[] = {
    {"format", kInt8},
    {"dense_size", kInt32},
    {"array_segments_type", kUnionType},
    {"array_segments", kUnion, 0, kIndexVectors},
    {"array_indices_type", kUnionType},
    {"array_indices", kUnion, 0, kIndexVectors},
};
constexpr TableInfo kDimensionMetadata = {"DimensionMetadata", kDimension};
constexpr const TableInfo* kDimensions[] = {&kDimensionMetadata};
constexpr FieldInfo kSparsity[] = {
    {"traversal_order", kInts}, {"block_map", kInts}, {"dim_metadata", kTables, 0, kDimensions}};

constexpr FieldInfo kVariant[] = {{"shape", kInts}, {"type", kInt8}, {"has_rank", kBool}};
constexpr FieldInfo kGroup[] = {{"name", kString}};

constexpr FieldInfo kCustomQuantization[] = {{"custom", kBytes, 0, {}, 16}};
constexpr FieldInfo kBlockwise[] = {{"scales", kInt32}, {"zero_points", kInt32}, {"block_size", kInt32}};
constexpr FieldInfo kMultiAxis[] = {
    {"scales", kInt32}, {"zero_points", kInt32}, {"block_size", kInt32}, {"quantized_dimensions", kInts}};
constexpr auto kDetails = std::to_array<TableInfo>({{"CustomQuantization", kCustomQuantization},
                                                    {"BlockwiseQuantization", kBlockwise},
                                                    {"MultiAxisQuantization", kMultiAxis}});

template <std::size_t N>
const TableInfo* row(const std::array<TableInfo, N>& rows, std::uint8_t type) {
  return type == 0 || type > N ? nullptr : &rows[type - 1U];
}

// A vector's element at any alignment, with its sign extended.
template <class Integer>
std::int64_t element(Bytes bytes, std::size_t i) {
  Integer value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return static_cast<std::int64_t>(value);
}

}  // namespace

const TableInfo kSparsityParameters = {"SparsityParameters", kSparsity};
const TableInfo kVariantSubType = {"VariantSubType", kVariant};
const TableInfo kExternalBufferGroup = {"ExternalBufferGroup", kGroup};

std::size_t width_of(FieldKind kind) {
  switch (kind) {
    case kBool:
    case kInt8:
    case kUnionType:
    case kBools:
    case kBytes: return 1;
    case kShorts: return 2;
    case kInt64:
    case kLongs: return 8;
    default: return 4;
  }
}

bool is_scalar(FieldKind kind) { return kind <= kSubgraph; }
bool is_vector(FieldKind kind) { return kind >= kBools && kind <= kSubgraphs; }

const TableInfo* builtin_options(std::uint8_t type) { return row(kOptions, type); }
const TableInfo* builtin_options_2(std::uint8_t type) { return row(kOptions2, type); }
const TableInfo* quantization_details(std::uint8_t type) { return row(kDetails, type); }

std::uint8_t builtin_options_type(std::string_view name) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const TableInfo& info) { return info.name == name; });
  return found == kOptions.end() ? 0 : static_cast<std::uint8_t>(found - kOptions.begin() + 1);
}

std::uint16_t Record::id_of(std::string_view name) const {
  for (std::size_t id = 0; id < info_->fields.size(); ++id) {
    if (info_->fields[id].name == name) return static_cast<std::uint16_t>(id);
  }
  throw Error(ErrorCode::kInternal, fmt::format("has no field '{}'", name), info_->name);
}

const Record::Value* Record::find(std::string_view name) const {
  const std::uint16_t id = id_of(name);
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.id == id; });
  return found == fields_.end() ? nullptr : &found->value;
}

std::int64_t Record::integer(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? info_->fields[id_of(name)].fallback
                          : static_cast<std::int64_t>(std::get<std::uint64_t>(*value));
}

float Record::number(std::string_view name) const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(integer(name)));
}

Bytes Record::bytes(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? Bytes() : std::get<Bytes>(*value);
}

std::vector<std::int64_t> Record::integers(std::string_view name) const {
  const FieldKind kind = info_->fields[id_of(name)].kind;
  const Bytes elements = bytes(name);
  std::vector<std::int64_t> values(elements.size() / width_of(kind));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (width_of(kind)) {
      case 1: values[i] = element<std::uint8_t>(elements, i); break;
      case 2: values[i] = element<std::uint16_t>(elements, i); break;
      case 8: values[i] = element<std::int64_t>(elements, i); break;
      default: values[i] = element<std::int32_t>(elements, i);
    }
  }
  return values;
}

void Record::put(std::uint16_t id, Value value) {
  const auto place = std::lower_bound(fields_.begin(), fields_.end(), id,
                                      [](const Field& field, std::uint16_t at) { return field.id < at; });
  const bool is_there = place != fields_.end() && place->id == id;
  const FieldInfo& field = info_->fields[id];
  if (const auto* bits = std::get_if<std::uint64_t>(&value);
      bits != nullptr && field.kind != kUnionType && static_cast<std::int64_t>(*bits) == field.fallback) {
    if (is_there) fields_.erase(place);
  } else if (is_there) {
    place->value = std::move(value);
  } else {
    fields_.insert(place, {id, std::move(value)});
  }
}

void Record::set(std::string_view name, std::int64_t value) {
  put(id_of(name), static_cast<std::uint64_t>(value));
}
void Record::set(std::string_view name, float value) {
  put(id_of(name), std::uint64_t{std::bit_cast<std::uint32_t>(value)});
}
void Record::set(std::string_view name, Bytes bytes) { put(id_of(name), bytes); }

}  // namespace ounce::tflite
