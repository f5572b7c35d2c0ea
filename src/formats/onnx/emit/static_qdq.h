// Static arithmetic on integers, written as Q/DQ; see integer_ops.h.
#pragma once

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

void put_static_qdq(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    IntegerParameters& parameters);

}  // namespace ounce::passes
