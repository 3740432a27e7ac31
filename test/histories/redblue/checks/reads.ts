/** What was seen: the views of all looks, and the updates that name themselves in what is looked at. */
import type { Call } from '../../history.ts';
import { getReportedOutcome, type ReportedOutcome } from '../../reported-outcomes.ts';
import type { Look } from '../contract.ts';

/** One view of a look at a level that promises something. */
export interface Sight {
  readonly call: Call;
  readonly level: string;
  readonly look: Look;
  readonly ids: readonly string[];
}

/** An update that leaves its name in what is looked at. */
export interface Trace {
  readonly id: string;
  readonly call: Call;
  /** Whether it took effect, by its outcome. */
  readonly reported: ReportedOutcome;
  /** What it did to the balance of its account. */
  readonly amount: number;
}

export function sightsOf(calls: readonly Call[]): Sight[] {
  return calls
    .filter(({ kind }) => kind === 'look')
    .flatMap((call) =>
      (call.views ?? [])
        .filter(({ level }) => level !== 'tentative')
        .map(({ level, value }) => ({ call, level, look: value as Look, ids: getIds(value as Look) })),
    );
}

export function getIds({ lines, accounts }: Look): string[] {
  return [...lines.flat(), ...accounts.flatMap(({ ids }) => ids)];
}

export function tracesOf(calls: readonly Call[]): Map<string, Trace> {
  const traces = new Map<string, Trace>();
  for (const call of calls) {
    if (call.kind === 'note') {
      traces.set(String(call.input), { id: String(call.input), call, reported: getReportedOutcome(call), amount: 0 });
    } else if (call.kind === 'deposit' || call.kind === 'withdraw') {
      const { id, amount } = call.input as { readonly id: string; readonly amount: number };
      traces.set(id, {
        id,
        call,
        reported: getLedgerOutcome(call),
        amount: call.kind === 'deposit' ? amount : -amount,
      });
    }
  }
  return traces;
}

/** A withdrawal that was rejected is not made; a preliminary view proves nothing. */
function getLedgerOutcome(call: Call): ReportedOutcome {
  const reported = getReportedOutcome(call);
  if (reported !== 'made') return reported;
  if (call.views?.at(-1)?.level === 'tentative') return 'unknown';
  return call.output === false ? 'not made' : 'made';
}
