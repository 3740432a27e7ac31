/** Of refusals: of operations, each of which has to be due, and of command lines and keys, told by their flags. */
import { sim, unit } from './commands.mjs';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const REFUSAL_MUTANTS = [
  {
    name: 'half of what may wait for the red order is too much',
    rule: 'redblue',
    file: 'src/server/replica/red/room.ts',
    line: 'return places - left >= redInFlightMax;',
    replacement: 'return places - left >= redInFlightMax / 2;',
    command: sim('calm', { clientCount: 6, thinkMeanMs: 5, redInFlightMax: 5 }),
  },
  {
    name: 'a session is waited for half the time',
    rule: 'redblue',
    file: 'src/server/replica/updates.ts',
    line: 'untilMs: nowMs + options.sessionWaitMs, run, late',
    replacement: 'untilMs: nowMs + options.sessionWaitMs / 2, run, late',
    command: sim('partitions', { siteCount: 3, moveChance: 0.8, sessionChance: 1, clientTimeoutMs: 150 }),
  },
  {
    name: 'rights are waited for a quarter of the time',
    rule: 'rights R-4',
    file: 'src/server/replica/rights/rights.ts',
    line: '(waiter.sinceMs ?? nowMs) + options.reachTimeoutMs',
    replacement: '(waiter.sinceMs ?? nowMs) + options.reachTimeoutMs / 4',
    command: sim('partitions', {
      world: 'rights',
      siteCount: 3,
      clientCount: 8,
      operationsPerClient: 20,
      thinkMeanMs: 5,
    }),
  },
  {
    name: 'a generator that throws may have changed its arguments',
    rule: 'redblue',
    file: 'src/server/label/workshop.ts',
    line: 'return before !== undefined && !structurallyEqual(before.copy, parsed)',
    replacement: 'return before !== undefined && ran.failure === undefined && !structurallyEqual(before.copy, parsed)',
    command: unit('server/label/label-service.test.ts'),
  },
  {
    name: 'a round trip for two pairs of the sites',
    rule: 'redblue',
    file: 'src/server/embedded-checks.ts',
    line: 'if (another !== undefined) {',
    replacement: 'if (false) {',
    command: unit('server/gateway/bad-options.test.ts'),
  },
  {
    name: 'a key set without a key to check by is taken',
    rule: 'redblue',
    file: 'src/cli/key-set.ts',
    line: 'if (!checks.includes(true)) throw',
    replacement: 'if (false) throw',
    command: unit('cli/auth.test.ts'),
  },
  {
    name: 'a private key is taken for a public one',
    rule: 'redblue',
    file: 'src/cli/key-set.ts',
    line: 'if (key.d !== undefined) throw',
    replacement: 'if (false) throw',
    command: unit('cli/auth.test.ts'),
  },
  {
    name: 'a key that is too short to check by is taken',
    rule: 'redblue',
    file: 'src/cli/key-set.ts',
    line: 'if (bits >= MODULUS_BITS_MIN) return true;',
    replacement: 'return true;',
    command: unit('cli/auth.test.ts'),
  },
];
