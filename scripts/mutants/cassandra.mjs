/** Of our own client of Cassandra (docs/spec/cassandra-icg.md). */
import { mutantsOf, unit } from './commands.mjs';

const ofAbandoned = mutantsOf({
  rule: 'cassandra-icg G1',
  file: 'src/bindings/cassandra/icg/pending-read.ts',
  command: unit('bindings/cassandra/icg/abandoned.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const CASSANDRA_MUTANTS = [
  ofAbandoned(
    'a read that was given up frees its number at its preliminary view',
    'return isLast;\n    }\n    switch',
    'return true;\n    }\n    switch',
  ),
  ofAbandoned(
    'the late answer of a read that was given up counts as none',
    'if (isLast && this.#isOrphan) this.#connection?.reclaim();',
    '',
  ),
  {
    name: 'the length of a frame is what its last two bytes say',
    rule: 'cassandra-icg',
    file: 'src/bindings/cassandra/icg/frames.ts',
    line: 'const length = bytes.readInt32BE(at + AT.length);',
    replacement: 'const length = bytes.readUInt16BE(at + AT.length + 2);',
    command: unit('bindings/cassandra/icg/frames.test.ts'),
  },
];
