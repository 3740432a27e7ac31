/** Of the data of one site (docs/spec/redblue.md). */
import { mutantsOf, property } from './commands.mjs';

const ofOverlay = mutantsOf({
  rule: 'redblue overlay',
  file: 'src/server/state/overlay.ts',
  command: property('redblue-overlay.test.ts'),
});

const ofSorted = mutantsOf({
  rule: 'redblue',
  file: 'src/server/state/sorted-entries.ts',
  command: property('redblue-scans.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const STATE_MUTANTS = [
  ofOverlay('a row that comes into flight after a scan is in no later one', 'keys?.add({ value: key, key });', ''),
  ofOverlay('a row that is in flight no more is listed twice', 'keys?.delete({ value: key, key });', ''),
  ofSorted(
    'a chunk that was emptied stays between others',
    'if (chunk.length === 0) this.#chunks.splice(index, 1);',
    'if (chunk.length === 0 && this.#chunks.length === 1) this.#chunks.splice(index, 1);',
  ),
  ofSorted(
    'a scan backwards begins at the end of its chunk',
    '(index === pastChunk ? firstIndex(chunk, isPast) : chunk.length)',
    '(index === pastChunk && index === 0 ? firstIndex(chunk, isPast) : chunk.length)',
  ),
];
