"""A typed program that uses the module. mypy checks it, as editors do for their users."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

import ounce
from ounce.compat import CalibrationDataReader, QuantFormat, QuantType, quantize_static


class Reader(CalibrationDataReader):
    def get_next(self) -> Optional[Mapping[str, Any]]:
        return None


def accuracy(outputs: Dict[str, Any], labels: Optional[Any]) -> float:
    return float((outputs["logits"].argmax(-1) == labels).mean())


def use(model: bytes) -> bool:
    small: ounce.QuantizeResult = ounce.quantize(model, to="w8", exclude=["head"], progress=False)
    size: int = small.bytes_after
    proof = ounce.verify(model, small.to_bytes(), data={"x": [[1.0]]}, metric=accuracy, max_drop=0.01)
    quantize_static(model, "out.onnx", Reader(), quant_format=QuantFormat.QDQ, weight_type=QuantType.QInt8)
    ounce.contract.show("model.onnx")
    try:
        ounce.check("model.onnx", target=["android-arm64@1.22.0"])
    except ounce.UnsupportedError as error:
        print(error.message, error.document)
    return proof.passed and size < small.bytes_before
