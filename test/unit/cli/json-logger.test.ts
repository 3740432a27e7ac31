/** The lines that `serve` logs, as the tools of pino read them. */
import { expect, test } from 'vitest';
import { createJsonLogger, type LogLevel } from '../../../src/cli/json-logger.ts';
import { CorrectableError } from '../../../src/correctable/errors.ts';

function openLog(level: LogLevel) {
  const lines: string[] = [];
  const logger = createJsonLogger(level, { write: (line) => void lines.push(line) });
  return { logger, read: () => lines.map((line) => JSON.parse(line) as Record<string, never>) };
}

test('an entry is one line with level, time, fields and message', () => {
  const { logger, read } = openLog('info');
  logger.warn({ alarm: 'clock' }, 'the clock\nis off');
  expect(read()).toEqual([
    { level: 40, time: expect.any(Number) as number, alarm: 'clock', msg: 'the clock\nis off' },
  ]);
});

test('entries below the level are left out', () => {
  const { logger, read } = openLog('warn');
  for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]({}, level);
  expect(read().map(({ msg }) => msg)).toEqual(['warn', 'error']);

  const silent = openLog('silent');
  silent.logger.error({}, 'lost');
  expect(silent.read()).toEqual([]);
});

test('an error has its code, and the stacks of its causes', () => {
  const { logger, read } = openLog('error');
  const cause = new Error('connection refused');
  logger.error({ err: new CorrectableError('UNAVAILABLE', 'no store', { cause }) }, 'failed');
  const [{ err }] = read() as unknown as [
    { err: { code: string; type: string; message: string; stack: string } },
  ];
  expect(err).toMatchObject({ code: 'UNAVAILABLE', type: 'CorrectableError', message: 'no store' });
  expect(err.stack).toMatch(/no store[\s\S]*\ncaused by: Error: connection refused\n/);
});

test('a field that JSON does not keep loses no entry', () => {
  const { logger, read } = openLog('error');
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const cause = new Error('a');
  cause.cause = cause;
  logger.error({ n: 7n }, 'big');
  logger.error({ cyclic }, 'cyclic');
  logger.error({ err: cause }, 'its own cause');
  expect(read().map(({ msg }) => msg)).toEqual(['big', 'cyclic', 'its own cause']);
  expect(read()).toMatchObject([
    { n: '7' },
    { unloggable: expect.stringContaining('circular') as string },
    {},
  ]);
});
