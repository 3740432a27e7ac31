/**
 * A red log of a bad engine: it repeats records, skips some, and comes back
 * shorter. The log beneath is correct.
 */
import type { LogOutput, RedLog } from '../../server/log/red-log.ts';
import type { RedLogEngine } from '../../server/log/red-log-engine.ts';
import type { Random } from '../../server/collections/random.ts';
import type { SimulationOptions } from './options.ts';

/** How unsteady it is, as chances of each delivery. */
export interface LogFaults {
  readonly random: Random;
  readonly options: Pick<
    SimulationOptions,
    'redRepeatChance' | 'redJumpChance' | 'redRegressChance'
  >;
  /** Whether it does nothing of that any more. */
  isHealthy(): boolean;
  /** Something was delivered again. */
  onRepeated(): void;
}

type Delivery<R> = LogOutput<R> & { readonly kind: 'deliver' };

/**
 * An engine whose nodes are as unsteady as that; as it is, where nothing of it
 * is to happen.
 */
export function createFaultyEngine(
  engine: RedLogEngine,
  faults: LogFaults,
): RedLogEngine {
  const { redRepeatChance, redJumpChance, redRegressChance } = faults.options;
  if (redRepeatChance + redJumpChance + redRegressChance === 0) return engine;
  return {
    ...engine,
    createNode: (options) => addLogFaults(engine.createNode(options), faults),
  };
}

/**
 * Wraps the methods by which a site takes what its node of the log delivers,
 * and ticks it.
 */
export function addLogFaults<R>(log: RedLog<R>, faults: LogFaults): RedLog<R> {
  const tick = log.tick.bind(log);
  const takeOutputs = log.takeOutputs.bind(log);
  let last: Delivery<R> | undefined;
  let hasJumped = false;
  let isJumpNoticed = false;
  // Engines need not report it, and one that comes back shorter cannot report
  // it truly.
  Object.defineProperty(log, 'end', { value: undefined });

  /**
   * A jump after which nothing came is noticed at last by who compares what
   * there is with what was delivered.
   */
  log.tick = (nowMs) => {
    tick(nowMs);
    isJumpNoticed = hasJumped;
  };
  log.takeOutputs = () => {
    const outputs = takeOutputs();
    const isQuiet =
      !isJumpNoticed && outputs.every(({ kind }) => kind !== 'deliver');
    if (isQuiet) return outputs;
    const disturbed = outputs.flatMap((output) =>
      output.kind === 'deliver' ? disturb(output) : [output],
    );
    if (!isJumpNoticed) return disturbed;
    hasJumped = isJumpNoticed = false;
    return [
      ...disturbed,
      { kind: 'gap', message: 'it has more than it has delivered' },
    ];
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
      return [
        { kind: 'regressed', message: 'it ends before what it has delivered' },
      ];
    if (!random.chance(options.redRepeatChance)) return [delivery];
    faults.onRepeated();
    return before === undefined
      ? [delivery, delivery]
      : [before, delivery, before, delivery];
  }
}
