/** Whether attempts at one operation get one answer. */
import { groupBy } from '../../histories/group-by.ts';
import type { Evidence } from '../evidence.ts';

export function repeatFaults({ calls }: Evidence): string[] {
  const acknowledged = calls.filter(
    ({ operationId, outcome }) => operationId !== undefined && outcome === 'success',
  );
  return [...groupBy(acknowledged, ({ operationId }) => operationId)].flatMap(
    ([operationId, attempts]) => {
      const answers = new Set(attempts.map(({ output }) => JSON.stringify(output ?? null)));
      const { kind, key } = attempts[0] as { readonly kind: string; readonly key: string };
      return answers.size <= 1
        ? []
        : [`${key}: ${kind} "${operationId}" was answered ${[...answers].join(' and ')}`];
    },
  );
}
