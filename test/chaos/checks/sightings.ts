/**
 * What was seen: each view of `look` at a level that promises something, and the updates that leave
 * a name in it.
 */
import { nameHalf, type Transfer } from '../bank.ts';
import type { Overview } from '../contract.ts';
import type { Evidence, RecordedCall } from '../evidence.ts';
import { getReportedOutcome, type ReportedOutcome } from '../../histories/reported-outcomes.ts';

export interface Sighting {
  readonly call: RecordedCall;
  readonly level: string;
  readonly overview: Overview;
  /** Names of updates in it. */
  readonly ids: readonly string[];
}

/** An update that leaves its name. */
export interface NamedUpdate {
  readonly id: string;
  readonly call: RecordedCall;
  readonly reported: ReportedOutcome;
  /** What it adds to the balance of its account. */
  readonly amount: number;
}

export function listSightings(calls: readonly RecordedCall[]): Sighting[] {
  return calls
    .filter(({ kind }) => kind === 'look')
    .flatMap((call) =>
      (call.views ?? [])
        .filter(({ level }) => level !== 'tentative')
        .map(({ level, value }) => {
          const overview = value as Overview;
          return { call, level, overview, ids: listIds(overview) };
        }),
    );
}

export function listIds({ accounts, halls }: Overview): string[] {
  return [...accounts.flatMap(({ ids }) => ids), ...halls.flatMap(({ sold }) => sold)];
}

export function listUpdates({ operations }: Evidence): Map<string, NamedUpdate> {
  const updates = new Map<string, NamedUpdate>();
  for (const call of operations) {
    const { kind, input } = call;
    const reported = getReport(call);
    for (const { id, amount } of listParts(call)) {
      // A careless user ran it before with an unknown outcome, which a later refusal does not
      // settle.
      if (reported === 'not made' && updates.get(id)?.reported === 'unknown') continue;
      updates.set(id, { id, call, reported, amount });
    }
    if (kind === 'sell')
      updates.set(String(input), { id: String(input), call, reported, amount: 0 });
    if (kind !== 'deposit' && kind !== 'withdraw') continue;
    const { id, amount } = input as { readonly id: string; readonly amount: number };
    updates.set(id, { id, call, reported, amount: kind === 'deposit' ? amount : -amount });
  }
  return updates;
}

/** The updates of a transaction. */
function listParts({
  kind,
  input,
}: RecordedCall): readonly { readonly id: string; readonly amount: number }[] {
  if (kind === 'fund') return input as readonly { readonly id: string; readonly amount: number }[];
  if (kind !== 'transfer') return [];
  const { id, amount } = input as Transfer;
  return [
    { id: nameHalf(id, 'out'), amount: -amount },
    { id: nameHalf(id, 'in'), amount },
  ];
}

/** Whether no site may lose it once it is acknowledged. */
export function isRed({ call }: NamedUpdate): boolean {
  return call.kind === 'withdraw' || call.kind === 'transfer' || call.kind === 'fund';
}

/** A withdrawal, a sale or a transfer that was refused is not made. */
function getReport(call: RecordedCall): ReportedOutcome {
  const reported = getReportedOutcome(call);
  return reported === 'made' && call.output === false ? 'not made' : reported;
}
