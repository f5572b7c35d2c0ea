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
    ExplainResult,
    InspectResult,
    OverviewResult,
    ProveResult,
    PublishResult,
    QuantizeResult,
    ReportResult,
    SensitivityResult,
    ShadowReportResult,
    TuneResult,
    UnpackResult,
    VerifyResult,
    WorkResult,
)


def quantize(
    model: Model,
    output: Optional[Word] = None,
    *,
    to: Optional[Literal["bf16", "fp16", "int8", "int8-dynamic", "nbits2", "nbits4", "nbits8", "w1", "w16", "w2", "w3", "w4", "w6", "w8"]] = "w8",
    memory: Optional[Literal["balanced", "fast", "low"]] = "fast",
    granularity: Optional[Word] = None,
    codebook: Optional[bool] = None,
    asymmetric: Optional[bool] = None,
    min_bytes: Optional[int] = None,
    include: Optional[Words] = None,
    exclude: Optional[Words] = None,
    ignore_unmatched: Optional[bool] = None,
    keep_inputs: Optional[bool] = None,
    node: Optional[Words] = None,
    external_data: Optional[Literal["auto", "always", "never"]] = "auto",
    threads: Optional[int] = None,
    dry_run: Optional[bool] = None,
    report: Optional[Word] = None,
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    pictures: Optional[bool] = None,
    verify: Optional[bool] = None,
    allow_slower: Optional[bool] = None,
    runtime: Optional[Word] = None,
    litert: Optional[Word] = None,
    on: Optional[Words] = None,
    target: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
    isolate: Optional[bool] = None,
    calibration: Optional[Literal["auto", "entropy", "mean", "minmax", "mse", "percentile"]] = "auto",
    activations: Optional[Literal["s16", "s8", "u16", "u8"]] = "u8",
    weights: Optional[Literal["s4", "s8", "u8"]] = "s8",
    reduce_range: Optional[bool] = None,
    integer_io: Optional[bool] = None,
    fallback: Optional[Literal["w8", "fp16"]] = "w8",
    search: Optional[bool] = None,
    method: Optional[Literal["auto", "gptq", "rtn", "scale"]] = "auto",
    bits: Optional[float] = None,
    target_size: Optional[int] = None,
    importance: Optional[Word] = None,
    io: Optional[Literal["keep", "fp16"]] = "keep",
    keep_fp32: Optional[Words] = None,
    emit: Optional[Literal["ort"]] = None,
    ranges: Optional[Word] = None,
    outputs: Optional[Words] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    r"""Compress or quantize a model; compare it with the original before writing it.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        output: the path of the new model (default: model.w8.onnx next to a model that is a path; for a
            model in memory, to_bytes() of the result)
        to: Choose the format; the percentage is the typical size: w8 (8-bit weights, FP32 arithmetic,
            25 %), w16 (16-bit float weights, FP32 arithmetic, 50 %), w4 (4-bit weights, FP32
            arithmetic, 15 %), w6 (6-bit weights (codebook), FP32 or FP16 arithmetic, 20 %), w3 (3-bit
            weights (codebook), FP32 or FP16 arithmetic, 10 %), w2 (2-bit weights (codebook), FP32 or
            FP16 arithmetic, 7 %), w1 (1-bit weights (codebook), FP32 or FP16 arithmetic, 4 %), nbits8
            (8-bit weights in MatMulNBits kernels, 27 %), nbits4 (4-bit weights in MatMulNBits kernels,
            16 %), nbits2 (2-bit weights in MatMulNBits kernels, 10 %), int8 (INT8 arithmetic,
            calibrated activations, 25 %, needs data or ranges), int8-dynamic (INT8 arithmetic,
            activation scales found at run time, 25 %), fp16 (FP16 arithmetic, 50 %), bf16 (BF16
            arithmetic, 50 %). Aliases: static for int8, int8-static for int8, dynamic for int8-dynamic,
            int4 for nbits4, int2 for nbits2
        memory: Choose the memory after loading, for w8 and w4: fast (weights become FP32), low (weights
            stay 8-bit or 4-bit, runs are slower), balanced (in between, within its expert decode-share)
        granularity: Set the granularity of scales: auto, tensor, channel, block:N. Example: block:32
            (default: auto)
        codebook: Use a k-means codebook instead of a linear scale (w8: 256 values, w4: 16)
        asymmetric: Quantize weights asymmetrically: every scale gets a zero point
        min_bytes: Keep tensors that are smaller than this number of bytes unchanged (default: 1024)
        include: Quantize only tensors, nodes or op types that match this regular expression (one, or a
            list)
        exclude: Skip tensors, nodes or op types that match this regular expression (one, or a list).
            Example: exclude="^head"
        ignore_unmatched: Warn about a regular expression that matches nothing, instead of failing
        keep_inputs: Keep initializers that are also graph inputs as inputs with a default value
            (default: make them constants)
        node: Override the format of one node, named by its output, as NAME=FORMAT: fp32, w16, w8, w4,
            nbits8, nbits4, nbits2, and with to int8 also int8-dynamic (one, or a list). Example:
            /fc/Gemm_output_0=fp32
        external_data: Store weights in a separate file: auto (above 2 GiB), always, never
        threads: Use this many threads (0: all CPUs); the written model does not depend on it (default:
            0)
        dry_run: Print the plan and write nothing
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        pictures: Add histograms of weights and activations to the json document, for 'ounce report'
            (default: off; on with report)
        verify: Run the quantized model in ONNX Runtime and compare its outputs with the original before
            writing it (default: on; --no-verify compares only the stored weights, so the file may fail
            to load)
        allow_slower: Write an int8 or int8-dynamic model even if it is slower than the original on this
            CPU (default: refuse with exit code 3)
        runtime: Use this ONNX Runtime to compare outputs: the path of a library, or a version (default:
            the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        on: Test int8 and int8-dynamic models on these CPUs before writing them: avx2, avx512, arm64,
            none, or auto for all that this machine can emulate (default: auto)
        target: Use only ops that this target supports: a platform and release (android-arm64@1.22.0),
            an execution provider (cuda, coreml, directml, nnapi, qnn), or both
            (ios-arm64@1.22.0+coreml)
        expert: options for experiments, as a dictionary with the keys decode, decode-share, scale,
            rounding, fp16-budget, isolate-memory, isolate-seconds, percentile, dialect,
            symmetric-activations, skip-rewrite, use-cost-model, dynamic-conv, value, equalize,
            correct-bias, fit-on-even-samples, kernels, accuracy-level, level, keep-names, ort-style
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Runtime:
        isolate: Run models in a separate process with limits (default: on)

    INT8 arithmetic (to int8, to int8-dynamic):
        calibration: Choose how activation ranges are calibrated for int8: minmax, mean, percentile,
            entropy, mse, auto (the best one measured on the data; with --no-search per-tensor mse)
        activations: Set the type of activations for int8: u8, s8, u16, s16 (unsigned or signed)
        weights: Set the type of weights: s8, u8, s4 (signed or unsigned)
        reduce_range: Use 7-bit weights, which cannot saturate int16 sums on x86 CPUs without VNNI;
            --no-reduce-range uses 8 bits everywhere (default: 8 bits, fewer only where two adjacent
            weights could saturate)
        integer_io: Quantize the inputs and outputs of the model, too, for int8
        fallback: Choose the format of nodes that do not run in INT8: w8 (8-bit weights, FP32
            arithmetic), fp16 (FP16 weights, FP16 arithmetic where the target supports it)
        search: Choose the calibration method and the ops to keep in FP32 by measuring on the data, for
            int8 (default: on)

    Packed weights in MatMulNBits (to nbits4, to nbits8, to nbits2):
        method: Choose how weights are quantized: rtn (round to nearest), scale (scales that minimize
            the output error on data), gptq (GPTQ error compensation on data), auto (the best one
            measured)
        bits: Set the mean number of bits per weight, scales included; layers that reduce the output
            error most on data get more bits (default: the bits of to for all layers)
        target_size: Set the size of the model, all files together; layers that reduce the output error
            most on data get more bits. Example: 300MB
        importance: Cache the layer importance for bits and target_size in this file: it is read if it
            exists, else measured on data and written. 'ounce calibrate merge' merges such files

    FP16 and BF16 arithmetic (to fp16, to bf16):
        io: Set the type of the inputs and outputs of the model: keep (unchanged), fp16
        keep_fp32: Keep nodes in FP32 whose name, output or op type matches this regular expression
            (one, or a list)

    ORT format:
        emit: Also write the model in ORT format (model.ort), optimized offline by ONNX Runtime, and the
            list of operators that a reduced build needs. The only value is ort

    INT8 arithmetic (to int8, to int8-dynamic):
        ranges: Read the activation ranges for int8 from this file of 'ounce calibrate' (default:
            calibrate on data)
        outputs: Consider only these outputs when the search for int8 compares candidates; the others
            are still compared and reported (repeatable, or separated by commas)

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Returns:
        QuantizeResult. `output` is the path of the new model, `bytes_before` and `bytes_after` its size; a
        model in memory gives a result with to_bytes() and to_onnx().

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.quantize("model.onnx", "int8.onnx", to="int8", data="calib.npz")
    """
    return call("quantize", QuantizeResult, {
        "model": model,
        "output": output,
        "to": to,
        "memory": memory,
        "granularity": granularity,
        "codebook": codebook,
        "asymmetric": asymmetric,
        "min_bytes": min_bytes,
        "include": include,
        "exclude": exclude,
        "ignore_unmatched": ignore_unmatched,
        "keep_inputs": keep_inputs,
        "node": node,
        "external_data": external_data,
        "threads": threads,
        "dry_run": dry_run,
        "report": report,
        "junit": junit,
        "markdown": markdown,
        "pictures": pictures,
        "verify": verify,
        "allow_slower": allow_slower,
        "runtime": runtime,
        "litert": litert,
        "on": on,
        "target": target,
        "expert": expert,
        "isolate": isolate,
        "calibration": calibration,
        "activations": activations,
        "weights": weights,
        "reduce_range": reduce_range,
        "integer_io": integer_io,
        "fallback": fallback,
        "search": search,
        "method": method,
        "bits": bits,
        "target_size": target_size,
        "importance": importance,
        "io": io,
        "keep_fp32": keep_fp32,
        "emit": emit,
        "ranges": ranges,
        "outputs": outputs,
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
        "preprocess": preprocess,
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
    gate: Optional[Literal["none", "standard"]] = "none",
    edge_cases: Optional[bool] = None,
    worst: Optional[int] = None,
    on: Optional[Words] = None,
    batch: Optional[int] = None,
    tokens: Optional[int] = None,
    prompt: Optional[int] = None,
    report: Optional[Word] = None,
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    baseline: Optional[Word] = None,
    tolerance: Optional[Word] = None,
    require_data: Optional[bool] = None,
    pictures: Optional[bool] = None,
    class_names: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    via: Optional[Word] = None,
    launcher: Optional[Word] = None,
    runner: Optional[Word] = None,
    runtime_there: Optional[Word] = None,
    folder_there: Optional[Word] = None,
    keep_there: Optional[bool] = None,
    seconds_there: Optional[float] = None,
    progress: Progress = None,
) -> VerifyResult:
    r"""Compare a quantized model with the original.

    Args:
        reference: the original: a path, the bytes of a model, or an onnx.ModelProto
        candidate: the model to compare with it: a path, the bytes of a model, an onnx.ModelProto, or
            the result of a call that wrote a model
        task: Choose the task, which decides the metrics: classify, detect, embed, ctc, segment, tag,
            audio, regress, or auto. Without labels, the outputs of the original are the reference
        metric_command: Compute the metric with this program: it gets the folder with the outputs of
            both models and prints a number. Example: 'python3 score.py'
        metric_seconds: Limit the time of metric_command, in seconds (default: 300)
        metric: Choose the metric to compare: map (mean average precision of boxes at IoU 0.5), accuracy
            (top-1 and top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
            probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and
            squared error), recall (nearest neighbors of embeddings), lines (lines of text without an
            error), iou (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of
            sound, log-spectral distance). Default: by task, or by the labels; or a function of the
            outputs by name and of the labels that gives a number, or numbers by name
        tags: Name the classes of task tag, separated by commas. Example: O,B-PER,I-PER (default: O,
            then B and I in turn)
        label_output: Compare the labels with this output (default: the first)
        outputs: Apply the thresholds to these outputs only; the others are compared and reported
            (repeatable, or separated by commas). Example: probabilities
        threshold: Set the decision threshold of an output to count changed decisions (two columns of
            probabilities are one decision); with task detect, the lowest score of a box
        gate: Use a set of thresholds: standard (with labels, the metric may drop by 0.5 points for
            16-bit weights and by 2 points for 8-bit weights or fewer; without labels, the mean squared
            error of an output may be 0.01), none. Other thresholds take precedence
        edge_cases: Also compare edge cases: zeros, extremes, noise, batch sizes and lengths (default:
            on)
        worst: List this many samples with the largest differences (default: 5)
        on: Also run the candidate on these CPUs, and fail if its outputs differ: avx2, avx512 (x64
            without VNNI), arm64, none, or auto for all that this machine can emulate (default: none)
        batch: Run this many samples per call (default: 1)
        tokens: Compare language models: feed texts (rows of token ids) token by token, this many tokens
            after the prompt; max_flips limits changed tokens, max_drop limits the rise of the negative
            log-likelihood
        prompt: Set the length of the prompt of tokens, in tokens (default: 16)
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        baseline: Fail if a figure is worse than in this JSON document of an earlier run: accuracy,
            agreement, SQNR, speed, memory, size
        tolerance: Tolerate figures that are worse by this share or by this many points than baseline
            (default: 1%)
        require_data: Fail without data: a comparison on random inputs is only a smoke test
        pictures: Add the samples that differ most to the json document, as small images or waveforms,
            for 'ounce report' (default: off; on with report)
        class_names: Show these class names in the HTML report: a file with one name per line, a JSON
            list, or a config.json with id2label
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Thresholds (default: 20 dB for every output, 99 % equal labels; with labels 1 point of the metric):
        abs_tol: Fail if any value differs by more than this. Example: 0.04
        mean_tol: Fail if the mean absolute difference of an output is larger. Example: 0.01
        max_mse: Fail if the mean squared error of an output is larger. Example: 1e-4
        min_sqnr: Fail if the SQNR of an output, or of a part of it, is lower, in dB. Example: 30
        min_agreement: Fail if fewer predictions agree: top-1 classes, and outputs that are labels.
            Example: 99%
        max_flips: Fail if a larger share of decisions changes at threshold. Example: 0.5%
        max_drop: Fail if the metric drops by more: points of map, accuracy, brier, ece, f1, recall,
            lines, iou, entity_f1; relative for nll, mae. NAME=0.5% limits one of several metrics (one,
            or a list). Example: 0.5%
        confidence: Require this confidence that the thresholds hold on unseen data, such as 90% or 95%;
            none judges only these samples (default: none)

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Remote machine or emulator:
        via: Run models on another machine, with the command that runs a shell command on it. Examples:
            'ssh board', 'adb shell'
        launcher: Start ounce-runner with this command. Example: 'qemu-aarch64 -L
            /usr/aarch64-linux-gnu'
        runner: Send this local file as ounce-runner to the remote machine (default: ounce-runner or
            ounce-runner-arm64)
        runtime_there: Send this ONNX Runtime to the remote machine: a local library, or a version
            (default: the newest)
        folder_there: Put the runner, the library and models into this folder of the remote machine
            (default: a folder in /tmp)
        keep_there: Keep models on the remote machine, so that later runs need not send them
        seconds_there: Limit the time for each reply and for sending each file, in seconds (default:
            600)

    Returns:
        VerifyResult. `passed` is False if a threshold is exceeded (this raises no exception), and `verdict`
        is the reason as a sentence.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        result = ounce.verify("model.onnx", "small.onnx", data="val.npz", labels="label", max_drop=0.02)
        assert result.passed, result.verdict
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
        "gate": gate,
        "edge_cases": edge_cases,
        "worst": worst,
        "on": on,
        "batch": batch,
        "tokens": tokens,
        "prompt": prompt,
        "report": report,
        "junit": junit,
        "markdown": markdown,
        "baseline": baseline,
        "tolerance": tolerance,
        "require_data": require_data,
        "pictures": pictures,
        "class_names": class_names,
        "expert": expert,
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
        "preprocess": preprocess,
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
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    baseline: Optional[Word] = None,
    tolerance: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    via: Optional[Word] = None,
    launcher: Optional[Word] = None,
    runner: Optional[Word] = None,
    runtime_there: Optional[Word] = None,
    folder_there: Optional[Word] = None,
    keep_there: Optional[bool] = None,
    seconds_there: Optional[float] = None,
    progress: Progress = None,
) -> BenchResult:
    r"""Measure latency, memory and cold start of models and compare their speed.

    Args:
        model: models: paths, bytes, onnx.ModelProto or results; the others are compared with the first
            one
        seconds: Measure each model and batch size for this many seconds (default: 2)
        repeats: Measure this many calls of each model instead of seconds
        batch: Measure these batch sizes, separated by commas. Example: 1,8 (default: [1])
        cold_starts: Start this many processes per model to measure cold start and memory (0: none)
            (default: 3)
        tokens: Benchmark a language model: feed texts (rows of token ids) token by token, this many
            tokens after the prompt, with the KV cache; report latency, perplexity and changed
            predictions
        prompt: Set the length of the prompt of tokens, in tokens (default: 16)
        profile: Profile each model: time per op, the most expensive nodes, and the share of INT8
            kernels
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        baseline: Fail if a figure is worse than in this JSON document of an earlier run: accuracy,
            agreement, SQNR, speed, memory, size
        tolerance: Tolerate figures that are worse by this share or by this many points than baseline
            (default: 5%)
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Remote machine or emulator:
        via: Run models on another machine, with the command that runs a shell command on it. Examples:
            'ssh board', 'adb shell'
        launcher: Start ounce-runner with this command. Example: 'qemu-aarch64 -L
            /usr/aarch64-linux-gnu'
        runner: Send this local file as ounce-runner to the remote machine (default: ounce-runner or
            ounce-runner-arm64)
        runtime_there: Send this ONNX Runtime to the remote machine: a local library, or a version
            (default: the newest)
        folder_there: Put the runner, the library and models into this folder of the remote machine
            (default: a folder in /tmp)
        keep_there: Keep models on the remote machine, so that later runs need not send them
        seconds_there: Limit the time for each reply and for sending each file, in seconds (default:
            600)

    Returns:
        BenchResult. `models` has the latencies (ns), memory (bytes) and the speed relative to the first
        model.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        print(ounce.bench("model.onnx", "small.onnx", seconds=0.2))
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
        "junit": junit,
        "markdown": markdown,
        "baseline": baseline,
        "tolerance": tolerance,
        "expert": expert,
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
        "preprocess": preprocess,
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
    queue: Optional[Word] = None,
    lease: Optional[Word] = None,
    report: Optional[Word] = None,
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    task: Optional[Literal["auto", "classify", "detect", "embed", "ctc", "segment", "tag", "audio", "regress"]] = "auto",
    metric_command: Optional[Word] = None,
    metric_seconds: Optional[float] = None,
    metric: Optional[Union[str, Metric]] = "auto",
    tags: Optional[Words] = None,
    label_output: Optional[Word] = None,
    outputs: Optional[Words] = None,
    threshold: Optional[float] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    progress: Progress = None,
) -> TuneResult:
    r"""Search for the best mixed-precision model that meets the thresholds.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        output: Write the best model to this file or folder (default: MODEL.tuned.onnx next to the
            model)
        objective: Choose the objective: balanced (lowest time × bytes), latency, size (at no loss of
            speed), memory (lowest memory at load, at 90 % or more of the original speed)
        budget: Limit the search per model by time (90s, 10m, 2h), or by the number of candidates,
            without measuring their speed ('40 models') (default: 10m)
        on: Test the best model on these CPUs, if it runs in INT8: avx2, avx512, arm64, none, or auto
            for all that this machine can emulate (default: auto)
        target: Use only ops that this target supports. Examples: android-arm64@1.22.0, cuda
        cache: Cache measurements in this folder, so that a stopped run can continue (default:
            OUNCE_CACHE, XDG_CACHE_HOME/ounce or ~/.cache/ounce)
        no_cache: Neither read nor write cached measurements
        queue: Measure on other machines: put questions into this shared folder, where 'ounce work'
            answers them
        lease: Take over the work of a worker that shows no sign of life for this time (default: 120s)
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        task: Choose the task, which decides the metrics: classify, detect, embed, ctc, segment, tag,
            audio, regress, or auto. Without labels, the outputs of the original are the reference
        metric_command: Compute the metric with this program: it gets the folder with the outputs of
            both models and prints a number. Example: 'python3 score.py'
        metric_seconds: Limit the time of metric_command, in seconds (default: 300)
        metric: Choose the metric to compare: map (mean average precision of boxes at IoU 0.5), accuracy
            (top-1 and top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
            probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and
            squared error), recall (nearest neighbors of embeddings), lines (lines of text without an
            error), iou (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of
            sound, log-spectral distance). Default: by task, or by the labels; or a function of the
            outputs by name and of the labels that gives a number, or numbers by name
        tags: Name the classes of task tag, separated by commas. Example: O,B-PER,I-PER (default: O,
            then B and I in turn)
        label_output: Compare the labels with this output (default: the first)
        outputs: Apply the thresholds to these outputs only; the others are compared and reported
            (repeatable, or separated by commas). Example: probabilities
        threshold: Set the decision threshold of an output to count changed decisions (two columns of
            probabilities are one decision); with task detect, the lowest score of a box
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Thresholds (default: 30 dB for every output; with labels 1 point of the metric):
        abs_tol: Fail if any value differs by more than this. Example: 0.04
        mean_tol: Fail if the mean absolute difference of an output is larger. Example: 0.01
        max_mse: Fail if the mean squared error of an output is larger. Example: 1e-4
        min_sqnr: Fail if the SQNR of an output, or of a part of it, is lower, in dB. Example: 30
        min_agreement: Fail if fewer predictions agree: top-1 classes, and outputs that are labels.
            Example: 99%
        max_flips: Fail if a larger share of decisions changes at threshold. Example: 0.5%
        max_drop: Fail if the metric drops by more: points of map, accuracy, brier, ece, f1, recall,
            lines, iou, entity_f1; relative for nll, mae. NAME=0.5% limits one of several metrics (one,
            or a list). Example: 0.5%
        confidence: Require this confidence that the thresholds hold on unseen data, such as 90% or 95%;
            none judges only these samples (default: 90%)

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Returns:
        TuneResult. `passed` is False if no candidate meets the thresholds, `output` is the path of the best
        model.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.tune("model.onnx", "best.onnx", data="val.npz", labels="label", max_drop=0.05, budget="2 models")
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
        "queue": queue,
        "lease": lease,
        "report": report,
        "junit": junit,
        "markdown": markdown,
        "task": task,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "metric": metric,
        "tags": tags,
        "label_output": label_output,
        "outputs": outputs,
        "threshold": threshold,
        "expert": expert,
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
        "preprocess": preprocess,
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
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    progress: Progress = None,
) -> AdviseResult:
    r"""Measure every format on a model and recommend one.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        budget: Limit the time per model. Examples: 90s, 5m (default: 60s)
        target: Recommend only methods that this target supports: a platform and release
            (android-arm64@1.22.0) or an execution provider (cuda)
        task: Choose the task, which decides the metrics: classify, detect, embed, ctc, segment, tag,
            audio, regress, or auto. Without labels, the outputs of the original are the reference
        metric_command: Compute the metric with this program: it gets the folder with the outputs of
            both models and prints a number. Example: 'python3 score.py'
        metric_seconds: Limit the time of metric_command, in seconds (default: 300)
        metric: Choose the metric to compare: map (mean average precision of boxes at IoU 0.5), accuracy
            (top-1 and top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
            probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and
            squared error), recall (nearest neighbors of embeddings), lines (lines of text without an
            error), iou (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of
            sound, log-spectral distance). Default: by task, or by the labels; or a function of the
            outputs by name and of the labels that gives a number, or numbers by name
        tags: Name the classes of task tag, separated by commas. Example: O,B-PER,I-PER (default: O,
            then B and I in turn)
        label_output: Compare the labels with this output (default: the first)
        outputs: Apply the thresholds to these outputs only; the others are compared and reported
            (repeatable, or separated by commas). Example: probabilities
        threshold: Set the decision threshold of an output to count changed decisions (two columns of
            probabilities are one decision); with task detect, the lowest score of a box
        max_drop: Set the largest acceptable drop of the metric. Example: 0.5% (default: 0.5%)
        min_sqnr: Set the lowest acceptable SQNR of an output in dB (default without labels: 20; for
            generated audio: 30)
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Returns:
        AdviseResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.advise("model.onnx", data="val.npz", budget="5s").verdict
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
        "junit": junit,
        "markdown": markdown,
        "expert": expert,
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
        "preprocess": preprocess,
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
    }, progress)


