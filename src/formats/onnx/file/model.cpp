#include "formats/onnx/file/model.h"

namespace ounce::onnx {

// The reader has checked that the product does not overflow.
std::uint64_t Tensor::element_count() const {
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::uint64_t>(dim);
  return count;
}

std::uint64_t Tensor::byte_count() const {
  const std::uint64_t count = element_count();
  const auto bits = static_cast<std::uint64_t>(info_of(type).bits);
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

Bytes Model::intern(std::string text) {
  if (texts.empty()) texts.push_back(std::make_shared<std::deque<std::string>>());
  return texts.back()->emplace_back(std::move(text));
}

Model clone(const Model& model) {
  Model copy = model;
  copy.texts.push_back(std::make_shared<std::deque<std::string>>());
  return copy;
}

void Model::release(Bytes bytes) const {
  file.release(bytes);
  for (const auto& [location, external] : external_files) external.release(bytes);
}

std::uint64_t bytes_of(const Model& model) {
  std::uint64_t bytes = model.file.bytes().size();
  for (const auto& [location, file] : model.external_files) bytes += file.bytes().size();
  return bytes;
}

void Node::set_op(Op op) {
  const ops::OpInfo& row = ops::info(op);
  if (ops::find_op(domain_, row.name) != op)
    domain_ = row.domain == ops::Domain::kOnnx ? Bytes() : ops::name_of(row.domain);
  op_type_ = row.name;
  op_ = op;
}

void Node::set_op(Bytes domain, Bytes op_type) {
  domain_ = domain;
  op_type_ = op_type;
  op_ = ops::find_op(domain, op_type);
}

bool is_default_domain(Bytes domain) { return domain.empty() || domain == "ai.onnx"; }

std::int64_t opset_version(const std::vector<Kept<OpsetImport>>& imports, Bytes domain) {
  for (const auto& import : imports) {
    if (import->domain == domain || (is_default_domain(import->domain) && is_default_domain(domain))) {
      return import->version;
    }
  }
  return 0;
}

}  // namespace ounce::onnx
