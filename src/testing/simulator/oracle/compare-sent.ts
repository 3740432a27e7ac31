/**
 * Compares values as they arrive at another site, or as a log returns them. The author's own values
 * may differ from these.
 */
import { structurallyEqual } from '../../../correctable/structural-equality.ts';
import { copyForWire } from '../../../protocol/codec/portable-values.ts';
import type { Effect } from '../../../server/service/records/effect.ts';
import { deepFreeze } from '../../../values/deep-freeze.ts';
import type { Reply } from '../../../server/service/records/reply.ts';

/**
 * Returns whether two values are the same once they are sent: `-0` becomes `0`, and `undefined`
 * fields are dropped.
 */
export function isSameSent(a: unknown, b: unknown): boolean {
  if (structurallyEqual(a, b)) return true;
  try {
    return structurallyEqual(copyForWire(a, 'value'), copyForWire(b, 'value'));
  } catch {
    return false;
  }
}

/** Compares effects one by one, because their values may be nested to any depth. */
export function isSameSentList(some: readonly Effect[], others: readonly Effect[]): boolean {
  return (
    some.length === others.length &&
    some.every((effect, at) => isSameEffect(effect, others[at] as Effect))
  );
}

function isSameEffect(a: Effect, b: Effect): boolean {
  const isSamePlace = a.table === b.table && a.key === b.key && a.field === b.field;
  return isSamePlace && a.action === b.action && isSameSent(a.value, b.value);
}

/** Compares replies. If one is absent, the other must be too. */
export function isSameReply(a: Reply | undefined, b: Reply | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return isSameSent(a.value, b.value) && isSameSent(a.meta, b.meta);
}

/** Returns effects as all sites get them. Code that reads their values cannot change them. */
export function toSentEffects(effects: readonly Effect[]): readonly Effect[] {
  return effects.map((effect) => ({
    ...effect,
    value: deepFreeze(copyForWire(effect.value, 'value')),
  }));
}
