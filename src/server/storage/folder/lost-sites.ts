/** Sites that do not go with the others as they lie in a folder: they have lost what the others rely on. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { lostPast, type Deployed, type Holding } from './lost-past.ts';
import { RESTORE_ADVICE } from '../recovery.ts';

/**
 * @param known what the sites held when the folder was looked at before: beside a running server the others get on
 * between two looks
 * @throws CorrectableError `UNAVAILABLE` that says what a site has lost, and what to do.
 */
export function refuseLostPasts(
  holdings: readonly Holding[],
  deployed: Deployed,
  known: readonly Holding[] = holdings,
): void {
  for (const [site, own] of holdings.entries()) {
    const problem = lostPast(own, known, { ...deployed, site });
    if (problem !== undefined) throw unusable(problem);
  }
}

/** The sites of a folder cannot be started together. */
export function unusable(problem: string): CorrectableError {
  const message = `The data cannot be used: ${problem}. Nothing was changed. ${RESTORE_ADVICE}.`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'dataDir' });
}
