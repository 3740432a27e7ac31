/**
 * What a site takes of an engine that has come back with less than it had, and has grown again
 * since.
 */
import { expect, test } from 'vitest';
import type { LogOutput, SavedLog } from '../../../../src/server/log/red-log.ts';
import { RedLogConsumer } from '../../../../src/server/log/red-log-consumer.ts';

const SAVED: SavedLog = {
  delivered: 5,
  position: { seq: 5, index: 0 },
  identity: 'red',
  digest: 50,
  progress: [],
};

/** An engine that has so many entries; before each place stands a digest of what is there. */
class Engine {
  length = 3;
  digestOf = (length: number): number => length * 10;

  identity(): string {
    return 'red';
  }

  digest(length: number): number | undefined {
    return length <= this.length ? this.digestOf(length) : undefined;
  }

  /** It grows by a record, and delivers it. */
  grow(): LogOutput<string> & { kind: 'deliver' } {
    this.length += 1;
    return {
      kind: 'deliver',
      from: this.length - 1,
      next: this.length,
      records: [`at ${this.length}`],
    };
  }
}

test('shorter at the start than what was taken of it, and filled up with other records → halts before the next one', () => {
  const engine = new Engine();
  const feed = new RedLogConsumer<string>(engine, SAVED);
  expect(feed.halt).toBeUndefined();
  engine.digestOf = (length) => length * 10 + (length > 3 ? 1 : 0);
  const taken = [engine.grow(), engine.grow(), engine.grow()].flatMap((delivery) =>
    feed.take(delivery),
  );
  expect(taken).toEqual([]);
  expect(feed.halt).toMatchObject({ reason: 'regressed' });
});

test('the same, and filled up with the same records → goes on', () => {
  const engine = new Engine();
  const feed = new RedLogConsumer<string>(engine, SAVED);
  const taken = [engine.grow(), engine.grow(), engine.grow(), engine.grow()].flatMap((delivery) =>
    feed.take(delivery),
  );
  expect(taken).toEqual(['at 6', 'at 7']);
  expect(feed.halt).toBeUndefined();
});

test('a group that ends before it begins, or where it begins with something in it → halts; with nothing → nothing', () => {
  for (const [next, records, isHalted] of [
    [4, ['x'], true],
    [4, [], true],
    [5, ['x'], true],
    [5, [], false],
  ] as const) {
    const engine = new Engine();
    engine.length = 5;
    const feed = new RedLogConsumer<string>(engine, SAVED);
    expect(feed.take({ kind: 'deliver', from: 5, next, records })).toEqual([]);
    expect([feed.halt?.reason, feed.next]).toEqual([isHalted ? 'regressed' : undefined, 5]);
  }
});
