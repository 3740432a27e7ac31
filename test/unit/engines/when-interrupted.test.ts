/** Programs that started engines for themselves, interrupted. */
import { expect, test } from 'vitest';
import { Program } from '../../support/run-program.ts';
import { bundle } from '../../docs/bundle.ts';

/** Two things to stop, and one that was stopped already; `last` is the body of the second one. */
const program = (last: string): string => `
  import { whenInterrupted } from './engines/when-interrupted.ts';
  const forget = whenInterrupted(async () => console.log('never'));
  whenInterrupted(async () => { await new Promise(setImmediate); console.log('stopped'); });
  whenInterrupted(async () => { ${last} });
  forget();
  setInterval(() => {}, 1_000);
  console.log('started');
`;
const start = async (text: string): Promise<Program> =>
  new Program(['--input-type=module', '-e', await bundle(text, 'when-interrupted.ts')]);

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s → stops what still runs, reports what did not stop, ends with %i',
  async (signal, expected) => {
    using running = await start(program("throw new Error('would not stop')"));
    expect(await running.line()).toBe('started');
    running.signal(signal);
    const { code, stdout, stderr } = await running.ended();
    expect({ code, stdout }).toEqual({ code: expected, stdout: 'started\nstopped\n' });
    expect(stderr).toContain('Error: would not stop');
  },
);

test('a second signal → ends at once', async () => {
  using running = await start(program("console.log('hangs'); await new Promise(() => {})"));
  expect(await running.line()).toBe('started');
  running.signal('SIGINT');
  expect(await running.line()).toBe('hangs');
  running.signal('SIGINT');
  expect((await running.ended()).code).toBeNull();
});

test('nothing left to stop → a signal ends the program as ever', async () => {
  using running = await start(`
    import { whenInterrupted } from './engines/when-interrupted.ts';
    whenInterrupted(async () => {})();
    setInterval(() => {}, 1_000);
    console.log('started');
  `);
  expect(await running.line()).toBe('started');
  running.signal('SIGTERM');
  expect((await running.ended()).code).toBeNull();
});

test('something fails meanwhile → it can be seen that all ends anyway, after what is stopped', async () => {
  using running = await start(`
    import { isInterrupted, whenInterrupted } from './engines/when-interrupted.ts';
    let fail = () => {};
    const failed = new Promise((_, reject) => { fail = reject; });
    whenInterrupted(async () => { fail(); await new Promise(setImmediate); console.log('stopped'); });
    setInterval(() => {}, 1_000);
    console.log('started', isInterrupted());
    await failed.catch(() => { if (!isInterrupted()) process.exit(1); });
  `);
  expect(await running.line()).toBe('started false');
  running.signal('SIGINT');
  const { code, stdout } = await running.ended();
  expect({ code, stdout }).toEqual({ code: 130, stdout: 'started false\nstopped\n' });
});
