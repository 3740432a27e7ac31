/** The error of a module that cannot be loaded: printed once. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadModule } from '../../../src/cli/load-module.ts';

test('TypeScript without tsx → the error names what to install, once', async () => {
  vi.doMock('tsx/esm/api', () => {
    throw new Error('not installed');
  });
  onTestFinished(() => vi.doUnmock('tsx/esm/api'));
  const message =
    '--service names x.ts, a TypeScript file: install tsx, or name the compiled file. See --help.';
  await expect(loadModule('service', 'x.ts')).rejects.toThrow(expect.objectContaining({ message }));
});
