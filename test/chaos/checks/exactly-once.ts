/**
 * Whether each update took effect as often as was reported, and whether no view ever broke an
 * invariant.
 */
import type { Overview } from '../contract.ts';
import type { Evidence } from '../evidence.ts';
import { isRed, listIds, listSightings, listUpdates, type NamedUpdate } from './sightings.ts';

type Updates = ReadonlyMap<string, NamedUpdate>;

export function exactlyOnceFaults(evidence: Evidence): string[] {
  const updates = listUpdates(evidence);
  const views = listSightings(evidence.calls).map(({ call, level, overview }) => ({
    where: `${call.session} at ${Math.round(call.endMs ?? call.beginMs)} ms, ${level}`,
    atMs: call.endMs ?? Infinity,
    overview,
  }));
  const ends = [...evidence.settled].flatMap(([site, overview]) =>
    overview === null ? [] : [{ where: `${site} in the end`, atMs: Infinity, overview }],
  );
  return [
    ...[...views, ...ends].flatMap(({ where, atMs, overview }) =>
      [...nameFaults(overview, updates, atMs), ...sumFaults(overview, updates, evidence)].map(
        (fault) => `${where}: ${fault}`,
      ),
    ),
    ...ends.flatMap(({ where, overview }) =>
      lossFaults(overview, updates, evidence).map((id) => `${where}: ${id}`),
    ),
    ...missedRedUpdates(evidence, updates),
    ...soldOutFaults(updates),
  ];
}

function nameFaults(overview: Overview, updates: Updates, atMs: number): string[] {
  const faults: string[] = [];
  const before = new Set<string>();
  for (const id of listIds(overview)) {
    const update = updates.get(id);
    if (update === undefined) faults.push(`has "${id}", which no user submitted`);
    else if (update.call.beginMs > atMs) faults.push(`has "${id}" before it was submitted`);
    else if (update.reported === 'not made') {
      faults.push(`has "${id}", reported not to be made (${update.call.outcome})`);
    }
    if (before.has(id)) faults.push(`has "${id}" twice`);
    before.add(id);
  }
  return faults;
}

function sumFaults(
  { accounts, halls }: Overview,
  updates: Updates,
  { round, lost }: Evidence,
): string[] {
  const faults: string[] = [];
  for (const [n, { balance, ids }] of accounts.entries()) {
    const account = round.keys.accounts[n];
    const sum = ids.reduce((total, id) => total + (updates.get(id)?.amount ?? 0), 0);
    if (balance < 0) faults.push(`${account} has a balance of ${balance}`);
    if (sum !== balance)
      faults.push(`${account} has a balance of ${balance}, and its payments add up to ${sum}`);
  }
  for (const [n, { left, sold }] of halls.entries()) {
    const hall = round.keys.halls[n] ?? '';
    const seats = round.seats[hall] ?? 0;
    const isOpen = left + sold.length > 0;
    if (sold.length > seats) faults.push(`${hall} is oversold: ${sold.length} of ${seats} seats`);
    // The rights of a site that has lost its directory are gone.
    if (left + sold.length > seats || (isOpen && lost.length === 0 && left + sold.length < seats)) {
      faults.push(
        `${hall} has ${seats} seats, of which ${sold.length} are sold and ${left} are left`,
      );
    }
  }
  return faults;
}

/** Acknowledged updates that are not there in the end. */
function lossFaults(overview: Overview, updates: Updates, { lost }: Evidence): string[] {
  const ids = new Set(listIds(overview));
  return [...updates.values()]
    .filter((update) => {
      const { id, reported, call } = update;
      const { endMs = Infinity, endedAt } = call;
      const isExcused = lost.some(
        ({ site, sinceMs, untilMs }) => endedAt === site && endMs >= sinceMs && endMs <= untilMs,
      );
      return reported === 'made' && !ids.has(id) && (isRed(update) || !isExcused);
    })
    .map(
      ({ id, call }) =>
        `"${id}" is missing, acknowledged to ${call.session} at ${Math.round(call.endMs ?? 0)} ms`,
    );
}

/** Strong views without a red update that was acknowledged before they were requested. */
function missedRedUpdates({ calls }: Evidence, updates: Updates): string[] {
  const red = [...updates.values()].filter((update) => isRed(update) && update.reported === 'made');
  return listSightings(calls)
    .filter(({ level }) => level === 'strong')
    .flatMap(({ call, ids }) => {
      const shown = new Set(ids);
      const missed = red.find(
        (update) => (update.call.endMs ?? Infinity) < call.beginMs && !shown.has(update.id),
      );
      if (missed === undefined) return [];
      return [
        `${call.session} at ${Math.round(call.beginMs)} ms: the strong view lacks "${missed.id}"`,
      ];
    });
}

/** A seat sold by a sale that began after another one was answered that the hall is sold out. */
function soldOutFaults(updates: Updates): string[] {
  const soldOut = new Map<string, NamedUpdate>();
  const sales = [...updates.values()].filter(
    ({ call }) => call.kind === 'sell' && call.outcome === 'success',
  );
  for (const sale of sales.filter(({ call }) => call.output === false)) {
    const first = soldOut.get(sale.call.key);
    if ((first?.call.endMs ?? Infinity) > (sale.call.endMs ?? Infinity))
      soldOut.set(sale.call.key, sale);
  }
  return sales.flatMap(({ id, call }) => {
    const first = soldOut.get(call.key);
    const isLate =
      call.output === true && first !== undefined && (first.call.endMs ?? Infinity) < call.beginMs;
    return isLate
      ? [
          `${call.key}: "${id}" was sold, and "${first.id}" was answered before that nothing is left`,
        ]
      : [];
  });
}
