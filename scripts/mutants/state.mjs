/** Of the data of one site (docs/spec/redblue.md). */
import { property } from './commands.mjs';

/** @type {(name: string, line: string, replacement: string) => import('./listed.mjs').Mutant} */
const ofOverlay = (name, line, replacement) => ({
  name,
  rule: 'redblue overlay',
  file: 'src/server/state/overlay.ts',
  line,
  replacement,
  command: property('redblue-overlay.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const STATE_MUTANTS = [
  ofOverlay('a row that comes into flight after a scan is in no later one', 'keys?.add({ value: key, key });', ''),
  ofOverlay('a row that is in flight no more is listed twice', 'keys?.delete({ value: key, key });', ''),
];
