// Loads a published folder in transformers.js, as an app would, in each dtype, and prints the predictions.
//
// usage: node check.mjs FOLDER DTYPE…      exit 0: the predictions of every variant equal those of fp32
import path from 'node:path';
import { env, pipeline } from '@huggingface/transformers';

const [folder, ...dtypes] = process.argv.slice(2);
const sentences = [
  ['the food was excellent and the staff were kind', 'PRAISE'],
  ['a terrible film , the plot is dull', 'COMPLAINT'],
  ['i love this phone !', 'PRAISE'],
  ['avoid this place , the service was slow', 'COMPLAINT'],
];

env.allowRemoteModels = false; // only the folder
env.localModelPath = path.dirname(path.resolve(folder));

let failures = 0;
const scores = {};
for (const dtype of dtypes) {
  // 'default': the app passes no dtype.
  const options = dtype === 'default' ? {} : { dtype };
  const classify = await pipeline('text-classification', path.basename(folder), { ...options, device: 'cpu' });
  scores[dtype] = [];
  for (const [sentence, label] of sentences) {
    const [answer] = await classify(sentence);
    scores[dtype].push(answer.score);
    if (answer.label !== label) {
      console.log(`${dtype}: '${sentence}' is ${answer.label}, and should be ${label}`);
      ++failures;
    }
  }
  const off = Math.max(...scores[dtype].map((score, i) => Math.abs(score - scores[dtypes[0]][i])));
  if (!(off < 0.05)) ++failures;
  console.log(`${dtype}: ${sentences.length} sentences, scores at most ${off.toFixed(5)} from those of ${dtypes[0]}`);
  await classify.dispose();
}
process.exit(failures === 0 ? 0 : 1);
