// Dynamically quantized ops, whose activation scales are computed at run time; see integer_ops.h.
#pragma once

#include <cstddef>
#include <string>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::passes {

void put_dynamic_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     IntegerParameters& parameters);

// Attention with 8-bit weights and dynamically quantized activations: replaces com.microsoft's Attention,
// which fused models have, by QAttention. (Other models have plain MatMuls.)
//
//   Attention(x, W, b, mask, past) -> y, present
//
//     →   DynamicQuantizeLinear(x) -> codes, scale, zero
//         QAttention(codes, W codes, b, scale, W scales, mask, zero, W zeros, past) -> y, present
//
// Only the product with W, which computes queries, keys and values, runs in INT8.
//
// Requirements of the kernel, determined by tests (1.17.3, 1.22.0 and 1.30.0 agree):
//   - W is int8 or uint8, [input, 3·hidden]. Scales and zero points are per-tensor or per-column; zero points
//     are optional. All masks that Attention supports on CPUs, past and present, unidirectional, scale and
//     mask_filter_value work as in Attention.
//   - The bias is required. (Attention without a bias crashes these runtimes.)
//   - qkv_hidden_sizes and rotary_embedding_dim are rejected; there is no input for a score bias (input 5).
//     do_rotary is accepted and ignored.
//   - DynamicQuantizeLinear needs opset 11.
//
// Speedup over Attention in FP32 (1.30.0, one thread, AVX-512 VNNI, int8, per-column scales):
//
//   hidden  heads  tokens   speedup           hidden  heads  tokens   speedup
//      256      4       8   2.0 x                768     12      32   3.0 x
//      256      4     128   1.9 x                768     12     128   2.5 x
//      768     12       1   2.5 x                768     12     512   1.8 x
//
//   Output SQNR is 31 to 40 dB. Per-tensor scales are no faster and lose 6 to 11 dB. uint8 is as fast in
//   1.22.0, but reaches only 1.25 to 1.4 x in 1.30.0.

// The outputs of DynamicQuantizeLinear.
struct CodedInput {
  Bytes codes, scale, zero;
};

// Replaces the Attention at `position`. Precondition: plan::why_not_dynamic_attention() is empty. The
// weight's scales are float32, per-tensor ([] or [1]) or [3·hidden]; zero points have the same shape, or are
// empty if all are 0.
void put_dynamic_attention(BodyEditor& editor, std::size_t position, const CodedInput& input,
                           const StoredNames& weight);

// LSTM with 8-bit weights and dynamically quantized activations: com.microsoft's DynamicQuantizeLSTM.
//
//   LSTM(X, W, R, B, lengths, h, c, P) -> Y, Yh, Yc
//
//     →   W ─ Transpose ─ W', R ─ Transpose ─ R'          (quantized)
//         DynamicQuantizeLSTM(X, W', R', B, lengths, h, c, P, W scales, W zeros, R scales, R zeros)
//           -> Y, Yh, Yc
//
// The kernel expects weights as [directions, input, 4·hidden]; LSTM has [directions, 4·hidden, input].
// Weights are stored in LSTM's layout, which all readers of stored weights know, and transposed by a node
// that runtimes fold when they create a session. This is as fast as storing them transposed.
//
// Requirements of the kernel, determined by tests (1.17.3, 1.22.0 and 1.30.0 agree):
//   - Weights are int8 or uint8. Scales are [directions] or [directions, 4·hidden]. Zero points are required,
//     in the shape of the scales: with per-direction zero points and per-channel scales, the kernel reads out
//     of bounds for the second direction. Per-channel zero points must all be equal, and 0 for int8.
//   - Bias, lengths, initial states, peepholes, both directions, activations with alpha and beta, clip and
//     input_forget work as in LSTM. `layout` is rejected, even 0, and so are LSTMs before opset 7.
//
// Speedup over LSTM in FP32 (1.30.0, one thread, AVX-512 VNNI, int8, per-channel scales):
//
//   input  hidden  steps  batch   speedup           input  hidden  steps  batch   speedup
//     128     128      1      1   1.25 x              128     256    100      1   2.9 x
//     128     256      1      1   1.7 x               512     512    100      1   3.4 x
//     512     512      1      1   2.7 x               128     128    100      8   2.1 x
//     128     128    100      1   2.0 x               128     256    100      8   2.6 x
//
//   Output SQNR is 38 to 45 dB. Per-direction scales are 3 to 20 % faster and lose 6 to 15 dB. uint8 is as
//   fast as int8 until 1.22.0; in 1.30.0 it loses half of the speedup (1.2 to 2.2 x).
//   Small models of single steps gain nothing: silero_vad (hidden 128, one step a run) takes 118 µs before
//   and 120 µs after (1.31.1, its weights folded beforehand, because the file computes them).

// A stored weight: symmetric int8 values in the layout of LSTM, with per-tensor or per-channel scales.
struct StoredGates {
  const plan::Decision* decision = nullptr;
  StoredNames names;  // the scales are float32; zeros is empty if all are 0
};

// Replaces the LSTM at `position`. Precondition: plan::why_not_dynamic_lstm() is empty. The caller imports
// the domain.
void put_dynamic_lstm(Editors& editors, std::size_t body, std::size_t position, const StoredGates& weight,
                      const StoredGates& recurrence);

}  // namespace ounce::passes
