// Makes dense constants of sparse ones.
//
//   w(sparse) ─ DENSIFY ─ w' ─ CONV_2D     →     w' ─ CONV_2D
//
// Integer and hybrid kernels take dense weights alone. In FP32 nothing is lost: XNNPACK in LiteRT 2.1.6 runs
// two published models with such weights (face_detection_full_range_sparse and pose_detection of MediaPipe)
// at 0.97 and 1.01 of the speed with dense ones, which is noise.
//
// Conditions: the sparse constant is in the file and of a type of whole bytes; w' has its type and shape;
// the total size of such constants is bounded (work_limit.h).
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the new constants.
Changes densify_weights(Model& model);

}  // namespace ounce::tflite
