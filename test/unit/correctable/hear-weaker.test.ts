/** Before a whole read fails, weaker levels are heard out, for a while (COR-6). */
import { afterEach, expect, test, vi } from 'vitest';
import { waitForWeaker } from '../../../src/correctable/binding.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const never = new Promise(() => {});
/** No time limit. */
const free = { deadlineAt: undefined };

test('COR-6: weaker levels stay in flight → a second is waited for them', async () => {
  vi.useFakeTimers();
  const onHeard = vi.fn();
  const heard = waitForWeaker(never, free).then(onHeard);
  await vi.advanceTimersByTimeAsync(999);
  expect(onHeard).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await heard;
});

test('COR-6: weaker levels end → no longer, and no timer stays', async () => {
  vi.useFakeTimers();
  await waitForWeaker(Promise.resolve(), free);
  expect(vi.getTimerCount()).toBe(0);
});

test('COR-6: the time limit of their level passes, or has passed → no longer, and no timer stays', async () => {
  vi.useFakeTimers();
  const late = new AbortController();
  const heard = waitForWeaker(never, free, late.signal);
  expect(vi.getTimerCount()).toBe(1);
  late.abort();
  await heard;
  await waitForWeaker(never, free, late.signal);
  expect(vi.getTimerCount()).toBe(0);
});

for (const deadlineAt of [undefined, 1]) {
  test(`COR-6: while waiting, ${deadlineAt ? 'with a' : 'without any'} deadline → ${deadlineAt ? 'that' : 'this'} holds the process`, async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const late = new AbortController();
    const heard = waitForWeaker(never, { deadlineAt }, late.signal);
    const handle = set.mock.results[0]?.value as NodeJS.Timeout;
    expect(handle.hasRef()).toBe(deadlineAt === undefined);
    late.abort();
    await heard;
  });
}
