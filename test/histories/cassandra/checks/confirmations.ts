/**
 * A view that confirms is the same as the one before it, and no view is weaker than the one before
 * it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Call } from '../../history.ts';

const RANKS: Readonly<Record<string, number>> = { weak: 0, strong: 1 };

/** What the recorder keeps of a view beside its value. */
export interface ViewMeta {
  readonly confirms: boolean;
}

export function confirmationFaults(calls: readonly Call[]): string[] {
  return calls.flatMap(({ session, key, views = [] }) =>
    views.flatMap(({ level, value, meta, atMs }, at) => {
      const before = views[at - 1];
      const where = `${key}: ${session} at ${atMs.toFixed(1)} ms`;
      if (before === undefined) return [];
      if ((RANKS[level] ?? 0) <= (RANKS[before.level] ?? 0))
        return [`${where}: ${level} after ${before.level}`];
      const { confirms } = meta as ViewMeta;
      if (confirms === isDeepStrictEqual(value, before.value)) return [];
      return [
        `${where}: ${confirms ? 'confirms' : 'does not confirm'} ${JSON.stringify(before.value)} by ${JSON.stringify(value)}`,
      ];
    }),
  );
}
