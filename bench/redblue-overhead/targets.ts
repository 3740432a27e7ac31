/** The systems that are measured together. */
import type { Target } from '../load/messages.ts';
import type { Name } from './goals.ts';

export const TARGETS = {
  'one site': { kind: 'redblue', sites: 1, durable: false },
  'the same parts': { kind: 'plain' },
  "a day's work": { kind: 'day', durable: false },
  'one site, durable': { kind: 'redblue', sites: 1, durable: true },
  "a day's work, durable": { kind: 'day', durable: true },
} as const satisfies Partial<Record<Name, Target>>;
