"""The verbs as functions. Written by tools/python_verbs.py from what the library says of itself; do not edit."""

# fmt: off
from __future__ import annotations

from typing import Any, List, Literal, Mapping, Optional, Union

from ._call import Metric, Model, Progress, Word, Words, call, several
from ._data import Data
from ._results import (
    AdviseResult,
    BenchResult,
    CalibrateResult,
    CheckResult,
    ContractCheckResult,
    ContractResult,
    CopyResult,
    DiffResult,
    InspectResult,
    ProveResult,
    PublishResult,
    QuantizeResult,
    ReportResult,
    SensitivityResult,
    ShadowReportResult,
    TuneResult,
    UnpackResult,
    VerifyResult,
)


def quantize(
    model: Model,
    output: Optional[Word] = None,
    *,
    to: Optional[Literal["bf16", "fp16", "int8", "int8-dynamic", "nbits2", "nbits4", "nbits8", "w16", "w4", "w8"]] = "w8",
    decode: Optional[Literal["auto", "dq", "fold"]] = "auto",
    memory: Optional[Literal["balanced", "fast", "low"]] = "fast",
    decode_share: Optional[float] = None,
    granularity: Optional[Word] = None,
    scale: Optional[Literal["absmax", "mse"]] = "mse",
    rounding: Optional[Literal["adaptive", "nearest", "zero-sum"]] = "zero-sum",
    codebook: Optional[bool] = None,
    asymmetric: Optional[bool] = None,
    fp16_budget: Optional[float] = None,
    min_bytes: Optional[int] = None,
    include: Optional[Words] = None,
    exclude: Optional[Words] = None,
    ignore_unmatched: Optional[bool] = None,
    keep_inputs: Optional[bool] = None,
    node: Optional[Words] = None,
    expert: Optional[Words] = None,
    external_data: Optional[Literal["auto", "always", "never"]] = "auto",
    threads: Optional[int] = None,
    dry_run: Optional[bool] = None,
    report: Optional[Word] = None,
    pictures: Optional[bool] = None,
    verify: Optional[bool] = None,
    allow_slower: Optional[bool] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    on: Optional[Words] = None,
    target: Optional[Word] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    calibration: Optional[Literal["auto", "entropy", "mean", "minmax", "mse", "percentile"]] = "auto",
    percentile: Optional[float] = None,
    dialect: Optional[Literal["qdq", "qoperator"]] = "qdq",
    activations: Optional[Literal["s16", "s8", "u16", "u8"]] = "u8",
    symmetric_activations: Optional[bool] = None,
    weights: Optional[Literal["s4", "s8", "u8"]] = "s8",
    reduce_range: Optional[bool] = None,
    integer_io: Optional[bool] = None,
    fallback: Optional[Literal["w8", "fp16"]] = "w8",
    skip_rewrite: Optional[Words] = None,
    use_cost_model: Optional[bool] = None,
    dynamic_conv: Optional[bool] = None,
    value: Optional[Words] = None,
    search: Optional[bool] = None,
    equalize: Optional[bool] = None,
    correct_bias: Optional[bool] = None,
    fit_on_even_samples: Optional[bool] = None,
    kernels: Optional[Literal["nbits", "qdq"]] = "nbits",
    accuracy_level: Optional[Literal["0", "1", "4", "auto"]] = "auto",
    level: Optional[Words] = None,
    method: Optional[Literal["auto", "gptq", "rtn", "scale"]] = "auto",
    bits: Optional[float] = None,
    target_size: Optional[int] = None,
    importance: Optional[Word] = None,
    io: Optional[Literal["keep", "fp16"]] = "keep",
    keep_fp32: Optional[Words] = None,
    keep_names: Optional[bool] = None,
    emit: Optional[Literal["ort"]] = None,
    ort_style: Optional[Literal["fixed", "runtime"]] = "fixed",
    ranges: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    progress: Progress = None,
) -> QuantizeResult:
    r"""Make a model smaller: store its weights in fewer bytes, or compute on integers.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    output: where the result goes (default: model.w8.onnx beside a model that is a path; else the result
        has it: to_bytes())
    to: format and its typical size: w8 (8-bit weights, FP32 arithmetic: 25 %), w16 (16-bit float
        weights, FP32 arithmetic: 50 %), w4 (4-bit weights, FP32 arithmetic: 15 %), nbits8 (8-bit
        weights in MatMulNBits kernels: 27 %), nbits4 (4-bit weights in MatMulNBits kernels: 16 %),
        nbits2 (2-bit weights in MatMulNBits kernels: 10 %), int8 (INT8 arithmetic, calibrated
        activations: 25 %; needs data or ranges), int8-dynamic (INT8 arithmetic, activation scales found
        at run time: 25 %), fp16 (FP16 arithmetic: 50 %), bf16 (BF16 arithmetic: 50 %). Also: static for
        int8, int8-static for int8, dynamic for int8-dynamic, int4 for nbits4, int2 for nbits2
    decode: how the runtime gets weights back: fold (constants at load, FP32 speed), dq
        (DequantizeLinear)
    memory: w8, w4: what decode auto trades for memory in the app: fast (nothing: weights are FP32 once
        loaded), balanced (some are decoded at every run, see decode_share), low (all that can be)
    decode_share: memory balanced: percent of a run's time to spend on decoding weights, estimated from
        shapes (default: 5)
    granularity: what shares a scale: auto, tensor, channel, block:N (default: auto)
    scale: how scales are found: mse (least squared error), absmax
    rounding: zero-sum (the errors of a channel sum to zero), nearest, adaptive (int8: each layer gives
        what it gave before on calibration data; slower)
    codebook: k-means codebook instead of a linear scale (w8: 256 values, w4: 16)
    asymmetric: give every scale a zero point
    fp16_budget: percent of the size to spend on storing the smallest weights in FP16 (default: 0.1)
    min_bytes: leave smaller tensors alone (default: 1024)
    include: only these: a regular expression on tensor, node and op type (one, or a list)
    exclude: skip these: a regular expression on tensor, node and op type (one, or a list)
    ignore_unmatched: warn about a regular expression that matches nothing, instead of failing
    keep_inputs: initializers that are listed as inputs stay inputs with a default value (otherwise they
        become constants)
    node: NAME=FORMAT for the node that gives the value NAME: fp32, w16, w8, w4, nbits8, nbits4 or
        nbits2 (so its weights are stored, and it computes on floats), with to int8 also int8-dynamic
        (one, or a list)
    expert: KEY=VALUE: set any field of the recipe by its name in JSON, as fit_on_even_samples=true
        (one, or a list)
    external_data: weights in a file of their own: auto (above 2 GiB), always, never
    threads: threads (0: all CPUs); the result does not depend on it (default: 0)
    dry_run: print the plan, write nothing
    report: draw the result as one page that anybody can open: FILE.html
    pictures: put into the document of json what 'ounce report' draws pictures of: histograms of weights
        and activations (with report: on)
    verify: load the result in ONNX Runtime and compare its outputs with the original's before it is
        written (default: on; without, only the stored weights are compared and the file may not run)
    allow_slower: int8, int8-dynamic: write the model even if it is slower than the original on this CPU
        (default: refuse with exit 3)
    runtime: ONNX Runtime for that: a library's path, or a version (default: the newest)
    litert: LiteRT for .tflite models, in the same way
    on: int8, int8-dynamic: other CPUs to run the result on before it is written: avx2, avx512, arm64;
        none; auto for all that can be shown here (default: auto)
    target: where the model will run: a place and a release, which must have all that is written
        (android-arm64@1.22.0, linux-x64@1.30.0 …), what computes (cuda, coreml, directml, nnapi, qnn
        …), or both (ios-arm64@1.22.0+coreml)

    Runtime:
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    Integer arithmetic (--to int8, --to int8-dynamic):
    calibration: int8: how the range of an activation is chosen: auto (measured on the data; without
        search least predicted error, value by value), minmax, mean, percentile, entropy, mse
    percentile: of calibration percentile (default: 99.99)
    dialect: int8: qdq (Q/DQ nodes, which runtimes fuse), qoperator (the integer ops themselves)
    activations: int8: type of activations: u8, s8, u16, s16
    symmetric_activations: int8: zero is the middle code of values that take both signs
    weights: type of weights: s8, u8, s4
    reduce_range: 7-bit weights, whose products saturate on no CPU; --no-reduce-range: all 8 bits, for
        CPUs that are known to have exact products (default: 8 bits, less where two neighbouring weights
        could saturate on an x86 CPU without VNNI)
    integer_io: int8: inputs and outputs of the model become integers too
    fallback: what does not compute on integers: w8 (stored in 8 bits), fp16 (16-bit floats, computed on
        where the target can)
    skip_rewrite: int8: do not make these of ops that have integer kernels: hard-swish, tanh,
        conv-transpose, mean, pad-channels (repeatable, or with commas)
    use_cost_model: int8: keep nodes in FP32 that INT8 would make slower (default: on)
    dynamic_conv: int8-dynamic: run Conv as ConvInteger, though it is several times slower than FP32
    value: int8: NAME=WHAT for one activation, where WHAT is LOW:HIGH (its range), a calibration method,
        a type of activations, or float (one, or a list)
    search: int8: choose the calibration, and the few ops that are better left in floats, by measuring
        on the data (default: on)
    equalize: even out the channels between layers (default: on)
    correct_bias: int8: take the mean error of every channel out of its bias (default: on)
    fit_on_even_samples: int8: calibrate on every second sample only, of 16 or more (the search may
        choose this)

    Packed weights in MatMulNBits (--to nbits4, --to nbits8, --to nbits2):
    kernels: nbits (MatMulNBits and GatherBlockQuantized), qdq (DequantizeLinear by blocks, opset 21)
    accuracy_level: what MatMulNBits may do to activations: 0 (as the runtime likes), 1 (FP32), 4 (8-bit
        integers: the fast kernels), auto (4 where outputs bear it)
    level: NAME=LEVEL for the node that gives the value NAME: its accuracy_level (one, or a list)
    method: how codes and scales are found: rtn (nearest), scale (for outputs, by the energy of inputs
        on data), gptq (codes that make up for each other, on data), auto (measured)
    bits: bits that a weight may take on the mean, with its share of a scale: layers that bring the most
        on data get more of them (default: all as to says)
    target_size: bytes that the model may have, all files together, spent in the same way (300MB, 2GB)
    importance: what more bits bring to each layer, for bits and target_size: read if the file is there,
        else measured on data and written; 'ounce calibrate merge' puts several together

    16-bit floats (--to fp16, --to bf16):
    io: inputs and outputs of the model: keep (the types they have), fp16 (16-bit floats too)
    keep_fp32: these nodes stay in FP32: a regular expression on node names, their outputs and op types
        (one, or a list)
    keep_names: keep the names of values and nodes inside of the model, which are shortened where they
        are more than 0.2 % of the file

    ONNX Runtime's own format:
    emit: ort: also model.ort, optimised offline by the runtime and loaded again, and the operators that
        a reduced build of it needs
    ort_style: fixed (all optimisations now, for the CPU), runtime (those for NNAPI and CoreML later)

    Integer arithmetic (--to int8, --to int8-dynamic):
    ranges: int8: what 'ounce calibrate' saw; without it, the data of data is looked at

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("quantize", QuantizeResult, {
        "model": model,
        "output": output,
        "to": to,
        "decode": decode,
        "memory": memory,
        "decode_share": decode_share,
        "granularity": granularity,
        "scale": scale,
        "rounding": rounding,
        "codebook": codebook,
        "asymmetric": asymmetric,
        "fp16_budget": fp16_budget,
        "min_bytes": min_bytes,
        "include": include,
        "exclude": exclude,
        "ignore_unmatched": ignore_unmatched,
        "keep_inputs": keep_inputs,
        "node": node,
        "expert": expert,
        "external_data": external_data,
        "threads": threads,
        "dry_run": dry_run,
        "report": report,
        "pictures": pictures,
        "verify": verify,
        "allow_slower": allow_slower,
        "runtime": runtime,
        "litert": litert,
        "on": on,
        "target": target,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
        "calibration": calibration,
        "percentile": percentile,
        "dialect": dialect,
        "activations": activations,
        "symmetric_activations": symmetric_activations,
        "weights": weights,
        "reduce_range": reduce_range,
        "integer_io": integer_io,
        "fallback": fallback,
        "skip_rewrite": skip_rewrite,
        "use_cost_model": use_cost_model,
        "dynamic_conv": dynamic_conv,
        "value": value,
        "search": search,
        "equalize": equalize,
        "correct_bias": correct_bias,
        "fit_on_even_samples": fit_on_even_samples,
        "kernels": kernels,
        "accuracy_level": accuracy_level,
        "level": level,
        "method": method,
        "bits": bits,
        "target_size": target_size,
        "importance": importance,
        "io": io,
        "keep_fp32": keep_fp32,
        "keep_names": keep_names,
        "emit": emit,
        "ort_style": ort_style,
        "ranges": ranges,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
    }, progress)


def verify(
    reference: Model,
    candidate: Model,
    *,
    task: Optional[Literal["auto", "classify", "detect", "embed", "ctc", "segment", "tag", "audio", "regress"]] = "auto",
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    metric: Optional[Union[str, Metric]] = "auto",
    tags: Optional[Words] = None,
    label_output: Optional[Word] = None,
    outputs: Optional[Words] = None,
    threshold: Optional[float] = None,
    edge_cases: Optional[bool] = None,
    worst: Optional[int] = None,
    on: Optional[Words] = None,
    batch: Optional[int] = None,
    tokens: Optional[int] = None,
    prompt: Optional[int] = None,
    report: Optional[Word] = None,
    pictures: Optional[bool] = None,
    abs_tol: Optional[float] = None,
    mean_tol: Optional[float] = None,
    max_mse: Optional[float] = None,
    min_sqnr: Optional[float] = None,
    min_agreement: Optional[Word] = None,
    max_flips: Optional[Word] = None,
    max_drop: Optional[Words] = None,
    confidence: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    via: Optional[Word] = None,
    launcher: Optional[Word] = None,
    runner: Optional[Word] = None,
    runtime_there: Optional[Word] = None,
    folder_there: Optional[Word] = None,
    keep_there: Optional[bool] = None,
    seconds_there: Optional[float] = None,
    progress: Progress = None,
) -> VerifyResult:
    r"""Does a candidate still do what the reference does? exit 1 if not.

    reference: the original: a path, the bytes of a model, or an onnx.ModelProto
    candidate: the model to compare with it: a path, the bytes of a model, an onnx.ModelProto, or the
        result of a call that wrote a model
    task: what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; without
        labels the original's outputs are the truth
    metric_command: a program of your own that prints a number, run with the folder of both models'
        outputs: 'python3 score.py'
    metric_seconds: that it may take (default: 300)
    metric: Metric that decides: map (mean average precision of boxes at IoU 0.5), accuracy (top-1 and
        top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
        probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and squared
        error), recall (nearest neighbors of embeddings), lines (lines of text without an error), iou
        (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of sound, log-spectral
        distance). Default: by task, or by the labels; or a function of the outputs by name and of the
        labels that gives a number, or numbers by name
    tags: names of the classes of task tag, with commas: O,B-PER,I-PER (default: O, then B and I in
        turn)
    label_output: the output that labels speak of (default: the first)
    outputs: judge these outputs only (repeatable, or with commas); the others are compared and
        reported. Example: outputs probabilities
    threshold: decision threshold of an output: count decisions that change (two columns of
        probabilities are one decision); with task detect, the least score of a box
    edge_cases: also try zeros, extremes, noise, batches and lengths (default: on)
    worst: how many samples with the largest difference to name (default: 5)
    on: also on other CPUs: avx2, avx512 (x64 without VNNI), arm64; auto for all that can be shown here.
        The candidate must give the same there (default: none)
    batch: samples in one run (default: 1)
    tokens: language models: feed texts (rows of ids) token by token, so many behind the prompt;
        max_flips is the share of tokens that may flip, max_drop what nll may rise by
    prompt: with tokens: ids of a text that are fed at once (default: 16)
    report: draw the result as one page that anybody can open: FILE.html
    pictures: put into the document of json what 'ounce report' draws pictures of: the samples that
        differ most, as small images or waveforms (with report: on)

    Gates (without any: 20 dB for every output, 99 % of labels; with --labels 1 point of the metric):
    abs_tol: largest difference of any value, such as 0.04
    mean_tol: largest mean difference of an output, such as 0.01
    max_mse: largest mean squared difference of an output, such as 1e-4
    min_sqnr: least signal to noise of an output and its slices in dB
    min_agreement: least share of same answers, such as 99%: top-1 classes, and outputs that are labels
    max_flips: largest share of decisions that change at threshold, such as 0.5%
    max_drop: what the metric may lose, such as 0.5%: points of map, accuracy, brier, ece, f1, recall,
        lines, iou, entity_f1; relative for nll, mae; or NAME=0.5% for one of several (one, or a list)
    confidence: how sure it must be that the gates hold on other data like this: 90%, 95% …; none goes
        by these samples alone (default: none)

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    Elsewhere:
    via: run models on another machine: the command that runs a shell command there, such as 'ssh board'
        or 'adb shell'
    launcher: what starts the runner (there): 'qemu-aarch64 -L /usr/aarch64-linux-gnu'
    runner: the runner for that machine, a file here (default: ounce-runner or ounce-runner-arm64)
    runtime_there: ONNX Runtime for that machine: a library here, or a version (default: the newest)
    folder_there: where the runner, the library and models go (default: a folder of ours in /tmp)
    keep_there: leave models there, so that they are not sent again
    seconds_there: time for each answer, and for sending each file (default: 600)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("verify", VerifyResult, {
        "reference": reference,
        "candidate": candidate,
        "task": task,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "metric": metric,
        "tags": tags,
        "label_output": label_output,
        "outputs": outputs,
        "threshold": threshold,
        "edge_cases": edge_cases,
        "worst": worst,
        "on": on,
        "batch": batch,
        "tokens": tokens,
        "prompt": prompt,
        "report": report,
        "pictures": pictures,
        "abs_tol": abs_tol,
        "mean_tol": mean_tol,
        "max_mse": max_mse,
        "min_sqnr": min_sqnr,
        "min_agreement": min_agreement,
        "max_flips": max_flips,
        "max_drop": max_drop,
        "confidence": confidence,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
        "via": via,
        "launcher": launcher,
        "runner": runner,
        "runtime_there": runtime_there,
        "folder_there": folder_there,
        "keep_there": keep_there,
        "seconds_there": seconds_there,
    }, progress)


