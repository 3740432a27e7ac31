/** Asks adya, a checker that others wrote, what it makes of a recorded history. */
import {
  askAdya,
  type AdyaReport,
  type ElleEvent,
  type ElleStep,
} from '../../../engines/adya/adya.ts';
import type { RecordedTransaction } from './recorded-transaction.ts';

/**
 * Judges a history by adya: all but the snapshots must be strictly serializable, and with them it
 * must be serializable.
 *
 * @param program from `buildAdya()`
 */
export async function judgeByAdya(
  program: string,
  history: readonly RecordedTransaction[],
): Promise<AdyaReport> {
  const current = history.filter(({ isSnapshot }) => isSnapshot !== true);
  const report = await askAdya(program, toElleEvents(current), 'strict-serializable');
  if (report.verdict === 'invalid' || current.length === history.length) return report;
  return askAdya(program, toElleEvents(history), 'serializable');
}

/** Elle knows no times, only an order of events. Events at the same time overlap. */
export function toElleEvents(history: readonly RecordedTransaction[]): ElleEvent[] {
  const timed = history.flatMap(({ startAt, endAt, outcome, operations }, process) => {
    const type = ({ committed: 'ok', aborted: 'fail', unknown: 'info' } as const)[outcome];
    const invoked = operations.map((operation) => toStep(operation, false));
    // The reads of an attempt that may not have committed prove nothing.
    const completed = operations.map((operation) => toStep(operation, type === 'ok'));
    return [
      { at: startAt, isStart: true, event: { type: 'invoke', process, value: invoked } as const },
      { at: endAt, isStart: false, event: { type, process, value: completed } as const },
    ];
  });
  timed.sort((a, b) => a.at - b.at || Number(b.isStart) - Number(a.isStart));
  return timed.map(({ event }) => event);
}

function toStep(
  operation: RecordedTransaction['operations'][number],
  hasResult: boolean,
): ElleStep {
  if ('append' in operation) return ['append', ...operation.append];
  const [key, list] = operation.read;
  return ['r', key, hasResult ? list : null];
}
