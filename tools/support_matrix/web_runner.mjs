// Runs probes in one release of ONNX Runtime Web, its WebAssembly backend in Node.js, and says for each what the
// library made of it.
//
//   node web_runner.mjs PACKAGE PACK SCRATCH < indices > results
//
// PACKAGE is the folder of onnxruntime-web; PACK, indices and results are those of probe_runner.cpp (SCRATCH is not
// used). Differences: the operators are those that ran, as the profiler names them, without their domains; and there is one
// more status:
//
//   untold   loads, but the JavaScript API cannot carry an input or an output: nothing is known
//
// The probes run in a child process. When one of them aborts the WebAssembly instance, or hangs, the next child goes
// on behind it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SECONDS_BEFORE_IT_HANGS = 120;
const say = fs.writeSync;   // the library's writes are caught
const FAIL = 1, NOT_IMPLEMENTED = 9;   // of OrtErrorCode
const UNUSABLE = 3;   // exit code: the library itself cannot be used
const ABORTED = 70;   // exit code: the instance is gone

// ONNX's number of each element type: its name in the API and the array that carries it.
const TYPES = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 8: ['string', Array],
  9: ['bool', Uint8Array], 10: ['float16', Uint16Array], 11: ['float64', Float64Array],
  12: ['uint32', Uint32Array], 13: ['uint64', BigUint64Array], 21: ['uint4', Uint8Array], 22: ['int4', Uint8Array],
};
const NUMBERS = Object.fromEntries(Object.entries(TYPES).map(([number, [name]]) => [name, number]));

// The pack as it lies in memory: u32 count, u64 offset of each probe, the probes.
class Pack {
  constructor(file) {
    this.bytes = fs.readFileSync(file);
  }

  probe(index) {
    if (index >= this.bytes.readUInt32LE(0)) throw new Error('no such probe');
    this.at = Number(this.bytes.readBigUInt64LE(4 + 8 * index));
    const probe = { model: this.block(), inputs: [] };
    for (let count = this.number(); count > 0; --count) {
      const name = this.block().toString(), type = this.number();
      const dims = Array.from({ length: this.number() }, () => this.long());
      probe.inputs.push({ name, type, dims, bytes: this.block() });
    }
    return probe;
  }

  number() {
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }

  long() {
    this.at += 8;
    return Number(this.bytes.readBigInt64LE(this.at - 8));
  }

  block() {
    const size = this.long();
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
}

// The output of the library: its errors (the first releases report them nowhere else) and its profile. It prints with `console`,
// whose functions it may keep when it is loaded, or by writing to the standard streams itself.
class Printed {
  constructor() {
    this.lines = [];
    for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
      console[name] = (...words) => this.lines.push(words.join(' '));
    }
    fs.writeSync = (file, text) => this.lines.push(String(text));
  }

  clear() {
    this.lines = [];
  }

