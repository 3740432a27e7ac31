/** Writes the table of folders into docs/ARCHITECTURE.md: `node scripts/folders.mjs --write`. A test holds them equal. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import rules from './folder-rules.cjs';
import { root } from './run.mjs';

const page = join(root, 'docs/ARCHITECTURE.md');
const [BEGIN, END] = ['<!-- folders: scripts/folders.json -->', '<!-- end of folders -->'];

const text = readFileSync(page, 'utf8');
const [before, rest = ''] = text.split(BEGIN);
const [, after] = rest.split(END);
if (after === undefined) throw new Error(`docs/ARCHITECTURE.md lacks ${BEGIN} … ${END}`);
const wanted = `${before}${BEGIN}\n\n${rules.tableOf()}\n\n${END}${after}`;
if (process.argv.includes('--write')) writeFileSync(page, wanted);
else if (wanted !== text) {
  console.error('The table of folders in docs/ARCHITECTURE.md is old: node scripts/folders.mjs --write');
  process.exit(1);
}
