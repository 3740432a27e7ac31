/** Judges a round by its history alone. */
import { firstFew } from '../histories/checks/first-few.ts';
import { queueFaults } from '../histories/checks/queues.ts';
import { bankFaults } from './checks/bank.ts';
import { causalRegisterFaults } from './checks/causal-registers.ts';
import { causalViewFaults } from './checks/causal-views.ts';
import { convergenceFaults } from './checks/convergence.ts';
import { exactlyOnceFaults } from './checks/exactly-once.ts';
import { outcomeFaults } from './checks/outcomes.ts';
import { redRegisterFaults } from './checks/red-registers.ts';
import { repeatFaults } from './checks/repeats.ts';
import type { Evidence } from './evidence.ts';

/** All checkers by name. */
export const CHECKS: Readonly<Record<string, (evidence: Evidence) => string[]>> = {
  outcomes: outcomeFaults,
  'exactly once': exactlyOnceFaults,
  bank: bankFaults,
  repeats: repeatFaults,
  queues: queuesFaults,
  'red registers': redRegisterFaults,
  'causal registers': causalRegisterFaults,
  'causal views': causalViewFaults,
  convergence: convergenceFaults,
};

/** Returns what cannot be, each with the name of its checker. */
export function checkRound(evidence: Evidence): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) =>
    firstFew(check(evidence)).map((fault) => `${name}: ${fault}`),
  );
}

function queuesFaults({ operations, round }: Evidence): string[] {
  return round.queues.flatMap((name) => {
    const calls = operations.filter(
      ({ kind, key }) => key === name && (kind === 'enqueue' || kind === 'dequeue'),
    );
    return queueFaults({ name, calls, isOrdered: true });
  });
}
