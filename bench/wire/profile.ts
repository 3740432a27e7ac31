/** Finds out where a server process spends its time, by a sampling profile of its functions. */
import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import type { ProfileReport } from './messages.ts';

/**
 * The name of the function that checks every inbound row; whatever it calls counts as validation
 * too.
 */
export const VALIDATION = 'checkMessage';
const NOT_BUSY: ReadonlySet<string> = new Set(['(idle)', '(root)', '(program)']);
const SAMPLE_US = 200;

/** A profile being taken. */
export interface RunningProfile {
  stop(): Promise<ProfileReport>;
}

/** Begins to take samples. */
export async function startProfile(): Promise<RunningProfile> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  await session.post('Profiler.start');
  return {
    async stop() {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      return sharesOf(profile);
    },
  };
}

/**
 * Computes the shares from the samples of a profile. A short profile may have no samples of a
 * function.
 */
export function sharesOf({ nodes }: Pick<Profiler.Profile, 'nodes'>): ProfileReport {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  let busy = 0;
  let validation = 0;
  let gc = 0;
  const visit = (node: Profiler.ProfileNode, within: boolean): void => {
    const { functionName } = node.callFrame;
    const inside = within || functionName === VALIDATION;
    const samples = node.hitCount ?? 0;
    if (!NOT_BUSY.has(functionName)) busy += samples;
    if (inside) validation += samples;
    if (functionName === '(garbage collector)') gc += samples;
    for (const child of node.children ?? []) visit(byId.get(child) as Profiler.ProfileNode, inside);
  };
  visit(nodes[0] as Profiler.ProfileNode, false);
  return {
    validationShare: validation === 0 ? null : validation / busy,
    gcShare: busy === 0 ? null : gc / busy,
  };
}
