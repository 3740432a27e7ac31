import { expect, test } from 'vitest';
import { formatCommandHelp, formatOverview } from '../../../src/cli/help.ts';
import { SERVE } from '../../../src/cli/serve.ts';

test.each([72, 80, 100])('wraps the help of a command at %i columns', (width) => {
  const lines = formatCommandHelp(SERVE, width).split('\n');
  // An example is one line, so that it can be copied.
  const example = lines.indexOf('Example:');
  expect(lines.slice(0, example).filter((line) => line.length > width)).toEqual([]);
});

test('shows the flags in groups, with their defaults', () => {
  const help = formatCommandHelp(SERVE);
  expect(help).toContain('Who may connect:');
  expect(help).toContain('(default: 10)');
  expect(help.match(/^ {2}--/gm)).toHaveLength(SERVE.flags.length);
});

test('says what the program is, and where the documentation is', () => {
  expect(formatOverview([SERVE])).toMatch(
    /^correctables: .*[\s\S]*serve[\s\S]*Documentation: docs\/README\.md/,
  );
});
