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
];