def inspect(
    model: Model,
    *,
    to: Optional[Literal["w1", "w16", "w2", "w3", "w4", "w6", "w8"]] = "w8",
    memory: Optional[Literal["balanced", "fast", "low"]] = "fast",
    granularity: Optional[Word] = None,
    codebook: Optional[bool] = None,
    asymmetric: Optional[bool] = None,
    min_bytes: Optional[int] = None,
    include: Optional[Words] = None,
    exclude: Optional[Words] = None,
    ignore_unmatched: Optional[bool] = None,
    keep_inputs: Optional[bool] = None,
    node: Optional[Words] = None,
    tensors: Optional[int] = None,
    report: Optional[Word] = None,
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
    progress: Progress = None,
) -> InspectResult:
    r"""Show inputs, ops and weights of a model, and estimate the quantized size.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        to: Choose the format; the percentage is the typical size: w8 (8-bit weights, FP32 arithmetic,
            25 %), w16 (16-bit float weights, FP32 arithmetic, 50 %), w4 (4-bit weights, FP32
            arithmetic, 15 %), w6 (6-bit weights (codebook), FP32 or FP16 arithmetic, 20 %), w3 (3-bit
            weights (codebook), FP32 or FP16 arithmetic, 10 %), w2 (2-bit weights (codebook), FP32 or
            FP16 arithmetic, 7 %), w1 (1-bit weights (codebook), FP32 or FP16 arithmetic, 4 %)
        memory: Choose the memory after loading, for w8 and w4: fast (weights become FP32), low (weights
            stay 8-bit or 4-bit, runs are slower), balanced (in between, within its expert decode-share)
        granularity: Set the granularity of scales: auto, tensor, channel, block:N. Example: block:32
            (default: auto)
        codebook: Use a k-means codebook instead of a linear scale (w8: 256 values, w4: 16)
        asymmetric: Quantize weights asymmetrically: every scale gets a zero point
        min_bytes: Keep tensors that are smaller than this number of bytes unchanged (default: 1024)
        include: Quantize only tensors, nodes or op types that match this regular expression (one, or a
            list)
        exclude: Skip tensors, nodes or op types that match this regular expression (one, or a list).
            Example: exclude="^head"
        ignore_unmatched: Warn about a regular expression that matches nothing, instead of failing
        keep_inputs: Keep initializers that are also graph inputs as inputs with a default value
            (default: make them constants)
        node: Override the format of one node, named by its output, as NAME=FORMAT: fp32, w16, w8, w4,
            nbits8, nbits4, nbits2, and with to int8 also int8-dynamic (one, or a list). Example:
            /fc/Gemm_output_0=fp32
        tensors: List this many of the largest float tensors (default: 20)
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        expert: options for experiments, as a dictionary with the keys decode, decode-share, scale,
            rounding, fp16-budget
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        InspectResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.inspect("model.onnx").bytes_after
    """
    return call("inspect", InspectResult, {
        "model": model,
        "to": to,
        "memory": memory,
        "granularity": granularity,
        "codebook": codebook,
        "asymmetric": asymmetric,
        "min_bytes": min_bytes,
        "include": include,
        "exclude": exclude,
        "ignore_unmatched": ignore_unmatched,
        "keep_inputs": keep_inputs,
        "node": node,
        "tensors": tensors,
        "report": report,
        "junit": junit,
        "markdown": markdown,
        "expert": expert,
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
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    via: Optional[Word] = None,
    launcher: Optional[Word] = None,
    runner: Optional[Word] = None,
    runtime_there: Optional[Word] = None,
    folder_there: Optional[Word] = None,
    keep_there: Optional[bool] = None,
    seconds_there: Optional[float] = None,
    progress: Progress = None,
) -> CheckResult:
    r"""Check that a model loads and runs on a platform and ONNX Runtime version.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        target: Check for this target: linux-x64@1.30.0, android-arm64@1.22.0, ios-arm64@1.22.0,
            ort-web@1.22.0, host (repeatable, or separated by commas; default: host)
        fail_on: Fail with exit code 3 for these verdicts, too: slow, unknown (repeatable, or separated
            by commas; default: none)
        required_ops: Write the configuration file of a reduced build of ONNX Runtime, with the ops of
            these models and those that its optimizers insert
        runtime: Use this ONNX Runtime for required_ops: the path of a library, or a version
        execute: Also run the model on the target (arm64 under qemu-user, or over via) and compare its
            outputs with those on this machine
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Remote machine or emulator:
        via: Run models on another machine, with the command that runs a shell command on it. Examples:
            'ssh board', 'adb shell'
        launcher: Start ounce-runner with this command. Example: 'qemu-aarch64 -L
            /usr/aarch64-linux-gnu'
        runner: Send this local file as ounce-runner to the remote machine (default: ounce-runner or
            ounce-runner-arm64)
        runtime_there: Send this ONNX Runtime to the remote machine: a local library, or a version
            (default: the newest)
        folder_there: Put the runner, the library and models into this folder of the remote machine
            (default: a folder in /tmp)
        keep_there: Keep models on the remote machine, so that later runs need not send them
        seconds_there: Limit the time for each reply and for sending each file, in seconds (default:
            600)

    Returns:
        CheckResult. `targets` has the findings for each target. An unsupported model raises no exception.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        print(ounce.check("model.onnx", target="android-arm64@1.22.0"))
    """
    return call("check", CheckResult, {
        "model": model,
        "target": target,
        "fail_on": fail_on,
        "required_ops": required_ops,
        "runtime": runtime,
        "execute": execute,
        "report": report,
        "junit": junit,
        "markdown": markdown,
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
    class_names: Optional[Word] = None,
    progress: Progress = None,
) -> ReportResult:
    r"""Combine JSON results into one HTML report.

    Args:
        run: JSON documents, printed by json of quantize, verify, bench, sensitivity, tune, advise,
            check, diff, inspect
        output: Write the HTML report to this file: FILE.html
        class_names: Show these class names in the HTML report: a file with one name per line, a JSON
            list, or a config.json with id2label
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        ReportResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        import json, pathlib

        run = ounce.verify("model.onnx", "small.onnx", data="val.npz")
        pathlib.Path("run.json").write_text(json.dumps(run.to_dict()))
        ounce.report("run.json", output="page.html")
    """
    return call("report", ReportResult, {
        "run": run,
        "output": output,
        "class_names": class_names,
    }, progress)


def sensitivity(
    model: Model,
    *,
    to: Optional[Literal["int8", "int8-dynamic", "w1", "w2", "w3", "w4", "w6", "w8"]] = "int8",
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
    queue: Optional[Word] = None,
    lease: Optional[Word] = None,
    report: Optional[Word] = None,
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    progress: Progress = None,
) -> SensitivityResult:
    r"""Rank layers by their quantization error and suggest layers to exclude.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        to: Analyze this format: int8, int8-dynamic, w8, w4
        by: Group layers for the measurement: layer (each layer alone), block (by common names, or
            adjacent layers), op (by op type)
        top: Measure only this many groups, those with the largest estimated error (0: all) (default: 0)
        min_sqnr: Suggest layers to exclude until the outputs reach this SQNR, in dB (default: 30)
        task: Choose the task, which decides the metrics: classify, detect, embed, ctc, segment, tag,
            audio, regress, or auto. Without labels, the outputs of the original are the reference
        metric_command: Compute the metric with this program: it gets the folder with the outputs of
            both models and prints a number. Example: 'python3 score.py'
        metric_seconds: Limit the time of metric_command, in seconds (default: 300)
        metric: Choose the metric to compare: map (mean average precision of boxes at IoU 0.5), accuracy
            (top-1 and top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
            probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and
            squared error), recall (nearest neighbors of embeddings), lines (lines of text without an
            error), iou (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of
            sound, log-spectral distance). Default: by task, or by the labels; or a function of the
            outputs by name and of the labels that gives a number, or numbers by name
        tags: Name the classes of task tag, separated by commas. Example: O,B-PER,I-PER (default: O,
            then B and I in turn)
        label_output: Compare the labels with this output (default: the first)
        outputs: Apply the thresholds to these outputs only; the others are compared and reported
            (repeatable, or separated by commas). Example: probabilities
        threshold: Set the decision threshold of an output to count changed decisions (two columns of
            probabilities are one decision); with task detect, the lowest score of a box
        batch: Run this many samples per call (default: 1)
        cache: Cache measurements in this folder (default: OUNCE_CACHE, XDG_CACHE_HOME/ounce or
            ~/.cache/ounce)
        no_cache: Neither read nor write cached measurements
        jobs: Measure this many models in parallel (0: as many as CPUs and memory allow) (default: 0)
        queue: Measure on other machines: put questions into this shared folder, where 'ounce work'
            answers them
        lease: Take over the work of a worker that shows no sign of life for this time (default: 120s)
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Measure on this many samples, evenly spread over the data (0: all; default: 64, with
            carry the first 1024)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Returns:
        SensitivityResult. Its attributes are the keys of the JSON document of the command; to_dict()
        returns them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        print(ounce.sensitivity("model.onnx", data="calib.npz", by="block"))
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
        "queue": queue,
        "lease": lease,
        "report": report,
        "junit": junit,
        "markdown": markdown,
        "expert": expert,
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
        "preprocess": preprocess,
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
    }, progress)


def calibrate(
    model: Model,
    output: Optional[Word] = None,
    *,
    shard: Optional[Word] = None,
    batch: Optional[int] = None,
    queue: Optional[Word] = None,
    lease: Optional[Word] = None,
    parts: Optional[int] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    progress: Progress = None,
) -> CalibrateResult:
    r"""Collect activation ranges on data for static INT8 quantization.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        output: Write the activation ranges to this file (default: model.ranges next to the model)
        shard: Use every N-th sample only, starting with the I-th, as I/N; 'ounce calibrate merge'
            combines the parts. Example: 1/4
        batch: Run this many samples per call (default: 1)
        queue: Measure on other machines: put questions into this shared folder, where 'ounce work'
            answers them
        lease: Take over the work of a worker that shows no sign of life for this time (default: 120s)
        parts: With queue: split the data into this many parts (0: by the number of samples) (default:
            0)
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Returns:
        CalibrateResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.calibrate("model.onnx", "ranges.json", data="calib.npz")
    """
    return call("calibrate", CalibrateResult, {
        "model": model,
        "output": output,
        "shard": shard,
        "batch": batch,
        "queue": queue,
        "lease": lease,
        "parts": parts,
        "expert": expert,
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
        "preprocess": preprocess,
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
    }, progress)


def calibrate_merge(
    part: Words,
    output: Optional[Word] = None,
    *,
    progress: Progress = None,
) -> CalibrateResult:
    r"""Merge the parts of a sharded calibration; the result equals that of one run.

    Args:
        part: Calibration files to merge
        output: Write the merged file here
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        CalibrateResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.calibrate("model.onnx", "a.json", data="calib.npz")
        ounce.calibrate_merge(["a.json"], "ranges.json")
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
    junit: Optional[Word] = None,
    markdown: Optional[Word] = None,
    progress: Progress = None,
) -> DiffResult:
    r"""List the differences between two models.

    Args:
        a: The original model
        b: The changed model
        report: Write the result as a self-contained HTML report: FILE.html
        junit: Write the results as JUnit XML, for continuous integration
        markdown: Append the results as a Markdown table to this file, which is new, empty or from
            Ounce. Example: $GITHUB_STEP_SUMMARY
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        DiffResult. Its attributes are the keys of the JSON document of the command; to_dict() returns them,
        print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.diff("model.onnx", "small.onnx").same
    """
    return call("diff", DiffResult, {
        "a": a,
        "b": b,
        "report": report,
        "junit": junit,
        "markdown": markdown,
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
    gate: Optional[Literal["none", "standard"]] = "none",
    edge_cases: Optional[bool] = None,
    on: Optional[Words] = None,
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    progress: Progress = None,
) -> PublishResult:
    r"""Write the variants that Hugging Face tools expect, with configuration and a model card.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        output: Write to this folder, atomically
        layout: Choose the layout of the folder: huggingface (onnx/model_q4.onnx, for transformers.js
            and optimum), genai (q4/model.onnx), plain (model.q4.onnx)
        variants: Write these variants, separated by commas: fp32, fp16, q8, int8, uint8, q4 (default:
            fp32,fp16,q8,q4)
        target: Use only ops that this target supports. Examples: android-arm64@1.22.0, cuda
        external_data: Store weights in separate files: auto (above 2 GiB), always, never
        replace: Replace an existing folder, atomically
        bench: Measure speed and memory for the model card (default: on)
        seconds: Measure each model for this many seconds (default: 2)
        task: Choose the task, which decides the metrics: classify, detect, embed, ctc, segment, tag,
            audio, regress, or auto. Without labels, the outputs of the original are the reference
        metric_command: Compute the metric with this program: it gets the folder with the outputs of
            both models and prints a number. Example: 'python3 score.py'
        metric_seconds: Limit the time of metric_command, in seconds (default: 300)
        metric: Choose the metric to compare: map (mean average precision of boxes at IoU 0.5), accuracy
            (top-1 and top-5 accuracy), nll (negative log-likelihood, perplexity), brier (Brier score of
            probabilities), ece (expected calibration error), f1 (macro F1), mae (mean absolute and
            squared error), recall (nearest neighbors of embeddings), lines (lines of text without an
            error), iou (mean IoU of classes), entity_f1 (F1 of tagged entities), si_snr (SI-SNR of
            sound, log-spectral distance). Default: by task, or by the labels; or a function of the
            outputs by name and of the labels that gives a number, or numbers by name
        tags: Name the classes of task tag, separated by commas. Example: O,B-PER,I-PER (default: O,
            then B and I in turn)
        label_output: Compare the labels with this output (default: the first)
        outputs: Apply the thresholds to these outputs only; the others are compared and reported
            (repeatable, or separated by commas). Example: probabilities
        threshold: Set the decision threshold of an output to count changed decisions (two columns of
            probabilities are one decision); with task detect, the lowest score of a box
        gate: Use a set of thresholds: standard (with labels, the metric may drop by 0.5 points for
            16-bit weights and by 2 points for 8-bit weights or fewer; without labels, the mean squared
            error of an output may be 0.01), none. Other thresholds take precedence
        edge_cases: Also compare edge cases: zeros, extremes, noise, batch sizes and lengths (default:
            on)
        on: Test INT8 variants on these CPUs before writing them: avx2, avx512, arm64, none, or auto for
            all that this machine can emulate (default: auto)
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Thresholds of every variant (default: 20 dB for every output; with labels 1 point of the metric):
        abs_tol: Fail if any value differs by more than this. Example: 0.04
        mean_tol: Fail if the mean absolute difference of an output is larger. Example: 0.01
        max_mse: Fail if the mean squared error of an output is larger. Example: 1e-4
        min_sqnr: Fail if the SQNR of an output, or of a part of it, is lower, in dB. Example: 30
        min_agreement: Fail if fewer predictions agree: top-1 classes, and outputs that are labels.
            Example: 99%
        max_flips: Fail if a larger share of decisions changes at threshold. Example: 0.5%
        max_drop: Fail if the metric drops by more: points of map, accuracy, brier, ece, f1, recall,
            lines, iou, entity_f1; relative for nll, mae. NAME=0.5% limits one of several metrics (one,
            or a list). Example: 0.5%
        confidence: Require this confidence that the thresholds hold on unseen data, such as 90% or 95%;
            none judges only these samples (default: none)

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Returns:
        PublishResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.publish("model.onnx", "site", variants="q8")
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
        "gate": gate,
        "edge_cases": edge_cases,
        "on": on,
        "preprocess": preprocess,
        "expert": expert,
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
    }, progress)


class contract:
    """Store, print or check preprocessing metadata: how raw data becomes model input."""

    @staticmethod
    def set(
        model: Model,
        output: Optional[Word] = None,
        *,
        expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
        preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
        progress: Progress = None,
    ) -> ContractResult:
        r"""Store preprocessing metadata in a model, and with --data also value ranges and a golden sample.

        Args:
            model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
                model
            output: Write the model with its metadata to this file
            expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
            progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
                notebooks; or a function that is called with the model, the stage, the amount done and the
                total amount, and may return True to stop the call

        Data:
            data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
                labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
                CalibrationDataReader)
            input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
                Example: input=x
            set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
            carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
                output of the run before (one, or a list)
            labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
                images
            first: Start at this sample (default: 0)
            samples: Use this many samples (default: 0, all)
            part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
                halves
            shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
                (one, or a list)
            seed: Set the seed of random inputs (default: 1)

        Preprocessing of raw data:
            preprocess: how raw data becomes an input: a .toml or .json file, also a
                preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
                data (the notes report them)
            for_: Apply the preprocessing options to this input (default: the only input)
            kind: Set the kind of input: image, audio or tensor (default: from the other options)
            size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
            resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
                nearest, bilinear, bicubic, area (default: bilinear)
            resize_backend: Resize exactly like this library: pillow (default) or opencv
            crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
            crop_rule: Round the position of the crop like torchvision (default) or huggingface
            color: Set the channel order of the model input: rgb (default), bgr or grey
            layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
                arrays in the data are always height, width, channels
            rescale: Multiply raw values by this factor. Example: 1/255
            mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
                Example: 0.485,0.456,0.406
            std: Divide by this standard deviation after mean: one number, or one per channel, separated by
                commas. Example: 0.229,0.224,0.225
            rate: Require this sampling rate of audio, in Hz. Example: 16000
            length: Cut or zero-pad audio to this number of samples
            frame: Split audio into frames of this many samples; each frame is one run of the model
            hop: Set the hop length between frames, in samples (default: the length of a frame)

        Runtime:
            runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
            litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
                newest)
            threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
            threads_between: Run this many ops in parallel (default: 1)
            optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
            session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
                list). Example: session.disable_quant_qdq=1
            isolate: Run models in a separate process with limits (default: on)

        Returns:
            ContractResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
            them, print(result) prints the report.

        Raises:
            RequestError: an invalid argument, or an invalid file (a ValueError)
            UnsupportedError: the model is valid, and the operation is not supported for it
            MissingFileError: a file does not exist (a FileNotFoundError)
            RefusedError: another I/O error, such as a full disk (an OSError)
            StoppedError: `progress` returned True

        Example:
            ounce.contract.set("model.onnx", "with.onnx", rate=8000, length=8000, rescale="1/32768")
        """
        return call("contract set", ContractResult, {
            "model": model,
            "output": output,
            "expert": expert,
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
            "preprocess": preprocess,
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
        }, progress)

    @staticmethod
    def show(
        model: Model,
        *,
        progress: Progress = None,
    ) -> ContractResult:
        r"""Print the preprocessing metadata of a model.

        Args:
            model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
                model
            progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
                notebooks; or a function that is called with the model, the stage, the amount done and the
                total amount, and may return True to stop the call

        Returns:
            ContractResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
            them, print(result) prints the report.

        Raises:
            RequestError: an invalid argument, or an invalid file (a ValueError)
            UnsupportedError: the model is valid, and the operation is not supported for it
            MissingFileError: a file does not exist (a FileNotFoundError)
            RefusedError: another I/O error, such as a full disk (an OSError)
            StoppedError: `progress` returned True

        Example:
            print(ounce.contract.show("model.onnx"))
        """
        return call("contract show", ContractResult, {
            "model": model,
        }, progress)

    @staticmethod
    def check(
        model: Model,
        *,
        dump: Optional[Words] = None,
        expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
        progress: Progress = None,
    ) -> ContractCheckResult:
        r"""Check data against the preprocessing metadata.

        Args:
            model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
                model
            dump: Compare with the model input that your app computed for the same samples: a .npy or raw
                float32 file, or INPUT=FILE (one, or a list)
            expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
            progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
                notebooks; or a function that is called with the model, the stage, the amount done and the
                total amount, and may return True to stop the call

        Data:
            data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
                labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
                CalibrationDataReader)
            input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
                Example: input=x
            set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
            carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
                output of the run before (one, or a list)
            labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
                images
            first: Start at this sample (default: 0)
            samples: Use this many samples (default: 0, all)
            part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
                halves
            shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
                (one, or a list)
            seed: Set the seed of random inputs (default: 1)

        Runtime:
            runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
            litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
                newest)
            threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
            threads_between: Run this many ops in parallel (default: 1)
            optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
            session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
                list). Example: session.disable_quant_qdq=1
            isolate: Run models in a separate process with limits (default: on)

        Returns:
            ContractCheckResult. Its attributes are the keys of the JSON document of the command; to_dict()
            returns them, print(result) prints the report.

        Raises:
            RequestError: an invalid argument, or an invalid file (a ValueError)
            UnsupportedError: the model is valid, and the operation is not supported for it
            MissingFileError: a file does not exist (a FileNotFoundError)
            RefusedError: another I/O error, such as a full disk (an OSError)
            StoppedError: `progress` returned True

        Example:
            ounce.contract.check("model.onnx", data="val.npz").passed
        """
        return call("contract check", ContractCheckResult, {
            "model": model,
            "dump": dump,
            "expert": expert,
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
    r"""Precompile models for this device so that apps can memory-map them.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        cache: Write to this cache folder, from which the app loads models
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        session_config: Add an entry to the session options, as the app sets it, as NAME=VALUE (one, or
            a list). Example: session.disable_quant_qdq=1
        max_cache: Limit the size of the cache folder in MiB; the least recently used files are removed
            (0: no limit) (default: 0)
        isolate: Run in a separate process with limits (default: on)
        isolate_seconds: Limit the time of the separate process, in seconds (0: no limit) (default: 600)
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        UnpackResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.unpack("small.onnx", cache="cache").file
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


