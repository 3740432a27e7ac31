/** Runs a seed and records what the sites and clients did. */
import type { Profile } from '../../../src/testing/simulator/options.ts';
import { simulate, type SimulationSetup } from '../simulate.ts';
import type { RecordedRun } from './recorded-run.ts';
import { RunRecorder } from './run-recorder.ts';

export function recordRun(
  seed: number,
  profile: Profile,
  setup: SimulationSetup = {},
): RecordedRun {
  const recorders: RunRecorder[] = [];
  const { options, history, violation } = simulate(seed, profile, {
    ...setup,
    createCheckers: (context) => {
      recorders.push(new RunRecorder(context));
      return recorders;
    },
  });
  const recorder = recorders[0] as RunRecorder;
  const { marks, outages, cuts, nowMs } = recorder;
  const messages = recorder.messages.toSorted((a, b) => a.sentAtMs - b.sentAtMs);
  const leaders = messages.flatMap(({ kind, to }) => (kind === 'log.propose' ? [to] : []));
  return {
    seed,
    profile,
    siteCount: options.siteCount,
    clientCount: options.clientCount,
    endMs: nowMs,
    leaders: [...new Set(leaders)],
    messages,
    marks,
    outages,
    cuts,
    operations: history.map((operation) => recorder.recordOperation(operation)),
    violation,
  };
}
