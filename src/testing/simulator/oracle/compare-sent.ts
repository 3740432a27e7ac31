/**
 * Values as they come out at another site, or of a log: what their author made
 * of them may say more.
 */
import { structurallyEqual } from '../../../correctable/structural-equality.ts';
import { copyForWire } from '../../../protocol/codec/portable-values.ts';
import type { Effect } from '../../../server/records/effect.ts';
import { deepFreeze } from '../../../values/deep-freeze.ts';
import type { Reply } from '../../../server/records/reply.ts';

/**
 * Whether two values are the same once they are sent: of `-0` is `0` left then,
 * of what is undefined nothing.
 */
export function isSameSent(a: unknown, b: unknown): boolean {
  if (structurallyEqual(a, b)) return true;
  try {
    return structurallyEqual(copyForWire(a, 'value'), copyForWire(b, 'value'));
  } catch {
    return false;
  }
}

/** The same of effects, one by one: their values may be as deep as any. */
export function isSameSentList(
  some: readonly Effect[],
  others: readonly Effect[],
): boolean {
  return (
    some.length === others.length &&
    some.every((effect, at) => isSameEffect(effect, others[at] as Effect))
  );
}

function isSameEffect(a: Effect, b: Effect): boolean {
  const isSamePlace =
    a.table === b.table && a.key === b.key && a.field === b.field;
  return isSamePlace && a.action === b.action && isSameSent(a.value, b.value);
}

/** Of replies; where there is none, there is no other either. */
export function isSameReply(
  a: Reply | undefined,
  b: Reply | undefined,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  return isSameSent(a.value, b.value) && isSameSent(a.meta, b.meta);
}

/**
 * Effects as all sites get them: code that reads their values cannot change
 * them.
 */
export function toSentEffects(effects: readonly Effect[]): readonly Effect[] {
  return effects.map((effect) => ({
    ...effect,
    value: deepFreeze(copyForWire(effect.value, 'value')),
  }));
}
