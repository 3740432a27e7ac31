/**
 * Whether transfers have the effect of transactions that come one after the other: no view shows
 * half of one, or another total, and each was committed exactly as its function saw the accounts.
 */
import { nameHalf, type Places, type Transfer } from '../bank.ts';
import type { Overview } from '../contract.ts';
import type { Evidence, RecordedCall } from '../evidence.ts';

interface Sight {
  readonly where: string;
  readonly isStrong: boolean;
  readonly overview: Overview;
}

/** A transfer in the list of one account. */
interface Half {
  readonly call: RecordedCall;
  readonly name: string;
  readonly account: number;
  /** Where its function expected it; absent if the transfer was not acknowledged. */
  readonly place: number | undefined;
}

export function bankFaults(evidence: Evidence): string[] {
  const { round, settled } = evidence;
  const { total } = round;
  if (total === undefined) return [];
  const ends = [...settled].flatMap(([site, overview]) =>
    overview === null ? [] : [{ where: `${site} in the end`, isStrong: true, overview }],
  );
  const sights = [...listSights(evidence.calls), ...ends];
  const halves = listHalves(evidence);
  const [end] = ends;
  return [
    ...sights.flatMap((sight) => [...totalFaults(sight, total), ...halfFaults(sight)]),
    ...cutFaults(sights),
    ...(end === undefined
      ? []
      : [...placeFaults(end.overview, halves, round.keys.accounts), ...orderFaults(end, halves)]),
  ];
}

/** All views of all accounts, also those before the final one: each is one state of the store. */
function listSights(calls: readonly RecordedCall[]): Sight[] {
  return calls
    .filter(({ kind }) => kind === 'look')
    .flatMap(({ session, beginMs, views = [] }) =>
      views.map(({ level, value }) => ({
        where: `${session} at ${Math.round(beginMs)} ms, ${level}`,
        isStrong: level === 'strong',
        overview: value as Overview,
      })),
    );
}

function totalFaults({ where, isStrong, overview }: Sight, total: number): string[] {
  const { accounts } = overview;
  // The bank is open, but this site may not have heard of it.
  if (!isStrong && accounts.every(({ ids }) => ids.length === 0)) return [];
  const sum = accounts.reduce((all, { balance }) => all + balance, 0);
  return sum === total ? [] : [`${where}: all accounts have ${sum} together instead of ${total}`];
}

function halfFaults({ where, overview }: Sight): string[] {
  const shown = new Set(overview.accounts.flatMap(({ ids }) => ids));
  const names = [...shown]
    .map((name) => /^(.*) (out|in)$/.exec(name))
    .filter((match) => match !== null);
  return names
    .filter(([, id = '', half]) => !shown.has(nameHalf(id, half === 'in' ? 'out' : 'in')))
    .map(([, id, half]) => `${where}: has half of "${id}" (${half})`);
}

/** Each list only grows: of two states in one order, one has all that the other has. */
function cutFaults(sights: readonly Sight[]): string[] {
  const strong = sights.filter(({ isStrong }) => isStrong);
  const sizeOf = ({ overview }: Sight): number =>
    overview.accounts.reduce((sum, { ids }) => sum + ids.length, 0);
  const ordered = strong.toSorted((a, b) => sizeOf(a) - sizeOf(b));
  return ordered.slice(1).flatMap((later, n) => {
    const earlier = ordered[n] as Sight;
    const isWithin = earlier.overview.accounts.every(({ ids }, account) =>
      ids.every((id, place) => later.overview.accounts[account]?.ids[place] === id),
    );
    return isWithin
      ? []
      : [`${earlier.where} and ${later.where}: no order of transfers has both states`];
  });
}

function listHalves({ calls, round }: Evidence): Map<string, Half> {
  const halves = new Map<string, Half>();
  for (const call of calls) {
    if (call.kind !== 'transfer') continue;
    const { id, from, to } = call.input as Transfer;
    const places = call.outcome === 'success' ? (call.output as Places) : undefined;
    if (places === false) continue;
    for (const half of ['out', 'in'] as const) {
      const account = round.keys.accounts.indexOf(half === 'out' ? from : to);
      const name = nameHalf(id, half);
      halves.set(name, { call, name, account, place: places?.[half] });
    }
  }
  return halves;
}

/** Acknowledged transfers that do not follow on what their function has read. */
function placeFaults(
  end: Overview,
  halves: ReadonlyMap<string, Half>,
  names: readonly string[],
): string[] {
  return [...halves.values()]
    .filter(
      ({ account, name, place }) =>
        place !== undefined && end.accounts[account]?.ids[place] !== name,
    )
    .map(
      ({ account, name, place }) =>
        `"${name}" is not at place ${place} of ${names[account]}, as its function read`,
    );
}

/** Transfers of one account that are listed against the order of time. */
function orderFaults({ overview }: Sight, halves: ReadonlyMap<string, Half>): string[] {
  return overview.accounts.flatMap(({ ids }) => {
    const faults: string[] = [];
    let latest: Half | undefined;
    for (const half of ids.map((id) => halves.get(id))) {
      if (half === undefined) continue;
      if (latest !== undefined && endOf(half) < latest.call.beginMs) {
        faults.push(
          `"${half.name}" is listed after "${latest.name}", which began later than the other one ended`,
        );
      }
      if (latest === undefined || half.call.beginMs > latest.call.beginMs) latest = half;
    }
    return faults;
  });
}

/** A transfer that was not acknowledged may take effect at any later time. */
function endOf({ call, place }: Half): number {
  return place === undefined ? Infinity : (call.endMs ?? Infinity);
}
