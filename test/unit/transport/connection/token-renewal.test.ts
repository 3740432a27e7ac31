/** Fresh tokens that come late, or never. */
import { describe, expect, test } from 'vitest';
import type { Credentials } from '../../../../src/transport/options/guard-callbacks.ts';
import { TokenRenewal } from '../../../../src/transport/connection/token-renewal.ts';
import { FakePlatform, settled } from '../fake-platform.ts';

const LASTS_MS = 10_000;

/** A renewal whose questions the test answers by hand, and what came of them. */
function start() {
  const platform = new FakePlatform();
  const questions: {
    give: (token: string | undefined) => void;
    refuse: (cause: unknown) => void;
  }[] = [];
  const reported: unknown[] = [];
  const credentials = (): Promise<Credentials> =>
    new Promise((resolve, refuse) => {
      questions.push({ give: (token) => resolve({ principal: undefined, token }), refuse });
    });
  const renewal = new TokenRenewal(
    { credentials, scheduling: platform },
    { onRenewed: ({ token }) => reported.push(token), onFailed: (cause) => reported.push(cause) },
  );
  renewal.scheduleRenewal(LASTS_MS);
  return { platform, renewal, questions, reported };
}

/** The same, once it has asked. */
function startAsking() {
  const started = start();
  started.platform.advance(LASTS_MS - 1);
  expect(started.questions).toHaveLength(1);
  return started;
}

describe('a fresh token', () => {
  test('comes → reported', async () => {
    const { questions, reported } = startAsking();
    questions[0]?.give('fresh');
    await settled();
    expect(reported).toEqual(['fresh']);
  });

  test.each([
    ['the connection is gone', undefined],
    ['the server took another one', LASTS_MS],
  ])('comes or fails once %s → does not count any more', async (_, expiresInMs) => {
    for (const answer of ['give', 'refuse'] as const) {
      const { platform, renewal, questions, reported } = startAsking();
      if (expiresInMs === undefined) renewal.stop();
      else renewal.scheduleRenewal(expiresInMs);
      questions[0]?.[answer]('late');
      await settled();
      expect([reported, platform.timers]).toEqual([[], expiresInMs === undefined ? 0 : 1]);
    }
  });

  test('is not needed any more → not asked for', () => {
    const { platform, renewal, questions } = start();
    renewal.stop();
    platform.advance(LASTS_MS);
    expect([questions.length, platform.timers]).toEqual([0, 0]);
  });

  test('does not exist → reported, nothing more is requested', async () => {
    const { platform, questions, reported } = startAsking();
    questions[0]?.give(undefined);
    await settled();
    expect([reported, platform.timers]).toEqual([[undefined], 0]);
  });

  describe('cannot be had', () => {
    /** Time passes, and all questions are answered in vain. */
    async function failFor(
      ms: number,
      { platform, questions }: ReturnType<typeof start>,
    ): Promise<void> {
      for (let passed = 0; passed < ms; passed += 10) {
        platform.advance(10);
        questions.at(-1)?.refuse(new Error('fetch failed'));
        await settled();
      }
    }

    test('until the present one ends → not asked for after that', async () => {
      const started = start();
      await failFor(LASTS_MS, started);
      const { length } = started.questions;
      expect(length).toBeGreaterThan(2);
      await failFor(60_000, started);
      expect([started.questions.length, started.platform.timers]).toEqual([length, 0]);
    });

    test('for long, and then one is there → when that ends, the pauses are short again', async () => {
      const started = start();
      await failFor(LASTS_MS, started);
      started.renewal.scheduleRenewal(LASTS_MS);
      await failFor(0.75 * LASTS_MS, started);
      const { length } = started.questions;
      await failFor(110, started);
      expect(started.questions).toHaveLength(length + 1);
    });
  });
});
