/**
 * A token that takes long, since the user is signing in, with servers that do not wait so long for
 * `hello`.
 */
import { describe, expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import { LEVELS } from '../../support/wire.ts';
import { FakePlatform, settled, type FakeSocket } from './fake-platform.ts';
import { connectBy, LIMITS } from './set-up.ts';

/** What the application is asked: the answers are the test's. */
class Questions {
  readonly open: { answer: (token: string) => void; fail: (error: Error) => void }[] = [];

  readonly ask = (): Promise<string> =>
    new Promise((answer, fail) => this.open.push({ answer, fail }));
}

interface World {
  readonly platform: FakePlatform;
  readonly questions: Questions;
  readonly tokens: () => unknown[];
  /** Lets time pass. The server cuts clients that are silent for 5 s, and accepts the others. */
  readonly pass: (ms: number) => Promise<void>;
}

function world(): World {
  const platform = new FakePlatform();
  const questions = new Questions();
  const connection = connectBy(platform, { token: questions.ask });
  const openedAt = new Map<FakeSocket, number>();
  const serve = (socket: FakeSocket): void => {
    const at = openedAt.get(socket);
    if (at === undefined) {
      openedAt.set(socket, platform.now());
      socket.open();
    } else if (connection.state !== 'handshaking') return;
    else if (socket.rows('hello').length > 0) {
      socket.receive([
        0,
        'welcome',
        { version: PROTOCOL_VERSION, levels: LEVELS, memoryId: 'm', limits: LIMITS },
      ]);
    } else if (platform.now() - at > 5_000) socket.lose(4408, 'no hello in time');
  };
  const pass = async (ms: number): Promise<void> => {
    for (const until = platform.now() + ms; platform.now() < until;) {
      platform.advance(100);
      serve(platform.socket);
      await settled();
      platform.tick();
    }
  };
  const tokens = (): unknown[] =>
    platform.sockets.flatMap((socket) =>
      socket.rows('hello').map(([, , hello]) => (hello as { token: string }).token),
    );
  return { platform, questions, tokens, pass };
}

describe('the first answer counts', () => {
  // Half of the time no connection waits for it: it may come at any moment.
  test.each(Array.from({ length: 12 }, (_, n) => 70_000 + 700 * n))(
    'it takes %d ms → used',
    async (takesMs) => {
      const { questions, tokens, pass } = world();
      await pass(takesMs);
      expect(questions.open).toHaveLength(2);
      questions.open[0]?.answer('first');
      await pass(6_000);
      expect(tokens()).toEqual(['first']);
      expect(questions.open).toHaveLength(2);
    },
  );

  test('retried, and that question fails → the first may still be answered', async () => {
    const { questions, tokens, pass } = world();
    await pass(72_000);
    questions.open[1]?.fail(new Error('already signing in'));
    questions.open[0]?.answer('first');
    await pass(6_000);
    expect(tokens()).toEqual(['first']);
  });

  test('the first question fails, retried before → the second may still be answered', async () => {
    const { platform, questions, tokens, pass } = world();
    await pass(72_000);
    const { length } = platform.sockets;
    questions.open[0]?.fail(new Error('closed the window'));
    await pass(100);
    questions.open[1]?.answer('second');
    await pass(6_000);
    expect(tokens()).toEqual(['second']);
    expect(questions.open).toHaveLength(2);
    expect(platform.sockets.length).toBeLessThanOrEqual(length + 1);
  });
});

test('the second answer comes when the first has been used → not kept for the next connection', async () => {
  const { platform, questions, tokens, pass } = world();
  await pass(72_000);
  questions.open[0]?.answer('first');
  await pass(6_000);
  questions.open[1]?.answer('of an earlier user');
  await pass(1_000);
  platform.socket.lose();
  await pass(1_000);
  expect(questions.open).toHaveLength(3);
  questions.open[2]?.answer('third');
  await pass(1_000);
  expect(tokens()).toEqual(['first', 'third']);
});

test('a token that came while no server could be reached for long → requested again', async () => {
  const { platform, questions, tokens, pass } = world();
  await pass(1_000);
  platform.socket.lose();
  questions.open[0]?.answer('stale');
  await settled();
  for (let ms = 0; ms < 61_000; ms += 1_000) {
    platform.advance(1_000);
    platform.socket.lose();
  }
  await pass(12_000);
  questions.open[1]?.answer('fresh');
  await pass(6_000);
  expect(tokens()).toEqual(['fresh']);
});
