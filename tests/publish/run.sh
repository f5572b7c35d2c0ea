#!/usr/bin/env bash
# Publishes a tiny BERT and a tiny decoder in every variant, and loads each one in the real transformers.js or
# onnxruntime-genai, from the folder alone.
#
# usage: run.sh OUNCE FOLDER        recreates FOLDER, but keeps the packages that npm and pip installed there
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ounce=$(realpath "$1")
mkdir -p "$2"
cd "$2"

if [[ ! -d node_modules/@huggingface/transformers ]]; then
  # Without install scripts: one of them would download CUDA, which is not needed.
  npm install --silent --no-audit --no-fund --ignore-scripts --no-package-lock --prefix . @huggingface/transformers
fi
cp "$here/check.mjs" .
if [[ ! -d venv ]]; then
  python3 -m venv venv
  venv/bin/pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
fi

rm -rf bert inline external small decoder genai val.npz
python3 "$here/make_bert.py" bert val.npz
publish=("$ounce" publish bert --data val.npz --labels label --no-edge-cases)
"${publish[@]}" -o inline --variants fp32,fp16,q8,int8,uint8,q4 --seconds 0.5
node check.mjs inline fp32 fp16 q8 int8 uint8 q4 default
# External weight files, which the configuration must declare for transformers.js.
"${publish[@]}" -o external --variants fp32,fp16,q8,q4 --external-data always --no-bench > /dev/null
node check.mjs external fp32 fp16 q8 q4 default
# Without FP32 the default of an app must be one of the existing variants.
"${publish[@]}" -o small --variants q8,q4 --no-bench > /dev/null
node check.mjs small default q8 q4
# A folder for each variant, whose genai_config.json names its files.
python3 "$here/make_decoder.py" decoder
"$ounce" publish decoder -o genai --layout genai --external-data always --min-sqnr 15 --no-bench > /dev/null
venv/bin/python "$here/check_genai.py" genai/fp32 genai/fp16 genai/q8 genai/q4
# Published files must be reproducible from the original.
"$ounce" prove inline/onnx/model_*.onnx --source bert --data val.npz --labels label | tail -n 8
