import { join } from 'node:path';
import { compiler } from './compiler.mjs';
import { shuffled } from './choose.mjs';
import { generate } from './generate.mjs';

/**
 * What the compiler has said before; is told what it says now.
 *
 * @typedef {object} Verdicts
 * @property {(mutant: object) => boolean | undefined} of
 * @property {(good: readonly object[], bad: readonly object[]) => void} note
 */

/** @type {Verdicts} */
const NONE = { of: () => undefined, note: () => {} };

/**
 * @param {string} root
 * @param {readonly string[]} files relative to it
 * @param {{ sample?: number, seed: number, signal: AbortSignal, verdicts?: Verdicts,
 *   onProgress: (done: number, total: number) => void }} options
 * @returns {Promise<import('./generate.mjs').Mutant[]>} those that compile: all of them, or as many as the sample says
 */
export async function checkedMutants(root, files, { sample, seed, signal, verdicts = NONE, onProgress }) {
  const checks = compiler(root, files);
  const all = generatedBy(checks, root, files);
  const chosen = [];
  const wanted = Math.min(sample ?? all.length, all.length);
  let left = sample === undefined ? all : shuffled(all, seed);
  // A sample is checked until it has as many as it wants; about two of three compile.
  while (left.length > 0 && chosen.length < wanted) {
    const part = left.slice(0, Math.ceil((wanted - chosen.length) * 1.6));
    left = left.slice(part.length);
    const open = part.filter((mutant) => verdicts.of(mutant) === undefined);
    const good = await checks.accepted(open, {
      signal,
      onProgress: (done) => onProgress(done + all.length - left.length - open.length, all.length),
    });
    if (signal.aborted) break;
    const accepted = new Set(good);
    if (open.length > 0)
      verdicts.note(
        good,
        open.filter((mutant) => !accepted.has(mutant)),
      );
    chosen.push(...part.filter((mutant) => verdicts.of(mutant) ?? accepted.has(mutant)));
  }
  const byPlace = (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start);
  return chosen
    .slice(0, wanted)
    .toSorted(byPlace)
    .map((mutant, index) => ({ ...mutant, id: index + 1 }));
}

/** @returns {Omit<import('./generate.mjs').Mutant, 'id'>[]} all, whether they compile or not */
export const allMutants = (root, files) => generatedBy(compiler(root, files), root, files);

function generatedBy(checks, root, files) {
  const program = checks.program();
  const checker = program.getTypeChecker();
  return files.flatMap((file) => generate(program.getSourceFile(join(root, file)), checker, file));
}
