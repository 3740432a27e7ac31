/**
 * What a site does with an operation whose time is over: it ends with `TIMEOUT`, whoever reports
 * that first.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { get } from '../../../../src/operations/index.ts';
import { notesService } from './storage/notes-service.ts';

test('drops a read a tick after its deadline with TIMEOUT, also if its client was held up and reports nothing first', async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  });
  onTestFinished(() => void vi.useRealTimers());
  const deployment = createEmbedded(notesService(), {
    sites: ['ireland', 'frankfurt'],
    latency: { 'ireland-frankfurt': 60_000 },
  });
  onTestFinished(() => deployment.close());
  const fail = vi.fn<(error: unknown) => void>();
  const context = {
    signal: new AbortController().signal,
    deadlineAt: Date.now() + 500,
    session: undefined,
  };
  const sink = { view: () => 0, confirm: () => {}, fail };
  deployment
    .site('frankfurt')
    .submitOperation(get('k'), ['strong'], sink, { ...context, trace: undefined });
  await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(500);
  expect(fail).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(500);
  expect(fail).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: 'TIMEOUT', retryable: true }),
  );
});
