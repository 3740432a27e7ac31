/** Queues, accounts, notes and seats, with checkers that know what the first two are for. */
import type { Service } from '../../../src/server/service/service.ts';
import { AccountChecker } from '../checkers/accounts.ts';
import { LevelChecker } from '../checkers/levels.ts';
import { QueueChecker } from '../checkers/queues.ts';
import { RestartChecker } from '../checkers/restarts.ts';
import { RivalsChecker } from '../checkers/rivals.ts';
import { StockChecker } from '../checkers/stocks.ts';
import { StrongReadChecker } from '../checkers/strong-reads.ts';
import { WholeChecker } from '../checkers/whole.ts';
import { isBlue, isRead, tookEffect } from '../operation-traits.ts';
import { simulatedService } from '../service.ts';
import { drawOperation } from '../workload.ts';
import type { SimulationOptions } from '../../../src/testing/simulator/options.ts';
import type { Scenario } from '../../../src/testing/simulator/scenario.ts';

/** The world of `simulatedService`. Its rows are in several partitions if there may be some. */
export function classicScenario(
  isPartitioned = false,
  service: Service = simulatedService(isPartitioned),
): Scenario {
  return {
    service,
    traits: { isRead, isBlue, hasEffect: tookEffect },
    draw: ({ options, random, unique }) => drawOperation(options, random, unique),
    checkers: ({ options }) => [
      new QueueChecker(),
      new AccountChecker(),
      new StrongReadChecker(),
      new LevelChecker(),
      new WholeChecker(),
      new StockChecker(),
      ...(options.workload === 'rivals' ? [new RivalsChecker()] : []),
      ...(isPartitioned && startsWithAll(options) ? [new RestartChecker()] : []),
    ],
  };
}

/**
 * Whether each start finds what was there before: no directory is lost, and no red log leaves
 * records out.
 */
function startsWithAll({ isCluster, redJumpChance, redRegressChance }: SimulationOptions): boolean {
  return !isCluster && redJumpChance === 0 && redRegressChance === 0;
}
