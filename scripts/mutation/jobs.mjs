/** Judges side by side: tests wait more than they work, so that a second one costs less than half of the time. */
import { judge } from './judge.mjs';

/**
 * @param {number} jobs how many
 * @param {Parameters<typeof judge>[0] & { keepFor?: (ids: readonly number[]) => import('./kept.mjs').Keep }} given as for
 * one judge of all `ids`; `keepFor` says what is known of a share of them, and takes what becomes known
 * @returns {ReturnType<typeof judge>} what all of them say together
 */
export async function judgeSideBySide(jobs, { ids, keepFor, onProgress, ...given }) {
  // Each has every so manieth: neighbours are asked by the same tests, and take as long.
  const shares = Array.from({ length: Math.min(jobs, ids.length) }, (_, job) =>
    ids.filter((_, at) => at % jobs === job),
  );
  const progress = [];
  const judged = await Promise.all(
    shares.map((own, job) => {
      const keep = keepFor?.(own);
      return judge({
        ...given,
        ids: own,
        name: String(job + 1),
        known: keep?.known(),
        onEntry: keep?.note,
        onProgress: (at) => {
          progress[job] = at;
          onProgress(together(progress.filter(Boolean), at.file));
        },
      });
    }),
  );
  const all = (name) => judged.map((each) => each[name]);
  return {
    noticed: new Map(all('noticed').flatMap((each) => [...each])),
    met: new Set(all('met').flatMap((each) => [...each])),
    failing: new Map(all('failing').flatMap((each) => [...each])),
    undecided: new Set(all('undecided').flatMap((each) => [...each])),
    notAsked: Math.max(...all('notAsked')),
  };
}

function together(progress, file) {
  const sum = (name) => progress.reduce((total, each) => total + each[name], 0);
  const filesLeft = Math.max(...progress.map((each) => each.filesLeft));
  return { file, filesLeft, noticed: sum('noticed'), missed: sum('missed') };
}