def repack(
    model: Model,
    output: Optional[Word] = None,
    *,
    external_data: Optional[Literal["auto", "always", "never"]] = "auto",
    shape: Optional[Words] = None,
    runtime: Optional[Word] = None,
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
    emit: Optional[Literal["ort"]] = None,
    progress: Progress = None,
) -> CopyResult:
    r"""Check and rewrite a model without changing its values; merge or split external weights, fix shapes.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        output: Write the copy to this file or folder
        external_data: Store weights in a separate file: auto (as in the model), always, never
        shape: Write a model with fixed shapes, as NNAPI and QNN need: set the length of a dynamic axis,
            as NAME=LENGTH or INPUT:AXIS=LENGTH (one, or a list)
        runtime: Use this ONNX Runtime for emit: the path of a library, or a version
        expert: options for experiments, as a dictionary with the keys ort-style
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    ORT format:
        emit: Also write the model in ORT format (model.ort), optimized offline by ONNX Runtime, and the
            list of operators that a reduced build needs. The only value is ort

    Returns:
        CopyResult. Its attributes are the keys of the JSON document of the command; to_dict() returns them,
        print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.repack("model.onnx", "copy.onnx", external_data="always")
    """
    return call("repack", CopyResult, {
        "model": model,
        "output": output,
        "external_data": external_data,
        "shape": shape,
        "runtime": runtime,
        "expert": expert,
        "emit": emit,
    }, progress)


