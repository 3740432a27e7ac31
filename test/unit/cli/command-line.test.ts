import { expect, test } from 'vitest';
import { findVariableFor, parseCommandLine, splitCommand } from '../../../src/cli/command-line.ts';

const FLAGS = [
  { typed: '--port <n>', text: 'Listen on this port', defaultValue: 7420 },
  { typed: '--red-leader <site>', text: 'Order red operations at this site' },
  { typed: '--json', text: 'Print JSON' },
  { typed: '--accept-loss [logs]', text: 'Accept a loss' },
];

const parse = (argv: readonly string[], environment = {}) =>
  parseCommandLine(argv, FLAGS, environment);

test('reads values as they were typed, and defaults', () => {
  expect(parse(['--red-leader=frankfurt', '--json', 'word']).options).toEqual({
    port: 7420,
    redLeader: 'frankfurt',
    json: true,
  });
  expect(parse(['--port', '007']).options).toEqual({ port: '007' });
  expect(parse(['--redLeader', 'mars']).options['redLeader']).toBe('mars');
});

test('takes words between flags, and after two dashes', () => {
  expect(parse(['a', '--json', 'b', '--', '--port']).words).toEqual(['a', 'b', '--port']);
  expect(splitCommand(['serve', '--json'])).toEqual(['serve', ['--json']]);
  expect(splitCommand(['--help'])).toEqual([undefined, ['--help']]);
});

test.each<[argv: readonly string[], value: unknown, words: readonly string[]]>([
  [['restore-red', '--accept-loss', 'us'], 'us', ['restore-red']],
  [['restore-red', '--accept-loss=us'], 'us', ['restore-red']],
  [['restore-red', '--accept-loss', '--json'], true, ['restore-red']],
  // The first word is that of the command.
  [['--accept-loss', 'restore-red'], true, ['restore-red']],
])('takes a flag with or without a value: %j', (argv, value, words) => {
  const { options, words: others } = parse(argv);
  expect([options['acceptLoss'], others]).toEqual([value, words]);
});

test('knows help and version without a flag of the command', () => {
  expect(parse(['-h'])).toMatchObject({ wantsHelp: true, wantsVersion: false });
  expect(parse(['--version'])).toMatchObject({ wantsHelp: false, wantsVersion: true });
});

test.each([
  [['--prot', '1'], '--prot is an unknown flag. Did you mean --port?'],
  [['-4'], '-4 is an unknown flag'],
  [['--port'], '--port needs a value'],
  [['--port='], '--port needs a value'],
  [['--red-leader', '--json'], '--red-leader needs a value'],
  [['--port', '-4'], '--port takes no number below 0, not "-4"'],
  [['--port', '1', '--port', '2'], '--port was passed more than once'],
  [['--json=true'], '--json takes no value'],
])('refuses %j', (argv, message) => {
  expect(() => parse(argv)).toThrow(message);
});

test('sets flags that were not typed from the environment', () => {
  const environment = {
    PORT: '8080',
    CORRECTABLES_RED_LEADER: 'frankfurt',
    CORRECTABLES_JSON: '1',
    CORRECTABLES_SITES: '',
  };
  expect(parse([], environment).options).toEqual({
    port: '8080',
    redLeader: 'frankfurt',
    json: true,
  });
});

test('prefers what was typed, then the own variable of the flag', () => {
  const environment = { PORT: '1', CORRECTABLES_PORT: '2' };
  expect(parse(['--port=3'], environment).options).toEqual({ port: '3' });
  expect(parse([], environment).options).toEqual({ port: '2' });
  expect(findVariableFor('port', [], environment)).toBe('CORRECTABLES_PORT');
  expect(findVariableFor('port', ['--port', '3'], environment)).toBeUndefined();
});

test('ignores the address that Kubernetes sets for a service named correctables', () => {
  const environment = {
    PORT: '8080',
    CORRECTABLES_PORT: 'tcp://10.0.0.7:7420',
    CORRECTABLES_SERVICE_HOST: '10.0.0.7',
  };
  expect(parse([], environment).options).toEqual({ port: '8080' });
  expect(findVariableFor('port', [], environment)).toBe('PORT');
});

test('refuses a variable of a flag without a value that is neither true nor false', () => {
  expect(() => parse([], { CORRECTABLES_JSON: 'yes' })).toThrow(
    'CORRECTABLES_JSON must be true or false, got "yes"',
  );
});