def bench(
    model: Union[Model, List[Model]],
    *models: Model,
    seconds: Optional[float] = None,
    repeats: Optional[int] = None,
    batch: Optional[Words] = None,
    cold_starts: Optional[int] = None,
    tokens: Optional[int] = None,
    prompt: Optional[int] = None,
    profile: Optional[bool] = None,
    report: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    via: Optional[Word] = None,
    launcher: Optional[Word] = None,
    runner: Optional[Word] = None,
    runtime_there: Optional[Word] = None,
    folder_there: Optional[Word] = None,
    keep_there: Optional[bool] = None,
    seconds_there: Optional[float] = None,
    progress: Progress = None,
) -> BenchResult:
    r"""Who is faster, by how much, and how sure is that.

    model: models: paths, bytes, onnx.ModelProto or results; the others are compared with the first one
    seconds: seconds for each model and batch size (default: 2)
    repeats: calls of each model instead of seconds
    batch: batch sizes, with commas (default: [1])
    cold_starts: processes of each model's own, for cold start and memory (0: none) (default: 3)
    tokens: language models: feed texts (rows of ids) token by token, so many behind the prompt, with
        what the model keeps of the past; tells latencies, perplexity and tokens that flip
    prompt: with tokens: ids of a text that are fed at once (default: 16)
    profile: where the time goes: by op, the dearest nodes, the share of kernels that multiply integers
    report: draw the result as one page that anybody can open: FILE.html

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    Elsewhere:
    via: run models on another machine: the command that runs a shell command there, such as 'ssh board'
        or 'adb shell'
    launcher: what starts the runner (there): 'qemu-aarch64 -L /usr/aarch64-linux-gnu'
    runner: the runner for that machine, a file here (default: ounce-runner or ounce-runner-arm64)
    runtime_there: ONNX Runtime for that machine: a library here, or a version (default: the newest)
    folder_there: where the runner, the library and models go (default: a folder of ours in /tmp)
    keep_there: leave models there, so that they are not sent again
    seconds_there: time for each answer, and for sending each file (default: 600)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("bench", BenchResult, {
        "model": several(model, models),
        "seconds": seconds,
        "repeats": repeats,
        "batch": batch,
        "cold_starts": cold_starts,
        "tokens": tokens,
        "prompt": prompt,
        "profile": profile,
        "report": report,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
        "via": via,
        "launcher": launcher,
        "runner": runner,
        "runtime_there": runtime_there,
        "folder_there": folder_there,
        "keep_there": keep_there,
        "seconds_there": seconds_there,
    }, progress)


def tune(
    model: Model,
    output: Optional[Word] = None,
    *,
    objective: Optional[Literal["balanced", "latency", "size", "memory"]] = "balanced",
    budget: Optional[Word] = None,
    on: Optional[Words] = None,
    target: Optional[Word] = None,
    cache: Optional[Word] = None,
    no_cache: Optional[bool] = None,
    report: Optional[Word] = None,
    task: Optional[Literal["auto", "classify", "detect", "embed", "ctc", "segment", "tag", "audio", "regress"]] = "auto",
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    metric: Optional[Union[str, Metric]] = "auto",
    tags: Optional[Words] = None,
    label_output: Optional[Word] = None,
    outputs: Optional[Words] = None,
    threshold: Optional[float] = None,
    abs_tol: Optional[float] = None,
    mean_tol: Optional[float] = None,
    max_mse: Optional[float] = None,
    min_sqnr: Optional[float] = None,
    min_agreement: Optional[Word] = None,
    max_flips: Optional[Word] = None,
    max_drop: Optional[Words] = None,
    confidence: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> TuneResult:
    r"""Find the smallest and fastest mixed-precision model that passes the gate; exit 1 if none does.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    output: where the best goes (default: MODEL.tuned.onnx)
    objective: balanced (least time × bytes), latency, size (without being slower than the original),
        memory (least at load, at 90 % of the original's speed or more)
    budget: time for each model: 90s, 10m, 2h; or how much is tried, without timing it: '40 models'
        (default: 10m)
    on: other CPUs to run the result on in the end, if it computes on integers: avx2, avx512, arm64;
        none; auto for all that can be shown here (default: auto)
    target: where the model will run, such as android-arm64@1.22.0: what it lacks is not written
    cache: folder that keeps measurements, so that a run goes on where it was (default: OUNCE_CACHE,
        XDG_CACHE_HOME/ounce or ~/.cache/ounce)
    no_cache: keep no measurements, and use none
    report: draw the result as one page that anybody can open: FILE.html
    task: what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; without
        labels the original's outputs are the truth
    metric_command: a program of your own that prints a number, run with the folder of both models'
        outputs: 'python3 score.py'
    metric_seconds: that it may take (default: 300)
    metric: Metric that decides: map (mean average precision of boxes at IoU 0.5), accuracy (top-1 and
        top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
        probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and squared
        error), recall (nearest neighbors of embeddings), lines (lines of text without an error), iou
        (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of sound, log-spectral
        distance). Default: by task, or by the labels; or a function of the outputs by name and of the
        labels that gives a number, or numbers by name
    tags: names of the classes of task tag, with commas: O,B-PER,I-PER (default: O, then B and I in
        turn)
    label_output: the output that labels speak of (default: the first)
    outputs: judge these outputs only (repeatable, or with commas); the others are compared and
        reported. Example: outputs probabilities
    threshold: decision threshold of an output: count decisions that change (two columns of
        probabilities are one decision); with task detect, the least score of a box

    Gates (without any: 30 dB for every output; with --labels 1 point of the metric):
    abs_tol: largest difference of any value, such as 0.04
    mean_tol: largest mean difference of an output, such as 0.01
    max_mse: largest mean squared difference of an output, such as 1e-4
    min_sqnr: least signal to noise of an output and its slices in dB
    min_agreement: least share of same answers, such as 99%: top-1 classes, and outputs that are labels
    max_flips: largest share of decisions that change at threshold, such as 0.5%
    max_drop: what the metric may lose, such as 0.5%: points of map, accuracy, brier, ece, f1, recall,
        lines, iou, entity_f1; relative for nll, mae; or NAME=0.5% for one of several (one, or a list)
    confidence: how sure it must be that the gates hold on other data like this: 90%, 95% …; none goes
        by these samples alone (default: 90%)

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("tune", TuneResult, {
        "model": model,
        "output": output,
        "objective": objective,
        "budget": budget,
        "on": on,
        "target": target,
        "cache": cache,
        "no_cache": no_cache,
        "report": report,
        "task": task,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "metric": metric,
        "tags": tags,
        "label_output": label_output,
        "outputs": outputs,
        "threshold": threshold,
        "abs_tol": abs_tol,
        "mean_tol": mean_tol,
        "max_mse": max_mse,
        "min_sqnr": min_sqnr,
        "min_agreement": min_agreement,
        "max_flips": max_flips,
        "max_drop": max_drop,
        "confidence": confidence,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
    }, progress)


def advise(
    model: Model,
    *,
    budget: Optional[Word] = None,
    target: Optional[Word] = None,
    task: Optional[Literal["auto", "classify", "detect", "embed", "ctc", "segment", "tag", "audio", "regress"]] = "auto",
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    metric: Optional[Union[str, Metric]] = "auto",
    tags: Optional[Words] = None,
    label_output: Optional[Word] = None,
    outputs: Optional[Words] = None,
    threshold: Optional[float] = None,
    max_drop: Optional[Word] = None,
    min_sqnr: Optional[float] = None,
    report: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> AdviseResult:
    r"""Should this model be quantized, how, and what will it bring? measured on it.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    budget: time for each model, such as 90s or 5m (default: 60s)
    target: where it will run: a place and a release such as android-arm64@1.22.0, a provider such as
        cuda
    task: what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; without
        labels the original's outputs are the truth
    metric_command: a program of your own that prints a number, run with the folder of both models'
        outputs: 'python3 score.py'
    metric_seconds: that it may take (default: 300)
    metric: Metric that decides: map (mean average precision of boxes at IoU 0.5), accuracy (top-1 and
        top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
        probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and squared
        error), recall (nearest neighbors of embeddings), lines (lines of text without an error), iou
        (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of sound, log-spectral
        distance). Default: by task, or by the labels; or a function of the outputs by name and of the
        labels that gives a number, or numbers by name
    tags: names of the classes of task tag, with commas: O,B-PER,I-PER (default: O, then B and I in
        turn)
    label_output: the output that labels speak of (default: the first)
    outputs: judge these outputs only (repeatable, or with commas); the others are compared and
        reported. Example: outputs probabilities
    threshold: decision threshold of an output: count decisions that change (two columns of
        probabilities are one decision); with task detect, the least score of a box
    max_drop: what the metric may lose, such as 0.5% (default: 0.5%)
    min_sqnr: least signal to noise of an output in dB (default: without labels 20, of generated sound
        30)
    report: draw the result as one page that anybody can open: FILE.html

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("advise", AdviseResult, {
        "model": model,
        "budget": budget,
        "target": target,
        "task": task,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "metric": metric,
        "tags": tags,
        "label_output": label_output,
        "outputs": outputs,
        "threshold": threshold,
        "max_drop": max_drop,
        "min_sqnr": min_sqnr,
        "report": report,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
    }, progress)


def inspect(
    model: Model,
    *,
    to: Optional[Literal["w16", "w4", "w8"]] = "w8",
    decode: Optional[Literal["auto", "dq", "fold"]] = "auto",
    memory: Optional[Literal["balanced", "fast", "low"]] = "fast",
    decode_share: Optional[float] = None,
    granularity: Optional[Word] = None,
    scale: Optional[Literal["absmax", "mse"]] = "mse",
    rounding: Optional[Literal["adaptive", "nearest", "zero-sum"]] = "zero-sum",
    codebook: Optional[bool] = None,
    asymmetric: Optional[bool] = None,
    fp16_budget: Optional[float] = None,
    min_bytes: Optional[int] = None,
    include: Optional[Words] = None,
    exclude: Optional[Words] = None,
    ignore_unmatched: Optional[bool] = None,
    keep_inputs: Optional[bool] = None,
    node: Optional[Words] = None,
    expert: Optional[Words] = None,
    tensors: Optional[int] = None,
    progress: Progress = None,
) -> InspectResult:
    r"""What is in a model, and what quantize would do with it.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    to: format and its typical size: w8 (8-bit weights, FP32 arithmetic: 25 %), w16 (16-bit float
        weights, FP32 arithmetic: 50 %), w4 (4-bit weights, FP32 arithmetic: 15 %)
    decode: how the runtime gets weights back: fold (constants at load, FP32 speed), dq
        (DequantizeLinear)
    memory: w8, w4: what decode auto trades for memory in the app: fast (nothing: weights are FP32 once
        loaded), balanced (some are decoded at every run, see decode_share), low (all that can be)
    decode_share: memory balanced: percent of a run's time to spend on decoding weights, estimated from
        shapes (default: 5)
    granularity: what shares a scale: auto, tensor, channel, block:N (default: auto)
    scale: how scales are found: mse (least squared error), absmax
    rounding: zero-sum (the errors of a channel sum to zero), nearest, adaptive (int8: each layer gives
        what it gave before on calibration data; slower)
    codebook: k-means codebook instead of a linear scale (w8: 256 values, w4: 16)
    asymmetric: give every scale a zero point
    fp16_budget: percent of the size to spend on storing the smallest weights in FP16 (default: 0.1)
    min_bytes: leave smaller tensors alone (default: 1024)
    include: only these: a regular expression on tensor, node and op type (one, or a list)
    exclude: skip these: a regular expression on tensor, node and op type (one, or a list)
    ignore_unmatched: warn about a regular expression that matches nothing, instead of failing
    keep_inputs: initializers that are listed as inputs stay inputs with a default value (otherwise they
        become constants)
    node: NAME=FORMAT for the node that gives the value NAME: fp32, w16, w8, w4, nbits8, nbits4 or
        nbits2 (so its weights are stored, and it computes on floats), with to int8 also int8-dynamic
        (one, or a list)
    expert: KEY=VALUE: set any field of the recipe by its name in JSON, as fit_on_even_samples=true
        (one, or a list)
    tensors: how many of the largest float tensors to show (default: 20)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("inspect", InspectResult, {
        "model": model,
        "to": to,
        "decode": decode,
        "memory": memory,
        "decode_share": decode_share,
        "granularity": granularity,
        "scale": scale,
        "rounding": rounding,
        "codebook": codebook,
        "asymmetric": asymmetric,
        "fp16_budget": fp16_budget,
        "min_bytes": min_bytes,
        "include": include,
        "exclude": exclude,
        "ignore_unmatched": ignore_unmatched,
        "keep_inputs": keep_inputs,
        "node": node,
        "expert": expert,
        "tensors": tensors,
    }, progress)


def check(
    model: Model,
    *,
    target: Optional[Words] = None,
    fail_on: Optional[Words] = None,
    required_ops: Optional[Word] = None,
    runtime: Optional[Word] = None,
    execute: Optional[bool] = None,
    report: Optional[Word] = None,
    via: Optional[Word] = None,
    launcher: Optional[Word] = None,
    runner: Optional[Word] = None,
    runtime_there: Optional[Word] = None,
    folder_there: Optional[Word] = None,
    keep_there: Optional[bool] = None,
    seconds_there: Optional[float] = None,
    progress: Progress = None,
) -> CheckResult:
    r"""Will it run there, before it is shipped.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    target: where: linux-x64@1.30.0, android-arm64@1.22.0, ios-arm64@…, ort-web@…, host (repeatable, or
        with commas; default: host)
    fail_on: exit 3 for these verdicts, too: slow, unknown (repeatable, or with commas; default: none)
    required_ops: write the config file of a reduced build of ONNX Runtime that has the ops of these
        models, and those that its optimisers put in
    runtime: ONNX Runtime for that: a library's path, or a version
    execute: run the model on the target's machine too (arm64 under qemu-user, or behind via) and
        compare its outputs with those here
    report: draw the result as one page that anybody can open: FILE.html

    Elsewhere:
    via: run models on another machine: the command that runs a shell command there, such as 'ssh board'
        or 'adb shell'
    launcher: what starts the runner (there): 'qemu-aarch64 -L /usr/aarch64-linux-gnu'
    runner: the runner for that machine, a file here (default: ounce-runner or ounce-runner-arm64)
    runtime_there: ONNX Runtime for that machine: a library here, or a version (default: the newest)
    folder_there: where the runner, the library and models go (default: a folder of ours in /tmp)
    keep_there: leave models there, so that they are not sent again
    seconds_there: time for each answer, and for sending each file (default: 600)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("check", CheckResult, {
        "model": model,
        "target": target,
        "fail_on": fail_on,
        "required_ops": required_ops,
        "runtime": runtime,
        "execute": execute,
        "report": report,
        "via": via,
        "launcher": launcher,
        "runner": runner,
        "runtime_there": runtime_there,
        "folder_there": folder_there,
        "keep_there": keep_there,
        "seconds_there": seconds_there,
    }, progress)


def report(
    run: Words,
    output: Optional[Word] = None,
    *,
    progress: Progress = None,
) -> ReportResult:
    r"""Draw runs as one page that anybody can open, from what --json printed.

    run: documents that json printed: of quantize, verify, bench, sensitivity, tune, advise, check, diff
    output: the page: FILE.html

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("report", ReportResult, {
        "run": run,
        "output": output,
    }, progress)


def sensitivity(
    model: Model,
    *,
    to: Optional[Literal["int8", "int8-dynamic", "w4", "w8"]] = "int8",
    by: Optional[Literal["block", "layer", "op"]] = "layer",
    top: Optional[int] = None,
    min_sqnr: Optional[float] = None,
    task: Optional[Literal["auto", "classify", "detect", "embed", "ctc", "segment", "tag", "audio", "regress"]] = "auto",
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    metric: Optional[Union[str, Metric]] = "auto",
    tags: Optional[Words] = None,
    label_output: Optional[Word] = None,
    outputs: Optional[Words] = None,
    threshold: Optional[float] = None,
    batch: Optional[int] = None,
    cache: Optional[Word] = None,
    no_cache: Optional[bool] = None,
    jobs: Optional[int] = None,
    report: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> SensitivityResult:
    r"""Which layers suffer from a format, and what to leave out.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    to: format to analyze: int8, int8-dynamic, w8, w4
    by: what is measured together: layer (each alone), block (by names, or neighbours), op (all Convs …)
    top: measure only so many, those with the largest estimated error (0: all) (default: 0)
    min_sqnr: dB of the outputs that --exclude is to reach (default: 30)
    task: what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; without
        labels the original's outputs are the truth
    metric_command: a program of your own that prints a number, run with the folder of both models'
        outputs: 'python3 score.py'
    metric_seconds: that it may take (default: 300)
    metric: Metric that decides: map (mean average precision of boxes at IoU 0.5), accuracy (top-1 and
        top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
        probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and squared
        error), recall (nearest neighbors of embeddings), lines (lines of text without an error), iou
        (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of sound, log-spectral
        distance). Default: by task, or by the labels; or a function of the outputs by name and of the
        labels that gives a number, or numbers by name
    tags: names of the classes of task tag, with commas: O,B-PER,I-PER (default: O, then B and I in
        turn)
    label_output: the output that labels speak of (default: the first)
    outputs: judge these outputs only (repeatable, or with commas); the others are compared and
        reported. Example: outputs probabilities
    threshold: decision threshold of an output: count decisions that change (two columns of
        probabilities are one decision); with task detect, the least score of a box
    batch: samples in one run (default: 1)
    cache: folder in which measurements are kept (default: OUNCE_CACHE, or ounce in the user's cache)
    no_cache: keep nothing, and recall nothing
    jobs: models measured at once (0: as many as CPUs and memory allow) (default: 0)
    report: draw the result as one page that anybody can open: FILE.html

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: to measure on, evenly spread over the data (0: all; default: 64, with carry the first 1024)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("sensitivity", SensitivityResult, {
        "model": model,
        "to": to,
        "by": by,
        "top": top,
        "min_sqnr": min_sqnr,
        "task": task,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "metric": metric,
        "tags": tags,
        "label_output": label_output,
        "outputs": outputs,
        "threshold": threshold,
        "batch": batch,
        "cache": cache,
        "no_cache": no_cache,
        "jobs": jobs,
        "report": report,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
    }, progress)


def calibrate(
    model: Model,
    output: Optional[Word] = None,
    *,
    shard: Optional[Word] = None,
    batch: Optional[int] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> CalibrateResult:
    r"""What the activations of a model look like on data, for static INT8.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    output: the file of ranges (default: model.ranges beside the model)
    shard: I/N: only every N-th sample, beginning with the I-th; 'merge' puts the parts together
    batch: samples in one run (default: 1)

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("calibrate", CalibrateResult, {
        "model": model,
        "output": output,
        "shard": shard,
        "batch": batch,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
    }, progress)


def calibrate_merge(
    part: Words,
    output: Optional[Word] = None,
    *,
    progress: Progress = None,
) -> CalibrateResult:
    r"""Put the parts of a calibration together: the same file as one run gives.

    part: files of ranges
    output: the file of ranges

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("calibrate merge", CalibrateResult, {
        "part": part,
        "output": output,
    }, progress)


def diff(
    a: Optional[Word],
    b: Optional[Word],
    *,
    report: Optional[Word] = None,
    progress: Progress = None,
) -> DiffResult:
    r"""What changed between two models? exit 0 if nothing did, 1 otherwise.

    a: a model
    b: the one that it became
    report: draw the result as one page that anybody can open: FILE.html

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("diff", DiffResult, {
        "a": a,
        "b": b,
        "report": report,
    }, progress)


def publish(
    model: Model,
    output: Optional[Word] = None,
    *,
    layout: Optional[Literal["huggingface", "genai", "plain"]] = "huggingface",
    variants: Optional[Words] = None,
    target: Optional[Word] = None,
    external_data: Optional[Literal["auto", "always", "never"]] = "auto",
    replace: Optional[bool] = None,
    bench: Optional[bool] = None,
    seconds: Optional[float] = None,
    task: Optional[Literal["auto", "classify", "detect", "embed", "ctc", "segment", "tag", "audio", "regress"]] = "auto",
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    metric: Optional[Union[str, Metric]] = "auto",
    tags: Optional[Words] = None,
    label_output: Optional[Word] = None,
    outputs: Optional[Words] = None,
    threshold: Optional[float] = None,
    edge_cases: Optional[bool] = None,
    on: Optional[Words] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    abs_tol: Optional[float] = None,
    mean_tol: Optional[float] = None,
    max_mse: Optional[float] = None,
    min_sqnr: Optional[float] = None,
    min_agreement: Optional[Word] = None,
    max_flips: Optional[Word] = None,
    max_drop: Optional[Words] = None,
    confidence: Optional[Word] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> PublishResult:
    r"""Write every variant of a model that people expect, with configuration and a model card.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    output: the folder to write; appears whole or not at all
    layout: huggingface (onnx/model_q4.onnx, for transformers.js and optimum), genai (q4/model.onnx),
        plain (model.q4.onnx)
    variants: with commas: fp32, fp16, q8, int8, uint8, q4 (default: fp32,fp16,q8,q4)
    target: where they will run, as in quantize
    external_data: weights in files of their own: auto (above 2 GiB), always, never
    replace: a folder that stands there goes, in one step
    bench: measure speed and memory for the model card (default: on)
    seconds: to time each model (default: 2)
    task: what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; without
        labels the original's outputs are the truth
    metric_command: a program of your own that prints a number, run with the folder of both models'
        outputs: 'python3 score.py'
    metric_seconds: that it may take (default: 300)
    metric: Metric that decides: map (mean average precision of boxes at IoU 0.5), accuracy (top-1 and
        top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
        probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and squared
        error), recall (nearest neighbors of embeddings), lines (lines of text without an error), iou
        (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of sound, log-spectral
        distance). Default: by task, or by the labels; or a function of the outputs by name and of the
        labels that gives a number, or numbers by name
    tags: names of the classes of task tag, with commas: O,B-PER,I-PER (default: O, then B and I in
        turn)
    label_output: the output that labels speak of (default: the first)
    outputs: judge these outputs only (repeatable, or with commas); the others are compared and
        reported. Example: outputs probabilities
    threshold: decision threshold of an output: count decisions that change (two columns of
        probabilities are one decision); with task detect, the least score of a box
    edge_cases: also try zeros, extremes, noise, batches and lengths (default: on)
    on: other CPUs to run what computes on integers on before it is written: avx2, avx512, arm64; none;
        auto for all that can be shown here (default: auto)
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary

    Gates of every variant (without any: 20 dB for every output; with --labels 1 point of the metric):
    abs_tol: largest difference of any value, such as 0.04
    mean_tol: largest mean difference of an output, such as 0.01
    max_mse: largest mean squared difference of an output, such as 1e-4
    min_sqnr: least signal to noise of an output and its slices in dB
    min_agreement: least share of same answers, such as 99%: top-1 classes, and outputs that are labels
    max_flips: largest share of decisions that change at threshold, such as 0.5%
    max_drop: what the metric may lose, such as 0.5%: points of map, accuracy, brier, ece, f1, recall,
        lines, iou, entity_f1; relative for nll, mae; or NAME=0.5% for one of several (one, or a list)
    confidence: how sure it must be that the gates hold on other data like this: 90%, 95% …; none goes
        by these samples alone (default: none)

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("publish", PublishResult, {
        "model": model,
        "output": output,
        "layout": layout,
        "variants": variants,
        "target": target,
        "external_data": external_data,
        "replace": replace,
        "bench": bench,
        "seconds": seconds,
        "task": task,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "metric": metric,
        "tags": tags,
        "label_output": label_output,
        "outputs": outputs,
        "threshold": threshold,
        "edge_cases": edge_cases,
        "on": on,
        "contract": contract,
        "abs_tol": abs_tol,
        "mean_tol": mean_tol,
        "max_mse": max_mse,
        "min_sqnr": min_sqnr,
        "min_agreement": min_agreement,
        "max_flips": max_flips,
        "max_drop": max_drop,
        "confidence": confidence,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
    }, progress)


class contract:
    """How raw data becomes what the model takes, kept in the model and checked."""

    @staticmethod
    def set(
        model: Model,
        output: Optional[Word] = None,
        *,
        data: Optional[Data] = None,
        input: Optional[Words] = None,
        set: Optional[Words] = None,
        carry: Optional[Words] = None,
        labels: Optional[Union[str, Any]] = None,
        first: Optional[int] = None,
        samples: Optional[int] = None,
        part: Optional[Word] = None,
        shape: Optional[Words] = None,
        seed: Optional[int] = None,
        contract: Optional[Union[Word, Mapping[str, Any]]] = None,
        for_: Optional[Word] = None,
        kind: Optional[Literal["audio", "image", "tensor"]] = None,
        size: Optional[Word] = None,
        resample: Optional[Word] = None,
        resize_backend: Optional[Literal["opencv", "pillow"]] = None,
        crop: Optional[Word] = None,
        crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
        color: Optional[Literal["bgr", "grey", "rgb"]] = None,
        layout: Optional[Literal["nchw", "nhwc"]] = None,
        rescale: Optional[Word] = None,
        mean: Optional[Words] = None,
        std: Optional[Words] = None,
        rate: Optional[int] = None,
        length: Optional[int] = None,
        frame: Optional[int] = None,
        hop: Optional[int] = None,
        runtime: Optional[Word] = None,
        litert: Optional[Word] = None,
        threads: Optional[int] = None,
        threads_between: Optional[int] = None,
        optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
        session_config: Optional[Words] = None,
        isolate: Optional[bool] = None,
        isolate_memory: Optional[float] = None,
        isolate_seconds: Optional[float] = None,
        progress: Progress = None,
    ) -> ContractResult:
        r"""Write the model with a contract; with --data also what data looks like, and a golden sample.

        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
        output: the model with the contract

        Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: INPUT=FIELD: which array or column feeds an input (one, or a list)
        set: INPUT=NUMBER: an input that is always the same (one, or a list)
        carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: begin with this sample
        samples: so many samples (0: all)
        part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
        shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
        seed: seed of random inputs (default: 1)

        How raw data becomes an input (the contract):
        contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
            a dictionary
        for_: the input that these options speak of (default: the only one)
        kind: image, audio or tensor
        size: resize to HEIGHTxWIDTH, or the shorter side to S
        resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
            area
        resize_backend: resize as pillow or as opencv does
        crop: cut out the middle: HEIGHTxWIDTH or S
        crop_rule: where the middle is: torchvision or huggingface
        color: rgb, bgr or grey
        layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
            are height, width, channels
        rescale: multiply by this, such as 1/255
        mean: then subtract: one number, or one for each channel, with commas
        std: then divide by: one number, or one for each channel, with commas
        rate: samples a second that sound must have
        length: samples that the model takes: longer sound is cut, shorter filled up
        frame: cut sound into frames of so many samples, each a run of the model
        hop: a frame every so many samples; what it is longer lies before (default: frame)

        Runtime:
        runtime: ONNX Runtime: a library's path, or a version (default: the newest)
        litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
        threads: threads inside an op (0: as many as the runtime likes) (default: 1)
        threads_between: threads for ops side by side (default: 1)
        optimization: graph optimization: none, basic, extended, all
        session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
        isolate: run models in a process of their own, with limits (the default)
        isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
        isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

        progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
            function of what is worked on, the stage, how much is done and of how much
        """
        return call("contract set", ContractResult, {
            "model": model,
            "output": output,
            "data": data,
            "input": input,
            "set": set,
            "carry": carry,
            "labels": labels,
            "first": first,
            "samples": samples,
            "part": part,
            "shape": shape,
            "seed": seed,
            "contract": contract,
            "for": for_,
            "kind": kind,
            "size": size,
            "resample": resample,
            "resize_backend": resize_backend,
            "crop": crop,
            "crop_rule": crop_rule,
            "color": color,
            "layout": layout,
            "rescale": rescale,
            "mean": mean,
            "std": std,
            "rate": rate,
            "length": length,
            "frame": frame,
            "hop": hop,
            "runtime": runtime,
            "litert": litert,
            "threads": threads,
            "threads_between": threads_between,
            "optimization": optimization,
            "session_config": session_config,
            "isolate": isolate,
            "isolate_memory": isolate_memory,
            "isolate_seconds": isolate_seconds,
        }, progress)

    @staticmethod
    def show(
        model: Model,
        *,
        progress: Progress = None,
    ) -> ContractResult:
        r"""Print a model's contract.

        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model

        progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
            function of what is worked on, the stage, how much is done and of how much
        """
        return call("contract show", ContractResult, {
            "model": model,
        }, progress)

    @staticmethod
    def check(
        model: Model,
        *,
        dump: Optional[Words] = None,
        data: Optional[Data] = None,
        input: Optional[Words] = None,
        set: Optional[Words] = None,
        carry: Optional[Words] = None,
        labels: Optional[Union[str, Any]] = None,
        first: Optional[int] = None,
        samples: Optional[int] = None,
        part: Optional[Word] = None,
        shape: Optional[Words] = None,
        seed: Optional[int] = None,
        runtime: Optional[Word] = None,
        litert: Optional[Word] = None,
        threads: Optional[int] = None,
        threads_between: Optional[int] = None,
        optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
        session_config: Optional[Words] = None,
        isolate: Optional[bool] = None,
        isolate_memory: Optional[float] = None,
        isolate_seconds: Optional[float] = None,
        progress: Progress = None,
    ) -> ContractCheckResult:
        r"""Is this data what the contract says? exit 1 if not.

        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
        dump: the floats that your app gave its model for the same samples: a .npy or raw float32 file, or
            INPUT=FILE (one, or a list)

        Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: INPUT=FIELD: which array or column feeds an input (one, or a list)
        set: INPUT=NUMBER: an input that is always the same (one, or a list)
        carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: begin with this sample
        samples: so many samples (0: all)
        part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
        shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
        seed: seed of random inputs (default: 1)

        Runtime:
        runtime: ONNX Runtime: a library's path, or a version (default: the newest)
        litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
        threads: threads inside an op (0: as many as the runtime likes) (default: 1)
        threads_between: threads for ops side by side (default: 1)
        optimization: graph optimization: none, basic, extended, all
        session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
        isolate: run models in a process of their own, with limits (the default)
        isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
        isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

        progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
            function of what is worked on, the stage, how much is done and of how much
        """
        return call("contract check", ContractCheckResult, {
            "model": model,
            "dump": dump,
            "data": data,
            "input": input,
            "set": set,
            "carry": carry,
            "labels": labels,
            "first": first,
            "samples": samples,
            "part": part,
            "shape": shape,
            "seed": seed,
            "runtime": runtime,
            "litert": litert,
            "threads": threads,
            "threads_between": threads_between,
            "optimization": optimization,
            "session_config": session_config,
            "isolate": isolate,
            "isolate_memory": isolate_memory,
            "isolate_seconds": isolate_seconds,
        }, progress)


def unpack(
    model: Model,
    *,
    cache: Optional[Word] = None,
    runtime: Optional[Word] = None,
    session_config: Optional[Words] = None,
    max_cache: Optional[float] = None,
    isolate: Optional[bool] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> UnpackResult:
    r"""Decode and optimise models once for this machine, so that an app loads them at once and in no heap.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    cache: the folder that the app loads from
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    session_config: NAME=VALUE: an entry of the runtime's session options, as the app will have it (one,
        or a list)
    max_cache: MiB that the folder may take: what was used longest ago is removed (0: any) (default: 0)
    isolate: do it in a process of its own, with limits (the default)
    isolate_seconds: its time (0: no limit) (default: 600)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("unpack", UnpackResult, {
        "model": model,
        "cache": cache,
        "runtime": runtime,
        "session_config": session_config,
        "max_cache": max_cache,
        "isolate": isolate,
        "isolate_seconds": isolate_seconds,
    }, progress)


def copy(
    model: Model,
    output: Optional[Word] = None,
    *,
    external_data: Optional[Literal["auto", "always", "never"]] = "auto",
    runtime: Optional[Word] = None,
    emit: Optional[Literal["ort"]] = None,
    ort_style: Optional[Literal["fixed", "runtime"]] = "fixed",
    progress: Progress = None,
) -> CopyResult:
    r"""Read, check and write a model without changing a number; packs external data in or out.

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    output: file or folder for the copy
    external_data: auto (an identical copy), always, never
    runtime: ONNX Runtime for emit: a library's path, or a version

    ONNX Runtime's own format:
    emit: ort: also model.ort, optimised offline by the runtime and loaded again, and the operators that
        a reduced build of it needs
    ort_style: fixed (all optimisations now, for the CPU), runtime (those for NNAPI and CoreML later)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("copy", CopyResult, {
        "model": model,
        "output": output,
        "external_data": external_data,
        "runtime": runtime,
        "emit": emit,
        "ort_style": ort_style,
    }, progress)


class shadow:
    """What a candidate did beside the model that answered, on devices."""

    @staticmethod
    def report(
        files: Words,
        *,
        min_calls: Optional[float] = None,
        min_agreement: Optional[float] = None,
        min_sqnr: Optional[float] = None,
        max_failures: Optional[float] = None,
        max_latency_ratio: Optional[float] = None,
        progress: Progress = None,
    ) -> ShadowReportResult:
        r"""Merge the statistics of devices, and judge them; exit 1 if the candidate does not pass.

        files: files that an app's Shadow has written
        min_calls: calls that must have been compared (default: 100)
        min_agreement: share of answers that must be the same (default: 0.99)
        min_sqnr: dB that the worst output needs (0: any) (default: 0)
        max_failures: share of calls that the candidate may fail (default: 0.001)
        max_latency_ratio: of the candidate's p50 to the primary's (0: any) (default: 0)

        progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
            function of what is worked on, the stage, how much is done and of how much
        """
        return call("shadow report", ShadowReportResult, {
            "files": files,
            "min_calls": min_calls,
            "min_agreement": min_agreement,
            "min_sqnr": min_sqnr,
            "max_failures": max_failures,
            "max_latency_ratio": max_latency_ratio,
        }, progress)


def prove(
    model: Model,
    *,
    source: Optional[Word] = None,
    ranges: Optional[Word] = None,
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    data: Optional[Data] = None,
    input: Optional[Words] = None,
    set: Optional[Words] = None,
    carry: Optional[Words] = None,
    labels: Optional[Union[str, Any]] = None,
    first: Optional[int] = None,
    samples: Optional[int] = None,
    part: Optional[Word] = None,
    shape: Optional[Words] = None,
    seed: Optional[int] = None,
    contract: Optional[Union[Word, Mapping[str, Any]]] = None,
    for_: Optional[Word] = None,
    kind: Optional[Literal["audio", "image", "tensor"]] = None,
    size: Optional[Word] = None,
    resample: Optional[Word] = None,
    resize_backend: Optional[Literal["opencv", "pillow"]] = None,
    crop: Optional[Word] = None,
    crop_rule: Optional[Literal["huggingface", "torchvision"]] = None,
    color: Optional[Literal["bgr", "grey", "rgb"]] = None,
    layout: Optional[Literal["nchw", "nhwc"]] = None,
    rescale: Optional[Word] = None,
    mean: Optional[Words] = None,
    std: Optional[Words] = None,
    rate: Optional[int] = None,
    length: Optional[int] = None,
    frame: Optional[int] = None,
    hop: Optional[int] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    threads: Optional[int] = None,
    threads_between: Optional[int] = None,
    optimization: Optional[Literal["none", "basic", "extended", "all"]] = "all",
    session_config: Optional[Words] = None,
    isolate: Optional[bool] = None,
    isolate_memory: Optional[float] = None,
    isolate_seconds: Optional[float] = None,
    progress: Progress = None,
) -> ProveResult:
    r"""Check the provenance record of a model: proved, unproved or refuted (exit 0, 5, 1).

    model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model
    source: the original: the model is made again from it, and its gate is tried again
    ranges: what it was made with, if it was made with a file of ranges
    metric_command: what it was judged by, if it was judged by a program of your own
    metric_seconds: that it may take (default: 300)

    Data:
    data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
        labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
        CalibrationDataReader)
    input: INPUT=FIELD: which array or column feeds an input (one, or a list)
    set: INPUT=NUMBER: an input that is always the same (one, or a list)
    carry: INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (one, or a list)
    labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
        images
    first: begin with this sample
    samples: so many samples (0: all)
    part: I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common
    shape: NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (one, or a list)
    seed: seed of random inputs (default: 1)

    How raw data becomes an input (the contract):
    contract: how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or
        a dictionary
    for_: the input that these options speak of (default: the only one)
    kind: image, audio or tensor
    size: resize to HEIGHTxWIDTH, or the shorter side to S
    resample: nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic,
        area
    resize_backend: resize as pillow or as opencv does
    crop: cut out the middle: HEIGHTxWIDTH or S
    crop_rule: where the middle is: torchvision or huggingface
    color: rgb, bgr or grey
    layout: layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data
        are height, width, channels
    rescale: multiply by this, such as 1/255
    mean: then subtract: one number, or one for each channel, with commas
    std: then divide by: one number, or one for each channel, with commas
    rate: samples a second that sound must have
    length: samples that the model takes: longer sound is cut, shorter filled up
    frame: cut sound into frames of so many samples, each a run of the model
    hop: a frame every so many samples; what it is longer lies before (default: frame)

    Runtime:
    runtime: ONNX Runtime: a library's path, or a version (default: the newest)
    litert: LiteRT, which runs .tflite models, in the same way (default: the newest)
    threads: threads inside an op (0: as many as the runtime likes) (default: 1)
    threads_between: threads for ops side by side (default: 1)
    optimization: graph optimization: none, basic, extended, all
    session_config: a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (one, or a list)
    isolate: run models in a process of their own, with limits (the default)
    isolate_memory: its address space in GiB (0: as much as the machine has) (default: 0)
    isolate_seconds: its time for loading and for each run (0: no limit) (default: 120)

    progress: True for a bar of tqdm, False for none, None for one where somebody is watching; or a
        function of what is worked on, the stage, how much is done and of how much
    """
    return call("prove", ProveResult, {
        "model": model,
        "source": source,
        "ranges": ranges,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "data": data,
        "input": input,
        "set": set,
        "carry": carry,
        "labels": labels,
        "first": first,
        "samples": samples,
        "part": part,
        "shape": shape,
        "seed": seed,
        "contract": contract,
        "for": for_,
        "kind": kind,
        "size": size,
        "resample": resample,
        "resize_backend": resize_backend,
        "crop": crop,
        "crop_rule": crop_rule,
        "color": color,
        "layout": layout,
        "rescale": rescale,
        "mean": mean,
        "std": std,
        "rate": rate,
        "length": length,
        "frame": frame,
        "hop": hop,
        "runtime": runtime,
        "litert": litert,
        "threads": threads,
        "threads_between": threads_between,
        "optimization": optimization,
        "session_config": session_config,
        "isolate": isolate,
        "isolate_memory": isolate_memory,
        "isolate_seconds": isolate_seconds,
    }, progress)
