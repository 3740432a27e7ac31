/**
 * When an operator's command brings a version into force, and which sites it names if it does not.
 */
// @rule CLU-U3
import { expect, test, vi } from 'vitest';
import {
  ACTIVATE,
  answerVersion,
  type VersionContext,
} from '../../../../../src/server/node/cluster/activate.ts';
import type { DeploymentVersion } from '../../../../../src/server/service/records/deployment-version.ts';

function versionOf(hash: string, rules = 1): DeploymentVersion {
  return { rules, service: { hash, tables: {}, operations: {}, replies: [] } };
}

function hostOf(
  others: Readonly<Record<string, object | Error>>,
  changes: Partial<VersionContext> = {},
) {
  const propose = vi.fn<VersionContext['propose']>(async () => ({}));
  const host: VersionContext = {
    site: 'ireland',
    own: versionOf('new'),
    getInForce: () => versionOf('old'),
    getOthers: () => Object.keys(others),
    request: async (peer) => {
      const answer = others[peer];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    connectTimeoutMs: 0,
    propose,
    ...changes,
  };
  return { propose, activate: () => answerVersion(ACTIVATE, host) as Promise<object> };
}

const [old, current] = [
  { rules: 1, service: 'old' },
  { rules: 1, service: 'new' },
];

test('all sites run the new version → it is proposed', async () => {
  const { activate, propose } = hostOf({ frankfurt: current, virginia: current });
  expect(await activate()).toEqual({ version: current, isNew: true });
  expect(propose).toHaveBeenCalledOnce();
});

test('a site is not connected yet → it is asked again', async () => {
  const request = vi
    .fn(async (): Promise<unknown> => current)
    .mockRejectedValueOnce(new Error('the link is down'));
  const { activate } = hostOf({ virginia: current }, { request, connectTimeoutMs: 60_000 });
  expect(await activate()).toEqual({ version: current, isNew: true });
});

test('it is in force already → nothing is proposed', async () => {
  const { activate, propose } = hostOf(
    { frankfurt: current },
    { getInForce: () => versionOf('new') },
  );
  expect(await activate()).toEqual({ version: current, isNew: false });
  expect(propose).not.toHaveBeenCalled();
});

test.each([
  [
    'one that runs the old one',
    { frankfurt: old, virginia: current },
    'frankfurt does not run the new version',
  ],
  [
    'two that do',
    { frankfurt: old, virginia: old },
    'frankfurt, virginia do not run the new version',
  ],
  [
    'one with other rules',
    { frankfurt: { rules: 2, service: 'new' } },
    'the sites run different versions: ireland runs',
  ],
  [
    'one that is away',
    { frankfurt: current, virginia: new Error('down') },
    'no answer from virginia',
  ],
  ['one whose answer cannot be read', { frankfurt: { rules: '1' } }, 'no answer from frankfurt'],
])('%s → is named, and nothing is proposed', async (_, others, problem) => {
  const { activate, propose } = hostOf(others);
  expect(await activate()).toEqual({ problem: expect.stringContaining(problem) });
  expect(propose).not.toHaveBeenCalled();
});

test('the node that is asked runs the old one → it is named', async () => {
  const { activate } = hostOf({ frankfurt: current }, { own: versionOf('old') });
  expect(await activate()).toEqual({
    problem: expect.stringContaining('ireland does not run the new version'),
  });
});

test('another version was activated meanwhile → the problem is reported', async () => {
  const { activate } = hostOf(
    { frankfurt: current },
    { propose: async () => ({ problem: 'another version was activated' }) },
  );
  expect(await activate()).toEqual({ problem: 'another version was activated' });
});

test('the red log does not answer → the reply says that the outcome is not known', async () => {
  const unknown = { problem: 'the red log did not answer within 30 s', isUnknown: true };
  const { activate } = hostOf({ frankfurt: current }, { propose: async () => unknown });
  expect(await activate()).toEqual(unknown);
});
