# ounce with ONNX Runtime, and nothing to build with:
#
#   make package                                # build-package/dist
#   docker build -t ounce .
#   docker run --rm -v "$PWD:/work" ounce quantize model.onnx
FROM python:3.12-slim
COPY build-package/dist/*.whl /wheels/
# Only the wheel for this architecture fits; pip chooses it.
RUN pip install --no-cache-dir --find-links /wheels ounce-ml && rm -rf /wheels
WORKDIR /work
ENTRYPOINT ["ounce"]
