/**
 * `npm run mutate -- --listed [--only TEXT] [--json]`: breaks the listed lines one by one, in a copy of this tree, and
 * expects the command that is listed with each to fail. Exit 0 iff each command passes on the whole copy and fails on
 * every broken one.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MUTANTS } from './mutants/listed.mjs';
import { broken } from './mutants/broken.mjs';
import { root, run } from './run.mjs';

const HELP = `npm run mutate -- --listed [options]

  --listed       break the lines that scripts/mutants/listed.mjs names
  --only TEXT    those alone whose name, rule or file contains this
  --json         print one JSON object
  --help         print this`;

const { values } = parseArgs({
  options: {
    listed: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help || !values.listed) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const chosen = MUTANTS.filter(({ name, rule, file }) => `${name} ${rule} ${file}`.includes(values.only));
if (chosen.length === 0) {
  console.error(`no mutant's name, rule or file contains '${values.only}'`);
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'correctables-mutants-'));
process.once('SIGINT', () => process.exit(130));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
await copyTree();

/** By command: whether it passes on the whole copy; one that does not notices nothing. */
const passes = new Map();
const rows = [];
for (const mutant of chosen) {
  const row = await noticed(mutant);
  rows.push(row);
  if (!values.json)
    console.log(`${row.isNoticed ? 'noticed' : 'MISSED '}  ${mutant.name} (${row.rule}; ${row.seconds} s)`);
  if (!values.json && row.why !== undefined) console.log(`         ${row.why}`);
}
if (values.json) console.log(JSON.stringify({ mutants: rows }));
const missed = rows.filter(({ isNoticed }) => !isNoticed).length;
if (!values.json) console.log(`${rows.length - missed} noticed, ${missed} missed`);
process.exitCode = missed === 0 ? 0 : 1;

/** What git knows of or would take, with `node_modules` by reference. */
async function copyTree() {
  const { code, output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  if (code !== 0) throw new Error(`git ls-files: ${output}`);
  for (const file of output.split('\0')) if (file !== '') cpSync(join(root, file), join(copy, file), { force: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

async function noticed({ name, rule, file, line, replacement, command }) {
  const from = performance.now();
  const path = join(copy, file);
  const whole = readFileSync(path, 'utf8');
  const told = (isNoticed, why) => {
    const seconds = Math.round((performance.now() - from) / 1000);
    return { name, rule, file, isNoticed, seconds, ...(why && { why }) };
  };
  const mutated = broken(whole, line, replacement);
  if (mutated === undefined) return told(false, `${file} has not exactly one place with: ${line}`);
  const key = command.join(' ');
  if (!passes.has(key)) passes.set(key, await succeeds(command));
  if (!passes.get(key)) return told(false, `fails without any change: ${key}`);
  writeFileSync(path, mutated);
  const isMissed = await succeeds(command);
  writeFileSync(path, whole);
  return told(!isMissed, isMissed ? `passes: ${key}` : undefined);
}

function succeeds([command, ...args]) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH: `${root}node_modules/.bin:${process.env.PATH}` };
    const child = spawn(command, args, { cwd: copy, env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
}
