/**
 * Mutants that no test notices and that stay, each with the reason. One is found by its file, the line where it begins,
 * and what is replaced by what; a test holds each to be still there.
 *
 * @type {readonly { file: string, text: string, from: string, to: string, reason: string }[]}
 */
export const ACCEPTED = [
  ...[
    ['count < 8 || count & (count - 1)', 'false'],
    ['count < 8 || count & (count - 1)', '(count < 8) && (count & (count - 1))'],
    ['1', '(1 + 1)'],
  ].map(([from, to]) => ({
    file: 'src/correctable/effects.ts',
    text: 'if (count < 8 || count & (count - 1)) return;',
    from,
    to,
    reason: 'Only how often the parts are looked through: what they come to is the same.',
  })),
  {
    file: 'src/correctable/effects.ts',
    text: 'for (const other of new Set(parts.splice(0))) {',
    from: '0',
    to: '1',
    reason: 'The first part stays in the list for another round, and counts by itself meanwhile.',
  },
  {
    file: 'src/correctable/ladder.ts',
    text: 'export const NO_RANK = -1;',
    from: '1',
    to: '(1 + 1)',
    reason:
      'Any number below 0 is below all ranks: it is compared with ranks and with itself, and nothing counts from it.',
  },
];
