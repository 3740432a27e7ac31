/** Runs one state of a table with all its happenings at once; where something is wrong, each alone, to say which it was. */
import { Guard, within } from './guard.ts';

/** Runs one case, and returns what was wrong. */
export type Case<H> = (happening: H) => Promise<string[]>;

/** Beyond this a case hangs. */
const CASE_MS = 15_000;
const LEFT_MS = 5_000;
/** So many happenings of a state are named singly, at most. */
const NAMED_MAX = 3;

async function runTogether<H>(happenings: readonly H[], run: Case<H>): Promise<string[]> {
  using guard = new Guard();
  const hung = ['did not come to an end'];
  const wrong = await Promise.all(happenings.map((happening) => within(run(happening), CASE_MS, hung)));
  const left = await guard.settled(LEFT_MS);
  return [
    ...wrong.flat(),
    ...guard.fatal.map((error) => `would have ended the process: ${error}`),
    ...left.map((what) => `left behind: ${what}`),
  ];
}

/** What is wrong in a state, with the names of the happenings that show it. */
export async function problemsOf<H>(happenings: Readonly<Record<string, H>>, run: Case<H>): Promise<string[]> {
  const together = await runTogether(Object.values(happenings), run);
  if (together.length === 0) return [];
  const named: string[] = [];
  for (const [name, happening] of Object.entries(happenings)) {
    const alone = await runTogether([happening], run);
    if (alone.length > 0) named.push(`${name} → ${alone.join('; ')}`);
    if (named.length >= NAMED_MAX) break;
  }
  return named.length > 0 ? named : together.map((what) => `one of all: ${what}`);
}
