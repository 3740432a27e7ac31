/**
 * What must work while there is no fault: sessions do not fail with REPLICA_BEHIND, early views
 * come, and every key is read after all was healed. A few exceptions are allowed, since a machine
 * may be busy.
 */
import type { Call } from '../../history.ts';
import { getInput, NEMESIS } from '../inputs.ts';
import type { Promised } from './key-guarantees.ts';

/** Servers and connections come back to themselves within it. */
export const SETTLED_MS = 4_000;
const SESSION_BEHIND_SHARE_MAX = 0.02;
const SESSION_BEHIND_MIN = 3;
/** Fewer reads say nothing. */
const READS_MIN = 20;
const EARLY_SHARE_MIN = 0.5;
/**
 * A coordinator that gives no early view of a kind of read is asked so often until that is known.
 */
const LEARNING = 10;

export function calmFaults(
  calls: readonly Call[],
  { hasEarlyViews }: Pick<Promised, 'hasEarlyViews'>,
): string[] {
  const harm = calls.filter(({ session }) => session === NEMESIS);
  const calm = calls.filter(
    (call) => getInput(call).reads !== undefined && !harm.some((item) => disturbs(item, call)),
  );
  return [
    ...sessionsBehind(calm),
    ...withoutEarlyViews(calm.filter(({ key }) => hasEarlyViews(key))),
    ...unreadable(calls),
  ];
}

/** Of a client by its name, or of all. */
function disturbs({ key, beginMs, endMs = Infinity }: Call, call: Call): boolean {
  if (key !== '' && key !== clientOf(call)) return false;
  return beginMs <= (call.endMs ?? Infinity) && endMs + SETTLED_MS >= call.beginMs;
}

function sessionsBehind(calm: readonly Call[]): string[] {
  const retained = calm.filter((call) => getInput(call).isKept === true);
  const behind = retained.filter(({ outcome }) => outcome === 'REPLICA_BEHIND');
  if (
    behind.length < SESSION_BEHIND_MIN ||
    behind.length <= SESSION_BEHIND_SHARE_MAX * retained.length
  )
    return [];
  const [first] = behind;
  return [
    `${behind.length} of ${retained.length} reads in sessions failed with REPLICA_BEHIND while all was well, first ${first?.session} of ${first?.key} at ${first?.beginMs.toFixed(1)} ms`,
  ];
}

function withoutEarlyViews(calm: readonly Call[]): string[] {
  const reads = calm.filter((call) => {
    return (
      call.levels === undefined && getInput(call).isKept !== true && call.outcome === 'success'
    );
  });
  return [...parseGroups(reads, kindOf)].flatMap(([kind, ofKind]) => {
    // Each client that takes a seat learns again.
    const counted = [...parseGroups(ofKind, takeForFields).values()].flatMap((operationsByClient) =>
      operationsByClient.slice(LEARNING),
    );
    const early = counted.filter(({ views = [] }) => views.length > 1).length;
    if (counted.length < READS_MIN || early >= EARLY_SHARE_MIN * counted.length) return [];
    return [`${kind}: ${early} of ${counted.length} had an early view`];
  });
}

/** The last outcome of each session for each key, after retries of retryable failures. */
function unreadable(calls: readonly Call[]): string[] {
  const last = new Map<string, Call>();
  for (const call of calls) {
    if (getInput(call).isAfterwards === true) last.set(`${call.session} ${call.key}`, call);
  }
  return [...last.values()]
    .filter(({ outcome }) => outcome !== 'success')
    .map(
      ({ session, key, outcome }) =>
        `${key}: ${session} cannot read it after all was healed: ${outcome}`,
    );
}

/** What to a coordinator are reads of one kind, by one way. */
function kindOf(call: Call): string {
  const way = /(one|two)-reads?/.exec(call.session)?.[0] ?? '';
  const isSeveral = (getInput(call).reads ?? []).length > 1;
  return `${call.kind} of ${isSeveral ? 'several keys' : 'one key'} by ${way}`;
}

/** A client at its seat. */
function takeForFields({ session }: Call): string {
  return `${session.split('/')[0]} ${session.split('.').at(-1)}`;
}

function parseGroups(
  calls: readonly Call[],
  nameOf: (call: Call) => string,
): ReadonlyMap<string, readonly Call[]> {
  const groups = new Map<string, Call[]>();
  for (const call of calls) {
    const group = groups.get(nameOf(call)) ?? [];
    groups.set(nameOf(call), group);
    group.push(call);
  }
  return groups;
}

/** Sessions are named after their clients. */
function clientOf({ session }: Call): string {
  return session.split('/')[0] as string;
}
