"""Results of the verbs: the objects of docs/reference/json.md as classes.

Made by tools/result_types.py of docs/schema/ounce-v2.json; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Type

from ._result import CheckMethods, ContractResult, ModelResult, Result, Struct, VerifyMethods


@dataclass(repr=True)
class CpuComparison(Struct):
    """An object of a result."""

    #: "avx2", "avx512" or "arm64"
    cpu: str
    #: false: the model was not run there, and why_not says why
    run: bool
    #: empty when it was run
    why_not: str
    #: "emulated by masking CPUID", "qemu-x86_64" or "qemu-aarch64"
    how: str
    #: of ONNX Runtime there
    runtime_version: str
    #: number of samples
    samples: int
    #: true from 40 dB on, or if the original differs as much
    same: bool
    #: all outputs are equal to the bit; sqnr_db is null then
    exact: bool
    #: the model there against the model here
    sqnr_db: Optional[float]
    #: top-1 answers of outputs with classes
    answers: int
    #: answers that differ there
    flips: int
    #: the same of the original
    reference_exact: bool
    #: the original there against the original here; null also if it was not run, because it decides nothing
    reference_sqnr_db: Optional[float]
    #: answers of the original that differ there
    reference_flips: int


@dataclass(repr=True)
class LoadMemory(Struct):
    """An object of a result."""

    #: resident memory while the session is created, beyond what the process had before
    peak_bytes: int
    #: resident memory after the session is created
    after_bytes: int


@dataclass(repr=True)
class SpeedUp(Struct):
    """An object of a result."""

    #: times as fast as the original (or the first model): 2 is twice as fast
    ratio: float
    #: lower bound of the 95 % interval
    low: float
    #: upper bound of the 95 % interval
    high: float
    #: timing rounds; fewer than 10 say nothing
    rounds: int
    #: reliable, enough rounds, an interval without 1, and a ratio that differs by more than 1 %
    measurable: bool
    #: wall time over CPU time while timing: 1 on an idle machine, busy from 1.1 on; null when unknown
    load: Optional[float]
    #: false: several threads on a busy machine, where the ratio means nothing
    reliable: bool


@dataclass(repr=True)
class IntegerKernels(Struct):
    """An object of a result."""

    #: nodes that run in integer kernels
    integer: int
    #: other nodes
    other: int


@dataclass(repr=True)
class OpTime(Struct):
    """An object of a result."""

    #: op that the runtime runs
    op_type: str
    #: number of nodes
    nodes: int
    #: time of these nodes in one run
    duration_ns: int


@dataclass(repr=True)
class NodeTime(Struct):
    """An object of a result."""

    #: name
    node: str
    #: op that the runtime runs: fused, and in the layout of this machine
    op_type: str
    #: median time in one run, without nodes inside of it
    duration_ns: int


@dataclass(repr=True)
class Profile(Struct):
    """An object of a result."""

    #: profiled runs
    runs: int
    #: time of all nodes in one run
    duration_ns: int
    #: share of that time in kernels that multiply integers
    integer_share: float
    #: of the main graph of a .tflite model; null for ONNX
    operators: Optional[int]
    #: how many of them XNNPACK runs; null for ONNX
    delegated: Optional[int]
    #: share of duration_ns in XNNPACK; null for ONNX
    delegated_share: Optional[float]
    #: time by op, most expensive first
    ops: List[OpTime]
    #: time by node, most expensive first
    nodes: List[NodeTime]


@dataclass(repr=True)
class TrialResult(Struct):
    """An object of a result."""

    #: the result was loaded in ONNX Runtime before it was written
    tried: bool
    #: why it was not run; empty when it was, or when --no-verify was given
    why_not: str
    #: of ONNX Runtime
    runtime_version: str
    #: inputs that the outputs were compared on
    samples: int
    #: true: random inputs
    generated: bool
    #: true: the model outputs only labels, and sqnr_db is 10·log10(labels / changed labels)
    labels_only: bool
    #: worst output, or its worst slice, against the original; null if exact or not run
    sqnr_db: Optional[float]
    #: all outputs are equal
    exact: bool
    #: the worst slice, such as "output0[:, 4:84, :]"; null: the output has no slices
    slice: Optional[str]
    #: CPU features that the kernels used, such as "avx512 vnni"
    cpu: str
    #: other CPUs that it was run on (--on)
    cpus: List[CpuComparison]
    #: of the original; null when it was not run
    load_memory_before: Optional[LoadMemory]
    #: of the result; null when it was not run
    load_memory_after: Optional[LoadMemory]
    #: against the original: for static and dynamic INT8, and for --memory balanced where a run takes 5 ms; else
    #: null
    speed_up: Optional[SpeedUp]
    #: time of a call of the original, with speed_up: CPU time if on one thread
    call_before_ns: Optional[int]
    #: time of a call of the result
    call_after_ns: Optional[int]
    #: nodes in the runtime's profile of one run, for static and dynamic INT8; else null
    kernels: Optional[IntegerKernels]
    #: that profile: where the time of the result goes; else null
    profile: Optional[Profile]


@dataclass(repr=True)
class ScaleChange(Struct):
    """An object of a result."""

    #: the weight
    weight: str
    #: node that multiplies with it
    node: str
    #: op of the node
    op_type: str
    #: scales of the weight
    scales: int
    #: scales that were increased
    changed: int
    #: largest new scale divided by the trained one
    largest_factor: float


@dataclass(repr=True)
class NodeOutcome(Struct):
    """An object of a result."""

    #: of the node
    name: str
    #: subgraph or function it belongs to; empty for the main graph
    scope: str
    #: op
    op_type: str
    #: how the node computes
    arithmetic: str
    #: why it computes in float; else empty
    reason: str


@dataclass(repr=True)
class ValueRange(Struct):
    """An object of a result."""

    #: smallest value of the range
    low: float
    #: largest value of the range
    high: float


@dataclass(repr=True)
class ValueHistogram(Struct):
    """An object of a result."""

    #: where the first bin begins
    low: Optional[float]
    #: where the last bin ends
    high: Optional[float]
    #: values in each of 48 bins of one width (one bin where there is one value)
    counts: List[int]
    #: share of values outside of the chosen range; null where there is no one range
    clipped_share: Optional[float]


@dataclass(repr=True)
class ActivationOutcome(Struct):
    """An object of a result."""

    #: of the value
    name: str
    #: subgraph or function it belongs to; empty for the main graph
    scope: str
    #: quantized type, such as "uint8"
    type: str
    #: an integer q stands for (q - zero_point) * scale
    scale: float
    #: the integer that stands for 0
    zero_point: int
    #: range that was chosen
    range: ValueRange
    #: how the range was chosen
    method: str
    #: predicted, of the value itself
    sqnr_db: Optional[float]
    #: position in the network of the node that gives it, from 1 on; 0: an input
    place: int
    #: null without --pictures
    histogram: Optional[ValueHistogram]


@dataclass(repr=True)
class GraphBlock(Struct):
    """An object of a result."""

    #: common beginning of the names of its nodes
    name: str
    #: op types of the nodes
    ops: List[str]
    #: names of the nodes, in the order of the network
    nodes: List[str]
    #: names of the constants that they read
    weights: List[str]
    #: positions of the blocks whose values they read, in this list
    predecessors: List[int]


@dataclass(repr=True)
class TensorOutcome(Struct):
    """An object of a result."""

    #: of the tensor
    name: str
    #: subgraph or function it belongs to; empty for the main graph
    scope: str
    #: op that reads it
    op_type: str
    #: element type, such as "float32"
    type: str
    #: dimensions
    shape: List[int]
    #: compressed
    stored: bool
    #: why it is stored like this, or not
    reason: str
    #: bytes in the original
    bytes_before: int
    #: bytes in the result
    bytes_after: int
    #: stored type; null where it is not stored, as below
    encoding: Optional[str]
    #: granularity of the scales: "tensor", "channel A", "channel A-B" or "block N"
    granularity: Optional[str]
    #: how the runtime gets the values back
    decoder: Optional[str]
    #: every decoded value equals the original
    exact: bool
    #: decoded values against the original; null if exact
    sqnr_db: Optional[float]
    #: largest difference of a value
    max_abs_error: Optional[float]
    #: of up to a million values; null without --pictures
    histogram: Optional[ValueHistogram]


@dataclass(repr=False)
class QuantizeResult(ModelResult):
    """The result of quantize."""

    _shown = (
        ("output", "output"),
        ("stored_as", "stored as"),
        ("bytes_before", "bytes before"),
        ("bytes_after", "bytes after"),
        ("ratio", "ratio"),
        ("sqnr_db", "weights, dB"),
        ("notes", "notes"),
    )
    #: the original
    model: str
    #: file that was written
    output: str
    #: true: nothing was written
    dry_run: bool
    #: size of the original, external data included
    bytes_before: int
    #: size of the result, external data included
    bytes_after: int
    #: bytes_after / bytes_before
    ratio: float
    #: compressed tensors
    stored_tensors: int
    #: format that was asked for
    format: str
    #: format of the result: "w8" where the opset cannot unpack the 4 bits of "w4"
    stored_as: str
    #: every decoded value equals the original
    exact: bool
    #: dequantized weights against the original, over the stored tensors that changed: noise relative to the signal
    #: of each tensor, averaged over all values; null if exact or dry run
    sqnr_db: Optional[float]
    #: the result in ONNX Runtime, before it was written
    trial: TrialResult
    #: of the whole run
    duration_ns: int
    #: of the original; also in the metadata of the result
    source_digest: str
    #: of the plan; also in the metadata of the result
    plan_digest: str
    #: notes for the reader
    notes: List[str]
    #: patterns of --include, --exclude and --keep-fp32 that matched nothing (--ignore-unmatched)
    unmatched: List[str]
    #: weights of a QAT model whose trained scales were increased for the target; empty: all scales are kept
    scale_changes: List[ScaleChange]
    #: int8 and int8-dynamic: every op with weights, and every op that runs in INT8; fp16 and bf16: every node with
    #: float32 inputs or outputs
    nodes: List[NodeOutcome]
    #: int8: every value that is quantized between ops
    activations: List[ActivationOutcome]
    #: the main graph of the original, by blocks of nodes
    blocks: List[GraphBlock]
    #: every float tensor, in the order of the file
    tensors: List[TensorOutcome]


@dataclass(repr=True)
class Latency(Struct):
    """An object of a result."""

    #: number of calls
    calls: int
    #: mean time of a call
    mean_ns: int
    #: median
    p50_ns: int
    #: 90th percentile
    p90_ns: int
    #: 99th percentile
    p99_ns: int
    #: fastest call
    min_ns: int
    #: mean CPU time of a call; null with several threads and where the system does not tell
    cpu_ns: Optional[int]
    #: 101 values: the time that 0 %, 1 %, … 100 % of the calls did not exceed
    quantiles_ns: List[int]


@dataclass(repr=True)
class DecodedModel(Struct):
    """An object of a result."""

    #: path
    model: str
    #: size of the model file and its external data
    bytes: int
    #: false: the model keeps no past and is given the whole text for every token
    cached: bool
    #: time of the prompt
    first_token: Latency
    #: time of each later token
    next_token: Latency
    #: mean negative log-likelihood of the tokens behind the prompt
    nll: float
    #: exponential of nll
    perplexity: float
    #: tokens for which the first model chose another one
    flips: int
    #: null where no gate was given
    passed: Optional[bool]
    #: empty where no gate was given
    verdict: str


@dataclass(repr=False)
class DecodeResult(Result):
    """The result of verify."""

    #: of ONNX Runtime
    runtime_version: str
    #: CPU features that the kernels used
    cpu: str
    #: threads of the runtime; 0: all
    threads: int
    #: true: random token ids
    generated: bool
    #: number of texts
    texts: int
    #: tokens that are given at once
    prompt: int
    #: tokens behind the prompts, of all texts together
    tokens: int
    #: in the order of the command line
    models: List[DecodedModel]
    #: notes for the reader
    notes: List[str]


@dataclass(repr=True)
class ChangedAnswer(Struct):
    """An object of a result."""

    #: class of the reference
    from_: int
    #: class of the candidate
    to: int
    #: how often
    count: int


@dataclass(repr=True)
class IndexRange(Struct):
    """An object of a result."""

    #: first index
    begin: int
    #: first index behind the range
    end: int


@dataclass(repr=True)
class OutputSlice(Struct):
    """An object of a result."""

    #: such as "output0[:, 4:84, :]"
    name: str
    #: axis that the output is cut along
    axis: int
    #: indices on this axis
    ranges: List[IndexRange]
    #: number of values
    values: int
    #: root mean square of the reference
    rms: Optional[float]
    #: all values are equal
    exact: bool
    #: signal to noise; null if exact
    sqnr_db: Optional[float]
    #: no less than this on other data, at the confidence; null without such a gate
    sqnr_low_db: Optional[float]


@dataclass(repr=True)
class OutputComparison(Struct):
    """An object of a result."""

    #: of the output
    name: str
    #: element type
    type: str
    #: true: classes, strings or flags, which are equal or not
    labels: bool
    #: false for states, and for outputs that --outputs leaves out
    judged: bool
    #: fed back by --carry, and not judged
    state: bool
    #: results of a detector, in any number: judged only by --task detect
    list: bool
    #: number of values
    values: int
    #: --task detect: values of images in which neither model detects anything; SQNR leaves them out
    silent_values: int
    #: largest difference; null for labels, as below
    max_abs_diff: Optional[float]
    #: mean difference
    mean_abs_diff: Optional[float]
    #: mean squared error
    mse: Optional[float]
    #: cosine of the angle; null if all values are silent
    cosine: Optional[float]
    #: all values are equal
    exact: bool
    #: signal to noise; null if exact or all values are silent
    sqnr_db: Optional[float]
    #: no less than this on other data, at the confidence; null without such a gate
    sqnr_low_db: Optional[float]
    #: the same of top1_agreement
    agreement_low: Optional[float]
    #: no more than this on other data; null without such a gate
    mean_abs_diff_high: Optional[float]
    #: the same of mse
    mse_high: Optional[float]
    #: the same of the share of changed decisions
    flips_high: Optional[float]
    #: share of samples with the same best class; of labels: share of equal values; null without classes
    top1_agreement: Optional[float]
    #: share whose best class is among the five best; null without classes
    top5_agreement: Optional[float]
    #: answers that top1_agreement is about
    answers_compared: int
    #: answers that differ
    answers_changed: int
    #: classes that became another one, at most 50, most frequent first
    changed_answers: List[ChangedAnswer]
    #: decisions that changed at --threshold; null without one, and for labels
    flips: Optional[int]
    #: number of decisions; two columns of probabilities that add up to 1 are one decision
    decisions: int
    #: NaN and infinite values of the reference
    reference_not_finite: int
    #: NaN and infinite values of the candidate
    candidate_not_finite: int
    #: those of the candidate where the reference is finite
    newly_not_finite: int
    #: parts of another kind or scale, worst first; empty: the output is all alike
    slices: List[OutputSlice]


@dataclass(repr=True)
class MetricResult(Struct):
    """An object of a result."""

    #: such as "top1_accuracy" (docs/reference/verify.md lists them), or the name that --metric-command gives
    name: str
    #: false for errors
    higher_is_better: bool
    #: how a drop is counted: share (points), relative to the reference, absolute or decibel
    unit: str
    #: of the original; null when it was not measured
    reference: Optional[float]
    #: of the candidate; null when it was not measured
    candidate: Optional[float]
    #: positive: the candidate is worse
    drop: Optional[float]
    #: lower bound of the 95 % interval; null for --metric-command
    drop_low: Optional[float]
    #: upper bound of that interval
    drop_high: Optional[float]
    #: no more than this on other data, at the confidence; null without --max-drop
    drop_bound: Optional[float]
    #: why it was not measured; else empty
    why_not: str


@dataclass(repr=True)
class EdgeCase(Struct):
    """An object of a result."""

    #: such as "all zero"
    name: str
    #: false: the candidate fails where the reference does not
    passed: bool
    #: true: it was not tried, and proves nothing
    left_out: bool
    #: the measurement, the error, or the reason why it was left out
    finding: str


@dataclass(repr=True)
class ClassScore(Struct):
    """An object of a result."""

    #: number of the class
    class_: int
    #: score of the original
    reference: Optional[float]
    #: score of the candidate
    candidate: Optional[float]


@dataclass(repr=True)
class InputPicture(Struct):
    """An object of a result."""

    #: name of the input
    input: str
    #: image in base64, at most 96 pixels; null where it is a waveform
    png: Optional[str]
    #: waveform: least values of at most 240 stretches; empty where it is an image
    lowest: List[float]
    #: waveform: greatest values of these stretches
    highest: List[float]
    #: the beginning of the waveform as a WAV file in base64; null where it is an image
    wav: Optional[str]


@dataclass(repr=True)
class SampleDifference(Struct):
    """An object of a result."""

    #: name of the sample
    sample: str
    #: output that differs most
    output: str
    #: null where only labels are judged
    max_abs_diff: Optional[float]
    #: labels that changed, where only labels are judged; else 0
    answers_changed: int
    #: with --pictures, if it is a number; else null
    label: Optional[float]
    #: with --pictures: the three best classes of either model, of outputs with one row of classes
    answers: List[ClassScore]
    #: with --pictures: the first input that is an image or a waveform; else null
    picture: Optional[InputPicture]
    #: with --pictures: the output of the original, if it is an image or a sound; else null
    reference_output: Optional[InputPicture]
    #: the same of the candidate, on the same scale
    candidate_output: Optional[InputPicture]


@dataclass(repr=False)
class VerifyResult(VerifyMethods, Result):
    """The result of verify."""

    _shown = (
        ("passed", "passed"),
        ("verdict", "verdict"),
        ("samples", "samples"),
        ("max_abs_diff", "largest difference"),
        ("failures", "failures"),
        ("notes", "notes"),
    )
    #: the original
    reference: str
    #: the model that was compared with it
    candidate: str
    #: every threshold is met
    passed: bool
    #: the gate that decided, and by how much
    verdict: str
    #: gates that do not hold
    failures: List[str]
    #: of the bounds below: --confidence, or 0.9
    confidence: float
    #: every threshold is met on unseen data like this with that confidence
    certain: bool
    #: the same in words; empty when a gate failed or inputs were random
    certainty: str
    #: gates without a bound (--abs-tol, --metric-command), each in a sentence; then certain is false
    unbounded: List[str]
    #: about how many samples like these would make it certain; null when it is, or none would
    samples_needed: Optional[int]
    #: over all outputs that are judged and are no labels; null when there are none
    max_abs_diff: Optional[float]
    #: the same of the mean difference
    mean_abs_diff: Optional[float]
    #: of the worst slice of the worst output that is judged; null if exact
    worst_sqnr_db: Optional[float]
    #: all values of these outputs are equal
    exact: bool
    #: least top1_agreement of the outputs that are judged; null without one
    agreement: Optional[float]
    #: the runtime that ran the models, with its version
    runtime: str
    #: the version for the reference
    runtime_version: str
    #: CPU features that the kernels used, such as "avx512 vnni"; empty with --via
    cpu: str
    #: number of samples
    samples: int
    #: true: random inputs
    generated: bool
    #: SHA-256 of the inputs
    data_digest: str
    #: SHA-256 of the labels; null without
    labels_digest: Optional[str]
    #: in the order of the model
    outputs: List[OutputComparison]
    #: the first is the one that --max-drop looks at
    metrics: List[MetricResult]
    #: empty with --no-edge-cases
    edge_cases: List[EdgeCase]
    #: the candidate on other CPUs (--on)
    cpus: List[CpuComparison]
    #: samples with the largest differences, largest first
    worst: List[SampleDifference]
    #: samples with a changed top-1 prediction, at most 12, largest difference first; empty with --worst 0
    changed: List[SampleDifference]
    #: names of the classes by number (--class-names); empty without
    class_names: List[str]
    #: size of the original and its external data
    reference_bytes: int
    #: size of the candidate and its external data
    candidate_bytes: int
    #: notes for the reader
    notes: List[str]
    #: of everything but the edge cases
    duration_ns: int
    #: of that, loading
    load_ns: int
    #: inside the runtime, of the reference
    reference_ns: int
    #: inside the runtime, of the candidate
    candidate_ns: int


@dataclass(repr=True)
class BatchResult(Struct):
    """An object of a result."""

    #: batch size
    batch: int
    #: time of a call
    latency: Latency
    #: throughput
    samples_per_second: float
    #: against the first model at the same batch size
    speed_up: SpeedUp


@dataclass(repr=True)
class BenchedModel(Struct):
    """An object of a result."""

    #: path
    model: str
    #: size of the model file and its external data
    bytes: int
    #: creating the session
    load_ns: int
    #: first run
    first_run_ns: int
    #: from the start of a process to its first result; null with --cold-starts 0
    cold_start_ns: Optional[int]
    #: false: the cold start read the model from memory
    cache_dropped: bool
    #: peak resident memory of a process that runs only this model; null with --cold-starts 0
    peak_memory_bytes: Optional[int]
    #: null with --cold-starts 0 and where the system does not tell
    load_memory: Optional[LoadMemory]
    #: one for each batch size
    batches: List[BatchResult]
    #: where the time goes; null without --profile
    profile: Optional[Profile]


@dataclass(repr=False)
class BenchResult(Result):
    """The result of bench."""

    _shown = (
        ("runtime_version", "ONNX Runtime"),
        ("cpu", "CPU"),
        ("threads", "threads"),
        ("notes", "notes"),
    )
    #: the runtime that ran the models, with its version
    runtime: str
    #: the version for the first model
    runtime_version: str
    #: CPU features that the kernels used, such as "avx512 vnni"; empty with --via
    cpu: str
    #: threads of the runtime; 0: all
    threads: int
    #: timing rounds
    rounds: int
    #: wall time over CPU time while timing: 1 on an idle machine, busy from 1.1 on; null when unknown
    load: Optional[float]
    #: true: random inputs
    generated: bool
    #: in the order of the command line
    models: List[BenchedModel]
    #: notes for the reader
    notes: List[str]


@dataclass(repr=True)
class TuneTrial(Struct):
    """An object of a result."""

    #: such as "int8, 3 of 24 layers stored only"
    name: str
    #: why it could not be made; then nothing below is filled in; else empty
    problem: str
    #: makes this candidate of SOURCE, OUT and DATA; null for an evaluation on held-out samples
    command: Optional[str]
    #: size of the model
    bytes: int
    #: share of the original's bytes
    ratio: float
    #: null when it was not timed
    speed_up: Optional[SpeedUp]
    #: slower than the original, by more than the timing tolerance
    slower: bool
    #: with --objective memory; else null
    load_memory: Optional[LoadMemory]
    #: share of the original's peak
    memory_ratio: Optional[float]
    #: all values are equal
    exact: bool
    #: of the worst slice of an output; null if exact
    sqnr_db: Optional[float]
    #: share of the same top-1 answers; null without classes
    agreement: Optional[float]
    #: null without labels
    metric: Optional[MetricResult]
    #: the gate, on the samples of the search
    passed: bool
    #: the gate that decided
    verdict: str
    #: that it was judged with; null: by the samples alone
    confidence: Optional[float]
    #: that it was judged on
    samples: int
    #: in their place; null if they do, or no number would
    samples_needed: Optional[int]
    #: to be sure of any model
    too_few_samples: bool
    #: why it cannot be the result; null if it can
    reason: Optional[str]
    #: that the data would need besides, for it to pass; else null
    more_samples: Optional[int]
    #: passed on the held-out samples; null if it was not asked
    held_out: Optional[bool]
    #: no other that passed is better in bytes, time and quality
    on_front: bool
    #: "smallest", "fastest" and "closest", if it is that of all possible results
    corners: List[str]


@dataclass(repr=True)
class LayerChoice(Struct):
    """An object of a result."""

    #: of the layer
    name: str
    #: op
    op_type: str
    #: how it computes in the result
    format: str


@dataclass(repr=False)
class TuneResult(ModelResult):
    """The result of tune."""

    _shown = (
        ("passed", "passed"),
        ("output", "output"),
        ("notes", "notes"),
    )
    #: the original
    model: str
    #: the file that passed; else null
    output: Optional[str]
    #: the file that came closest, when nothing passed; else null
    closest: Optional[str]
    #: a model passed and was written
    passed: bool
    #: stopped, for example with Ctrl-C: the best so far counts
    interrupted: bool
    #: the budget was used up before everything was tried
    out_of_time: bool
    #: of ONNX Runtime
    runtime_version: str
    #: the result on other CPUs (--on)
    cpus: List[CpuComparison]
    #: size of the original
    bytes_before: int
    #: samples that the search looked at
    search_samples: int
    #: samples that only the result was judged on
    held_out_samples: int
    #: that the result passes on other data; null with --confidence none
    confidence: Optional[float]
    #: when nothing passed: about how many samples like these would show that what came closest is good enough; null
    #: when no number would
    samples_needed: Optional[int]
    #: the trial that won, or came closest; null without
    best: Optional[TuneTrial]
    #: the result on the held-out samples, or on all samples if it was made without them; null when nothing passed
    held_out: Optional[TuneTrial]
    #: of the result
    layers: List[LayerChoice]
    #: in their order
    trials: List[TuneTrial]
    #: notes for the reader
    notes: List[str]
    #: measurements that were known from before
    recalled: int
    #: of this run
    duration_ns: int


@dataclass(repr=True)
class RecommendedCommand(Struct):
    """An object of a result."""

    #: for a shell
    line: str
    #: its purpose
    why: str


@dataclass(repr=True)
class NamedCount(Struct):
    """An object of a result."""

    #: op, element type or file
    name: str
    #: how often
    count: int
    #: bytes of weights, or of the file
    bytes: int


@dataclass(repr=True)
class StatePair(Struct):
    """An object of a result."""

    #: input that takes the state
    input: str
    #: output that gives it
    output: str


@dataclass(repr=True)
class FamilyFinding(Struct):
    """An object of a result."""

    #: by the structure of the graph
    name: str
    #: such as "autoregressive transformer"
    description: str
    #: its own output comes back to it
    autoregressive: bool
    #: the model is quantized already
    quantized: bool
    #: most weights are 16-bit floats
    half: bool
    #: the task that the outputs suggest; "auto": unknown
    task: str
    #: why
    task_reason: str
    #: signs of the family
    reasons: List[str]
    #: by op type, most frequent first
    ops: List[NamedCount]
    #: weights by op type
    weights: List[NamedCount]
    #: bytes of all weights
    weight_bytes: int
    #: pairs of input and output that carry a state
    states: List[StatePair]


@dataclass(repr=True)
class Baseline(Struct):
    """An object of a result."""

    #: false: the original was not run, and why_not says why
    measured: bool
    #: else empty
    why_not: str
    #: of ONNX Runtime
    runtime_version: str
    #: time of a call
    latency: Latency
    #: creating the session
    load_ns: int
    #: from the start of a process to its first result
    cold_start_ns: int
    #: peak resident memory of a process that runs only this model
    peak_memory_bytes: int
    #: null where the system does not tell
    load_memory: Optional[LoadMemory]
    #: of labeled data; reference is the original's value
    metrics: List[MetricResult]
    #: where the time goes; null if there was no time for it
    profile: Optional[Profile]


@dataclass(repr=True)
class MethodFinding(Struct):
    """An object of a result."""

    #: format
    method: str
    #: false: why_not says why, and nothing below is filled in
    measured: bool
    #: else empty
    why_not: str
    #: it did not fit into the budget
    out_of_time: bool
    #: size of the model
    bytes: int
    #: share of the original's bytes
    ratio: float
    #: null when it was not timed
    speed_up: Optional[SpeedUp]
    #: creating the session; null: not measured
    load_ns: Optional[int]
    #: peak resident memory; null: not measured
    peak_memory_bytes: Optional[int]
    #: null where the system does not tell
    load_memory: Optional[LoadMemory]
    #: all values are equal
    exact: bool
    #: of the worst output; null if exact
    sqnr_db: Optional[float]
    #: share of the same top-1 answers; null without classes
    agreement: Optional[float]
    #: null without labels
    metric: Optional[MetricResult]
    #: that it was compared on
    samples: int
    #: the thresholds are met with the confidence
    acceptable: bool
    #: the thresholds are met on these samples, which are too few for the confidence
    uncertain: bool
    #: for that, about; null: no number of samples, or it is certain
    samples_needed: Optional[int]
    #: the measured quality in words
    quality: str
    #: nodes with weights that run in INT8
    integer_nodes: int
    #: nodes with weights that compute in float
    float_nodes: int
    #: why, most frequent first
    left_in_floats: List[str]
    #: to make and to compare it
    duration_ns: int
    #: where the time goes, of the fastest method that is good enough; else null
    profile: Optional[Profile]


@dataclass(repr=True)
class Risk(Struct):
    """An object of a result."""

    #: such as "attention_mask"
    name: str
    #: with its numbers
    evidence: str
    #: the remedy; may be empty
    advice: str


@dataclass(repr=False)
class AdviseResult(Result):
    """The result of advise."""

    _shown = (
        ("model", "model"),
        ("verdict", "verdict"),
        ("notes", "notes"),
    )
    #: path
    model: str
    #: "unknown": no recommendation yet
    verdict: str
    #: the verdict in one line
    headline: str
    #: why
    reasons: List[str]
    #: the recommended one first; with "unknown", a command to try
    commands: List[RecommendedCommand]
    #: size of the model file and its external data
    bytes: int
    #: by bytes
    size_class: str
    #: the kind of model, by its structure
    family: FamilyFinding
    #: the original, measured
    baseline: Baseline
    #: in the data
    samples: int
    #: that int8 was calibrated on
    calibration_samples: int
    #: the most that a method was compared on
    quality_samples: int
    #: true: random inputs
    generated: bool
    #: of the gate
    confidence: float
    #: most promising first
    methods: List[MethodFinding]
    #: risks
    risks: List[Risk]
    #: data that would make the advice better
    missing: List[str]
    #: notes for the reader
    notes: List[str]
    #: --budget
    budget_ns: int
    #: of this run
    duration_ns: int
    #: budget that would be enough for the most promising methods, about; null: the budget was
    budget_needed_ns: Optional[int]


@dataclass(repr=True)
class GroupSensitivity(Struct):
    """An object of a result."""

    #: of the group
    name: str
    #: op of its first layer
    op_type: str
    #: position in the network, from 0 on
    place: int
    #: names of nodes
    layers: List[str]
    #: bytes of the weights in FP32
    weight_bytes: int
    #: no other layer is before it
    first: bool
    #: no other layer is behind it
    last: bool
    #: it belongs to attention
    attention: bool
    #: of what the layer gives, from statistics alone
    estimated_db: Optional[float]
    #: false: only estimated
    measured: bool
    #: quantized alone, it changes nothing; alone_db is null
    exact: bool
    #: of the outputs when only this is quantized; null if exact, or when the model does not run
    alone_db: Optional[float]
    #: of the outputs when all but this is quantized
    without_db: Optional[float]
    #: of the metric, when only this is quantized; null without a metric
    alone_drop: Optional[float]
    #: of the metric, when all but this is quantized
    without_drop: Optional[float]
    #: of the noise that all groups cause alone
    noise_share: float


@dataclass(repr=False)
class SensitivityResult(Result):
    """The result of sensitivity."""

    _shown = (
        ("model", "model"),
        ("notes", "notes"),
    )
    #: path
    model: str
    #: format that was analyzed
    format: str
    #: --min-sqnr
    min_sqnr_db: float
    #: of ONNX Runtime
    runtime_version: str
    #: samples that were measured on
    samples: int
    #: name of the metric; null without labels
    metric: Optional[str]
    #: of the original
    metric_reference: Optional[float]
    #: of the outputs when everything is quantized
    all_db: Optional[float]
    #: of the metric, when everything is quantized; null without a metric
    all_drop: Optional[float]
    #: worst first, those that were not measured at the end
    groups: List[GroupSensitivity]
    #: expressions for --exclude: leaving these layers in FP32 reaches min_sqnr_db
    exclude: List[str]
    #: the same layers for --node: format by name of the value; empty when only FP32 will do
    nodes: Dict[str, str]
    #: of the outputs without these layers, measured
    exclude_db: Optional[float]
    #: whether that reaches min_sqnr_db
    enough: bool
    #: conspicuous findings
    findings: List[str]
    #: notes for the reader
    notes: List[str]
    #: models that ran
    measured: int
    #: measurements that were known from before
    recalled: int
    #: of this run
    duration_ns: int


@dataclass(repr=True)
class ValueDescription(Struct):
    """An object of a result."""

    #: of the input or output
    name: str
    #: such as "float32[N,3,224,224]"
    type: str
    #: dimensions; -1: a dynamic axis; empty for scalars and unknown ranks
    shape: List[int]


@dataclass(repr=False)
class InspectResult(Result):
    """The result of inspect."""

    _shown = (
        ("model", "model"),
        ("bytes", "bytes"),
        ("bytes_after", "bytes after quantize"),
        ("nodes", "nodes"),
        ("opsets", "opsets"),
        ("notes", "notes"),
        ("blockers", "blockers"),
    )
    #: path
    model: str
    #: size of the model file and its external data
    bytes: int
    #: bytes of all tensors
    weight_bytes: int
    #: of the file: "ONNX" or "TFLite"
    format: str
    #: of ONNX; of TFLite the schema version
    ir_version: int
    #: name of the exporter
    producer: str
    #: versions by domain; of TFLite by operator
    opsets: Dict[str, int]
    #: values by key
    metadata: Dict[str, str]
    #: inputs of the model
    inputs: List[ValueDescription]
    #: outputs of the model
    outputs: List[ValueDescription]
    #: number of nodes
    nodes: int
    #: number of subgraphs
    subgraphs: int
    #: number of functions
    functions: int
    #: by op type, most bytes of weights first
    ops: List[NamedCount]
    #: tensors by element type
    element_types: List[NamedCount]
    #: files with external data
    external_files: List[NamedCount]
    #: size that quantize would write; 0 where it would refuse
    bytes_after: int
    #: integer nodes that saturate on x86 CPUs without VNNI
    saturating_nodes: int
    #: sum of the largest two neighboring weights of these nodes (128 is safe)
    worst_pair: int
    #: notes for the reader
    notes: List[str]
    #: why quantize would refuse the model
    blockers: List[str]
    #: the main graph, by blocks of nodes
    blocks: List[GraphBlock]
    #: every float tensor as quantize would store it, largest first
    tensors: List[TensorOutcome]


@dataclass(repr=True)
class FormatEstimate(Struct):
    """An object of a result."""

    #: of --to
    format: str
    #: such as "INT8 static, W8A8"
    label: str
    #: estimated size of the quantized model
    bytes: int
    #: share of the original's bytes
    ratio: float
    #: for calibration
    needs_data: bool
    #: usually, for models of this family
    faster: bool
    #: why the format does not fit this model; null if it does
    why_not: Optional[str]


@dataclass(repr=False)
class OverviewResult(Result):
    """The result of overview."""

    _shown = (
        ("model", "model"),
        ("bytes", "bytes"),
        ("family", "family"),
        ("commands", "commands"),
    )
    #: path
    model: str
    #: size of the model file and its external data
    bytes: int
    #: "ONNX", "TFLite" or "Core ML"
    file_format: str
    #: the kind of model, by its structure; null if unknown
    family: Optional[str]
    #: how; null if it is not
    already_quantized: Optional[str]
    #: of the model
    inputs: List[ValueDescription]
    #: of the model
    outputs: List[ValueDescription]
    #: bytes of all tensors
    weight_bytes: int
    #: that fit first; empty for quantized models
    formats: List[FormatEstimate]
    #: to paste into a shell; empty if nothing can be quantized
    commands: List[str]


@dataclass(repr=False)
class ExplainResult(Result):
    """The result of explain."""

    _shown = (
        ("id", "code"),
        ("title", "title"),
        ("cause", "cause"),
        ("fix", "fix"),
    )
    #: stable code of the message, such as "OUN101"
    id: str
    #: subject
    title: str
    #: why the message appears
    cause: str
    #: effect on the run
    consequence: str
    #: remedy
    fix: str


@dataclass(repr=True)
class NodeFinding(Struct):
    """An object of a result."""

    #: of the node
    name: str
    #: subgraph or function it belongs to; empty for the main graph
    scope: str
    #: op
    op_type: str
    #: of the op; empty for ONNX's own
    domain: str
    #: such as "T1=uint8 T2=int8"
    types: str
    #: whether it runs there
    verdict: str
    #: reason
    why: str


@dataclass(repr=True)
class Execution(Struct):
    """An object of a result."""

    #: the model ran there
    ran: bool
    #: message of the error; empty: no error
    error: str
    #: of ONNX Runtime there
    runtime_version: str
    #: the outputs are equal to those here
    exact: bool
    #: worst output there against the one here; null if exact
    sqnr_db: Optional[float]


@dataclass(repr=True)
class TargetCheck(Struct):
    """An object of a result."""

    #: as it was asked for
    target: str
    #: release that was measured; empty when none was (verdict unknown)
    measured: str
    #: worst of all nodes
    verdict: str
    #: false: a session cannot be created
    loads: bool
    #: number of nodes
    nodes: int
    #: nodes that run
    runs: int
    #: nodes that run, but not in a kernel of their own type
    slow: int
    #: nodes that were not measured
    unknown: int
    #: nodes that fail or give a wrong result
    broken: int
    #: integer nodes that saturate on x64 without VNNI; 0 where the target has exact products
    saturating: int
    #: sum of the largest two neighboring weights of these nodes (128 is safe)
    worst_pair: int
    #: of the model as a whole, because of which it does not load
    problems: List[str]
    #: notes for the reader
    notes: List[str]
    #: nodes that do not plainly run
    findings: List[NodeFinding]
    #: with --execute; else null
    execution: Optional[Execution]


@dataclass(repr=True)
class ProviderHint(Struct):
    """An object of a result."""

    #: execution provider
    provider: str
    #: hints are taken from documentation and were not measured
    evidence: str
    #: page that was read
    source: str
    #: nodes of the main graph that run
    nodes: int
    #: those of them that the provider takes
    taken: int
    #: other nodes: constants computed at load
    folded: int
    #: other nodes: inside of others
    nested: int
    #: nodes that are taken and compute; the others convert or move data
    computing: int
    #: partitions of the nodes that are taken; null if the provider works node by node
    partitions: Optional[int]
    #: partitions with a node that computes
    computing_partitions: Optional[int]
    #: nodes of the largest partition
    largest: int
    #: op types that stay on the CPU, most frequent first
    left: List[str]
    #: about the whole model
    note: str


@dataclass(repr=False)
class CheckResult(CheckMethods, Result):
    """The result of check."""

    _shown = (
        ("model", "model"),
        ("opset", "opset"),
        ("file_bytes", "bytes"),
        ("memory_bytes", "bytes in memory"),
    )
    #: path
    model: str
    #: ONNX or TFLite
    format: str
    #: of ONNX; 0 for TFLite
    opset: int
    #: of ONNX; 0 for TFLite
    ir_version: int
    #: size of the model file and its external data
    file_bytes: int
    #: weights after loading, dequantized
    memory_bytes: int
    #: in the order of the command line
    targets: List[TargetCheck]
    #: execution providers, from their documentation
    hints: List[ProviderHint]


@dataclass(repr=True)
class Change(Struct):
    """An object of a result."""

    #: "format", "IR version", "opset", "schema version", "op version", "input", "output", "output comes from",
    #: "contract" or "metadata"
    what: str
    #: domain, input, output or key
    name: str
    #: null where it is missing
    before: Optional[str]
    #: null where it is missing
    after: Optional[str]


@dataclass(repr=True)
class OpCount(Struct):
    """An object of a result."""

    #: op, with its domain unless that is ONNX's own
    op_type: str
    #: nodes in a
    before: int
    #: nodes in b
    after: int


@dataclass(repr=True)
class NodeChange(Struct):
    """An object of a result."""

    #: of the node
    name: str
    #: subgraph or function it belongs to; empty for the main graph
    scope: str
    #: op
    op_type: str
    #: name in b, where it has another one
    name_after: Optional[str]
    #: of a changed node, in words
    changes: List[str]


@dataclass(repr=True)
class TensorChange(Struct):
    """An object of a result."""

    #: of the tensor
    name: str
    #: subgraph or function it belongs to; empty for the main graph
    scope: str
    #: name in b, where it has another one
    name_after: Optional[str]
    #: such as "float32[64,3,3,3]"; null where it is missing
    before: Optional[str]
    #: null where it is missing
    after: Optional[str]
    #: both are floats of the same count
    compared: bool
    #: the values are equal: only type or shape differ
    exact: bool
    #: null when not compared, or exact
    sqnr_db: Optional[float]
    #: null when not compared
    max_abs_diff: Optional[float]
    #: the decision, in words
    remark: str


@dataclass(repr=False)
class DiffResult(Result):
    """The result of diff."""

    _shown = (
        ("a", "a"),
        ("b", "b"),
        ("same", "same"),
        ("changes", "changes"),
    )
    #: first model
    a: str
    #: second model
    b: str
    #: there are no changes; different inner names do not count as changes
    same: bool
    #: size of a, external data included
    bytes_before: int
    #: size of b, external data included
    bytes_after: int
    #: of the model as a whole
    changes: List[Change]
    #: nodes by op, those that differ first
    ops: List[OpCount]
    #: nodes in both models
    nodes_matched: int
    #: those of them with another name
    nodes_renamed: int
    #: those of them that differ
    nodes_changed: List[NodeChange]
    #: nodes only in b
    nodes_added: List[NodeChange]
    #: nodes only in a
    nodes_removed: List[NodeChange]
    #: constants in both models
    tensors_matched: int
    #: those of them with another name
    tensors_renamed: int
    #: constants that differ, are new or are gone; largest difference first
    tensors: List[TensorChange]


@dataclass(repr=False)
class MergedImportance(Result):
    """The result of calibrate."""

    #: file of importance
    output: str


@dataclass(repr=True)
class ObservedValue(Struct):
    """An object of a result."""

    #: of the value
    name: str
    #: samples that it was observed in
    samples: int
    #: numbers that were observed
    count: int
    #: NaN and infinite numbers among them
    not_finite: int
    #: range of all numbers
    minmax: ValueRange
    #: range by the method "mean"
    mean: ValueRange
    #: range by the method "percentile"
    percentile: ValueRange
    #: range by the method "entropy"
    entropy: ValueRange
    #: range by the method "mse"
    mse: ValueRange
    #: range by the method "auto"
    chosen: ValueRange
    #: the method that "auto" took
    method: str
    #: predicted for 8 bits with that range; null when nothing is lost
    sqnr_db: Optional[float]


@dataclass(repr=False)
class CalibrateResult(Result):
    """The result of calibrate."""

    _shown = (
        ("output", "output"),
        ("samples", "samples"),
        ("notes", "notes"),
    )
    #: file of ranges
    output: str
    #: samples of the data
    samples: int
    #: of the whole run
    duration_ns: int
    #: notes for the reader
    notes: List[str]
    #: every value, in the order of their names
    values: List[ObservedValue]


@dataclass(repr=True)
class PublishedVariant(Struct):
    """An object of a result."""

    #: such as "q8"
    variant: str
    #: below the output folder
    file: str
    #: false: why_not says why
    written: bool
    #: it was made and did not pass its gate
    gate_failed: bool
    #: else empty
    why_not: str
    #: format
    format: str
    #: size of the model file and its external data
    bytes: int
    #: share of the original's bytes
    ratio: float
    #: as verify has it; null for the original
    verified: Optional[VerifyResult]
    #: as bench has it; null with --seconds 0
    bench: Optional[BenchedModel]
    #: oldest release of ONNX Runtime that runs it, by machine
    releases: Dict[str, str]
    #: notes for the reader
    notes: List[str]


@dataclass(repr=True)
class PublishedModel(Struct):
    """An object of a result."""

    #: the original
    model: str
    #: the original first
    variants: List[PublishedVariant]


@dataclass(repr=False)
class PublishResult(Result):
    """The result of publish."""

    _shown = (
        ("output", "output"),
        ("layout", "layout"),
        ("configs", "configs"),
        ("notes", "notes"),
    )
    #: folder; null when nothing was written
    output: Optional[str]
    #: every variant was written
    passed: bool
    #: of the folder
    layout: str
    #: of ONNX Runtime
    runtime_version: str
    #: CPU features that the kernels used
    cpu: str
    #: originals with their variants
    models: List[PublishedModel]
    #: files of configuration that were written, below the output folder
    configs: List[str]
    #: files that were copied, below the output folder
    carried: List[str]
    #: notes for the reader
    notes: List[str]
    #: of this run
    duration_ns: int


@dataclass(repr=True)
class StatedRun(Struct):
    """An object of a result."""

    #: of ONNX Runtime
    runtime_version: str
    #: number of samples
    samples: int
    #: true: random inputs
    generated: bool
    #: SHA-256 of the inputs
    data: str
    #: SHA-256 of the labels; empty without
    labels: str
    #: of the worst output, whole dB, rounded down; null: exact
    sqnr_db: Optional[float]


@dataclass(repr=True)
class StatedMetric(Struct):
    """An object of a result."""

    #: of the metric
    name: str
    #: of the original
    reference: float
    #: of the model
    candidate: float
    #: lower bound of the 95 % interval
    drop_low: float
    #: upper bound of the 95 % interval
    drop_high: float


@dataclass(repr=True)
class StatedGate(Struct):
    """An object of a result."""

    #: the compared values
    run: StatedRun
    #: share of the same top-1 answers; null without classes
    agreement: Optional[float]
    #: empty without labels
    metrics: List[StatedMetric]


@dataclass(repr=True)
class Statement(Struct):
    """An object of a result."""

    #: of Ounce
    version: str
    #: of the original (XXH3): tells files apart
    source_digest: str
    #: of the plan (XXH3)
    plan_digest: str
    #: SHA-256 of the model without its metadata (XXH3, 32 digits, in old statements)
    content_digest: str
    #: of the original and its external data; null in old statements
    source_sha256: Optional[str]
    #: format of the model
    format: str
    #: makes the model again
    command: str
    #: judges the model again; null when no gate was stated
    verify_command: Optional[str]
    #: oldest release of ONNX Runtime that runs it, by machine
    releases: Dict[str, str]
    #: null when there was none
    trial: Optional[StatedRun]
    #: null when none was stated
    gate: Optional[StatedGate]


@dataclass(repr=True)
class ProofStep(Struct):
    """An object of a result."""

    #: "content", "releases", "source", "recipe", "trial", "gate" or "figures"
    name: str
    #: whether it holds
    finding: str
    #: in words
    what: str


@dataclass(repr=False)
class ProveResult(Result):
    """The result of prove."""

    _shown = (
        ("model", "model"),
        ("verdict", "verdict"),
        ("reason", "reason"),
    )
    #: path
    model: str
    #: false when the model is refuted
    holds: bool
    #: of all steps
    verdict: str
    #: the step that fails, those that were not checked, or those that hold
    reason: str
    #: the provenance record of the model
    statement: Statement
    #: in their order
    steps: List[ProofStep]


@dataclass(repr=False)
class UnpackResult(Result):
    """The result of unpack."""

    _shown = (
        ("file", "file"),
        ("bytes", "bytes"),
        ("model_bytes", "packed bytes"),
        ("why_not", "why not"),
    )
    #: path
    model: str
    #: in the cache; null: the model is used unchanged, and why_not has the reason
    file: Optional[str]
    #: "ok", or a status of ounce/app.hpp
    status: str
    #: else empty
    why_not: str
    #: made in this run
    is_new: bool
    #: a damaged file was in its place, and was not used
    was_damaged: bool
    #: made in a process of its own
    in_runner: bool
    #: of the packed model
    model_bytes: int
    #: of the file
    bytes: int
    #: of the model (XXH3, 32 digits): names the file, and is not for security
    digest: str
    #: of the model with its external data: the digest that an app expects
    sha256: str
    #: that the file is for
    runtime_version: str
    #: that the file is for
    cpu: str
    #: of this run
    duration_ns: int


@dataclass(repr=False)
class CopyResult(ModelResult):
    """The result of repack."""

    _shown = (
        ("output", "output"),
        ("bytes_before", "bytes before"),
        ("bytes_after", "bytes after"),
    )
    #: the original
    model: str
    #: the copy
    output: str
    #: size of the original, external data included
    bytes_before: int
    #: size of the copy, external data included
    bytes_after: int
    #: with --shape: inputs and outputs of the copy, "input x float32[1,3,224,224]"
    ports: List[str]


@dataclass(repr=False)
class ContractCheckResult(Result):
    """The result of contract check."""

    _shown = (
        ("passed", "passed"),
        ("samples", "samples"),
        ("findings", "findings"),
    )
    #: path
    model: str
    #: the data is as the contract says
    passed: bool
    #: number of samples
    samples: int
    #: passed and failed checks
    findings: List[str]


@dataclass(repr=True)
class ShadowFailures(Struct):
    """An object of a result."""

    #: the candidate could not run, or gave other shapes
    errors: int
    #: its process ended
    crashes: int
    #: it took too long
    timeouts: int
    #: NaN or infinity where the primary has a number
    not_finite: int


@dataclass(repr=True)
class ShadowCanary(Struct):
    """An object of a result."""

    #: that the candidate answered
    calls: int
    #: that the primary answered in its place
    fallbacks: int
    #: of the calls that the candidate answers
    share: float
    #: why it was stopped; else empty
    stopped: str


@dataclass(repr=True)
class NamedShadowOutput(Struct):
    """An object of a result."""

    #: of the output
    name: str
    #: number of values
    values: int
    #: nothing differs
    exact: bool
    #: null if exact
    sqnr_db: Optional[float]
    #: largest difference
    largest: float
    #: rows with a best class
    answers: int
    #: rows whose best class is another one
    flips: int


@dataclass(repr=True)
class Latencies(Struct):
    """An object of a result."""

    #: number of calls
    count: int
    #: median
    p50_ns: int
    #: 99th percentile
    p99_ns: int


@dataclass(repr=False)
class ShadowReportResult(Result):
    """The result of shadow report."""

    _shown = (
        ("passed", "passed"),
        ("reasons", "reasons"),
        ("compared", "calls compared"),
        ("agreement", "agreement"),
    )
    #: every limit holds
    passed: bool
    #: enough was compared
    known: bool
    #: limits that do not hold
    reasons: List[str]
    #: digest of the model that answers
    primary: str
    #: digest of the candidate
    candidate: str
    #: files that were merged
    devices: int
    #: of the primary, and of the candidate as a canary
    calls: int
    #: calls that were compared
    compared: int
    #: calls that should have been compared and were not
    dropped: int
    #: of the candidate
    failures: ShadowFailures
    #: calls that the candidate answered
    canary: ShadowCanary
    #: share of equal predictions
    agreement: float
    #: nothing differs
    exact: bool
    #: of the worst output; null if exact
    sqnr_db: Optional[float]
    #: by name
    outputs: List[NamedShadowOutput]
    #: time of a call
    primary_latency: Latencies
    #: time of a call
    candidate_latency: Latencies


@dataclass(repr=False)
class WorkResult(Result):
    """The result of work."""

    #: answers that count
    answered: int
    #: answers that came after another worker's, and do not count
    late: int
    #: questions that this worker could not answer
    declined: int
    #: time spent on answers
    measuring_seconds: float
    #: from the start to the end of the worker
    seconds: float


@dataclass(repr=False)
class ReportResult(Result):
    """The result of report."""

    _shown = (
        ("output", "output"),
        ("bytes", "bytes"),
    )
    #: the page
    output: str
    #: documents that it shows
    runs: List[str]
    #: size of the page
    bytes: int


@dataclass(repr=True)
class FieldRef(Struct):
    """An object of a result."""

    #: such as "format"
    field: str
    #: may be empty
    value: str


@dataclass(repr=True)
class BaselineFigure(Struct):
    """An object of a result."""

    #: file name
    model: str
    #: name of the figure, with its unit
    figure: str
    #: in the earlier run
    before: float
    #: in this run
    now: float
    #: the limit
    allowed: float
    #: within the limit
    passed: bool
    #: the same for people
    sentence: str


@dataclass(repr=True)
class Note(Struct):
    """An object of a result."""

    #: stable code of the message, for 'ounce explain'; null: it has none
    id: Optional[str]
    #: as in the result
    message: str
    #: path of the model of the result
    model: Optional[str]


@dataclass(repr=True)
class ReportedError(Struct):
    """An object of a result."""

    #: kind of error
    code: str
    #: stable code of the message, for 'ounce explain'
    id: str
    #: one line for a person
    message: str
    #: fields of options that the message names
    fields: List[FieldRef]
    #: path; null where it is about the whole run
    model: Optional[str]


#: Verb: the classes that its results may have.
CLASSES: Dict[str, Tuple[Type[Any], ...]] = {
    "quantize": (QuantizeResult,),
    "verify": (VerifyResult, DecodeResult,),
    "bench": (BenchResult, DecodeResult,),
    "tune": (TuneResult,),
    "advise": (AdviseResult,),
    "sensitivity": (SensitivityResult,),
    "inspect": (InspectResult,),
    "overview": (OverviewResult,),
    "explain": (ExplainResult,),
    "check": (CheckResult,),
    "diff": (DiffResult,),
    "calibrate": (CalibrateResult, MergedImportance,),
    "publish": (PublishResult,),
    "prove": (ProveResult,),
    "unpack": (UnpackResult,),
    "repack": (CopyResult,),
    "contract check": (ContractCheckResult,),
    "shadow report": (ShadowReportResult,),
    "work": (WorkResult,),
    "report": (ReportResult,),
}


__all__ = [
    "ActivationOutcome",
    "AdviseResult",
    "Baseline",
    "BaselineFigure",
    "BatchResult",
    "BenchResult",
    "BenchedModel",
    "CLASSES",
    "CalibrateResult",
    "Change",
    "ChangedAnswer",
    "CheckResult",
    "ClassScore",
    "ContractCheckResult",
    "ContractResult",
    "CopyResult",
    "CpuComparison",
    "DecodeResult",
    "DecodedModel",
    "DiffResult",
    "EdgeCase",
    "Execution",
    "ExplainResult",
    "FamilyFinding",
    "FieldRef",
    "FormatEstimate",
    "GraphBlock",
    "GroupSensitivity",
    "IndexRange",
    "InputPicture",
    "InspectResult",
    "IntegerKernels",
    "Latencies",
    "Latency",
    "LayerChoice",
    "LoadMemory",
    "MergedImportance",
    "MethodFinding",
    "MetricResult",
    "ModelResult",
    "NamedCount",
    "NamedShadowOutput",
    "NodeChange",
    "NodeFinding",
    "NodeOutcome",
    "NodeTime",
    "Note",
    "ObservedValue",
    "OpCount",
    "OpTime",
    "OutputComparison",
    "OutputSlice",
    "OverviewResult",
    "Profile",
    "ProofStep",
    "ProveResult",
    "ProviderHint",
    "PublishResult",
    "PublishedModel",
    "PublishedVariant",
    "QuantizeResult",
    "RecommendedCommand",
    "ReportResult",
    "ReportedError",
    "Result",
    "Risk",
    "SampleDifference",
    "ScaleChange",
    "SensitivityResult",
    "ShadowCanary",
    "ShadowFailures",
    "ShadowReportResult",
    "SpeedUp",
    "StatePair",
    "StatedGate",
    "StatedMetric",
    "StatedRun",
    "Statement",
    "Struct",
    "TargetCheck",
    "TensorChange",
    "TensorOutcome",
    "TrialResult",
    "TuneResult",
    "TuneTrial",
    "UnpackResult",
    "ValueDescription",
    "ValueHistogram",
    "ValueRange",
    "VerifyResult",
    "WorkResult",
]
