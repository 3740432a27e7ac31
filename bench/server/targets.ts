/** The systems that are measured together, and their goals. */
import type { Target } from '../load/messages.ts';

export const TARGETS = {
  ephemeral: { kind: 'redblue', sites: 1, durable: false },
  'three sites': { kind: 'redblue', sites: 3, durable: false },
  redis: { kind: 'redis', durable: false },
  durable: { kind: 'redblue', sites: 1, durable: true },
  'AOF always': { kind: 'redis', durable: true },
} as const satisfies Record<string, Target>;
/** `other …` is a site of another checkout, if one was named. */
export type Name = keyof typeof TARGETS | 'other ephemeral' | 'other durable';

/** Sites of another checkout, at one window of blue updates and at red ones. */
export function targetsIn(checkout: string | undefined): Readonly<Partial<Record<Name, Target>>> {
  if (checkout === undefined) return {};
  return {
    'other ephemeral': { ...TARGETS.ephemeral, checkout },
    'other durable': { ...TARGETS.durable, checkout },
  };
}

export const WINDOWS = [1, 64, 1024] as const;
export type Window = (typeof WINDOWS)[number];
/**
 * The maximum number of operations in flight in an open loop. It is below the limit of a
 * connection: otherwise a refusal after a stall would end the run.
 */
export const OPEN_WINDOW = 8192;
/** The window of the bars whose names contain no window. */
export const NAMED: Window = 64;

/** The systems that are measured with red operations. */
export const RED: readonly Name[] = ['ephemeral', 'three sites', 'durable'];

/** The goals of each pair at each window: the floor and the aim. */
export const PAIRS = [
  {
    bar: 'ephemeral-blue-vs-ioredis',
    of: 'ephemeral',
    to: 'redis',
    aims: { 1: 1, 64: 1.2, 1024: 1.2 },
    floors: { 1: 0.65, 64: 0.9, 1024: 0.9 },
  },
  {
    bar: 'durable-blue-vs-ioredis-aof',
    of: 'durable',
    to: 'AOF always',
    aims: { 1: 1, 64: 1.2, 1024: 1.2 },
    floors: { 1: 0.75, 64: 0.75, 1024: 0.75 },
  },
] as const;
export type Pair = (typeof PAIRS)[number];

/**
 * The numbers of client processes. With several of them, the server is the bottleneck, if there are
 * enough processors.
 */
export const CLIENTS = [2, 4] as const;
/** The systems that are measured with several clients, and in open loops. */
export const PAIRED: readonly Name[] = PAIRS.flatMap(({ of, to }) => [of, to]);

/**
 * Shares of the rate that the slower of a pair reaches in a closed loop, at which both are asked in
 * open ones.
 */
export const SHARES = [0.25, 0.5, 0.75] as const;
