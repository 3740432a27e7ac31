/** A gateway whose store has failed for good reports it to operators. */
import { expect, test } from 'vitest';
import { memory } from '../../../../../src/bindings/memory/index.ts';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { createGateway } from '../../../../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../../../../src/server/gateway/listen/listen.ts';

test('the store has failed → /ready and /health say 503, for that site and for all', async () => {
  const failing: { failure?: CorrectableError } = {};
  const broken = Object.defineProperty(memory(), 'failure', { get: () => failing.failure });
  Object.defineProperty(broken, 'share', { value: () => broken });
  const sites = {
    well: createGateway({ binding: memory() }),
    ill: createGateway({ binding: broken }),
  };
  const listener = await listenGateways({ sites });
  const look = async (): Promise<unknown> => {
    const paths = ['ready/well', 'ready/ill', 'ready', 'health'];
    const answers = await Promise.all(paths.map((path) => fetch(`${listener.url}/${path}`)));
    const { status } = (await (answers[3] as Response).json()) as { readonly status: string };
    return [...answers.map((answer) => answer.status), status];
  };
  expect(await look()).toEqual([200, 200, 200, 200, 'ok']);
  failing.failure = new CorrectableError('UNAVAILABLE', 'the disk has failed');
  expect(await look()).toEqual([200, 503, 503, 503, 'stopped']);
  // A node of a cluster lets its clients move on, and listens for operators.
  await sites.ill.close();
  expect(await look()).toEqual([200, 503, 503, 503, 'stopped']);
  await listener.close();
});

test('the store refuses updates for now → /ready is 503 with the reason, and clients still come for reads', async () => {
  const refusing: { refusal: CorrectableError | undefined } = { refusal: undefined };
  const full = Object.defineProperty(memory(), 'writeRefusal', { get: () => refusing.refusal });
  Object.defineProperty(full, 'openHandle', { value: () => full });
  const sites = {
    well: createGateway({ binding: memory() }),
    full: createGateway({ binding: full }),
  };
  const listener = await listenGateways({ sites });
  const look = async (path: string): Promise<unknown> => {
    const response = await fetch(`${listener.url}/${path}`);
    return [response.status, ((await response.json()) as { readonly reason?: string }).reason];
  };
  expect(await look('ready')).toEqual([200, undefined]);
  refusing.refusal = new CorrectableError('UNAVAILABLE', 'there is no room on the disk');
  expect(await look('ready/well')).toEqual([200, undefined]);
  for (const path of ['ready', 'ready/full'])
    expect(await look(path)).toEqual([503, 'there is no room on the disk']);
  expect([(await look('health')) as unknown, sites.full.isAccepting]).toEqual([
    [200, undefined],
    true,
  ]);
  refusing.refusal = undefined;
  expect(await look('ready')).toEqual([200, undefined]);
  await listener.close();
});
