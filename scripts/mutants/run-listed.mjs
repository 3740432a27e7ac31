/** Breaks the listed lines one by one, in a copy of this tree, and expects the command that is listed with each to fail. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTree } from '../mutation/copy-tree.mjs';
import { root } from '../run.mjs';
import { broken } from './broken.mjs';
import { MUTANTS } from './listed.mjs';
import { asWarm, WarmVitest } from './warm-vitest.mjs';

/**
 * @param {{ only: string, jobs: number, json: boolean }} options `jobs`: so many copies, each asked about mutants of its own
 * @returns {Promise<number>} 0 iff each command passes on the whole copy and fails on every broken one
 */
export async function runListed({ only, jobs, json }) {
  const chosen = MUTANTS.filter(({ name, rule, file }) => `${name} ${rule} ${file}`.includes(only));
  if (chosen.length === 0) {
    console.error(`no mutant's name, rule or file contains '${only}'`);
    return 2;
  }
  process.once('SIGINT', () => process.exit(130));
  const byCommand = new Map();
  for (const mutant of chosen) {
    const key = mutant.command.join(' ');
    byCommand.set(key, [...(byCommand.get(key) ?? []), mutant]);
  }
  const left = [...byCommand.values()];
  const rows = [];
  const work = async () => {
    const copy = await copyTree();
    const vitest = new WarmVitest(copy);
    for (let mutants; (mutants = left.shift()) !== undefined;) {
      const told = await noticed(mutants, copy, vitest);
      rows.push(...told);
      if (!json) print(told);
    }
    vitest.close();
  };
  await Promise.all(Array.from({ length: Math.min(jobs, left.length) }, work));
  const missed = rows.filter(({ isNoticed }) => !isNoticed).length;
  console.log(json ? JSON.stringify({ mutants: rows }) : `${rows.length - missed} noticed, ${missed} missed`);
  return missed === 0 ? 0 : 1;
}

function print(rows) {
  for (const { isNoticed, name, rule, seconds, why } of rows) {
    console.log(`${isNoticed ? 'noticed' : 'MISSED '}  ${name} (${rule}; ${seconds} s)`);
    if (why !== undefined) console.log(`         ${why}`);
  }
}

/** Of mutants of one command. It is asked about the whole copy last: if it fails there too, it has noticed none of them. */
async function noticed(mutants, copy, vitest) {
  const { command } = mutants[0];
  const warm = asWarm(command);
  const succeeds = () => (warm === undefined ? exitsWell(command, copy) : vitest.passes(warm));
  const rows = [];
  for (const { name, rule, file, line, replacement } of mutants) {
    const from = performance.now();
    const path = join(copy, file);
    const whole = readFileSync(path, 'utf8');
    const mutated = broken(whole, line, replacement);
    const write = (text) => {
      writeFileSync(path, text);
      vitest.changed(file);
    };
    let why = `${file} has not exactly one place with: ${line}`;
    if (mutated !== undefined) {
      write(mutated);
      why = (await succeeds()) ? `passes: ${command.join(' ')}` : undefined;
      write(whole);
    }
    const seconds = Math.round((performance.now() - from) / 1000);
    rows.push({ name, rule, file, isNoticed: why === undefined, seconds, ...(why && { why }) });
  }
  if (await succeeds()) return rows;
  return rows.map((row) => ({ ...row, isNoticed: false, why: `fails without any change: ${command.join(' ')}` }));
}

function exitsWell([command, ...args], copy) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH: `${root}node_modules/.bin:${process.env.PATH}` };
    const child = spawn(command, args, { cwd: copy, env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
}
