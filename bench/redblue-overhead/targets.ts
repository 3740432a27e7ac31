/** The systems that are measured together. None polls: their processor time is to be that of operations. */
import type { Target } from '../load/messages.ts';
import type { Name } from './goals.ts';

export const TARGETS = {
  'one site': { kind: 'redblue', sites: 1, durable: false, busyPollUs: 0 },
  'the same parts': { kind: 'plain' },
  "a day's work": { kind: 'day', durable: false },
  'one site, durable': { kind: 'redblue', sites: 1, durable: true, busyPollUs: 0 },
  "a day's work, durable": { kind: 'day', durable: true },
} as const satisfies Record<Name, Target>;
