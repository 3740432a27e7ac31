/** Writes that are under way together count in the order in which they were begun. */
import { expect, test } from 'vitest';
import { OrderedWrites } from '../../../../../../src/server/node/storage/disk/ordered-writes.ts';
import type { Timing } from '../../../../../../src/server/node/storage/disk/files.ts';

type Done = (error: Error | undefined) => void;

/** A file whose writes end when the test ends them. */
class ManualFile {
  readonly writes: { readonly position: number; readonly done: Done }[] = [];

  write(_bytes: Uint8Array, position: number, done: Done): void {
    this.writes.push({ position, done });
  }

  close(): void {}
}

const NO_SPACE = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });

function start(count: number): {
  file: ManualFile;
  writes: OrderedWrites;
  events: string[];
  end: (index: number, error?: Error) => void;
  retry: () => void;
} {
  const file = new ManualFile();
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const timing: Timing = {
    soon: queueMicrotask,
    later: queueMicrotask,
    afterMs: (_ms, run) => void waiting.push(run),
  };
  const writes = new OrderedWrites({
    timing,
    onNoSpace: () => events.push('refused'),
    onFailed: ({ message }) => events.push(`failed: ${message}`),
  });
  for (let n = 0; n < count; n += 1) {
    const write = { file, bytes: new Uint8Array(1), position: n };
    writes.begin(write, () => events.push(`done ${n}`));
  }
  const end = (index: number, error?: Error): void => file.writes[index]?.done(error);
  return { file, writes, events, end, retry: () => waiting.splice(0).forEach((run) => run()) };
}

test('the later one is on the disk first → it counts once the earlier one is there too', () => {
  const { writes, events, end } = start(3);
  end(1);
  expect(events).toEqual([]);
  end(0);
  expect(events).toEqual(['done 0', 'done 1']);
  expect(writes.size).toBe(1);
  end(2);
  expect(events).toEqual(['done 0', 'done 1', 'done 2']);
  expect({ size: writes.size, isAtDisk: writes.isAtDisk }).toEqual({ size: 0, isAtDisk: false });
});

test('no room for the first one → the second waits for it; it is written again at its place', () => {
  const { file, writes, events, end, retry } = start(2);
  end(0, NO_SPACE);
  end(1);
  expect({ events, size: writes.size, isAtDisk: writes.isAtDisk }).toEqual({
    events: ['refused'],
    size: 2,
    isAtDisk: false,
  });
  retry();
  expect(file.writes.map(({ position }) => position)).toEqual([0, 1, 0]);
  end(2);
  expect(events).toEqual(['refused', 'done 0', 'done 1']);
});

test('a write fails → reported, and after the end later writes count no more', () => {
  const { writes, events, end } = start(2);
  end(1, new Error('EIO'));
  expect(events).toEqual(['failed: EIO']);
  writes.end();
  end(0);
  expect(events).toEqual(['failed: EIO']);
});
