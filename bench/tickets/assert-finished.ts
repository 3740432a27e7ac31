/** Only of a sale that went on until all was sold can it be said that nothing went wrong. */
import type { Verdict } from '../../demo/tickets/verify/verify-sales.ts';

/** The same. @throws Error where tickets were left that nobody was told of: who sells nothing revokes nothing either */
export function assertFinished(verdict: Verdict): Verdict {
  const { tickets, confirmed, revoked, contradicted, unanswered, lost } = verdict;
  const left = tickets - (confirmed - revoked + contradicted + unanswered + lost);
  if (tickets === 0 || left > 0) throw new Error(`a sale ended with ${left} of ${tickets} tickets still to be sold`);
  return verdict;
}
