/**
 * Judges a round: by its calls, and by what the ensemble held before the last items were taken and
 * after.
 */
import { callFaults, nothingDone } from '../checks/calls.ts';
import { firstFew } from '../checks/first-few.ts';
import { backInTime, registerFaults, unreadable, type Read } from '../checks/registers.ts';
import type { Call } from '../history.ts';
import { OUTSIDE, type Plan } from './fixture.ts';
import { checkQueue } from './check-queue.ts';
import type { Tree } from './tree.ts';

export interface RoundEvidence {
  readonly plan: Plan;
  readonly calls: readonly Call[];
  /** When all shops had closed. */
  readonly before: Tree;
  /** When all that was left had been taken. */
  readonly after: Tree;
}

export function checkRound({ plan, calls, before, after }: RoundEvidence): string[] {
  const byKey = new Map<string, Call[]>();
  for (const call of calls) byKey.set(call.key, [...(byKey.get(call.key) ?? []), call]);
  const faults = [...nothingDone(calls), ...firstFew(callFaults(calls))];
  for (const [key, ofKey] of byKey) {
    const name = key.slice(key.indexOf('/') + 1);
    const isRegister = ofKey.some(({ kind }) => kind === 'get' || kind === 'put');
    const found = isRegister
      ? checkKey(key, ofKey, { value: before.keys.get(name), atMs: before.atMs })
      : checkQueue({
          plan,
          key,
          name,
          calls: ofKey,
          before: before.queues.get(name),
          after: after.queues.get(name),
        });
    faults.push(...firstFew(found));
  }
  return faults;
}

/**
 * Final views are linearizable, and so is what is there in the end. No session goes back in time:
 * not behind what it has written, nor behind what it was shown at either level. Outside of sessions
 * weak views keep to that among themselves.
 */
export function checkKey(
  key: string,
  calls: readonly Call[],
  last: { readonly value: string | undefined; readonly atMs: number },
): string[] {
  const writes = calls.filter(({ kind }) => kind === 'put').map(withoutWeakView);
  const gets = calls.filter(({ kind }) => kind === 'get');
  const readsAt = (requested: string): Read[] =>
    gets.flatMap(({ session, beginMs, views = [] }) =>
      views
        .filter(({ level }) => level === requested)
        .map(({ value, atMs }) => ({
          session,
          value: value as string | undefined,
          beginMs,
          endMs: atMs,
        })),
    );
  const [weak, strong] = [readsAt('weak'), readsAt('strong')];
  const acknowledged = writes.flatMap(({ session, input, beginMs, endMs, outcome }): Read[] =>
    outcome === 'success' && endMs !== undefined
      ? [{ session, value: input as string, beginMs, endMs }]
      : [],
  );
  const seen = [...acknowledged, ...strong].filter(({ session }) => !session.endsWith(OUTSIDE));
  const inTheEnd: Read = {
    session: 'the reader',
    value: last.value,
    beginMs: last.atMs,
    endMs: last.atMs,
  };
  return [
    ...registerFaults(key, writes, [...strong, inTheEnd]),
    ...unreadable(key, writes, weak),
    ...backInTime(key, writes, [...seen, ...weak]),
  ];
}

/** Removes the weak view of a write, which only shows that it was sent. */
function withoutWeakView(call: Call): Call {
  const isSent = call.outcome === 'success' && call.views?.at(-1)?.level === 'weak';
  return isSent ? { ...call, outcome: 'UNKNOWN' } : call;
}
