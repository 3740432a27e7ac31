/** What the judge of a storm reports, and what it excuses. */
import { expect, test } from 'vitest';
import type {
  LossAlarm,
  PossibleLoss,
  SiteIndex,
  StormEvent,
  WriteOutcome,
} from '../../chaos/redis/history.ts';
import { judge, type Judgement } from '../../chaos/redis/judge.ts';

/** A history in the making: each step takes a millisecond. */
class Story {
  readonly events: StormEvent[] = [];
  #reads = 0;

  get nowMs(): number {
    return this.events.length;
  }

  begin(
    id: string,
    key: string,
    session: number,
    { isRemoval = false, site = 0 as SiteIndex } = {},
  ): this {
    this.events.push({ kind: 'write-begun', id, key, isRemoval, session, site, atMs: this.nowMs });
    return this;
  }

  end(
    id: string,
    session: number,
    stamp: number | undefined,
    outcome: WriteOutcome = 'acknowledged',
  ): this {
    this.events.push({ kind: 'write-ended', id, session, outcome, stamp, atMs: this.nowMs });
    return this;
  }

  write(id: string, key: string, session: number, stamp: number): this {
    return this.begin(id, key, session).end(id, session, stamp);
  }

  read(
    session: number,
    found: Readonly<Record<string, string | undefined>>,
    isLatest = false,
  ): this {
    this.#reads += 1;
    const [keys, ids] = [Object.keys(found), Object.values(found)];
    const read = this.#reads;
    this.events.push({ kind: 'read-begun', read, isLatest, gateway: 0, atMs: this.nowMs });
    this.events.push({
      kind: 'read-ended',
      read,
      session,
      gateway: 0,
      isLatest,
      keys,
      ids,
      stamp: undefined,
      atMs: this.nowMs,
    });
    return this;
  }

  judge(losses: readonly PossibleLoss[] = [], alarms: readonly LossAlarm[] = []): Judgement {
    return judge({ events: this.events, losses, alarms, findPartition: () => 7 });
  }
}

test('finds nothing where each read is a snapshot', () => {
  const story = new Story().write('1', 'a', 1, 10).write('2', 'b', 1, 11);
  story
    .read(2, { a: undefined, b: undefined })
    .read(2, { a: '1', b: undefined })
    .read(2, { a: '1', b: '2' });
  expect(story.judge().faults).toEqual([]);
});

test.each([
  ['torn', (story: Story) => story.read(2, { a: undefined, b: '2' })],
  ['session', (story: Story) => story.read(1, { a: undefined })],
  ['latest', (story: Story) => story.read(2, { b: undefined }, true)],
  ['ghost', (story: Story) => story.read(2, { a: '9' })],
  ['order', (story: Story) => story.write('3', 'b', 1, 5)],
  [
    'refused',
    (story: Story) =>
      story.begin('3', 'c', 3).end('3', 3, undefined, 'refused').read(2, { c: '3' }),
  ],
])('finds what is %s', (checker, tell) => {
  const story = tell(new Story().write('1', 'a', 1, 10).write('2', 'b', 1, 11));
  const { faults, counts } = story.judge();
  expect(faults[0]).toMatch(new RegExp(`^${checker}: `));
  expect(counts).toEqual({ [checker]: 1 });
});

test('accepts an absent key after a removal that is not older', () => {
  const story = new Story()
    .write('1', 'a', 1, 10)
    .begin('2', 'a', 2, { isRemoval: true })
    .end('2', 2, 11);
  expect(story.read(1, { a: undefined }).judge().faults).toEqual([]);
  const older = new Story()
    .begin('0', 'a', 2, { isRemoval: true })
    .end('0', 2, 9)
    .write('1', 'a', 1, 10);
  expect(older.read(1, { a: undefined }).judge().counts).toEqual({ session: 1 });
});

test('leaves out a value whose write got no answer, and counts it', () => {
  const story = new Story()
    .begin('1', 'a', 1)
    .end('1', 1, undefined, 'unknown')
    .read(2, { a: '1', b: undefined });
  expect(story.judge()).toMatchObject({ faults: [], unplacedReads: 1 });
});

test('excuses a lost write only if Redis may have lost it and the loss was reported', () => {
  const story = new Story().write('1', 'a', 1, 10);
  const toMs = story.nowMs;
  story.read(1, { a: undefined });
  const loss: PossibleLoss = {
    site: 0,
    partitions: new Set([7]),
    fromMs: 0,
    toMs,
    isReported: true,
  };
  const alarm: LossAlarm = { site: 0, partition: 7, atMs: toMs };
  expect(story.judge([loss], [alarm])).toMatchObject({ faults: [], lostWrites: 1 });
  expect(story.judge([loss], []).counts).toEqual({ session: 1 });
  expect(story.judge([loss], [{ ...alarm, site: 1 }]).counts).toEqual({ session: 1 });
  expect(story.judge([], [alarm]).counts).toEqual({ session: 1 });
  expect(story.judge([{ ...loss, partitions: new Set([6]) }], [alarm]).counts).toEqual({
    session: 1,
  });
});

test('excuses without an alarm what a server has acknowledged after it was replaced', () => {
  const story = new Story().write('1', 'a', 1, 10);
  const toMs = story.nowMs;
  story.read(1, { a: undefined });
  const loss: PossibleLoss = {
    site: 0,
    partitions: new Set([7]),
    fromMs: 1,
    toMs,
    isReported: false,
  };
  expect(story.judge([loss]).faults).toEqual([]);
  expect(story.judge([{ ...loss, toMs: 0 }]).counts).toEqual({ session: 1 });
});

test('does not excuse a write that was seen after its loss', () => {
  const story = new Story().write('1', 'a', 1, 10);
  const toMs = story.nowMs;
  story.read(2, { a: '1' }).read(1, { a: undefined });
  const loss: PossibleLoss = {
    site: 0,
    partitions: new Set([7]),
    fromMs: 0,
    toMs,
    isReported: true,
  };
  expect(story.judge([loss], [{ site: 0, partition: 7, atMs: toMs }]).counts).toEqual({
    session: 1,
  });
});
