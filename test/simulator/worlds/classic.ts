/** Queues, accounts, notes and seats, with checkers that know what the first two are for. */
import type { Service } from '../../../src/server/service/service.ts';
import { AccountChecker } from '../checkers/accounts.ts';
import { LevelChecker } from '../checkers/levels.ts';
import { QueueChecker } from '../checkers/queues.ts';
import { StrongReadChecker } from '../checkers/strong-reads.ts';
import { isBlue, isRead, tookEffect } from '../traits.ts';
import { simulatedService } from '../service.ts';
import { drawOperation } from '../workload.ts';
import type { World } from '../../../src/testing/simulator/world.ts';

/** The world of `simulatedService`. */
export function classicWorld(service: Service = simulatedService()): World {
  return {
    service,
    traits: { isRead, isBlue, tookEffect },
    draw: ({ options, random, own }) => drawOperation(options, random, own),
    checkers: () => [new QueueChecker(), new AccountChecker(), new StrongReadChecker(), new LevelChecker()],
  };
}
