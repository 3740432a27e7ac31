/**
 * The ready key-value service in the simulator. Two doctors leave duty by transactions that read
 * both and write one: only if what is only read is certified too, one of them stays. The oracle
 * compares each commit with its place in the red order.
 */
import { expect, test } from 'vitest';
import { keyValue } from '../../src/contract/index.ts';
import type { Operation } from '../../src/index.ts';
import { keyValueService, type Service } from '../../src/server/index.ts';
import { ServiceCheckError, simulateService, type DrawContext } from '../../src/testing/index.ts';
import { scaleRuns } from '../support/lane.ts';

type Generator = Service['generators'][string];

interface Args {
  readonly value?: unknown;
  readonly reads?: readonly { readonly key: string; readonly version: string | number }[];
  readonly writes?: readonly { readonly key: string; readonly value?: unknown }[];
}

/**
 * The service, as the simulator gets it: with versions that `draw` can know, which are the written
 * values.
 */
function ward(changeArgs: (args: Args) => Args = (args) => args): Service {
  const { put, commit, ...reads } = keyValueService.generators as Record<string, Generator>;
  const wrap =
    (generator: Generator): Generator =>
    (args, { tables, shadow }) => {
      const { value, writes } = args as Args;
      const uniqueId = (): string => String(value ?? writes?.[0]?.value);
      return generator(changeArgs(args as Args), {
        tables,
        shadow,
        uniqueId,
      } as Parameters<Generator>[1]);
    };
  return {
    ...keyValueService,
    generators: { ...reads, put: wrap(put as Generator), commit: wrap(commit as Generator) },
    snapshotInvariants: {
      'one doctor stays': ({ keys }) => !DOCTORS.every((key) => isOff(keys?.row(key)['entry'])),
    },
  };
}

const DOCTORS = ['ann', 'bob'] as const;
const isOff = (entry: unknown): boolean =>
  (entry as { value?: unknown } | undefined)?.value === 'off';

function draw({ pick, chance }: DrawContext): Operation {
  const key = pick(DOCTORS);
  // Nobody has written the key yet, or a doctor is back.
  const isOn = (doctor: string) => ({ key: doctor, version: pick(['', 'on', 'on']) });
  const leave = keyValue.commit({ reads: DOCTORS.map(isOn), writes: [{ key, value: 'off' }] });
  return pick([
    leave,
    leave,
    keyValue.commit({ reads: [{ key, version: 'off' }], writes: [{ key, value: 'on' }] }),
    keyValue.commit({ reads: DOCTORS.map(isOn), writes: [] }),
    keyValue.commit({ reads: [], writes: [{ key, value: 'on' }] }),
    keyValue.put({ key, value: 'on' }),
    keyValue.readVersions({ keys: [...DOCTORS], ...(chance(0.5) && { known: ['on', null] }) }),
    keyValue.getMany({ keys: [...DOCTORS] }),
  ]);
}

test('commits, puts and reads under all faults → as one after the other, each once', () => {
  const runs = scaleRuns(40);
  const { operations } = simulateService(ward(), { draw, runs });
  for (const name of ['commit', 'put']) expect(operations[name]?.red).toBeGreaterThan(runs / 4);
  expect(operations['commit']?.unchanged).toBeGreaterThan(runs / 4);
});

test('planted: a key that is only read is not checked → both leave', () => {
  const onlyWritten = ({ reads, writes = [], ...args }: Args): Args => ({
    ...args,
    writes,
    ...(reads && { reads: reads.filter((read) => writes.some(({ key }) => key === read.key)) }),
  });
  expect(() => simulateService(ward(onlyWritten), { draw, runs: 40 })).toThrow(
    expect.objectContaining({ name: ServiceCheckError.name, checker: 'invariants' }),
  );
});
