/** The services that rounds work on. Each has sites of its own. */
import { keyValue } from '../../src/contract/index.ts';
import { createBankScene, createProbe, lookAtBank, openBank } from './bank.ts';
import { chaos } from './contract.ts';
import type { Scene } from './steps.ts';
import type { Step, User, UserOptions } from './user.ts';
import { createProbes, createScene, lookAt, openSales } from './workload.ts';

export interface ChaosService {
  readonly contract: UserOptions['contract'];
  /** The module that exports it, in the directory of this file. */
  readonly module: string;
  readonly createScene: (seed: number, partitions: number) => Scene;
  /** Prepares the rows of a round. Throws if that fails again and again. */
  readonly open: (users: readonly User[], scene: Scene) => Promise<void>;
  /**
   * Each makes an update that a healed site has to take. It is called again for the next attempt.
   */
  readonly createProbes: (observer: User, scene: Scene) => readonly (() => Step)[];
  /** Requests all rows of a round. */
  readonly lookAt: (scene: Scene, levels: NonNullable<Step['levels']>) => Step;
}

/** All services by name. */
export const SERVICES = {
  chaos: {
    contract: chaos,
    module: 'service.ts',
    createScene,
    open: openSales,
    createProbes,
    lookAt,
  },
  bank: {
    contract: keyValue,
    module: 'bank-service.ts',
    createScene: createBankScene,
    open: openBank,
    createProbes: (observer, scene) => [() => createProbe(observer, scene)],
    lookAt: lookAtBank,
  },
} as const satisfies Readonly<Record<string, ChaosService>>;

export type ServiceName = keyof typeof SERVICES;
