/** The package that speaks gRPC to etcd, which only deployments with their red log there need. */
import { expect, test } from 'vitest';
import { loadGrpc } from '../../../../../src/server/node/etcd/load-grpc.ts';

test('a missing package → the error names what to install', async () => {
  const load = (): Promise<never> => Promise.reject(new Error('Cannot find package'));
  await expect(loadGrpc(load)).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    field: 'redLog.engine',
    message: expect.stringContaining('npm install @grpc/grpc-js'),
  });
});

test('the package is there → its classes, also if it has them by default', async () => {
  expect(typeof (await loadGrpc()).Client).toBe('function');
  const Client = class {};
  expect(await loadGrpc(() => Promise.resolve({ default: { Client } }))).toEqual({ Client });
});