  complaint() {
    return this.lines.find((line) => line.trim() && !/^[[{\]]|\[[VIWEF]:onnxruntime:/.test(line)) ?? '';
  }

  // The operators in the order in which they ran, without those inside the body of another.
  operators() {
    const kernels = [];
    for (const line of this.lines.join('\n').split('\n')) {
      if (!line.includes('_kernel_time"')) continue;
      const event = JSON.parse(line.replace(/,\s*$/, ''));
      kernels.push({ name: event.args.op_name, from: event.ts, to: event.ts + event.dur });
    }
    const bodies = kernels.filter(({ name }) => ['If', 'Loop', 'Scan'].includes(name));
    const inside = (k) => bodies.some((b) => b !== k && b.from <= k.from && k.to <= b.to);
    return kernels.filter((k) => !inside(k)).map(({ name }) => name).join(',');
  }
}

function loadLibrary(folder) {
  const main = ['ort-web.node.js', 'ort.node.min.js'].map((name) => path.join(folder, 'dist', name));
  const ort = createRequire(import.meta.url)(main.find((file) => fs.existsSync(file)));
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'fatal';
  return ort;
}

function tensorOf(ort, { type, dims, bytes }) {
  if (!(type in TYPES)) throw new Error(`no type ${type} in the API`);
  const [name, ArrayOfType] = TYPES[type];
  const data = name === 'string' ? bytes.toString().split('\0').slice(0, -1)
    : new ArrayOfType(new Uint8Array(bytes).buffer);
  return new ort.Tensor(name, data, dims);
}

function textOf(tensor) {
  const head = `${NUMBERS[tensor.type]}:${tensor.dims.join(',')}`;
  if (tensor.type === 'string') {
    return [head, ...tensor.data.map((text) => Buffer.from(text).toString('hex'))].join(':');
  }
  const { buffer, byteOffset, byteLength } = tensor.data;
  return `${head}:${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`;
}

function oneLine(text) {
  return text.replace(/[\t\n\r]/g, ' ').trim().slice(0, 300);
}

// The result of a probe that failed in this step. Errors of the API around the library, about types that the API does not
// know, say nothing about the library. An uncaught C++ exception arrives as its address.
function failure(step, error, printed) {
  const text = typeof error === 'number' ? 'a C++ exception' : String(error?.message ?? error);
  if (typeof error !== 'number' && !/Can't create a session|failed to call OrtRun/.test(text)) {
    return `untold\t${oneLine(text)}\t\t`;
  }
  const told = /ERROR_CODE: (\d+), ERROR_MESSAGE: ([^]*)/.exec(text);
  const message = told?.[2] ?? (printed.complaint() || text);
  const code = told?.[1] ?? /error code = (\d+)/.exec(text)?.[1] ?? codeOf(message);
  return `${step}:${code}\t${oneLine(message)}\t\t`;
}

// Releases before 1.16 do not tell the code of what they say when loading.
function codeOf(message) {
  return /Could not find an implementation|Failed to find kernel|during initialization: MLDataType/.test(message)
    ? NOT_IMPLEMENTED : FAIL;
}

function leaveIfAborted(error) {
  const text = String(error?.message ?? error);
  if (text.includes('no available backend')) process.exit(UNUSABLE);
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError || text.startsWith('Aborted(')) {
    say(2, `web_runner: ${oneLine(text)}\n`);
    process.exit(ABORTED);
  }
}

async function run(ort, probe, printed) {
  printed.clear();
  let session;
  try {
    session = await ort.InferenceSession.create(new Uint8Array(probe.model),
      { executionProviders: ['wasm'], enableProfiling: true });
  } catch (error) {
    leaveIfAborted(error);
    return failure('load', error, printed);
  }
  try {
    return await answer(ort, session, probe, printed);
  } finally {
    await session.release?.();
    if (!session.release) await session.handler.dispose?.();
  }
}

async function answer(ort, session, probe, printed) {
  try {
    const feeds = Object.fromEntries(probe.inputs.map((input) => [input.name, tensorOf(ort, input)]));
    printed.clear();
    const outputs = await session.run(feeds);
    const text = session.outputNames.map((name) => textOf(outputs[name])).join(' ');
    session.endProfiling();
    return `ok\t\t${printed.operators()}\t${text}`;
  } catch (error) {
    leaveIfAborted(error);
    return failure('run', error, printed);
  }
}

async function runAll(folder, file, indices) {
  const printed = new Printed();
  let ort;
  try {
    ort = loadLibrary(folder);
  } catch (error) {
    say(2, `web_runner: ${error.message}\n`);
    process.exit(UNUSABLE);
  }
  const pack = new Pack(file);
  for (const index of indices) {
    say(1, `${index}\t${await run(ort, pack.probe(index), printed)}\n`);
  }
  process.exit(0);
}

// Runs these probes in a child; says how many it did and how it ended.
function runChild(indices) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--child'],
      { stdio: ['pipe', 'pipe', 'inherit'] });
    let rest = '', done = 0, timer;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill('SIGKILL'), 1000 * SECONDS_BEFORE_IT_HANGS);
    };
    watch();
    child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      done += lines.length;
      for (const line of lines) say(1, `${line}\n`);
      watch();
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ done, code, ending: signal ?? code });
    });
    child.stdin.end(indices.join('\n'));
  });
}

async function main() {
  const [folder, file, , child] = process.argv.slice(2);
  const indices = fs.readFileSync(0, 'utf8').split(/\s+/).filter(Boolean).map(Number);
  if (child) return runAll(folder, file, indices);
  for (let first = 0; first < indices.length;) {
    const { done, code, ending } = await runChild(indices.slice(first));
    if (code === UNUSABLE) process.exit(UNUSABLE);
    first += done;
    if (first < indices.length) say(1, `${indices[first++]}\tcrash:${ending}\t\t\t\n`);
  }
}

if (process.argv.length < 5) {
  say(2, 'usage: node web_runner.mjs PACKAGE PACK SCRATCH < indices > results\n');
  process.exit(2);
}
await main();
