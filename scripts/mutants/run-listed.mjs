/** Breaks the listed lines one by one, in a copy of this tree, and expects the command that is listed with each to fail. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTree } from '../mutation/copy-tree.mjs';
import { root } from '../run.mjs';
import { broken } from './broken.mjs';
import { MUTANTS } from './listed.mjs';

/**
 * @param {{ only: string, json: boolean }} options
 * @returns {Promise<number>} 0 iff each command passes on the whole copy and fails on every broken one
 */
export async function runListed({ only, json }) {
  const chosen = MUTANTS.filter(({ name, rule, file }) => `${name} ${rule} ${file}`.includes(only));
  if (chosen.length === 0) {
    console.error(`no mutant's name, rule or file contains '${only}'`);
    return 2;
  }
  process.once('SIGINT', () => process.exit(130));
  const copy = await copyTree();
  /** By command: whether it passes on the whole copy; one that does not notices nothing. */
  const passes = new Map();
  const rows = [];
  for (const mutant of chosen) {
    const row = await noticed(mutant, copy, passes);
    rows.push(row);
    if (json) continue;
    console.log(`${row.isNoticed ? 'noticed' : 'MISSED '}  ${mutant.name} (${row.rule}; ${row.seconds} s)`);
    if (row.why !== undefined) console.log(`         ${row.why}`);
  }
  const missed = rows.filter(({ isNoticed }) => !isNoticed).length;
  console.log(json ? JSON.stringify({ mutants: rows }) : `${rows.length - missed} noticed, ${missed} missed`);
  return missed === 0 ? 0 : 1;
}

async function noticed({ name, rule, file, line, replacement, command }, copy, passes) {
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
  if (!passes.has(key)) passes.set(key, await succeeds(command, copy));
  if (!passes.get(key)) return told(false, `fails without any change: ${key}`);
  writeFileSync(path, mutated);
  const isMissed = await succeeds(command, copy);
  writeFileSync(path, whole);
  return told(!isMissed, isMissed ? `passes: ${key}` : undefined);
}

function succeeds([command, ...args], copy) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH: `${root}node_modules/.bin:${process.env.PATH}` };
    const child = spawn(command, args, { cwd: copy, env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
}
