/** The pace of a binding as it stands in the node that says that the binding is alive. */
import type { Pace } from '../../correctable/pace/unseen.ts';

/** Of a binding that does not say its pace: nothing bounds it. */
const UNPACED: Pace = { window: Infinity, turnMs: 0 };

export function paceData({ window, turnMs }: Pace): string {
  return JSON.stringify({ window, turnMs });
}

export function paceFrom(data: Uint8Array | null): Pace {
  try {
    const { window, turnMs } = JSON.parse(new TextDecoder().decode(data ?? new Uint8Array(0))) as Partial<Pace>;
    return isCount(window) && isCount(turnMs) ? { window, turnMs } : UNPACED;
  } catch {
    return UNPACED;
  }
}

function isCount(given: unknown): given is number {
  return typeof given === 'number' && given >= 0;
}
