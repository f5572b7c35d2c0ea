// Derives preprocessing from the type and shape of a sample and of the model input that it feeds, for data
// without a contract:
//
//   uint8[224,224,3] for float32[N,3,224,224]    an image: layout nchw, rescale 1/255
//   an image file for float32[N,224,224,3]       an image: layout nhwc, size 224x224, rescale 1/255
//   int16[16000] for float32[N,16000]            recorded sound: rescale 1/32768
//
// Means and deviations cannot be seen in data.
#pragma once

#include <ounce/data.h>

#include <optional>
#include <string>

#include "data/tensor.h"

namespace ounce::data {

// `dims` of a sample without a batch axis; null: an image file, whose size varies. Returns nullopt if the
// sample needs no preprocessing, or if the shapes do not show which.
std::optional<InputContract> derive_contract(ElementType type, const Dims* dims,
                                             const ValueDescription& input);

// "layout nchw, rescale 1/255"
std::string describe(const InputContract& derived);

// True if a sample of this type and shape can feed the input unchanged, or with derived preprocessing.
bool fits_input(ElementType type, const Dims& dims, const ValueDescription& input, bool may_derive = false);

}  // namespace ounce::data
