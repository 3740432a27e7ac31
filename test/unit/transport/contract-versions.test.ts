/**
 * A client and a server with different versions of one contract: operations that both have alike
 * are served.
 */
import { describe, expect, test } from 'vitest';
import type { ConnectionTarget } from '../../../src/transport/options/options.ts';
import { readX, SinkDouble, quietContext, writeX } from '../../support/wire.ts';
import { FakePlatform } from './fake-platform.ts';
import { connectBy, reconnect, submit, welcome } from './set-up.ts';

const OWN = { get: 'g1', put: 'p1' };
const contract: ConnectionTarget['contract'] = {
  name: 'shop',
  hash: 'own',
  getOperationHashes: () => OWN,
};
const served = (operations?: object) => ({
  contract: { name: 'shop', hash: operations === undefined ? 'own' : 'theirs', operations },
});

function start() {
  const platform = new FakePlatform();
  return { platform, connection: connectBy(platform, {}, { contract }) };
}

describe('another version of the contract', () => {
  test('hello → has only the name and hash of the contract', async () => {
    const { platform } = start();
    await welcome(platform, served());
    expect(platform.socket.rows('hello')[0]?.[2]).toMatchObject({
      contract: { name: 'shop', hash: 'own' },
    });
  });

  test.each([
    ['has it otherwise', { get: 'g1', put: 'p2' }],
    ['has it not', { get: 'g1' }],
    ['has something of every object by that name', { get: 'g1', toString: 'p1' }],
  ])('the server %s → UNSUPPORTED at once and alone; others are served', async (_, operations) => {
    const { platform, connection } = start();
    const early = submit(connection, writeX);
    await welcome(platform, served(operations));
    const late = submit(connection, writeX);
    const read = submit(connection, readX);
    for (const sink of [early, late]) {
      expect(await sink.failure(0)).toMatchObject({
        code: 'UNSUPPORTED',
        field: 'operation',
        retryable: false,
        message: expect.stringContaining('(contract shop, theirs)') as string,
      });
    }
    platform.tick();
    expect(platform.socket.rows('submit').map((row) => row[2])).toEqual(['get']);
    expect(read.calls).toEqual([]);
    expect(connection.state).toBe('open');
  });

  test('write was sent to the client’s version before → UNKNOWN', async () => {
    const { platform, connection } = start();
    await welcome(platform, served());
    const sink = submit(connection, writeX);
    platform.tick();
    await reconnect(platform, served({ get: 'g1' }));
    expect(await sink.failure(0)).toMatchObject({
      code: 'UNKNOWN',
      cause: { code: 'UNSUPPORTED' },
    });
  });

  test('the server comes back with the client’s version → served again', async () => {
    const { platform, connection } = start();
    await welcome(platform, served({}));
    await reconnect(platform, served());
    submit(connection, writeX);
    platform.tick();
    expect(platform.socket.rows('submit')).toHaveLength(1);
  });

  test.each([
    ['another contract', { contract: { name: 'bank', hash: 'own' } }],
    ['none', {}],
  ])('the server has %s → refused for good', async (_, more) => {
    const { platform, connection } = start();
    const sink = new SinkDouble();
    connection.submit(readX, ['strong'], sink, quietContext());
    await welcome(platform, more);
    expect(await sink.failure(0)).toMatchObject({ code: 'PROTOCOL' });
    expect(connection.state).toBe('closed');
  });
});
