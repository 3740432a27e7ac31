/**
 * `npm run faults:cache [-- --runs 1000] [--seed 1] [--only TEXT]`: puts the listed faults of the cache back one by one, in a
 * copy of this tree, and counts in how many schedules of the model what is shown may not be. Exit 0 iff none is wrong without a
 * fault, and some with each.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { broken } from './mutants/broken.mjs';
import { CACHE_MUTANTS } from './mutants/cache.mjs';
import { root, run } from './run.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});

const copy = mkdtempSync(join(tmpdir(), 'correctables-faults-'));
process.once('SIGINT', () => process.exit(130));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
const { output } = await run('git', [
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '-z',
  'src',
  'test/support',
]);
for (const file of ['package.json', 'tsconfig.json', ...output.split('\0')])
  if (file !== '') cpSync(join(root, file), join(copy, file), { force: true });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const { wrong, examples } = await count();
console.log(`${values.runs} schedules, seed ${values.seed}: ${wrong} are wrong without a fault`);
if (wrong > 0) console.log(examples);
let missed = wrong === 0 ? 0 : 1;
for (const { name, file, line, replacement } of CACHE_MUTANTS.filter((each) => each.name.includes(values.only))) {
  const path = join(copy, file);
  const whole = readFileSync(path, 'utf8');
  const mutated = broken(whole, line, replacement);
  if (mutated === undefined) {
    console.log(`   gone  ${name}: ${file} has not exactly one place with: ${line}`);
    missed += 1;
    continue;
  }
  writeFileSync(path, mutated);
  const found = await count();
  writeFileSync(path, whole);
  if (found.wrong === 0) missed += 1;
  console.log(`${String(found.wrong).padStart(7)}  ${name} ${JSON.stringify(found.broken)}`);
}
process.exitCode = missed === 0 ? 0 : 1;

async function count() {
  const script = join(copy, 'test/support/cache-model/count.ts');
  const args = ['--import', 'tsx', script, values.runs, values.seed];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: copy, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}
