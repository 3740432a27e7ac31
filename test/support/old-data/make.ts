/**
 * Makes a small data folder in the format of this version, for the version after it to open: what it shows is beside it.
 *
 *     npx tsx test/support/old-data/make.ts test/fixtures/data-format-N
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { named, openKept, shown, SITES, work } from './work.ts';

const [to = ''] = process.argv.slice(2);
const dataDir = join(to, 'data');
/** So many starts have more log files than are left without a checkpoint; the last ones write beside it, in few files. */
const TURNS = 6;
/** Checkpoints are made in turns of their own. */
const PAUSE_MS = 1500;

const replies: Record<string, unknown> = {};
for (let turn = 0; turn < TURNS; turn += 1) {
  const kept = openKept(dataDir);
  await work(kept, turn);
  replies[`count ${turn}`] = await named(kept, 'irl', turn + 1);
  replies[`sell ${turn}`] = await named(kept, 'frk', turn + 1, 'sell');
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  await kept.close();
}
const kept = openKept(dataDir);
const states: Record<string, unknown> = {};
for (const site of SITES) states[site] = await shown(kept, site);
await kept.close();
fs.writeFileSync(join(to, 'expected.json'), `${JSON.stringify({ states, replies }, null, 2)}\n`);
for (const site of SITES) {
  const folder = join(dataDir, 'sites', site);
  for (const name of fs.readdirSync(folder)) withoutZeros(join(folder, name));
}

/** Files are made in their full size; what was never written is left out. */
function withoutZeros(path: string): void {
  const bytes = fs.readFileSync(path);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  // A frame may end with a zero or two of its own.
  fs.writeFileSync(path, bytes.subarray(0, Math.min(bytes.length, end + 8)));
}
