# An image with ounce and ONNX Runtime, without build tools:
#
#   make package                                # build-package/dist
#   docker build -t ounce .
#   docker run --rm -v "$PWD:/work" ounce quantize model.onnx
FROM python:3.12-slim
COPY build-package/dist/*.whl /wheels/
# pip selects the wheel for this architecture.
RUN pip install --no-cache-dir --find-links /wheels ounce-ml && rm -rf /wheels
WORKDIR /work
ENTRYPOINT ["ounce"]
