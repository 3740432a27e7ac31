/**
 * What a gateway keeps of its visitors: of those who leave without a word, replies of a few bytes; of those who stay and
 * acknowledge, nothing for longer than until they do.
 */
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { Measure } from '../fuzz/messages.ts';
import { Target } from '../fuzz/target.ts';
import type { CodecName } from '../support/hostile/rows.ts';
import { built } from '../support/programs.ts';
import { SoakVisitor } from '../support/soak-visitor.ts';

const VISITORS = 400;
const AT_ONCE = 8;
const READ_CHARACTERS = 300_000;
/** What one visitor that is gone may cost, everything about it taken together. */
const VISITOR_KB = 16;
/** What has nothing to do with how many there were. */
const SLACK_MB = 24;

/** How often a visitor who stays writes and acknowledges, and how much. */
const ROUNDS = 12;
const UPDATES = 500;
/** Nothing of what was acknowledged, which would be several times as much. */
const STAYED_MB = 4;

/** What a gateway knows of its clients once all have gone, and it owes them nothing. */
const NOTHING = {
  clients: 0,
  replies: 0,
  replyBytes: 0,
  inFlight: 0,
  leftOperations: 0,
  leftBytes: 0,
  principals: 0,
};

const CODECS = ['msgpack', 'json'] as const;
const TARGET = pathToFileURL(await built('test/support/soak-target.ts')).href;

function start(): Promise<Target> {
  return Target.start(TARGET);
}

async function held(target: Target): Promise<Measure> {
  const measured = await target.measure();
  if (measured === undefined) throw new Error(`the gateway has ended: ${target.death?.stderr}`);
  return measured.measure;
}

/** Who has left may still be noticed, and principals are forgotten in their time. */
async function heldUntil(target: Target, isSettled: (now: Measure) => boolean): Promise<Measure> {
  let now = await held(target);
  for (let i = 0; i < 500 && !isSettled(now); i++) now = await held(target);
  return now;
}

const isAlone = ({ connections }: Measure): boolean => connections === 0;
const isForgotten = (now: Measure): boolean => isAlone(now) && now.remembered['principals'] === 0;

const portOf = (target: Target): number => Number(new URL(target.urls['here'] as string).port);

async function visit(port: number, codec: CodecName, name: string): Promise<void> {
  const visitor = await SoakVisitor.enter(port, codec, name);
  await visitor.read(READ_CHARACTERS);
  await visitor.write(1);
  visitor.leave();
}

test.each(CODECS)(
  'wire: visitors who leave, %s → the gateway holds no more than their replies',
  async (codec) => {
    await using target = await start();
    const port = portOf(target);
    let visited = 0;
    const receive = async (until: number): Promise<void> => {
      const one = async (): Promise<void> => {
        while (visited < until) await visit(port, codec, `${codec}${visited++}`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    };
    await receive(AT_ONCE * 4);
    const before = await held(target);
    await receive(visited + VISITORS);
    const after = await heldUntil(target, isAlone);
    expect(after.memoryMb - before.memoryMb).toBeLessThan(SLACK_MB + (VISITORS * VISITOR_KB) / 1024);
    expect(after.connections).toBe(0);
  },
  120_000,
);

test.each(CODECS)(
  'wire: visitors who stay and acknowledge, %s → what is kept of their replies goes back each time',
  async (codec) => {
    await using target = await start();
    const visitors = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) => SoakVisitor.enter(portOf(target), codec, `stays${i}`)),
    );
    const all = async (act: (visitor: SoakVisitor) => Promise<void>): Promise<Measure> => {
      await Promise.all(visitors.map(act));
      return held(target);
    };
    const fresh = await held(target);
    let memoryMb: number | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const full = await all((visitor) => visitor.write(UPDATES));
      expect(full.remembered).toMatchObject({ clients: AT_ONCE, replies: AT_ONCE * UPDATES, inFlight: 0 });
      expect(full.remembered['replyBytes']).toBeGreaterThan(fresh.remembered['replyBytes'] as number);
      const empty = await all((visitor) => visitor.acknowledge());
      expect(empty.remembered, `round ${round}`).toEqual(fresh.remembered);
      memoryMb ??= empty.memoryMb;
      if (round === ROUNDS - 1) expect(empty.memoryMb - memoryMb).toBeLessThan(STAYED_MB);
    }
    for (const visitor of visitors) visitor.leave();
    // Nothing is kept of them: they need not be remembered at all.
    expect((await heldUntil(target, isForgotten)).remembered).toEqual(NOTHING);
  },
  120_000,
);

test.each(CODECS)(
  'wire: visitors for whom there is no room, %s → nothing is known of any of them once they have gone',
  async (codec) => {
    await using target = await start();
    const port = portOf(target);
    const inside = await SoakVisitor.enter(port, codec, 'inside', 'narrow');
    await inside.write(1);
    const alone = (await held(target)).remembered;
    let refused = 0;
    const knock = async (): Promise<void> => {
      while (refused < VISITORS) {
        expect(await SoakVisitor.refused(port, codec, `refused${refused++}`, 'narrow')).toEqual([]);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, knock));
    const settled = await heldUntil(target, ({ connections }) => connections === 1);
    expect([settled.connections, settled.remembered]).toEqual([1, alone]);
    await inside.acknowledge();
    inside.leave();
    const empty = await heldUntil(target, isForgotten);
    expect([empty.connections, empty.remembered]).toEqual([0, NOTHING]);
  },
  120_000,
);
