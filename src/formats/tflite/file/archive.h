// Associated files of a TFLite model (labels, vocabularies): a zip archive that is appended to the file.
//
// A zip archive counts the offsets of its entries from the start of the archive or, as most tools append it,
// from the start of the whole file. In the second case they change with the size of the model before them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tflite/file/model.h"
#include "io/rope.h"

namespace ounce::tflite {

// Finds the archive in a file whose tables and buffers end at `end`. If anything else is behind them, the
// model cannot be written again.
void read_archive(Model& model, Bytes file, std::uint64_t end);

// The names of its files.
std::vector<std::string> archive_names(const Model& model);

// Appends the archive, if there is one, to a file that has `rope` before it.
void append_archive(const Model& model, io::Rope& rope);

// Equal entries, wherever the archives are.
bool same_archive(const Model& a, const Model& b);

}  // namespace ounce::tflite
