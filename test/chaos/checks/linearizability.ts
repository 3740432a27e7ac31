/**
 * Whether one object can have behaved like this (Wing and Gong, "Testing and verifying concurrent
 * objects", 1993, with Lowe's memory of what was tried). It knows nothing of how the history came
 * about.
 */

/**
 * One operation. `endMs` is `Infinity` if its outcome is unknown: it took effect at some later
 * time, or never.
 */
export interface Operation<State> {
  readonly beginMs: number;
  readonly endMs: number;
  /** The state afterwards; undefined if the operation cannot have returned what it did. */
  readonly step: (state: State) => State | undefined;
  readonly name: string;
}

export type Verdict =
  | { readonly kind: 'linearizable' }
  /** The search gave up. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'impossible'; readonly reason: string };

const STEPS_MAX = 2_000_000;

/** @param initial a text or null, so that states compare by `===` and are written as they are */
export function checkLinearizability<State extends string | null>(
  operations: readonly Operation<State>[],
  initial: State,
): Verdict {
  const byBegin = [...operations].sort((a, b) => a.beginMs - b.beginMs);
  const tried = new Set<string>();
  /** What was put in order, with the state before. */
  const order: { readonly at: number; readonly before: State; next: number }[] = [];
  const done = new Set<number>();
  let state = initial;
  let first = 0;
  let next = 0;
  let steps = 0;
  let furthest = 0;
  const required = byBegin.filter(({ endMs }) => endMs !== Infinity).length;
  let requiredDone = 0;
  const isRequired = (at: number): boolean => byBegin[at]?.endMs !== Infinity;
  const advance = (): void => {
    while (first < byBegin.length && done.has(first)) first += 1;
  };
  while (requiredDone < required) {
    if ((steps += 1) > STEPS_MAX) return { kind: 'unknown' };
    // Whatever begins after another one has ended comes after it.
    const endMs = firstEnd(byBegin, first, done);
    let chosen: { readonly at: number; readonly after: State } | undefined;
    for (
      ;
      next < byBegin.length && (byBegin[next] as Operation<State>).beginMs <= endMs;
      next += 1
    ) {
      if (done.has(next)) continue;
      const after = (byBegin[next] as Operation<State>).step(state);
      if (after === undefined) continue;
      done.add(next);
      const key = `${keyOf(done, first)} ${String(after)}`;
      if (!tried.has(key)) {
        tried.add(key);
        chosen = { at: next, after };
        break;
      }
      done.delete(next);
    }
    if (chosen !== undefined) {
      order.push({ at: chosen.at, before: state, next: next + 1 });
      state = chosen.after;
      if (isRequired(chosen.at)) requiredDone += 1;
      furthest = Math.max(furthest, requiredDone);
      advance();
      next = first;
      continue;
    }
    const last = order.pop();
    if (last === undefined) {
      return {
        kind: 'impossible',
        reason: `no order of ${required} operations explains more than ${furthest} of them`,
      };
    }
    done.delete(last.at);
    if (isRequired(last.at)) requiredDone -= 1;
    first = Math.min(first, last.at);
    state = last.before;
    next = last.next;
  }
  return { kind: 'linearizable' };
}

function firstEnd<State>(
  byBegin: readonly Operation<State>[],
  from: number,
  done: ReadonlySet<number>,
): number {
  let endMs = Infinity;
  for (let at = from; at < byBegin.length; at += 1) {
    const operation = byBegin[at] as Operation<State>;
    if (operation.beginMs > endMs) break;
    if (!done.has(at)) endMs = Math.min(endMs, operation.endMs);
  }
  return endMs;
}

/** What was done: all before `first`, and these. */
function keyOf(done: ReadonlySet<number>, first: number): string {
  let end = first;
  while (done.has(end)) end += 1;
  const later = [...done].filter((at) => at > end).sort((a, b) => a - b);
  return `${end}:${later.join()}`;
}
