/**
 * `npm run dev`: builds again after each change, and runs the unit and conformance tests that
 * depend on what has changed. Ctrl-C ends both.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './exec.mjs';

const PROJECTS = ['--project', 'unit', '--project', 'conformance'];
const programs = [
  ['tsdown', '--watch', '--log-level', 'warn'],
  ['vitest', 'watch', '--changed', ...PROJECTS, ...process.argv.slice(2)],
];

const children = programs.map(([name, ...args]) =>
  spawn(join(root, 'node_modules/.bin', name), args, { cwd: root, stdio: 'inherit' }),
);
for (const child of children) child.once('exit', end);
process.once('SIGINT', end);

/** If one of them ends, the other is of no use. */
function end() {
  for (const child of children) child.kill();
}
