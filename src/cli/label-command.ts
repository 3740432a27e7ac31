/** `correctables label`, and its flags. */
import type { Command } from './command.ts';

/** What names the service on the command line. */
export const PLACE = '<service>';

export const LABEL: Command = {
  name: 'label',
  what: 'Say which shadow operations of a service may be blue, with what two sites can break',
  word: { typed: PLACE, names: 'module' },
  flags: [
    ['--runs <count>', 'How many runs', 10_000],
    ['--seed <n>', 'Seed of the first run; the others follow', 1],
    ['--json', 'Print it as one JSON line'],
  ],
  example: 'correctables label shop.js',
  run: async (options, path) => (await import('./label.ts')).label(options, path),
};
