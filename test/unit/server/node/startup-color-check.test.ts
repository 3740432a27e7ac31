/** The short look at labels before a service starts. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CorrectableError } from '../../../../src/correctable/errors.ts';
import { createEmbedded, openEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { checkColorsAtStartup } from '../../../../src/server/node/startup-color-check.ts';
import type { SiteAlarm } from '../../../../src/server/node/alarms/site-alarm.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { bankService } from '../check/bank.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let dataDir = '';
/** The clock moves only when a test moves it: the runs in a second depend on the machine. */
let nowMs = 0;

beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  dataDir = temporaryFolder();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const WORDS = { source: 'service', skipFlag: 'forced' };

/** Checks a service at startup. Returns the reported messages, and how often generators ran. */
function start(
  service: Service,
  onRun: (runs: number) => void = () => {},
): { readonly reported: readonly string[]; readonly runs: number } {
  const reported: string[] = [];
  let runs = 0;
  const counted = Object.entries(service.generators).map(([name, generator]) => {
    const run: typeof generator = (args, context) => {
      runs += 1;
      onRun(runs);
      return generator(args, context);
    };
    return [name, run] as const;
  });
  const asServed = { ...service, generators: Object.fromEntries(counted) };
  checkColorsAtStartup({ service: asServed, messages: WORDS }, (message) => reported.push(message));
  return { reported, runs };
}

test('what is unsafe is refused at each start', () => {
  for (let starts = 0; starts < 2; starts += 1) {
    expect(() => start(bankService({ withdraw: 'blue' }))).toThrow(
      /'withdraw' is declared blue, and breaks.*\n/,
    );
  }
});

test('time is over → ends there', () => {
  const { runs } = start(bankService(), (count) => {
    if (count === 500) nowMs += 1000;
  });
  expect(runs).toBeLessThan(start(bankService()).runs);
});

describe('code that does not return after some runs', () => {
  /**
   * A start that is stopped after so many runs of generators: at the next look at the time, as the
   * guard would anywhere.
   */
  const stuck = (service: Service): ReturnType<typeof start> =>
    start(service, (runs) => {
      if (runs < 500) return;
      vi.mocked(performance.now).mockImplementation(() => {
        throw new CorrectableError('FINAL_FAILED', 'A generator ran for long.');
      });
    });

  test('what was found by then is unsafe → refused with the story', () => {
    expect(() => stuck(bankService({ withdraw: 'blue' }))).toThrow(
      /'withdraw' is declared blue, and breaks.*\n/,
    );
  });

  test('nothing found within the time → it reports how far it came, with the command that repeats the run', () => {
    const { reported } = stuck(bankService());
    const message =
      /^The labels of the service were looked at in (\d+) runs alone: A generator ran for long\. correctables label --seed (\d+) --runs 1 shows the details\.$/;
    expect(reported).toEqual([expect.stringMatching(message)]);
    const [, runs, seed] = message.exec(reported[0] ?? '') ?? [];
    expect(Number(seed)).toBe(Number(runs) + 1);
  });
});

test('reports a wrong generator at each start', () => {
  let times = 0;
  const isPaid = (balance: number, cents: number): boolean =>
    balance >= cents && (times += 1) % 3 === 0;
  const service = bankService({ isPaid });
  for (let starts = 0; starts < 2; starts += 1) {
    expect(start(service).reported).toEqual([
      expect.stringContaining("The generator of 'withdraw' is wrong"),
    ]);
  }
});

describe('createEmbedded and openEmbedded', () => {
  const alarms: SiteAlarm[] = [];
  const onAlarm = (alarm: SiteAlarm): number => alarms.push(alarm);

  test('with a data directory → rejects the service and leaves no lock; with checkColors: false it starts', async () => {
    const service = bankService({ withdraw: 'blue' });
    const refused = expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: 'service',
      message: expect.stringMatching(
        /'withdraw' is declared blue, and breaks[^]*checkColors: false/,
      ) as string,
    });
    await expect(openEmbedded(service, { sites: ['ireland'], dataDir })).rejects.toThrow(
      refused as Error,
    );
    await (
      await openEmbedded(service, { sites: ['ireland'], dataDir, checkColors: false })
    ).close();
    await expect(openEmbedded(service, { sites: ['ireland'], dataDir })).rejects.toThrow(
      refused as Error,
    );
  });

  test('without a directory, or in production → not looked at unless asked to', async () => {
    const service = bankService({ withdraw: 'blue' });
    await createEmbedded(service, { sites: ['ireland'] }).close();
    vi.stubEnv('NODE_ENV', 'production');
    await (await openEmbedded(service, { sites: ['ireland'], dataDir })).close();
    expect(() => createEmbedded(service, { sites: ['ireland'], checkColors: true })).toThrow(
      /'withdraw' is declared blue/,
    );
  });

  test('a generator that is wrong → an alarm', async () => {
    let times = 0;
    const isPaid = (balance: number, cents: number): boolean =>
      balance >= cents && (times += 1) % 3 === 0;
    await (
      await openEmbedded(bankService({ isPaid }), { sites: ['ireland'], dataDir, onAlarm })
    ).close();
    const message = expect.stringContaining("The generator of 'withdraw' is wrong") as string;
    expect(alarms).toEqual([{ kind: 'color-check-failed', site: 'ireland', message }]);
  });
});