class shadow:
    """Summarize shadow-deployment statistics from devices."""

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
        r"""Merge statistics of devices and judge the candidate.

        Args:
            files: Statistics files, written by app::Shadow on devices
            min_calls: Require this many compared calls (default: 100)
            min_agreement: Fail if a smaller share of predictions agrees, from 0 to 1 (default: 0.99)
            min_sqnr: Fail if the SQNR of the worst output is lower, in dB (0: no limit) (default: 0)
            max_failures: Fail if the candidate failed in a larger share of calls, from 0 to 1 (default:
                0.001)
            max_latency_ratio: Fail if p50 of the candidate divided by p50 of the primary is larger (0: no
                limit) (default: 0)
            progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
                notebooks; or a function that is called with the model, the stage, the amount done and the
                total amount, and may return True to stop the call

        Returns:
            ShadowReportResult. Its attributes are the keys of the JSON document of the command; to_dict()
            returns them, print(result) prints the report.

        Raises:
            RequestError: an invalid argument, or an invalid file (a ValueError)
            UnsupportedError: the model is valid, and the operation is not supported for it
            MissingFileError: a file does not exist (a FileNotFoundError)
            RefusedError: another I/O error, such as a full disk (an OSError)
            StoppedError: `progress` returned True

        Example:
            ounce.shadow.report(["phone.json"], min_agreement=0.99).passed
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
    expert: Optional[Mapping[str, Union[Word, bool]]] = None,
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
    preprocess: Optional[Union[Word, Mapping[str, Any]]] = None,
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
    progress: Progress = None,
) -> ProveResult:
    r"""Check the provenance record of a model.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        source: Reproduce the model from this original, and repeat its recorded accuracy check
        ranges: Reproduce the model with these activation ranges, if it was quantized with ranges
        metric_command: Repeat the accuracy check with this program, if it was made with one
        metric_seconds: Limit the time of metric_command, in seconds (default: 300)
        expert: options for experiments, as a dictionary with the keys isolate-memory, isolate-seconds
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Data:
        data: a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs,
            labels) of arrays, or an iterable of samples or batches (a DataLoader, a dataset, a
            CalibrationDataReader)
        input: Feed an input from this array or column of the data, as INPUT=FIELD (one, or a list).
            Example: input=x
        set: Set an input to a constant, as INPUT=NUMBER (one, or a list)
        carry: Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the
            output of the run before (one, or a list)
        labels: the array or column with the labels, or the labels themselves; 'folder' for folders of
            images
        first: Start at this sample (default: 0)
        samples: Use this many samples (default: 0, all)
        part: Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint
            halves
        shape: Set the length of a dynamic axis of random inputs, as NAME=LENGTH or INPUT:AXIS=LENGTH
            (one, or a list)
        seed: Set the seed of random inputs (default: 1)

    Preprocessing of raw data:
        preprocess: how raw data becomes an input: a .toml or .json file, also a
            preprocessor_config.json, a dictionary, or 'auto' to derive layout, size and scale from the
            data (the notes report them)
        for_: Apply the preprocessing options to this input (default: the only input)
        kind: Set the kind of input: image, audio or tensor (default: from the other options)
        size: Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224
        resample: Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV
            nearest, bilinear, bicubic, area (default: bilinear)
        resize_backend: Resize exactly like this library: pillow (default) or opencv
        crop: Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224
        crop_rule: Round the position of the crop like torchvision (default) or huggingface
        color: Set the channel order of the model input: rgb (default), bgr or grey
        layout: Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8
            arrays in the data are always height, width, channels
        rescale: Multiply raw values by this factor. Example: 1/255
        mean: Subtract this mean after rescale: one number, or one per channel, separated by commas.
            Example: 0.485,0.456,0.406
        std: Divide by this standard deviation after mean: one number, or one per channel, separated by
            commas. Example: 0.229,0.224,0.225
        rate: Require this sampling rate of audio, in Hz. Example: 16000
        length: Cut or zero-pad audio to this number of samples
        frame: Split audio into frames of this many samples; each frame is one run of the model
        hop: Set the hop length between frames, in samples (default: the length of a frame)

    Runtime:
        runtime: Use this ONNX Runtime: the path of a library, or a version (default: the newest)
        litert: Use this LiteRT for .tflite models: the path of a library, or a version (default: the
            newest)
        threads: Use this many threads inside an op (0: the runtime decides) (default: 1)
        threads_between: Run this many ops in parallel (default: 1)
        optimization: Set the graph optimization level of ONNX Runtime: none, basic, extended, all
        session_config: Add an entry to the session options of ONNX Runtime, as KEY=VALUE (one, or a
            list). Example: session.disable_quant_qdq=1
        isolate: Run models in a separate process with limits (default: on)

    Returns:
        ProveResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.prove("small.onnx").verdict
    """
    return call("prove", ProveResult, {
        "model": model,
        "source": source,
        "ranges": ranges,
        "metric_command": metric_command,
        "metric_seconds": metric_seconds,
        "expert": expert,
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
        "preprocess": preprocess,
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
    }, progress)


def explain(
    code: Optional[Word] = None,
    *,
    progress: Progress = None,
) -> ExplainResult:
    r"""Explain the code of a note or an error: cause, consequence and fix.

    Args:
        code: The code of a note or an error, such as OUN101 (default: list all)
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        ExplainResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        print(ounce.explain("OUN110"))
    """
    return call("explain", ExplainResult, {
        "code": code,
    }, progress)


def overview(
    model: Model,
    *,
    progress: Progress = None,
) -> OverviewResult:
    r"""Show the size, family and inputs of a model, and estimate every format; short form: ounce MODEL.

    Args:
        model: a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a
            model
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        OverviewResult. Its attributes are the keys of the JSON document of the command; to_dict() returns
        them, print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        ounce.overview("model.onnx").formats[0].bytes
    """
    return call("overview", OverviewResult, {
        "model": model,
    }, progress)


def work(
    folder: Optional[Word],
    *,
    idle: Optional[Word] = None,
    root: Optional[Words] = None,
    times: Optional[bool] = None,
    lease: Optional[Word] = None,
    progress: Progress = None,
) -> WorkResult:
    r"""Answer questions of 'tune', 'sensitivity' and 'calibrate' in a shared folder.

    Args:
        folder: The shared folder of the questions
        idle: End after this time without a question (default: 10m)
        root: Read models and data below this folder only (one, or a list; default: the current folder)
        times: Measure times, too: nothing else runs on this machine, and no second worker
        lease: Take over the work of a worker that shows no sign of life for this time (default: 120s)
        progress: True shows a tqdm progress bar, False shows none, None shows one in terminals and
            notebooks; or a function that is called with the model, the stage, the amount done and the
            total amount, and may return True to stop the call

    Returns:
        WorkResult. Its attributes are the keys of the JSON document of the command; to_dict() returns them,
        print(result) prints the report.

    Raises:
        RequestError: an invalid argument, or an invalid file (a ValueError)
        UnsupportedError: the model is valid, and the operation is not supported for it
        MissingFileError: a file does not exist (a FileNotFoundError)
        RefusedError: another I/O error, such as a full disk (an OSError)
        StoppedError: `progress` returned True

    Example:
        answered = ounce.work("queue", idle="0.1s").answered
    """
    return call("work", WorkResult, {
        "folder": folder,
        "idle": idle,
        "root": root,
        "times": times,
        "lease": lease,
    }, progress)
