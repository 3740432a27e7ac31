/** Queues, accounts, notes and seats, with checkers that know what the first two are for. */
import type { Service } from '../../../src/server/service/service.ts';
import { AccountChecker } from '../checkers/accounts.ts';
import { LevelChecker } from '../checkers/levels.ts';
import { QueueChecker } from '../checkers/queues.ts';
import { StrongReadChecker } from '../checkers/strong-reads.ts';
import { WholeChecker } from '../checkers/whole.ts';
import { isBlue, isRead, tookEffect } from '../operation-traits.ts';
import { simulatedService } from '../service.ts';
import { drawOperation } from '../workload.ts';
import type { Scenario } from '../../../src/testing/simulator/scenario.ts';

/** The world of `simulatedService`. Its rows are in several partitions if there may be some. */
export function classicScenario(isPartitioned = false, service: Service = simulatedService(isPartitioned)): Scenario {
  return {
    service,
    traits: { isRead, isBlue, hasEffect: tookEffect },
    draw: ({ options, random, unique }) => drawOperation(options, random, unique),
    checkers: () => [
      new QueueChecker(),
      new AccountChecker(),
      new StrongReadChecker(),
      new LevelChecker(),
      new WholeChecker(),
    ],
  };
}
