/**
 * Whether the outcomes of the calls of one queue are possible for a queue. Items are strings, each
 * added once.
 */
import type { Call } from '../history.ts';
import { getReportedOutcome } from '../reported-outcomes.ts';
import { QueueCalls, type Put } from './queue-calls.ts';

/** One queue, up to when all that was left has been taken, with nothing else in flight. */
export interface QueueEvidence {
  readonly name: string;
  /** Of the kinds `enqueue`, `dequeue` and `delete queue`, in the order in which they were made. */
  readonly calls: readonly Call[];
  /**
   * First in, first out, and nothing is put back: not where consumers die or close with items in
   * hand.
   */
  readonly isOrdered: boolean;
  /**
   * Sessions whose items are put back in the end: they may come again, and none of them may be
   * missing. Default: none.
   */
  readonly comesBack?: (session: string) => boolean;
}

export function queueFaults({
  name,
  calls,
  isOrdered,
  comesBack = () => false,
}: QueueEvidence): string[] {
  const queue = new QueueCalls(calls, comesBack);
  const faults = [
    ...handedOutTwice(queue, comesBack),
    ...neverThere(queue),
    ...ghosts(queue),
    ...lost(queue),
  ];
  faults.push(...misnumbered(queue));
  if (isOrdered) faults.push(...disordered(queue), ...falseEmpties(queue));
  return faults.map((fault) => `${name}: ${fault}`);
}

function handedOutTwice({ takes }: QueueCalls, comesBack: (session: string) => boolean): string[] {
  const last = new Map<string, Call>();
  return takes.flatMap(({ item, call }) => {
    const before = last.get(item);
    last.set(item, call);
    if (before === undefined || comesBack(before.session)) return [];
    return [`"${item}" was handed out twice: to ${at(before)} and to ${at(call)}`];
  });
}

/** Items that no enqueue had added when they came out, or whose enqueue failed as not made. */
function neverThere({ takes, enqueues }: QueueCalls): string[] {
  return takes.flatMap(({ item, call }) => {
    const put = enqueues.get(item);
    const taken = `"${item}" was handed to ${at(call)}`;
    if (put === undefined) return [`${taken}, and no enqueue added it`];
    if (put.beginMs > call.endMs) return [`${taken}, before it was put in`];
    return getReportedOutcome(put) === 'not made'
      ? [`${taken}, though its enqueue failed as not made (${put.outcome})`]
      : [];
  });
}

/** Items of a queue that was deleted before the dequeue that got them. */
function ghosts({ takes, enqueues, deletions }: QueueCalls): string[] {
  return takes.flatMap(({ item, call }) => {
    const putMs = enqueues.get(item)?.endMs ?? Infinity;
    const isGone = deletions.some(
      ({ beginMs, endMs = Infinity }) => putMs < beginMs && endMs < call.beginMs,
    );
    return isGone
      ? [`"${item}" was handed to ${at(call)}, after the queue that had it was deleted`]
      : [];
  });
}

/**
 * Acknowledged items that no dequeue got, if they are more than the dequeues of unknown outcome may
 * have taken.
 */
function lost(queue: QueueCalls): string[] {
  const { puts, takenBy, unseen } = queue;
  const missing = puts.filter(
    ({ item, call }) => !takenBy.has(item) && !queue.mayBeDeleted(call.beginMs, Number.MAX_VALUE),
  );
  if (missing.length <= unseen) return [];
  const excuse = unseen === 0 ? '' : ` (${missing.length} are, and ${unseen} may have gone unseen)`;
  return missing.map(
    ({ item, call }) => `"${item}" is lost: put in by ${at(call)}, handed to no session${excuse}`,
  );
}

/** Numbers of enqueues: no number twice, and those of one session in its order. */
function misnumbered(queue: QueueCalls): string[] {
  const faults: string[] = [];
  const known = new Map<number, Put>();
  const lastOf = new Map<string, Put>();
  for (const put of queue.puts) {
    const { item, call } = put;
    const number = numberOf(put);
    if (number === undefined) continue;
    const same = known.get(number);
    const last = lastOf.get(call.session);
    // It was handed in before.
    const isSameQueue = ({ call: other }: Put): boolean =>
      !queue.mayBeAnother(other.beginMs, Math.max(other.endMs, call.endMs));
    if (same !== undefined && isSameQueue(same)) {
      faults.push(
        `"${same.item}" and "${item}" both got number ${number}, the second one by ${at(call)}`,
      );
    } else if (last !== undefined && isSameQueue(last) && (numberOf(last) ?? 0) > number) {
      faults.push(
        `"${item}" got number ${number}, "${last.item}" before it ${numberOf(last)}: ${at(call)}`,
      );
    }
    known.set(number, put);
    lastOf.set(call.session, put);
  }
  return faults;
}

function numberOf({ call }: Put): number | undefined {
  const meta = call.views?.at(-1)?.meta as { readonly number?: number } | undefined;
  return meta?.number;
}

/** A fault that a dequeue of unknown outcome excuses, if it had begun by then. */
interface Excusable {
  readonly fault: string;
  readonly atMs: number;
}

function unexcused(queue: QueueCalls, found: ReadonlyMap<string, Excusable>): string[] {
  const all = [...found.values()];
  return queue.excuses(all.map(({ atMs }) => atMs)) ? [] : all.map(({ fault }) => fault);
}

/**
 * Of two enqueues one after the other, or one behind the other in one session: the second item came
 * out first.
 */
function disordered(queue: QueueCalls): string[] {
  const late = new Map<string, Excusable>();
  const moves = queue.puts.flatMap((put) => {
    const taken = queue.takenBy.get(put.item);
    return taken === undefined ? [] : [{ ...put, taken }];
  });
  for (const first of moves) {
    for (const second of moves) {
      const isBefore =
        first.call.endMs < second.call.beginMs ||
        (first.call.session === second.call.session && first.order < second.order);
      if (!isBefore || second.taken.endMs >= first.taken.beginMs) continue;
      if (queue.mayBeAnother(first.call.beginMs, first.taken.endMs)) continue;
      const fault = `"${second.item}" came out before "${first.item}": ${at(second.taken)}`;
      late.set(first.item, { fault, atMs: second.taken.endMs });
      break;
    }
  }
  return unexcused(queue, late);
}

/** Items that were there all the time while a dequeue got nothing. */
function falseEmpties(queue: QueueCalls): string[] {
  const missed = new Map<string, Excusable>();
  for (const empty of queue.empties) {
    for (const { item, call } of queue.puts) {
      const taken = queue.takenBy.get(item);
      const wasThere =
        call.endMs < empty.beginMs && taken !== undefined && taken.beginMs > empty.endMs;
      if (!wasThere || queue.mayBeDeleted(call.beginMs, empty.endMs)) continue;
      if ((missed.get(item)?.atMs ?? Infinity) < empty.endMs) continue;
      missed.set(item, {
        fault: `${at(empty)} got nothing, and "${item}" was left`,
        atMs: empty.endMs,
      });
    }
  }
  return unexcused(queue, missed);
}

function at({ session, endMs = NaN }: Call): string {
  return `${session} at ${Math.round(endMs)} ms`;
}
