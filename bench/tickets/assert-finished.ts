/**
 * Checks that a sale has ended with all tickets sold. Otherwise the absence of faults proves
 * nothing.
 */
import type { Verdict } from '../../demo/tickets/verify/verify-sales.ts';

/**
 * Returns the verdict. @throws Error if tickets are left: a sale that sells nothing revokes nothing
 * either
 */
export function assertFinished(verdict: Verdict): Verdict {
  const { tickets, confirmed, revoked, contradicted, unanswered, lost } = verdict;
  const left = tickets - (confirmed - revoked + contradicted + unanswered + lost);
  if (tickets === 0 || left > 0)
    throw new Error(`a sale ended with ${left} of ${tickets} tickets still to be sold`);
  return verdict;
}
