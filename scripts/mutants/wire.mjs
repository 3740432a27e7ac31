/** Of clients and gateways (docs/protocol.md, docs/spec/exactly-once.md). */
import { unit } from './commands.mjs';

const GATEWAY = 'src/server/gateway';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const WIRE_MUTANTS = [
  {
    name: 'a refusal speaks for what was sent before',
    rule: 'exactly-once 2',
    file: 'src/transport/outcome.ts',
    line: `  'FORBIDDEN',
`,
    replacement: '',
    command: unit('transport/connection.test.ts'),
  },
  {
    name: 'a session keeps one token for all sites',
    rule: 'protocol',
    file: 'src/transport/wire-session.ts',
    line: "this.#tokens.set(token.slice(0, Math.max(0, token.indexOf('.'))), token);",
    replacement: "this.#tokens.set('', token);",
    command: unit('transport/wire-session.test.ts'),
  },
  {
    name: 'the buffer of a slow reader has no end',
    rule: 'protocol',
    file: `${GATEWAY}/admission.ts`,
    line: "if (outlet.waitingBytes > sendBufferBytesMax) throw overloaded(host, 'sendBufferBytesMax');",
    replacement: '',
    command: unit('gateway/slow-reader.test.ts'),
  },
  {
    name: 'a reader that asks on and on is read from',
    rule: 'protocol',
    file: `${GATEWAY}/connection.ts`,
    line: 'return !this.#isClosed() && !this.isFull;',
    replacement: 'return !this.#isClosed();',
    command: unit('gateway/slow-reader.test.ts'),
  },
  {
    name: 'the same attempt takes over',
    rule: 'protocol',
    file: `${GATEWAY}/connection.ts`,
    line: 'older.attempt >= attempt',
    replacement: 'older.attempt > attempt',
    command: unit('gateway/connections-meet.test.ts'),
  },
  {
    name: 'replies are repeated in a codec that is not theirs',
    rule: 'protocol',
    file: `${GATEWAY}/connection.ts`,
    line: 'record.subprotocol !== this.#codec.subprotocol || ',
    replacement: '',
    command: unit('gateway/connections-meet.test.ts'),
  },
  {
    name: 'an answered update is executed for one that has moved',
    rule: 'exactly-once 4',
    file: `${GATEWAY}/ended-update.ts`,
    line: 'return !hasResult && hop > this.#hop;',
    replacement: 'return hop > this.#hop;',
    command: unit('gateway/ended-update.test.ts'),
  },
  {
    name: 'an acknowledged number is taken for new',
    rule: 'exactly-once 7',
    file: `${GATEWAY}/admission.ts`,
    line: 'if (id <= record.acked) {',
    replacement: 'if (id < 0) {',
    command: unit('gateway/admission.test.ts'),
  },
  {
    name: 'a principal may connect as often as it likes',
    rule: 'protocol',
    file: `${GATEWAY}/principals.ts`,
    line: 'if ((share?.connections ?? 0) >= this.#bounds.connectionsPerPrincipalMax) return undefined;',
    replacement: '',
    command: unit('gateway/shares.test.ts'),
  },
  {
    name: 'a hook that forgot to answer allows',
    rule: 'protocol',
    file: `${GATEWAY}/admission.ts`,
    line: 'if (allowed !== true) throw forbidden(operation);',
    replacement: 'if (allowed === false) throw forbidden(operation);',
    command: unit('gateway/hooks.test.ts'),
  },
  {
    name: 'what an ended token asked for is executed',
    rule: 'protocol',
    file: `${GATEWAY}/submit.ts`,
    line: "if (guest.expiry.hasEnded) throw new CorrectableError('UNAUTHENTICATED', 'the token has ended; nothing was done');",
    replacement: '',
    command: unit('gateway/admission.test.ts'),
  },
];
