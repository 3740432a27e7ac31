/**
 * A column that is dropped and created again with another type: each view has its content of that
 * time, in its type.
 */
import type { Call } from '../../history.ts';
import { getInput } from '../inputs.ts';

interface Epoch {
  readonly shape: string;
  readonly fromMs: number;
  /** From then on it is there for all; never where changing it has failed. */
  readonly doneMs: number;
}

export function shapeFaults(calls: readonly Call[]): string[] {
  const epochs = calls.flatMap((call): Epoch[] => {
    const { shape } = getInput(call);
    if (shape === undefined) return [];
    return [
      {
        shape,
        fromMs: call.beginMs,
        doneMs: call.outcome === 'success' ? (call.endMs ?? Infinity) : Infinity,
      },
    ];
  });
  return calls
    .filter((call) => getInput(call).isShape === true)
    .flatMap((call) =>
      (call.views ?? []).flatMap(({ level, value, atMs }) => {
        const possible = epochs.filter((epoch, at) => {
          // A replica of a weak view may be as it was long ago; its types are the coordinator's.
          const isOver =
            level === 'strong' && epochs.slice(at + 1).some(({ doneMs }) => doneMs <= call.beginMs);
          return epoch.fromMs <= atMs && !isOver;
        });
        const settled = epochs.findLast(({ doneMs }) => doneMs <= call.beginMs);
        const isChanging = epochs.some(
          ({ fromMs, doneMs }) => fromMs <= atMs && doneMs > call.beginMs,
        );
        const mayBeEmpty = level !== 'strong' || settled === undefined || isChanging;
        if (value === null ? mayBeEmpty : possible.some(({ shape }) => shape === value)) return [];
        return [
          `${call.key}: ${call.session} was shown ${String(value)} at ${atMs.toFixed(1)} ms, ${level}, where it is ${settled?.shape}`,
        ];
      }),
    );
}
