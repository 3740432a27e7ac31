/** Sites that each leave out one rule of globals. */
import {
  awaitOnlyGlobals,
  awaitOnlyHolds,
  EarlyCoordinator,
  FinalCoveringCoordinator,
  OneWayTable,
  OtherWayTable,
  UnabortingCoordinator,
  UnheldCertifier,
  UnheldTable,
  UnrejectingCertifier,
  UnreachingCoordinator,
  UnrefusedCoordinator,
  WindowlessCertifier,
} from './faulty-parts.ts';
import type { Parts } from './parts.ts';
import type { WorldOptions } from './world.ts';

export interface PlantedFault {
  readonly rule: string;
  readonly parts: Partial<Parts>;
  /** A seed that shows it, or one shortly before. Default: 1 */
  readonly seed?: number;
  /** Where the fault shows. Default: sites restart */
  readonly options?: Partial<WorldOptions>;
}

const SMALL_WINDOW = { windowCommits: 2, copies: 0.5, late: 0.4, lagging: 0.01, globals: 0.8 };
const MANY_COPIES = { copies: 0.5, late: 0.4, lagging: 0.01, globals: 0.8 };
const LOSS = { losesSite: true, blueSpeed: 0.005, globals: 0.9 };

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  { rule: 'G1 home', parts: { fixesHome: false } },
  { rule: 'G6 holds', parts: { HoldTable: UnheldTable, Certifier: UnheldCertifier } },
  { rule: 'G7 writes of what a hold reads', parts: { HoldTable: OneWayTable } },
  { rule: 'G7 what a hold writes', parts: { HoldTable: OtherWayTable } },
  {
    rule: 'G8 stamps of holds',
    parts: { findAwaitedStamps: awaitOnlyGlobals },
  },
  { rule: 'G8 lost causes', parts: { Coordinator: FinalCoveringCoordinator }, options: LOSS },
  { rule: 'R8 durable causes', parts: { waitsForDurable: false }, options: LOSS },
  {
    rule: 'G8a release after the global',
    parts: { Coordinator: EarlyCoordinator, findAwaitedStamps: awaitOnlyHolds },
  },
  { rule: 'G8b releases after a refusal', parts: { Coordinator: UnrefusedCoordinator } },
  {
    rule: 'G8f no hold for a log that orders nothing',
    parts: { Coordinator: UnreachingCoordinator },
    options: { haltsLogs: true },
  },
  { rule: 'G8c abort', parts: { Coordinator: UnabortingCoordinator } },
  {
    rule: 'G8d window',
    parts: { Certifier: WindowlessCertifier },
    options: SMALL_WINDOW,
    seed: 5_000_290,
  },
  {
    rule: 'G8d rejections',
    parts: { Certifier: UnrejectingCertifier },
    options: MANY_COPIES,
  },
  { rule: 'G8g holds in the checkpoint', parts: { savesHolds: false } },
];
