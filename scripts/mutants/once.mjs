/** Of what is remembered of operations by identifier (docs/spec/exactly-once.md). */
import { mutantsOf, property, unit } from './commands.mjs';

const ofTable = mutantsOf({
  rule: 'exactly-once 7',
  file: 'src/server/replica/once/id-table.ts',
  command: property('id-table-model.test.ts'),
});

const ofSlots = mutantsOf({
  rule: 'exactly-once 7',
  file: 'src/server/replica/once/slots.ts',
  command: unit('server/replica/once/slots.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const ONCE_MUTANTS = [
  ofTable(
    'what a principal has acknowledged counts against it for ever',
    'if (entry.principal !== undefined) entry.principal.bytes += bytes;',
    'if (entry.principal !== undefined) entry.principal.bytes += Math.max(0, bytes);',
  ),
  ofTable(
    'who acknowledges has not been heard of',
    'entry.watermark = upTo;\n    entry.isRecent = true;',
    'entry.watermark = upTo;',
  ),
  {
    name: 'what is coming of a client does not count where few are remembered',
    rule: 'exactly-once 7',
    file: 'src/server/replica/once/id-table.ts',
    line: 'if (operations.size + coming < perClientMax && bytes < clientBytesMax) return false;',
    replacement: 'if (operations.size < perClientMax && bytes < clientBytesMax) return false;',
    command: unit('server/replica/once/id-table.test.ts'),
  },
  {
    name: 'a client is refused for what waits of others',
    rule: 'exactly-once 7',
    file: 'src/server/replica/red/room.ts',
    line: 'return isFullWith(requests.size) && isFullWith(requests.countOf(client));',
    replacement: 'return isFullWith(requests.size);',
    command: unit('server/replica/red/room.test.ts'),
  },
  ofSlots('a slot that counts by now is not saved again', 'this.#table.touch(id, slot.place);', ''),
  ofSlots('a slot is saved that the log may lose', 'if (each.isSettled) saved.unshift(', 'saved.unshift('),
  ofSlots(
    'one hop of an operation is saved',
    'each = each.other) {\n      if (each.isSettled)',
    'each = undefined) {\n      if (each.isSettled)',
  ),
  ofSlots(
    'a later entry of the log decides a slot anew',
    'if (this.find(id, hop) === undefined) this.#add(id, hop, decision, true);',
    'this.#add(id, hop, decision, true);',
  ),
  {
    name: 'what an answer of another site depends on is not waited for',
    rule: 'exactly-once',
    file: 'src/server/replica/once/walks.ts',
    line: 'untilMs: nowMs + options.reachTimeoutMs,',
    replacement: 'untilMs: nowMs,',
    command: unit('server/replica/exactly-once.test.ts'),
  },
  {
    name: 'a site follows a claim of another one with its own hop',
    rule: 'exactly-once',
    file: 'src/server/replica/once/walks.ts',
    line: 'return claim.hop > identity.hop || (claim.hop === identity.hop && claim.site !== this.#host.core.options.site);',
    replacement: 'return claim.hop > identity.hop;',
    command: unit('server/replica/exactly-once.test.ts'),
  },
];
