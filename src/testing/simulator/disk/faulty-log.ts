/**
 * A red log of a faulty engine: it repeats records, skips some, and comes back shorter. The log
 * below it is correct.
 */
import type { LogOutput, RedLog } from '../../../server/log/red-log.ts';
import type { RedLogEngine } from '../../../server/log/red-log-engine.ts';
import type { Random } from '../../../server/service/collections/random.ts';

/** The chances of the faults, as in the options of a simulation. */
interface RedLogFaults {
  readonly redRepeatChance: number;
  readonly redJumpChance: number;
  readonly redRegressChance: number;
}

/** The chances of faults at each delivery. */
export interface LogFaults {
  readonly random: Random;
  readonly options: RedLogFaults;
  /** Returns whether it has no more faults. */
  isHealthy(): boolean;
  /** Called when a record was delivered again. */
  onRepeated(): void;
}

type Delivery<R> = LogOutput<R> & { readonly kind: 'deliver' };

/** Returns an engine with faulty nodes, or the engine itself if all chances are 0. */
export function createFaultyEngine(engine: RedLogEngine, faults: LogFaults): RedLogEngine {
  const { redRepeatChance, redJumpChance, redRegressChance } = faults.options;
  if (redRepeatChance + redJumpChance + redRegressChance === 0) return engine;
  return {
    ...engine,
    createNode: (options) => addLogFaults(engine.createNode(options), faults),
  };
}

/**
 * Adds faults to the methods by which a site gets deliveries from its node of the log, and ticks
 * it.
 */
export function addLogFaults<R>(log: RedLog<R>, faults: LogFaults): RedLog<R> {
  const tick = log.tick.bind(log);
  const takeOutputs = log.takeOutputs.bind(log);
  let last: Delivery<R> | undefined;
  let hasJumped = false;
  let isJumpNoticed = false;
  // Engines need not report the end. One that comes back shorter cannot report it truthfully.
  Object.defineProperty(log, 'end', { value: undefined });

  /**
   * If no record follows a gap, a comparison of the log with the delivered records finds the gap.
   */
  log.tick = (nowMs) => {
    tick(nowMs);
    isJumpNoticed = hasJumped;
  };
  log.takeOutputs = () => {
    const outputs = takeOutputs();
    const isQuiet = !isJumpNoticed && outputs.every(({ kind }) => kind !== 'deliver');
    if (isQuiet) return outputs;
    const disturbed = outputs.flatMap((output) =>
      output.kind === 'deliver' ? disturb(output) : [output],
    );
    if (!isJumpNoticed) return disturbed;
    hasJumped = isJumpNoticed = false;
    return [...disturbed, { kind: 'gap', message: 'it has more than it has delivered' }];
  };
  return log;

  function disturb(delivery: Delivery<R>): readonly LogOutput<R>[] {
    const { random, options } = faults;
    const before = last;
    last = delivery;
    if (faults.isHealthy()) return [delivery];
    if (random.chance(options.redJumpChance)) {
      hasJumped = true;
      return [];
    }
    if (random.chance(options.redRegressChance))
      return [{ kind: 'regressed', message: 'it ends before what it has delivered' }];
    if (!random.chance(options.redRepeatChance)) return [delivery];
    faults.onRepeated();
    return before === undefined ? [delivery, delivery] : [before, delivery, before, delivery];
  }
}
