/** Of what is remembered of operations by identifier (docs/spec/exactly-once.md). */
import { property } from './commands.mjs';

/** @type {(name: string, line: string, replacement: string) => import('./listed.mjs').Mutant} */
const ofTable = (name, line, replacement) => ({
  name,
  rule: 'exactly-once 7',
  file: 'src/server/replica/once/id-table.ts',
  line,
  replacement,
  command: property('id-table-model.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const ONCE_MUTANTS = [
  ofTable(
    'what a principal has acknowledged counts against it for ever',
    'if (entry.principal !== undefined) entry.principal.bytes += bytes;',
    'if (entry.principal !== undefined) entry.principal.bytes += Math.max(0, bytes);',
  ),
  ofTable(
    'who acknowledges has not been heard of',
    'entry.watermark = upTo;\n    entry.isRecent = true;',
    'entry.watermark = upTo;',
  ),
];
