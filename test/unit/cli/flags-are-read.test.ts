/**
 * The compiler does not see a flag that no code reads: it would be accepted, and would change
 * nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';

const folder = new URL('../../../src/cli/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const sources = files.map((file) => readFileSync(new URL(file, folder), 'utf8'));
/** The code without the lists of flags. */
const code = sources.join('\n').replaceAll(/^.*\btyped: .*$/gm, '');

/** Returns the name by which code reads a flag: `redLeader` for `--red-leader <site>`. */
function toOptionName(typed: string): string {
  const [, name = ''] = /^--([a-z-]+)/.exec(typed) ?? [];
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

test.each(COMMANDS)('$name reads each of its flags', ({ flags }) => {
  const names = flags.map(({ typed }) => toOptionName(typed));
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});
