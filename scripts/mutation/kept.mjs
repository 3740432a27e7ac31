/**
 * What the compiler and the test files say of mutants, kept in a file of lines, each as soon as it is said: who goes on after
 * an interruption or with another test does not ask again. It counts as long as nothing that the file asked about, or the
 * test file, loads has changed.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** @typedef {{ known: () => object[], note: (entry: object) => void }} Keep what is known of some mutants, and becomes known */

/**
 * @param {string} path of the file; it need not be there
 * @param {object} about
 * @param {readonly import('./generate.mjs').Mutant[]} about.mutants all of this run
 * @param {number} about.askAtMost test files about one of them
 * @param {Map<string, string>} about.states of the test files, each with all that it loads
 * @returns {(ids: readonly number[]) => Keep}
 */
export function keptIn(path, { mutants, askAtMost, states }) {
  // By their places: as long as an answer counts, the text around them is the same.
  const nameOf = new Map(mutants.map(({ id, file, start, end, to }) => [id, digest([file, start, end, to])]));
  const idOf = new Map([...nameOf].map(([id, name]) => [name, id]));
  const kept = linesOf(path).filter(({ file, state }) => file !== undefined && state === states.get(file));

  return (ids) => {
    const own = new Set(ids);
    // That a file has been asked is said of these mutants, each of them asked about so often.
    const share = digest([askAtMost, ...ids.map((id) => nameOf.get(id))]);
    return {
      known: () =>
        kept.flatMap(({ state: _state, ...entry }) => {
          const { done, met } = entry;
          if (done !== undefined) return done === share ? [{ ...entry, done: true }] : [];
          if (met !== undefined) return [{ ...entry, met: met.flatMap((name) => idOf.get(name) ?? []) }];
          const what = 'noticed' in entry ? 'noticed' : 'missed';
          const id = idOf.get(entry[what]);
          return own.has(id) ? [{ ...entry, [what]: id }] : [];
        }),
      note: (entry) => {
        const { pid: _pid, ...said } = entry;
        const { file, met, noticed, missed, done, failing } = said;
        const named =
          (noticed && { noticed: nameOf.get(noticed) }) ??
          (missed && { missed: nameOf.get(missed) }) ??
          (met && { met: met.map((id) => nameOf.get(id)) }) ??
          // What could not be asked this time may be asked the next.
          (done && failing === undefined && { done: share });
        if (named) appendFileSync(path, `${JSON.stringify({ ...said, ...named, state: states.get(file) })}\n`);
      },
    };
  };
}

/**
 * @param {string} path as above
 * @param {Map<string, string>} states of the source files, each with all that it loads
 * @returns {import('./checked.mjs').Verdicts} of the compiler
 */
export function verdictsIn(path, states) {
  const nameOf = ({ file, start, end, to }) => digest([states.get(file), start, end, to]);
  const known = new Map();
  for (const { good = [], bad = [] } of linesOf(path)) {
    for (const name of good) known.set(name, true);
    for (const name of bad) known.set(name, false);
  }
  return {
    of: (mutant) => known.get(nameOf(mutant)),
    note: (good, bad) => appendFileSync(path, `${JSON.stringify({ good: good.map(nameOf), bad: bad.map(nameOf) })}\n`),
  };
}

/** What stands in the file, without what was being written when the power went. */
function linesOf(path) {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  if (!text.endsWith('\n')) appendFileSync(path, '\n');
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

const digest = (parts) => createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12);
